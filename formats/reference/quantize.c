// SPDX-License-Identifier: Apache-2.0
/* Quantisation: q = saturate(round(x / scale) + zero point); and dequantisation. */
#include <inttypes.h>
#include <math.h>

#include "formats/reference/operators.h"

bool op_scales_read(op_call *c, op_scales *s)
{
    const tensor *x = op_in(c, 0);
    const int64_t axis = onnx_int(c->node, "axis", 1);
    const int64_t block = onnx_int(c->node, "block_size", 0);
    uint32_t at = 0;
    *s = (op_scales){.scale = op_in(c, 1), .zero = op_in(c, 2)};
    s->dims = (tensor_dims){1, 1, x->count};
    s->blocks = s->block = 1;
    if (s->zero && s->zero->count != s->scale->count && s->zero->count != 1)
        return op_fail(c, "has %zu scales and %zu zero points", s->scale->count, s->zero->count);
    if (s->scale->count == 1 && !block)
        return true;
    if (!op_axis(c, axis, x->rank, &at))
        return false;
    s->dims = tensor_split(x, at);
    s->blocks = s->dims.along;
    if (block) {
        s->block = block > 0 && (uint64_t)block <= s->dims.along ? (size_t)block : 1;
        s->blocks = (s->dims.along + s->block - 1) / s->block;
    }
    s->blocked = s->scale->count != s->dims.along || s->block > 1;
    const size_t expected = block ? s->dims.before * s->blocks * s->dims.after : s->blocks;
    return s->scale->count == expected ||
           op_fail(c, "has %zu scales; expected %zu", s->scale->count, expected);
}

size_t op_scale_at(const op_scales *s, size_t i)
{
    if (s->scale->count == 1)
        return 0;
    const size_t along = i / s->dims.after % s->dims.along;
    if (!s->blocked)
        return along;
    const size_t before = i / s->dims.after / s->dims.along;
    return (before * s->blocks + along / s->block) * s->dims.after + i % s->dims.after;
}

static double zero_at(const op_scales *s, size_t at)
{
    return s->zero ? tensor_number(s->zero, s->zero->count == 1 ? 0 : at) : 0;
}

/* Saturates a number to the range of an integer type. */
static double requantize_saturate(element_type type, double value)
{
    const double low = (double)element_lowest(type), high = (double)element_highest(type);
    return isnan(value) ? 0 : value < low ? low : value > high ? high : value;
}

bool op_quantize(op_call *c)
{
    const tensor *x = op_in(c, 0);
    const int64_t wanted = onnx_int(c->node, "output_dtype", 0);
    const bool saturate = onnx_int(c->node, "saturate", 1);
    op_scales s;
    if (!op_scales_read(c, &s))
        return false;
    const int64_t type = s.zero ? s.zero->type : wanted ? wanted : ELEMENT_UINT8;
    if (!element_size(type))
        return op_fail(c, "asks for type %" PRId64 ", which is not supported", type);
    if (!op_result(c, 0, (element_type)type, x->rank, x->dims))
        return false;
    for (size_t i = 0; i < x->count; i++) {
        const size_t at = op_scale_at(&s, i);
        const float q = (float)(tensor_number(x, i) / tensor_number(s.scale, at));
        if (element_is_float(c->out->type))
            element_store_float(c->out->type, tensor_at(c->out, i), (double)q + zero_at(&s, at),
                                saturate ? ELEMENT_SATURATES : ELEMENT_OVERFLOWS);
        else
            tensor_set_number(
                c->out, i,
                requantize_saturate(c->out->type, nearbyint((double)q) + zero_at(&s, at)));
    }
    return true;
}

bool op_dequantize(op_call *c)
{
    const tensor *x = op_in(c, 0);
    const int64_t wanted = onnx_int(c->node, "output_dtype", 0);
    op_scales s;
    if (!op_scales_read(c, &s))
        return false;
    const int64_t type = wanted ? wanted : s.scale->type;
    if (type >= ELEMENT_TYPE_COUNT || type < 0 || !element_is_float((element_type)type))
        return op_fail(c, "asks for type %s, which is not supported", element_name(type));
    if (!op_result(c, 0, (element_type)type, x->rank, x->dims))
        return false;
    for (size_t i = 0; i < x->count; i++) {
        const size_t at = op_scale_at(&s, i);
        tensor_set_number(c->out, i,
                          (tensor_number(x, i) - zero_at(&s, at)) * tensor_number(s.scale, at));
    }
    return true;
}

/* Quantises to uint8 by the range that spans the numbers and zero. */
bool op_dynamic_quantize(op_call *c)
{
    const tensor *x = op_in(c, 0);
    float low = 0, high = 0;
    if (!op_result(c, 1, ELEMENT_FLOAT32, 0, NULL) || !op_result(c, 2, ELEMENT_UINT8, 0, NULL) ||
        !op_result(c, 0, ELEMENT_UINT8, x->rank, x->dims))
        return false;
    for (size_t i = 0; i < x->count; i++) {
        low = fminf(low, (float)tensor_number(x, i));
        high = fmaxf(high, (float)tensor_number(x, i));
    }
    const float scale = (high - low) / 255;
    const double zero = nearbyint(requantize_saturate(ELEMENT_UINT8, (double)(-low / scale)));
    for (size_t i = 0; i < x->count; i++) {
        const double q = (double)nearbyintf((float)tensor_number(x, i) / scale) + zero;
        tensor_set_number(c->out, i, requantize_saturate(ELEMENT_UINT8, q));
    }
    if (op_wants(c, 1))
        tensor_set_number(&c->out[1], 0, (double)scale);
    if (op_wants(c, 2))
        tensor_set_number(&c->out[2], 0, zero);
    return true;
}

/* ---- products and convolutions ------------------------------------------------------------- */

const float *requantize_centred(op_call *c, uint32_t i, uint32_t zero, uint32_t axis)
{
    const tensor *t = op_in(c, i), *z = op_in(c, zero);
    const size_t along = axis < t->rank ? (size_t)t->dims[axis] : 1;
    if (z && z->count != 1 && z->count != along) {
        op_fail(c, "has %zu zero points in input %u; expected 1 or %zu", z->count, zero, along);
        return NULL;
    }
    float *data = op_scratch(c, t->count, sizeof *data);
    size_t each = 1;
    for (uint32_t k = axis + 1; k < t->rank; k++)
        each *= (size_t)t->dims[k];
    for (size_t k = 0; data && k < t->count; k++) {
        const size_t at = z && z->count != 1 ? k / each % along : 0;
        data[k] = (float)(tensor_number(t, k) - (z ? tensor_number(z, at) : 0));
    }
    return data;
}

uint32_t requantize_rows(uint32_t rank)
{
    return rank > 1 ? rank - 2 : rank;
}

uint32_t requantize_columns(uint32_t rank)
{
    return rank > 1 ? rank - 1 : rank;
}

bool requantize_read(op_call *c, size_t channels, requantize *r)
{
    *r = (requantize){.x_scale = op_in(c, 1),
                      .w_scale = op_in(c, 4),
                      .y_scale = op_in(c, 6),
                      .y_zero = op_in(c, 7),
                      .channels = channels,
                      .samples = 1,
                      .out = c->out};
    if (!r->x_scale || !r->w_scale || !r->y_scale || !r->y_zero)
        return op_fail(c, "leaves out a scale or a zero point");
    r->per_channel = r->w_scale->count != 1;
    if (r->x_scale->count != 1 || r->y_scale->count != 1 || r->y_zero->count != 1 ||
        (r->per_channel && r->w_scale->count != channels))
        return op_fail(c, "has a scale or zero point that is not one number, or one a channel");
    return true;
}

void requantize_store(void *to, size_t index, const double *sums, size_t count)
{
    const requantize *r = to;
    for (size_t i = 0; i < count; i++) {
        const size_t channel = (index + i) / r->samples % r->channels;
        const double scale = tensor_number(r->x_scale, 0) *
                             tensor_number(r->w_scale, r->per_channel ? channel : 0) /
                             tensor_number(r->y_scale, 0);
        const double bias = r->bias ? (double)tensor_int(r->bias, channel) : 0;
        const double q = nearbyint((sums[i] + bias) * scale) + tensor_number(r->y_zero, 0);
        tensor_set_number(r->out, index + i, requantize_saturate(r->out->type, q));
    }
}
