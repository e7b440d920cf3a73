// SPDX-License-Identifier: Apache-2.0
/* Stages one after another, with the frames between them.
 *
 * Frame n enters in slot n % CHAIN_INPUTS of the first edge, crosses the edges between stages in
 * slot n % CHAIN_BETWEEN of each, and leaves in slot n % CHAIN_OUTPUTS of the last edge. While stage
 * 1 works on frame n, stage 0 works on n + 1 and the caller fills n + 2 and encodes n - 1. A slot is
 * written again when whoever reads it is done, which events between the stages' streams see to. All
 * of it is allocated when the chain is opened.
 *
 * While a stage works on frame n, frame n - 1 still lies in the slot before, for it to compare, and
 * so does what it made of it, where only that stage writes. */
#ifndef MONA_CHAIN_H
#define MONA_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/error.h"
#include "pipeline/stages/frame.h"
#include "pipeline/stages/probe.h"
#include "pipeline/stages/stage.h"

enum { CHAIN_INPUTS = 4, CHAIN_BETWEEN = 3, CHAIN_OUTPUTS = 3 };

/* A frame's turn at a stage, which is measured. */
typedef struct chain_turn {
    struct chain *chain;
    unsigned stage;
    uint64_t frame;
} chain_turn;

/* What the stages remember from one frame to the next. */
typedef struct chain_memory {
    float strength[CHAIN_MAX_STAGES][DENOISE_PLANES];
    colour_grading_state grading[CHAIN_MAX_STAGES];
} chain_memory;

typedef struct chain {
    stage stages[CHAIN_MAX_STAGES];
    unsigned count;
    frame edges[CHAIN_MAX_STAGES + 1][STAGE_SLOTS];
    unsigned slots[CHAIN_MAX_STAGES + 1]; /* of each edge */
    uint8_t *memory;                      /* of all frames */
    size_t memory_bytes;
    uint64_t entered;            /* frames */
    uint64_t fresh;              /* every so many frames one is the first; 0: only the very first */
    const pipeline_probe *probe; /* NULL: nobody looks */
    chain_turn turns[CHAIN_MAX_STAGES][STAGE_SLOTS];
} chain;

/* Opens stages for frames of format in. overlap: false for a single frame, which then takes one
 * slot of each edge. Whether it succeeds or not, chain_close releases what there is. */
bool chain_open(chain *c, const stage_kind *kinds, unsigned count, const stage_settings *settings,
                frame_format in, bool overlap, pipeline_error *error);

/* Has the probe told of the stages' models, and of every frame from now on. NULL: of none. */
void chain_watch(chain *c, const pipeline_probe *probe);

/* Format of the frames that leave. */
frame_format chain_format(const chain *c);

/* Waits until the memory of the next frame to enter is free, and gives it. */
mona_status chain_input(chain *c, frame **in);

/* Queues the frame filled last. error: RMS of what compression left in it, as far as known, in
 * steps of 8 bits. *done is reached when it lies in its output slot, which must be free. */
mona_status chain_enqueue(chain *c, float error, mona_event **done);

/* Finishes what is queued. A zeroed chain is allowed. */
void chain_close(chain *c);

size_t chain_engine_bytes(const chain *c); /* of the stages' sessions */

/* The stages' memory after frame n, which is done and whose output slot is not free yet. */
void chain_remember(const chain *c, uint64_t n, chain_memory *memory);

/* Before the first frame: goes on from what was remembered. */
void chain_recall(chain *c, const chain_memory *memory);

/* The latest estimate of the first stage that makes one; negative: none does. Call when no frame is
 * on its way. */
float chain_noise(const chain *c);

/* The error of compression that this stage took for noise in the latest frame; 0: none. */
float chain_compression(const chain *c);

#endif
