// SPDX-License-Identifier: Apache-2.0
/* Converts luma between full range and studio range, for networks that know only the latter.
 *
 * A value of v steps of 8 bits becomes 16 + 219 / 255 v, in RANGE_BITS: fp16 holds these exactly,
 * and they are fine enough that full range of 10 bits is restored without loss. */
#ifndef MONA_RANGE_H
#define MONA_RANGE_H

#include "pipeline/stages/frame.h"

enum { RANGE_BITS = MONA_MAX_DEPTH };

/* Converts plane 0 between frames whose planes have the same stored size. Each frame has its own
 * number of bits. */
void range_to_studio(const frame *to, const frame *from);
void range_to_full(const frame *to, const frame *from);

#endif
