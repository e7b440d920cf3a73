// SPDX-License-Identifier: Apache-2.0
/* Maximum and mean over windows, or over whole maps. */
#include "formats/compiler/import/importer.h"

#include <inttypes.h>

static bool add_pool(importer *im, const onnx_node *node, graph_kind kind, uint32_t x,
                     graph_pool pool, const uint32_t size[2])
{
    const uint32_t channels = im->g->values[x].channels;
    graph_node *made = import_node(im, node, 0, kind, channels, size[0], size[1]);
    if (!made)
        return false;
    made->input_count = 1;
    made->inputs[0] = x;
    made->pool = pool;
    return true;
}

/* ---- windows ------------------------------------------------------------------------------ */

static bool import_windows(importer *im, const onnx_node *node, graph_kind kind)
{
    uint32_t x, size[2];
    graph_pool pool = {
        .round_up = onnx_int(node, "ceil_mode", 0),
        .include_pad = kind == GRAPH_AVERAGE_POOL && onnx_int(node, "count_include_pad", 0),
    };
    graph_window *w = &pool.window;
    if (!import_channels(im, node, 0, &x))
        return false;
    const graph_value source = im->g->values[x];
    if (!import_pair(im, node, "kernel_shape", 0, 1, IMPORT_MAX_KERNEL, w->kernel))
        return false;
    if (!w->kernel[0])
        return import_fail(im, node, "has no kernel_shape");
    if (!import_window(im, node, &source, w) ||
        !import_window_size(im, node, w, &source, pool.round_up, size))
        return false;
    for (int i = 0; i < 2; i++) {
        const int64_t extent = graph_window_extent(w, i);
        const uint32_t pad = w->pad_begin[i] > w->pad_end[i] ? w->pad_begin[i] : w->pad_end[i];
        if (pad >= extent)
            return import_fail(im, node,
                               "pads by %u, which leaves nothing of the input in a window of "
                               "%" PRId64,
                               pad, extent);
    }
    return add_pool(im, node, kind, x, pool, size);
}

bool import_max_pool(importer *im, const onnx_node *node)
{
    if (node->output_count > 1 && node->outputs[1] != ONNX_NONE)
        return import_fail(im, node,
                           "has indices of the maxima as a second output, which is not supported");
    return import_windows(im, node, GRAPH_MAX_POOL);
}

bool import_average_pool(importer *im, const onnx_node *node)
{
    return import_windows(im, node, GRAPH_AVERAGE_POOL);
}

/* ---- whole maps --------------------------------------------------------------------------- */

static bool import_whole(importer *im, const onnx_node *node, graph_kind kind)
{
    static const uint32_t one[2] = {1, 1};
    uint32_t x;
    return import_channels(im, node, 0, &x) &&
           add_pool(im, node, kind, x, (graph_pool){.whole = true}, one);
}

bool import_global_max_pool(importer *im, const onnx_node *node)
{
    return import_whole(im, node, GRAPH_MAX_POOL);
}

bool import_global_average_pool(importer *im, const onnx_node *node)
{
    return import_whole(im, node, GRAPH_AVERAGE_POOL);
}

bool import_spatial_axes(const int64_t *axes, uint32_t count)
{
    unsigned seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + 4 : axes[i];
        seen |= axis == 2 ? 1 : axis == 3 ? 2 : 4;
    }
    return seen == 3;
}

bool import_reduce_mean(importer *im, const onnx_node *node)
{
    int64_t axes[4];
    uint32_t count, x;
    if (!import_tensor(im, node, 0, &x) || !import_numbers(im, node, "axes", 1, axes, 4, &count))
        return false;
    if (!import_spatial_axes(axes, count))
        return import_fail(im, node, "is supported over height and width (axes 2 and 3) alone");
    if (!import_whole(im, node, GRAPH_AVERAGE_POOL))
        return false;
    if (!onnx_int(node, "keepdims", 1))
        import_set_view(im, node, VIEW_FLAT);
    return true;
}
