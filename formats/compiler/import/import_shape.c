// SPDX-License-Identifier: Apache-2.0
/* Operators that pass values on: concatenation and slicing of channels. */
#include "formats/compiler/import/importer.h"
#include "formats/reference/operators.h"

#include <inttypes.h>
#include <string.h>

bool import_identity(importer *im)
{
    const uint32_t value = import_bound(im, 0);
    if (value == UINT32_MAX)
        return import_fail(im, "has no input");
    if (!import_bind(im, 0, value))
        return false;
    im->bindings[im->node->outputs[0]].shuffle = import_shuffle_of(im);
    return true;
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
    for (size_t i = 0; i < im->node->input_count; i++)
        if (!join(im, i, &all, &inputs[0]))
            return false;
    if (!import_fits(im, all.channels, all.height, all.width))
        return false;
    all = (graph_value){0};
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

bool import_add_slice(importer *im, size_t output, uint32_t x, uint32_t first, uint32_t count)
{
    const graph_value v = im->g->values[x];
    graph_node *made = import_node(im, output, GRAPH_SLICE, x, count, v.height, v.width);
    if (!made)
        return false;
    made->slice.first = first;
    made->slice.count = count;
    return true;
}

/* Such as BGR of RGB. */
bool import_gather(importer *im)
{
    int64_t at[GRAPH_MAX_SHUFFLED];
    uint32_t from[GRAPH_MAX_SHUFFLED], x, count, rising = 1;
    if (!import_any_channels(im, 0, &x))
        return false;
    const graph_value v = im->g->values[x];
    if (im->in[1]->rank != 1 || !import_is_channel_axis(im, 0, onnx_int(im->node, "axis", 0)))
        return import_fail(im, "chooses otherwise than channels (axis 1) by a list of indices");
    if (!import_numbers(im, "indices", 1, at, GRAPH_MAX_SHUFFLED, &count))
        return false;
    if (!count || v.channels > GRAPH_MAX_SHUFFLED)
        return import_fail(im, "chooses %u of %u channels; supported: 1 to %d", count, v.channels,
                           GRAPH_MAX_SHUFFLED);
    for (uint32_t i = 0; i < count; i++) {
        at[i] += at[i] < 0 ? v.channels : 0;
        if (at[i] < 0 || at[i] >= v.channels)
            return import_fail(im, "chooses a channel that is none of %u", v.channels);
        from[i] = (uint32_t)at[i];
        rising += i && from[i] == from[i - 1] + 1;
    }
    if (rising == count)
        return import_add_slice(im, 0, x, from[0], count);
    graph_node *made = import_node(im, 0, GRAPH_CONV, x, count, v.height, v.width);
    return made && (graph_become_shuffle(im->g, made, v.channels, count, from) ||
                    format_fail(im->error, "out of memory"));
}

bool import_split(importer *im)
{
    enum { MAX_PARTS = 64 };
    uint32_t x, axis = 0, first = 0;
    int64_t sizes[MAX_PARTS];
    if (!import_any_channels(im, 0, &x))
        return false;
    const size_t outputs = im->node->output_count;
    if (!import_is_channel_axis(im, 0, onnx_int(im->node, "axis", 0)) || outputs > MAX_PARTS)
        return import_fail(im,
                           "splits axis %" PRId64 " into %zu parts; supported: channels (axis "
                           "1) into at most %d",
                           onnx_int(im->node, "axis", 0), outputs, MAX_PARTS);
    if (!op_split_read(&im->call, &axis, sizes))
        return import_refused(im, "split");
    for (size_t i = 0; i < outputs; i++)
        if (!sizes[i] || im->node->outputs[i] == ONNX_NONE)
            return import_fail(im, "splits %u channels into parts that do not fit",
                               im->g->values[x].channels);
    for (size_t i = 0; i < outputs; first += (uint32_t)sizes[i++])
        if (!import_add_slice(im, i, x, first, (uint32_t)sizes[i]))
            return false;
    return true;
}
