/* ConvTranspose without strides is a convolution: with the filter turned round, and padding that
 * leaves of its extent what the transposed one does not take away:
 *
 *   y[i] = sum over k of x[i + begin - k d] w[k] = sum over k' of x[i - p + k' d] w[K - 1 - k']
 *
 * with k' = K - 1 - k and p = (K - 1) d - begin. */
#include "importer.h"

#include <inttypes.h>
#include <math.h>

/* [inputs][outputs / groups][rows][columns] -> [outputs][inputs / groups][rows][columns], turned.
 */
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

static bool read_weights(importer *im, const onnx_node *node, uint32_t channels, graph_conv *conv,
                         uint32_t *outputs)
{
    const graph_value *w = import_constant(im, node, 1), *b = import_constant(im, node, 2);
    const int64_t groups = onnx_whole(node, "group", 1);
    if (!w || (import_has(node, 2) && !b))
        return import_fail(im, node, "has computed weights; expected constants");
    if (w->rank != 4 || !w->count || w->dims[0] != channels || groups < 1 || channels % groups ||
        w->dims[1] * (uint64_t)groups > MONA_MAX_CHANNELS || w->dims[2] > IMPORT_MAX_KERNEL ||
        w->dims[3] > IMPORT_MAX_KERNEL)
        return import_fail(im, node,
                           "has weights of %u sides for %" PRId64 " groups of %u channels; "
                           "expected [inputs, outputs, rows, columns]",
                           w->rank, groups, channels);
    *outputs = (uint32_t)w->dims[1] * (uint32_t)groups;
    if (b && b->count != *outputs)
        return import_fail(im, node, "has %zu biases for %u outputs", b->count, *outputs);
    for (size_t i = 0; i < w->count; i++)
        if (!isfinite(w->data[i]) || (b && i < b->count && !isfinite(b->data[i])))
            return import_fail(im, node, "has a weight that is infinite or not a number");
    conv->groups = (uint32_t)groups;
    conv->window.kernel[0] = (uint32_t)w->dims[2];
    conv->window.kernel[1] = (uint32_t)w->dims[3];
    conv->bias = b ? b->data : graph_alloc(im->g, *outputs, sizeof(float));
    conv->weights = turn_weights(im, w, conv->groups);
    return conv->bias && conv->weights ? true : format_fail(im->error, "out of memory");
}

static bool turn_pads(importer *im, const onnx_node *node, graph_window *w)
{
    uint32_t more[2];
    if (!import_pair(im, node, "output_padding", 0, 0, 0, more))
        return false;
    for (int i = 0; i < 2; i++) {
        const int64_t most = graph_window_extent(w, i) - 1;
        if (w->stride[i] != 1 || w->pad_begin[i] > most || w->pad_end[i] > most)
            return import_fail(im, node,
                               "has a stride of %u and pads of %u and %u; supported are 1 and up "
                               "to %" PRId64,
                               w->stride[i], w->pad_begin[i], w->pad_end[i], most);
        w->pad_begin[i] = (uint32_t)most - w->pad_begin[i];
        w->pad_end[i] = (uint32_t)most - w->pad_end[i];
    }
    return true;
}

bool import_conv_transpose(importer *im, const onnx_node *node)
{
    uint32_t x, outputs = 0;
    if (!import_tensor(im, node, 0, &x))
        return false;
    const graph_value source = im->g->values[x];
    graph_conv conv = {0};
    if (onnx_find_attribute(node, "output_shape") ||
        !import_text_is(node, "auto_pad", "NOTSET", "NOTSET"))
        return import_fail(im, node, "asks for output_shape or auto_pad; supported are pads");
    if (!read_weights(im, node, source.channels, &conv, &outputs) ||
        !import_window(im, node, &source, &conv.window) || !turn_pads(im, node, &conv.window))
        return false;
    return import_add_conv(im, node, &conv, x, outputs);
}
