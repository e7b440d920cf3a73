// SPDX-License-Identifier: Apache-2.0
/* Stages process frames in the background, each on its own stream.
 *
 * A super-resolution stage enlarges a frame: luma by a network, which works in studio range
 * (range.h), chroma and alpha by bicubic interpolation. In a video it enlarges only what differs
 * from the frame before (changes.h). A denoising stage cleans luma and chroma (denoise.h). A colour
 * stage corrects them by curves (colour_grading.h). A resizing stage reduces frames (resize.h). A
 * delay only takes time (delay.h). */
#ifndef MONA_STAGE_H
#define MONA_STAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/stages/session_binding.h"
#include "pipeline/stages/changes.h"
#include "pipeline/stages/chip.h"
#include "pipeline/stages/delay.h"
#include "pipeline/stages/denoise.h"
#include "pipeline/error.h"
#include "pipeline/stages/frame.h"
#include "pipeline/stages/colour_grading.h"
#include "mona.h"
#include "pipeline/stages/probe.h"
#include "pipeline/stages/stage_settings.h"

typedef enum stage_kind {
    STAGE_SR,
    STAGE_DENOISE,
    STAGE_DELAY,
    STAGE_COLOUR,
    STAGE_RESIZE
} stage_kind;

/* "sr", "denoise", "delay", "colour", "resize". */
const char *stage_kind_name(stage_kind kind);

/* The conversion of a frame's luma to studio range, or back. */
typedef struct conversion {
    const frame *to, *from;
} conversion;

typedef struct stage {
    stage_kind kind;
    frame_format in, out;
    unsigned scale; /* how many times larger a network makes out */
    void *stream_memory;
    mona_stream *stream;
    mona_event done[STAGE_SLOTS];        /* recorded by the caller */
    session_binding luma, chroma, alpha; /* SR */
    chip chip;                           /* what runs luma, if that is on a chip */
    void *sited[2];                      /* the models that chroma and alpha are bound to */
    plane_change changes[STAGE_SLOTS][FRAME_MAX_PLANES]; /* SR */
    mona_rect *rects;                                    /* of the plane being processed */
    uint8_t *studio_memory; /* the memory of studio; NULL: frames already have studio range */
    frame studio[2];        /* luma as the network reads and writes it */
    conversion conversions[STAGE_SLOTS][2];
    denoiser denoiser;
    colour_grading grading;
    delay delay;
    resizer resizer;
} stage;

/* Opens a stage for frames of format in; s->out is the format of the results. number: its place in
 * the chain. enlarged: how many times the frames have been enlarged before. Whether it succeeds or
 * not, stage_close releases what there is. s must not move. */
bool stage_open(stage *s, stage_kind kind, unsigned number, const stage_settings *settings,
                frame_format in, unsigned enlarged, pipeline_error *error);

/* Reports every model that the stage has bound to a probe that wants to know. number: of the
 * stage. */
void stage_tell_models(const stage *s, unsigned number, const pipeline_probe *probe);

/* Enqueues the work on one frame. All frames must stay until it is done; only then may a slot be
 * reused. before: the frame before; previous: the result for it; both NULL: there is none. error:
 * RMS of what compression left in the frame that entered the chain, in steps of 8 bits. */
mona_status stage_enqueue(stage *s, const frame *in, const frame *out, const frame *before,
                          const frame *previous, float error, unsigned slot);

/* The stream that first reads a frame: what the stage waits for before it reads is enqueued here. */
mona_stream *stage_entry(const stage *s);

/* Waits for what is queued. A zeroed stage is allowed. */
void stage_close(stage *s);

/* The bytes of the stage's sessions. */
size_t stage_bytes(const stage *s);

#endif
