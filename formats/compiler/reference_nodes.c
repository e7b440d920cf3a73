// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/reference_nodes.h"

#include <math.h>
#include <string.h>

enum { MAX_ELEMENTS = 1 << 28 };

static float *row_of(const reference_array *a, uint32_t c, uint32_t y)
{
    return a->data + ((size_t)c * a->height + y) * a->width;
}

size_t reference_count(const reference_array *a)
{
    return (size_t)a->channels * a->height * a->width;
}

/* ---- epilogue ----------------------------------------------------------------------------- */

static double function_of(const graph_activation *a, double x)
{
    switch (a->kind) {
    case MONA_ACT_SIGMOID:
        return 1 / (1 + exp(-x));
    case MONA_ACT_SILU:
        return x / (1 + exp(-x));
    case MONA_ACT_HARD_SWISH:
        return x * fmax(0, fmin(x / 6 + 0.5, 1));
    case MONA_ACT_TANH:
        return tanh(x);
    case MONA_ACT_GELU:
        return 0.5 * x * erfc(-x / sqrt(2));
    case MONA_ACT_GELU_TANH:
        return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
    case MONA_ACT_MISH:
        return x * tanh(log1p(exp(x)));
    case MONA_ACT_ELU:
        return x > 0 ? x : (double)a->alpha * expm1(x);
    case MONA_ACT_SOFTPLUS:
        return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
    default:
        return x;
    }
}

static float activate(const graph_activation *a, uint32_t channel, float x)
{
    switch (a->kind) {
    case MONA_ACT_RELU:
        return x > 0 ? x : 0;
    case MONA_ACT_PRELU:
        return x > 0 ? x : x * a->slopes[channel];
    case MONA_ACT_CLIP:
        return x < a->low ? a->low : x > a->high ? a->high : x;
    case MONA_ACT_NONE:
        return x;
    default:
        return (float)function_of(a, (double)x);
    }
}

/* A residual has one channel for all, or at least as many as `out`. */
static void finish(const graph_node *node, const reference_array *residual, reference_array *out)
{
    const size_t plane = (size_t)out->height * out->width;
    for (uint32_t c = 0; c < out->channels; c++) {
        float *o = row_of(out, c, 0);
        const float *r = residual ? row_of(residual, residual->channels == 1 ? 0 : c, 0) : NULL;
        for (size_t i = 0; i < plane; i++) {
            o[i] = activate(&node->activation, c, o[i]);
            if (r)
                o[i] += r[i];
            o[i] = activate(&node->after_add, c, o[i]);
        }
    }
}

/* ---- convolution -------------------------------------------------------------------------- */

/* Processes one block of output pixels after another: what some filter positions see in their input
 * channels is gathered once and added to all outputs. So the terms of every sum are in the order of
 * channel, filter row and column, whatever the block. */
enum { CONV_BLOCK = 256, CONV_TERMS = 24 };

typedef struct pixel_block {
    uint32_t width; /* of the output */
    size_t first, count;
} pixel_block;

/* What row ky and column kx of the filter see; 0 beyond the edges. */
static void gather(const graph_window *w, uint32_t ky, uint32_t kx, const reference_array *in,
                   uint32_t channel, const pixel_block *b, float *seen)
{
    const int64_t down = (int64_t)ky * w->dilation[0] - w->pad_begin[0];
    const int64_t along = (int64_t)kx * w->dilation[1] - w->pad_begin[1];
    const int64_t step = w->stride[1];
    for (size_t i = 0; i < b->count;) {
        const size_t y = (b->first + i) / b->width, x = (b->first + i) % b->width;
        const size_t end = i + b->width - x < b->count ? i + b->width - x : b->count;
        const int64_t iy = (int64_t)y * w->stride[0] + down;
        const bool inside = iy >= 0 && iy < in->height;
        const float *row = inside ? row_of(in, channel, (uint32_t)iy) : NULL;
        const int64_t width = inside ? in->width : 0;
        int64_t ix = (int64_t)x * step + along;
        for (; i < end && ix < 0; ix += step)
            seen[i++] = 0;
        for (; i < end && ix < width; ix += step)
            seen[i++] = row[ix];
        while (i < end)
            seen[i++] = 0;
    }
}

/* Adds the terms one at a time, in order. */
static void add_terms(float *restrict sums, const float *restrict weights, uint32_t terms,
                      const float (*restrict seen)[CONV_BLOCK], size_t count)
{
    uint32_t k = 0;
    for (; k + 4 <= terms; k += 4)
        for (size_t i = 0; i < count; i++)
            sums[i] = sums[i] + weights[k] * seen[k][i] + weights[k + 1] * seen[k + 1][i] +
                      weights[k + 2] * seen[k + 2][i] + weights[k + 3] * seen[k + 3][i];
    for (; k < terms; k++)
        for (size_t i = 0; i < count; i++)
            sums[i] += weights[k] * seen[k][i];
}

static void conv_block(const graph_conv *conv, const reference_array *in, uint32_t group,
                       const pixel_block *b, reference_array *out)
{
    const uint32_t depth = in->channels / conv->groups, outputs = out->channels / conv->groups;
    const uint32_t columns = conv->window.kernel[1], area = conv->window.kernel[0] * columns;
    const uint32_t terms = depth * area;
    float seen[CONV_TERMS][CONV_BLOCK];
    for (uint32_t o = group * outputs; o < (group + 1) * outputs; o++)
        for (size_t i = 0; i < b->count; i++)
            row_of(out, o, 0)[b->first + i] = conv->bias[o];
    for (uint32_t first = 0; first < terms; first += CONV_TERMS) {
        const uint32_t count = terms - first < CONV_TERMS ? terms - first : CONV_TERMS;
        for (uint32_t k = first; k < first + count; k++)
            gather(&conv->window, k % area / columns, k % columns, in, group * depth + k / area, b,
                   seen[k - first]);
        for (uint32_t o = group * outputs; o < (group + 1) * outputs; o++)
            add_terms(row_of(out, o, 0) + b->first, conv->weights + (size_t)o * terms + first,
                      count, (const float(*)[CONV_BLOCK])seen, b->count);
    }
}

static void run_conv(const graph_node *node, const reference_array *in, reference_array *out)
{
    const size_t plane = (size_t)out->height * out->width;
    for (uint32_t g = 0; g < node->conv.groups; g++)
        for (size_t first = 0; first < plane; first += CONV_BLOCK) {
            const size_t left = plane - first;
            const pixel_block block = {out->width, first, left < CONV_BLOCK ? left : CONV_BLOCK};
            conv_block(&node->conv, in, g, &block, out);
        }
}

/* ---- element by element ------------------------------------------------------------------- */

static void run_binary(const graph_node *node, const reference_array *a, const reference_array *b,
                       reference_array *out)
{
    const size_t plane = (size_t)out->height * out->width, step = reference_count(b) > b->channels;
    for (uint32_t c = 0; c < out->channels; c++) {
        const float *x = row_of(a, c, 0), *y = row_of(b, b->channels == 1 ? 0 : c, 0);
        float *o = row_of(out, c, 0);
        for (size_t i = 0; i < plane; i++, y += step)
            o[i] = node->kind == GRAPH_ADD ? x[i] + *y : x[i] * *y;
    }
}

static void run_affine(const graph_node *node, const reference_array *in, reference_array *out)
{
    const size_t plane = (size_t)out->height * out->width;
    for (uint32_t c = 0; c < out->channels; c++) {
        const float *x = row_of(in, c, 0), scale = node->affine.scale[c];
        float *o = row_of(out, c, 0);
        for (size_t i = 0; i < plane; i++)
            o[i] = x[i] * scale + node->affine.shift[c];
    }
}

static void normalise_pixel(const graph_node *node, const float *in, size_t plane,
                            uint32_t channels, float *out)
{
    double sum = 0, squares = 0;
    for (uint32_t c = 0; c < channels; c++)
        sum += (double)in[c * plane];
    const double mean = sum / channels;
    for (uint32_t c = 0; c < channels; c++)
        squares += ((double)in[c * plane] - mean) * ((double)in[c * plane] - mean);
    const double deviation = sqrt(squares / channels + (double)node->normalise.epsilon);
    for (uint32_t c = 0; c < channels; c++)
        out[c * plane] =
            (float)(((double)in[c * plane] - mean) / deviation * (double)node->normalise.gain[c] +
                    (double)node->normalise.shift[c]);
}

static void run_normalise(const graph_node *node, const reference_array *in, reference_array *out)
{
    const size_t plane = (size_t)out->height * out->width;
    for (size_t i = 0; i < plane; i++)
        normalise_pixel(node, in->data + i, plane, out->channels, out->data + i);
}

/* Pixel x of head h. weights: room for one number for each key. */
static void attend(const graph_node *node, const reference_array *const *in, uint32_t h, size_t x,
                   double *weights, reference_array *out)
{
    const uint32_t heads = node->attention.heads, size = in[0]->channels / heads;
    const size_t queries = (size_t)out->height * out->width;
    const size_t keys = (size_t)in[1]->height * in[1]->width;
    double most = -INFINITY, sum = 0;
    for (size_t j = 0; j < keys; j++) {
        weights[j] = 0;
        for (uint32_t c = h * size; c < (h + 1) * size; c++)
            weights[j] += (double)in[0]->data[c * queries + x] * (double)in[1]->data[c * keys + j];
        weights[j] *= (double)node->attention.scale;
        most = fmax(most, weights[j]);
    }
    for (size_t j = 0; j < keys; j++) {
        weights[j] = exp(weights[j] - most);
        sum += weights[j];
    }
    for (uint32_t c = h * (out->channels / heads); c < (h + 1) * (out->channels / heads); c++) {
        double mean = 0;
        for (size_t j = 0; j < keys; j++)
            mean += weights[j] * (double)in[2]->data[c * keys + j];
        out->data[c * queries + x] = (float)(mean / sum);
    }
}

static void run_attention(const graph_node *node, const reference_array *const *in,
                          reference_array *out)
{
    double *weights = node->attention.weights;
    for (uint32_t h = 0; h < node->attention.heads; h++)
        for (size_t x = 0; x < (size_t)out->height * out->width; x++)
            attend(node, in, h, x, weights, out);
}

/* Like QuantizeLinear followed by DequantizeLinear. */
void reference_quantize(value_format format, reference_array *a)
{
    const double low = format.type == MONA_U8 ? 0 : -128, high = format.type == MONA_U8 ? 255 : 127;
    for (size_t i = 0; i < reference_count(a); i++) {
        const double q = nearbyint((double)(float)((double)a->data[i] / (double)format.scale));
        a->data[i] = (float)(fmax(low, fmin(q, high)) * (double)format.scale);
    }
}

/* ---- moving values ------------------------------------------------------------------------ */

static void run_concat(const reference_array *const *in, uint32_t count, reference_array *out)
{
    float *to = out->data;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to, in[i]->data, reference_count(in[i]) * sizeof *to);
        to += reference_count(in[i]);
    }
}

/* Copies between a deep and a wide array; the wide one has `block` times the height and width. */
static void run_depth(const graph_node *node, const reference_array *deep,
                      const reference_array *wide, bool to_wide)
{
    const uint32_t block = node->depth.block;
    for (uint32_t c = 0; c < wide->channels; c++)
        for (uint32_t y = 0; y < wide->height; y++)
            for (uint32_t x = 0; x < wide->width; x++) {
                const uint32_t place = y % block * block + x % block;
                const uint32_t channel = node->depth.depth_first ? place * wide->channels + c
                                                                 : c * block * block + place;
                float *d = row_of(deep, channel, y / block) + x / block;
                float *w = row_of(wide, c, y) + x;
                *(to_wide ? w : d) = *(to_wide ? d : w);
            }
}

/* ---- resampling --------------------------------------------------------------------------- */

typedef struct taps {
    int64_t at[4];
    double weight[4];
    int count;
} taps;

static double keys(double distance, double a)
{
    const double d = fabs(distance);
    if (d <= 1)
        return (a + 2) * d * d * d - (a + 3) * d * d + 1;
    return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0;
}

static double nearest(graph_nearest rule, double u)
{
    switch (rule) {
    case GRAPH_ROUND_HALF_DOWN:
        return ceil(u - 0.5);
    case GRAPH_ROUND_HALF_UP:
        return floor(u + 0.5);
    case GRAPH_FLOOR:
        return floor(u);
    case GRAPH_CEIL:
        return ceil(u);
    }
    return u;
}

/* The sources of output sample i along an axis; samples outside repeat the border. */
static taps find_taps(const graph_resize *r, int axis, uint32_t in, uint32_t out, uint32_t i)
{
    const double step = (double)r->ratio[axis][1] / r->ratio[axis][0];
    double u = i * step;
    if (r->coordinates == MONA_RESIZE_HALF_PIXEL)
        u = (i + 0.5) * step - 0.5;
    else if (r->coordinates == MONA_RESIZE_ALIGN_CORNERS)
        u = out > 1 ? (double)i * (in - 1) / (out - 1) : 0;
    u += (double)r->offset[axis];
    taps t = {.count = r->mode == MONA_RESIZE_NEAREST ? 1 : r->mode == MONA_RESIZE_LINEAR ? 2 : 4};
    const double first = r->mode == MONA_RESIZE_NEAREST  ? nearest(r->nearest, u)
                         : r->mode == MONA_RESIZE_LINEAR ? floor(u)
                                                         : floor(u) - 1;
    for (int k = 0; k < t.count; k++) {
        const double at = first + k, d = fabs(u - at);
        t.weight[k] = t.count == 1 ? 1 : t.count == 2 ? 1 - d : keys(d, (double)r->cubic_a);
        t.at[k] = (int64_t)fmax(0, fmin(at, (double)in - 1));
    }
    return t;
}

static void run_resize(const graph_resize *r, const reference_array *in, reference_array *out)
{
    for (uint32_t y = 0; y < out->height; y++) {
        const taps v = find_taps(r, 0, in->height, out->height, y);
        for (uint32_t x = 0; x < out->width; x++) {
            const taps h = find_taps(r, 1, in->width, out->width, x);
            for (uint32_t c = 0; c < out->channels; c++) {
                double sum = 0;
                for (int j = 0; j < v.count; j++)
                    for (int i = 0; i < h.count; i++)
                        sum += v.weight[j] * h.weight[i] *
                               (double)row_of(in, c, (uint32_t)v.at[j])[h.at[i]];
                row_of(out, c, y)[x] = (float)sum;
            }
        }
    }
}

/* ---- nodes -------------------------------------------------------------------------------- */

static bool same_size(const reference_array *a, const reference_array *b)
{
    return a->height == b->height && a->width == b->width;
}

bool reference_shape(const graph *g, const graph_node *node, const reference_array *const *in,
                     reference_array *out)
{
    const reference_array *x = in[0];
    const graph_value *v = &g->values[node->output];
    bool fits = true;
    if (node->kind == GRAPH_ARRAY || node->kind == GRAPH_TO_ARRAY || node->kind == GRAPH_TO_MAP) {
        *out = (reference_array){v->channels, v->height, v->width, NULL};
        return node->kind == GRAPH_ARRAY || reference_count(out) == reference_count(x);
    }
    *out = (reference_array){v->channels, x->height, x->width, NULL};
    for (uint32_t i = 1; i < node->input_count; i++)
        fits = fits && (node->kind == GRAPH_CONV || node->kind == GRAPH_ATTENTION ||
                        same_size(x, in[i]) || (in[i]->height == 1 && in[i]->width == 1));
    if (node->kind == GRAPH_CONV) {
        out->height = graph_window_outputs(&node->conv.window, 0, x->height, false);
        out->width = graph_window_outputs(&node->conv.window, 1, x->width, false);
        fits = node->input_count == 1 || same_size(out, in[1]);
    } else if (node->kind == GRAPH_MAX_POOL || node->kind == GRAPH_AVERAGE_POOL) {
        const graph_pool *p = &node->pool;
        out->height = p->whole ? 1 : graph_window_outputs(&p->window, 0, x->height, p->round_up);
        out->width = p->whole ? 1 : graph_window_outputs(&p->window, 1, x->width, p->round_up);
    } else if (node->kind == GRAPH_DEPTH_TO_SPACE) {
        out->height *= node->depth.block;
        out->width *= node->depth.block;
    } else if (node->kind == GRAPH_SPACE_TO_DEPTH) {
        fits = x->height % node->depth.block == 0 && x->width % node->depth.block == 0;
        out->height /= node->depth.block;
        out->width /= node->depth.block;
    } else if (node->kind == GRAPH_RESIZE) {
        const graph_resize *r = &node->resize;
        const uint64_t height = (uint64_t)x->height * r->ratio[0][0] / r->ratio[0][1];
        const uint64_t width = (uint64_t)x->width * r->ratio[1][0] / r->ratio[1][1];
        fits = height <= MONA_MAX_SIDE && width <= MONA_MAX_SIDE;
        out->height = fits ? (uint32_t)height : 0;
        out->width = fits ? (uint32_t)width : 0;
    }
    return fits && out->height && out->width && out->height <= MONA_MAX_SIDE &&
           out->width <= MONA_MAX_SIDE && reference_count(out) <= MAX_ELEMENTS;
}

void reference_function(const graph_activation *a, reference_array *values)
{
    for (size_t i = 0; i < reference_count(values) && mona_is_function(a->kind); i++)
        values->data[i] = (float)function_of(a, (double)values->data[i]);
}

void reference_node(const graph_node *node, const reference_array *const *in, reference_array *out)
{
    switch (node->kind) {
    case GRAPH_CONV:
        run_conv(node, in[0], out);
        break;
    case GRAPH_AFFINE:
        run_affine(node, in[0], out);
        break;
    case GRAPH_QUANTIZE:
        memcpy(out->data, in[0]->data, reference_count(out) * sizeof(float));
        reference_quantize(node->quantize, out);
        break;
    case GRAPH_ADD:
    case GRAPH_MUL:
        run_binary(node, in[0], in[1], out);
        break;
    case GRAPH_CONCAT:
        run_concat(in, node->input_count, out);
        break;
    case GRAPH_SLICE:
        memcpy(out->data, row_of(in[0], node->slice.first, 0),
               reference_count(out) * sizeof(float));
        break;
    case GRAPH_SPACE_TO_DEPTH:
        run_depth(node, out, in[0], false);
        break;
    case GRAPH_DEPTH_TO_SPACE:
        run_depth(node, in[0], out, true);
        break;
    case GRAPH_RESIZE:
        run_resize(&node->resize, in[0], out);
        break;
    case GRAPH_MAX_POOL:
    case GRAPH_AVERAGE_POOL:
        reference_pool(node, in[0], out);
        break;
    case GRAPH_NORMALISE:
        run_normalise(node, in[0], out);
        break;
    case GRAPH_ATTENTION:
        run_attention(node, in, out);
        break;
    case GRAPH_ACTIVATION:
    case GRAPH_TO_ARRAY:
    case GRAPH_TO_MAP:
        memcpy(out->data, in[0]->data, reference_count(out) * sizeof(float));
        break;
    case GRAPH_ARRAY: /* run by reference_array.c */
    case GRAPH_RESHAPE:
    case GRAPH_TRANSPOSE:
        return; /* not left by import */
    }
    finish(node, node->kind == GRAPH_CONV && node->input_count == 2 ? in[1] : NULL, out);
}
