// SPDX-License-Identifier: Apache-2.0
/* Attention of queries, keys and values whose channels come last: on maps, or on arrays. */
#include "formats/compiler/import/array.h"

#include <math.h>

/* 1 / sqrt(size), unless the node gives another factor. */
static float scale_of(const importer *im, int64_t size)
{
    const float scale = onnx_float(im->node, "scale", 0);
    return scale != 0 ? scale : (float)(1 / sqrt((double)size));
}

/* Whether it is attention alone: without a mask, earlier keys, or limits. */
static bool is_plain(const importer *im)
{
    for (uint32_t i = 3; i < im->node->input_count; i++)
        if (import_has(im, i))
            return false;
    for (uint32_t i = 1; i < im->node->output_count; i++)
        if (im->node->outputs[i] != ONNX_NONE)
            return false;
    return !onnx_int(im->node, "is_causal", 0) && onnx_float(im->node, "softcap", 0) == 0;
}

bool import_attention(importer *im)
{
    const int64_t heads = onnx_int(im->node, "q_num_heads", 0);
    uint32_t x[3];
    for (size_t i = 0; i < 3; i++)
        if (!import_elements(im, i, &x[i]))
            return false;
    const graph_value *v[3] = {&im->g->values[x[0]], &im->g->values[x[1]], &im->g->values[x[2]]};
    bool maps = is_plain(im) && heads > 0 && heads == onnx_int(im->node, "kv_num_heads", 0) &&
                v[0]->channels == v[1]->channels && v[0]->channels % heads == 0 &&
                v[2]->channels % heads == 0 && v[1]->height && v[1]->height == v[2]->height &&
                v[1]->width == v[2]->width && import_shape(im, 0).rank == 3;
    for (size_t i = 0; i < 3; i++)
        maps = maps && import_is_last(im, i);
    if (!maps)
        return import_fail(im, "is not plain attention between tensors whose channels come last");
    const uint32_t channels = v[2]->channels;
    const float scale = scale_of(im, v[0]->channels / heads);
    graph_node *made =
        import_node(im, 0, GRAPH_ATTENTION, x[0], channels, v[0]->height, v[0]->width);
    if (!made)
        return false;
    made->input_count = 3;
    for (size_t i = 1; i < 3; i++)
        made->inputs[i] = x[i];
    made->attention.heads = (uint32_t)heads;
    made->attention.scale = scale;
    return true;
}

/* Input i as [batch, groups, heads of a group, rows, size]. */
static array in_heads(importer *im, uint32_t i, int64_t heads, int64_t groups)
{
    static const uint32_t order[5] = {0, 2, 3, 1, 4};
    const array x = array_in(im, i);
    if (!array_ok(x))
        return x;
    if (x.rank == 4) {
        const int64_t dims[5] = {x.dims[0], groups, x.dims[1] / groups, x.dims[2], x.dims[3]};
        return array_view(im, x, 5, dims);
    }
    const int64_t dims[5] = {x.dims[0], x.dims[1], groups, heads / groups, x.dims[2] / heads};
    return array_permute(array_view(im, x, 5, dims), order);
}

bool import_array_attention(importer *im)
{
    static const uint32_t turned[5] = {0, 1, 2, 4, 3}, back[5] = {0, 3, 1, 2, 4};
    const tensor *q = array_in_tensor(im, 0), *k = array_in_tensor(im, 1);
    if (!q || !k)
        return false;
    if (!is_plain(im))
        return import_fail(im, "has a mask, earlier keys, is causal or limits its scores");
    const int64_t groups = q->rank == 4 ? k->dims[1] : onnx_int(im->node, "kv_num_heads", 1);
    const int64_t heads = q->rank == 4 ? q->dims[1] : onnx_int(im->node, "q_num_heads", 1);
    const array queries = in_heads(im, 0, heads, groups), keys = in_heads(im, 1, groups, groups);
    const array values = in_heads(im, 2, groups, groups);
    if (!array_ok(queries) || !array_ok(keys) || !array_ok(values))
        return false;
    const array scale = array_number(im, MONA_F32, (double)scale_of(im, queries.dims[4]));
    const array products = array_matmul(im, MONA_F32, queries, array_permute(keys, turned));
    const array scores = array_binary(im, MONA_F32, MONA_FN_MUL, products, scale);
    const array found =
        array_matmul(im, array_result_type(im, 0),
                     array_softmax(im, MONA_F32, MONA_NORMALISE_SOFTMAX, scores, 4, 5), values);
    if (!array_ok(found))
        return false;
    return array_bind(im, 0, q->rank == 4 ? found : array_permute(found, back));
}
