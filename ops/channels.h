// SPDX-License-Identifier: Apache-2.0
/* Shared by channels.c and its AI Core program. Private to ops/. */
#ifndef MONA_OPS_CHANNELS_H
#define MONA_OPS_CHANNELS_H

#include "ops/helpers.h"

/* Channels from, from + 1, ... of input i become channels to, to + 1, ... of the output. */
typedef struct mona_channels {
    uint32_t input, from, to, count;
} mona_channels;

mona_channels mona_channels_part(const mona_bound_op *bound, uint32_t i);

#endif
