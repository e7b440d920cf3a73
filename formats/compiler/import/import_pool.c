// SPDX-License-Identifier: Apache-2.0
/* Maximum and mean over windows, or over whole maps. */
#include "formats/compiler/import/importer.h"

#include <inttypes.h>

static bool add_pool(importer *im, graph_kind kind, uint32_t x, mona_file_pool pool,
                     const uint32_t size[2])
{
    const uint32_t channels = im->g->values[x].channels;
    graph_node *made = import_node(im, 0, kind, x, channels, size[0], size[1]);
    if (made)
        made->pool = pool;
    return made;
}

/* ---- windows ------------------------------------------------------------------------------ */

static bool import_windows(importer *im, graph_kind kind)
{
    uint32_t x, size[2];
    graph_window window, *w = &window;
    op_window read;
    if (!import_channels(im, 0, &x) || !op_window_read(&im->call, im->in[0], NULL, &read) ||
        !import_window(im, &read, w) ||
        !import_window_size(im, w, &im->g->values[x], read.round_up, size))
        return false;
    for (int i = 0; i < 2; i++) {
        const int64_t extent = graph_window_extent(w, i);
        const uint32_t pad = w->pad_begin[i] > w->pad_end[i] ? w->pad_begin[i] : w->pad_end[i];
        if (pad >= extent)
            return import_fail(
                im, "pads by %u, which leaves nothing of the input in a window of %" PRId64, pad,
                extent);
    }
    const mona_file_pool pool = {
        GRAPH_WINDOW_FIELDS(w),
        .ceil_mode = read.round_up,
        .count_include_pad = read.counts_padding,
    };
    return add_pool(im, kind, x, pool, size);
}

bool import_max_pool(importer *im)
{
    if (im->node->output_count > 1 && im->node->outputs[1] != ONNX_NONE)
        return import_fail(im,
                           "has indices of the maxima as a second output, which is not supported");
    return import_windows(im, GRAPH_MAX_POOL);
}

bool import_average_pool(importer *im)
{
    return import_windows(im, GRAPH_AVERAGE_POOL);
}

/* ---- whole maps --------------------------------------------------------------------------- */

static bool add_whole(importer *im, graph_kind kind)
{
    static const mona_file_pool whole = {
        .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1};
    static const uint32_t one[2] = {1, 1};
    uint32_t x;
    return import_channels(im, 0, &x) && add_pool(im, kind, x, whole, one);
}

bool import_global_pool(importer *im)
{
    const bool largest = import_code(im) == MONA_REDUCE_MAX;
    return add_whole(im, largest ? GRAPH_MAX_POOL : GRAPH_AVERAGE_POOL);
}

bool import_spatial_axes(importer *im, bool *spatial)
{
    uint32_t mask;
    if (!op_axes(&im->call, 1, 4, &mask))
        return import_refused(im, "axes");
    *spatial = mask == (1 << 2 | 1 << 3);
    return true;
}

bool import_reduce_mean(importer *im)
{
    uint32_t x;
    bool spatial;
    if (!import_tensor(im, 0, &x) || !import_spatial_axes(im, &spatial))
        return false;
    if (!spatial)
        return import_fail(im, "is supported over height and width (axes 2 and 3) alone");
    if (!add_whole(im, GRAPH_AVERAGE_POOL))
        return false;
    if (!onnx_int(im->node, "keepdims", 1))
        im->bindings[im->node->outputs[0]].rank = 2;
    return true;
}
