// SPDX-License-Identifier: Apache-2.0
/* Stages one after another, with the frames between them.
 *
 * Frame n enters in slot n % CHAIN_INPUTS of the first edge, crosses the edges between stages in
 * slot n % CHAIN_BETWEEN of each, and leaves in slot n % CHAIN_OUTPUTS of the last edge; there are
 * more slots where stages have several frames in work (stage.ahead). While
 * stage 1 works on frame n, stage 0 works on n + 1, and the caller fills n + 2 and encodes n - 1.
 * Events between the stages' streams ensure that a slot is written again only when its reader is
 * done. All memory is allocated when the chain is opened.
 *
 * While a stage works on frame n, frame n - 1 still lies in the slot before it for comparison, and
 * so does the stage's result for it, as only that stage writes there. */
#ifndef MONA_CHAIN_H
#define MONA_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/base/error.h"
#include "pipeline/stages/frame.h"
#include "pipeline/stages/stage.h"

enum { CHAIN_INPUTS = 4, CHAIN_BETWEEN = 3, CHAIN_OUTPUTS = 3 };
enum { CHAIN_MAX_STEPS = PROBE_STAGE + CHAIN_MAX_STAGES + 1 }; /* of a frame, for a probe */

/* A frame's turn at a stage, for measuring. */
typedef struct chain_turn {
    struct chain *chain;
    unsigned stage;
    uint64_t frame;
} chain_turn;

/* What a stage has done since a frame that begins. */
typedef struct chain_past {
    bool met, worked; /* with a frame; on one */
    uint64_t first;   /* of those that it has worked on */
} chain_past;

typedef struct chain {
    stage stages[CHAIN_MAX_STAGES];
    unsigned count;
    frame edges[CHAIN_MAX_STAGES + 1][STAGE_SLOTS];
    unsigned slots[CHAIN_MAX_STAGES + 1]; /* of each edge */
    frame_memory memory;                  /* of all slots */
    size_t memory_bytes;
    uint64_t filled, entered; /* the numbers of frames so far */
    chain_past past[CHAIN_MAX_STAGES];
    const pipeline_probe *probe; /* NULL: none */
    chain_turn turns[CHAIN_MAX_STAGES][STAGE_SLOTS];
} chain;

/* Opens the stages for frames of format in. overlap: false for a single frame, for which one slot
 * per edge suffices. Whether it succeeds or not, chain_close releases what there is. */
bool chain_open(chain *c, const stage_kind *kinds, unsigned count, const stage_settings *settings,
                frame_format in, bool overlap, pipeline_error *error);

/* Reports the stages' models to the probe, and every frame from now on. NULL: stops that. */
void chain_watch(chain *c, const pipeline_probe *probe);

/* Names the steps that a probe is told of, from "decode" to "encode". Returns how many there
 * are. */
unsigned chain_name_steps(const char *names[CHAIN_MAX_STEPS], const stage_kind *kinds,
                          unsigned count);

/* The format of the frames that leave the chain. */
frame_format chain_format(const chain *c);

/* Waits until the slot of the next frame is free, and returns it to be filled. A frame that
 * begins may wait until the one after it is filled. */
mona_status chain_input(chain *c, frame **in);

/* Enqueues the next of the frames that were filled. error: RMS of what compression left in it, in
 * steps of 8 bits; negative: unknown, but there may be some. begins: the stages forget what came
 * before, as they know nothing before the first frame. before: by how many frames it comes before
 * the first one that is wanted; of such a frame only as much is done as the stages need to get used
 * to the film. 0: it is wanted. *done is reached when the result lies in its output slot, which
 * must be free. */
mona_status chain_enqueue(chain *c, float error, bool begins, unsigned before, mona_event **done);

/* How many frames the stages take for that. */
unsigned chain_warm_up(const chain *c);

/* Waits for what is queued. A zeroed chain is allowed. */
void chain_close(chain *c);

size_t chain_engine_bytes(const chain *c); /* of the stages' sessions */

/* The estimate of the first stage that makes one, see stage_row; a negative noise: none does. Call
 * it when no frame is in the chain. */
void chain_estimate(const chain *c, float *noise, float *compression);

#endif
