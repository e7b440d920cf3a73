// SPDX-License-Identifier: Apache-2.0
/* How noisy a plane is, fine or coarse. */
#ifndef MONA_NOISE_H
#define MONA_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NOISE_BLOCK = 16,     /* samples a side of the blocks that are compared */
    NOISE_BLOCKS = 2048,  /* about as many are looked at, however large the plane */
    NOISE_BIN_STEPS = 16, /* blocks are sorted by counting their means in steps of 1/16 */
    NOISE_BINS = 8192,    /* up to 512, or a standard deviation of 80 */
};

/* In steps of 8 bits. */
typedef struct noise_level {
    float sigma;    /* standard deviation of the noise, faint noise included */
    float strength; /* what the network is to be told so that most of it goes; 0: there is none */
} noise_level;

typedef struct noise_block {
    uint32_t x, y, bin;
} noise_block;

typedef struct noise_work {
    uint64_t edges[2], middles[2]; /* of coding blocks, across and down */
    uint32_t bins[NOISE_BINS];
    noise_block blocks[2 * NOISE_BLOCKS];
    uint32_t count;
} noise_work;

/* Estimates the noise in a plane of samples of so many bits (more than 8: in 16-bit words). stride:
 * bytes. spacing: of the samples compared, 1 for a plane as a sensor made it, 2 for one that was
 * doubled, whose noise is smooth at a distance of 1. coded: it may have been coded in blocks of 8x8 that nothing else
 * tells of, whose damage counts. Both are 0 for planes too small to say. *work
 * is scratch; its count says how many blocks were looked at. */
noise_level noise_measure(noise_work *work, const uint8_t *plane, ptrdiff_t stride, uint32_t width,
                          uint32_t height, unsigned bits, unsigned spacing, bool coded);

#endif
