// SPDX-License-Identifier: Apache-2.0
/* Operators that read elements by several indices, or make numbers of indices; running sums. */
#include "formats/compiler/import/array.h"

#include <string.h>

/* ---- indices -------------------------------------------------------------------------------- */

/* Numbers as a constant of this shape. */
static array integers(importer *im, uint32_t rank, const int64_t *dims, const int64_t *numbers)
{
    const size_t count = array_elements(rank, dims);
    int64_t *elements = graph_alloc(im->g, count, sizeof *elements);
    if (elements)
        memcpy(elements, numbers, count * sizeof *elements);
    return array_constant(im, MONA_S64, rank, dims, elements);
}

/* Negative indices count from the end, which is `dims`. */
static array from_the_end(importer *im, array index, array dims)
{
    index = array_cast(im, MONA_S64, index);
    const array operands[3] = {
        array_binary(im, MONA_U8, MONA_FN_LESS, index, array_number(im, MONA_S64, 0)),
        array_binary(im, MONA_S64, MONA_FN_ADD, index, dims), index};
    return array_apply(im, MONA_S64, MONA_FN_WHERE, 3, operands);
}

/* Elements between neighbours along an axis. */
static int64_t step_of(array x, uint32_t axis)
{
    return (int64_t)array_elements(x.rank - axis - 1, x.dims + axis + 1);
}

/* Along each axis but one, what its index adds to the place of an element of x: a sum of as many
 * constants that broadcast. */
static array add_other_axes(importer *im, array place, array x, uint32_t axis)
{
    for (uint32_t i = 0; array_ok(place) && i < x.rank; i++) {
        int64_t dims[TENSOR_MAX_RANK];
        if (i == axis || place.dims[i] == 1)
            continue;
        for (uint32_t k = 0; k < x.rank; k++)
            dims[k] = k == i ? place.dims[i] : 1;
        place = array_binary(im, MONA_S64, MONA_FN_ADD, place,
                             array_multiples(im, x.rank, dims, step_of(x, i)));
    }
    return place;
}

bool import_array_gather_elements(importer *im)
{
    const array x = array_in(im, 0);
    if (!array_ok(x))
        return false;
    const uint32_t axis = array_axis(im, x.rank, 0);
    const int64_t all = (int64_t)array_elements(x.rank, x.dims);
    const array index =
        from_the_end(im, array_in(im, 1), array_number(im, MONA_S64, (double)x.dims[axis]));
    const array place =
        add_other_axes(im,
                       array_binary(im, MONA_S64, MONA_FN_MUL, index,
                                    array_number(im, MONA_S64, (double)step_of(x, axis))),
                       x, axis);
    return array_bind(im, 0, array_gather(im, array_view(im, x, 1, &all), 0, place));
}

/* The number of the part that each row of indices names, of those of one index of the batch. */
static array parts_of(importer *im, array x, array index, uint32_t batch, uint32_t named)
{
    int64_t steps[TENSOR_MAX_RANK], dims[TENSOR_MAX_RANK];
    const int64_t count = named;
    for (uint32_t i = named; i-- > 0;) {
        dims[i] = x.dims[batch + i];
        steps[i] = i + 1 < named ? steps[i + 1] * dims[i + 1] : 1;
    }
    index = from_the_end(im, index, integers(im, 1, &count, dims));
    index = array_binary(im, MONA_S64, MONA_FN_MUL, index, integers(im, 1, &count, steps));
    return array_ok(index)
               ? array_reduce(im, MONA_S64, MONA_REDUCE_SUM, index, 1u << (index.rank - 1))
               : index;
}

bool import_array_gather_nd(importer *im)
{
    const array x = array_in(im, 0), index = array_in(im, 1);
    if (!array_ok(x) || !array_ok(index))
        return false;
    if (!array_elements(x.rank, x.dims) || !array_elements(index.rank, index.dims))
        return import_fail(im, "reads an empty tensor");
    const uint32_t batch = (uint32_t)onnx_int(im->node, "batch_dims", 0);
    const uint32_t named = (uint32_t)index.dims[index.rank - 1];
    const int64_t sets = (int64_t)array_elements(batch, x.dims),
                  parts = (int64_t)array_elements(named, x.dims + batch),
                  rows = (int64_t)array_elements(index.rank, index.dims) / named;
    const int64_t by_set[2] = {sets, rows / sets}, first[2] = {sets, 1};
    const int64_t flat[2] = {sets * parts, step_of(x, batch + named - 1)};
    array place = array_view(im, parts_of(im, x, index, batch, named), 2, by_set);
    place = array_binary(im, MONA_S64, MONA_FN_ADD, place, array_multiples(im, 2, first, parts));
    return array_bind(
        im, 0, array_gather(im, array_view(im, x, 2, flat), 0, array_view(im, place, 1, &rows)));
}

/* ---- numbers of indices --------------------------------------------------------------------- */

/* One of the two values, a number. */
static array value_of(importer *im, uint32_t which)
{
    uint32_t *places = array_places(im, 1);
    if (places)
        *places = which + 1;
    return array_pick(im, array_in(im, 2), 0, NULL, places, 0);
}

bool import_array_one_hot(importer *im)
{
    const tensor *result = array_result(im, 0);
    const array index = array_in(im, 0);
    if (!result || !array_ok(index))
        return false;
    const uint32_t axis = array_axis(im, result->rank, -1);
    int64_t dims[TENSOR_MAX_RANK], range[TENSOR_MAX_RANK];
    for (uint32_t i = 0; i < result->rank; i++) {
        dims[i] = i == axis ? 1 : result->dims[i];
        range[i] = i == axis ? result->dims[i] : 1;
    }
    const array at = from_the_end(im, array_view(im, index, result->rank, dims),
                                  array_number(im, MONA_S64, (double)range[axis]));
    const array operands[3] = {
        array_binary(im, MONA_U8, MONA_FN_EQUAL, at, array_multiples(im, result->rank, range, 1)),
        value_of(im, 1), value_of(im, 0)};
    return array_bind(im, 0, array_apply(im, array_result_type(im, 0), MONA_FN_WHERE, 3, operands));
}

/* A constant input's only number. */
static bool read_number(importer *im, uint32_t i, int64_t *number)
{
    const tensor *t = array_in_tensor(im, i);
    if (!t || !t->data || t->count != 1)
        return import_fail(im, "takes input %u from a computed value; expected a constant", i);
    *number = tensor_int(t, 0);
    return true;
}

bool import_array_trilu(importer *im)
{
    const bool upper = onnx_int(im->node, "upper", 1);
    const array x = array_in(im, 0);
    int64_t k = 0;
    if (!array_ok(x) || (import_has(im, 1) && !read_number(im, 1, &k)))
        return false;
    const int64_t *dims = x.dims + x.rank - 2;
    uint8_t *kept = graph_alloc(im->g, array_elements(2, dims), 1);
    for (int64_t i = 0; kept && i < dims[0] * dims[1]; i++) {
        const int64_t right = i % dims[1] - i / dims[1];
        kept[i] = upper ? right >= k : right <= k;
    }
    const array operands[3] = {array_constant(im, MONA_U8, 2, dims, kept), x,
                               array_number(im, x.type, 0)};
    return array_bind(im, 0, array_apply(im, x.type, MONA_FN_WHERE, 3, operands));
}

/* ---- running sums --------------------------------------------------------------------------- */

/* Element k along the axis is the one `by` before it, or 0. */
static array shift(importer *im, array x, uint32_t axis, int64_t by)
{
    const int64_t after = step_of(x, axis), along = x.dims[axis];
    const size_t count = array_elements(x.rank, x.dims);
    uint32_t *places = array_places(im, count);
    for (size_t i = 0; places && i < count; i++) {
        const int64_t from = (int64_t)i / after % along - by;
        places[i] = from >= 0 && from < along ? (uint32_t)((int64_t)i - by * after) + 1 : 0;
    }
    return array_pick(im, x, x.rank, x.dims, places, 0);
}

/* Sums of twice as many elements at each step. */
bool import_array_cum_sum(importer *im)
{
    const mona_type type = array_result_type(im, 0), inner = type == MONA_F16 ? MONA_F32 : type;
    const int64_t forward = onnx_int(im->node, "reverse", 0) ? -1 : 1;
    array sum = array_cast(im, inner, array_in(im, 0));
    int64_t axis = 0;
    if (!array_ok(sum) || !read_number(im, 1, &axis))
        return false;
    const uint32_t at = (uint32_t)(axis < 0 ? axis + sum.rank : axis);
    if (onnx_int(im->node, "exclusive", 0))
        sum = shift(im, sum, at, forward);
    for (int64_t n = 1; array_ok(sum) && n < sum.dims[at]; n *= 2)
        sum = array_binary(im, inner, MONA_FN_ADD, sum, shift(im, sum, at, forward * n));
    return array_bind(im, 0, array_cast(im, type, sum));
}
