// SPDX-License-Identifier: Apache-2.0
/* Operators that read or write the elements which indices name. */
#include <inttypes.h>
#include <string.h>

#include "formats/reference/operators.h"

/* Part i of the updates goes to the place in the result, or, where there are none, what is there in
 * x to part i of the result. part: in elements. */
static void move_part(op_call *c, const tensor *updates, size_t place, size_t i, size_t part)
{
    const tensor *from = updates ? updates : op_in(c, 0);
    if (part)
        memcpy(tensor_at(c->out, updates ? place : i * part),
               tensor_at(from, updates ? i * part : place), part * element_size(from->type));
}

static bool check_indices(op_call *c, const tensor *indices)
{
    return indices->type == ELEMENT_INT32 || indices->type == ELEMENT_INT64 ||
           op_fail(c, "has indices of %s; expected int32 or int64", element_name(indices->type));
}

/* Index i among `dim` elements, counted from their end if it is negative. */
static bool read_index(op_call *c, const tensor *indices, size_t i, int64_t dim, size_t *at)
{
    const int64_t index = tensor_int(indices, i), from = index < 0 ? index + dim : index;
    *at = (size_t)from;
    return (from >= 0 && from < dim) ||
           op_fail(c, "asks for element %" PRId64 " of %" PRId64, index, dim);
}

bool op_gather(op_call *c)
{
    const tensor *x = op_in(c, 0), *indices = op_in(c, 1);
    int64_t dims[2 * TENSOR_MAX_RANK];
    uint32_t axis, rank = 0;
    if (!op_axis(c, onnx_int(c->node, "axis", 0), x->rank, &axis) || !check_indices(c, indices))
        return false;
    for (uint32_t i = 0; i < x->rank; i++) {
        if (i != axis)
            dims[rank++] = x->dims[i];
        for (uint32_t k = 0; i == axis && k < indices->rank; k++)
            dims[rank++] = indices->dims[k];
    }
    if (!op_result(c, 0, x->type, rank, dims))
        return false;
    const tensor_dims s = tensor_split(x, axis);
    for (size_t i = 0; i < s.before * indices->count; i++) {
        size_t at;
        if (!read_index(c, indices, i % indices->count, x->dims[axis], &at))
            return false;
        move_part(c, NULL, (i / indices->count * s.along + at) * s.after, i, s.after);
    }
    return true;
}

/* ---- along one axis ------------------------------------------------------------------------- */

/* Indices have the rank of x, and no more elements than it along the other axes. */
static bool read_elements(op_call *c, uint32_t *axis)
{
    const tensor *x = op_in(c, 0), *indices = op_in(c, 1);
    if (!op_axis(c, onnx_int(c->node, "axis", 0), x->rank, axis) || !check_indices(c, indices))
        return false;
    bool fit = indices->rank == x->rank;
    for (uint32_t i = 0; fit && i < x->rank; i++)
        fit = i == *axis || indices->dims[i] <= x->dims[i];
    return fit || op_fail(c, "has indices whose shape does not fit its input's");
}

/* The element of x that index i names. */
static bool find_element(op_call *c, uint32_t axis, size_t i, size_t *place)
{
    const tensor *x = op_in(c, 0), *indices = op_in(c, 1);
    size_t rest = i, step = 1;
    *place = 0;
    for (uint32_t k = x->rank; k-- > 0; step *= (size_t)x->dims[k]) {
        size_t at = rest % (size_t)indices->dims[k];
        rest /= (size_t)indices->dims[k];
        if (k == axis && !read_index(c, indices, i, x->dims[k], &at))
            return false;
        *place += at * step;
    }
    return true;
}

static bool move_elements(op_call *c, uint32_t axis, const tensor *updates)
{
    for (size_t i = 0; i < op_in(c, 1)->count; i++) {
        size_t place;
        if (!find_element(c, axis, i, &place))
            return false;
        move_part(c, updates, place, i, 1);
    }
    return true;
}

bool op_gather_elements(op_call *c)
{
    const tensor *x = op_in(c, 0), *indices = op_in(c, 1);
    uint32_t axis;
    return read_elements(c, &axis) && op_result(c, 0, x->type, indices->rank, indices->dims) &&
           move_elements(c, axis, NULL);
}

/* Makes the result a copy of x, whose elements updates replace. */
static bool begin_scatter(op_call *c)
{
    const char *reduction = onnx_string(c->node, "reduction", "none");
    const tensor *x = op_in(c, 0);
    if (strcmp(reduction, "none"))
        return op_fail(c, "has reduction '%.30s'; supported: none", reduction);
    if (op_in(c, 2)->type != x->type)
        return op_fail(c, "has updates of another type than its input");
    if (!op_result_like(c, 0, x))
        return false;
    memcpy(c->out->data, x->data, x->count * element_size(x->type));
    return true;
}

bool op_scatter_elements(op_call *c)
{
    const tensor *indices = op_in(c, 1), *updates = op_in(c, 2);
    uint32_t axis;
    if (!read_elements(c, &axis))
        return false;
    if (updates->count != indices->count)
        return op_fail(c, "has %zu updates for %zu indices", updates->count, indices->count);
    return begin_scatter(c) && move_elements(c, axis, updates);
}

/* ---- of several axes ------------------------------------------------------------------------ */

/* Each row of `named` indices is for the axes from `batch` on, and names a part of x. */
typedef struct rows_of_indices {
    uint32_t batch, named;
    size_t rows, part; /* part: in elements */
} rows_of_indices;

static bool read_rows(op_call *c, rows_of_indices *r)
{
    const tensor *x = op_in(c, 0), *indices = op_in(c, 1);
    const int64_t batch = onnx_int(c->node, "batch_dims", 0);
    const int64_t named = indices->rank ? indices->dims[indices->rank - 1] : 0;
    if (!check_indices(c, indices))
        return false;
    bool fit = named >= 1 && batch >= 0 && batch < indices->rank && batch + named <= x->rank;
    for (uint32_t i = 0; fit && i < (uint32_t)batch; i++)
        fit = indices->dims[i] == x->dims[i];
    if (!fit)
        return op_fail(c, "has indices whose shape does not fit its input's");
    *r = (rows_of_indices){(uint32_t)batch, (uint32_t)named, indices->count / (size_t)named, 1};
    for (uint32_t i = r->batch + r->named; i < x->rank; i++)
        r->part *= (size_t)x->dims[i];
    return true;
}

/* The first element of the part that a row names. */
static bool find_part(op_call *c, const rows_of_indices *r, size_t row, size_t *place)
{
    const tensor *x = op_in(c, 0), *indices = op_in(c, 1);
    size_t each = 1; /* rows of one index of the batch */
    for (uint32_t i = r->batch; i + 1 < indices->rank; i++)
        each *= (size_t)indices->dims[i];
    *place = row / each;
    for (uint32_t k = 0; k < r->named; k++) {
        const int64_t dim = x->dims[r->batch + k];
        size_t at;
        if (!read_index(c, indices, row * r->named + k, dim, &at))
            return false;
        *place = *place * (size_t)dim + at;
    }
    *place *= r->part;
    return true;
}

static bool move_rows(op_call *c, const rows_of_indices *r, const tensor *updates)
{
    for (size_t row = 0; row < r->rows; row++) {
        size_t place;
        if (!find_part(c, r, row, &place))
            return false;
        move_part(c, updates, place, row, r->part);
    }
    return true;
}

bool op_gather_nd(op_call *c)
{
    const tensor *x = op_in(c, 0), *indices = op_in(c, 1);
    int64_t dims[2 * TENSOR_MAX_RANK];
    uint32_t rank = 0;
    rows_of_indices r;
    if (!read_rows(c, &r))
        return false;
    for (uint32_t i = 0; i + 1 < indices->rank; i++)
        dims[rank++] = indices->dims[i];
    for (uint32_t i = r.batch + r.named; i < x->rank; i++)
        dims[rank++] = x->dims[i];
    return op_result(c, 0, x->type, rank, dims) && move_rows(c, &r, NULL);
}

bool op_scatter_nd(op_call *c)
{
    const tensor *updates = op_in(c, 2);
    rows_of_indices r;
    if (!read_rows(c, &r))
        return false;
    if (updates->count != r.rows * r.part)
        return op_fail(c, "has %zu updates for %zu elements", updates->count, r.rows * r.part);
    return begin_scatter(c) && move_rows(c, &r, updates);
}
