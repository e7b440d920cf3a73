// SPDX-License-Identifier: Apache-2.0
/* Convolutions and pools of arrays over one to three dimensions, even with computed weights. */
#include "formats/compiler/import/array.h"

#include <string.h>

/* The axes of the window, of which the last `spatial_dims` are used. The outputs of pools are their
 * channels. */
static bool fill_window(importer *im, const op_window *w, mona_array_window *out)
{
    out->axes = (uint8_t)w->spatial_dims;
    for (uint32_t i = 0; i < w->spatial_dims; i++) {
        const uint32_t k = WINDOW_DIMS - w->spatial_dims + i;
        const int64_t max = 1 << 20;
        if (w->kernel[k] > max || w->stride[k] > max || w->dilation[k] > max || w->begin[k] > max ||
            w->begin[k] < -max || w->end[k] > max || w->end[k] < -max)
            return import_fail(im, "has a window with a number above %d", (int)max);
        out->axis[i] = (mona_array_axis){
            .in = (uint32_t)w->in[k],
            .out = (uint32_t)w->out[k],
            .kernel = (uint32_t)w->kernel[k],
            .stride = (uint32_t)w->stride[k],
            .dilation = (uint32_t)w->dilation[k],
            .pad_before = (int32_t)w->begin[k],
            .pad_after = (int32_t)w->end[k],
        };
    }
    return true;
}

static mona_array_window convolution(const op_convolution *n, mona_arithmetic arithmetic)
{
    return (mona_array_window){
        .function = MONA_WINDOW_CONV,
        .arithmetic = (uint8_t)arithmetic,
        .batch = (uint32_t)n->batch,
        .channels = (uint32_t)n->inputs,
        .outputs = (uint32_t)n->outputs,
        .groups = (uint32_t)n->groups,
    };
}

/* ---- convolutions ------------------------------------------------------------------------- */

/* Convolves x with weights w, which are input i, and an optional bias, with the node's
 * attributes. */
static array convolve(importer *im, mona_type type, array x, array w, uint32_t i, const array *bias)
{
    op_convolution n;
    const array operands[3] = {x, w, bias ? *bias : array_none};
    if (!array_ok(x) || !array_ok(w) || (bias && !array_ok(*bias)) ||
        !op_convolution_read(&im->call, i, &n))
        return array_none;
    mona_array_window record =
        convolution(&n, array_is_float(x.type) || array_is_float(w.type) ? MONA_FLOAT : MONA_INT);
    return fill_window(im, &n.w, &record) ? array_window(im, type, &record, operands, bias ? 3 : 2)
                                          : array_none;
}

bool import_array_conv(importer *im)
{
    const array x = array_in(im, 0), w = array_in(im, 1);
    const array bias = import_has(im, 2) ? array_in(im, 2) : array_none;
    return array_bind(
        im, 0, convolve(im, array_result_type(im, 0), x, w, 1, import_has(im, 2) ? &bias : NULL));
}

bool import_array_conv_integer(importer *im)
{
    return array_bind(
        im, 0,
        convolve(im, MONA_S32, array_centred(im, 0, 2, 0), array_centred(im, 1, 3, 0), 1, NULL));
}

bool import_array_qlinear_conv(importer *im)
{
    const array bias = import_has(im, 8) ? array_in(im, 8) : array_none;
    const array sum = convolve(im, MONA_S64, array_centred(im, 0, 2, 0), array_centred(im, 3, 5, 0),
                               3, import_has(im, 8) ? &bias : NULL);
    return array_bind(im, 0, array_requantize(im, sum, 1));
}

/* ---- transposed convolutions -------------------------------------------------------------- */

/* Inserts stride - 1 zeros between neighbouring elements of x along each axis from the third on. */
static array spread(importer *im, array x, const uint32_t *stride)
{
    int64_t dims[TENSOR_MAX_RANK];
    size_t count = 1;
    memcpy(dims, x.dims, sizeof dims);
    for (uint32_t i = 2; i < x.rank; i++)
        dims[i] = (x.dims[i] - 1) * stride[i - 2] + 1;
    for (uint32_t i = 0; i < x.rank; i++)
        count = count <= TENSOR_MAX_COUNT ? count * (size_t)dims[i] : count;
    if (count > TENSOR_MAX_COUNT)
        return array_fail(im, "spreads its input over too many elements, %zu", count);
    uint32_t *places = array_places(im, count);
    for (size_t i = 0; places && i < count; i++) {
        size_t rest = i, place = 1, step = 1;
        for (uint32_t k = x.rank; k-- > 0; step *= (size_t)x.dims[k]) {
            const size_t at = rest % (size_t)dims[k], by = k < 2 ? 1 : stride[k - 2];
            place = at % by ? 0 : place ? place + at / by * step : 0;
            rest /= (size_t)dims[k];
        }
        places[i] = (uint32_t)place;
    }
    return array_pick(im, x, x.rank, dims, places, 0);
}

/* [inputs][each][kernel...] -> [groups * each][inputs / groups][kernel...], with the kernel
 * reversed. */
static array turn(importer *im, array w, int64_t groups)
{
    int64_t dims[TENSOR_MAX_RANK] = {groups * w.dims[1], w.dims[0] / groups};
    int64_t area = 1;
    for (uint32_t i = 2; i < w.rank; i++)
        area *= dims[i] = w.dims[i];
    const int64_t grouped[4] = {groups, dims[1], w.dims[1], area};
    const uint32_t order[4] = {0, 2, 1, 3};
    const array swapped = array_dense(im, array_permute(array_view(im, w, 4, grouped), order));
    if (!array_ok(swapped))
        return array_none;
    const int64_t flat[2] = {dims[0] * dims[1], area};
    uint32_t *places = array_places(im, array_elements(2, flat));
    for (int64_t i = 0; places && i < area * dims[0] * dims[1]; i++)
        places[i] = (uint32_t)(i - i % area + (area - 1 - i % area) + 1);
    return array_view(im, array_pick(im, swapped, 2, flat, places, 0), w.rank, dims);
}

/* A convolution without strides: zeros are inserted between the elements of the input, the filter
 * is reversed, and the padding is the filter's extent minus the transposed padding. */
bool import_array_conv_transpose(importer *im)
{
    const array x = array_in(im, 0), w = array_in(im, 1);
    const array bias = import_has(im, 2) ? array_in(im, 2) : array_none;
    op_convolution n;
    uint32_t strides[WINDOW_DIMS];
    if (!array_ok(x) || !array_ok(w) || (import_has(im, 2) && !array_ok(bias)) ||
        !op_convolution_read_transposed(&im->call, &n))
        return false;
    mona_array_window record = convolution(&n, MONA_FLOAT);
    if (!fill_window(im, &n.w, &record))
        return false;
    for (uint32_t i = 0; i < record.axes; i++) {
        mona_array_axis *a = &record.axis[i];
        strides[i] = a->stride;
        a->pad_before = (int32_t)((a->kernel - 1) * a->dilation) - a->pad_before;
        a->in = (a->in - 1) * a->stride + 1;
        a->stride = 1;
        a->pad_after = 0; /* only AVERAGE uses it */
    }
    const array operands[3] = {spread(im, x, strides), turn(im, w, n.groups), bias};
    return array_bind(
        im, 0,
        array_window(im, array_result_type(im, 0), &record, operands, import_has(im, 2) ? 3 : 2));
}

/* ---- pools -------------------------------------------------------------------------------- */

/* With storage_order 1, the first of a plane's axes is the innermost; this converts the index. */
static array column_order(importer *im, array index, const op_window *w)
{
    const array plane = array_number(im, MONA_S64, (double)(w->in[0] * w->in[1] * w->in[2]));
    const array in_plane = array_binary(im, MONA_S64, MONA_FN_FMOD, index, plane);
    array at = array_number(im, MONA_S64, 0), left = in_plane;
    for (uint32_t i = 3; i-- > 0;) {
        const array size = array_number(im, MONA_S64, (double)w->in[i]);
        at = array_binary(im, MONA_S64, MONA_FN_MUL, at, size);
        at = array_binary(im, MONA_S64, MONA_FN_ADD, at,
                          array_binary(im, MONA_S64, MONA_FN_FMOD, left, size));
        left = array_binary(im, MONA_S64, MONA_FN_DIV, left, size);
    }
    return array_binary(im, MONA_S64, MONA_FN_ADD,
                        array_binary(im, MONA_S64, MONA_FN_SUB, index, in_plane), at);
}

bool import_array_pool(importer *im)
{
    const mona_window function = (mona_window)import_code(im);
    const bool largest = function == MONA_WINDOW_MAX;
    const array x = array_in(im, 0);
    op_window window;
    if (!array_ok(x) || !op_window_read(&im->call, im->in[0], NULL, &window))
        return false;
    mona_array_window record = {
        .function = function,
        .arithmetic = array_is_float(x.type) ? MONA_FLOAT : MONA_INT,
        .count_include_pad = window.counts_padding,
        .batch = (uint32_t)x.dims[0],
        .channels = (uint32_t)x.dims[1],
        .outputs = (uint32_t)x.dims[1],
        .groups = 1,
    };
    if (!fill_window(im, &window, &record) ||
        !array_bind(im, 0, array_window(im, array_result_type(im, 0), &record, &x, 1)))
        return false;
    if (!largest || !array_wants(im, 1))
        return true;
    record.function = MONA_WINDOW_MAX_INDEX;
    const array index = array_window(im, MONA_S64, &record, &x, 1);
    return array_bind(im, 1, window.by_columns ? column_order(im, index, &window) : index);
}
