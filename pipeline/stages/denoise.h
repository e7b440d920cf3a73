// SPDX-License-Identifier: Apache-2.0
/* Denoising of frames by a network for 4:2:0. Its input includes the strength of the noise: the
 * estimated noise or the error that compression left, whichever is larger.
 *
 * A 4:2:0 frame is denoised as a whole. Planes of other formats are denoised one by one, each as
 * the luma of a grey picture, at its own resolution and with its own noise.
 *
 * Results may then be steadied with the previous frame (temporal.h). */
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

enum { DENOISE_PLANES = 3 }; /* examined for noise, at most */

#define DENOISE_MAX_SIGMA 50.0 /* standard deviation in 8-bit steps at strength 1 */

/* The network bound to one size. */
typedef struct denoise_pass {
    session_binding bound;
    frame_format format;     /* the 4:2:0 frame that the network sees */
    void *grey;              /* one row of its chroma if the frame has none of its own; else NULL */
    frame unused;            /* receives that chroma: planes 0 and 1 */
    uint8_t *memory;         /* of grey and unused */
    temporal_work *temporal; /* NULL: frames are not steadied */
} denoise_pass;

struct denoiser;

/* The work before the network's run on one plane, or on all of a 4:2:0 frame. */
typedef struct noise_job {
    struct denoiser *denoiser;
    const denoise_pass *pass;
    const frame *in, *out;
    const frame *beside, *previous; /* as in stage_work */
    unsigned plane;
    float error;      /* what compression left, in steps of 8 bits; 0: too little to be repaired */
    float steadied;   /* because of compression, as for noise of this sigma; 0: it is not */
    float noise;      /* its strength as given or estimated, in steps of 8 bits */
    bool told;        /* the decoder reports what compression left, even if it is little */
    bool noisy;       /* whether to run the network */
    bool only_chroma; /* and leave luma as it is */
    bool only_luma;   /* and leave chroma as it is */
    float strength;   /* the estimate after this frame; negative: none */
    float follows;    /* the compression error likewise */
    uint8_t *row;     /* one row of the network's noise input, which all rows share */
} noise_job;

typedef struct denoiser {
    const named_model *model;
    frame_format frame;
    denoise_pass luma, chroma; /* whole 4:2:0 frames use luma alone */
    double fixed;              /* strength, 0..1 of DENOISE_MAX_SIGMA; negative: estimated */
    bool still;                /* a picture */
    bool compressed;           /* compression's error is a lower bound of the estimate */
    double detail;             /* share of its repair that is undone; negative: the usual one */
    unsigned spacing;
    float strength[DENOISE_PLANES]; /* estimates so far, negative before the first frame */
    float sigma[DENOISE_PLANES];    /* what they are based on, for display */
    float error;                    /* of compression in luma, likewise */
    noise_work *work;
    uint8_t *rows;
    noise_job jobs[STAGE_SLOTS][DENOISE_PLANES];
} denoiser;

/* The stored sizes of a frame to be denoised must be multiples of this. */
uint32_t denoise_multiple(const frame_format *format);

/* enlarged: how many times the frames have been enlarged before, which changes the noise's grain.
 * Whether it succeeds or not, denoise_close releases what there is. d must not move. */
bool denoise_open(denoiser *d, const stage_settings *settings, frame_format format,
                  unsigned enlarged, pipeline_error *error);

/* Enqueues the work on one frame. beside, previous: as in stage_work; they must stay until the work is done.
 * error: as in chain_enqueue. */
mona_status denoise_enqueue(denoiser *d, mona_stream *stream, const frame *in, const frame *out,
                            const frame *beside, const frame *previous, float error, unsigned slot);

/* A zeroed denoiser is allowed. */
void denoise_close(denoiser *d);

size_t denoise_bytes(const denoiser *d); /* of its sessions and of temporal filtering */

#endif
