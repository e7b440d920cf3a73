// SPDX-License-Identifier: Apache-2.0
/* Maximum and mean over windows, or over whole maps. */
#include <math.h>
#include <string.h>

#include "formats/reference/operators.h"

/* One window of one plane: along each axis, the range of kernel positions inside. */
typedef struct pool_window {
    const op_window *w;
    int64_t at[3];
    window_range range[3];
} pool_window;

/* The sample of the plane under kernel position k. */
static size_t sample_at(const pool_window *p, const int64_t k[3])
{
    size_t index = 0;
    for (int i = 0; i < 3; i++)
        index = index * (size_t)p->w->in[i] +
                (size_t)(p->at[i] * p->w->stride[i] - p->w->begin[i] + k[i] * p->w->dilation[i]);
    return index;
}

typedef void window_function(op_call *c, const pool_window *p, size_t plane, size_t result);

static void each_window(op_call *c, const op_window *w, size_t planes, window_function *f)
{
    pool_window p = {.w = w};
    size_t result = 0;
    for (size_t plane = 0; plane < planes; plane++)
        for (p.at[0] = 0; p.at[0] < w->out[0]; p.at[0]++) {
            p.range[0] = op_window_inside(w, 0, p.at[0]);
            for (p.at[1] = 0; p.at[1] < w->out[1]; p.at[1]++) {
                p.range[1] = op_window_inside(w, 1, p.at[1]);
                for (p.at[2] = 0; p.at[2] < w->out[2]; p.at[2]++, result++) {
                    p.range[2] = op_window_inside(w, 2, p.at[2]);
                    f(c, &p, plane, result);
                }
            }
        }
}

static size_t plane_size(const op_window *w)
{
    return (size_t)(w->in[0] * w->in[1] * w->in[2]);
}

/* ---- maximum ------------------------------------------------------------------------------ */

/* With storage_order 1, the first of the axes is the innermost. */
static int64_t place(const op_window *w, size_t plane, size_t at)
{
    if (w->by_columns) {
        const size_t maps = (size_t)w->in[0], rows = (size_t)w->in[1], columns = (size_t)w->in[2];
        const size_t map = at / columns / rows, row = at / columns % rows;
        at = map + (row + at % columns * rows) * maps;
    }
    return (int64_t)(plane * plane_size(w) + at);
}

static void maximum(op_call *c, const pool_window *p, size_t plane, size_t result)
{
    const tensor *x = op_in(c, 0);
    const size_t first = plane * plane_size(p->w);
    size_t best = SIZE_MAX;
    int64_t k[3];
    for (k[0] = p->range[0].first; k[0] <= p->range[0].last; k[0]++)
        for (k[1] = p->range[1].first; k[1] <= p->range[1].last; k[1]++)
            for (k[2] = p->range[2].first; k[2] <= p->range[2].last; k[2]++) {
                const size_t at = sample_at(p, k);
                if (best == SIZE_MAX ||
                    tensor_number(x, first + at) > tensor_number(x, first + best))
                    best = at;
            }
    /* A window that contains only padding has no maximum. */
    if (best == SIZE_MAX)
        tensor_set_number(c->out, result, element_is_float(x->type) ? -INFINITY : 0);
    else
        tensor_set_number(c->out, result, tensor_number(x, first + best));
    if (op_wants(c, 1))
        tensor_set_int(&c->out[1], result, best == SIZE_MAX ? -1 : place(p->w, plane, best));
}

/* ---- mean --------------------------------------------------------------------------------- */

/* The number of kernel positions along an axis that lie on samples or padding. */
static int64_t padded_count(const op_window *w, int axis, int64_t at)
{
    const int64_t start = at * w->stride[axis] - w->begin[axis];
    const int64_t room = w->in[axis] + w->end[axis] - 1 - start;
    const int64_t count = room < 0 ? 0 : room / w->dilation[axis] + 1;
    return count < w->kernel[axis] ? count : w->kernel[axis];
}

static void mean(op_call *c, const pool_window *p, size_t plane, size_t result)
{
    const tensor *x = op_in(c, 0);
    const size_t first = plane * plane_size(p->w);
    double sum = 0, count = 0;
    int64_t k[3];
    for (k[0] = p->range[0].first; k[0] <= p->range[0].last; k[0]++)
        for (k[1] = p->range[1].first; k[1] <= p->range[1].last; k[1]++)
            for (k[2] = p->range[2].first; k[2] <= p->range[2].last; k[2]++, count++)
                sum += tensor_number(x, first + sample_at(p, k));
    if (p->w->counts_padding) {
        count = 1;
        for (int i = 0; i < 3; i++)
            count *= (double)padded_count(p->w, i, p->at[i]);
    }
    tensor_set_number(c->out, result, sum / count);
}

bool op_pool(op_call *c)
{
    const tensor *x = op_in(c, 0);
    const bool largest = !strcmp(c->node->op_type, "MaxPool");
    op_window w;
    int64_t dims[TENSOR_MAX_RANK];
    if (!op_window_read(c, x, NULL, &w))
        return false;
    op_window_shape(&w, x->dims[0], x->dims[1], dims);
    if ((largest && !op_result(c, 1, ELEMENT_INT64, x->rank, dims)) ||
        !op_result(c, 0, x->type, x->rank, dims))
        return false;
    each_window(c, &w, (size_t)(x->dims[0] * x->dims[1]), largest ? maximum : mean);
    return true;
}
