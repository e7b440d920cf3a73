/* Stages: what is done to a frame, in the background, one stream each.
 *
 * A super-resolution stage doubles a frame: luma by a network, chroma and alpha by bicubic
 * interpolation. A denoising stage cleans luma and chroma together; it is told how strong the noise
 * is, or estimates it on the frame that enters it. */
#ifndef MONA_STAGE_H
#define MONA_STAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "bound.h"
#include "error.h"
#include "frame.h"
#include "mona.h"
#include "noise.h"

typedef enum stage_kind { STAGE_SR, STAGE_DENOISE } stage_kind;

typedef struct named_model {
    const char *name; /* for messages: a file, or the name of an embedded model */
    mona_model model;
} named_model;

typedef struct stage_settings {
    const named_model *sr;      /* tensors luma -> luma_*, twice the size */
    const named_model *denoise; /* tensors y, u, v, noise -> y_*, u_*, v_* */
    const named_model
        *bicubic_left; /* plane -> plane_*; chroma sited left, as in MPEG-2 to H.264 */
    const named_model
        *bicubic_center;       /* the same for samples in the middle of what they stand for */
    const mona_device *device; /* NULL: auto */
    const char *cpu;           /* NULL: the best */
    unsigned threads;          /* of each session; 0: one per core */
    unsigned strip_rows;       /* 0: the planner's choice */
    double strength;           /* 0..1 of STAGE_MAX_SIGMA; negative: estimated */
    bool chroma_left;          /* where 4:2:0 chroma sits horizontally */
} stage_settings;

#define STAGE_MAX_SIGMA 50.0 /* standard deviation in 8-bit steps at strength 1 */

enum { STAGE_SLOTS = 4 }; /* frames that may be on their way through a stage */

struct stage;

/* What the noise strength of one frame on its way is made of. */
typedef struct noise_job {
    struct stage *stage;
    const frame *in;
    uint8_t *row; /* one row of the network's noise input; it is read for every row */
} noise_job;

typedef struct stage {
    stage_kind kind;
    frame_format in, out;
    void *stream_memory;
    mona_stream *stream;
    mona_event done[STAGE_SLOTS]; /* recorded by the caller */
    const named_model *model;
    bound_model main, chroma, alpha; /* chroma, alpha: SR only */
    double strength;
    unsigned noise_spacing;
    float sigma;      /* estimate so far, negative before the first frame; the stream's own */
    noise_work *work; /* auto only */
    uint8_t *noise_rows;
    noise_job jobs[STAGE_SLOTS];
} stage;

/* Opens a stage for frames of format in; s->out says what comes out. enlarged: how many times the
 * frames have been doubled before, which is what their noise looks like. Whether it succeeds or
 * not, stage_close releases what there is. */
bool stage_open(stage *s, stage_kind kind, const stage_settings *settings, frame_format in,
                unsigned enlarged, pipeline_error *error);

/* Queues the work of one frame. in and out stay until it is done; a slot is used again only then.
 */
mona_status stage_enqueue(stage *s, const frame *in, const frame *out, unsigned slot);

/* Finishes what is queued. A zeroed stage is allowed. */
void stage_close(stage *s);

/* Bytes the stage's sessions occupy. */
size_t stage_bytes(const stage *s);

#endif
