// SPDX-License-Identifier: Apache-2.0
#include "apps/timing/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double *statistics_sort(const double *samples, size_t count)
{
    double *sorted = malloc((count ? count : 1) * sizeof *sorted);
    if (!sorted)
        return NULL;
    if (count)
        memcpy(sorted, samples, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    return sorted;
}

static size_t index_of(double percent, size_t count)
{
    /* 99.9 / 100 * 1000 is slightly more than 999 in floating point, but must not become rank
     * 1000. */
    const double rank = ceil(percent / 100 * (double)count - 1e-9);
    const size_t index = rank < 1 ? 0 : (size_t)rank - 1;
    return index < count ? index : count - 1;
}

double statistics_percentile(const double *sorted, size_t count, double percent)
{
    return sorted[index_of(percent, count)];
}

/* It squares deviations from the mean. With the squares of the samples, which are similar to each
 * other, the result would cancel out. */
static double deviation(const double *samples, size_t count, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (samples[i] - mean) * (samples[i] - mean);
    return count > 1 ? sqrt(sum / (double)(count - 1)) : 0;
}

statistics statistics_of(const double *sorted, size_t count)
{
    if (!count)
        return (statistics){0};
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += sorted[i];
    statistics s = {
        .count = count,
        .minimum = sorted[0],
        .mean = sum / (double)count,
        .maximum = sorted[count - 1],
        .p50 = statistics_percentile(sorted, count, 50),
        .p90 = statistics_percentile(sorted, count, 90),
        .p95 = statistics_percentile(sorted, count, 95),
        .p99 = statistics_percentile(sorted, count, 99),
        .p999 = statistics_percentile(sorted, count, 99.9),
    };
    s.deviation = deviation(sorted, count, s.mean);
    s.variation = s.mean != 0 ? s.deviation / s.mean : 0;
    return s;
}

size_t statistics_samples_for(double percent)
{
    return (size_t)ceil(log(0.05) / log(percent / 100) - 1e-9);
}

histogram statistics_histogram(const double *sorted, size_t count)
{
    histogram h = {.bins = 1};
    if (!count)
        return h;
    const double range = sorted[count - 1] - sorted[0];
    const double iqr =
        statistics_percentile(sorted, count, 75) - statistics_percentile(sorted, count, 25);
    const double wanted = iqr > 0 ? range / (2 * iqr / cbrt((double)count)) : HISTOGRAM_BINS;
    if (range > 0)
        h.bins = wanted < 1 ? 1 : wanted < HISTOGRAM_BINS ? (unsigned)ceil(wanted) : HISTOGRAM_BINS;
    h.begin = sorted[0];
    h.width = range / h.bins;
    for (size_t i = 0; i < count; i++) {
        const double at = h.width > 0 ? (sorted[i] - h.begin) / h.width : 0;
        h.counts[at < h.bins ? (unsigned)at : h.bins - 1]++;
    }
    return h;
}

/* Hoare's selection: values smaller than the wanted one end up before it. Taking the median of
 * three as pivot prevents quadratic time for sorted samples. */
double statistics_select(double *samples, size_t count, double percent)
{
    if (!count)
        return 0;
    const size_t wanted = index_of(percent, count);
    size_t low = 0, high = count - 1;
    while (low < high) {
        const double a = samples[low], b = samples[low + (high - low) / 2], c = samples[high];
        const double pivot = fmax(fmin(a, b), fmin(fmax(a, b), c));
        size_t i = low, k = high;
        for (;; i++, k--) {
            while (samples[i] < pivot)
                i++;
            while (samples[k] > pivot)
                k--;
            if (i >= k)
                break;
            const double swapped = samples[i];
            samples[i] = samples[k];
            samples[k] = swapped;
        }
        if (wanted <= k)
            high = k;
        else
            low = k + 1;
    }
    return samples[wanted];
}
