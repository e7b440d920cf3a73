/* --stages: what is done to a frame, in order. */
#ifndef STAGE_LIST_H
#define STAGE_LIST_H

#include <stdbool.h>

#include "pipeline/chain.h"

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
