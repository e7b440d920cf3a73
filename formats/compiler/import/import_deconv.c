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

static bool read_weights(importer *im, uint32_t channels, graph_conv *conv, uint32_t *outputs)
{
    const graph_value *w = import_constant(im, 1), *b = import_constant(im, 2);
    const int64_t groups = onnx_int(im->node, "group", 1);
    if (!w || (import_has(im, 2) && !b))
        return import_fail(im, "has computed weights; expected constants");
    if (w->rank != 4 || !w->count || w->dims[0] != channels || groups < 1 || channels % groups ||
        w->dims[1] * (uint64_t)groups > MONA_MAX_CHANNELS || w->dims[2] > GRAPH_MAX_KERNEL ||
        w->dims[3] > GRAPH_MAX_KERNEL)
        return import_fail(im,
                           "has weights of %u dimensions for %" PRId64 " groups of %u channels; "
                           "expected [inputs, outputs, rows, columns]",
                           w->rank, groups, channels);
    *outputs = (uint32_t)w->dims[1] * (uint32_t)groups;
    if (!import_read_bias(im, 2, w, *outputs, &conv->bias))
        return false;
    conv->groups = (uint32_t)groups;
    conv->window.kernel[0] = (uint32_t)w->dims[2];
    conv->window.kernel[1] = (uint32_t)w->dims[3];
    conv->weights = turn_weights(im, w, conv->groups);
    return conv->weights ? true : format_fail(im->error, "out of memory");
}

static bool turn_pads(importer *im, graph_window *w)
{
    uint32_t more[2];
    if (!import_pair(im, "output_padding", 0, 0, 0, more))
        return false;
    for (int i = 0; i < 2; i++) {
        const int64_t max = graph_window_extent(w, i) - 1;
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

static bool read_strided(importer *im, const graph_window *w, strided v[2], graph_window *conv)
{
    uint32_t more[2];
    if (!import_pair(im, "output_padding", 0, 0, GRAPH_MAX_KERNEL, more))
        return false;
    for (int i = 0; i < 2; i++) {
        const int64_t s = w->stride[i], kernel = w->kernel[i], begin = w->pad_begin[i];
        v[i] = (strided){s, begin, kernel, floor_div(begin - kernel, s) + 1,
                         floor_div(s - 1 + begin, s)};
        const int64_t extent = v[i].high - v[i].low + 1;
        /* s in + grown outputs, in blocks of s. */
        const int64_t grown = more[i] + kernel - begin - w->pad_end[i] - s;
        const int64_t before = -v[i].low, after = floor_div(grown, s) - before + extent - 1;
        if (w->stride[0] != w->stride[1] || s > 4 || w->dilation[i] != 1 || grown % s ||
            before < 0 || after < 0)
            return import_fail(im,
                               "has strides %ux%u, pads %u and %u and output_padding %u; "
                               "supported: strides of 1, and of 2 to 4 that divide the size "
                               "of the result",
                               w->stride[0], w->stride[1], w->pad_begin[i], w->pad_end[i], more[i]);
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

static bool add_strided(importer *im, uint32_t x, graph_conv *conv, uint32_t outputs)
{
    strided v[2];
    graph_window window = {.kernel = {1, 1}};
    uint32_t size[2];
    const uint32_t channels = im->g->values[x].channels, s = conv->window.stride[0];
    if (!read_strided(im, &conv->window, v, &window))
        return false;
    if ((uint64_t)outputs * s * s > MONA_MAX_CHANNELS)
        return import_fail(im, "makes too many channels, %u, by strides of %u", outputs, s);
    if (!spread_weights(im, v, channels, outputs, &window, conv) ||
        !import_window_size(im, &window, &im->g->values[x], false, size))
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
    uint32_t x, outputs = 0;
    if (!import_tensor(im, 0, &x))
        return false;
    const graph_value source = im->g->values[x];
    graph_conv conv = {0};
    if (onnx_find_attribute(im->node, "output_shape") ||
        !import_text_is(im, "auto_pad", "NOTSET", "NOTSET"))
        return import_fail(im, "asks for output_shape or auto_pad; supported: pads");
    if (!read_weights(im, source.channels, &conv, &outputs) ||
        !import_window(im, &source, &conv.window))
        return false;
    if (conv.window.stride[0] != 1 || conv.window.stride[1] != 1)
        return add_strided(im, x, &conv, outputs);
    if (!turn_pads(im, &conv.window))
        return false;
    return import_add_conv(im, &conv, x, outputs);
}
