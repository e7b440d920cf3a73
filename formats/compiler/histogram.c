#include "histogram.h"

#include <math.h>
#include <string.h>

/* Brings bins to 2^exponent, which is wider. */
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

/* The narrowest bins of which HISTOGRAM_BINS hold this magnitude. */
static int exponent_for(double most)
{
    int exponent;
    frexp(most, &exponent); /* most < 2^exponent */
    return exponent - 11;   /* HISTOGRAM_BINS = 2^11 */
}

static void make_room(histogram *h, double most)
{
    const int exponent = exponent_for(most);
    if (h->total == h->zeros)
        h->exponent = exponent;
    else if (exponent > h->exponent)
        widen(h, exponent);
}

void histogram_add(histogram *h, const float *values, size_t count)
{
    float most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmaxf(most, fabsf(values[i]));
    if (most > 0)
        make_room(h, (double)most);
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

double histogram_share_above(const histogram *h, double magnitude)
{
    uint64_t above = 0;
    for (uint32_t i = HISTOGRAM_BINS; i-- > 0 && ldexp(i, h->exponent) >= magnitude;)
        above += h->counts[i];
    return h->total ? (double)above / (double)h->total : 0;
}

#define SMOOTHING 1e-4 /* share of a bin that nothing but saturation fills */

/* ---- rules -------------------------------------------------------------------------------- */

/* Upper edge of the lowest bins that hold all but 1 in 10^4 of everything. */
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

/* Sum of squared errors when the last step stands for t. */
static double squared_error(const histogram *h, double t, unsigned levels)
{
    const double width = ldexp(1, h->exponent), step = t / levels;
    double inside = 0, outside = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BINS; i++) {
        const double n = (double)h->counts[i], d = (i + 0.5) * width - t;
        inside += d > 0 ? 0 : n;
        outside += d > 0 ? n * d * d : 0;
    }
    return inside * step * step / 12 + outside;
}

/* Divergence of the distribution in the first `kept` bins, what lies above counted to the last of
 * them, from the same in `levels` steps, each spread evenly over those of its bins that have any:
 * sum of p log(p / q) with p and q as shares. Where saturation alone fills a bin, q is SMOOTHING.
 */
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

/* The best of the upper edges of bins, or `most` where none is better. Divergence begins where
 * every bin has a step of its own. */
static double best_edge(const histogram *h, range_rule rule, unsigned levels, double most)
{
    const double width = ldexp(1, h->exponent);
    const uint32_t used = (uint32_t)fmin(ceil(most / width), HISTOGRAM_BINS);
    const uint32_t fewest = rule == RANGE_KL ? levels : levels / 8;
    double best = most, least = INFINITY;
    for (uint32_t kept = used; kept >= fewest && kept; kept -= kept > 512 ? 8 : 1) {
        const double t = kept == used ? most : kept * width;
        const double error =
            rule == RANGE_KL ? divergence(h, kept, levels) : squared_error(h, t, levels);
        if (error < least) {
            least = error;
            best = t;
        }
    }
    return best;
}

double histogram_threshold(const histogram *h, range_rule rule, unsigned levels, double most)
{
    switch (rule) {
    case RANGE_MIN_MAX:
        return most;
    case RANGE_PERCENTILE:
        return fmin(most, percentile(h));
    case RANGE_KL:
    case RANGE_MSE:
        break;
    }
    return h->total == h->zeros ? most : best_edge(h, rule, levels, most);
}
