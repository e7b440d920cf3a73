// SPDX-License-Identifier: Apache-2.0
/* Statistics of samples, such as the times of a run. Pure functions. */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* All zero for no samples. */
typedef struct statistics {
    size_t count;
    double minimum, mean, maximum;
    double deviation; /* standard deviation of the population, estimated: divided by count - 1 */
    double variation; /* coefficient of variation: deviation / mean; 0 if the mean is 0 */
    double p50, p90, p95, p99, p999;
} statistics;

enum { HISTOGRAM_BINS = 60 };

/* Bin i counts samples in [begin + i * width, begin + (i + 1) * width); the last one also those
 * that equal its end. The counts add up to the number of samples. */
typedef struct histogram {
    double begin, width;
    unsigned bins;
    size_t counts[HISTOGRAM_BINS];
} histogram;

/* A sorted copy, to be freed; NULL: out of memory. */
double *statistics_sort(const double *samples, size_t count);

/* sorted: ascending. */
statistics statistics_of(const double *sorted, size_t count);

/* By nearest rank: the smallest sample that at least `percent` per cent of all samples do not
 * exceed. It is therefore always a sample that occurred. percent: above 0, at most 100; count: at
 * least 1. */
double statistics_percentile(const double *sorted, size_t count, double percent);

/* How many samples are needed for the largest to lie at or above the true percentile with 95 %
 * confidence (Wilks 1941: 1 - (percent / 100)^n >= 0.95). With fewer, a percentile of the samples
 * says little about the machine. percent: below 100. */
size_t statistics_samples_for(double percent);

/* The width of bins is that of Freedman and Diaconis (1981), 2 * IQR / cbrt(count), but there are
 * at most HISTOGRAM_BINS of them. */
histogram statistics_histogram(const double *sorted, size_t count);

/* statistics_percentile of samples in any order, which are reordered; 0 for no samples. */
double statistics_select(double *samples, size_t count, double percent);

/* Whether one series of times is slower than another, or slowed down itself, by tests that are
 * robust to noise. Pure functions: the same samples always give the same answer. */

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

/* Statistics of times as JSON. */

/* Adds "min_ms", "mean_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "p99.9_ms", "max_ms",
 * "stddev_ms", "cv" and "iterations" of times. False, with a message: out of memory. */
bool result_add_statistics(cJSON *object, const double *ms, size_t count);
void result_put_statistics(cJSON *object, const statistics *s);

#endif
