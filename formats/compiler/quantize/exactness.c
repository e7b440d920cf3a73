// SPDX-License-Identifier: Apache-2.0
/* ONNX has fp32 scales and rounds once; the engine's numbers before the last rounding are fp16
 * (model_format.h). With L the largest stored count of steps:
 *
 *   scale16            off by L |f16(r) / r - 1|, r = input scale * weight scale / output scale
 *   t as fp16          off by L 2^-12, as are both operands of a sum and the sum
 *   a residual         off by L |f16(r) / r - 1|, r = its scale / output scale
 *   weights of -128    stored as -127: each is off by an input's largest count times r
 *   an integer bias    exact; with a zero point in it, off by half of r
 *
 * Nothing is off if r is a power of two and fewer than the 11 bits of fp16 are needed: L r^-1 <=
 * 2^11. */
#include "formats/compiler/quantize/quantize.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/element.h"
#include "formats/compiler/quantize/weights.h"

#define HALF_ROUNDING 0x1p-12 /* largest relative error of rounding to fp16 */

static double largest_count(value_format f)
{
    return f.type == MONA_U8 ? 255 : 128;
}

static double scale_error(double ratio)
{
    return fabs(half_value(half_from_double(ratio)) / ratio - 1);
}

/* Errors in the outputs of an 8-bit CONV. */
typedef struct scale_errors {
    double scale, bias, clamped; /* the largest: scale is relative, the others in output steps */
    bool rounded_anew;           /* weights of some output could not keep their scales */
    bool exact;
} scale_errors;

static scale_errors errors_of(const graph *g, const graph_node *node, const value_format *formats)
{
    const value_format in = formats[node->inputs[0]], out = formats[node->output];
    scale_errors e = {.exact = true};
    for (uint32_t o = 0; o < g->values[node->output].channels; o++) {
        if (!weights_keep_scales(g, node, o, (double)in.scale, (double)out.scale)) {
            e.rounded_anew = true;
            continue;
        }
        int exponent;
        const double shifted = (double)node->conv.bias[o] + (double)out.scale * out.zero;
        const double sum_scale =
            (double)in.scale *
            weights_kept_scale(g, node, o, shifted, (double)in.scale, (double)out.scale);
        const double ratio = sum_scale / (double)out.scale, bias = shifted / sum_scale;
        e.scale = fmax(e.scale, scale_error(ratio));
        e.clamped =
            fmax(e.clamped, (double)weights_clamped(g, node, o) * largest_count(in) * ratio);
        e.bias = fmax(e.bias, fabs(bias - nearbyint(bias)) * ratio);
        e.exact = e.exact && frexp(ratio, &exponent) == 0.5 && largest_count(out) / ratio <= 2048;
    }
    return e;
}

static unsigned say(double off, const char *why, char *text, size_t size)
{
    const unsigned steps = (unsigned)fmin(fmax(ceil(off), 1), UINT_MAX);
    if (steps == 1)
        snprintf(text, size, "within one step: %s, off by up to %.2f before rounding", why, off);
    else
        snprintf(text, size, "within %u steps: %s", steps, why);
    return steps;
}

static unsigned conv_text(const graph *g, const graph_node *node, const value_format *formats,
                          char *text, size_t size)
{
    const value_format out = formats[node->output];
    const scale_errors e = errors_of(g, node, formats);
    const double max = largest_count(out);
    const bool residual = node->input_count == 2;
    const double other =
        residual ? scale_error((double)formats[node->inputs[1]].scale / (double)out.scale) : 0;
    const bool plain = !residual && node->activation.kind != MONA_ACT_PRELU && e.bias < 1e-4;
    if (e.exact && plain && !e.rounded_anew && !(e.clamped > 0)) {
        snprintf(text, size, EXACTNESS_EXACT);
        return 0;
    }
    return say(max * (e.scale + other + (residual ? 3 : 1) * HALF_ROUNDING) + e.bias + e.clamped +
                   (e.rounded_anew ? 127 * (double)weights_filter(g, node) * 0x1p-14 : 0),
               e.rounded_anew  ? "some weights are too small for scales of fp16"
               : e.clamped > 0 ? "weights of -128 become -127"
                               : "scales are fp16",
               text, size);
}

/* How far neighbouring entries of a function's table lie apart, at most. */
static int steepest(const graph *g, const graph_node *node, const value_format *formats)
{
    const bool is_signed = formats[node->output].type == MONA_S8;
    uint8_t table[256];
    int most = 0;
    table_fill(&node->after_add, table_find_source(g, node, formats), formats[node->output], table);
    for (int i = 1; i < 256; i++) {
        const int rise =
            is_signed ? (int8_t)table[i] - (int8_t)table[i - 1] : table[i] - table[i - 1];
        most = abs(rise) > most ? abs(rise) : most;
    }
    return most;
}

unsigned exactness_text(const graph *g, const graph_node *node, const value_format *formats,
                        char *text, size_t size)
{
    const value_format out = formats[node->output];
    if (!kind_has_filter(node))
        return say(largest_count(out) * 4 * HALF_ROUNDING, "the sum is fp16", text, size);
    if (node->after_add.lookup)
        return say(steepest(g, node, formats), "the function's argument is off by one step at most",
                   text, size);
    if (table_needed(node, out))
        return say(1 + steepest(g, node, formats) / 2.0,
                   "the function's argument has 8 bits of its own", text, size);
    if (!format_is_half(formats[node->inputs[0]]))
        return conv_text(g, node, formats, text, size);
    snprintf(text, size, "within one step: it reads fp16 numbers");
    return 1;
}
