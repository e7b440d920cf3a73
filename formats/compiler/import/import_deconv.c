// SPDX-License-Identifier: Apache-2.0
/* ConvTranspose as a convolution. Without strides the filter is reversed, and the padding is the
 * filter's extent minus the transposed padding:
 *
 *   y[i] = sum over k of x[i + begin - k d] w[k] = sum over k' of x[i - p + k' d] w[K - 1 - k']
 *
 * with k' = K - 1 - k and p = (K - 1) d - begin.
 *
 * With a stride s and a dilation of 1, output s q + r uses the taps k for which s divides r + begin
 * - k, on sample q + (r + begin - k) / s. So each of the s x s positions r of a block is an output
 * channel of one convolution, whose filter covers the samples of all of them, from q + low to q +
 * high, and depth-to-space interleaves the positions. */
#include "formats/compiler/import/importer.h"

#include <inttypes.h>

/* [inputs][outputs / groups][rows][columns] -> [outputs][inputs / groups][rows][columns],
 * reversed. */
static float *turn_weights(importer *im, const graph_value *w, uint32_t groups)
{
    const size_t inputs = w->dims[0], each = w->dims[1], area = w->dims[2] * w->dims[3];
    const size_t depth = inputs / groups;
    float *turned = graph_alloc(im->g, w->count, sizeof *turned);
    for (size_t i = 0; turned && i < inputs; i++)
        for (size_t o = 0; o < each; o++)
            for (size_t k = 0; k < area; k++) {
                const size_t output = i / depth * each + o;
                turned[(output * depth + i % depth) * area + (area - 1 - k)] =
                    w->data[(i * each + o) * area + k];
            }
    return turned;
}

static bool read_weights(importer *im, graph_conv *conv, op_convolution *n)
{
    const graph_value *w = import_constant(im, 1), *b = import_constant(im, 2);
    if (!w || !w->count || (import_has(im, 2) && !b))
        return import_fail(im, "has computed weights; expected constants");
    if (!op_convolution_read_transposed(&im->call, n) || !import_window(im, &n->w, &conv->window) ||
        !import_read_bias(im, 2, w, (uint32_t)n->outputs, &conv->bias))
        return false;
    conv->groups = (uint32_t)n->groups;
    conv->weights = turn_weights(im, w, conv->groups);
    return conv->weights ? true : format_fail(im->error, "out of memory");
}

/* Rows or columns that output_padding adds to the result. */
static int64_t padding_of(const op_window *w, int axis)
{
    const int k = WINDOW_DIMS - 2 + axis;
    return w->out[k] - (w->stride[k] * (w->in[k] - 1) + op_window_extent(w, (uint32_t)k) -
                        w->begin[k] - w->end[k]);
}

static bool turn_pads(importer *im, const op_window *from, graph_window *w)
{
    for (int i = 0; i < 2; i++) {
        const int64_t max = graph_window_extent(w, i) - 1;
        if (padding_of(from, i))
            return import_fail(im, "has output_padding %" PRId64 " without strides",
                               padding_of(from, i));
        if (w->pad_begin[i] > max || w->pad_end[i] > max)
            return import_fail(im, "has pads of %u and %u; supported: up to %" PRId64,
                               w->pad_begin[i], w->pad_end[i], max);
        w->pad_begin[i] = (uint32_t)max - w->pad_begin[i];
        w->pad_end[i] = (uint32_t)max - w->pad_end[i];
    }
    return true;
}

/* ---- with a stride ------------------------------------------------------------------------ */

/* Along one axis: the samples around q that the outputs s q + r use. */
typedef struct strided {
    int64_t stride, begin, kernel;
    int64_t low, high;
} strided;

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b && (a < 0) != (b < 0));
}

/* The filter tap with which output r uses sample q + at, or -1. */
static int64_t tap_of(const strided *v, int64_t r, int64_t at)
{
    const int64_t k = r + v->begin - at * v->stride;
    return k >= 0 && k < v->kernel ? k : -1;
}

static bool read_strided(importer *im, const op_window *from, const graph_window *w, strided v[2],
                         graph_window *conv)
{
    for (int i = 0; i < 2; i++) {
        const int64_t s = w->stride[i], kernel = w->kernel[i], begin = w->pad_begin[i];
        const int64_t more = padding_of(from, i);
        v[i] = (strided){s, begin, kernel, floor_div(begin - kernel, s) + 1,
                         floor_div(s - 1 + begin, s)};
        const int64_t extent = v[i].high - v[i].low + 1;
        /* s in + grown outputs, in blocks of s. */
        const int64_t grown = more + kernel - begin - w->pad_end[i] - s;
        const int64_t before = -v[i].low, after = floor_div(grown, s) - before + extent - 1;
        if (w->stride[0] != w->stride[1] || s > 4 || w->dilation[i] != 1 || grown % s ||
            before < 0 || after < 0)
            return import_fail(im,
                               "has strides %ux%u, pads %u and %u and output_padding %" PRId64 "; "
                               "supported: strides of 1, and of 2 to 4 that divide the size "
                               "of the result",
                               w->stride[0], w->stride[1], w->pad_begin[i], w->pad_end[i], more);
        conv->kernel[i] = (uint32_t)extent;
        conv->stride[i] = conv->dilation[i] = 1;
        conv->pad_begin[i] = (uint32_t)before;
        conv->pad_end[i] = (uint32_t)after;
    }
    return true;
}

/* conv: reversed weights, one output channel each; the result has s x s channels for each of
 * them. */
static bool spread_weights(importer *im, const strided v[2], uint32_t channels, uint32_t outputs,
                           const graph_window *window, graph_conv *conv)
{
    const int64_t s = v[0].stride, rows = window->kernel[0], columns = window->kernel[1];
    const size_t depth = channels / conv->groups, area = (size_t)(v[0].kernel * v[1].kernel);
    const size_t places = (size_t)(s * s), to_area = (size_t)(rows * columns);
    float *weights = graph_alloc(im->g, outputs * places * depth * to_area, sizeof *weights);
    float *bias = graph_alloc(im->g, outputs * places, sizeof *bias);
    if (!weights || !bias)
        return format_fail(im->error, "out of memory");
    float *to = weights;
    for (size_t o = 0; o < outputs * places; o++) {
        const int64_t ry = (int64_t)(o % places) / s, rx = (int64_t)(o % places) % s;
        bias[o] = conv->bias[o / places];
        for (size_t c = 0; c < depth; c++) {
            const float *from = conv->weights + (o / places * depth + c) * area;
            for (int64_t y = 0; y < rows; y++)
                for (int64_t x = 0; x < columns; x++, to++) {
                    const int64_t ky = tap_of(&v[0], ry, v[0].low + y);
                    const int64_t kx = tap_of(&v[1], rx, v[1].low + x);
                    if (ky >= 0 && kx >= 0) /* reversed */
                        *to = from[(int64_t)area - 1 - (ky * v[1].kernel + kx)];
                }
        }
    }
    conv->weights = weights;
    conv->bias = bias;
    conv->window = *window;
    return true;
}

static bool add_strided(importer *im, uint32_t x, const op_window *from, graph_conv *conv,
                        uint32_t outputs)
{
    strided v[2];
    graph_window window = {.kernel = {1, 1}};
    uint32_t size[2];
    const uint32_t channels = im->g->values[x].channels, s = conv->window.stride[0];
    if (!read_strided(im, from, &conv->window, v, &window))
        return false;
    if ((uint64_t)outputs * s * s > MONA_MAX_CHANNELS)
        return import_fail(im, "makes too many channels, %u, by strides of %u", outputs, s);
    if (!spread_weights(im, v, channels, outputs, &window, conv) ||
        !import_window_size(im, &window, &im->g->values[x], false, size) ||
        !import_fits(im, outputs * s * s, (uint64_t)size[0] * s, (uint64_t)size[1] * s))
        return false;
    graph_node *made = import_inner_like(im, GRAPH_CONV, x);
    if (!made)
        return false;
    made->conv = *conv;
    const uint32_t inner = made->output;
    graph_set_dims(im->g, inner, outputs * s * s, size[0], size[1]);
    graph_node *depth =
        import_node(im, 0, GRAPH_DEPTH_TO_SPACE, inner, outputs, size[0] * s, size[1] * s);
    if (depth)
        depth->depth.block = s;
    return depth;
}

bool import_conv_transpose(importer *im)
{
    uint32_t x;
    if (!import_tensor(im, 0, &x))
        return false;
    graph_conv conv = {0};
    op_convolution n;
    if (onnx_find_attribute(im->node, "output_shape") ||
        !import_text_is(im, "auto_pad", "NOTSET", "NOTSET"))
        return import_fail(im, "asks for output_shape or auto_pad; supported: pads");
    if (!read_weights(im, &conv, &n))
        return false;
    if (conv.window.stride[0] != 1 || conv.window.stride[1] != 1)
        return add_strided(im, x, &n.w, &conv, (uint32_t)n.outputs);
    return turn_pads(im, &n.w, &conv.window) && import_add_conv(im, &conv, x, (uint32_t)n.outputs);
}
