// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/import/unbatch.h"

#include <stdlib.h>
#include <string.h>

#include "formats/compiler/import/operators.h"
#include "formats/reference/execute.h"

/* ---- inputs of a node --------------------------------------------------------------------- */

/* NULL: input i is left out. */
static const tensor *in(const image_walk *w, uint32_t i)
{
    const onnx_node *node = w->node;
    return i < node->input_count && node->inputs[i] != ONNX_NONE
               ? &w->g->values[node->inputs[i]].tensor
               : NULL;
}

static bool batched(const image_walk *w, uint32_t i)
{
    return in(w, i) && w->batched[w->node->inputs[i]];
}

/* A constant list; NULL: it is left out, empty or computed. */
static const tensor *list(const image_walk *w, uint32_t i)
{
    const tensor *t = in(w, i);
    return t && t->data && t->count ? t : NULL;
}

static const tensor *result(const image_walk *w)
{
    return &w->g->values[w->node->outputs[0]].tensor;
}

static bool one_result(const image_walk *w)
{
    for (uint32_t i = 1; i < w->node->output_count; i++)
        if (w->node->outputs[i] != ONNX_NONE)
            return false;
    return w->node->output_count && w->node->outputs[0] != ONNX_NONE;
}

/* Input 0 alone has images. */
static bool first_alone(const image_walk *w)
{
    for (uint32_t i = 1; i < w->node->input_count; i++)
        if (batched(w, i))
            return false;
    return batched(w, 0);
}

/* Broadcasting to a rank gives every image the same of operand i, or its own part. */
static bool broadcasts(const image_walk *w, uint32_t i, uint32_t rank)
{
    const tensor *t = in(w, i);
    return batched(w, i) ? t->rank == rank : !t || t->rank < rank || t->dims[0] == 1;
}

/* ---- rules -------------------------------------------------------------------------------- */

bool images_each(image_walk *w)
{
    bool ok = one_result(w) && !w->node->broadcasts;
    for (uint32_t i = 0; ok && i < w->node->input_count; i++)
        ok = broadcasts(w, i, result(w)->rank);
    return ok;
}

bool images_first(image_walk *w)
{
    return one_result(w) && first_alone(w);
}

bool images_statistics(image_walk *w)
{
    return images_first(w) && !onnx_int(w->node, "training_mode", 0);
}

bool images_all(image_walk *w)
{
    bool ok = one_result(w);
    for (uint32_t i = 0; ok && i < w->node->input_count; i++)
        ok = !in(w, i) || batched(w, i);
    return ok;
}

static bool off_axis(const image_walk *w, int64_t otherwise)
{
    const int64_t axis = onnx_int(w->node, "axis", otherwise);
    return axis < 0 ? axis + in(w, 0)->rank > 0 : axis > 0;
}

bool images_concat(image_walk *w)
{
    return images_all(w) && batched(w, 0) && off_axis(w, 0);
}

bool images_axis(image_walk *w)
{
    return first_alone(w) && off_axis(w, 0);
}

bool images_last_axis(image_walk *w)
{
    return first_alone(w) && off_axis(w, -1);
}

bool images_scales(image_walk *w)
{
    const tensor *scale = in(w, 1);
    return images_first(w) && scale && !onnx_int(w->node, "block_size", 0) &&
           (scale->count == 1 || off_axis(w, 1));
}

bool images_reduce(image_walk *w)
{
    const tensor *axes = list(w, 1);
    bool ok = images_first(w) && axes;
    for (size_t i = 0; ok && i < axes->count; i++) {
        const int64_t axis = tensor_int(axes, i);
        ok = axis < 0 ? axis + in(w, 0)->rank > 0 : axis > 0;
    }
    return ok;
}

/* All images, in their order, may be named. */
bool images_slice(image_walk *w)
{
    const tensor *starts = list(w, 1), *axes = list(w, 3), *steps = list(w, 4);
    bool ok = images_first(w) && starts && (axes || !in(w, 3)) && (steps || !in(w, 4));
    for (size_t i = 0; ok && i < starts->count; i++) {
        const int64_t axis = axes && i < axes->count ? tensor_int(axes, i) : (int64_t)i;
        const bool others = axis < 0 ? axis + in(w, 0)->rank > 0 : axis > 0;
        ok = others || (!tensor_int(starts, i) &&
                        (!steps || (i < steps->count && tensor_int(steps, i) == 1)));
    }
    return ok;
}

bool images_pad(image_walk *w)
{
    const tensor *pads = list(w, 1);
    const uint32_t rank = batched(w, 0) ? in(w, 0)->rank : 0;
    return images_first(w) && pads && !in(w, 3) && pads->count == 2 * (size_t)rank &&
           !tensor_int(pads, 0) && !tensor_int(pads, rank);
}

bool images_resize(image_walk *w)
{
    const tensor *scales = list(w, 2), *sizes = list(w, 3);
    const char *policy = onnx_string(w->node, "keep_aspect_ratio_policy", "stretch");
    const char *place = onnx_string(w->node, "coordinate_transformation_mode", "half_pixel");
    if (!images_first(w) || onnx_find_attribute(w->node, "axes") ||
        strcmp(policy, "stretch") != 0 || !strcmp(place, "tf_crop_and_resize"))
        return false;
    w->sizes = scales ? ONNX_NONE : 3;
    return scales ? tensor_number(scales, 0) == 1 : sizes && tensor_int(sizes, 0) == w->images;
}

bool images_transpose(image_walk *w)
{
    const onnx_attribute *perm = onnx_find_attribute(w->node, "perm");
    return images_first(w) && perm && perm->ints && perm->count && !perm->ints[0];
}

/* The numbers stay in their order, so those of an image stay together. */
bool images_view(image_walk *w)
{
    return images_first(w);
}

bool images_sizes(image_walk *w)
{
    const tensor *sizes = list(w, 1);
    if (!images_first(w) || !sizes)
        return false;
    const bool whole = sizes->count == result(w)->rank;
    w->sizes = whole && tensor_int(sizes, 0) == w->images ? 1 : ONNX_NONE;
    return true;
}

bool images_expand(image_walk *w)
{
    return images_sizes(w) && broadcasts(w, 0, result(w)->rank);
}

bool images_tile(image_walk *w)
{
    const tensor *repeats = list(w, 1);
    return images_first(w) && repeats && tensor_int(repeats, 0) == 1;
}

/* Matrices are the last two dimensions; the first operand's rows may be images, where it has no
 * others. */
bool images_matmul(image_walk *w)
{
    const tensor *a = in(w, 0), *b = in(w, 1);
    if (!one_result(w) || !a || !b)
        return false;
    if (a->rank == 2 || b->rank < 2)
        return first_alone(w) && a->rank > 1 && b->rank <= 2;
    const bool right = b->rank == 2 ? !batched(w, 1) : broadcasts(w, 1, result(w)->rank);
    return a->rank > 2 && broadcasts(w, 0, result(w)->rank) && right;
}

bool images_gemm(image_walk *w)
{
    return images_first(w) && !onnx_int(w->node, "transA", 0) && !w->node->broadcasts &&
           broadcasts(w, 2, 2);
}

/* ---- the walk ----------------------------------------------------------------------------- */

/* The number of images that all inputs are for; 1: they are not for several. */
static int64_t images_of(const onnx_graph *g)
{
    const int64_t images = g->input_count && g->inputs[0].rank ? g->inputs[0].dims[0] : 1;
    for (uint32_t i = 0; i < g->input_count; i++)
        if (g->inputs[i].rank != 4 || g->inputs[i].type != ELEMENT_FLOAT32 ||
            g->inputs[i].dims[0] != images || !g->values[g->inputs[i].value].shaped)
            return 1;
    return images < 1 ? 1 : images;
}

static bool has_images(const image_walk *w, uint32_t value)
{
    const onnx_value *v = &w->g->values[value];
    return v->shaped && !v->tensor.data && v->tensor.rank && v->tensor.count &&
           v->tensor.dims[0] == w->images;
}

static bool reads_images(const image_walk *w)
{
    bool reads = false;
    for (uint32_t i = 0; i < w->node->input_count; i++)
        reads = reads || batched(w, i);
    return reads;
}

static bool walk_node(image_walk *w)
{
    const onnx_node *node = w->node;
    const operator_row *row = operator_find(node->op_type);
    w->sizes = ONNX_NONE;
    if (!reads_images(w))
        return true;
    for (uint32_t i = 0; i < node->output_count; i++)
        if (node->outputs[i] != ONNX_NONE && !has_images(w, node->outputs[i]))
            return false;
    for (uint32_t i = 0; i < node->output_count; i++)
        if (node->outputs[i] != ONNX_NONE)
            w->batched[node->outputs[i]] = true;
    return !node->branch && row && row->images && row->images(w);
}

/* sizes: of each node, as in the walk. */
static bool keeps_images_apart(image_walk *w, uint32_t *sizes)
{
    onnx_graph *g = w->g;
    bool ok = true;
    for (uint32_t i = 0; i < g->input_count; i++)
        w->batched[g->inputs[i].value] = true;
    for (uint32_t i = 0; ok && i < g->node_count; i++) {
        w->node = &g->nodes[i];
        ok = walk_node(w);
        sizes[i] = w->sizes;
    }
    for (uint32_t i = 0; ok && i < g->output_count; i++)
        ok = w->batched[g->outputs[i]];
    return ok;
}

/* ---- one image ---------------------------------------------------------------------------- */

static void set_images(onnx_graph *g, int64_t images)
{
    for (uint32_t i = 0; i < g->input_count; i++)
        onnx_graph_set_dim(g, i, 0, images);
}

/* Gives a node a list of its own that begins with 1: other nodes may read the first. */
static bool shorten(onnx_graph *g, uint32_t *input)
{
    const uint32_t made = onnx_graph_add_value(g, g->values[*input].name);
    if (made == ONNX_NONE)
        return false;
    const tensor *from = &g->values[*input].tensor;
    tensor copy;
    if (!tensor_make(&copy, from->type, from->rank, from->dims))
        return false;
    memcpy(copy.data, from->data, tensor_bytes(from));
    tensor_set_int(&copy, 0, 1);
    onnx_value_set(g, made, &copy);
    *input = made;
    return true;
}

/* Whether all shapes are as before, but for the number of images. */
static bool is_for_one(const image_walk *w, const tensor *before, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const tensor *now = &w->g->values[i].tensor, *was = &before[i];
        bool same = now->rank == was->rank && now->type == was->type;
        for (uint32_t k = 0; same && k < was->rank; k++)
            same = now->dims[k] == (w->batched[i] && !k ? 1 : was->dims[k]);
        if (!same)
            return false;
    }
    return true;
}

/* *done: false if shapes do not follow, which leaves the network as it was. */
static bool make_one(image_walk *w, const uint32_t *sizes, bool *done, format_error *error)
{
    onnx_graph *g = w->g;
    const uint32_t values = g->value_count, nodes = g->node_count;
    const onnx_node *saved = onnx_graph_copy_nodes(g);
    tensor *before = malloc((values + 1) * sizeof *before);
    bool ok = saved && before;
    for (uint32_t i = 0; ok && i < values; i++)
        before[i] = g->values[i].tensor;
    for (uint32_t i = 0; ok && i < nodes; i++)
        ok = sizes[i] == ONNX_NONE || shorten(g, &g->nodes[i].inputs[sizes[i]]);
    if (!ok) {
        free(before);
        return format_fail(error, "out of memory");
    }
    format_error why = {0};
    set_images(g, 1);
    *done = onnx_graph_fold(g, &why) && g->node_count == nodes && is_for_one(w, before, values);
    free(before);
    if (*done)
        return true;
    memcpy(g->nodes, saved, nodes * sizeof *saved);
    g->removed_count -= nodes - g->node_count;
    g->node_count = nodes;
    set_images(g, w->images);
    return onnx_graph_fold(g, error);
}

/* What the model says of its outputs is then of one image, too. */
static void declare_one(const image_walk *w)
{
    for (uint32_t i = 0; i < w->g->output_count; i++) {
        tensor *t = &w->g->declared[i];
        if (t->type && t->rank && t->dims[0] == w->images)
            t->dims[0] = 1;
    }
}

bool onnx_graph_unbatch(onnx_graph *g, int64_t *images, format_error *error)
{
    image_walk w = {.g = g, .images = images_of(g)};
    *images = 1;
    if (w.images == 1)
        return true;
    uint32_t *sizes = malloc((g->node_count + 1) * sizeof *sizes);
    w.batched = calloc(g->value_count + 1, sizeof *w.batched);
    bool ok = sizes && w.batched ? true : format_fail(error, "out of memory"), done = false;
    if (ok && keeps_images_apart(&w, sizes))
        ok = make_one(&w, sizes, &done, error);
    if (ok && done) {
        declare_one(&w);
        *images = w.images;
    }
    free(sizes);
    free(w.batched);
    return ok;
}
