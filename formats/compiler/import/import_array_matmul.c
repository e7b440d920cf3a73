// SPDX-License-Identifier: Apache-2.0
/* Matrix products of arrays: of floats, of integers, and quantised ones. */
#include "formats/compiler/import/array.h"
#include "formats/reference/operators.h"

/* Views the operands as matrices of the same rank: a vector on the left is a row, on the right a
 * column. */
static bool as_matrices(importer *im, array *a, array *b)
{
    if (!array_ok(*a) || !array_ok(*b))
        return false;
    if (!a->rank || !b->rank)
        return import_fail(im, "multiplies a single number; expected matrices");
    if (a->rank == 1)
        *a = array_place(im, *a, 2, 1);
    if (b->rank == 1)
        *b = array_place(im, *b, 2, 0);
    const uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
    *a = array_place(im, *a, rank, rank - a->rank);
    *b = array_place(im, *b, rank, rank - b->rank);
    return true;
}

bool import_array_gemm(importer *im)
{
    static const uint32_t turned[2] = {1, 0};
    const op_gemm_form form = op_gemm_read(im->node);
    const mona_type type = array_result_type(im, 0);
    const bool sum = import_has(im, 2), last = form.alpha == 1 && !sum;
    const mona_type inner = array_is_float(type) && !last ? MONA_F32 : type;
    array a = array_in(im, 0), b = array_in(im, 1);
    if (!as_matrices(im, &a, &b))
        return false;
    a = form.turn_a ? array_permute(a, turned) : a;
    b = form.turn_b ? array_permute(b, turned) : b;
    array y = array_matmul(im, inner, a, b);
    if (form.alpha != 1)
        y = array_binary(im, inner, MONA_FN_MUL, y, array_number(im, MONA_F32, (double)form.alpha));
    if (sum) {
        array c = array_in(im, 2);
        if (form.beta != 1)
            c = array_binary(im, inner, MONA_FN_MUL, c,
                             array_number(im, MONA_F32, (double)form.beta));
        y = array_binary(im, inner, MONA_FN_ADD, y, c);
    }
    return array_bind(im, 0, array_cast(im, type, y));
}

/* ---- integers ----------------------------------------------------------------------------- */

array array_centred(importer *im, uint32_t i, uint32_t zero, uint32_t axis)
{
    const array x = array_in(im, i);
    if (!import_has(im, zero))
        return x;
    array z = array_in(im, zero);
    const size_t count = array_ok(z) ? im->g->values[z.value].count : 1;
    const size_t along = array_ok(x) && axis < x.rank ? (size_t)x.dims[axis] : 1;
    if (array_ok(x) && count != 1 && count != along)
        return array_fail(im, "has %zu zero points in input %u; expected 1 or %zu", count, zero,
                          along);
    if (count != 1)
        z = array_place(im, array_view(im, z, 1, &(int64_t){(int64_t)count}), x.rank, axis);
    else if (array_ok(z))
        z.rank = 0;
    return array_binary(im, MONA_S32, MONA_FN_SUB, x, z);
}

/* Operands of a product: the first, and the second in input i, whose zero point is input `zero`. */
static bool centred_operands(importer *im, uint32_t i, uint32_t zero, array *a, array *b)
{
    *a = array_centred(im, 0, 2, requantize_rows(array_in(im, 0).rank));
    *b = array_centred(im, i, zero, requantize_columns(array_in(im, i).rank));
    return as_matrices(im, a, b);
}

bool import_array_matmul_integer(importer *im)
{
    array a, b;
    return centred_operands(im, 1, 3, &a, &b) &&
           array_bind(im, 0, array_matmul(im, MONA_S32, a, b));
}

/* round(sum * (x_scale w_scale / y_scale)) + zero point, saturated. If w has a scale for each
 * output, they lie along `axis` of rank dimensions. */
array array_requantize(importer *im, array sum, uint32_t axis)
{
    const array x_scale = array_in(im, 1), w_scale = array_in(im, 4), y_scale = array_in(im, 6);
    array by = array_binary(im, MONA_F32, MONA_FN_DIV,
                            array_binary(im, MONA_F32, MONA_FN_MUL, x_scale, w_scale), y_scale);
    array zero = array_in(im, 7);
    if (!array_ok(by) || !array_ok(zero) || !array_ok(sum))
        return array_none;
    if (im->g->values[by.value].count > 1)
        by = array_place(im, by, sum.rank, axis);
    else
        by.rank = 0;
    zero.rank = 0;
    const array scaled = array_binary(im, MONA_F32, MONA_FN_MUL, sum, by);
    const array operands[3] = {scaled, array_number(im, MONA_F32, 1), zero};
    return array_quantize(im, array_result_type(im, 0), operands);
}

bool import_array_qlinear_matmul(importer *im)
{
    array a, b;
    if (!centred_operands(im, 3, 5, &a, &b))
        return false;
    const array sum = array_matmul(im, MONA_S64, a, b);
    return array_bind(im, 0, array_requantize(im, sum, a.rank - 1));
}
