// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/quantize/observation.h"

#include <math.h>

/* Makes bins 2^exponent wide, which must be wider than before. */
static void widen(histogram *h, int exponent)
{
    const int by = exponent - h->exponent;
    for (uint32_t i = 0; i < HISTOGRAM_BINS; i++) {
        const uint64_t n = h->counts[i];
        h->counts[i] = 0;
        h->counts[by < 32 ? i >> by : 0] += n;
    }
    h->exponent = exponent;
}

/* The narrowest bins with which HISTOGRAM_BINS of them reach this magnitude. */
static int exponent_for(double max)
{
    int exponent;
    frexp(max, &exponent); /* max < 2^exponent */
    return exponent - 11;  /* HISTOGRAM_BINS = 2^11 */
}

static void make_room(histogram *h, double max)
{
    const int exponent = exponent_for(max);
    if (h->total == h->zeros)
        h->exponent = exponent;
    else if (exponent > h->exponent)
        widen(h, exponent);
}

void histogram_add(histogram *h, const float *values, size_t count)
{
    float max = 0;
    for (size_t i = 0; i < count; i++) {
        const float size = fabsf(values[i]);
        max = size > max ? size : max;
    }
    if (max > 0)
        make_room(h, (double)max);
    const double per_bin = ldexp(1, -h->exponent);
    for (size_t i = 0; i < count; i++) {
        const double x = fabs((double)values[i]);
        if (x > 0)
            h->counts[(uint32_t)(x * per_bin)]++;
        else
            h->zeros++;
    }
    h->total += count;
}

void histogram_merge(histogram *h, const histogram *from)
{
    histogram other = *from;
    if (other.total != other.zeros) {
        if (h->total == h->zeros)
            h->exponent = other.exponent;
        if (other.exponent > h->exponent)
            widen(h, other.exponent);
        else
            widen(&other, h->exponent);
    }
    for (uint32_t i = 0; i < HISTOGRAM_BINS; i++)
        h->counts[i] += other.counts[i];
    h->zeros += other.zeros;
    h->total += other.total;
}

#define SMOOTHING 1e-4 /* probability of a bin that only saturation fills */

/* ---- rules -------------------------------------------------------------------------------- */

/* The upper edge of the lowest bins that hold all but 1 in 10^4 of the values. */
static double percentile(const histogram *h)
{
    uint64_t above = 0;
    for (uint32_t i = HISTOGRAM_BINS; i-- > 0;) {
        above += h->counts[i];
        if (above > h->total / 10000)
            return ldexp(i + 1, h->exponent);
    }
    return 0;
}

/* Sum of squared errors if the last step stands for t. */
static double squared_error(const histogram *h, double t, unsigned levels)
{
    const double width = ldexp(1, h->exponent), scale = t / levels;
    double inside = 0, outside = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BINS; i++) {
        const double n = (double)h->counts[i], d = (i + 0.5) * width - t;
        inside += d > 0 ? 0 : n;
        outside += d > 0 ? n * d * d : 0;
    }
    return inside * scale * scale / 12 + outside;
}

/* The Kullback-Leibler divergence of two distributions: p is the first `kept` bins, with everything
 * above added to the last of them; q is the same in `levels` steps, each spread evenly over its
 * non-empty bins: sum of p log(p / q) of shares. In a bin that only saturation fills, q is
 * SMOOTHING. */
static double divergence(const histogram *h, uint32_t kept, unsigned levels)
{
    double inside = 0, outside = 0, sum = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BINS; i++)
        *(i < kept ? &inside : &outside) += (double)h->counts[i];
    const double all = inside + outside;
    for (unsigned s = 0; s < levels; s++) {
        const uint32_t first = (uint32_t)((uint64_t)s * kept / levels);
        const uint32_t last = (uint32_t)((uint64_t)(s + 1) * kept / levels);
        double n = 0, filled = 0;
        for (uint32_t i = first; i < last; i++) {
            n += (double)h->counts[i];
            filled += h->counts[i] ? 1 : 0;
        }
        for (uint32_t i = first; i < last; i++) {
            const double p = ((double)h->counts[i] + (i == kept - 1 ? outside : 0)) / all;
            const double q = h->counts[i] ? n / filled / inside : SMOOTHING;
            sum += p > 0 ? p * log(p / q) : 0;
        }
    }
    return sum;
}

/* The best upper edge of a bin, or `max` if none is better; far out only every eighth edge is
 * tried. The search starts where every bin has a step of its own. */
static double min_divergence(const histogram *h, unsigned levels, double max)
{
    const double width = ldexp(1, h->exponent);
    const uint32_t used = (uint32_t)fmin(ceil(max / width), HISTOGRAM_BINS);
    double best = max, min = INFINITY;
    for (uint32_t kept = used; kept >= levels; kept -= kept > 512 ? 8 : 1) {
        const double error = divergence(h, kept, levels);
        if (error < min) {
            min = error;
            best = kept == used ? max : kept * width;
        }
    }
    return best;
}

/* The same for squared errors. In units of half bins, the middle of bin i lies at 2 i + 1 and an
 * edge at 2 kept, so everything above an edge contributes sum n (2 i + 1)^2 - 4 kept sum n (2 i +
 * 1) + 4 kept^2 sum n, in integers below 2^60 for 2^33 samples. */
static double least_squares(const histogram *h, unsigned levels, double max)
{
    const double width = ldexp(1, h->exponent);
    const uint32_t used = (uint32_t)fmin(ceil(max / width), HISTOGRAM_BINS);
    double best = max, min = squared_error(h, max, levels);
    uint64_t n = 0, first = 0, second = 0;
    uint32_t i = HISTOGRAM_BINS;
    for (uint32_t kept = used; kept >= levels / 8 && kept; kept -= kept > 512 ? 8 : 1) {
        while (i > kept) {
            const uint64_t middle = 2 * --i + 1;
            n += h->counts[i];
            first += middle * h->counts[i];
            second += middle * middle * h->counts[i];
        }
        const double outside = (double)(second - 4 * kept * first + 4ull * kept * kept * n);
        const double scale = kept * width / levels;
        const double inside = (double)(h->total - h->zeros - n) * scale * scale / 12;
        if (kept < used && inside + outside * width * width / 4 < min) {
            min = inside + outside * width * width / 4;
            best = kept * width;
        }
    }
    return best;
}

double histogram_threshold(const histogram *h, range_rule rule, unsigned levels, double max)
{
    switch (rule) {
    case RANGE_MIN_MAX:
        return max;
    case RANGE_PERCENTILE:
        return fmin(max, percentile(h));
    case RANGE_KL:
        return h->total == h->zeros ? max : min_divergence(h, levels, max);
    case RANGE_MSE:
        return h->total == h->zeros ? max : least_squares(h, levels, max);
    }
    return max;
}
