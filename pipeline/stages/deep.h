// SPDX-License-Identifier: Apache-2.0
/* Frames of more bits than networks correct.
 *
 * The stages see frames rounded to DEEP_SEEN_BITS. What they change is the difference between their
 * result and what they would make if no network changed anything: repeated or interpolated samples.
 * A second chain makes that from the same frames. The difference is added to the frame itself, which
 * the same filters enlarge with all its bits. Where nothing is changed, no bit is. */
#ifndef MONA_DEEP_H
#define MONA_DEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/error.h"
#include "pipeline/stages/chain.h"
#include "pipeline/stages/frame.h"

enum { DEEP_SEEN_BITS = MONA_MAX_DEPTH };

typedef struct deep {
    chain unchanged; /* the stages that change a frame's size; count 0: none does */
    named_model neutral[CHAIN_MAX_STAGES];
    void *models[CHAIN_MAX_STAGES]; /* the memory of neutral */
    resizer filters[CHAIN_MAX_STAGES];
    frame frames[CHAIN_MAX_STAGES + 1]; /* the frame, and the result of each filter */
    frame out;                          /* the result */
    uint8_t *memory;
    unsigned bits;   /* of the frame */
    bool full_range; /* of its samples */
} deep;

/* Opens what belongs to the stages of c, which is open for frames of format in, except that it sees
 * them rounded. result_bits: of the result's samples. Whether it succeeds or
 * not, deep_close releases what there is. */
bool deep_open(deep *d, const chain *c, const stage_settings *settings, const frame_format *in,
               unsigned result_bits, pipeline_error *error);

/* Fills a plane of a frame that the stages see. */
void deep_fill_plane(const deep *d, frame *seen, unsigned plane, const uint8_t *source,
                     ptrdiff_t source_stride);

/* Enqueues a frame in the second chain; *done is reached when it is through. */
mona_status deep_enqueue(deep *d, const uint8_t *const *planes, const int *strides,
                         mona_event **done);

/* Makes d->out of frame n from its planes, when both chains are through with it. made: what the
 * stages made of it. */
void deep_finish(deep *d, uint64_t n, const frame *made, const uint8_t *const *planes,
                 const int *strides);

/* A zeroed one is allowed. */
void deep_close(deep *d);

#endif
