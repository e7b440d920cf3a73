// SPDX-License-Identifier: Apache-2.0
/* Matrix products of arrays: of floats, of integers, and quantised ones. */
#include "formats/compiler/import/array.h"

#include <string.h>

/* Views the operands as matrices of the same rank: a vector on the left is a row, on the right a
 * column. */
static bool as_matrices(const array_maker *m, array *a, array *b)
{
    if (!array_ok(*a) || !array_ok(*b))
        return false;
    if (!a->rank || !b->rank)
        return import_fail(m->im, m->node, "multiplies a single number; expected matrices");
    if (a->rank == 1)
        *a = array_place(m, *a, 2, 1);
    if (b->rank == 1)
        *b = array_place(m, *b, 2, 0);
    const uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
    *a = array_place(m, *a, rank, rank - a->rank);
    *b = array_place(m, *b, rank, rank - b->rank);
    return true;
}

bool import_array_matmul(importer *im, const onnx_node *node)
{
    const array_maker m = {im, node};
    array a = array_in(&m, 0), b = array_in(&m, 1);
    return as_matrices(&m, &a, &b) &&
           array_bind(&m, 0, array_matmul(&m, array_result_type(&m, 0), a, b));
}

/* alpha a b + beta c */
bool import_array_gemm(importer *im, const onnx_node *node)
{
    static const uint32_t turned[2] = {1, 0};
    const array_maker m = {im, node};
    const mona_type type = array_result_type(&m, 0);
    array a = array_in(&m, 0), b = array_in(&m, 1);
    if (onnx_int(node, "transA", 0))
        a = array_permute(a, turned);
    if (onnx_int(node, "transB", 0))
        b = array_permute(b, turned);
    const double alpha = (double)onnx_float(node, "alpha", 1);
    const double beta = (double)onnx_float(node, "beta", 1);
    const mona_type inner = array_is_float(type) ? MONA_F32 : type;
    array y = array_matmul(&m, inner, a, b);
    if (alpha != 1)
        y = array_binary(&m, inner, MONA_FN_MUL, y, array_number(&m, MONA_F32, alpha));
    if (import_has(node, 2)) {
        array c = array_in(&m, 2);
        if (beta != 1)
            c = array_binary(&m, inner, MONA_FN_MUL, c, array_number(&m, MONA_F32, beta));
        y = array_binary(&m, inner, MONA_FN_ADD, y, c);
    }
    return array_bind(&m, 0, array_cast(&m, type, y));
}

/* ---- integers ----------------------------------------------------------------------------- */

array array_centred(const array_maker *m, uint32_t i, uint32_t zero)
{
    const array x = array_in(m, i);
    if (!import_has(m->node, zero))
        return x;
    array z = array_in(m, zero);
    const size_t count = array_ok(z) ? m->im->g->values[z.value].count : 1;
    if (count != 1) /* one for each row, or for each output */
        z = array_place(m, array_view(m, z, 1, &(int64_t){(int64_t)count}), x.rank, 0);
    else if (array_ok(z))
        z.rank = 0;
    return array_binary(m, MONA_S32, MONA_FN_SUB, x, z);
}

bool import_array_matmul_integer(importer *im, const onnx_node *node)
{
    const array_maker m = {im, node};
    array a = array_centred(&m, 0, 2), b = array_centred(&m, 1, 3);
    return as_matrices(&m, &a, &b) && array_bind(&m, 0, array_matmul(&m, MONA_S32, a, b));
}

/* round(sum * (x_scale w_scale / y_scale)) + zero point, saturated. If w has a scale for each
 * output, they lie along `axis` of rank dimensions. */
array array_requantize(const array_maker *m, array sum, uint32_t axis)
{
    const array x_scale = array_in(m, 1), w_scale = array_in(m, 4), y_scale = array_in(m, 6);
    array by = array_binary(m, MONA_F32, MONA_FN_DIV,
                            array_binary(m, MONA_F32, MONA_FN_MUL, x_scale, w_scale), y_scale);
    array zero = array_in(m, 7);
    if (!array_ok(by) || !array_ok(zero) || !array_ok(sum))
        return array_none;
    if (m->im->g->values[by.value].count > 1)
        by = array_place(m, by, sum.rank, axis);
    else
        by.rank = 0;
    zero.rank = 0;
    const array scaled = array_binary(m, MONA_F32, MONA_FN_MUL, sum, by);
    const array operands[3] = {scaled, array_number(m, MONA_F32, 1), zero};
    const array_function quantize = {
        .code = MONA_FN_QUANTIZE, .arithmetic = MONA_FLOAT, .conversion = MONA_SATURATE};
    return array_map(m, array_result_type(m, 0), &quantize, 3, operands);
}

bool import_array_qlinear_matmul(importer *im, const onnx_node *node)
{
    const array_maker m = {im, node};
    array a = array_centred(&m, 0, 2), b = array_centred(&m, 3, 5);
    if (!as_matrices(&m, &a, &b))
        return false;
    const array sum = array_matmul(&m, MONA_S64, a, b);
    return array_bind(&m, 0, array_requantize(&m, sum, a.rank - 1));
}
