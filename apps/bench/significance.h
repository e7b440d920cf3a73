// SPDX-License-Identifier: Apache-2.0
/* Whether one run of times is slower than another, or than itself before: tests that noise does not
 * fool easily. Pure functions; the same samples always give the same answer. */
#ifndef SIGNIFICANCE_H
#define SIGNIFICANCE_H

#include <stdbool.h>
#include <stddef.h>

/* The probability of samples b exceeding samples a by as much as they do, or more, if both came
 * from one distribution: Mann and Whitney's U, one-sided, in the normal approximation with ties
 * and continuity corrected. Good from about 8 samples each on; 1 where either is empty or out of
 * memory. */
double significance_exceeds(const double *a, size_t a_count, const double *b, size_t b_count);

typedef struct ratio_interval {
    double ratio;     /* of the percentiles, after / before */
    double low, high; /* 99 % confidence interval */
} ratio_interval;

/* The ratio of two runs' percentiles, by bootstrap in blocks: times of neighbouring frames are
 * alike, because whatever disturbs a machine lasts, so single frames drawn one by one would make
 * the interval too narrow. Blocks are cbrt(count) frames long, the order that minimises the error
 * of a block bootstrap (Hall, Horowitz and Jing 1995), and samples are in the order they were
 * taken. Both counts at least 1. False: out of memory. */
bool significance_ratio(const double *before, size_t before_count, const double *after,
                        size_t after_count, double percent, ratio_interval *result);

/* Whether the frames so far have settled: the medians of the last two windows of `window` samples
 * are within 2 %. */
bool significance_settled(const double *samples, size_t count, size_t window);

/* How much the last third's median exceeds the first third's, as a share of it (negative: it is
 * less); 0 where the difference may be chance (p >= 0.001). */
double significance_drift(const double *samples, size_t count);

#endif
