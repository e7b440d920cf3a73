// SPDX-License-Identifier: Apache-2.0
/* Depth-to-space and space-to-depth, including the forms in which exporters write them as several
 * nodes. */
#include "formats/compiler/import/importer.h"

#include <inttypes.h>
#include <string.h>

static bool add_depth(importer *im, graph_kind kind, uint32_t x, int64_t block, bool depth_first)
{
    const graph_value v = im->g->values[x];
    const bool up = kind == GRAPH_DEPTH_TO_SPACE;
    if (block < 1 || block > 64)
        return import_fail(im, "has a block of %" PRId64 "; supported: 1 to 4", block);
    const uint32_t b = (uint32_t)block, area = b * b;
    if (b == 1)
        return import_bind_shape(im, x, 4, false);
    if (up ? v.channels % area : v.height % b || v.width % b)
        return import_fail(im, "cannot rearrange %u channels of %ux%u by blocks of %u", v.channels,
                           v.width, v.height, b);
    graph_node *made =
        up ? import_node(im, 0, kind, x, v.channels / area, v.height * b, v.width * b)
           : import_node(im, 0, kind, x, v.channels * area, v.height / b, v.width / b);
    if (!made)
        return false;
    /* With one channel, both orders are the same. */
    const uint32_t planes = up ? v.channels / area : v.channels;
    made->depth.block = b;
    made->depth.depth_first = depth_first && planes > 1;
    return true;
}

bool import_depth_to_space(importer *im)
{
    uint32_t x;
    return import_tensor(im, 0, &x) &&
           add_depth(im, GRAPH_DEPTH_TO_SPACE, x, onnx_int(im->node, "blocksize", 0),
                     import_text_is(im, "mode", "DCR", "DCR"));
}

bool import_space_to_depth(importer *im)
{
    uint32_t x;
    return import_tensor(im, 0, &x) &&
           add_depth(im, GRAPH_SPACE_TO_DEPTH, x, onnx_int(im->node, "blocksize", 0), true);
}

/* ---- Reshape, Transpose, Reshape ---------------------------------------------------------- */

/* Exporters without DepthToSpace write it as [1, C b b, H, W] -> [1, C, b, b, H, W] -> permutation
 * 0 1 4 2 5 3 -> [1, C, H b, W b], or, depth first, as [1, b, b, C, H, W] and 0 3 4 1 5 2. The
 * inverse is [1, C, H, W] -> [1, C, H / b, b, W / b, b] -> 0 1 3 5 2 4 (or 0 3 5 1 2 4) -> [1, C b
 * b, H / b, W / b]. The last Reshape becomes the whole. */
typedef struct shuffle {
    bool up, depth_first;
    int permutation[6];
    int channels, rows, columns, block_y, block_x; /* axes of the shape with six dimensions */
} shuffle;

static const shuffle shuffles[] = {
    {true, false, {0, 1, 4, 2, 5, 3}, 1, 4, 5, 2, 3},
    {true, true, {0, 3, 4, 1, 5, 2}, 3, 4, 5, 1, 2},
    {false, false, {0, 1, 3, 5, 2, 4}, 1, 2, 4, 3, 5},
    {false, true, {0, 3, 5, 1, 2, 4}, 1, 2, 4, 3, 5},
};

static bool side_fits(int64_t written, uint32_t actual)
{
    return written == -1 || written == 0 || !actual || written == actual;
}

/* The shape of input 0, as far as the Reshape that makes it says. */
static tensor reshaped(const importer *im)
{
    const uint32_t value = im->node->inputs[0], maker = im->uses[value].maker;
    const onnx_node *node = maker == ONNX_NONE ? NULL : &im->model->nodes[maker];
    tensor shape = import_shape(im, 0);
    if (!node || im->model->values[value].shaped || onnx_kernel_of(im->model, node) ||
        operator_find(node->op_type)->import != import_reshape)
        return shape;
    const tensor *to = &im->model->values[node->inputs[1]].tensor;
    for (uint32_t k = 0; k < shape.rank; k++)
        shape.dims[k] = tensor_int(to, k);
    return shape;
}

/* Whether a permutation of input 0, a view of map v, is a part of a shuffle. */
static bool find_shuffle(const importer *im, const graph_value *v, const int64_t *permutation,
                         import_shuffle *found)
{
    const tensor reshape = reshaped(im);
    const int64_t *shape = reshape.dims;
    for (size_t i = 0; i < sizeof shuffles / sizeof *shuffles && !import_is_last(im, 0); i++) {
        const shuffle *s = &shuffles[i];
        const int64_t block = shape[s->block_y];
        bool match = true;
        for (int k = 0; k < 6; k++)
            match = match && permutation[k] == s->permutation[k];
        if (!match || block < 1 || block > 64 || shape[s->block_x] != block)
            continue;
        const uint32_t b = (uint32_t)block, area = s->up ? b * b : 1, cut = s->up ? 1 : b;
        *found = (import_shuffle){b, s->up, s->depth_first};
        if (side_fits(shape[0], 1) && v->channels % area == 0 &&
            side_fits(shape[s->channels], v->channels / area) &&
            side_fits(shape[s->rows], v->height / cut) &&
            side_fits(shape[s->columns], v->width / cut))
            return true;
    }
    return false;
}

static bool complete_shuffle(importer *im, import_shuffle s, const int64_t *shape, uint32_t rank)
{
    const uint32_t x = import_bound(im, 0), b = s.block;
    const graph_value *v = &im->g->values[x];
    if (rank != 4 || !side_fits(shape[1], s.up ? v->channels / (b * b) : v->channels * b * b) ||
        !side_fits(shape[2], s.up ? v->height * b : v->height / b) ||
        !side_fits(shape[3], s.up ? v->width * b : v->width / b))
        return import_fail(im, "ends a Reshape - Transpose - Reshape that is neither "
                               "depth-to-space nor space-to-depth");
    return add_depth(im, s.up ? GRAPH_DEPTH_TO_SPACE : GRAPH_SPACE_TO_DEPTH, x, b, s.depth_first);
}

bool import_reshape(importer *im)
{
    int64_t shape[GRAPH_MAX_RANK];
    uint32_t rank;
    if (!import_has(im, 0) || !import_numbers(im, "shape", 1, shape, GRAPH_MAX_RANK, &rank))
        return import_fail(im, "has no input");
    return import_shuffle_of(im).block ? complete_shuffle(im, import_shuffle_of(im), shape, rank)
                                       : import_reshape_view(im, shape, rank);
}

/* ---- channel shuffle ---------------------------------------------------------------------- */

/* Whether the node exchanges axes 1 and 2 of [1, a, b, height, width], a view of map v. */
static bool is_channel_shuffle(const importer *im, const graph_value *v, const int64_t *permutation,
                               uint32_t rank)
{
    static const int64_t exchange[5] = {0, 2, 1, 3, 4};
    const onnx_value *from = &im->model->values[im->node->inputs[0]];
    const int64_t *dims = from->tensor.dims;
    return rank == 5 && !memcmp(permutation, exchange, sizeof exchange) && from->shaped &&
           from->tensor.rank == 5 && v->height && dims[0] == 1 && dims[3] == v->height &&
           dims[4] == v->width && dims[1] * dims[2] == v->channels;
}

/* A convolution that copies channel i * b + k of a x b to channel k * a + i. */
static bool add_channel_shuffle(importer *im, uint32_t x)
{
    const int64_t *dims = im->model->values[im->node->inputs[0]].tensor.dims;
    const uint32_t channels = im->g->values[x].channels, a = (uint32_t)dims[1];
    if (channels > GRAPH_MAX_SHUFFLED)
        return import_fail(im, "shuffles %u channels; supported: up to %d", channels,
                           GRAPH_MAX_SHUFFLED);
    uint32_t *from = graph_alloc(im->g, channels, sizeof *from);
    for (uint32_t o = 0; from && o < channels; o++)
        from[o] = o % a * (channels / a) + o / a;
    graph_node *made = from ? import_node_like(im, GRAPH_CONV, x) : NULL;
    return made && (graph_become_shuffle(im->g, made, channels, channels, from) ||
                    format_fail(im->error, "out of memory"));
}

/* ---- channels last ------------------------------------------------------------------------ */

/* Whether a permutation moves axis `from` of [1, ...] to `to`. */
static bool moves_axis(const int64_t *permutation, uint32_t rank, int64_t from, int64_t to)
{
    bool moves = permutation[0] == 0 && permutation[to] == from;
    for (int64_t i = 1, k = 1; i < rank && moves; i++)
        if (i != to) {
            k += k == from;
            moves = permutation[i] == k++;
        }
    return moves;
}

/* Whether a Transpose only moves the channels of map v to the end, or from there to where the map
 * has them. */
static bool moves_channels(const importer *im, const graph_value *v, const int64_t *permutation,
                           uint32_t rank)
{
    const tensor shape = import_shape(im, 0);
    const int64_t *dims = shape.dims, end = (int64_t)rank - 1;
    if (shape.rank != rank || rank < 3 || rank > 4)
        return false;
    if (!import_is_last(im, 0))
        return import_trailing(im, 0) == rank - 1 && moves_axis(permutation, rank, 1, end);
    return dims[0] == 1 && moves_axis(permutation, rank, end, 1) &&
           (rank == 3 || (dims[1] == v->height && dims[2] == v->width));
}

bool import_transpose(importer *im)
{
    int64_t permutation[GRAPH_MAX_RANK];
    import_shuffle shuffle;
    uint32_t rank, x;
    if (!import_has(im, 0) ||
        !import_numbers(im, "perm", SIZE_MAX, permutation, GRAPH_MAX_RANK, &rank))
        return import_fail(im, "has no input");
    if (!import_elements(im, 0, &x))
        return false;
    const graph_value *v = &im->g->values[x];
    if (moves_channels(im, v, permutation, rank))
        return import_bind_shape(im, x, rank, !import_is_last(im, 0));
    if (is_channel_shuffle(im, v, permutation, rank))
        return add_channel_shuffle(im, x);
    if (rank != 6 || import_shape(im, 0).rank != 6)
        return import_fail(im, "is supported to move channels to the end and back and, after a "
                               "Reshape, as a part of depth-to-space, space-to-depth or a "
                               "channel shuffle");
    if (!find_shuffle(im, v, permutation, &shuffle))
        return import_fail(im, "is no part of depth-to-space, space-to-depth or a channel shuffle");
    if (!import_bind(im, 0, x))
        return false;
    im->bindings[im->node->outputs[0]].shuffle = shuffle;
    return true;
}
