// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/quantize/quantize.h"

#include <math.h>
#include <string.h>

#include "ops/arrays/real.h"

enum { ENTRIES = 256, FAR = 64 /* where functions are constant, or x */ };

double table_function(const graph_activation *f, double x)
{
    switch (f->kind) {
    case MONA_ACT_SIGMOID:
        return mona_real_sigmoid(x);
    case MONA_ACT_SILU:
        return x * mona_real_sigmoid(x);
    case MONA_ACT_HARD_SWISH:
        return x * fmin(fmax(x + 3, 0), 6) / 6;
    case MONA_ACT_TANH:
        return mona_real_tanh(x);
    case MONA_ACT_GELU:
        return mona_real_gelu(x);
    case MONA_ACT_GELU_TANH:
        return mona_real_gelu_tanh(x);
    case MONA_ACT_MISH:
        return mona_real_mish(x);
    case MONA_ACT_ELU:
        return x > 0 ? x : (double)f->alpha * mona_real_expm1(x);
    case MONA_ACT_SOFTPLUS:
        return mona_real_softplus(x);
    default:
        return x;
    }
}

bool table_needed(const graph_node *node, value_format result)
{
    return mona_is_function(node->after_add.kind) && result.type != MONA_F16;
}

static double highest(value_format result)
{
    return result.type == MONA_U8 ? 255 : 127;
}

/* In the steps of a format, cut off where it ends. */
static double cut_off(value_format format, double steps)
{
    const double low = format.type == MONA_U8 ? 0 : -128;
    return fmax(low, fmin(steps, highest(format)));
}

double table_stored(value_format format, double x)
{
    const float steps = (float)(x / (double)format.scale); /* as QuantizeLinear divides */
    return cut_off(format, nearbyint((double)steps) + format.zero);
}

/* The function's result in these steps, before it is rounded. */
static double stored_at(const graph_activation *f, value_format result, double x)
{
    return cut_off(result, table_function(f, x) / (double)result.scale + result.zero);
}

/* Moves an end of the range to where the stored result begins to differ from its value far out on
 * that side by a quarter of a step. */
static double trimmed(const graph_activation *f, value_format result, double end, double far)
{
    const double limit = stored_at(f, result, far), direction = far < 0 ? 1 : -1;
    if (direction * (far - end) > 0 && fabs(stored_at(f, result, end) - limit) < 0.25)
        end = far; /* it does not change between them either */
    for (double x = far; direction * (end - x) > 0 || x == end; x += direction / 16)
        if (fabs(stored_at(f, result, x) - limit) >= 0.25)
            return end;
    double x = end;
    while (fabs(stored_at(f, result, x) - limit) < 0.25 && direction * (-far - x) > 0)
        x += direction / 16;
    return x - direction / 16; /* the last one that does not differ */
}

/* The largest argument of a node's function, by absolute value, as far as formats tell. */
static double largest_argument(const graph *g, const graph_node *node, const value_format *formats)
{
    double largest = 0;
    for (uint32_t i = 0; i < node->input_count; i++)
        if (format_is_half(formats[node->inputs[i]]))
            return INFINITY;
    if (!kind_has_filter(node) || node->activation.kind == MONA_ACT_PRELU)
        return INFINITY;
    if (node->input_count == 2)
        largest = 255 * (double)formats[node->inputs[1]].scale;
    return largest + quantize_largest_sum(g, node, formats[node->inputs[0]]);
}

table_source table_find_source(const graph *g, const graph_node *node, const value_format *formats)
{
    const graph_lookup *lookup = node->after_add.lookup;
    if (lookup)
        return (table_source){lookup->scale, lookup->zero};
    const value_format result = formats[node->output];
    const graph_value *before = &g->values[node->before];
    const bool seen = before->low <= before->high;
    /* Quantised models are not calibrated. Functions that grow follow x, from at most 1 below. */
    const double most = (double)result.scale * (highest(result) - result.zero) + 1;
    const double largest = seen ? 0 : largest_argument(g, node, formats);
    double low = seen ? fmin((double)before->low, 0) : fmax(-largest, -FAR);
    double high = seen ? fmax((double)before->high, 0) : fmin(largest, fmax(most, FAR));
    low = fmin(trimmed(&node->after_add, result, low, -FAR), 0);
    high = fmax(trimmed(&node->after_add, result, high, FAR), 0);
    const double span = high - low; /* 0: always zero, as far as calibration saw */
    const double scale = (span > 1e-18 ? span : 1) / (ENTRIES - 1);
    return (table_source){(float)scale, (int)nearbyint(-low / scale)};
}

void table_fill(const graph_activation *function, table_source from, value_format result,
                uint8_t table[ENTRIES])
{
    if (function->lookup)
        memcpy(table, function->lookup->entries, ENTRIES);
    for (int q = 0; q < ENTRIES && !function->lookup; q++)
        table[q] = (uint8_t)(int)table_stored(
            result, table_function(function, (double)from.scale * (q - from.zero)));
}
