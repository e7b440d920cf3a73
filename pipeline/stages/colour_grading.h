// SPDX-License-Identifier: Apache-2.0
/* Colour enhancement: curves over luma that a network reads off each frame's thumbnail.
 *
 * The network answers with what is added to the curves that change nothing: GRADING_NODES values
 * each, at luma 0, 16, ... 256 of 8 bits and full range, of what luma becomes, of the gains of u
 * and v, and of their offsets. Curves follow the answers slowly within a shot and at once at a cut.
 */
#ifndef MONA_GRADING_H
#define MONA_GRADING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/stages/session_binding.h"
#include "pipeline/error.h"
#include "pipeline/stages/frame.h"
#include "mona.h"
#include "pipeline/stages/stage_settings.h"
#include "pipeline/stages/thumbnail.h"

enum {
    GRADING_NODES = MONA_CURVE_SEGMENTS + 1,
    GRADING_CURVES = 5,
    GRADING_GRID = 8, /* cells a side that shots are told apart by */
};

/* The first of each kind, in the order of the answers. */
enum { GRADING_LUMA, GRADING_GAINS, GRADING_OFFSETS = 3 };

typedef struct grading_curves {
    float values[GRADING_CURVES][GRADING_NODES]; /* of samples of 0..1 */
} grading_curves;

/* What is known after a frame. */
typedef struct grading_state {
    uint32_t frames; /* of the shot so far; 0: none yet */
    grading_curves curves;
    uint8_t grid[GRADING_GRID * GRADING_GRID]; /* the last frame's luma */
} grading_state;

struct grader;

/* One frame on its way. */
typedef struct grading_job {
    struct grader *grader;
    const frame *in, *out;
    grading_state after;
} grading_job;

typedef struct grader {
    const named_model *model;
    frame_format format;
    bool full_range;
    double strength;
    const mona_device *device;
    const char *cpu;
    bound_model bound;
    thumbnail *seen;
    uint16_t *answer; /* fp16 */
    grading_state state;
    grading_job jobs[STAGE_SLOTS];
} grader;

/* Whether it succeeds or not, grading_close releases what there is. g must not move. */
bool grading_open(grader *g, const stage_settings *settings, frame_format format,
                  pipeline_error *error);

/* Queues the work of one frame on a stream. */
mona_status grading_enqueue(grader *g, mona_stream *stream, const frame *in, const frame *out,
                            unsigned slot);

/* A zeroed grader is allowed. */
void grading_close(grader *g);

size_t grading_bytes(const grader *g);

/* ---- the parts ------------------------------------------------------------------------------ */

/* What an answer stands for: luma never falls, gains are 0 to below 4, everything is finite. */
void grading_read(grading_curves *curves, const uint16_t *answer);

/* Takes in what was seen of the next frame and answered. */
void grading_follow(grading_state *state, const thumbnail *seen, const grading_curves *answered);

/* The curves for samples of so many bits. strength 0: those that change nothing. */
void grading_settle(mona_curves *to, const grading_curves *from, double strength, unsigned bits,
                    bool full_range);

#endif
