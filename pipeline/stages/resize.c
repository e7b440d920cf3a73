// SPDX-License-Identifier: Apache-2.0
/* Let each chroma sample cover n luma samples and lie at position p among them, and r be the ratio
 * of the input's size to the output's. Chroma sample i of the output lies at luma position n i + p,
 * which corresponds to luma position (n i + p + 1/2) r - 1/2 of the input, and so to chroma
 * position ((n i + p + 1/2) r - 1/2 - p) / n. For luma, n = 1 and p = 0.
 *
 * The first pass filters columns, for RESIZE_LANES rows of output at a time, and keeps 14 bits:
 * with the overshoot of the filter, which is less than half the range, they fit 16. It stores these
 * rows column by column, so that the second pass is the same sum over neighbours in memory. This
 * holds for samples of at most 11 bits. For more bits, the sums of the first pass are not rounded,
 * only the result is. */
#include "pipeline/stages/resize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/arith.h"
#include "pipeline/stages/sample.h"
#include "pipeline/stages/session_binding.h"
#include "pipeline/stages/stage.h"
#include "pipeline/stages/vector.h"

enum { WEIGHT_BITS = 14, BETWEEN_BITS = 14, LOBES = 3 };

/* ---- sizes ---------------------------------------------------------------------------------- */

static uint32_t target_side(uint32_t side, double scale, unsigned shift)
{
    const uint32_t group = 1u << shift;
    const uint32_t groups = (uint32_t)(side * scale / group + 0.5);
    return group * (groups ? groups : 1);
}

mona_size resize_target(const frame_format *input, resize_scale scale)
{
    return (mona_size){target_side(input->width, scale.x, input->shift_x),
                       target_side(input->height, scale.y, input->shift_y)};
}

bool resize_keeps_shape(mona_size a, mona_size b)
{
    const int64_t ab = (int64_t)a.width * b.height, ba = (int64_t)b.width * a.height;
    return (ab > ba ? ab - ba : ba - ab) < 2 * (int64_t)(a.width > a.height ? a.width : a.height);
}

/* ---- weights -------------------------------------------------------------------------------- */

/* sin(pi x) for 0 <= x < 4. Additions and products alone, so that every machine finds the same;
 * the series' next term is below 1e-11. */
static double sine_of_pi(double x)
{
    const int turns = (int)(x + 0.5);
    const double at = 3.14159265358979323846 * (x - turns);
    double sum = 1;
    for (int n = 14; n > 0; n -= 2)
        sum = 1 - sum * at * at / (n * (n + 1));
    return turns % 2 ? -sum * at : sum * at;
}

static double lanczos(double x)
{
    if (x < 1e-9 || x >= LOBES)
        return x < LOBES;
    const double angle = 3.14159265358979323846 * x;
    return LOBES * sine_of_pi(x) * sine_of_pi(x / LOBES) / (angle * angle);
}

/* Keys's, with a = -1/2. */
static double cubic(double x)
{
    return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

static double weight_of(resize_kernel kernel, double x)
{
    x = x < 0 ? -x : x;
    return kernel == RESIZE_LANCZOS ? lanczos(x) : kernel == RESIZE_CUBIC ? cubic(x) : x <= 0.5;
}

/* How far a kernel reaches to both sides. */
static double reach_of(resize_kernel kernel)
{
    return kernel == RESIZE_LANCZOS ? LOBES : kernel == RESIZE_CUBIC ? 2 : 0.5;
}

/* Rounds weights to integers. Their sum stays exact: the largest one takes the difference. */
static void round_weights(int16_t *to, const double *from, uint32_t count)
{
    double sum = 0;
    int left = 1 << WEIGHT_BITS;
    uint32_t largest = 0;
    for (uint32_t k = 0; k < count; k++)
        sum += from[k];
    for (uint32_t k = 0; k < count; k++) {
        const double weight = from[k] / sum * (1 << WEIGHT_BITS);
        to[k] = (int16_t)(weight < 0 ? weight - 0.5 : weight + 0.5);
        left -= to[k];
        largest = to[k] > to[largest] ? k : largest;
    }
    to[largest] = (int16_t)(to[largest] + left);
}

/* Weights of the samples around a position. Beyond the ends, the first or last sample repeats. */
static void weigh_around(double *weight, uint32_t *first, double position, double stretch,
                         uint32_t taps, uint32_t samples, resize_kernel kernel)
{
    const double lobes = reach_of(kernel) * stretch;
    const uint32_t reach = (uint32_t)ceil(2 * lobes);
    const int64_t begin = (int64_t)floor(position - lobes) + 1, last = samples - 1;
    const int64_t from = begin < 0 ? 0 : begin > samples - taps ? samples - taps : begin;
    *first = (uint32_t)from;
    for (uint32_t k = 0; k < taps; k++)
        weight[k] = 0;
    for (uint32_t k = 0; k < reach; k++) {
        const int64_t at = begin + k;
        const int64_t held = at < 0 ? 0 : at > last ? last : at;
        if (held - from < taps)
            weight[held - from] += weight_of(kernel, ((double)at - position) / stretch);
    }
}

/* Makes `in` luma samples `out`, or the chroma samples that belong to them, of which each covers
 * 1 << shift luma samples and lies at `site`. False: out of memory. */
static bool axis_open(resize_axis *axis, uint32_t in, uint32_t out, unsigned shift,
                      chroma_position site, resize_kernel kernel)
{
    const double n = 1u << shift, ratio = (double)in / out, place = (n - 1) * (1 + site) / 2;
    const double stretch = ratio > 1 ? ratio : 1; /* 1 sample may become 2 where sizes are even */
    const uint32_t samples = ceil_div_u32(in, 1u << shift);
    const uint32_t taps = min_u32((uint32_t)ceil(2 * reach_of(kernel) * stretch), samples);
    double *weight = malloc(taps * sizeof *weight);
    *axis = (resize_axis){.outputs = ceil_div_u32(out, 1u << shift), .taps = taps};
    axis->first = malloc(axis->outputs * sizeof *axis->first);
    axis->weight = malloc((size_t)axis->outputs * taps * sizeof *axis->weight);
    const bool complete = weight && axis->first && axis->weight;
    for (uint32_t i = 0; i < axis->outputs && complete; i++) {
        const double position = ((n * i + place + 0.5) * ratio - 0.5 - place) / n;
        weigh_around(weight, &axis->first[i], position, stretch, taps, samples, kernel);
        round_weights(axis->weight + (size_t)i * taps, weight, taps);
    }
    free(weight);
    return complete;
}

static void axis_close(resize_axis *axis)
{
    free(axis->first);
    free(axis->weight);
    *axis = (resize_axis){0};
}

/* Which of a resizer's axes a plane has. */
static unsigned axis_of(unsigned plane)
{
    return plane == 3 ? 2 : plane > 0;
}

/* ---- filtering ------------------------------------------------------------------------------ */

/* Adds `taps` rows, times their weights, to RESIZE_LANES sums. Loops as long as that become vector
 * code; four rows at a time load and store the sums a quarter as often. */
static inline void add_up(int32_t *restrict sums, const uint8_t *at, ptrdiff_t stride,
                          const int16_t *weight, uint32_t taps, int32_t half, const bool wide)
{
    for (int i = 0; i < RESIZE_LANES; i++)
        sums[i] = half;
    for (; taps >= 4; taps -= 4, at += 4 * stride, weight += 4) {
        const int16_t a = weight[0], b = weight[1], c = weight[2], d = weight[3];
        for (int i = 0; i < RESIZE_LANES; i++)
            sums[i] += (int16_t)plane_sample(at, i, wide) * a +
                       (int16_t)plane_sample(at + stride, i, wide) * b +
                       (int16_t)plane_sample(at + 2 * stride, i, wide) * c +
                       (int16_t)plane_sample(at + 3 * stride, i, wide) * d;
    }
    for (; taps; taps--, at += stride, weight++)
        for (int i = 0; i < RESIZE_LANES; i++)
            sums[i] += (int16_t)plane_sample(at, i, wide) * *weight;
}

_Static_assert(MONA_ALIGNMENT / 2 % RESIZE_LANES == 0, "rows are stored as whole lanes");

/* Rows y and following of the output into r->turned. Lanes beyond the width hold some value that
 * nobody reads. */
static inline void filter_down(const resizer *r, const frame *in, unsigned plane, uint32_t y,
                               uint32_t rows, const bool wide)
{
    const resize_axis *axis = &r->down[axis_of(plane)];
    const uint32_t width = frame_shown_size(&in->format, plane).width;
    const unsigned shift = WEIGHT_BITS + in->format.bits - BETWEEN_BITS;
    for (uint32_t row = 0; row < rows; row++) {
        const uint8_t *from = in->data[plane] + (ptrdiff_t)axis->first[y + row] * in->stride[plane];
        const int16_t *weight = axis->weight + (size_t)(y + row) * axis->taps;
        for (uint32_t x = 0; x < width; x += RESIZE_LANES) {
            int32_t sums[RESIZE_LANES];
            add_up(sums, from + ((ptrdiff_t)x << wide), in->stride[plane], weight, axis->taps,
                   1 << (shift - 1), wide);
            int16_t *to = r->turned + (size_t)x * RESIZE_LANES + row;
            for (int i = 0; i < RESIZE_LANES; i++)
                to[i * RESIZE_LANES] = (int16_t)(sums[i] >> shift);
        }
    }
}

/* From r->turned into the output. */
static inline void filter_across(const resizer *r, const frame *out, unsigned plane, uint32_t y,
                                 uint32_t rows, const bool wide)
{
    const resize_axis *axis = &r->across[axis_of(plane)];
    const unsigned shift = WEIGHT_BITS + BETWEEN_BITS - out->format.bits;
    const int32_t max = (1 << out->format.bits) - 1;
    uint8_t *to = frame_row(out, plane, y);
    for (uint32_t x = 0; x < axis->outputs; x++) {
        int32_t sums[RESIZE_LANES];
        const int16_t *from = r->turned + (size_t)axis->first[x] * RESIZE_LANES;
        add_up(sums, (const uint8_t *)from, RESIZE_LANES * sizeof *from,
               axis->weight + (size_t)x * axis->taps, axis->taps, 1 << (shift - 1), true);
        for (int i = 0; i < RESIZE_LANES; i++) {
            const int32_t sum = sums[i] >> shift;
            sums[i] = sum < 0 ? 0 : sum > max ? max : sum;
        }
        for (uint32_t row = 0; row < rows; row++)
            put_plane_sample(to + (ptrdiff_t)row * out->stride[plane], x, sums[row], wide);
    }
}

/* One row of samples of more than 11 bits. r->sums: the first pass, whose results are below 2^31,
 * as the weights' magnitudes add up to less than 2. */
static void filter_deep_row(const resizer *r, const frame *in, const frame *out, unsigned plane,
                            uint32_t y)
{
    const resize_axis *down = &r->down[axis_of(plane)], *across = &r->across[axis_of(plane)];
    const uint32_t width = frame_shown_size(&in->format, plane).width;
    const unsigned shift = 2 * WEIGHT_BITS + in->format.bits - out->format.bits;
    const int64_t max = (1 << out->format.bits) - 1, half = (int64_t)1 << (shift - 1);
    uint8_t *to = frame_row(out, plane, y);
    memset(r->sums, 0, width * sizeof *r->sums);
    for (uint32_t k = 0; k < down->taps; k++) {
        const uint8_t *row = frame_row(in, plane, down->first[y] + k);
        const int32_t weight = down->weight[(size_t)y * down->taps + k];
        for (uint32_t x = 0; x < width; x++)
            r->sums[x] += plane_sample(row, x, true) * weight;
    }
    for (uint32_t x = 0; x < across->outputs; x++) {
        int64_t sum = half;
        for (uint32_t k = 0; k < across->taps; k++)
            sum += (int64_t)r->sums[across->first[x] + k] *
                   across->weight[(size_t)x * across->taps + k];
        sum >>= shift;
        put_plane_sample(to, x, (int)(sum < 0 ? 0 : sum > max ? max : sum), true);
    }
}

static void filter_plane(const resizer *r, const frame *in, const frame *out, unsigned p)
{
    const uint32_t height = frame_shown_size(&out->format, p).height;
    for (uint32_t y = 0; y < height; y += RESIZE_LANES) {
        const uint32_t rows = min_u32(height - y, RESIZE_LANES);
        BY_WIDTH(in->format.bits > 8, filter_down, r, in, p, y, rows);
        BY_WIDTH(in->format.bits > 8, filter_across, r, out, p, y, rows);
    }
}

static void resizer_run_any(const resizer *r, const frame *in, const frame *out)
{
    for (unsigned p = 0; p < in->format.planes; p++) {
        if (r->sums)
            for (uint32_t y = 0; y < frame_shown_size(&out->format, p).height; y++)
                filter_deep_row(r, in, out, p, y);
        else
            filter_plane(r, in, out, p);
        frame_pad_plane(out, p);
    }
}

VECTOR_PROCEDURE(resizer_run, (const resizer *r, const frame *in, const frame *out), (r, in, out))

/* ---- opening -------------------------------------------------------------------------------- */

static size_t axis_bytes(const resize_axis *axis)
{
    return axis->outputs * (sizeof *axis->first + axis->taps * sizeof *axis->weight);
}

bool resizer_open(resizer *r, const frame_format *in, const frame_format *out,
                  chroma_location location, const resize_kernels *kernels, pipeline_error *error)
{
    const bool deep = in->bits > MONA_MAX_DEPTH;
    const size_t turned = (in->width + RESIZE_LANES) * RESIZE_LANES * sizeof *r->turned;
    const size_t sums = in->width * sizeof *r->sums;
    void *work = session_binding_allocate(deep ? sums : turned);
    *r = (resizer){
        .turned = deep ? NULL : work, .sums = deep ? work : NULL, .bytes = deep ? sums : turned};
    bool complete = work;
    for (unsigned p = 0; p < in->planes; p++) {
        const unsigned i = axis_of(p), x = i == 1 ? in->shift_x : 0, y = i == 1 ? in->shift_y : 0;
        const resize_kernel kernel = i ? kernels->others : kernels->luma;
        if (p == 2)
            continue;
        complete = complete &&
                   axis_open(&r->across[i], in->width, out->width, x, location.x, kernel) &&
                   axis_open(&r->down[i], in->height, out->height, y, location.y, kernel);
        r->bytes += axis_bytes(&r->across[i]) + axis_bytes(&r->down[i]);
    }
    return complete || pipeline_fail(error, "out of memory");
}

void resizer_close(resizer *r)
{
    for (unsigned i = 0; i < RESIZE_AXES; i++) {
        axis_close(&r->across[i]);
        axis_close(&r->down[i]);
    }
    free(r->turned);
    free(r->sums);
    *r = (resizer){0};
}

/* ---- the stage ------------------------------------------------------------------------------ */

/* One frame in work. */
typedef struct resize_job {
    const resizer *resizer;
    const frame *in, *out;
} resize_job;

typedef struct resize {
    resizer resizer;
    resize_job jobs[STAGE_SLOTS];
} resize;

static bool open(stage *s, const stage_settings *settings, pipeline_error *error)
{
    frame_format input = s->in;
    input.width /= s->enlarged;
    input.height /= s->enlarged;
    const mona_size size = resize_target(&input, settings->resize);
    s->out.width = size.width;
    s->out.height = size.height;
    s->out.multiple /= s->enlarged;
    const resize_kernels kernels = {RESIZE_LANCZOS, RESIZE_LANCZOS};
    return resizer_open(&((resize *)s->state)->resizer, &s->in, &s->out, settings->chroma_location,
                        &kernels, error);
}

static void run_job(void *argument)
{
    const resize_job *job = argument;
    resizer_run(job->resizer, job->in, job->out);
}

static mona_status enqueue(stage *s, const stage_work *work)
{
    resize *r = s->state;
    resize_job *job = &r->jobs[work->slot];
    *job = (resize_job){&r->resizer, work->in, work->out};
    return mona_stream_call(s->stream, run_job, job);
}

static void close_resizer(void *state)
{
    resizer_close(&((resize *)state)->resizer);
}

static size_t bytes(const void *state)
{
    return ((const resize *)state)->resizer.bytes;
}

static const char *network(const stage_settings *settings, unsigned number)
{
    (void)settings, (void)number;
    return "lanczos";
}

const stage_row resize_stage = {.state_bytes = sizeof(resize),
                                .network = network,
                                .open = open,
                                .enqueue = enqueue,
                                .close = close_resizer,
                                .bytes = bytes};
