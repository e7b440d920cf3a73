// SPDX-License-Identifier: Apache-2.0
/* Attention of queries, keys and values whose channels come last: on maps, or on arrays. */
#include "formats/compiler/import/array.h"
#include "formats/reference/operators.h"

bool import_attention(importer *im)
{
    op_attending a;
    uint32_t x[3];
    for (size_t i = 0; i < 3; i++)
        if (!import_elements(im, i, &x[i]))
            return false;
    if (!op_attention_read(&im->call, &a))
        return false;
    const graph_value *v[3] = {&im->g->values[x[0]], &im->g->values[x[1]], &im->g->values[x[2]]};
    bool maps = a.part[0].heads == a.part[1].heads && v[1]->height &&
                v[1]->height == v[2]->height && v[1]->width == v[2]->width &&
                import_shape(im, 0).rank == 3;
    for (size_t i = 0; i < 3; i++)
        maps = maps && import_is_last(im, i);
    if (!maps)
        return import_fail(im, "is not plain attention between tensors whose channels come last");
    graph_node *made =
        import_node(im, 0, GRAPH_ATTENTION, x[0], v[2]->channels, v[0]->height, v[0]->width);
    if (!made)
        return false;
    made->input_count = 3;
    for (size_t i = 1; i < 3; i++)
        made->inputs[i] = x[i];
    made->attention.heads = (uint32_t)a.part[0].heads;
    made->attention.scale = (float)a.scale;
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
    op_attending a;
    if (!op_attention_read(&im->call, &a))
        return false;
    const int64_t heads = a.part[0].heads, groups = a.part[1].heads;
    const array queries = in_heads(im, 0, heads, groups), keys = in_heads(im, 1, groups, groups);
    const array values = in_heads(im, 2, groups, groups);
    const array scale = array_number(im, MONA_F32, (double)(float)a.scale);
    const array products = array_matmul(im, MONA_F32, queries, array_permute(keys, turned));
    const array scores = array_binary(im, MONA_F32, MONA_FN_MUL, products, scale);
    if (!array_ok(scores))
        return false;
    const array found =
        array_matmul(im, array_result_type(im, 0),
                     array_softmax(im, MONA_F32, MONA_NORMALISE_SOFTMAX, scores, 4, 5), values);
    return array_bind(im, 0, im->in[0]->rank == 4 ? found : array_permute(found, back));
}
