// SPDX-License-Identifier: Apache-2.0
/* Estimates how noisy a plane is, with fine or coarse noise. */
#ifndef MONA_NOISE_H
#define MONA_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/stages/stage.h"

enum {
    NOISE_BLOCK = 16,     /* samples a side of a block */
    NOISE_BLOCKS = 2048,  /* about how many are examined, however large the plane */
    NOISE_BIN_STEPS = 16, /* blocks are sorted by counting: bins of 1/16 step for their means */
    NOISE_BINS = 8192,    /* up to 512, or a standard deviation of 80 */
    NOISE_SCALES = 4,     /* distances at which samples are compared: 1, 2, 4 and 8 */
    NOISE_FLATTEST = 20,  /* one in so many blocks counts */
    NOISE_MIN_FLATTEST = 8,
    NOISE_MAX_FLATTEST = 2 * NOISE_BLOCKS / NOISE_FLATTEST + NOISE_MIN_FLATTEST,
};

/* The mean of the flattest blocks at the third scale, of independent noise of 1. */
#define NOISE_THIRD_BIAS 0.852

/* In steps of 8 bits. */
typedef struct noise_level {
    float sigma;    /* standard deviation of all noise, including faint noise */
    float strength; /* what to give the network so that most of the noise is removed; 0: no noise */
} noise_level;

typedef struct noise_block {
    uint32_t x, y, bin;
} noise_block;

typedef struct noise_work {
    uint64_t edges[2], middles[2]; /* of coding blocks, across and down */
    uint32_t bins[NOISE_BINS];
    noise_block blocks[2 * NOISE_BLOCKS]; /* the flattest first */
    uint32_t count, flattest;
    double scale[NOISE_SCALES], normality[NOISE_SCALES]; /* of the flattest, finest first */
    double everywhere; /* the third scale of usual blocks: noise and texture */
} noise_work;

/* From y0 at x0 to y1 at x1, and the nearer one beyond. */
static inline double noise_between(double x, double x0, double y0, double x1, double y1)
{
    return x <= x0 ? y0 : x >= x1 ? y1 : y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

/* One block's response to samples `distance` apart and, from when the blocks were listed, at the
 * third scale, as standard deviations. Bits as below. */
double noise_block_response(const noise_block *block, const uint8_t *plane, ptrdiff_t stride,
                            unsigned bits, unsigned distance);
double noise_block_third(const noise_block *block);

/* The bin of the response that so many twentieths of all listed blocks are below. */
uint32_t noise_quantile(const noise_work *work, uint32_t twentieths);

/* Estimates the noise in a plane of samples with this many bits (more than 8: in 16-bit words).
 * stride: in bytes. spacing: between the samples compared; 1 for a plane from a sensor, 2 for one
 * that was doubled, whose noise is smooth at a distance of 1. coded: the plane may have been coded
 * in 8x8 blocks without a report from the decoder, so the damage of blocks counts too. Both results
 * are 0 for planes that are too small. *work is scratch, which then says what was examined;
 * flattest is 0 if nothing was. */
noise_level noise_measure(noise_work *work, const uint8_t *plane, ptrdiff_t stride, uint32_t width,
                          uint32_t height, unsigned bits, unsigned spacing, bool coded);

/* Takes out of chroma what a denoiser leaves of its noise: coloured blotches where luma is flat.
 *
 * A network that is told one strength for a frame is told luma's, and chroma of 4:2:0 often has as
 * much noise in half the samples. So each sample becomes a mean of 13 within 9x9 around it, as far
 * as they look alike: in luma and, over 3x3 samples, in both planes of chroma. What differs in
 * luma, or by more than noise in colour, does not mix.
 *
 * How much noise there is the flattest blocks say (noise.h, third scale). Where usual blocks
 * have much more, that is colour of the picture, and the plane stays as it is.
 *
 * Coarse noise remains, so the same is done once more at twice the distances where noise of the
 * plane at half its size is as strong at all scales; colour of the picture grows with them. */

/* Scratch. */
typedef struct chroma_noise {
    int16_t *memory;
    uint32_t width, height, stride; /* of a plane of chroma; of its copies, with a margin */
    int32_t *sums;
    noise_work *work;
} chroma_noise;

/* Its memory is the stage's. False: out of memory. format: 4:2:0. */
bool chroma_noise_open(chroma_noise *c, stage *s, const frame_format *format);

void chroma_noise_clean(const chroma_noise *c, const frame *f);

#endif
