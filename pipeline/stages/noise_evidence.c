// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/noise_evidence.h"

#include <math.h>
#include <stdlib.h>

#include "engine/arith.h"
#include "pipeline/stages/noise_patterns.h"
#include "pipeline/stages/noise_weights.h"
#include "pipeline/stages/sample.h"

enum { AREA = NOISE_BLOCK * NOISE_BLOCK, SCALES = NOISE_SCALES };

#define FOLLOWS 0.75

/* About the binary logarithm, by operations that are exact and hence the same on every target:
 * linear between powers of two. */
static double logarithm(double x)
{
    int exponent;
    const double part = frexp(fmax(x, 0.02), &exponent);
    return exponent - 2 + 2 * part;
}

static double ratio(double a, double b)
{
    return logarithm(fmax(a, 0.02) / fmax(b, 0.02));
}

/* Of all blocks' responses at the third scale, what so many twentieths are below. */
static double third_quantile(const noise_work *work, uint32_t twentieths)
{
    const noise_block there = {.bin = noise_quantile(work, twentieths)};
    return noise_block_third(&there) / NOISE_THIRD_BIAS;
}

/* Differences of samples that are `distance` apart. */
typedef struct differences {
    double cubes, squares; /* sums of powers of the Laplacian */
    double across, down;   /* sums of |second difference| */
    double uneven;         /* sum over blocks of their |across - down| / (across + down) */
    double first;          /* sum of |first difference| */
} differences;

static inline void add_differences(differences *to, const uint8_t *p, ptrdiff_t stride,
                                   unsigned distance, const bool wide)
{
    const ptrdiff_t size = wide ? 2 : 1;
    const ptrdiff_t down = stride * (ptrdiff_t)distance, right = (ptrdiff_t)distance * size;
    int64_t squares = 0, cubes = 0, across = 0, downwards = 0, first = 0;
    for (unsigned y = 0; y < NOISE_BLOCK; y++, p += stride)
        for (unsigned x = 0; x < NOISE_BLOCK; x++) {
            const uint8_t *c = p + x * size;
            const int here = plane_sample(c, 0, wide), left = plane_sample(c - right, 0, wide),
                      above = plane_sample(c - down, 0, wide);
            const int h = left - 2 * here + plane_sample(c + right, 0, wide),
                      v = above - 2 * here + plane_sample(c + down, 0, wide);
            const int64_t laplacian = h + v;
            squares += laplacian * laplacian;
            cubes += laplacian * laplacian * laplacian;
            across += abs(h);
            downwards += abs(v);
            first += abs(left - here) + abs(above - here);
        }
    to->squares += (double)squares;
    to->cubes += (double)cubes;
    to->across += (double)across;
    to->down += (double)downwards;
    to->first += (double)first;
    to->uneven += (double)(across > downwards ? across - downwards : downwards - across) /
                  ((double)(across + downwards) + 1e-9);
}

static differences find_differences(const noise_work *work, const frame *f, unsigned plane,
                                    unsigned distance)
{
    differences all = {0};
    const bool wide = f->format.bits > 8;
    for (uint32_t i = 0; i < work->flattest; i++) {
        const uint8_t *first = frame_row(f, plane, work->blocks[i].y) +
                               work->blocks[i].x * frame_sample_bytes(&f->format);
        BY_WIDTH(wide, add_differences, &all, first, f->stride[plane], distance);
    }
    return all;
}

/* The response of a plane of chroma where luma is flattest, at `distance` in luma. */
static double chroma_response(const noise_work *work, const frame *f, unsigned plane,
                              unsigned distance)
{
    const mona_size size = frame_plane_size(&f->format, plane);
    const unsigned own = distance >> f->format.shift_x, beyond = NOISE_BLOCK + own;
    double sum = 0;
    if (size.width < beyond + own || size.height < beyond + own)
        return 0;
    for (uint32_t i = 0; i < work->flattest; i++) {
        const uint32_t x = work->blocks[i].x >> f->format.shift_x,
                       y = work->blocks[i].y >> f->format.shift_y;
        const noise_block at = {.x = (uint32_t)clip_to(x, own, size.width - beyond),
                                .y = (uint32_t)clip_to(y, own, size.height - beyond)};
        sum += noise_block_response(&at, f->data[plane], f->stride[plane], f->format.bits, own);
    }
    return sum / work->flattest;
}

static double colour_response(const noise_work *work, const frame *f, unsigned distance)
{
    const double u = chroma_response(work, f, 1, distance),
                 v = chroma_response(work, f, 2, distance);
    return sqrt((u * u + v * v) / 2);
}

/* How the finest detail of two planes goes together, in one block. */
typedef struct detail {
    double both, own, luma; /* sums of the product, and of the squares */
} detail;

/* The sum of the samples of luma that lie where one of chroma does. */
static int luma_at(const frame *f, uint32_t x, uint32_t y)
{
    int sum = 0;
    for (uint32_t v = 0; v < 1u << f->format.shift_y; v++)
        for (uint32_t u = 0; u < 1u << f->format.shift_x; u++)
            sum += plane_sample(frame_row(f, 0, (y << f->format.shift_y) + v),
                                (x << f->format.shift_x) + u, f->format.bits > 8);
    return sum;
}

static void add_detail(detail *to, const frame *f, unsigned plane, uint32_t x, uint32_t y)
{
    const bool wide = f->format.bits > 8;
    const int own = 4 * plane_sample(frame_row(f, plane, y), x, wide) -
                    plane_sample(frame_row(f, plane, y), x - 1, wide) -
                    plane_sample(frame_row(f, plane, y), x + 1, wide) -
                    plane_sample(frame_row(f, plane, y - 1), x, wide) -
                    plane_sample(frame_row(f, plane, y + 1), x, wide);
    const int luma = 4 * luma_at(f, x, y) - luma_at(f, x - 1, y) - luma_at(f, x + 1, y) -
                     luma_at(f, x, y - 1) - luma_at(f, x, y + 1);
    to->both += (double)own * luma;
    to->own += (double)own * own;
    to->luma += (double)luma * luma;
}

/* Whether the fine detail of chroma is that of luma in most of the blocks where chroma is flattest:
 * texture of one colour. Noise that is alike in red, green and blue is at most FOLLOWS as
 * correlated, by the weights of BT.601 0.45 and 0.24. */
static bool follows_luma(const noise_work *work, const frame *f, unsigned plane)
{
    const mona_size luma = frame_plane_size(&f->format, 0);
    uint32_t followers = 0;
    for (uint32_t i = 0; i < work->flattest; i++) {
        detail d = {0};
        for (uint32_t y = work->blocks[i].y; y < work->blocks[i].y + NOISE_BLOCK; y++)
            for (uint32_t x = work->blocks[i].x; x < work->blocks[i].x + NOISE_BLOCK; x++)
                if (((x + 2) << f->format.shift_x) <= luma.width &&
                    ((y + 2) << f->format.shift_y) <= luma.height)
                    add_detail(&d, f, plane, x, y);
        followers += d.both * d.both > FOLLOWS * FOLLOWS * d.own * d.luma;
    }
    return 2 * followers > work->flattest;
}

void noise_collect(const noise_work *work, const frame *f, unsigned plane,
                   double evidence[NOISE_EVIDENCE])
{
    static const uint32_t TWENTIETHS[] = {2, 5, 10, 15};
    const double *const e = work->scale, count = work->flattest * (double)AREA;
    const bool colour = plane == 0 && f->format.planes >= 3;
    double *to = evidence;
    *to++ = logarithm(e[2]);
    for (int i = 1; i < SCALES; i++)
        *to++ = ratio(e[i - 1], e[i]);
    for (int i = 0; i < SCALES; i++)
        *to++ = work->normality[i];
    for (int i = 0; i < 4; i++)
        *to++ = ratio(third_quantile(work, TWENTIETHS[i]), e[2]);
    for (int i = 0; i < 2; i++)
        *to++ = fmin((double)work->edges[i] / fmax((double)work->middles[i], 1) - 1, 2);
    for (int i = 0; i < SCALES; i++) {
        const differences d = find_differences(work, f, plane, 1u << i);
        const double deviation = sqrt(d.squares / count) + 1e-9;
        *to++ = d.cubes / count / (deviation * deviation * deviation);
        *to++ = fabs(ratio(d.across, d.down));
        *to++ = d.uneven / work->flattest;
        *to++ = ratio(d.first, d.across + d.down);
    }
    for (int i = 1; i < SCALES; i++)
        *to++ = ratio(colour ? colour_response(work, f, 1u << i) : 0, e[i]);
    *to = 1 / sqrt(work->flattest);
}

/* ---- what they say -------------------------------------------------------------------------- */

/* weights: for each output, its bias and a weight of each input. */
static void layer(double *out, unsigned outputs, const double *in, unsigned inputs,
                  const double *weights)
{
    for (unsigned o = 0; o < outputs; o++) {
        out[o] = *weights++;
        for (unsigned i = 0; i < inputs; i++)
            out[o] += *weights++ * in[i];
    }
}

static void rectify(double *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        values[i] = fmax(values[i], 0);
}

/* Several networks, each trained from another beginning, must all be sure; how strong the noise
 * is, is the mean of what they say. */
static noise_level weigh(const double evidence[NOISE_EVIDENCE], double third,
                         const noise_networks *given)
{
    bool sure = true;
    double in[NOISE_EVIDENCE], first[NOISE_FIRST], second[NOISE_SECOND], out[NOISE_ANSWERS];
    double answer[NOISE_ANSWERS] = {0};
    for (unsigned i = 0; i < NOISE_EVIDENCE; i++) {
        in[i] = (evidence[i] - given->mean[i]) * given->scale[i];
        if (fabs(in[i]) > given->strange)
            return (noise_level){0};
    }
    for (unsigned n = 0; n < NOISE_NETWORKS; n++) {
        layer(first, NOISE_FIRST, in, NOISE_EVIDENCE, given->first[n][0]);
        rectify(first, NOISE_FIRST);
        layer(second, NOISE_SECOND, first, NOISE_FIRST, given->second[n][0]);
        rectify(second, NOISE_SECOND);
        layer(out, NOISE_ANSWERS, second, NOISE_SECOND, given->third[n][0]);
        rectify(out + 1, NOISE_ANSWERS - 1);
        for (unsigned i = 0; i < NOISE_ANSWERS; i++)
            answer[i] += out[i] / NOISE_NETWORKS;
        sure = sure && out[0] > given->doubt;
    }
    if (!sure)
        return (noise_level){0};
    return (noise_level){(float)(answer[2] * third), (float)fmin(answer[1] * third, given->most)};
}

double noise_like_pattern(const double evidence[NOISE_EVIDENCE])
{
    double in[NOISE_EVIDENCE], first[NOISE_KNOWING], out[1];
    for (unsigned i = 0; i < NOISE_EVIDENCE; i++)
        in[i] = fmin(fmax((evidence[i] - NOISE_PATTERN.mean[i]) * NOISE_PATTERN.scale[i],
                          -NOISE_PATTERN.far),
                     NOISE_PATTERN.far);
    layer(first, NOISE_KNOWING, in, NOISE_EVIDENCE, NOISE_PATTERN.first[0]);
    rectify(first, NOISE_KNOWING);
    layer(out, 1, first, NOISE_KNOWING, NOISE_PATTERN.second[0]);
    return out[0];
}

noise_level noise_weigh(const noise_work *work, const frame *f, unsigned plane,
                        const double evidence[NOISE_EVIDENCE])
{
    if (plane && follows_luma(work, f, plane))
        return (noise_level){0};
    return weigh(evidence, work->scale[2], plane == 0 ? &NOISE_LUMA : &NOISE_CHROMA);
}
