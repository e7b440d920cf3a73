// SPDX-License-Identifier: Apache-2.0
/* Statistics of samples, such as the times of a run. Pure functions. */
#ifndef STATISTICS_H
#define STATISTICS_H

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

#endif
