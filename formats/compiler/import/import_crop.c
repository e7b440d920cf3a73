// SPDX-License-Identifier: Apache-2.0
/* Slices of channels, or of rows and columns: a depthwise convolution whose filter has a single 1,
 * at the offset where the slice begins, and zeros for the part that the slice leaves out at the
 * end. */
#include "formats/compiler/import/importer.h"
#include "formats/reference/operators.h"

enum { MAX_STEP = 63, MAX_FILTER = 64 };

/* dim: -1 where it is open. */
static bool takes_all(const op_taken *t, int64_t dim)
{
    return t->step == 1 && (dim < 0 ? !t->start && t->end >= INT32_MAX
                                    : (!t->start || t->start <= -dim) && t->end >= dim);
}

/* Whether all is taken of all axes but one; `but` UINT32_MAX: of all axes. */
static bool takes_rest(const op_taken *taken, const tensor *x, uint32_t but)
{
    bool takes = true;
    for (uint32_t i = 0; takes && i < x->rank; i++)
        takes = i == but || takes_all(&taken[i], x->dims[i]);
    return takes;
}

/* The filter along an axis of this size (0: open): the 1 is at *first. False: it is too large, or
 * depends on the size. */
static bool filter_of(const op_taken *t, int64_t size, uint32_t *first, uint32_t *kernel)
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

/* Slices rows and columns of x. */
static bool slice_sides(importer *im, uint32_t x, const op_taken *t)
{
    graph_window w = {.dilation = {1, 1}};
    uint32_t first[2], size[2];
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

bool import_slice(importer *im)
{
    op_taken taken[TENSOR_MAX_RANK];
    uint32_t x;
    if (!import_elements(im, 0, &x))
        return false;
    if (!op_slice_read(&im->call, taken))
        return import_refused(im, "bounds");
    const uint32_t axis = import_is_last(im, 0) ? im->in[0]->rank - 1 : 1;
    if (takes_rest(taken, im->in[0], UINT32_MAX))
        return import_bind(im, 0, x);
    if (taken[axis].step != 1 || !takes_rest(taken, im->in[0], axis))
        return import_tensor(im, 0, &x) && slice_sides(im, x, taken);
    if (!import_any_channels(im, 0, &x))
        return false;
    const uint32_t channels = im->g->values[x].channels;
    const op_span kept = op_taken_of(&taken[axis], channels);
    return kept.count ? import_add_slice(im, 0, x, (uint32_t)kept.first, (uint32_t)kept.count)
                      : import_fail(im, "keeps no channel of %u", channels);
}
