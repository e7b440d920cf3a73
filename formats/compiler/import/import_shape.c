// SPDX-License-Identifier: Apache-2.0
/* Operators that pass values on: concatenation and slicing of channels. */
#include "formats/compiler/import/importer.h"

#include <inttypes.h>
#include <string.h>

bool import_identity(importer *im)
{
    const uint32_t value = import_bound(im, 0);
    if (value == UINT32_MAX)
        return import_fail(im, "has no input");
    return import_bind(im, 0, value);
}

/* ---- channels ----------------------------------------------------------------------------- */

/* Adds input i to the dimensions and channels of the result so far. */
static bool join(importer *im, size_t i, graph_value *all, uint32_t *value)
{
    if (!import_any_channels(im, i, value))
        return false;
    const graph_value *v = &im->g->values[*value];
    if (import_is_last(im, i) != import_is_last(im, 0))
        return import_fail(im, "concatenates tensors whose channels are different axes");
    if ((all->height && v->height && all->height != v->height) ||
        (all->width && v->width && all->width != v->width))
        return import_fail(im, "concatenates tensors of %ux%u and %ux%u", all->width, all->height,
                           v->width, v->height);
    all->height = v->height ? v->height : all->height;
    all->width = v->width ? v->width : all->width;
    all->channels += v->channels;
    return true;
}

/* If there are more inputs than a node can take, the first ones form a concat of their own, and so
 * on. Concats that begin with the same inputs then begin with the same nodes, which can be
 * merged. */
bool import_concat(importer *im)
{
    if (!im->node->input_count || !import_is_channel_axis(im, 0, onnx_int(im->node, "axis", 1)))
        return import_fail(
            im, "concatenates tensors along axis %" PRId64 "; supported: the channels (axis 1)",
            onnx_int(im->node, "axis", 1));
    uint32_t inputs[GRAPH_MAX_INPUTS], count = 0;
    graph_value all = {0};
    for (size_t i = 0; i < im->node->input_count; i++) {
        if (count == GRAPH_MAX_INPUTS) {
            graph_node *part = import_inner_like(im, GRAPH_CONCAT, inputs[0]);
            if (!part)
                return false;
            part->input_count = count;
            memcpy(part->inputs, inputs, sizeof inputs);
            graph_set_dims(im->g, part->output, all.channels, all.height, all.width);
            inputs[0] = part->output;
            count = 1;
        }
        if (!join(im, i, &all, &inputs[count++]))
            return false;
    }
    graph_node *made =
        import_node(im, 0, GRAPH_CONCAT, inputs[0], all.channels, all.height, all.width);
    if (!made)
        return false;
    made->input_count = count;
    memcpy(made->inputs, inputs, count * sizeof *inputs);
    return true;
}

static bool add_slice(importer *im, size_t output, uint32_t x, uint32_t first, uint32_t count)
{
    const graph_value v = im->g->values[x];
    graph_node *made = import_node(im, output, GRAPH_SLICE, x, count, v.height, v.width);
    if (!made)
        return false;
    made->slice.first = first;
    made->slice.count = count;
    return true;
}

/* A bound of a slice: negative ones count from the end; the result is limited to [0, dim]. */
static int64_t bound(int64_t at, int64_t dim)
{
    at = at < 0 ? at + dim : at;
    return at < 0 ? 0 : at > dim ? dim : at;
}

/* Whether a Slice keeps some channels, in steps of 1. */
static bool slices_channels(const importer *im)
{
    const tensor *axes = import_has(im, 3) ? &im->model->values[im->node->inputs[3]].tensor : NULL;
    const tensor *steps = import_has(im, 4) ? &im->model->values[im->node->inputs[4]].tensor : NULL;
    return axes && axes->data && axes->count == 1 &&
           import_is_channel_axis(im, 0, tensor_int(axes, 0)) &&
           (!steps || (steps->data && steps->count == 1 && tensor_int(steps, 0) == 1));
}

bool import_slice(importer *im)
{
    int64_t start, end;
    uint32_t starts, ends, x;
    if (!slices_channels(im))
        return import_spatial_slice(im);
    if (!import_any_channels(im, 0, &x) || !import_numbers(im, "starts", 1, &start, 1, &starts) ||
        !import_numbers(im, "ends", 2, &end, 1, &ends))
        return false;
    const int64_t channels = im->g->values[x].channels;
    const int64_t first = bound(start, channels), last = bound(end, channels);
    if (!starts || !ends || first >= last)
        return import_fail(im, "keeps no channel of %" PRId64, channels);
    return add_slice(im, 0, x, (uint32_t)first, (uint32_t)(last - first));
}

bool import_split(importer *im)
{
    uint32_t x, count;
    int64_t sizes[64];
    if (!import_any_channels(im, 0, &x) || !import_numbers(im, "split", 1, sizes, 64, &count))
        return false;
    const uint32_t channels = im->g->values[x].channels;
    const size_t outputs = im->node->output_count;
    if (!import_is_channel_axis(im, 0, onnx_int(im->node, "axis", 0)) || !outputs || outputs > 64 ||
        (count && count != outputs))
        return import_fail(im,
                           "splits axis %" PRId64 " into %zu parts; supported: channels (axis "
                           "1) into at most 64",
                           onnx_int(im->node, "axis", 0), outputs);
    /* Parts of equal size; the last one may be smaller. */
    const uint32_t part = (uint32_t)((channels + outputs - 1) / outputs);
    uint32_t first = 0;
    for (size_t i = 0; i < outputs; i++) {
        const int64_t left = channels - first, size = count ? sizes[i] : part < left ? part : left;
        if (size < 1 || size > left)
            return import_fail(im, "splits %u channels into parts that do not fit", channels);
        if (!add_slice(im, i, x, first, (uint32_t)size))
            return false;
        first += (uint32_t)size;
    }
    return first == channels ? true : import_fail(im, "does not split all channels");
}
