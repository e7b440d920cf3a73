// SPDX-License-Identifier: Apache-2.0
/* Conversion between numbers and quantised arrays. */
#include "formats/compiler/import/array.h"

#include <stdlib.h>

#include "formats/reference/quantize.h"

/* A view that broadcasts to x of one number for all, one for each index of an axis, or one for each
 * block along it. */
static array spread_numbers(const array_maker *m, const op_scales *s, array x, array numbers)
{
    if (!array_ok(numbers) || !array_ok(x))
        return array_none;
    const size_t count = m->im->g->values[numbers.value].count;
    if (count == 1) {
        numbers.rank = 0;
        return numbers;
    }
    const int64_t axis = onnx_int(m->node, "axis", 1), dim = (int64_t)count;
    const uint32_t at = (uint32_t)(axis < 0 ? axis + x.rank : axis);
    if (!s->blocked)
        return array_place(m, array_view(m, numbers, 1, &dim), x.rank, at);
    const size_t elements = s->dims.before * s->dims.along * s->dims.after;
    uint32_t *places = malloc(elements * sizeof *places);
    if (!places)
        return array_fail(m, "needs more memory than there is");
    for (size_t i = 0; i < elements; i++)
        places[i] = (uint32_t)op_scale_at(s, i) + 1;
    const array out = array_pick(m, numbers, x.rank, x.dims, places, 0);
    free(places);
    return out;
}

/* Reads x, scale and zero point. Fails if an input is missing or does not fit. */
static bool read_operands(const array_maker *m, array operands[3])
{
    array_call c;
    op_scales s;
    operands[0] = array_in(m, 0);
    if (!array_ok(operands[0]) || !array_open_call(m, &c) || !op_scales_read(&c.call, &s))
        return false;
    operands[1] = spread_numbers(m, &s, operands[0], array_in(m, 1));
    operands[2] = import_has(m->node, 2) ? spread_numbers(m, &s, operands[0], array_in(m, 2))
                                         : array_number(m, MONA_F32, 0);
    return array_ok(operands[1]) && array_ok(operands[2]);
}

/* Numbers of 2 and 4 bits are stored in bytes, which would saturate later. */
static array saturate_few(const array_maker *m, element_type to, array q)
{
    q = array_binary(m, MONA_F32, MONA_FN_MAX, q,
                     array_number(m, MONA_F32, (double)element_lowest(to)));
    q = array_binary(m, MONA_F32, MONA_FN_MIN, q,
                     array_number(m, MONA_F32, (double)element_highest(to)));
    return array_cast(m, array_type_of(to), q);
}

bool import_array_quantize(importer *im, const onnx_node *node)
{
    const array_maker m = {im, node};
    const tensor *t = array_result(&m, 0);
    array operands[3];
    if (!t || !read_operands(&m, operands))
        return false;
    if (element_is_float(t->type)) {
        const array shifted = array_binary(
            &m, MONA_F32, MONA_FN_ADD,
            array_binary(&m, MONA_F32, MONA_FN_DIV, operands[0], operands[1]), operands[2]);
        return array_bind(&m, 0,
                          array_to_element(&m, t->type, onnx_int(node, "saturate", 1), shifted));
    }
    const bool few = element_bits(t->type) < 8;
    const array_function quantize = {
        .code = MONA_FN_QUANTIZE, .arithmetic = MONA_FLOAT, .conversion = MONA_SATURATE};
    const array q = array_map(&m, few ? MONA_F32 : array_type_of(t->type), &quantize, 3, operands);
    return array_bind(&m, 0, few ? saturate_few(&m, t->type, q) : q);
}

bool import_array_dequantize(importer *im, const onnx_node *node)
{
    const array_maker m = {im, node};
    const array_function dequantize = {.code = MONA_FN_DEQUANTIZE, .arithmetic = MONA_FLOAT};
    array operands[3];
    return read_operands(&m, operands) &&
           array_bind(&m, 0, array_map(&m, array_result_type(&m, 0), &dequantize, 3, operands));
}

/* Quantises to uint8 by the range that spans the numbers and zero. */
bool import_array_dynamic_quantize(importer *im, const onnx_node *node)
{
    const array_maker m = {im, node};
    const array x = array_in(&m, 0), none = array_number(&m, MONA_F32, 0);
    if (!array_ok(x))
        return false;
    const uint32_t all = (1u << x.rank) - 1;
    const array_function quantize = {
        .code = MONA_FN_QUANTIZE, .arithmetic = MONA_FLOAT, .conversion = MONA_SATURATE};
    array low = array_binary(&m, MONA_F32, MONA_FN_MIN,
                             array_reduce(&m, MONA_F32, MONA_REDUCE_MIN, x, all), none);
    const array high = array_binary(&m, MONA_F32, MONA_FN_MAX,
                                    array_reduce(&m, MONA_F32, MONA_REDUCE_MAX, x, all), none);
    const array span = array_binary(&m, MONA_F32, MONA_FN_SUB, high, low);
    const array scale =
        array_binary(&m, MONA_F32, MONA_FN_DIV, span, array_number(&m, MONA_F32, 255));
    low = array_unary(&m, MONA_F32, MONA_FN_NEG, low);
    const array zero = array_map(&m, MONA_U8, &quantize, 3, (const array[3]){low, scale, none});
    return array_bind(&m, 0,
                      array_map(&m, MONA_U8, &quantize, 3, (const array[3]){x, scale, zero})) &&
           (!array_wants(&m, 1) || array_bind(&m, 1, scale)) &&
           (!array_wants(&m, 2) || array_bind(&m, 2, zero));
}
