// SPDX-License-Identifier: Apache-2.0
/* How noisy a plane is. */
#ifndef MONA_NOISE_H
#define MONA_NOISE_H

#include <stddef.h>
#include <stdint.h>

enum {
    NOISE_BLOCK = 16,     /* samples a side of the blocks that are compared */
    NOISE_BLOCKS = 2048,  /* at most as many are looked at, however large the plane */
    NOISE_BIN_STEPS = 16, /* block means are sorted by counting them in steps of 1/16 */
    NOISE_BINS = 8192,    /* up to 512, or a standard deviation of 120 */
};

typedef struct noise_work {
    uint32_t all[NOISE_BINS], inside[NOISE_BINS];
} noise_work;

/* Estimates the standard deviation of the noise in a plane of samples of so many bits (more than 8:
 * in 16-bit words), in steps of 8 bits. stride: bytes. spacing: distance between the samples
 * compared, 1 for a plane as a sensor made it, 2 for one twice as large as that, whose noise is smooth at a
 * distance of 1. 0 for planes too small to say. *work is scratch. */
float noise_sigma(noise_work *work, const uint8_t *plane, ptrdiff_t stride, uint32_t width,
                  uint32_t height, unsigned bits, unsigned spacing);

#endif
