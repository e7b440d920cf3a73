// SPDX-License-Identifier: Apache-2.0
/* Sliding windows: the attributes that convolutions and pools share. */
#include "formats/compiler/import/importer.h"

#include <inttypes.h>

/* A line has a number for its columns only; its single row keeps its value. */
bool import_pair(importer *im, const char *name, uint32_t otherwise, int64_t min, int64_t max,
                 uint32_t *out)
{
    int64_t numbers[GRAPH_MAX_RANK];
    uint32_t count;
    if (!import_numbers(im, name, SIZE_MAX, numbers, GRAPH_MAX_RANK, &count))
        return false;
    if (count == 1 && import_is_line(im, 0)) {
        numbers[1] = numbers[0];
        numbers[0] = 1;
        count = 2;
    }
    if (count && count != 2)
        return import_fail(im, "has %u numbers in %s; expected 2: only 2-D is supported", count,
                           name);
    for (int i = 0; i < 2; i++) {
        if (count && (numbers[i] < min || numbers[i] > max))
            return import_fail(im, "has %s %" PRId64 "; supported: %" PRId64 " to %" PRId64, name,
                               numbers[i], min, max);
        out[i] = count ? (uint32_t)numbers[i] : otherwise;
    }
    return true;
}

/* Reads explicit pads, or computes them from auto_pad. SAME gives ceil(size / stride) outputs. */
static bool read_pads(importer *im, const uint32_t *size, graph_window *w)
{
    int64_t pads[4] = {0};
    uint32_t count;
    if (!import_numbers(im, "pads", SIZE_MAX, pads, 4, &count))
        return false;
    if (count == 2 && import_is_line(im, 0)) {
        pads[3] = pads[1];
        pads[1] = pads[0];
        pads[0] = 0;
        count = 4;
    }
    if (count && count != 4)
        return import_fail(im, "has %u numbers in pads; expected 4", count);
    const bool upper = import_text_is(im, "auto_pad", "SAME_UPPER", "NOTSET");
    const bool lower = import_text_is(im, "auto_pad", "SAME_LOWER", "NOTSET");
    for (int i = 0; i < 2 && (upper || lower); i++) {
        const int64_t extent = graph_window_extent(w, i);
        const int64_t stride = w->stride[i];
        if (stride > 1 && !size[i])
            return import_fail(im, "pads by auto_pad with a stride, which needs a fixed "
                                   "input size");
        const int64_t outputs = stride > 1 ? (size[i] + stride - 1) / stride : 0;
        int64_t total = stride > 1 ? (outputs - 1) * stride + extent - size[i] : extent - 1;
        total = total > 0 ? total : 0;
        pads[i] = upper ? total / 2 : total - total / 2;
        pads[i + 2] = total - pads[i];
    }
    for (int i = 0; i < 4; i++)
        if (pads[i] < 0 || pads[i] > GRAPH_MAX_PAD)
            return import_fail(im, "pads by %" PRId64 "; supported: 0 to %d", pads[i],
                               GRAPH_MAX_PAD);
    for (int i = 0; i < 2; i++) {
        w->pad_begin[i] = (uint32_t)pads[i];
        w->pad_end[i] = (uint32_t)pads[i + 2];
    }
    return true;
}

bool import_window(importer *im, const graph_value *source, graph_window *w)
{
    const uint32_t size[2] = {source->height, source->width};
    return import_pair(im, "strides", 1, 1, GRAPH_MAX_STRIDE, w->stride) &&
           import_pair(im, "dilations", 1, 1, GRAPH_MAX_KERNEL, w->dilation) &&
           read_pads(im, size, w);
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
