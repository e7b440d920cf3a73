// SPDX-License-Identifier: Apache-2.0
/* Elementwise functions of one, two or three arrays. */
#include "formats/compiler/import/array.h"
#include "formats/reference/operators.h"

#include <math.h>
#include <string.h>

/* ---- of one ------------------------------------------------------------------------------- */

bool import_array_unary(importer *im)
{
    static const mona_array_function functions[] = {
#define ROW(op_type, function, array, ...) MONA_FN_##array,
#include "formats/functions.inc"
#undef ROW
    };
    const op_unary_form form = op_unary_read(im->node);
    const array x = array_in(im, 0);
    const bool on_ints = form.on_ints && array_ok(x) && !array_is_float(x.type);
    array_function f = {.code = form.approximate ? MONA_FN_GELU_TANH : functions[form.row],
                        .arithmetic = on_ints ? MONA_INT : MONA_FLOAT,
                        .parameter = {form.parameters[0], form.parameters[1]}};
    if (f.code == MONA_FN_ELU)
        f.parameter[2] = strcmp(im->node->op_type, "Celu") ? 1 : 1 / f.parameter[0];
    return array_bind(im, 0, array_map(im, array_result_type(im, 0), &f, 1, &x));
}

/* ---- of two ------------------------------------------------------------------------------- */

static mona_array_function binary_function(const importer *im)
{
    const mona_array_function f = (mona_array_function)import_code(im);
    return f == MONA_FN_MOD && onnx_int(im->node, "fmod", 0) ? MONA_FN_FMOD : f;
}

/* Up to operator set 6, the second operand could be aligned with an axis of the first. */
static array place_second(importer *im, array first, array second)
{
    const int64_t axis = im->node->broadcast_axis;
    if (!im->node->broadcasts || axis < 0 || !array_ok(first) || !array_ok(second) ||
        im->g->values[second.value].count == 1)
        return second;
    return axis > first.rank || axis + second.rank > first.rank
               ? array_fail(im, "places %u dimensions from axis %d of %u on", second.rank,
                            (int)axis, first.rank)
               : array_place(im, second, first.rank, (uint32_t)axis);
}

static bool of_two(importer *im, bool swapped)
{
    const array x = array_in(im, 0), y = place_second(im, x, array_in(im, 1));
    return array_bind(im, 0,
                      array_binary(im, array_result_type(im, 0), binary_function(im),
                                   swapped ? y : x, swapped ? x : y));
}

bool import_array_binary(importer *im)
{
    return of_two(im, false);
}

/* x > y is y < x. */
bool import_array_swapped(importer *im)
{
    return of_two(im, true);
}

/* Combines any number of arrays, two at a time. */
static array combine_all(importer *im)
{
    const mona_type type = array_result_type(im, 0), inner = type == MONA_F16 ? MONA_F32 : type;
    array joined = array_in(im, 0);
    for (uint32_t i = 1; i < im->node->input_count; i++)
        joined = array_binary(im, inner, binary_function(im), joined, array_in(im, i));
    return joined;
}

bool import_array_variadic(importer *im)
{
    return array_bind(im, 0, array_cast(im, array_result_type(im, 0), combine_all(im)));
}

bool import_array_mean(importer *im)
{
    const array sum = combine_all(im);
    return array_bind(im, 0,
                      array_binary(im, array_result_type(im, 0), MONA_FN_DIV, sum,
                                   array_number(im, MONA_F32, im->node->input_count)));
}

/* ---- of three ----------------------------------------------------------------------------- */

bool import_array_where(importer *im)
{
    const array operands[3] = {array_in(im, 0), array_in(im, 1), array_in(im, 2)};
    return array_bind(im, 0, array_apply(im, array_result_type(im, 0), MONA_FN_WHERE, 3, operands));
}

/* If the lower bound is above the upper one, the upper one counts. */
bool import_array_clip(importer *im)
{
    const mona_type type = array_result_type(im, 0);
    array x = array_in(im, 0);
    if (import_has(im, 1))
        x = array_binary(im, type, MONA_FN_MAX, x, array_in(im, 1));
    if (import_has(im, 2))
        x = array_binary(im, type, MONA_FN_MIN, x, array_in(im, 2));
    return array_bind(im, 0, x);
}

/* ---- special numbers ------------------------------------------------------------------------ */

bool import_array_is_nan(importer *im)
{
    const array x = array_in(im, 0);
    return array_bind(
        im, 0,
        array_unary(im, MONA_U8, MONA_FN_NOT, array_binary(im, MONA_U8, MONA_FN_EQUAL, x, x)));
}

bool import_array_is_inf(importer *im)
{
    const bool negative = onnx_int(im->node, "detect_negative", 1),
               positive = onnx_int(im->node, "detect_positive", 1);
    array x = array_in(im, 0);
    if (negative && positive)
        x = array_unary(im, MONA_F32, MONA_FN_ABS, x);
    const array found =
        array_binary(im, MONA_U8, MONA_FN_EQUAL, x,
                     array_number(im, MONA_F32, positive ? (double)INFINITY : -(double)INFINITY));
    const array any = array_binary(im, MONA_U8, MONA_FN_MUL, found,
                                   array_number(im, MONA_U8, negative || positive));
    return array_bind(im, 0, any);
}

bool import_array_shrink(importer *im)
{
    const mona_type type = array_result_type(im, 0);
    const double limit = (double)onnx_float(im->node, "lambd", 0.5f);
    const array x = array_in(im, 0), zero = array_number(im, MONA_F32, 0),
                bias = array_number(im, MONA_F32, (double)onnx_float(im->node, "bias", 0));
    const array below =
        array_binary(im, MONA_U8, MONA_FN_LESS, x, array_number(im, MONA_F32, -limit));
    const array above =
        array_binary(im, MONA_U8, MONA_FN_LESS, array_number(im, MONA_F32, limit), x);
    const array high[3] = {above, array_binary(im, MONA_F32, MONA_FN_SUB, x, bias), zero};
    const array all[3] = {below, array_binary(im, MONA_F32, MONA_FN_ADD, x, bias),
                          array_apply(im, MONA_F32, MONA_FN_WHERE, 3, high)};
    return array_bind(im, 0, array_apply(im, type, MONA_FN_WHERE, 3, all));
}

/* ---- conversions -------------------------------------------------------------------------- */

/* Rounds to the nearest number of a float type of 16 bits or fewer, stored as F32. */
static array array_narrow(importer *im, element_type to, bool saturate, array x)
{
    const element_format f = element_format_of(to);
    const char *mode = onnx_string(im->node, "round_mode", "up");
    const bool power = to == ELEMENT_FLOAT8E8M0;
    const array_function function = {
        .code = !power || !strcmp(mode, "nearest") ? MONA_FN_NARROW
                : strcmp(mode, "down")             ? MONA_FN_NARROW_UP
                                                   : MONA_FN_NARROW_DOWN,
        .parameter = {(float)f.mantissa_bits, (float)f.min_exponent, (float)f.max,
                      (float)(saturate ? f.max : f.beyond)},
    };
    if (to == ELEMENT_FLOAT4E2M1) { /* it has no NaN */
        const array same = array_binary(im, MONA_U8, MONA_FN_EQUAL, x, x);
        x = array_apply(im, MONA_F32, MONA_FN_WHERE, 3,
                        (const array[3]){same, x, array_number(im, MONA_F32, 0)});
    }
    if (power) /* it has neither sign nor zero */
        x = array_unary(im, MONA_F32, MONA_FN_ABS, array_cast(im, MONA_F32, x));
    x = array_map(im, MONA_F32, &function, 1, &x);
    return power ? array_binary(im, MONA_F32, MONA_FN_MAX, x, array_number(im, MONA_F32, 0x1p-127))
                 : x;
}

/* Keeps the low 2 or 4 bits, in a byte. */
static array few_bits(importer *im, element_type to, array x)
{
    const mona_type type = array_type_of(to);
    const array above = array_number(im, MONA_S64, 64 - element_bits(to));
    x = array_binary(im, MONA_S64, MONA_FN_SHIFT_LEFT, array_cast(im, MONA_S64, x), above);
    if (type == MONA_U8)
        x = array_cast(im, MONA_U64, x);
    return array_binary(im, type, MONA_FN_SHIFT_RIGHT, x, above);
}

array array_to_element(importer *im, element_type to, bool saturate, array x)
{
    const mona_type type = array_type_of(to);
    if (type == MONA_TYPE_COUNT)
        return array_fail(im, "makes %s, which the engine does not have", element_name(to));
    if (to == ELEMENT_BOOL)
        return array_unary(im, MONA_U8, MONA_FN_NOT, array_unary(im, MONA_U8, MONA_FN_NOT, x));
    if (element_bits(to) < 8 && !element_is_float(to))
        return few_bits(im, to, x);
    if (element_is_float(to) && element_bits(to) <= 16 && to != ELEMENT_FLOAT16)
        return array_narrow(im, to, saturate && to != ELEMENT_BFLOAT16, x);
    return array_cast(im, type, x);
}

bool import_array_cast(importer *im)
{
    const tensor *t = array_result(im, 0);
    return t && array_bind(im, 0,
                           array_to_element(im, t->type, onnx_int(im->node, "saturate", 1),
                                            array_in(im, 0)));
}
