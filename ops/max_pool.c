// SPDX-License-Identifier: Apache-2.0
/* MAX_POOL: the largest sample of every window, compared as stored.
 *
 * The maximum of a window is the maximum of the maxima of its columns. First the window's rows are
 * reduced to one row of maxima, in long runs over all columns; then every output is the maximum of
 * kernel_w pixels of that row. This takes kernel_h + kernel_w comparisons instead of kernel_h *
 * kernel_w, and fewer where windows overlap. */
#include "engine/cpu/isa_table.h"
#include "ops/pool.h"

/* largest[i] = vmax(largest[i], x[i]): x[i] if both are equal, which matters for the sign of a
 * zero. */
static inline void keep_larger(const mona_bound_op *bound, void *restrict largest,
                               const void *restrict x, size_t count)
{
    const mona_type type = bound->output.type;
    if (type == MONA_U8) {
        uint8_t *a = largest;
        const uint8_t *b = x;
        for (size_t i = 0; i < count; i++)
            a[i] = a[i] > b[i] ? a[i] : b[i];
    } else if (type == MONA_S8) {
        int8_t *a = largest;
        const int8_t *b = x;
        for (size_t i = 0; i < count; i++)
            a[i] = a[i] > b[i] ? a[i] : b[i];
    } else {
        const mona_fold_row r = {.source = x, .to = largest, .count = (uint32_t)count};
        bound->isa->fold_row(&r);
    }
}

/* Computes the outputs of a channel block, c0 elements a pixel, from one row of maxima. */
static inline void reduce_columns(const mona_row_call *call, const pool_window *w,
                                  const uint8_t *row, uint8_t *out, uint32_t c0)
{
    const mona_type type = call->bound->output.type;
    const size_t pixel = c0 * mona_type_size(type);
    const int64_t count = call->x_end - call->x_begin;
    for (int64_t i = 0; i < count; i++, out += pixel) {
        const pool_span *s = &w->column[i];
        if (!s->count) {
            memset(out, call->bound->output.zero, pixel);
            continue;
        }
        const uint8_t *from = row + (size_t)(s->first - w->columns.begin) * pixel;
        memcpy(out, from, pixel);
        for (int64_t t = 1; t < s->count; t++)
            keep_larger(call->bound, out, from + (size_t)(t * w->step) * pixel, c0);
    }
}

static size_t scratch_bytes(const mona_bound_op *b, uint32_t columns)
{
    (void)columns;
    return (size_t)b->input[0].width * b->input_c0[0] * mona_type_size(b->input[0].type);
}

static void row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const pool_window w = mona_pool_window(call);
    const uint32_t c0 = b->output_c0, blocks = (b->output.channels + c0 - 1) / c0;
    const size_t count = pool_elements(call, &w), element = mona_type_size(b->output.type);
    const mona_row out = output_row(call);
    for (uint32_t block = 0; block < blocks; block++) {
        uint8_t *to = out.data + block * out.block_stride;
        if (w.rows.count)
            memcpy(call->scratch, mona_pool_row(call, &w, 0, block), count * element);
        else
            memset(call->scratch, b->output.zero, count * element);
        for (int64_t k = 1; k < w.rows.count; k++)
            keep_larger(b, call->scratch, mona_pool_row(call, &w, k, block), count);
        if (c0 == 16) /* a length that the compiler knows */
            reduce_columns(call, &w, call->scratch, to, 16);
        else
            reduce_columns(call, &w, call->scratch, to, c0);
    }
}

const mona_op_run mona_run_max_pool = {
    .rows = mona_pool_row_span,
    .columns = mona_pool_column_span,
    .row = row,
};

const mona_op_class mona_op_max_pool = {
    .name = "max_pool",
    .run = &mona_run_max_pool,
    .kernels = MONA_KERNEL(fold_row),
    .min_inputs = 1,
    .max_inputs = 1,
    .zeros = MONA_ZEROS_SAME,
    .picture = MONA_PICTURE_LOST,
    .check = mona_pool_check,
    .infer = mona_pool_infer,
    .constants_bytes = mona_pool_constants_bytes,
    .bind = mona_pool_bind,
    .scratch_bytes = scratch_bytes,
    .reads_maps = mona_pool_reads_maps,
};
