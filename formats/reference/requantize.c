// SPDX-License-Identifier: Apache-2.0
#include "formats/reference/requantize.h"

#include <math.h>

const float *requantize_centred(op_call *c, uint32_t i, uint32_t zero)
{
    const tensor *t = op_in(c, i), *z = op_in(c, zero);
    const size_t rows = t->rank ? (size_t)t->dims[0] : 1;
    if (z && z->count != 1 && z->count != rows) {
        op_fail(c, "has %zu zero points in input %u; expected 1 or %zu", z->count, zero, rows);
        return NULL;
    }
    float *data = op_scratch(c, t->count, sizeof *data);
    const size_t each = rows ? t->count / rows : 0;
    for (size_t k = 0; data && k < t->count; k++) {
        const size_t at = z && z->count != 1 ? k / each : 0;
        data[k] = (float)(tensor_number(t, k) - (z ? tensor_number(z, at) : 0));
    }
    return data;
}

bool requantize_read(op_call *c, size_t channels, requantize *r)
{
    *r = (requantize){op_in(c, 1), op_in(c, 4), op_in(c, 6), op_in(c, 7), false};
    if (!r->x_scale || !r->w_scale || !r->y_scale || !r->y_zero)
        return op_fail(c, "leaves out a scale or a zero point");
    r->per_channel = r->w_scale->count != 1;
    if (r->x_scale->count != 1 || r->y_scale->count != 1 || r->y_zero->count != 1 ||
        (r->per_channel && r->w_scale->count != channels))
        return op_fail(c, "has a scale or zero point that is not one number, or one a channel");
    return true;
}

double requantize_saturate(element_type type, double value)
{
    const double low = (double)element_lowest(type), high = (double)element_highest(type);
    return isnan(value) ? 0 : value < low ? low : value > high ? high : value;
}

void requantize_store(const requantize *r, tensor *out, size_t i, double sum, size_t channel)
{
    const double scale = tensor_number(r->x_scale, 0) *
                         tensor_number(r->w_scale, r->per_channel ? channel : 0) /
                         tensor_number(r->y_scale, 0);
    const double q = nearbyint(sum * scale) + tensor_number(r->y_zero, 0);
    tensor_set_number(out, i, requantize_saturate(out->type, q));
}
