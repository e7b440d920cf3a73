// SPDX-License-Identifier: Apache-2.0
/* PAD: rows and columns around a map that repeat its own samples. Along each axis, output sample i
 * is sample i - before of the map; one outside it is reflected at the first or last sample, or is
 * that sample (model_format.h).
 *
 * Where rows are reflected, a later output row may need an earlier row of the map. But windows
 * must be monotonic (engine/run/schedule.c), so the window of a row also holds what rows before
 * it needed last and what rows after it need first. */
#include "ops/pad.h"

#include "engine/libc.h"

/* ---- shapes --------------------------------------------------------------------------------- */

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    (void)data;
    return op->pad.mode <= MONA_PAD_EDGE && inputs[0].type == output->type &&
                   inputs[0].channels == output->channels
               ? MONA_OK
               : MONA_ERR_MODEL;
}

/* A reflection is of samples beside the edge, so there must be enough of them. */
static mona_status infer(const mona_file_op *op, const mona_shape *inputs, mona_shape *output)
{
    const mona_file_pad *p = &op->pad;
    const uint32_t rows = p->top > p->bottom ? p->top : p->bottom;
    const uint32_t columns = p->left > p->right ? p->left : p->right;
    if (p->mode == MONA_PAD_REFLECT && (rows >= inputs[0].height || columns >= inputs[0].width))
        return MONA_ERR_SHAPE;
    output->height = inputs[0].height + p->top + p->bottom;
    output->width = inputs[0].width + p->left + p->right;
    return MONA_OK;
}

/* ---- windows --------------------------------------------------------------------------------- */

/* Rows before the first are only requested to pace a warm-up. */
mona_span mona_pad_rows_read(const mona_bound_op *b, uint32_t i, mona_span out)
{
    (void)i;
    const pad_axis a = mona_pad_rows(b);
    const int64_t top = a.reflects ? a.before : 0;
    const int64_t last = a.size - 1 - (a.reflects ? a.after : 0);
    if (out.end <= 0)
        return (mona_span){out.begin + top, out.end + top};
    const int64_t begin = out.begin - a.before, end = out.end - a.before;
    return (mona_span){clip_to(begin, 0, last), clip_to(end, top + 1, a.size)};
}

/* Samples turn back at the edges of the map alone, so the ends of a span and the edges in it
 * have the smallest and the largest. */
mona_span mona_pad_columns_read(const mona_bound_op *b, uint32_t i, mona_span out)
{
    (void)i;
    const pad_axis a = mona_pad_columns(b);
    const int64_t p = mona_pad_source(&a, out.begin), q = mona_pad_source(&a, out.end - 1);
    const bool first = out.begin <= a.before && a.before < out.end;
    const bool last = out.begin < a.before + a.size && a.before + a.size <= out.end;
    return (mona_span){first ? 0 : p < q ? p : q, last ? a.size : (p > q ? p : q) + 1};
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Copies the samples of output columns [begin, end), all of which lie outside the map. */
static void copy_outside(const pad_axis *a, mona_span out, int64_t from_x, int64_t to_x,
                         uint8_t *to, const uint8_t *from, size_t pixel)
{
    for (int64_t x = out.begin; x < out.end; x++)
        memcpy(to + (size_t)(x - to_x) * pixel,
               from + (size_t)(mona_pad_source(a, x) - from_x) * pixel, pixel);
}

static void row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const pad_axis xa = mona_pad_columns(b);
    const mona_rows *in = &call->input[0];
    const mona_span out = {call->x_begin, call->x_end};
    const int64_t begin = clip_to(xa.before, out.begin, out.end);
    const int64_t end = clip_to(xa.before + xa.size, begin, out.end);
    const size_t pixel = b->output_c0 * mona_type_size(b->output.type);
    const mona_row to = output_row(call);
    for (uint32_t n = 0; n < ceil_div_u32(b->output.channels, b->output_c0); n++) {
        const uint8_t *from = in->rows[mona_pad_row(call)] + n * in->block_stride;
        uint8_t *at = to.data + n * to.block_stride;
        copy_outside(&xa, (mona_span){out.begin, begin}, in->x_begin, out.begin, at, from, pixel);
        if (begin < end)
            memcpy(at + (size_t)(begin - out.begin) * pixel,
                   from + (size_t)(begin - xa.before - in->x_begin) * pixel,
                   (size_t)(end - begin) * pixel);
        copy_outside(&xa, (mona_span){end, out.end}, in->x_begin, out.begin, at, from, pixel);
    }
}

const mona_op_run mona_run_pad = {
    .windows_vary = true,
    .rows = mona_pad_rows_read,
    .columns = mona_pad_columns_read,
    .row = row,
};

const mona_op_class mona_op_pad = {
    .name = "pad",
    .run = &mona_run_pad,
    .min_inputs = 1,
    .max_inputs = 1,
    .zeros = MONA_ZEROS_SAME,
    .picture = MONA_PICTURE_MOVED,
    .check = check,
    .infer = infer,
};
