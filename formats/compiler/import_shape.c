/* Operators that move values and compute nothing: concatenation, slices, pixel rearrangement. */
#include "importer.h"

#include <inttypes.h>
#include <string.h>

bool import_identity(importer *im, const Onnx__NodeProto *node)
{
    if (!import_has(node, 0))
        return import_fail(im, node, "has no input");
    for (size_t i = im->name_count; i-- > 0;)
        if (!strcmp(im->names[i].name, node->input[0]))
            return import_bind(im, node, 0, im->names[i].value);
    return import_fail(im, node, "reads '%.60s', which nothing before it makes", node->input[0]);
}

bool import_constant_node(importer *im, const Onnx__NodeProto *node)
{
    const Onnx__AttributeProto *a = node->n_attribute ? node->attribute[0] : NULL;
    if (!a || !node->n_output)
        return import_fail(im, node, "has no value");
    if (a->t)
        return import_add_constant(im, a->t, onnx_text(node->output[0]));
    /* The short forms, written as the tensor they stand for. */
    int64_t side = (int64_t)(a->n_floats ? a->n_floats : a->n_ints);
    Onnx__TensorProto t = ONNX__TENSOR_PROTO__INIT;
    t.has_data_type = true;
    t.n_dims = side ? 1 : 0;
    t.dims = &side;
    if (a->has_f || a->n_floats) {
        t.data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
        t.n_float_data = a->n_floats ? a->n_floats : 1;
        t.float_data = a->n_floats ? a->floats : (float *)(uintptr_t)&a->f;
    } else if (a->has_i || a->n_ints) {
        t.data_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
        t.n_int64_data = a->n_ints ? a->n_ints : 1;
        t.int64_data = a->n_ints ? a->ints : (int64_t *)(uintptr_t)&a->i;
    } else {
        return import_fail(im, node, "has a value that is neither a tensor nor numbers");
    }
    return import_add_constant(im, &t, onnx_text(node->output[0]));
}

/* ---- channels ----------------------------------------------------------------------------- */

static bool channel_axis(int64_t axis)
{
    return axis == 1 || axis == -3;
}

bool import_concat(importer *im, const Onnx__NodeProto *node)
{
    if (!channel_axis(import_int(node, "axis", 1)) || node->n_input > GRAPH_MAX_INPUTS ||
        !node->n_input)
        return import_fail(im, node, "joins %zu tensors along axis %" PRId64 "; supported are 1 to "
                                     "%d along the channels (axis 1)", node->n_input,
                           import_int(node, "axis", 1), GRAPH_MAX_INPUTS);
    uint32_t inputs[GRAPH_MAX_INPUTS], channels = 0, height = 0, width = 0;
    for (size_t i = 0; i < node->n_input; i++) {
        if (!import_tensor(im, node, i, &inputs[i]))
            return false;
        const graph_value *v = &im->g->values[inputs[i]];
        if ((height && v->height && height != v->height) ||
            (width && v->width && width != v->width))
            return import_fail(im, node, "joins tensors of %ux%u and %ux%u", width, height,
                               v->width, v->height);
        height = v->height ? v->height : height;
        width = v->width ? v->width : width;
        channels += v->channels;
    }
    graph_node *made = import_node(im, node, 0, GRAPH_CONCAT, channels, height, width);
    if (!made)
        return false;
    made->input_count = (uint32_t)node->n_input;
    memcpy(made->inputs, inputs, sizeof inputs);
    return true;
}

static bool add_slice(importer *im, const Onnx__NodeProto *node, size_t output, uint32_t x,
                      uint32_t first, uint32_t count)
{
    const graph_value v = im->g->values[x];
    graph_node *made = import_node(im, node, output, GRAPH_SLICE, count, v.height, v.width);
    if (!made)
        return false;
    made->input_count = 1;
    made->inputs[0] = x;
    made->slice.first = first;
    made->slice.count = count;
    return true;
}

/* A bound of a slice as ONNX counts: negative from the end, then brought into [0, side]. */
static int64_t bound(int64_t at, int64_t side)
{
    at = at < 0 ? at + side : at;
    return at < 0 ? 0 : at > side ? side : at;
}

bool import_slice(importer *im, const Onnx__NodeProto *node)
{
    int64_t start, end, axis = 0, step = 1;
    uint32_t starts, ends, axes, steps, x;
    if (!import_tensor(im, node, 0, &x) ||
        !import_numbers(im, node, "starts", 1, &start, 1, &starts) ||
        !import_numbers(im, node, "ends", 2, &end, 1, &ends) ||
        !import_numbers(im, node, "axes", 3, &axis, 1, &axes) ||
        !import_numbers(im, node, "steps", 4, &step, 1, &steps))
        return false;
    if (!starts || !ends || !channel_axis(axis) || step != 1)
        return import_fail(im, node, "cuts axis %" PRId64 " in steps of %" PRId64 "; supported are "
                                     "channels (axis 1) in steps of 1", axis, step);
    const int64_t channels = im->g->values[x].channels;
    const int64_t first = bound(start, channels), last = bound(end, channels);
    if (first >= last)
        return import_fail(im, node, "keeps no channel of %" PRId64, channels);
    return add_slice(im, node, 0, x, (uint32_t)first, (uint32_t)(last - first));
}

bool import_split(importer *im, const Onnx__NodeProto *node)
{
    uint32_t x, count;
    int64_t sizes[64];
    if (!import_tensor(im, node, 0, &x) || !import_numbers(im, node, "split", 1, sizes, 64, &count))
        return false;
    const uint32_t channels = im->g->values[x].channels;
    const size_t outputs = node->n_output;
    if (!channel_axis(import_int(node, "axis", 0)) || !outputs || outputs > 64 ||
        (count && count != outputs))
        return import_fail(im, node, "cuts axis %" PRId64 " into %zu; supported are channels (axis "
                                     "1) into at most 64", import_int(node, "axis", 0), outputs);
    /* Equal parts, of which the last may be smaller. */
    const uint32_t part = (uint32_t)((channels + outputs - 1) / outputs);
    uint32_t first = 0;
    for (size_t i = 0; i < outputs; i++) {
        const int64_t left = channels - first, size = count ? sizes[i] : part < left ? part : left;
        if (size < 1 || size > left)
            return import_fail(im, node, "cuts %u channels into parts that do not fit", channels);
        if (!add_slice(im, node, i, x, first, (uint32_t)size))
            return false;
        first += (uint32_t)size;
    }
    return first == channels ? true : import_fail(im, node, "leaves channels over");
}

/* ---- pixels ------------------------------------------------------------------------------- */

static bool add_depth(importer *im, const Onnx__NodeProto *node, graph_kind kind, uint32_t x,
                      int64_t block, bool depth_first)
{
    const graph_value v = im->g->values[x];
    const bool up = kind == GRAPH_DEPTH_TO_SPACE;
    if (block < 1 || block > 64)
        return import_fail(im, node, "has a block of %" PRId64 "; supported are 1 to 4", block);
    const uint32_t b = (uint32_t)block, area = b * b;
    if (up ? v.channels % area : v.height % b || v.width % b)
        return import_fail(im, node, "cannot rearrange %u channels of %ux%u by blocks of %u",
                           v.channels, v.width, v.height, b);
    graph_node *made =
        up ? import_node(im, node, 0, kind, v.channels / area, v.height * b, v.width * b)
           : import_node(im, node, 0, kind, v.channels * area, v.height / b, v.width / b);
    if (!made)
        return false;
    /* With one channel the two orders are the same. */
    const uint32_t planes = up ? v.channels / area : v.channels;
    made->input_count = 1;
    made->inputs[0] = x;
    made->depth.block = b;
    made->depth.depth_first = depth_first && planes > 1;
    return true;
}

bool import_depth_to_space(importer *im, const Onnx__NodeProto *node)
{
    uint32_t x;
    return import_tensor(im, node, 0, &x) &&
           add_depth(im, node, GRAPH_DEPTH_TO_SPACE, x, import_int(node, "blocksize", 0),
                     import_text_is(node, "mode", "DCR", "DCR"));
}

bool import_space_to_depth(importer *im, const Onnx__NodeProto *node)
{
    uint32_t x;
    return import_tensor(im, node, 0, &x) &&
           add_depth(im, node, GRAPH_SPACE_TO_DEPTH, x, import_int(node, "blocksize", 0), true);
}

/* ---- Reshape, Transpose, Reshape ---------------------------------------------------------- */

/* Exporters without DepthToSpace write it as [1, C b b, H, W] -> [1, C, b, b, H, W] -> permutation
 * 0 1 4 2 5 3 -> [1, C, H b, W b], or, depth first, [1, b, b, C, H, W] and 0 3 4 1 5 2. The inverse is
 * [1, C, H, W] -> [1, C, H / b, b, W / b, b] -> 0 1 3 5 2 4 (or 0 3 5 1 2 4) -> [1, C b b, H / b, W / b].
 * The parts become nodes of unknown shape, and the last Reshape recognises the whole. */
typedef struct shuffle {
    bool up, depth_first;
    int permutation[6];
    int channels, rows, columns, block_y, block_x; /* sides of the six-sided shape */
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

/* The shuffle that these shape and permutation are for an input like v; block: its size. */
static const shuffle *find_shuffle(const graph_node *reshape, const graph_node *transpose,
                                   const graph_value *v, int64_t *block)
{
    const int64_t *shape = reshape->shape.numbers;
    if (reshape->shape.rank != 6 || transpose->shape.rank != 6)
        return NULL;
    for (size_t i = 0; i < sizeof shuffles / sizeof *shuffles; i++) {
        const shuffle *s = &shuffles[i];
        bool match = true;
        for (int k = 0; k < 6; k++)
            match = match && transpose->shape.numbers[k] == s->permutation[k];
        *block = shape[s->block_y];
        if (!match || *block < 1 || *block > 64 || shape[s->block_x] != *block)
            continue;
        const uint32_t b = (uint32_t)*block, area = s->up ? b * b : 1, cut = s->up ? 1 : b;
        if (side_fits(shape[0], 1) && v->channels % area == 0 &&
            side_fits(shape[s->channels], v->channels / area) &&
            side_fits(shape[s->rows], v->height / cut) &&
            side_fits(shape[s->columns], v->width / cut))
            return s;
    }
    return NULL;
}

/* Input 0 of the node if a node of this kind makes it. */
static const graph_node *made_by(importer *im, const char *name, graph_kind kind)
{
    for (size_t i = 0; i < im->name_count; i++)
        if (!strcmp(im->names[i].name, name)) {
            const uint32_t p = graph_producer(im->g, im->names[i].value);
            return p != UINT32_MAX && im->g->nodes[p].kind == kind ? &im->g->nodes[p] : NULL;
        }
    return NULL;
}

static bool recognise_shuffle(importer *im, const Onnx__NodeProto *node,
                              const graph_node *transpose, const int64_t *shape, uint32_t rank)
{
    const uint32_t p = graph_producer(im->g, transpose->inputs[0]);
    const graph_node *reshape = p == UINT32_MAX ? NULL : &im->g->nodes[p];
    int64_t block = 0;
    const uint32_t x = reshape ? reshape->inputs[0] : 0;
    const graph_value *v = &im->g->values[x];
    const shuffle *s = reshape && reshape->kind == GRAPH_RESHAPE
                           ? find_shuffle(reshape, transpose, v, &block)
                           : NULL;
    const uint32_t b = (uint32_t)block;
    if (!s || rank != 4 ||
        !side_fits(shape[1], s->up ? v->channels / (b * b) : v->channels * b * b) ||
        !side_fits(shape[2], s->up ? v->height * b : v->height / b) ||
        !side_fits(shape[3], s->up ? v->width * b : v->width / b))
        return import_fail(im, node, "ends a Reshape - Transpose - Reshape that is neither "
                                     "depth-to-space nor space-to-depth");
    return add_depth(im, node, s->up ? GRAPH_DEPTH_TO_SPACE : GRAPH_SPACE_TO_DEPTH, x, block,
                     s->depth_first);
}

static bool add_part(importer *im, const Onnx__NodeProto *node, graph_kind kind, uint32_t x,
                     const int64_t *numbers, uint32_t rank)
{
    graph_node *made = import_node(im, node, 0, kind, 0, 0, 0);
    if (!made)
        return false;
    made->input_count = 1;
    made->inputs[0] = x;
    made->shape.rank = rank;
    memcpy(made->shape.numbers, numbers, rank * sizeof *numbers);
    return true;
}

bool import_reshape(importer *im, const Onnx__NodeProto *node)
{
    int64_t shape[GRAPH_MAX_RANK];
    uint32_t rank, x;
    if (!import_has(node, 0) ||
        !import_numbers(im, node, "shape", 1, shape, GRAPH_MAX_RANK, &rank))
        return import_fail(im, node, "has no input");
    const graph_node *transpose = made_by(im, node->input[0], GRAPH_TRANSPOSE);
    if (transpose)
        return recognise_shuffle(im, node, transpose, shape, rank);
    return import_tensor(im, node, 0, &x) && add_part(im, node, GRAPH_RESHAPE, x, shape, rank);
}

bool import_transpose(importer *im, const Onnx__NodeProto *node)
{
    int64_t permutation[GRAPH_MAX_RANK];
    uint32_t rank;
    if (!import_has(node, 0) ||
        !import_numbers(im, node, "perm", SIZE_MAX, permutation, GRAPH_MAX_RANK, &rank))
        return import_fail(im, node, "has no input");
    const graph_node *reshape = made_by(im, node->input[0], GRAPH_RESHAPE);
    if (!reshape)
        return import_fail(im, node, "is supported only after a Reshape, as a part of "
                                     "depth-to-space or space-to-depth");
    return add_part(im, node, GRAPH_TRANSPOSE, reshape->output, permutation, rank);
}
