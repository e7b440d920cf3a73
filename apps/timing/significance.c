// SPDX-License-Identifier: Apache-2.0
#include "apps/timing/statistics.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 1000 };

typedef struct ranked {
    double value;
    bool second; /* from samples b */
} ranked;

static int compare(const void *a, const void *b)
{
    const double x = ((const ranked *)a)->value, y = ((const ranked *)b)->value;
    return (x > y) - (x < y);
}

/* The rank sum of samples b, where equal values share their mean rank. *ties: the sum of t^3 - t
 * over groups of t equal values. */
static double rank_sum(const ranked *all, size_t count, double *ties)
{
    double sum = 0;
    *ties = 0;
    for (size_t i = 0; i < count;) {
        size_t end = i + 1, second = 0;
        while (end < count && all[end].value == all[i].value)
            end++;
        for (size_t k = i; k < end; k++)
            second += all[k].second;
        const double t = (double)(end - i);
        sum += (double)second * ((double)(i + 1 + end) / 2); /* ranks i + 1 to end */
        *ties += t * t * t - t;
        i = end;
    }
    return sum;
}

double significance_exceeds(const double *a, size_t a_count, const double *b, size_t b_count)
{
    const size_t count = a_count + b_count;
    ranked *all = a_count && b_count ? malloc(count * sizeof *all) : NULL;
    if (!all)
        return 1;
    for (size_t i = 0; i < count; i++)
        all[i] = i < a_count ? (ranked){a[i], false} : (ranked){b[i - a_count], true};
    qsort(all, count, sizeof *all, compare);
    double ties;
    const double na = (double)a_count, nb = (double)b_count, n = (double)count;
    const double u = rank_sum(all, count, &ties) - nb * (nb + 1) / 2;
    const double variance = na * nb / 12 * (n + 1 - ties / (n * (n - 1)));
    free(all);
    if (!(variance > 0))
        return 1;
    return erfc((u - na * nb / 2 - 0.5) / sqrt(2 * variance)) / 2;
}

/* ---- bootstrap ------------------------------------------------------------------------------ */

/* Marsaglia's xorshift64*: good enough to choose blocks, and the same everywhere. */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

/* Draws as many samples as there are, in blocks that wrap around at the end, and returns their
 * percentile. */
static double resample(const double *samples, size_t count, double percent, double *work,
                       uint64_t *state)
{
    const size_t block = (size_t)ceil(cbrt((double)count));
    for (size_t i = 0; i < count;) {
        const size_t begin = (size_t)(draw(state) >> 11) % count;
        for (size_t k = 0; k < block && i < count; k++)
            work[i++] = samples[(begin + k) % count];
    }
    return statistics_select(work, count, percent);
}

bool significance_ratio(const double *before, size_t before_count, const double *after,
                        size_t after_count, double percent, ratio_interval *result)
{
    const size_t max = before_count > after_count ? before_count : after_count;
    double ratios[RESAMPLES], *work = malloc(max * sizeof *work);
    uint64_t state = 88172645463325252u;
    if (!work)
        return false;
    for (int i = 0; i < RESAMPLES; i++) {
        const double old = resample(before, before_count, percent, work, &state);
        ratios[i] = resample(after, after_count, percent, work, &state) / old;
    }
    result->low = statistics_select(ratios, RESAMPLES, 0.5);
    result->high = statistics_select(ratios, RESAMPLES, 99.5);
    memcpy(work, before, before_count * sizeof *work);
    const double old = statistics_select(work, before_count, percent);
    memcpy(work, after, after_count * sizeof *work);
    result->ratio = statistics_select(work, after_count, percent) / old;
    free(work);
    return true;
}

/* ---- warm-up and drift ----------------------------------------------------------------------- */

/* The median, without changing the samples; negative: out of memory. */
static double median_of(const double *samples, size_t count)
{
    double *sorted = statistics_sort(samples, count);
    const double median = sorted ? statistics_percentile(sorted, count, 50) : -1;
    free(sorted);
    return median;
}

bool significance_settled(const double *samples, size_t count, size_t window)
{
    if (!window || count < 2 * window)
        return false;
    const double last = median_of(samples + count - window, window);
    const double before = median_of(samples + count - 2 * window, window);
    return fabs(last - before) <= 0.02 * before;
}

double significance_drift(const double *samples, size_t count)
{
    enum { MIN_SAMPLES = 8 };
    const size_t third = count / 3;
    const double *last = samples + count - third;
    if (third < MIN_SAMPLES || (significance_exceeds(samples, third, last, third) >= 0.0005 &&
                                significance_exceeds(last, third, samples, third) >= 0.0005))
        return 0;
    const double before = median_of(samples, third);
    return before > 0 ? median_of(last, third) / before - 1 : 0;
}
