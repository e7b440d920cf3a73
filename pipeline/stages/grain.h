// SPDX-License-Identifier: Apache-2.0
/* Film grain: what a denoiser takes out of frames is measured, and put back by synthesis (grain.c)
 * when they have been enlarged.
 *
 * Of the difference between a denoiser's input and its result, in blocks of 16x16, the median
 * energy at each brightness counts, which what was lost of texture hardly affects; blocks near it
 * say how alike samples 1 to 7 apart are, across and down. Both follow changes within about eight
 * frames. */
#ifndef MONA_GRAIN_H
#define MONA_GRAIN_H

#include "pipeline/stages/frame.h"

enum {
    GRAIN_LEVELS = 16, /* of brightness: equal parts of its range */
    GRAIN_LAGS = 8,    /* distances of samples, from 0 */
    GRAIN_PLANES = 3,
    GRAIN_ENERGIES = 128, /* classes of energy, four for each power of two */
    GRAIN_ONE = 64        /* parts of a step */
};

/* The grain of one plane. */
typedef struct grain_plane {
    uint32_t sigma[GRAIN_LEVELS]; /* by luma, in parts of a step of 8 bits; all 0: there is none */
    double across[GRAIN_LAGS], down[GRAIN_LAGS]; /* correlations; [0] is 1 */
} grain_plane;

/* The grain of one frame. */
typedef struct grain_model {
    frame_format format; /* of the frame that it was taken from */
    uint32_t seed;       /* of what was taken: a frame that comes twice gets the same grain */
    grain_plane planes[GRAIN_PLANES];
} grain_model;

/* What was measured so far in a plane; zeroed: nothing. */
typedef struct grain_meter {
    uint32_t energies[GRAIN_LEVELS][GRAIN_ENERGIES]; /* how many blocks have them */
    int64_t across[GRAIN_LAGS], down[GRAIN_LAGS];    /* sums of products */
} grain_meter;

/* Measures what was taken out of a plane, by its luma as it became. */
void grain_measure(grain_meter *meter, const frame *in, const frame *out, unsigned plane,
                   grain_model *model);

struct grain_job; /* grain.c */
void grain_put_back(struct grain_job *job);

#endif
