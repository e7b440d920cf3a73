// SPDX-License-Identifier: Apache-2.0
/* The windows of MAX_POOL and AVERAGE_POOL. Rows of a window that lie outside the map are passed as
 * rows of zeros and skipped. Columns are clipped to the map, so rings need no padding. */
#include "ops/pool.h"

enum { MAX_KERNEL = 255, MAX_STRIDE = 63, MAX_PAD = 255 };

/* Samples of a whole map whose sum fits s32: 2^23 x 255 < 2^31. */
#define MAX_SUMMED ((uint64_t)1 << 23)

/* One axis of a pool over a map of `in` rows or columns: output i reads the samples
 * i * stride - pad_begin + t * dilation, 0 <= t < kernel, that lie in the map. */
typedef struct pool_axis {
    int64_t in, kernel, stride, dilation, pad_begin, pad_end;
} pool_axis;

static bool whole(const mona_file_pool *p)
{
    return !p->kernel_h;
}

static pool_axis rows_axis(const mona_file_pool *p, const mona_shape *in)
{
    return (pool_axis){in->height,  whole(p) ? in->height : p->kernel_h,
                       p->stride_h, p->dilation_h,
                       p->pad_top,  p->pad_bottom};
}

static pool_axis columns_axis(const mona_file_pool *p, const mona_shape *in)
{
    return (pool_axis){in->width,   whole(p) ? in->width : p->kernel_w,
                       p->stride_w, p->dilation_w,
                       p->pad_left, p->pad_right};
}

/* First sample of output i's window, which may lie before the map. */
static int64_t start_of(const pool_axis *a, int64_t i)
{
    return i * a->stride - a->pad_begin;
}

/* ---- shapes --------------------------------------------------------------------------------- */

static bool in_range(uint32_t value, uint32_t min, uint32_t max)
{
    return value >= min && value <= max;
}

mona_status mona_pool_check(const mona_file_op *op, const mona_shape *inputs,
                            const mona_shape *output, mona_data *data)
{
    (void)data;
    const mona_file_pool *p = &op->pool;
    const uint32_t min = whole(p) ? 0 : 1, kernel = whole(p) ? 0 : MAX_KERNEL;
    const uint32_t dilation = whole(p) ? 1 : MAX_KERNEL, stride = whole(p) ? 1 : MAX_STRIDE;
    const uint32_t pad = whole(p) ? 0 : MAX_PAD;
    const bool window = in_range(p->kernel_h, min, kernel) && in_range(p->kernel_w, min, kernel) &&
                        in_range(p->stride_h, 1, stride) && in_range(p->stride_w, 1, stride) &&
                        in_range(p->dilation_h, 1, dilation) &&
                        in_range(p->dilation_w, 1, dilation) && p->pad_top <= pad &&
                        p->pad_left <= pad && p->pad_bottom <= pad && p->pad_right <= pad &&
                        p->ceil_mode <= 1 && p->count_include_pad <= 1;
    /* Comparisons are false for a NaN, and 2^30 excludes infinity. */
    const bool values = op->kind == MONA_OP_MAX_POOL ? inputs[0].type == output->type
                                                     : p->scale >= 0x1p-30f && p->scale <= 0x1p30f;
    const bool zeros = op->kind == MONA_OP_MAX_POOL || !output->zero;
    return window && values && zeros && inputs[0].channels == output->channels ? MONA_OK
                                                                               : MONA_ERR_MODEL;
}

/* Outputs along an axis; 0: the window does not fit. If rounded up, a last window that would begin
 * after the map does not count. */
static uint32_t outputs_of(const pool_axis *a, bool round_up)
{
    const int64_t extent = a->dilation * (a->kernel - 1) + 1;
    const int64_t room = a->in + a->pad_begin + a->pad_end - extent;
    if (room < 0)
        return 0;
    const int64_t last = (room + (round_up ? a->stride - 1 : 0)) / a->stride;
    const bool beyond = round_up && last > 0 && start_of(a, last) >= a->in;
    return (uint32_t)(last + 1 - beyond);
}

mona_status mona_pool_infer(const mona_file_op *op, const mona_shape *inputs, mona_shape *output)
{
    const mona_file_pool *p = &op->pool;
    const pool_axis y = rows_axis(p, inputs), x = columns_axis(p, inputs);
    if (whole(p) && op->kind == MONA_OP_AVERAGE_POOL &&
        (uint64_t)y.in * (uint64_t)x.in > MAX_SUMMED)
        return MONA_ERR_LIMIT;
    output->height = outputs_of(&y, p->ceil_mode);
    output->width = outputs_of(&x, p->ceil_mode);
    return output->height && output->width ? MONA_OK : MONA_ERR_SHAPE;
}

/* ---- windows -------------------------------------------------------------------------------- */

static mona_span span(const pool_axis *a, bool is_whole, mona_span out)
{
    if (is_whole) /* rows before the first are only requested to pace a warm-up; they need
                     nothing */
        return (mona_span){0, out.end > 0 ? a->in : 0};
    return (mona_span){start_of(a, out.begin),
                       start_of(a, out.end - 1) + a->dilation * (a->kernel - 1) + 1};
}

mona_span mona_pool_row_span(const mona_bound_op *b, uint32_t i, mona_span out)
{
    (void)i;
    const pool_axis a = rows_axis(&b->op->pool, &b->input[0]);
    return span(&a, whole(&b->op->pool), out);
}

mona_span mona_pool_column_span(const mona_bound_op *b, uint32_t i, mona_span out)
{
    (void)i;
    const pool_axis a = columns_axis(&b->op->pool, &b->input[0]);
    const mona_span s = span(&a, whole(&b->op->pool), out);
    const int64_t begin = clip_to(s.begin, 0, a.in - 1);
    return (mona_span){begin, clip_to(s.end, begin + 1, a.in)};
}

/* The range of t for which sample start + t * dilation of a window lies in [low, high). Empty if
 * begin >= end. */
static mona_span taps(const pool_axis *a, int64_t start, int64_t low, int64_t high)
{
    const int64_t below = low - start, room = high - start;
    const int64_t begin = below > 0 ? ceil_div_u32((uint32_t)below, a->dilation) : 0;
    const int64_t end = room > 0 ? ceil_div_u32((uint32_t)room, a->dilation) : 0;
    return (mona_span){begin, end < a->kernel ? end : a->kernel};
}

static pool_span span_at(const mona_file_pool *p, const pool_axis *a, int64_t i)
{
    const int64_t start = start_of(a, i);
    const mona_span inside = taps(a, start, 0, a->in);
    const mona_span padded = taps(a, start, -a->pad_begin, a->in + a->pad_end);
    const mona_span counted = p->count_include_pad ? padded : inside;
    if (inside.begin >= inside.end)
        return (pool_span){0};
    return (pool_span){(int32_t)(start + inside.begin * a->dilation),
                       (int32_t)(inside.end - inside.begin),
                       (int32_t)(counted.end - counted.begin)};
}

bool mona_pool_reads_maps(const mona_file_op *op)
{
    return whole(&op->pool);
}

/* ---- constants: the window of every output column -------------------------------------------- */

size_t mona_pool_constants_bytes(const mona_bound_op *b)
{
    return b->output.width * sizeof(pool_span);
}

void mona_pool_bind(const mona_bound_op *b)
{
    const pool_axis a = columns_axis(&b->op->pool, &b->input[0]);
    pool_span *spans = b->constants;
    for (uint32_t x = 0; x < b->output.width; x++)
        spans[x] = span_at(&b->op->pool, &a, x);
}

/* ---- rows ----------------------------------------------------------------------------------- */

pool_window mona_pool_window(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const pool_axis y = rows_axis(&b->op->pool, &b->input[0]);
    return (pool_window){
        .rows = span_at(&b->op->pool, &y, call->y),
        .columns = mona_pool_column_span(b, 0, (mona_span){call->x_begin, call->x_end}),
        .column = (const pool_span *)b->constants + call->x_begin,
        .step = b->op->pool.dilation_w,
    };
}

const uint8_t *mona_pool_row(const mona_row_call *call, const pool_window *w, int64_t k,
                             uint32_t block)
{
    const mona_bound_op *b = call->bound;
    const mona_rows *in = &call->input[0];
    const int64_t first = mona_pool_row_span(b, 0, (mona_span){call->y, call->y + 1}).begin;
    const size_t column = (size_t)(w->columns.begin - in->x_begin);
    return in->rows[w->rows.first + k * b->op->pool.dilation_h - first] + block * in->block_stride +
           column * b->input_c0[0] * mona_type_size(b->input[0].type);
}
