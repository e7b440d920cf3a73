// SPDX-License-Identifier: Apache-2.0
#include "pipeline/quality/quality.h"

#include <math.h>
#include <stdint.h>

#include <libavutil/pixdesc.h>

#include "pipeline/quality/compare.h"

enum { BLOCK = 4, WINDOW = 64 }; /* windows are 2x2 blocks of 4x4 samples: 64 */

/* Sums over blocks and windows. */
typedef struct sums {
    uint64_t a, b, squares, products;
} sums;

bool quality_takes(int pix_fmt)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(pix_fmt);
    const uint64_t other = AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM |
                           AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT;
    if (!d || d->flags & other || d->nb_components == 2)
        return false;
    for (int c = 0; c < d->nb_components; c++) {
        const AVComponentDescriptor *part = &d->comp[c];
        if (part->depth != d->comp[0].depth || part->shift || part->offset ||
            part->step != (part->depth > 8 ? 2 : 1))
            return false;
    }
    return true;
}

const char *quality_plane_name(int pix_fmt, unsigned plane)
{
    static const char *const yuv[] = {"y", "u", "v", "a"}, *const rgb[] = {"r", "g", "b", "a"};
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(pix_fmt);
    if (plane == QUALITY_ALL)
        return "all";
    if (d->nb_components == 1)
        return "grey";
    return (d->flags & AV_PIX_FMT_FLAG_RGB ? rgb : yuv)[plane];
}

static double peak_of(int pix_fmt)
{
    return (double)((1 << av_pix_fmt_desc_get(pix_fmt)->comp[0].depth) - 1);
}

double quality_psnr(int pix_fmt, double mse)
{
    const double peak = peak_of(pix_fmt);
    return mse > 0 ? 10 * log10(peak * peak / mse) : INFINITY;
}

/* 32768 squares of 16-bit differences stay below 2^47. */
static inline uint64_t row_error(const uint8_t *a, const uint8_t *b, uint32_t width, bool wide)
{
    uint64_t sum = 0;
    for (uint32_t x = 0; x < width; x++) {
        const int64_t difference = plane_sample(a, x, wide) - plane_sample(b, x, wide);
        sum += (uint64_t)(difference * difference);
    }
    return sum;
}

static double mse_of(const plane_pair *p)
{
    double sum = 0;
    for (uint32_t y = 0; y < p->height; y++) {
        const uint8_t *a = p->a + y * p->a_stride, *b = p->b + y * p->b_stride;
        sum += (double)BY_WIDTH(p->wide, row_error, a, b, p->width);
    }
    return sum / ((double)p->width * p->height);
}

/* Of width x height samples from x0, y0 on. */
static inline sums part_sums(const plane_pair *p, uint32_t x0, uint32_t y0, uint32_t width,
                             uint32_t height, bool wide)
{
    sums s = {0};
    for (uint32_t y = y0; y < y0 + height; y++)
        for (uint32_t x = x0; x < x0 + width; x++) {
            const uint64_t a = (uint64_t)plane_sample(p->a + y * p->a_stride, x, wide);
            const uint64_t b = (uint64_t)plane_sample(p->b + y * p->b_stride, x, wide);
            s.a += a;
            s.b += b;
            s.squares += a * a + b * b;
            s.products += a * b;
        }
    return s;
}

static inline sums block_sums(const plane_pair *p, uint32_t bx, uint32_t by, bool wide)
{
    return part_sums(p, bx * BLOCK, by * BLOCK, BLOCK, BLOCK, wide);
}

static sums add(sums s, sums t)
{
    return (sums){s.a + t.a, s.b + t.b, s.squares + t.squares, s.products + t.products};
}

/* Of n samples. With sums instead of means, n * n * ma mb = a b and n * (n - 1) * cov = n *
 * products
 * - a b. The numerator and the denominator of each factor are multiplied by the same number. */
static double window_ssim(sums s, double n, double peak)
{
    const double c1 = 0.01 * 0.01 * peak * peak * n;
    const double c2 = 0.03 * 0.03 * peak * peak * n * (n > 1 ? n - 1 : 1);
    const double a = (double)s.a, b = (double)s.b;
    const double variances = n * (double)s.squares - a * a - b * b;
    const double covariance = n * (double)s.products - a * b;
    return (2 * a * b + c1) * (2 * covariance + c2) / ((a * a + b * b + c1) * (variances + c2));
}

static double ssim_of(const plane_pair *p, double peak)
{
    const uint32_t across = p->width / BLOCK, down = p->height / BLOCK;
    double sum = 0;
    if (across < 2 || down < 2) /* too small for a window: it is one itself */
        return window_ssim(part_sums(p, 0, 0, p->width, p->height, p->wide),
                           (double)p->width * p->height, peak);
    for (uint32_t y = 0; y + 1 < down; y++) {
        sums left = {0};
        for (uint32_t x = 0; x < across; x++) {
            const sums column =
                p->wide ? add(block_sums(p, x, y, true), block_sums(p, x, y + 1, true))
                        : add(block_sums(p, x, y, false), block_sums(p, x, y + 1, false));
            if (x)
                sum += window_ssim(add(left, column), WINDOW, peak);
            left = column;
        }
    }
    return sum / ((double)(across - 1) * (down - 1));
}

quality quality_measure(const AVFrame *a, const AVFrame *b)
{
    quality q = {.planes = av_pix_fmt_desc_get(a->format)->nb_components};
    const double peak = peak_of(a->format);
    double all = 0;
    for (unsigned p = 0; p < q.planes; p++) {
        const plane_pair pair = plane_pair_of(a, b, p);
        const double samples = (double)pair.width * pair.height;
        q.mse[p] = mse_of(&pair);
        q.ssim[p] = ssim_of(&pair, peak);
        q.mse[QUALITY_ALL] += samples * q.mse[p];
        q.ssim[QUALITY_ALL] += samples * q.ssim[p];
        all += samples;
    }
    q.mse[QUALITY_ALL] /= all;
    q.ssim[QUALITY_ALL] /= all;
    return q;
}
