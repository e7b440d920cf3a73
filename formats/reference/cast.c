// SPDX-License-Identifier: Apache-2.0
/* Conversion between element types. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/reference/operators.h"

typedef struct cast_rule {
    element_overflow overflow;
    const char *round_mode; /* for E8M0 */
} cast_rule;

/* Rounds to a power of two: up, down or to nearest (halves up, as storing does). */
static double to_power(double value, const char *round_mode)
{
    if (value == 0 || !isfinite(value) || !strcmp(round_mode, "nearest"))
        return value;
    const double power = ldexp(1, ilogb(value)), magnitude = fabs(value);
    return !strcmp(round_mode, "down") || magnitude == power ? power : 2 * power;
}

static void cast_number(const cast_rule *rule, tensor *out, size_t i, double value)
{
    const element_overflow overflow =
        element_size(out->type) > 1 ? ELEMENT_OVERFLOWS : rule->overflow;
    if (out->type == ELEMENT_FLOAT8E8M0)
        value = to_power(value, rule->round_mode);
    if (element_is_float(out->type))
        element_store_float(out->type, tensor_at(out, i), value, overflow);
    else
        tensor_set_number(out, i, value);
}

bool op_cast(op_call *c)
{
    const tensor *x = op_in(c, 0), *like = op_in(c, 1); /* of CastLike */
    const int64_t type = like ? like->type : onnx_int(c->node, "to", 0);
    const cast_rule rule = {
        onnx_int(c->node, "saturate", 1) ? ELEMENT_SATURATES : ELEMENT_OVERFLOWS,
        onnx_string(c->node, "round_mode", "up"),
    };
    if (!element_size(type))
        return op_fail(c, "asks for type %s (%" PRId64 "), which is not supported",
                       element_name(type), type);
    if (!op_result(c, 0, (element_type)type, x->rank, x->dims))
        return false;
    for (size_t i = 0; i < x->count; i++)
        if (element_is_float(x->type) || element_is_float(c->out->type))
            cast_number(&rule, c->out, i, tensor_number(x, i));
        else
            tensor_set_int(c->out, i, tensor_int(x, i));
    return true;
}
