// SPDX-License-Identifier: Apache-2.0
/* Denoising of frames by a network for 4:2:0, which is told how strong the noise is: as strong as
 * it is found to be, or what compression left of error if that is more.
 *
 * A 4:2:0 frame goes through it whole. Planes of other formats go one by one, each as the luma of a
 * grey picture, at its own resolution and with its own noise.
 *
 * What is made frame by frame may be steadied by the frame before (temporal.h). */
#ifndef MONA_DENOISE_H
#define MONA_DENOISE_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/stages/session_binding.h"
#include "pipeline/error.h"
#include "pipeline/stages/frame.h"
#include "mona.h"
#include "pipeline/stages/noise.h"
#include "pipeline/stages/stage_settings.h"
#include "pipeline/stages/temporal.h"

enum { DENOISE_PLANES = 3 }; /* at most, that are looked at for noise */

#define DENOISE_MAX_SIGMA 50.0 /* standard deviation in 8-bit steps at strength 1 */

/* The network bound to one size. */
typedef struct denoise_pass {
    session_binding bound;
    frame_format format;     /* the 4:2:0 frame that the network sees */
    void *grey;              /* one row of its chroma, where that is not the frame's; else NULL */
    frame unused;            /* where such chroma goes: planes 0 and 1 */
    uint8_t *memory;         /* of grey and unused */
    temporal_work *temporal; /* NULL: frames are not steadied */
} denoise_pass;

struct denoiser;

/* What goes before the network's run on one plane, or on all of a 4:2:0 frame. */
typedef struct noise_job {
    struct denoiser *denoiser;
    const denoise_pass *pass;
    const frame *in, *out, *previous; /* previous NULL: there is none */
    unsigned plane;
    float error;      /* what compression left, in steps of 8 bits */
    float noise;      /* its strength as told or estimated, in steps of 8 bits */
    bool told;        /* the decoder tells what compression left, if only that it is little */
    bool noisy;       /* the network is to run */
    bool only_chroma; /* and luma is left as it is */
    float strength;   /* the estimate after this frame; negative: none was made */
    uint8_t *row;     /* one row of the network's noise input; it is read for every row */
} noise_job;

typedef struct denoiser {
    const named_model *model;
    frame_format frame;
    denoise_pass luma, chroma; /* whole 4:2:0 frames: luma alone */
    double fixed;              /* strength, 0..1 of DENOISE_MAX_SIGMA; negative: estimated */
    bool still;                /* a picture */
    bool compressed;           /* the estimate is at least compression's error */
    unsigned spacing;
    float strength[DENOISE_PLANES]; /* estimates so far, negative before the first frame */
    float sigma[DENOISE_PLANES];    /* what they are made of, to be shown */
    noise_work *work;
    uint8_t *rows;
    noise_job jobs[STAGE_SLOTS][DENOISE_PLANES];
} denoiser;

/* Stored sizes of a frame that is to be denoised are multiples of this. */
uint32_t denoise_multiple(const frame_format *format);

/* enlarged: how many times larger the frames have been made before, which is what their noise looks
 * like. Whether it succeeds or not, denoise_close releases what there is. d must not move. */
bool denoise_open(denoiser *d, const stage_settings *settings, frame_format format,
                  unsigned enlarged, pipeline_error *error);

/* Queues the work of one frame on a stream. previous: what was made of the frame before, which
 * stays until the work is done; NULL: there is none. error: RMS of what compression left in luma,
 * in steps of 8 bits; 0: nothing is known of it. */
mona_status denoise_enqueue(denoiser *d, mona_stream *stream, const frame *in, const frame *out,
                            const frame *previous, float error, unsigned slot);

/* A zeroed denoiser is allowed. */
void denoise_close(denoiser *d);

size_t denoise_bytes(const denoiser *d); /* of its sessions and of what steadies frames */

#endif
