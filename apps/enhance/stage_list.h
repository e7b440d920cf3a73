// SPDX-License-Identifier: Apache-2.0
/* --stages: what is done to a frame, in order. */
#ifndef STAGE_LIST_H
#define STAGE_LIST_H

#include <stdbool.h>

#include "pipeline/stages/chain.h"

/* What is done unless told. Noise goes first: a network that enlarges takes it for detail
 * and makes it coarse and sharp, which a denoiser cannot tell from the picture; and the smaller frame
 * costs a quarter. Film with noise (sigma 5 to 25, then x264, doubled) comes out up to 11 dB better
 * than in the other order, at worst 0.3 dB below it where noise is faint. Clean frames pass. */
#define USUAL_STAGES "denoise,sr"

typedef struct stage_list {
    stage_kind kinds[CHAIN_MAX_STAGES];
    unsigned count;
    delay_settings delay;
} stage_list;

/* Reads names with commas between: sr, denoise, colour and, where delays are allowed, delay:TIME or
 * delay:TIME/TIME@N, the second time being that of every Nth frame. All delays are alike: the last
 * counts. False, with a message. */
bool stage_list_read(stage_list *list, const char *text, bool delays);

#endif
