// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/quantize/quantize.h"

#include <math.h>

#include "formats/element.h"
#include "formats/compiler/quantize/observation.h"
#include "formats/compiler/quantize/weights.h"

bool format_is_half(value_format f)
{
    return f.type == MONA_F16;
}

static double range_of(const compiler_options *o)
{
    return o->range > 0 ? (double)o->range : 1;
}

uint32_t quantize_maximum(const compiler_options *o, mona_type type)
{
    switch (type) {
    case MONA_U8:
        return 255;
    case MONA_S8:
        return 127;
    case MONA_U16:
        return (1u << (o->bits ? o->bits : 10)) - 1;
    default:
        break;
    }
    return 0;
}

/* The format of planes of this type, whose largest sample stands for the range. */
static value_format plane_format(const compiler_options *o, mona_type type, double range)
{
    const uint32_t maximum = quantize_maximum(o, type);
    return (value_format){type, maximum ? (float)(range / maximum) : 1, 0};
}

value_format quantize_input(const graph *g, const compiler_options *o, uint32_t value)
{
    const value_format prequantised = g->values[value].prequantised;
    if (prequantised.scale > 0)
        return prequantised;
    return plane_format(o, o->input_type,
                        o->input_range > 0 ? (double)o->input_range : range_of(o));
}

/* ---- where values come from --------------------------------------------------------------- */

/* Index of the node that rearranges another value into this one, or UINT32_MAX. */
static uint32_t rearranged_by(const graph *g, uint32_t value)
{
    const uint32_t p = graph_producer(g, value);
    if (p == UINT32_MAX)
        return p;
    return kind_of(&g->nodes[p])->format == FORMAT_SOURCE ? p : UINT32_MAX;
}

/* The value from which it is rearranged, through all such nodes. */
static uint32_t source_of(const graph *g, uint32_t value)
{
    for (uint32_t p; (p = rearranged_by(g, value)) != UINT32_MAX;)
        value = g->nodes[p].inputs[0];
    return value;
}

uint32_t quantize_root(const graph *g, uint32_t value)
{
    value = source_of(g, value);
    while (g->values[value].joined != value)
        value = source_of(g, g->values[value].joined);
    return value;
}

/* True for input planes, loaded as they are or packed. */
static bool is_loaded(const graph *g, uint32_t root)
{
    const uint32_t p = graph_producer(g, root);
    return p == UINT32_MAX || graph_packs(g, &g->nodes[p]);
}

/* ---- what shares a format ----------------------------------------------------------------- */

static bool joins(const graph_node *node)
{
    return kind_of(node)->format == FORMAT_JOINED;
}

/* Whether root a is computed before root b; planes exist from the start. */
static bool is_before(const graph *g, uint32_t a, uint32_t b)
{
    if (is_loaded(g, a) != is_loaded(g, b))
        return is_loaded(g, a);
    const uint32_t p = graph_producer(g, a), q = graph_producer(g, b);
    return p == UINT32_MAX || (q != UINT32_MAX && p < q);
}

/* Finds the values of which an array is made, or which are made of an array: that requires FP16.
 * So do kernels, unless the model itself has 8 bits there. */
static void find_arrays(graph *g)
{
    for (uint32_t i = 0; i < g->node_count; i++) {
        const graph_node *node = &g->nodes[i];
        const bool typed = kind_of(node)->format == FORMAT_TYPED;
        for (uint32_t k = 0; typed && k <= node->input_count; k++) {
            const uint32_t x = k < node->input_count ? node->inputs[k] : node->output;
            g->values[g->values[x].root].meets_array |= !graph_is_prequantised(g, x);
        }
        const uint32_t map = g->values[node->output].is_array ? node->inputs[0] : node->output;
        if (kind_of(node)->format == FORMAT_CONVERTED)
            g->values[g->values[map].root].meets_array = true;
    }
}

void quantize_join(graph *g)
{
    for (uint32_t i = 0; i < g->node_count; i++) {
        const graph_node *node = &g->nodes[i];
        for (uint32_t k = 0; k < node->input_count && joins(node) && !graph_packs(g, node); k++) {
            const uint32_t a = quantize_root(g, node->output),
                           b = quantize_root(g, node->inputs[k]);
            const bool before = is_before(g, a, b);
            if (a != b)
                g->values[before ? b : a].joined = before ? a : b;
        }
    }
    for (uint32_t i = g->value_count; i-- > 0;)
        g->values[i].alike = UINT32_MAX;
    for (uint32_t i = 0; i < g->value_count; i++) {
        const uint32_t root = quantize_root(g, i);
        g->values[i].root = root;
        if (root != i) {
            g->values[i].alike = g->values[root].alike;
            g->values[root].alike = i;
        }
    }
    find_arrays(g);
}

/* Whether planes share their format with computed values through a concat: no scale of planes suits
 * both. */
static bool is_mixed(const graph *g, uint32_t root)
{
    for (uint32_t i = 0; i < g->node_count; i++) {
        const uint32_t made = g->nodes[i].output;
        if (!joins(&g->nodes[i]) && source_of(g, made) == made && !is_loaded(g, made) &&
            g->values[made].root == root)
            return true;
    }
    return false;
}

/* The lowest and the highest number; low > high: none seen. */
typedef struct range {
    float low, high;
} range;

/* The range of everything that shares this root's format; cubic resampling overshoots. */
static range seen_range(const graph *g, uint32_t root)
{
    range r = {1, -1};
    for (uint32_t i = root; i != UINT32_MAX; i = g->values[i].alike) {
        const graph_value *v = &g->values[i];
        if (v->data || v->low > v->high)
            continue;
        const bool first = r.low > r.high;
        r.low = first || v->low < r.low ? v->low : r.low;
        r.high = first || v->high > r.high ? v->high : r.high;
    }
    return r;
}

/* ---- formats ------------------------------------------------------------------------------ */

/* The output that a root becomes, or UINT32_MAX. */
static uint32_t output_of(const graph *g, uint32_t root)
{
    for (uint32_t i = 0; i < g->output_count; i++)
        if (g->values[g->outputs[i]].root == root)
            return g->outputs[i];
    return UINT32_MAX;
}

/* Why 8-bit planes are no source for INT8 layers; NULL: they are. */
static const char *why_loaded_half(const graph *g, const compiler_options *o, uint32_t root)
{
    const value_format planes = quantize_input(g, o, root);
    if (planes.type != MONA_U8 && planes.type != MONA_S8)
        return planes.type == MONA_F16
                   ? "reads an input of floats; --input-type u8 makes it one of samples"
                   : "reads an input of more than 8 bits";
    if (output_of(g, root) != UINT32_MAX && planes.type != o->output_type)
        return "reads an input that is an output of another type, too";
    return is_mixed(g, root) ? "reads an input that is joined with computed values" : NULL;
}

const char *quantize_why_half(const graph *g, const compiler_options *o, uint32_t root)
{
    const range seen = seen_range(g, root);
    if (g->values[root].half)
        return "was chosen to be";
    if (g->values[root].meets_array)
        return "reads what is an array or a kernel's, too";
    if (is_loaded(g, root))
        return why_loaded_half(g, o, root);
    if (output_of(g, root) != UINT32_MAX &&
        (o->output_type == MONA_F16 || o->output_type == MONA_U16))
        return "reads what is an output of floats or more than 8 bits, too";
    if (seen.low > seen.high && !quantize_is_planes(g, o, root) &&
        g->values[root].source == UINT32_MAX)
        return "reads what the model does not have, so that calibration does not see it";
    return NULL;
}

/* The format of a tensor into which planes are loaded. */
static value_format loaded_format(const graph *g, const compiler_options *o, uint32_t root)
{
    const bool eight = o->int8 || graph_is_prequantised(g, root);
    return eight && !quantize_why_half(g, o, root) ? quantize_input(g, o, root)
                                                   : (value_format){MONA_F16, 1, 0};
}

/* The magnitude that 8 bits should reach for everything that shares this root's format. */
static double reach(const graph *g, const compiler_options *o, uint32_t root, unsigned levels,
                    double max)
{
    histogram all = {0};
    if (o->ranges == RANGE_MIN_MAX)
        return max;
    for (uint32_t i = root; i != UINT32_MAX; i = g->values[i].alike)
        if (g->values[i].seen)
            histogram_merge(&all, &g->values[i].seen->magnitudes);
    return histogram_threshold(&all, o->ranges, levels, max);
}

bool quantize_makes_zero(const graph_node *node)
{
    const bool sums =
        node->activation.kind == MONA_ACT_NONE &&
        (node->after_add.kind == MONA_ACT_NONE || mona_is_function(node->after_add.kind));
    const kind_merges merges = kind_of(node)->merges;
    return merges == MERGES_EPILOGUE || (merges == MERGES_FILTER && sums);
}

bool quantize_takes_zero(const graph *g, const graph_node *node, uint32_t k)
{
    switch (kind_of(node)->zero) {
    case ZERO_BIAS: /* its bias makes up for it, which may take as much as all products */
        return k == 0 && weights_filter(g, node) <= WEIGHTS_MAX / 2;
    case ZERO_ANY:
        return true;
    case ZERO_SAME:
        break;
    }
    return quantize_root(g, node->output) == quantize_root(g, node->inputs[k]);
}

/* Whether everything that shares this root's format may have a zero other than 0. */
static bool may_have_zero(const graph *g, uint32_t root)
{
    bool may = output_of(g, root) == UINT32_MAX;
    for (uint32_t i = 0; i < g->node_count && may; i++) {
        const graph_node *node = &g->nodes[i];
        if (source_of(g, node->output) == node->output && !joins(node) &&
            g->values[node->output].root == root)
            may = quantize_makes_zero(node);
        for (uint32_t k = 0; k < node->input_count && may; k++)
            may = g->values[node->inputs[k]].root != root || quantize_takes_zero(g, node, k);
    }
    return may;
}

/* U8 from the lowest to the highest value, if its steps are clearly smaller than those of S8. */
static bool format_with_zero(const graph *g, const compiler_options *o, uint32_t root, double low,
                             double high, value_format *format)
{
    if (!(low > 0) || !may_have_zero(g, root))
        return false;
    const double max = fmax(low, high), span = low + fmax(high, 0);
    const double end = reach(g, o, root, (unsigned)(255 * max / span), max);
    const double below = fmin(low, end);
    const double scale = (below + fmin(fmax(high, 0), end)) / 255;
    if (scale > 0.9 * (double)format->scale)
        return false;
    *format = (value_format){MONA_U8, (float)scale, (uint8_t)nearbyint(below / scale)};
    return true;
}

static bool format_by_range(const graph *g, const compiler_options *o, uint32_t root,
                            bool is_signed, value_format *format, format_error *error)
{
    const range r = seen_range(g, root);
    if (r.low > r.high)
        return format_fail(
            error, "INT8 needs the range of value '%s': calibrate with images (--calibrate)",
            g->values[root].name);
    const double high = (double)r.high, low = -(double)r.low;
    const double max = high > low ? high : low;
    /* Values that round to 0 need no sign. */
    const bool tiny = !is_signed && low <= max / 255 / 2;
    const double step = tiny ? reach(g, o, root, 255, max) / 255 : 0;
    if (tiny && low <= step / 2)
        *format = (value_format){MONA_U8, (float)step, 0};
    else
        *format = (value_format){MONA_S8, (float)(reach(g, o, root, 127, max) / 127), 0};
    if (!is_signed && format_with_zero(g, o, root, low, high, format))
        return true;
    if (!(format->scale >= 1e-20f)) /* always zero, as far as calibration saw */
        format->scale = 1.0f / 255;
    return true;
}

/* Widens the scale of a result slightly, so that the factor of its residual, residual scale /
 * scale, is an fp16 number: then the factor has no rounding error. */
static void match_residual(const graph_node *node, const value_format *formats,
                           value_format *format)
{
    if (!kind_has_filter(node) || node->input_count < 2 || mona_is_function(node->after_add.kind))
        return;
    const double residual = (double)formats[node->inputs[1]].scale;
    const double factor = residual / (double)format->scale;
    uint16_t bits = half_from_double(factor);
    if (format_is_half(formats[node->inputs[1]]) || factor > 1024 || factor < 0x1p-10)
        return;
    if (half_value(bits) > factor)
        bits--;
    format->scale = (float)(residual / half_value(bits));
}

/* The same for FP16 sums, whose factor is 1 / scale. A scale below what fp16 can convert to
 * integers is widened; such values are negligible in FP16 too. */
static void match_sum(const graph_node *node, const value_format *formats, value_format *format)
{
    if (!kind_has_filter(node) || !format_is_half(formats[node->inputs[0]]) ||
        mona_is_function(node->after_add.kind))
        return;
    const double factor = fmin(1 / (double)format->scale, 0x1p15);
    uint16_t bits = half_from_double(factor);
    if (half_value(bits) > factor)
        bits--;
    format->scale = (float)(1 / half_value(bits));
}

bool quantize_is_planes(const graph *g, const compiler_options *o, uint32_t root)
{
    const uint32_t output = output_of(g, root);
    return output != UINT32_MAX && o->output_type == MONA_U8;
}

static bool computed_format(const graph *g, const compiler_options *o, const graph_node *node,
                            value_format *formats, format_error *error)
{
    value_format *format = &formats[node->output];
    *format = (value_format){MONA_F16, 1, 0};
    if (g->values[node->output].prequantised.scale > 0) {
        if (graph_is_prequantised(g, node->output))
            *format = g->values[node->output].prequantised;
        return true;
    }
    if (!o->int8 || quantize_why_half(g, o, node->output))
        return true;
    if (quantize_is_planes(g, o, node->output)) {
        *format = plane_format(o, MONA_U8, range_of(o));
        return true;
    }
    const bool is_signed = output_of(g, node->output) != UINT32_MAX; /* stored as S8 */
    if (!format_by_range(g, o, node->output, is_signed, format, error))
        return false;
    match_residual(node, formats, format);
    match_sum(node, formats, format);
    return true;
}

bool quantize_fits_half(const graph *g, uint32_t root)
{
    const range r = seen_range(g, root);
    return r.low > r.high || (r.low >= -65504 && r.high <= 65504);
}

/* INT8 sums have the scale of their result; all others are real values in fp16. */
static bool check_half(const graph *g, const graph_node *node, const value_format *formats,
                       format_error *error)
{
    const bool sums = kind_of(node)->sums == SUMS_REAL;
    const bool half =
        format_is_half(formats[node->output]) || (sums && format_is_half(formats[node->inputs[0]]));
    const uint32_t root = g->values[node->output].root;
    if (!half || root != node->output || quantize_fits_half(g, root))
        return true;
    const range r = seen_range(g, root);
    return graph_fail(node, error,
                      "makes numbers from %g to %g, which fp16 does not hold (65504); supported: "
                      "INT8 before and after it",
                      (double)r.low, (double)r.high);
}

bool quantize_values(const graph *g, const compiler_options *o, value_format *formats,
                     format_error *error)
{
    for (uint32_t i = 0; i < g->value_count; i++)
        formats[i] = is_loaded(g, g->values[i].root) ? loaded_format(g, o, g->values[i].root)
                                                     : (value_format){MONA_F16, 1, 0};
    for (uint32_t i = 0; i < g->node_count; i++) {
        const graph_node *node = &g->nodes[i];
        const uint32_t root = g->values[node->output].root;
        const kind_format kind = kind_of(node)->format;
        if (kind == FORMAT_ARRAY || kind == FORMAT_CONVERTED)
            formats[node->output] =
                (value_format){MONA_F16, 1, 0}; /* arrays have types of their own */
        else if (root != node->output)
            formats[node->output] = formats[root];
        else if (!is_loaded(g, root) && !computed_format(g, o, node, formats, error))
            return false;
        if (!check_half(g, node, formats, error))
            return false;
    }
    return true;
}

double quantize_largest_sum(const graph *g, const graph_node *node, value_format in)
{
    const size_t filter = weights_filter(g, node);
    double largest = 0;
    for (uint32_t o = 0; o < g->values[node->output].channels; o++) {
        double sum = fabs((double)node->conv.bias[o]);
        for (size_t i = o * filter; i < (o + 1) * filter; i++)
            sum += fabs((double)node->conv.weights[i]) * 255 * (double)in.scale;
        largest = fmax(largest, sum);
    }
    return largest;
}

/* INT8 sums that are stored as F16 count in a power of two, which is exact. It is so small that the
 * largest sums come close to the end of fp16: the factors of channels with small weights then stay
 * away from the other end (weights.h). Sums may be four times as large as the result of an
 * activation. */
double quantize_unit(const graph *g, const graph_node *node, const value_format *formats)
{
    const value_format out = formats[node->output];
    if (format_is_half(formats[node->inputs[0]]))
        return 1;
    if (table_needed(node, out))
        return (double)table_find_source(g, node, formats).scale;
    if (!format_is_half(out))
        return (double)out.scale;
    const graph_value *sum = &g->values[node->before];
    const range r = mona_is_function(node->after_add.kind)
                        ? (range){sum->low, sum->high}
                        : seen_range(g, g->values[node->output].root);
    const bool seen = r.low <= r.high;
    double max = seen ? fmax(fabs((double)r.low), fabs((double)r.high))
                      : quantize_largest_sum(g, node, formats[node->inputs[0]]);
    if (node->input_count == 2) /* its scale is an fp16 number too, in these units */
        max = fmax(max, (double)formats[node->inputs[1]].scale);
    int exponent = 0;
    frexp(max <= 0 ? 0.5 : max / 16384, &exponent);
    return ldexp(1, exponent < -14 ? -14 : exponent > 2 ? 2 : exponent);
}

bool quantize_output(const graph *g, const compiler_options *o, const value_format *formats,
                     uint32_t i, value_format *format, format_error *error)
{
    const uint32_t output = g->outputs[i];
    *format = formats[output];
    if (format_is_half(*format))
        *format = plane_format(o, o->output_type, range_of(o));
    const bool stored = format_is_half(formats[output]) ? format->type != MONA_S8
                                                        : format->type == formats[output].type;
    if (!stored || format->type != o->output_type)
        return format_fail(error, "output '%s' cannot be stored as %s: it is computed as %s",
                           g->values[output].name, mona_type_name(o->output_type),
                           mona_type_name(formats[output].type));
    return true;
}
