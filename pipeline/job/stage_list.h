// SPDX-License-Identifier: Apache-2.0
/* --stages: the stages that process a frame, in order. */
#ifndef STAGE_LIST_H
#define STAGE_LIST_H

#include <stdbool.h>

#include "pipeline/base/error.h"
#include "pipeline/stages/chain.h"

/* The default stages. Denoising goes first, since an enlarging network mistakes noise for detail
 * and makes it coarse and sharp, so that a denoiser cannot tell it from the picture; and the
 * smaller frame costs a quarter. Film with noise (sigma 5 to 25, then x264, doubled) is up to 11 dB
 * better than in the other order, and at worst, with faint noise, 0.3 dB below it. Clean frames
 * stay as they are. */
#define USUAL_STAGES "denoise,sr"

typedef struct stage_list {
    stage_kind kinds[CHAIN_MAX_STAGES];
    unsigned count;
    delay_settings delay;
} stage_list;

/* Reads names separated by commas: those in STAGES and, if delays are allowed, delay:TIME or
 * delay:TIME/TIME@N, where the second time is that of every Nth frame. There is only one delay: the
 * last one applies to all. */
bool stage_list_read(stage_list *list, const char *text, bool delays, pipeline_error *error);

#endif
