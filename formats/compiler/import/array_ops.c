// SPDX-License-Identifier: Apache-2.0
/* The records of the array operators. */
#include "formats/compiler/import/array.h"

#include <string.h>

/* Removes dimensions of 1 and joins neighbouring dimensions along which no operand has a gap.
 * strides: of each operand. Returns the number of remaining dimensions. */
static uint32_t join_dims(uint32_t rank, int64_t *dims, uint32_t operands,
                          int64_t strides[][TENSOR_MAX_RANK])
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] == 1)
            continue;
        bool joined = kept;
        for (uint32_t k = 0; k < operands && joined; k++)
            joined = strides[k][kept - 1] == strides[k][i] * dims[i];
        const uint32_t to = joined ? kept - 1 : kept++;
        dims[to] = joined ? dims[to] * dims[i] : dims[i];
        for (uint32_t k = 0; k < operands; k++)
            strides[k][to] = strides[k][i];
    }
    return kept;
}

/* ---- element by element ------------------------------------------------------------------- */

/* The shape to which all operands broadcast. */
static bool broadcast(importer *im, uint32_t count, const array *operands, uint32_t *rank,
                      int64_t *dims)
{
    *rank = 0;
    for (uint32_t k = 0; k < count; k++)
        *rank = operands[k].rank > *rank ? operands[k].rank : *rank;
    for (uint32_t i = 0; i < *rank; i++) {
        dims[i] = 1;
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t missing = *rank - operands[k].rank;
            const int64_t dim = i < missing ? 1 : operands[k].dims[i - missing];
            if (dim != 1 && dims[i] != 1 && dim != dims[i])
                return import_fail(im, "combines dimensions of %lld and %lld", (long long)dims[i],
                                   (long long)dim);
            dims[i] = dim == 1 ? dims[i] : dim;
        }
    }
    return true;
}

array array_map(importer *im, mona_type type, const array_function *f, uint32_t count,
                const array *operands)
{
    int64_t dims[TENSOR_MAX_RANK] = {0}, extent[TENSOR_MAX_RANK], strides[3][TENSOR_MAX_RANK];
    uint32_t rank;
    for (uint32_t k = 0; k < count; k++)
        if (!array_ok(operands[k]))
            return array_none;
    if (!broadcast(im, count, operands, &rank, dims))
        return array_none;
    memcpy(extent, dims, sizeof extent);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < rank; i++) {
            const uint32_t missing = rank - operands[k].rank, own = i - missing;
            strides[k][i] =
                i < missing || operands[k].dims[own] == 1 ? 0 : operands[k].strides[own];
        }
    graph_array record = {.kind = MONA_OP_ARRAY_MAP,
                          .map = {.function = (uint8_t)f->code,
                                  .arithmetic = (uint8_t)f->arithmetic,
                                  .conversion = (uint8_t)f->conversion}};
    const uint32_t joined = join_dims(rank, extent, count, strides);
    record.map.dims = joined ? (uint8_t)joined : 1;
    record.map.extent[0] = 1;
    memcpy(record.map.parameter, f->parameter, sizeof f->parameter);
    for (uint32_t i = 0; i < joined; i++) {
        record.map.extent[i] = (uint32_t)extent[i];
        for (uint32_t k = 0; k < count; k++)
            record.map.stride[k][i] = (int32_t)strides[k][i];
    }
    return array_add(im, type, rank, dims, &record, operands, count);
}

/* Operands that are floats are compared as floats, although the result is an integer. */
static mona_arithmetic arithmetic_of(uint32_t count, const array *operands, mona_type type)
{
    bool on_floats = array_is_float(type);
    for (uint32_t k = 0; k < count; k++)
        on_floats = on_floats || array_is_float(operands[k].type);
    return on_floats ? MONA_FLOAT : MONA_INT;
}

array array_apply(importer *im, mona_type type, mona_array_function f, uint32_t count,
                  const array *operands)
{
    const array_function function = {.code = f, .arithmetic = arithmetic_of(count, operands, type)};
    return array_map(im, type, &function, count, operands);
}

array array_unary(importer *im, mona_type type, mona_array_function f, array x)
{
    return array_apply(im, type, f, 1, &x);
}

array array_binary(importer *im, mona_type type, mona_array_function f, array x, array y)
{
    return array_apply(im, type, f, 2, (const array[2]){x, y});
}

array array_cast(importer *im, mona_type type, array x)
{
    return !array_ok(x) || x.type == type ? x : array_unary(im, type, MONA_FN_COPY, x);
}

array array_quantize(importer *im, mona_type type, const array operands[3])
{
    static const array_function quantize = {
        .code = MONA_FN_QUANTIZE, .arithmetic = MONA_FLOAT, .conversion = MONA_SATURATE};
    return array_map(im, type, &quantize, 3, operands);
}

/* ---- reductions --------------------------------------------------------------------------- */

array array_reduce(importer *im, mona_type type, mona_reduction f, array x, uint32_t mask)
{
    int64_t extent[TENSOR_MAX_RANK], strides[1][TENSOR_MAX_RANK], dims[TENSOR_MAX_RANK];
    graph_array record = {.kind = MONA_OP_ARRAY_REDUCE, .reduce = {.function = (uint8_t)f}};
    mona_array_reduce *r = &record.reduce;
    if (!array_ok(x))
        return x;
    for (uint32_t part = 0; part < 2; part++) { /* dimensions kept, then those reduced */
        uint32_t count = 0;
        for (uint32_t i = 0; i < x.rank; i++)
            if ((mask >> i & 1) == part) {
                extent[count] = x.dims[i];
                strides[0][count++] = x.strides[i];
            }
        count = join_dims(count, extent, 1, strides);
        for (uint32_t i = 0; i < count; i++) {
            r->extent[(part ? r->kept : 0) + i] = (uint32_t)extent[i];
            r->stride[(part ? r->kept : 0) + i] = (int32_t)strides[0][i];
        }
        *(part ? &r->reduced : &r->kept) = (uint8_t)count;
    }
    if (!r->kept && !r->reduced)
        r->kept = (uint8_t)(r->extent[0] = 1);
    for (uint32_t i = 0; i < x.rank; i++)
        dims[i] = mask >> i & 1 ? 1 : x.dims[i];
    const bool on_floats = f == MONA_REDUCE_MEAN || f == MONA_REDUCE_L2 ||
                           f == MONA_REDUCE_LOG_SUM || f == MONA_REDUCE_LOG_SUM_EXP ||
                           array_is_float(x.type);
    r->arithmetic = (uint8_t)(on_floats ? MONA_FLOAT : MONA_INT);
    return array_add(im, type, x.rank, dims, &record, &x, 1);
}

/* ---- products and windows ----------------------------------------------------------------- */

array array_matmul(importer *im, mona_type type, array a, array b)
{
    const array operands[2] = {a, b};
    int64_t dims[TENSOR_MAX_RANK], batch[TENSOR_MAX_RANK], strides[2][TENSOR_MAX_RANK];
    uint32_t rank;
    if (!array_ok(a) || !array_ok(b))
        return array_none;
    const uint32_t last = a.rank - 1, before = a.rank - 2;
    array outer[2] = {a, b};
    outer[0].rank = outer[1].rank = before;
    if (a.dims[last] != b.dims[before])
        return array_fail(im, "multiplies matrices whose dimensions do not match");
    if (!broadcast(im, 2, outer, &rank, dims))
        return array_none;
    for (uint32_t i = 0; i < before; i++) {
        batch[i] = dims[i];
        for (uint32_t k = 0; k < 2; k++)
            strides[k][i] = operands[k].dims[i] == 1 ? 0 : operands[k].strides[i];
    }
    graph_array record = {.kind = MONA_OP_ARRAY_MATMUL,
                          .matmul = {.arithmetic = (uint8_t)arithmetic_of(2, operands, type),
                                     .m = (uint32_t)a.dims[before],
                                     .n = (uint32_t)b.dims[last],
                                     .k = (uint32_t)a.dims[last],
                                     .a_m = (int32_t)a.strides[before],
                                     .a_k = (int32_t)a.strides[last],
                                     .b_k = (int32_t)b.strides[before],
                                     .b_n = (int32_t)b.strides[last]}};
    record.matmul.batch_dims = (uint8_t)join_dims(before, batch, 2, strides);
    for (uint32_t i = 0; i < record.matmul.batch_dims; i++) {
        record.matmul.extent[i] = (uint32_t)batch[i];
        for (uint32_t k = 0; k < 2; k++)
            record.matmul.batch_stride[k][i] = (int32_t)strides[k][i];
    }
    dims[before] = a.dims[before];
    dims[last] = b.dims[last];
    return array_add(im, type, a.rank, dims, &record, operands, 2);
}

array array_window(importer *im, mona_type type, const mona_array_window *window,
                   const array *operands, uint32_t count)
{
    const graph_array record = {.kind = MONA_OP_ARRAY_WINDOW, .window = *window};
    int64_t dims[TENSOR_MAX_RANK] = {window->batch, window->outputs};
    array dense[3];
    for (uint32_t k = 0; k < count; k++)
        dense[k] = array_dense(im, operands[k]);
    for (uint32_t i = 0; i < window->axes; i++)
        dims[2 + i] = window->axis[i].out;
    return array_add(im, type, 2 + window->axes, dims, &record, dense, count);
}

array array_resample(importer *im, mona_type type, array x, uint32_t axis, const array_taps *taps)
{
    x = array_dense(im, x);
    if (!array_ok(x))
        return x;
    const size_t entries = taps->first[taps->out];
    graph_array record = {
        .kind = MONA_OP_ARRAY_RESAMPLE,
        .resample = {.outer = (uint32_t)array_elements(axis, x.dims),
                     .in = (uint32_t)x.dims[axis],
                     .out = taps->out,
                     .inner = (uint32_t)array_elements(x.rank - axis - 1, x.dims + axis + 1),
                     .fill = taps->fill},
        .tables = {{taps->first, (taps->out + (size_t)1) * sizeof *taps->first,
                    offsetof(mona_array_resample, first)},
                   {taps->index, entries * sizeof *taps->index,
                    offsetof(mona_array_resample, index)},
                   {taps->weight, entries * sizeof *taps->weight,
                    offsetof(mona_array_resample, weight)}},
    };
    x.dims[axis] = taps->out;
    return array_add(im, type, x.rank, x.dims, &record, &x, 1);
}

array array_gather(importer *im, array x, uint32_t axis, array indices)
{
    array operands[2] = {array_dense(im, x), array_dense(im, indices)};
    int64_t dims[2 * TENSOR_MAX_RANK];
    uint32_t rank = 0;
    if (!array_ok(operands[0]) || !array_ok(operands[1]))
        return array_none;
    if (x.rank + indices.rank - 1 > TENSOR_MAX_RANK)
        return array_fail(im, "makes more than %d dimensions", TENSOR_MAX_RANK);
    const graph_array record = {
        .kind = MONA_OP_ARRAY_GATHER,
        .gather = {.outer = (uint32_t)array_elements(axis, x.dims),
                   .extent = (uint32_t)x.dims[axis],
                   .inner = (uint32_t)array_elements(x.rank - axis - 1, x.dims + axis + 1),
                   .count = (uint32_t)array_elements(indices.rank, indices.dims)}};
    for (uint32_t i = 0; i < x.rank; i++) {
        if (i != axis)
            dims[rank++] = x.dims[i];
        for (uint32_t k = 0; i == axis && k < indices.rank; k++)
            dims[rank++] = indices.dims[k];
    }
    return array_add(im, x.type, rank, dims, &record, operands, 2);
}
