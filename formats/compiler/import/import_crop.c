// SPDX-License-Identifier: Apache-2.0
/* Slices of rows and columns: a depthwise convolution whose filter has a single 1, at the offset
 * where the slice begins, and zeros for the part that the slice leaves out at the end. */
#include "formats/compiler/import/importer.h"

#include <inttypes.h>

enum { MAX_STEP = 63, MAX_FILTER = 64 };

/* The part of one axis that a Slice takes. */
typedef struct taken {
    int64_t start, end, step;
} taken;

/* Reads what is taken of each of four axes. */
static bool read_slices(importer *im, taken all[4])
{
    int64_t starts[4], ends[4], axes[4] = {0, 1, 2, 3}, steps[4] = {1, 1, 1, 1};
    uint32_t count, end_count, axis_count, step_count;
    for (int i = 0; i < 4; i++)
        all[i] = (taken){0, INT64_MAX, 1};
    if (!import_numbers(im, "starts", 1, starts, 4, &count) ||
        !import_numbers(im, "ends", 2, ends, 4, &end_count) ||
        !import_numbers(im, "axes", 3, axes, 4, &axis_count) ||
        !import_numbers(im, "steps", 4, steps, 4, &step_count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + 4 : axes[i];
        if (axis < 0 || axis > 3 || end_count != count)
            return import_fail(im, "slices axis %" PRId64 " of four", axes[i]);
        all[axis] = (taken){starts[i], ends[i], steps[i]};
    }
    return true;
}

static bool takes_all(const taken *t, int64_t size)
{
    return (t->start == 0 || t->start <= -size) && t->end >= size && t->step == 1;
}

/* The filter along an axis of this size (0: open): the 1 is at *first. False: it is too large, or
 * depends on the size. */
static bool filter_of(const taken *t, int64_t size, uint32_t *first, uint32_t *kernel)
{
    const int64_t far = INT32_MAX;
    if (t->step < 1 || t->step > MAX_STEP ||
        (!size && (t->start < 0 || (t->end >= 0 && t->end < far))))
        return false;
    int64_t start = t->start < 0 ? t->start + size : t->start;
    start = start < 0 ? 0 : start;
    const int64_t end = t->end < -MAX_FILTER ? -MAX_FILTER : t->end; /* -INT64_MIN is none */
    const int64_t left_out = end < 0 ? -end : end < size ? size - end : 0;
    if (start >= MAX_FILTER || left_out >= MAX_FILTER || (size && start + left_out >= size))
        return false;
    *first = (uint32_t)start;
    *kernel = (uint32_t)(start + 1 + left_out);
    return true;
}

bool import_spatial_slice(importer *im)
{
    graph_window w = {.dilation = {1, 1}};
    uint32_t x, first[2], size[2];
    taken t[4];
    if (!import_tensor(im, 0, &x) || !read_slices(im, t))
        return false;
    const graph_value v = im->g->values[x];
    bool fits = takes_all(&t[0], 1) && takes_all(&t[1], v.channels) &&
                filter_of(&t[2], v.height, &first[0], &w.kernel[0]) &&
                filter_of(&t[3], v.width, &first[1], &w.kernel[1]) &&
                w.kernel[0] * w.kernel[1] <= MAX_FILTER;
    if (!fits)
        return import_fail(im,
                           "slices a map otherwise than its channels in steps of 1, or a few rows "
                           "and columns off its edges in steps up to %d",
                           MAX_STEP);
    for (int i = 0; i < 2; i++)
        w.stride[i] = (uint32_t)t[i + 2].step;
    const size_t area = (size_t)w.kernel[0] * w.kernel[1];
    float *weights = graph_alloc(im->g, v.channels * area, sizeof *weights);
    float *bias = graph_alloc(im->g, v.channels, sizeof *bias);
    if (!weights || !bias)
        return format_fail(im->error, "out of memory");
    for (uint32_t c = 0; c < v.channels; c++)
        weights[c * area + first[0] * w.kernel[1] + first[1]] = 1;
    if (!import_window_size(im, &w, &v, false, size))
        return false;
    graph_node *made = import_node(im, 0, GRAPH_CONV, x, v.channels, size[0], size[1]);
    if (!made)
        return false;
    graph_become_channel_conv(made, v.channels, weights, bias);
    made->conv.window = w;
    return true;
}
