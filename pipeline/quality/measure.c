// SPDX-License-Identifier: Apache-2.0
#include "pipeline/quality/measure.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

enum { SSIM_WINDOW = 11 };

/* ---- planes ---------------------------------------------------------------------------------- */

bool real_plane_open(real_plane *p, uint32_t width, uint32_t height)
{
    *p = (real_plane){width, height, calloc((size_t)width * height, sizeof(double))};
    return p->values;
}

void real_plane_close(real_plane *p)
{
    free(p->values);
    *p = (real_plane){0};
}

/* p = offset + weights . RGB, rounded. */
static void mix(real_plane *p, const still *image, double offset, const double weights[3])
{
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++) {
            const uint8_t *s =
                image->pixels + ((size_t)y * image->width + x) * (size_t)image->channels;
            const double value = image->channels == 1 ? s[0]
                                                      : offset + weights[0] * s[0] +
                                                            weights[1] * s[1] + weights[2] * s[2];
            p->values[(size_t)y * p->width + x] = nearbyint(value);
        }
}

void measure_luma(real_plane *p, const still *image)
{
    mix(p, image, 16, (const double[]){65.481 / 255, 128.553 / 255, 24.966 / 255});
}

void measure_grey(real_plane *p, const still *image)
{
    mix(p, image, 0, (const double[]){0.2989, 0.5870, 0.1140});
}

double measure_to_8_bit(double value)
{
    return fmin(fmax(nearbyint(value), 0), 255);
}

void measure_to_bytes(uint8_t *bytes, const real_plane *from)
{
    for (size_t i = 0; i < (size_t)from->width * from->height; i++)
        bytes[i] = (uint8_t)measure_to_8_bit(from->values[i]);
}

void measure_from_bytes(real_plane *to, const uint8_t *bytes)
{
    for (size_t i = 0; i < (size_t)to->width * to->height; i++)
        to->values[i] = bytes[i];
}

/* ---- filters --------------------------------------------------------------------------------- */

/* Output o is the sum over t < count of weight[o * count + t] * input[index[o * count + t]]. */
typedef struct taps {
    uint32_t outputs, count;
    uint32_t *index;
    double *weight;
} taps;

static bool taps_open(taps *t, uint32_t outputs, uint32_t count)
{
    const size_t all = (size_t)outputs * count;
    *t = (taps){outputs, count, malloc(all * sizeof *t->index), malloc(all * sizeof *t->weight)};
    return t->index && t->weight;
}

static void taps_close(taps *t)
{
    free(t->index);
    free(t->weight);
}

static double cubic(double x)
{
    x = fabs(x);
    if (x <= 1)
        return (1.5 * x - 2.5) * x * x + 1;
    return x <= 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

/* ... 1 0 | 0 1 2 ... n-1 | n-1 n-2 ... */
static uint32_t mirrored(int64_t i, uint32_t n)
{
    const int64_t period = 2 * (int64_t)n, at = (i % period + period) % period;
    return (uint32_t)(at < n ? at : period - 1 - at);
}

/* Output o lies at (o + 1/2) * from / to - 1/2. When reducing, the kernel of width 4 is stretched
 * by from / to. The weights are normalised to a sum of one. */
static bool bicubic_taps(taps *t, uint32_t from, uint32_t to)
{
    const double scale = (double)to / from, shrink = fmin(scale, 1);
    if (!taps_open(t, to, (uint32_t)ceil(4 / shrink) + 2))
        return false;
    for (uint32_t o = 0; o < to; o++) {
        const double centre = (o + 0.5) / scale - 0.5;
        const int64_t first = (int64_t)floor(centre - 2 / shrink);
        double *weight = t->weight + (size_t)o * t->count, sum = 0;
        for (uint32_t k = 0; k < t->count; k++) {
            t->index[(size_t)o * t->count + k] = mirrored(first + k, from);
            weight[k] = cubic(shrink * (centre - (double)(first + k)));
            sum += weight[k];
        }
        for (uint32_t k = 0; k < t->count; k++)
            weight[k] /= sum;
    }
    return true;
}

/* Gaussian windows that lie inside the n samples from `skip` on. */
static bool gaussian_taps(taps *t, uint32_t skip, uint32_t n)
{
    double window[SSIM_WINDOW], sum = 0;
    for (int k = 0; k < SSIM_WINDOW; k++) {
        const double d = k - SSIM_WINDOW / 2;
        sum += window[k] = exp(-d * d / (2 * 1.5 * 1.5));
    }
    if (!taps_open(t, n - SSIM_WINDOW + 1, SSIM_WINDOW))
        return false;
    for (uint32_t i = 0; i < t->outputs * t->count; i++) {
        t->index[i] = skip + i / t->count + i % t->count;
        t->weight[i] = window[i % t->count] / sum;
    }
    return true;
}

/* Filters along rows. */
static void filter_rows(const taps *t, real_plane *to, const real_plane *from)
{
    for (uint32_t y = 0; y < from->height; y++)
        for (uint32_t o = 0; o < t->outputs; o++) {
            const double *row = from->values + (size_t)y * from->width;
            double sum = 0;
            for (size_t k = (size_t)o * t->count; k < ((size_t)o + 1) * t->count; k++)
                sum += t->weight[k] * row[t->index[k]];
            to->values[(size_t)y * to->width + o] = sum;
        }
}

/* Filters along columns; `to` must be zero. */
static void filter_columns(const taps *t, real_plane *to, const real_plane *from)
{
    for (uint32_t o = 0; o < t->outputs; o++)
        for (size_t k = (size_t)o * t->count; k < ((size_t)o + 1) * t->count; k++) {
            const double *row = from->values + (size_t)t->index[k] * from->width;
            double *sum = to->values + (size_t)o * to->width;
            for (uint32_t x = 0; x < to->width; x++)
                sum[x] += t->weight[k] * row[x];
        }
}

/* Filters along both. `to` is an opened plane of columns->outputs x rows->outputs. */
static bool filter(const taps *columns, const taps *rows, real_plane *to, const real_plane *from)
{
    real_plane between;
    if (!real_plane_open(&between, to->width, from->height))
        return false;
    filter_rows(columns, &between, from);
    for (size_t i = 0; i < (size_t)to->width * to->height; i++)
        to->values[i] = 0;
    filter_columns(rows, to, &between);
    real_plane_close(&between);
    return true;
}

bool measure_resize(real_plane *to, const real_plane *from)
{
    taps columns = {0}, rows = {0};
    const bool done = bicubic_taps(&columns, from->width, to->width) &&
                      bicubic_taps(&rows, from->height, to->height) &&
                      filter(&columns, &rows, to, from);
    taps_close(&columns);
    taps_close(&rows);
    return done;
}

/* ---- measures -------------------------------------------------------------------------------- */

double measure_psnr(const real_plane *a, const real_plane *b, uint32_t border)
{
    double sum = 0;
    for (uint32_t y = border; y < a->height - border; y++)
        for (uint32_t x = border; x < a->width - border; x++) {
            const size_t i = (size_t)y * a->width + x;
            sum += (a->values[i] - b->values[i]) * (a->values[i] - b->values[i]);
        }
    const double count = (double)(a->width - 2 * border) * (a->height - 2 * border);
    return 10 * log10(255.0 * 255 * count / sum);
}

/* Windowed mean of a * b, or of a if b is NULL. */
static bool windowed(real_plane *to, const taps *columns, const taps *rows, const real_plane *a,
                     const real_plane *b)
{
    real_plane product;
    if (!real_plane_open(to, columns->outputs, rows->outputs) ||
        !real_plane_open(&product, a->width, a->height))
        return false;
    for (size_t i = 0; i < (size_t)a->width * a->height; i++)
        product.values[i] = b ? a->values[i] * b->values[i] : a->values[i];
    const bool done = filter(columns, rows, to, &product);
    real_plane_close(&product);
    return done;
}

static double mean_ssim(const real_plane *ma, const real_plane *mb, const real_plane *aa,
                        const real_plane *bb, const real_plane *ab)
{
    const double c1 = (0.01 * 255) * (0.01 * 255), c2 = (0.03 * 255) * (0.03 * 255);
    const size_t count = (size_t)ma->width * ma->height;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double a = ma->values[i], b = mb->values[i];
        const double spread = aa->values[i] - a * a + bb->values[i] - b * b;
        sum += (2 * a * b + c1) * (2 * (ab->values[i] - a * b) + c2) /
               ((a * a + b * b + c1) * (spread + c2));
    }
    return sum / (double)count;
}

bool measure_ssim(const real_plane *a, const real_plane *b, uint32_t border, double *ssim)
{
    enum { MA, MB, AA, BB, AB, PLANES };
    real_plane p[PLANES] = {0};
    taps x = {0}, y = {0};
    const bool done = gaussian_taps(&x, border, a->width - 2 * border) &&
                      gaussian_taps(&y, border, a->height - 2 * border) &&
                      windowed(&p[MA], &x, &y, a, NULL) && windowed(&p[MB], &x, &y, b, NULL) &&
                      windowed(&p[AA], &x, &y, a, a) && windowed(&p[BB], &x, &y, b, b) &&
                      windowed(&p[AB], &x, &y, a, b);
    if (done)
        *ssim = mean_ssim(&p[MA], &p[MB], &p[AA], &p[BB], &p[AB]);
    for (int i = 0; i < PLANES; i++)
        real_plane_close(&p[i]);
    taps_close(&x);
    taps_close(&y);
    return done;
}

/* ---- noise ----------------------------------------------------------------------------------- */

uint64_t measure_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The upper 53 bits as a number in (0, 1). */
static double uniform(uint64_t *state)
{
    return ((double)(measure_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

void measure_add_noise(real_plane *p, double sigma, uint64_t *state)
{
    for (size_t i = 0; i < (size_t)p->width * p->height; i++) {
        const double radius = sqrt(-2 * log(uniform(state)));
        const double gauss = radius * cos(2 * PI * uniform(state));
        p->values[i] = measure_to_8_bit(p->values[i] + sigma * gauss);
    }
}
