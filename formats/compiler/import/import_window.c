// SPDX-License-Identifier: Apache-2.0
/* Sliding windows of maps, which convolutions and pools share. */
#include "formats/compiler/import/importer.h"

#include <inttypes.h>

static bool within(importer *im, const char *name, int64_t number, int max)
{
    return number <= max ||
           import_fail(im, "has %s %" PRId64 "; supported: 1 to %d", name, number, max);
}

bool import_window(importer *im, const op_window *from, graph_window *w)
{
    for (int i = 0; i < 2; i++) {
        const int k = WINDOW_DIMS - 2 + i;
        const int64_t pad = from->begin[k] > from->end[k] ? from->begin[k] : from->end[k];
        if (!within(im, "kernel_shape", from->kernel[k], GRAPH_MAX_KERNEL) ||
            !within(im, "strides", from->stride[k], GRAPH_MAX_STRIDE) ||
            !within(im, "dilations", from->dilation[k], GRAPH_MAX_KERNEL))
            return false;
        if (pad > GRAPH_MAX_PAD)
            return import_fail(im, "pads by %" PRId64 "; supported: 0 to %d", pad, GRAPH_MAX_PAD);
        w->kernel[i] = (uint32_t)from->kernel[k];
        w->stride[i] = (uint32_t)from->stride[k];
        w->dilation[i] = (uint32_t)from->dilation[k];
        w->pad_begin[i] = (uint32_t)from->begin[k];
        w->pad_end[i] = (uint32_t)from->end[k];
    }
    return true;
}

bool import_window_size(importer *im, const graph_window *w, const graph_value *source,
                        bool round_up, uint32_t size[2])
{
    const uint32_t in[2] = {source->height, source->width};
    for (int i = 0; i < 2; i++) {
        size[i] = in[i] ? graph_window_outputs(w, i, in[i], round_up) : 0;
        if (in[i] && !size[i])
            return import_fail(im, "has a filter larger than its padded input");
    }
    return true;
}
