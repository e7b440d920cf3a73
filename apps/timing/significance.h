// SPDX-License-Identifier: Apache-2.0
/* Whether one series of times is slower than another, or slowed down itself, by tests that are
 * robust to noise. Pure functions: the same samples always give the same answer. */
#ifndef SIGNIFICANCE_H
#define SIGNIFICANCE_H

#include <stdbool.h>
#include <stddef.h>

/* The probability that samples b would exceed samples a by as much as they do, or more, if both
 * came from one distribution: the Mann-Whitney U test, one-sided, in the normal approximation with
 * corrections for ties and continuity. Valid from about 8 samples each on. 1 if either is empty or
 * memory is short. */
double significance_exceeds(const double *a, size_t a_count, const double *b, size_t b_count);

typedef struct ratio_interval {
    double ratio;     /* ratio of the percentiles, after / before */
    double low, high; /* 99 % confidence interval */
} ratio_interval;

/* The ratio of the percentiles of two series, by block bootstrap. Times of neighbouring frames are
 * similar because disturbances last, so drawing single frames would make the interval too narrow.
 * Blocks are cbrt(count) frames long, the order that minimises the error of a block bootstrap
 * (Hall, Horowitz and Jing 1995). Samples must be in the order in which they were taken. Both
 * counts are at least 1. False: out of memory. */
bool significance_ratio(const double *before, size_t before_count, const double *after,
                        size_t after_count, double percent, ratio_interval *result);

/* Whether the frames so far have settled: the medians of the last two windows of `window` samples
 * are within 2 %. */
bool significance_settled(const double *samples, size_t count, size_t window);

/* By how much the median of the last third exceeds that of the first third, as a share of the
 * latter (negative: it is smaller). 0 if the difference may be chance (p >= 0.001). */
double significance_drift(const double *samples, size_t count);

#endif
