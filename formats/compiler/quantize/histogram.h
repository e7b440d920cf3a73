// SPDX-License-Identifier: Apache-2.0
/* Histograms of a value's magnitudes, and the largest magnitude that 8 bits should represent.
 *
 * Bins are a power of two wide. When larger magnitudes occur, the width doubles and neighbouring
 * bins are merged. The counts of floor(|x| / width) therefore do not depend on the order of
 * samples, and memory stays constant. Zeros are counted separately, since every scale represents
 * them exactly. */
#ifndef MONA_COMPILER_HISTOGRAM_H
#define MONA_COMPILER_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "formats/compiler/graph/options.h"

enum { HISTOGRAM_BINS = 2048 };

typedef struct histogram {
    int exponent; /* bins are 2^exponent wide */
    uint64_t zeros, total;
    uint64_t counts[HISTOGRAM_BINS];
} histogram;

/* A zeroed histogram is empty. Values are finite. */
void histogram_add(histogram *h, const float *values, size_t count);
void histogram_merge(histogram *h, const histogram *from);

/* The magnitude that the last of `levels` steps should stand for; 0: only zeros were seen. max: the
 * largest magnitude seen, which is the result of RANGE_MIN_MAX and an upper bound of the others. */
double histogram_threshold(const histogram *h, range_rule rule, unsigned levels, double max);

#endif
