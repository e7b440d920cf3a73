// SPDX-License-Identifier: Apache-2.0
/* Colour enhancement: curves over luma that a network reads off each frame's thumbnail.
 *
 * The network answers with what is added to the curves that change nothing: COLOUR_GRADING_NODES
 * values each, at luma 0, 16, ... 256 of 8 bits and full range, of what luma becomes, of the gains of
 * u and v, and of their offsets. Curves follow the answers slowly within a shot and at once at a cut.
 */
#ifndef MONA_COLOUR_GRADING_H
#define MONA_COLOUR_GRADING_H

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
    COLOUR_GRADING_NODES = MONA_CURVE_SEGMENTS + 1,
    COLOUR_GRADING_CURVES = 5,
    COLOUR_GRADING_GRID = 8, /* cells a side that shots are told apart by */
};

/* The first of each kind, in the order of the answers. */
enum { COLOUR_GRADING_LUMA, COLOUR_GRADING_GAINS, COLOUR_GRADING_OFFSETS = 3 };

typedef struct colour_grading_curves {
    float values[COLOUR_GRADING_CURVES][COLOUR_GRADING_NODES]; /* of samples of 0..1 */
} colour_grading_curves;

/* What is known after a frame. */
typedef struct colour_grading_state {
    uint32_t frames; /* of the shot so far; 0: none yet */
    colour_grading_curves curves;
    uint8_t grid[COLOUR_GRADING_GRID * COLOUR_GRADING_GRID]; /* the last frame's luma */
} colour_grading_state;

struct colour_grading;

/* One frame on its way. */
typedef struct colour_grading_job {
    struct colour_grading *grading;
    const frame *in, *out;
    colour_grading_state after;
} colour_grading_job;

typedef struct colour_grading {
    const named_model *model;
    frame_format format;
    bool full_range;
    double strength;
    const mona_device *device;
    const char *cpu;
    session_binding bound;
    thumbnail *seen;
    uint16_t *answer; /* fp16 */
    colour_grading_state state;
    colour_grading_job jobs[STAGE_SLOTS];
} colour_grading;

/* Whether it succeeds or not, colour_grading_close releases what there is. g must not move. */
bool colour_grading_open(colour_grading *g, const stage_settings *settings, frame_format format,
                         pipeline_error *error);

/* Queues the work of one frame on a stream. */
mona_status colour_grading_enqueue(colour_grading *g, mona_stream *stream, const frame *in,
                                   const frame *out, unsigned slot);

/* A zeroed one is allowed. */
void colour_grading_close(colour_grading *g);

size_t colour_grading_bytes(const colour_grading *g);

/* ---- the parts ------------------------------------------------------------------------------ */

/* What an answer stands for: luma never falls, gains are 0 to below 4, everything is finite. */
void colour_grading_read(colour_grading_curves *curves, const uint16_t *answer);

/* Takes in what was seen of the next frame and answered. */
void colour_grading_follow(colour_grading_state *state, const thumbnail *seen,
                           const colour_grading_curves *answered);

/* The curves for samples of so many bits. strength 0: those that change nothing. */
void colour_grading_settle(mona_curves *to, const colour_grading_curves *from, double strength,
                           unsigned bits, bool full_range);

#endif
