// SPDX-License-Identifier: Apache-2.0
/* Reductions and sorting, and operators built from them: softmax and normalisations. */
#include "formats/compiler/import/array.h"
#include "formats/reference/operators.h"

/* ---- reductions --------------------------------------------------------------------------- */

/* All axes of a tensor as a mask. */
static uint32_t all_axes(uint32_t rank)
{
    return (1u << rank) - 1;
}

bool import_array_reduce(importer *im)
{
    uint32_t mask;
    const array x = array_in(im, 0);
    if (!array_ok(x))
        return false;
    if (!op_axes(&im->call, 1, x.rank, &mask))
        return import_refused(im, "axes");
    if (!mask && !onnx_int(im->node, "noop_with_empty_axes", 0))
        mask = all_axes(x.rank);
    return array_bind(
        im, 0,
        array_reduce(im, array_result_type(im, 0), (mona_reduction)import_code(im), x, mask));
}

bool import_array_arg(importer *im)
{
    enum { LAST = MONA_REDUCE_ARG_MAX_LAST - MONA_REDUCE_ARG_MAX }; /* as of ARG_MIN */
    const bool last = onnx_int(im->node, "select_last_index", 0);
    const array x = array_in(im, 0);
    const mona_reduction f = (mona_reduction)(import_code(im) + (last ? LAST : 0));
    return array_ok(x) &&
           array_bind(im, 0, array_reduce(im, MONA_S64, f, x, 1u << array_axis(im, x.rank, 0)));
}

bool import_array_global_pool(importer *im)
{
    const array x = array_in(im, 0);
    return array_bind(im, 0,
                      array_reduce(im, array_result_type(im, 0), (mona_reduction)import_code(im), x,
                                   all_axes(x.rank) & ~3u));
}

/* ---- the largest or the smallest ------------------------------------------------------------ */

/* values: the elements, else their indices. */
static array sorted(importer *im, array x, uint32_t axis, const tensor *result, bool values)
{
    graph_array a = {.kind = MONA_OP_ARRAY_SORT,
                     .sort = {.outer = 1,
                              .extent = (uint32_t)x.dims[axis],
                              .inner = 1,
                              .count = (uint32_t)result->dims[axis],
                              .arithmetic = array_is_float(x.type) ? MONA_FLOAT : MONA_INT,
                              .ascending = !onnx_int(im->node, "largest", 1),
                              .values = values}};
    for (uint32_t i = 0; i < x.rank; i++)
        *(i < axis ? &a.sort.outer : &a.sort.inner) *= i == axis ? 1 : (uint32_t)x.dims[i];
    return array_add(im, values ? x.type : MONA_S64, x.rank, result->dims, &a, &x, 1);
}

bool import_array_top_k(importer *im)
{
    const array x = array_dense(im, array_in(im, 0));
    if (!array_ok(x))
        return false;
    if (x.type == MONA_U64)
        return import_fail(im, "sorts uint64, which is not supported");
    for (uint32_t i = 0; i < 2; i++) {
        const tensor *result = array_wants(im, i) ? array_result(im, i) : NULL;
        if (array_wants(im, i) &&
            (!result || !array_bind(im, i, sorted(im, x, array_axis(im, x.rank, -1), result, !i))))
            return false;
    }
    return true;
}

/* ---- softmax ------------------------------------------------------------------------------ */

array array_softmax(importer *im, mona_type type, mona_normalisation f, array x, uint32_t begin,
                    uint32_t end)
{
    const graph_array record = {
        .kind = MONA_OP_ARRAY_NORMALISE,
        .normalise = {.function = f,
                      .extent = (uint32_t)array_elements(end - begin, x.dims + begin),
                      .inner = (uint32_t)array_elements(x.rank - end, x.dims + end),
                      .run = 1}};
    x = array_dense(im, x);
    return array_add(im, type, x.rank, x.dims, &record, &x, 1);
}

bool import_array_softmax(importer *im)
{
    const array x = array_in(im, 0);
    if (!array_ok(x))
        return false;
    const uint32_t at = array_axis(im, x.rank, -1);
    const uint32_t end = im->node->flattens ? x.rank : at + 1; /* see onnx_upgrade.c */
    const mona_normalisation f = (mona_normalisation)import_code(im);
    return array_bind(im, 0, array_softmax(im, array_result_type(im, 0), f, x, at, end));
}

/* ---- normalisations ----------------------------------------------------------------------- */

typedef struct moments {
    array mean, centred, variance;
} moments;

static moments find_moments(importer *im, array x, uint32_t mask)
{
    moments r;
    r.mean = array_reduce(im, MONA_F32, MONA_REDUCE_MEAN, x, mask);
    r.centred = array_binary(im, MONA_F32, MONA_FN_SUB, x, r.mean);
    int64_t count = 1;
    for (uint32_t i = 0; i < x.rank; i++)
        count *= mask >> i & 1 ? x.dims[i] : 1;
    r.variance = array_binary(im, MONA_F32, MONA_FN_DIV,
                              array_reduce(im, MONA_F32, MONA_REDUCE_SUM_SQUARE, r.centred, mask),
                              array_number(im, MONA_F32, (double)count));
    return r;
}

/* sqrt(variance + epsilon) */
static array deviation(importer *im, array variance)
{
    const array epsilon =
        array_number(im, MONA_F32, (double)onnx_float(im->node, "epsilon", 1e-5f));
    return array_unary(im, MONA_F32, MONA_FN_SQRT,
                       array_binary(im, MONA_F32, MONA_FN_ADD, variance, epsilon));
}

/* centred * factor + bias; bias may be NULL. */
static array scale_and_shift(importer *im, mona_type type, array centred, array factor,
                             const array *bias)
{
    const array operands[3] = {centred, factor, bias ? *bias : array_none};
    return bias ? array_apply(im, type, MONA_FN_MUL_ADD, 3, operands)
                : array_binary(im, type, MONA_FN_MUL, centred, factor);
}

/* Rows of x, whose next `run` elements have the next of the gains and shifts. */
static array normalised(importer *im, mona_type type, size_t extent, size_t run,
                        const array *operands, uint32_t count)
{
    const graph_array record = {.kind = MONA_OP_ARRAY_NORMALISE,
                                .normalise = {.extent = (uint32_t)extent,
                                              .inner = 1,
                                              .run = (uint32_t)run,
                                              .epsilon = onnx_float(im->node, "epsilon", 1e-5f)}};
    array dense[3];
    for (uint32_t i = 0; i < count; i++)
        dense[i] = array_dense(im, operands[i]);
    return array_add(im, type, operands[0].rank, operands[0].dims, &record, dense, count);
}

/* Statistics of groups of channels in a frame; groups 0: of each channel by itself. */
static bool import_groups(importer *im, int64_t groups)
{
    const array operands[3] = {array_in(im, 0), array_in(im, 1), array_in(im, 2)};
    const array x = operands[0], scale = operands[1];
    if (!array_ok(x) || !array_ok(scale) || !array_ok(operands[2]))
        return false;
    groups = groups ? groups : x.dims[1];
    const size_t extent = array_elements(x.rank, x.dims) / (size_t)(x.dims[0] * groups);
    const bool each = scale.dims[0] != groups; /* one number per channel */
    return array_bind(im, 0,
                      normalised(im, array_result_type(im, 0), extent,
                                 each ? extent / (size_t)(x.dims[1] / groups) : extent, operands,
                                 3));
}

bool import_array_group_norm(importer *im)
{
    return import_groups(im, onnx_int(im->node, "num_groups", 1));
}

bool import_array_instance_norm(importer *im)
{
    return import_groups(im, 0);
}

bool import_array_layer_norm(importer *im)
{
    const bool shifts = import_has(im, 2);
    const array operands[3] = {array_in(im, 0), array_in(im, 1),
                               shifts ? array_in(im, 2) : array_none};
    const array x = operands[0], scale = operands[1], bias = operands[2];
    if (!array_ok(x) || !array_ok(scale) || (shifts && !array_ok(bias)))
        return false;
    const uint32_t at = array_axis(im, x.rank, -1);
    if (array_wants(im, 1) || array_wants(im, 2)) {
        const moments r = find_moments(im, x, all_axes(x.rank) & ~all_axes(at));
        if ((array_wants(im, 1) && !array_bind(im, 1, r.mean)) ||
            (array_wants(im, 2) &&
             !array_bind(im, 2,
                         array_unary(im, MONA_F32, MONA_FN_RECIPROCAL, deviation(im, r.variance)))))
            return false;
    }
    const size_t extent = array_elements(x.rank - at, x.dims + at);
    const mona_type type = array_result_type(im, 0);
    const bool each = array_elements(scale.rank, scale.dims) == extent &&
                      (!shifts || array_elements(bias.rank, bias.dims) == extent);
    return array_bind(im, 0,
                      each ? normalised(im, type, extent, 1, operands, shifts ? 3 : 2)
                           : scale_and_shift(im, type,
                                             normalised(im, MONA_F32, extent, 1, operands, 1),
                                             scale, shifts ? &bias : NULL));
}

/* before * momentum + now * (1 - momentum) */
static bool bind_running(importer *im, uint32_t i, array before, array now)
{
    const double momentum = (double)onnx_float(im->node, "momentum", 0.9f);
    const array kept =
        array_binary(im, MONA_F32, MONA_FN_MUL, before, array_number(im, MONA_F32, momentum));
    const array moved =
        array_binary(im, MONA_F32, MONA_FN_MUL, now, array_number(im, MONA_F32, 1 - momentum));
    return !array_wants(im, i) ||
           array_bind(im, i, array_binary(im, array_result_type(im, i), MONA_FN_ADD, kept, moved));
}

/* The statistics are given, except in training, where they are computed from the batch. */
bool import_array_batch_norm(importer *im)
{
    const array x = array_in(im, 0);
    array parameters[4]; /* scale, bias, mean, variance: one per channel */
    for (uint32_t i = 0; i < 4; i++)
        parameters[i] = array_place(im, array_in(im, i + 1), x.rank, 1);
    const bool trains = onnx_int(im->node, "training_mode", 0);
    moments r = {.mean = parameters[2], .variance = parameters[3]};
    if (trains)
        r = find_moments(im, x, all_axes(x.rank) & ~2u);
    else
        r.centred = array_binary(im, MONA_F32, MONA_FN_SUB, x, r.mean);
    const array factor =
        array_binary(im, MONA_F32, MONA_FN_DIV, parameters[0], deviation(im, r.variance));
    return array_bind(
               im, 0,
               scale_and_shift(im, array_result_type(im, 0), r.centred, factor, &parameters[1])) &&
           (!trains || (bind_running(im, 1, parameters[2], r.mean) &&
                        bind_running(im, 2, parameters[3], r.variance)));
}

/* (x - mean) / (standard deviation + 1e-9) */
bool import_array_mean_variance(importer *im)
{
    uint32_t mask;
    const array x = array_in(im, 0);
    if (!array_ok(x))
        return false;
    if (!op_mean_variance_axes(&im->call, &mask))
        return import_refused(im, "axes");
    const moments r = find_moments(im, x, mask);
    const array spread =
        array_binary(im, MONA_F32, MONA_FN_ADD, array_unary(im, MONA_F32, MONA_FN_SQRT, r.variance),
                     array_number(im, MONA_F32, 1e-9));
    return array_bind(im, 0,
                      array_binary(im, array_result_type(im, 0), MONA_FN_DIV, r.centred, spread));
}

/* Where the norm is 0, all elements are, and stay so. */
bool import_array_lp_normalization(importer *im)
{
    const array x = array_in(im, 0);
    const mona_reduction f = onnx_int(im->node, "p", 2) == 1 ? MONA_REDUCE_L1 : MONA_REDUCE_L2;
    if (!array_ok(x))
        return false;
    const array norm = array_reduce(im, MONA_F32, f, x, 1u << array_axis(im, x.rank, -1));
    const array operands[3] = {
        array_binary(im, MONA_U8, MONA_FN_EQUAL, norm, array_number(im, MONA_F32, 0)),
        array_number(im, MONA_F32, 1), norm};
    return array_bind(im, 0,
                      array_binary(im, array_result_type(im, 0), MONA_FN_DIV, x,
                                   array_apply(im, MONA_F32, MONA_FN_WHERE, 3, operands)));
}

/* The mean of squares of `size` channels, as of a pool that counts its padding. */
static array mean_square(importer *im, array x, uint32_t size)
{
    const int64_t inner = (int64_t)array_elements(x.rank - 2, x.dims + 2);
    const int64_t dims[4] = {x.dims[0], 1, x.dims[1], inner};
    const mona_array_window record = {
        .function = MONA_WINDOW_AVERAGE,
        .arithmetic = MONA_FLOAT,
        .axes = 2,
        .count_include_pad = 1,
        .batch = (uint32_t)x.dims[0],
        .channels = 1,
        .outputs = 1,
        .groups = 1,
        .axis = {{.in = (uint32_t)x.dims[1],
                  .out = (uint32_t)x.dims[1],
                  .kernel = size,
                  .stride = 1,
                  .dilation = 1,
                  .pad_before = (int32_t)(size - 1) / 2,
                  .pad_after = (int32_t)size / 2},
                 {.in = (uint32_t)inner,
                  .out = (uint32_t)inner,
                  .kernel = 1,
                  .stride = 1,
                  .dilation = 1}},
    };
    const array squares = array_view(im, array_binary(im, MONA_F32, MONA_FN_MUL, x, x), 4, dims);
    return array_view(im, array_window(im, MONA_F32, &record, &squares, 1), x.rank, x.dims);
}

bool import_array_lrn(importer *im)
{
    const array x = array_in(im, 0);
    if (!array_ok(x))
        return false;
    const array operands[3] = {
        mean_square(im, x, (uint32_t)onnx_int(im->node, "size", 0)),
        array_number(im, MONA_F32, (double)onnx_float(im->node, "alpha", 1e-4f)),
        array_number(im, MONA_F32, (double)onnx_float(im->node, "bias", 1))};
    const array power = array_binary(
        im, MONA_F32, MONA_FN_POW, array_apply(im, MONA_F32, MONA_FN_MUL_ADD, 3, operands),
        array_number(im, MONA_F32, (double)onnx_float(im->node, "beta", 0.75f)));
    return array_bind(im, 0, array_binary(im, array_result_type(im, 0), MONA_FN_DIV, x, power));
}
