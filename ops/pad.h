// SPDX-License-Identifier: Apache-2.0
/* Which samples PAD takes. Private to ops/. */
#ifndef MONA_OPS_PAD_H
#define MONA_OPS_PAD_H

#include "ops/helpers.h"

/* One axis: `size` samples, `before` and `after` of them are added. */
typedef struct pad_axis {
    int64_t size, before, after;
    bool reflects;
} pad_axis;

static inline pad_axis mona_pad_rows(const mona_bound_op *b)
{
    const mona_file_pad *p = &b->op->pad;
    return (pad_axis){b->input[0].height, p->top, p->bottom, p->mode == MONA_PAD_REFLECT};
}

static inline pad_axis mona_pad_columns(const mona_bound_op *b)
{
    const mona_file_pad *p = &b->op->pad;
    return (pad_axis){b->input[0].width, p->left, p->right, p->mode == MONA_PAD_REFLECT};
}

/* The sample of the map that output sample i is. */
static inline int64_t mona_pad_source(const pad_axis *a, int64_t i)
{
    const int64_t x = i - a->before;
    if (!a->reflects)
        return clip_to(x, 0, a->size - 1);
    return x < 0 ? -x : x < a->size ? x : 2 * (a->size - 1) - x;
}

/* Of mona_op_run. */
mona_span mona_pad_rows_read(const mona_bound_op *b, uint32_t i, mona_span out);
mona_span mona_pad_columns_read(const mona_bound_op *b, uint32_t i, mona_span out);

/* The row of the call's window that its output row takes. */
static inline uint32_t mona_pad_row(const mona_row_call *call)
{
    const pad_axis a = mona_pad_rows(call->bound);
    const mona_span rows = mona_pad_rows_read(call->bound, 0, (mona_span){call->y, call->y + 1});
    return (uint32_t)(mona_pad_source(&a, call->y) - rows.begin);
}

#endif
