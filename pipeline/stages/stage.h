// SPDX-License-Identifier: Apache-2.0
/* Stages: what is done to a frame, in the background, one stream each.
 *
 * A super-resolution stage enlarges a frame: luma by a network, which sees studio range (range.h),
 * chroma and alpha by bicubic interpolation; of a video, only what differs from the frame before
 * (changes.h). A denoising stage cleans luma and chroma (denoise.h). A colour stage corrects them
 * by curves (colour_grading.h). A delay passes time (delay.h). A resizing stage makes frames smaller
 * (resize.h). */
#ifndef MONA_STAGE_H
#define MONA_STAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/stages/session_binding.h"
#include "pipeline/stages/changes.h"
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

/* Luma on its way into studio range, or out of it. */
typedef struct conversion {
    const frame *to, *from;
} conversion;

typedef struct stage {
    stage_kind kind;
    frame_format in, out;
    unsigned scale; /* how many times the networks make out larger */
    void *stream_memory;
    mona_stream *stream;
    mona_event done[STAGE_SLOTS];        /* recorded by the caller */
    session_binding luma, chroma, alpha; /* SR */
    void *sited[2];                      /* the models chroma and alpha are bound to */
    plane_change changes[STAGE_SLOTS][FRAME_MAX_PLANES]; /* SR */
    mona_rect *rects;                                    /* of the plane that is worked on */
    uint8_t *studio_memory; /* of studio; NULL: frames have studio range themselves */
    frame studio[2];        /* luma as the network reads and writes it */
    conversion conversions[STAGE_SLOTS][2];
    denoiser denoiser;
    colour_grading grading;
    delay delay;
    resizer resizer;
} stage;

/* Opens a stage for frames of format in; s->out says what comes out. number: its place in the
 * chain. enlarged: how many times larger the frames have been made before. Whether it succeeds or
 * not, stage_close releases what there is. s must not move. */
bool stage_open(stage *s, stage_kind kind, unsigned number, const stage_settings *settings,
                frame_format in, unsigned enlarged, pipeline_error *error);

/* Tells a probe, which wants to know, of every model the stage has bound. number: of the stage. */
void stage_tell_models(const stage *s, unsigned number, const pipeline_probe *probe);

/* Queues the work of one frame. All frames stay until it is done; a slot is used again only then.
 * before: the frame before; previous: what was made of it; both NULL: there is none. error: RMS of
 * what compression left in the frame that entered the chain, in steps of 8 bits. */
mona_status stage_enqueue(stage *s, const frame *in, const frame *out, const frame *before,
                          const frame *previous, float error, unsigned slot);

/* Finishes what is queued. A zeroed stage is allowed. */
void stage_close(stage *s);

/* Bytes the stage's sessions occupy. */
size_t stage_bytes(const stage *s);

#endif
