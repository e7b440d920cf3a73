// SPDX-License-Identifier: Apache-2.0
/* How often magnitudes occur in a value, and which of them 8 bits should reach up to.
 *
 * Bins are a power of two wide and double as larger magnitudes come, neighbours being added: the
 * counts of floor(|x| / width) are then the same in whatever order samples come, and memory stays
 * the same. Zeros are counted apart, since every step holds them exactly. */
#ifndef MONA_COMPILER_HISTOGRAM_H
#define MONA_COMPILER_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTOGRAM_BINS = 2048 };

typedef enum range_rule {
    RANGE_MIN_MAX,    /* everything that was seen */
    RANGE_PERCENTILE, /* all but 1 in 10^4 */
    RANGE_KL,  /* least Kullback-Leibler divergence of what 8 bits make of it (Migacz 2017) */
    RANGE_MSE, /* least squared error: of rounding, scale^2 / 12, and of saturation */
} range_rule;

typedef struct histogram {
    int exponent; /* bins are 2^exponent wide */
    uint64_t zeros, total;
    uint64_t counts[HISTOGRAM_BINS];
} histogram;

/* A zeroed histogram is empty. Values are finite. */
void histogram_add(histogram *h, const float *values, size_t count);
void histogram_merge(histogram *h, const histogram *from);

/* The magnitude that the last of `levels` steps should stand for; 0: nothing but zeros seen.
 * max: the largest magnitude seen, which is the result of RANGE_MIN_MAX and bounds all others. */
double histogram_threshold(const histogram *h, range_rule rule, unsigned levels, double max);

/* Share of the samples above a magnitude, to a bin. */
double histogram_share_above(const histogram *h, double magnitude);

#endif
