// SPDX-License-Identifier: Apache-2.0
/* RESIZE: separable resampling of every channel: nearest, linear or cubic.
 *
 * Output sample i lies at input coordinate u, for which model_format.h has three rules. With f = u
 * - floor(u) its taps begin at
 *
 *   nearest  ceil(u - 1/2), with weight 1; halves go down
 *   linear   floor(u), with weights 1 - f and f
 *   cubic    floor(u) - 1, with the four weights of the Keys kernel of coefficient a at the
 *            distances 1 + f, f, 1 - f and 2 - f
 *
 * Taps beyond the image read its nearest sample, so windows are clipped to the image and this
 * operator never reads zero padding. Coordinates and weights are computed in double with + - * /
 * alone, so they are the same on every machine. */
#include "engine/cpu/isa_table.h"
#include "ops/resize.h"

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    (void)data;
    const mona_file_resize *r = &op->resize;
    const bool scales = r->scale_h[0] && r->scale_h[0] <= 65536 && r->scale_h[1] &&
                        r->scale_h[1] <= 65536 && r->scale_w[0] && r->scale_w[0] <= 65536 &&
                        r->scale_w[1] && r->scale_w[1] <= 65536;
    /* Comparisons are false for a NaN. */
    const bool bounded = r->cubic_a >= -4 && r->cubic_a <= 4 && r->offset_h >= -1 &&
                         r->offset_h <= 1 && r->offset_w >= -1 && r->offset_w <= 1;
    return scales && bounded && r->mode <= MONA_RESIZE_CUBIC &&
                   r->coordinates <= MONA_RESIZE_ASYMMETRIC && inputs[0].type == output->type &&
                   inputs[0].channels == output->channels
               ? MONA_OK
               : MONA_ERR_MODEL;
}

static mona_status infer(const mona_file_op *op, const mona_shape *inputs, mona_shape *output)
{
    const mona_file_resize *r = &op->resize;
    const uint64_t height = (uint64_t)inputs[0].height * r->scale_h[0] / r->scale_h[1];
    const uint64_t width = (uint64_t)inputs[0].width * r->scale_w[0] / r->scale_w[1];
    if (height > MONA_MAX_SIDE || width > MONA_MAX_SIDE)
        return MONA_ERR_SHAPE;
    output->height = (uint32_t)height;
    output->width = (uint32_t)width;
    return MONA_OK;
}

/* Everything that a coordinate along one axis depends on. */
typedef struct axis {
    const mona_file_resize *r;
    const uint32_t *scale;
    uint32_t in, out;
    float offset;
} axis;

static axis rows_axis(const mona_bound_op *b)
{
    const mona_file_resize *r = &b->op->resize;
    return (axis){r, r->scale_h, b->input[0].height, b->output.height, r->offset_h};
}

static axis columns_axis(const mona_bound_op *b)
{
    const mona_file_resize *r = &b->op->resize;
    return (axis){r, r->scale_w, b->input[0].width, b->output.width, r->offset_w};
}

static uint32_t tap_count(const mona_file_resize *r)
{
    return r->mode == MONA_RESIZE_NEAREST ? 1 : r->mode == MONA_RESIZE_LINEAR ? 2 : 4;
}

static double coordinate(const axis *a, int64_t i)
{
    const double step = (double)a->scale[1] / (double)a->scale[0];
    switch ((mona_resize_coordinates)a->r->coordinates) {
    case MONA_RESIZE_HALF_PIXEL:
        return ((double)i + 0.5) * step - 0.5 + (double)a->offset;
    case MONA_RESIZE_ALIGN_CORNERS:
        return (a->out > 1 ? (double)i * (a->in - 1) / (a->out - 1) : 0.0) + (double)a->offset;
    case MONA_RESIZE_ASYMMETRIC:
        break;
    }
    return (double)i * step + (double)a->offset;
}

/* |x| is far below 2^31 for every width and height that the engine allows. */
static int64_t floor_of(double x)
{
    const int64_t truncated = (int64_t)x;
    return truncated - (x < (double)truncated);
}

/* Keys' cubic convolution kernel at distance d, 0 <= d <= 2. */
static double cubic(double d, double a)
{
    return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

/* First tap of output sample i; weights may be NULL. */
static int64_t taps(const axis *a, int64_t i, float *weights)
{
    const double u = coordinate(a, i);
    const int64_t below = floor_of(u);
    const double f = u - (double)below, k = (double)a->r->cubic_a;
    switch ((mona_resize_mode)a->r->mode) {
    case MONA_RESIZE_NEAREST:
        if (weights)
            weights[0] = 1;
        return -floor_of(0.5 - u);
    case MONA_RESIZE_LINEAR:
        if (weights)
            weights[0] = (float)(1 - f), weights[1] = (float)f;
        return below;
    case MONA_RESIZE_CUBIC:
        break;
    }
    if (weights)
        for (int t = 0; t < 4; t++) {
            const double d = f + 1 - t;
            weights[t] = (float)cubic(d < 0 ? -d : d, k);
        }
    return below - 1;
}

static mona_span span(const axis *a, mona_span out)
{
    const int64_t first = taps(a, out.begin, NULL);
    const int64_t end = taps(a, out.end - 1, NULL) + tap_count(a->r);
    /* Samples before the image are only requested to pace a warm-up; they need nothing. */
    const int64_t min = out.end > 0 ? 1 : 0;
    return (mona_span){clip_to(first, 0, (int64_t)a->in - 1), clip_to(end, min, a->in)};
}

mona_span mona_resize_sources(const mona_bound_op *b, mona_span out)
{
    const axis a = rows_axis(b);
    return span(&a, out);
}

mona_span mona_resize_columns(const mona_bound_op *b, mona_span out)
{
    const axis a = columns_axis(b);
    return span(&a, out);
}

static mona_span rows(const mona_bound_op *b, uint32_t i, mona_span out)
{
    (void)i;
    return mona_resize_sources(b, out);
}

static mona_span columns(const mona_bound_op *b, uint32_t i, mona_span out)
{
    (void)i;
    return mona_resize_columns(b, out);
}

uint32_t mona_resize_taps(const mona_bound_op *b)
{
    return tap_count(&b->op->resize);
}

int64_t mona_resize_source(const mona_bound_op *b, int64_t y, float weights[4])
{
    const axis a = rows_axis(b);
    return taps(&a, y, weights);
}

/* Constants: first tap of every output column, then the weights of every column. */
static float *column_weights(const mona_bound_op *b)
{
    return (float *)(void *)((uint8_t *)b->constants + align_up(b->output.width * sizeof(int32_t)));
}

const int32_t *mona_resize_first(const mona_bound_op *b)
{
    return b->constants;
}

const float *mona_resize_weights(const mona_bound_op *b)
{
    return column_weights(b);
}

static size_t constants_bytes(const mona_bound_op *b)
{
    return align_up(b->output.width * sizeof(int32_t)) +
           (size_t)b->output.width * tap_count(&b->op->resize) * sizeof(float);
}

static void bind(const mona_bound_op *b)
{
    const axis a = columns_axis(b);
    int32_t *first = b->constants;
    float *weights = column_weights(b);
    for (uint32_t x = 0; x < b->output.width; x++)
        first[x] = (int32_t)taps(&a, x, weights + (size_t)x * tap_count(a.r));
}

/* Scratch: the kernel's fp32 row, then first taps counted from the tile's first column. */
static size_t kernel_scratch(const mona_bound_op *b)
{
    return align_up(((size_t)b->input[0].width * b->input_c0[0] + 32) * sizeof(float));
}

static size_t scratch_bytes(const mona_bound_op *b, uint32_t columns_)
{
    return kernel_scratch(b) + columns_ * sizeof(int32_t);
}

static void row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const axis ya = rows_axis(b), xa = columns_axis(b);
    const mona_span window = span(&ya, (mona_span){call->y, call->y + 1});
    const mona_span source = span(&xa, (mona_span){call->x_begin, call->x_end});
    const uint32_t n = tap_count(ya.r), count = (uint32_t)(call->x_end - call->x_begin);
    const size_t element = mona_type_size(b->input[0].type);
    const size_t skip = (size_t)(source.begin - call->input[0].x_begin) * b->input_c0[0] * element;
    mona_resize_row r = {
        .type = b->output.type,
        .taps_y = n,
        .taps_x = n,
        .in_columns = (uint32_t)(source.end - source.begin),
        .c0 = b->output_c0,
        .first = (const int32_t *)b->constants + call->x_begin,
        .weight_x = column_weights(b) + (size_t)call->x_begin * n,
        .out_columns = count,
        .scratch = (float *)(void *)call->scratch,
    };
    if (source.begin) {
        int32_t *shifted = (int32_t *)(void *)(call->scratch + kernel_scratch(b));
        for (uint32_t x = 0; x < count; x++)
            shifted[x] = r.first[x] - (int32_t)source.begin;
        r.first = shifted;
    }
    const int64_t first = taps(&ya, call->y, r.weight_y);
    const mona_row out = output_row(call);
    const uint32_t blocks = (b->output.channels + b->output_c0 - 1) / b->output_c0;
    for (uint32_t block = 0; block < blocks; block++) {
        for (uint32_t t = 0; t < n; t++) {
            const int64_t y = clip_to(first + t, window.begin, window.end - 1);
            r.rows[t] =
                call->input[0].rows[y - window.begin] + skip + block * call->input[0].block_stride;
        }
        r.out = out.data + block * out.block_stride;
        b->isa->resize_row(&r);
    }
}

/* One multiply-add for each tap, in rows, then in columns. */
static uint64_t macs(const mona_bound_op *b)
{
    const uint64_t n = tap_count(&b->op->resize);
    return b->output.channels * n * b->output.height *
           ((uint64_t)b->input[0].width + b->output.width);
}

const mona_op_run mona_run_resize = {
    .windows_vary = true,
    .rows = rows,
    .columns = columns,
    .row = row,
};

const mona_op_class mona_op_resize = {
    .name = "resize",
    .run = &mona_run_resize,
    .kernels = MONA_KERNEL(resize_row),
    .min_inputs = 1,
    .max_inputs = 1,
    .zeros = MONA_ZEROS_SAME,
    .picture = MONA_PICTURE_MOVED,
    .check = check,
    .infer = infer,
    .constants_bytes = constants_bytes,
    .bind = bind,
    .scratch_bytes = scratch_bytes,
    .macs = macs,
};
