// SPDX-License-Identifier: Apache-2.0
/* Statistics of samples: what a run of times (or anything else) looks like. Pure functions. */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* All zero of no samples. */
typedef struct statistics {
    size_t count;
    double minimum, mean, maximum;
    double deviation; /* standard deviation of the population sampled: divided by count - 1 */
    double variation; /* coefficient of variation: deviation / mean; 0 where the mean is */
    double p50, p90, p95, p99, p999;
} statistics;

enum { HISTOGRAM_BINS = 60 };

/* Bin i counts samples in [begin + i * width, begin + (i + 1) * width); the last one those that
 * equal its end, too. The counts add up to the number of samples. */
typedef struct histogram {
    double begin, width;
    unsigned bins;
    size_t counts[HISTOGRAM_BINS];
} histogram;

/* A sorted copy, to be freed; NULL: out of memory. */
double *statistics_sort(const double *samples, size_t count);

/* sorted: ascending. */
statistics statistics_of(const double *sorted, size_t count);

/* Nearest rank: the smallest sample that at least `percent` per cent of all do not exceed. So it is
 * always a time that really occurred. percent: above 0, at most 100; count: at least 1. */
double statistics_percentile(const double *sorted, size_t count, double percent);

/* How many samples it takes for the largest of them to lie, with 95 % confidence, at or above the
 * true percentile (Wilks 1941: 1 - (percent / 100)^n >= 0.95). With fewer, a percentile of the
 * samples says little about the machine. percent: below 100. */
size_t statistics_samples_for(double percent);

/* Bins as wide as Freedman and Diaconis (1981) have them, 2 * IQR / cbrt(count), but at most
 * HISTOGRAM_BINS of them. */
histogram statistics_histogram(const double *sorted, size_t count);

/* statistics_percentile of samples in any order, which are reordered; 0 of none. */
double statistics_select(double *samples, size_t count, double percent);

#endif
