// SPDX-License-Identifier: Apache-2.0
/* Conversion between numbers and quantised arrays. */
#include "formats/compiler/import/array.h"

#include "formats/reference/operators.h"

/* A view that broadcasts to x of one number for all, one for each index of an axis, or one for each
 * block along it. */
static array spread_numbers(importer *im, const op_scales *s, array x, array numbers)
{
    if (!array_ok(numbers) || !array_ok(x))
        return array_none;
    const size_t count = im->g->values[numbers.value].count;
    if (count == 1) {
        numbers.rank = 0;
        return numbers;
    }
    const int64_t dim = (int64_t)count;
    if (!s->blocked)
        return array_place(im, array_view(im, numbers, 1, &dim), x.rank, array_axis(im, x.rank, 1));
    const size_t elements = s->dims.before * s->dims.along * s->dims.after;
    uint32_t *places = array_places(im, elements);
    for (size_t i = 0; places && i < elements; i++)
        places[i] = (uint32_t)op_scale_at(s, i) + 1;
    return array_pick(im, numbers, x.rank, x.dims, places, 0);
}

/* Reads x, scale and zero point. Fails if an input is missing or does not fit. */
static bool read_operands(importer *im, array operands[3])
{
    op_scales s;
    operands[0] = array_in(im, 0);
    if (!array_ok(operands[0]) || !op_scales_read(&im->call, &s))
        return false;
    operands[1] = spread_numbers(im, &s, operands[0], array_in(im, 1));
    operands[2] = import_has(im, 2) ? spread_numbers(im, &s, operands[0], array_in(im, 2))
                                    : array_number(im, MONA_F32, 0);
    return array_ok(operands[1]) && array_ok(operands[2]);
}

/* Numbers of 2 and 4 bits are stored in bytes, which would saturate later. */
static array saturate_few(importer *im, element_type to, array q)
{
    q = array_binary(im, MONA_F32, MONA_FN_MAX, q,
                     array_number(im, MONA_F32, (double)element_lowest(to)));
    q = array_binary(im, MONA_F32, MONA_FN_MIN, q,
                     array_number(im, MONA_F32, (double)element_highest(to)));
    return array_cast(im, array_type_of(to), q);
}

bool import_array_quantize(importer *im)
{
    const tensor *t = array_result(im, 0);
    array operands[3];
    if (!t || !read_operands(im, operands))
        return false;
    if (element_is_float(t->type)) {
        const array shifted = array_binary(
            im, MONA_F32, MONA_FN_ADD,
            array_binary(im, MONA_F32, MONA_FN_DIV, operands[0], operands[1]), operands[2]);
        return array_bind(
            im, 0, array_to_element(im, t->type, onnx_int(im->node, "saturate", 1), shifted));
    }
    const bool few = element_bits(t->type) < 8;
    const array q = array_quantize(im, few ? MONA_F32 : array_type_of(t->type), operands);
    return array_bind(im, 0, few ? saturate_few(im, t->type, q) : q);
}

bool import_array_dequantize(importer *im)
{
    array operands[3];
    return read_operands(im, operands) &&
           array_bind(im, 0,
                      array_apply(im, array_result_type(im, 0), MONA_FN_DEQUANTIZE, 3, operands));
}

/* Quantises to uint8 by the range that spans the numbers and zero. */
bool import_array_dynamic_quantize(importer *im)
{
    const array x = array_in(im, 0), none = array_number(im, MONA_F32, 0);
    if (!array_ok(x))
        return false;
    const uint32_t all = (1u << x.rank) - 1;
    array low = array_binary(im, MONA_F32, MONA_FN_MIN,
                             array_reduce(im, MONA_F32, MONA_REDUCE_MIN, x, all), none);
    const array high = array_binary(im, MONA_F32, MONA_FN_MAX,
                                    array_reduce(im, MONA_F32, MONA_REDUCE_MAX, x, all), none);
    const array span = array_binary(im, MONA_F32, MONA_FN_SUB, high, low);
    const array scale =
        array_binary(im, MONA_F32, MONA_FN_DIV, span, array_number(im, MONA_F32, 255));
    low = array_unary(im, MONA_F32, MONA_FN_NEG, low);
    const array zero = array_quantize(im, MONA_U8, (const array[3]){low, scale, none});
    return array_bind(im, 0, array_quantize(im, MONA_U8, (const array[3]){x, scale, zero})) &&
           (!array_wants(im, 1) || array_bind(im, 1, scale)) &&
           (!array_wants(im, 2) || array_bind(im, 2, zero));
}
