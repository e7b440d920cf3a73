// SPDX-License-Identifier: Apache-2.0
/* The judge's MaxPool and AveragePool, window by window. */
#include <math.h>

#include "formats/compiler/reference_nodes.h"

static double sample(const reference_array *a, uint32_t c, int64_t y, int64_t x)
{
    return (double)a->data[((size_t)c * a->height + (size_t)y) * a->width + (size_t)x];
}

/* The window of output i along one axis: samples first, first + dilation, ... below end. */
typedef struct pool_range {
    int64_t first, end;
} pool_range;

static pool_range pool_window(const graph_pool *pool, int axis, uint32_t in, uint32_t i)
{
    const graph_window *w = &pool->window;
    if (pool->whole)
        return (pool_range){0, in};
    const int64_t first = (int64_t)i * w->stride[axis] - w->pad_begin[axis];
    return (pool_range){first, first + graph_window_extent(w, axis)};
}

/* Maximum or mean of one window. */
static float pool_at(const graph_node *node, const reference_array *in, uint32_t c, pool_range rows,
                     pool_range columns)
{
    const graph_pool *p = &node->pool;
    const int64_t step_y = p->whole ? 1 : p->window.dilation[0];
    const int64_t step_x = p->whole ? 1 : p->window.dilation[1];
    const int64_t height = in->height, width = in->width;
    const int64_t bottom = height + (p->include_pad ? p->window.pad_end[0] : 0);
    const int64_t right = width + (p->include_pad ? p->window.pad_end[1] : 0);
    double sum = 0, max = -INFINITY;
    size_t count = 0;
    for (int64_t y = rows.first; y < rows.end && y < bottom; y += step_y)
        for (int64_t x = columns.first; x < columns.end && x < right; x += step_x) {
            const bool inside = y >= 0 && y < height && x >= 0 && x < width;
            const double v = inside ? sample(in, c, y, x) : 0;
            max = inside && v > max ? v : max;
            sum += v;
            count += inside || p->include_pad;
        }
    if (node->kind == GRAPH_MAX_POOL)
        return max > -INFINITY ? (float)max : 0;
    return count ? (float)(sum / (double)count) : 0;
}

void reference_pool(const graph_node *node, const reference_array *in, reference_array *out)
{
    float *to = out->data;
    for (uint32_t c = 0; c < out->channels; c++)
        for (uint32_t y = 0; y < out->height; y++)
            for (uint32_t x = 0; x < out->width; x++)
                *to++ = pool_at(node, in, c, pool_window(&node->pool, 0, in->height, y),
                                pool_window(&node->pool, 1, in->width, x));
}
