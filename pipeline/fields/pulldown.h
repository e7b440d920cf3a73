// SPDX-License-Identifier: Apache-2.0
/* Finds film at 24 frames a second that became 30 with 3:2 pull-down. Of its frames A, B, C and
 * D it made five: AA BB BC CD DD, where the first letter is the first field. The third repeats
 * the first field of the frame before, the fifth the second. In other video no field is repeated
 * while the other moves. */
#ifndef MONA_PULLDOWN_H
#define MONA_PULLDOWN_H

#include <stdbool.h>
#include <stdint.h>

enum { PULLDOWN_CYCLE = 5 };

/* Frames are judged in blocks of cycles, as a cut may begin the cycle anew. */
typedef struct pulldown {
    uint32_t frames; /* in this block */
    /* Of them, by their place in the cycle, those that move: which repeat the bottom field,
     * none, and the top one. */
    uint32_t moving[PULLDOWN_CYCLE][3];
    uint32_t top_first, bottom_first, other; /* blocks: film by its fields' order, not film */
} pulldown;

/* Counts the next frame. repeated: 1: it repeats the top field, -1: the bottom one, 0: neither. */
void pulldown_count(pulldown *p, bool moves, int repeated);

/* The order of the fields of a film with pull-down, 1 or -1; 0: it is none so far. */
int pulldown_order(const pulldown *p);

/* Whether further frames would hardly change that. */
bool pulldown_is_decided(const pulldown *p);

#endif
