// SPDX-License-Identifier: Apache-2.0
/* A kernel of the user's own as an operator on maps: one for each output that is wanted.
 *
 * Between operators on maps the model's floats are F16, and a kernel's f32 become that as well.
 * Where sizes are known, f32 that come from the model's inputs, are its outputs or meet arrays stay
 * as they are, so that the kernel stays on arrays. Integers of 8 bits are maps only between inputs,
 * kernels and casts, and stand for themselves. */
#include "formats/compiler/import/array.h"
#include "formats/onnx/onnx_graph.h"

static bool is_square(const mona_kernel_operand *o)
{
    return o->cell_rows == o->cell_columns;
}

/* The type of a map with the kernel's numbers; MONA_TYPE_COUNT: maps do not have them. */
static mona_type map_type(const mona_kernel_operand *o)
{
    return o->type == MONA_F32 ? MONA_F16 : o->type <= MONA_F16 ? o->type : MONA_TYPE_COUNT;
}

static bool is_input(const onnx_graph *model, uint32_t value)
{
    for (uint32_t i = 0; i < model->input_count; i++)
        if (model->inputs[i].value == value)
            return true;
    return false;
}

/* Whether the operand's numbers, as they are, are those of the map that this value would be. kept:
 * they must be. */
static bool suits(const importer *im, uint32_t value, const mona_kernel_operand *o, bool kept)
{
    return !kept || o->type == MONA_F16 || !im->model->values[value].shaped;
}

static bool input_suits(const importer *im, const onnx_node *node, uint32_t i,
                        const mona_kernel_operand *o, format_error *why)
{
    const onnx_graph *model = im->model;
    const uint32_t value = node->inputs[i];
    if (value == ONNX_NONE)
        return onnx_node_fail(node, why, "leaves out input %u", i);
    if (!o->planes)
        return model->values[value].tensor.data ||
               onnx_node_fail(node, why, "reads a table that is computed or an input");
    if (map_type(o) == MONA_TYPE_COUNT)
        return onnx_node_fail(node, why, "reads %s, which no map has", mona_type_name(o->type));
    return suits(im, value, o, o->type == MONA_F32 && is_input(model, value)) ||
           onnx_node_fail(node, why, "reads an input of floats, which stay f32");
}

static bool output_suits(const importer *im, const onnx_node *node, uint32_t i,
                         const mona_kernel_operand *o, format_error *why)
{
    const uint32_t value = node->outputs[i];
    if (value == ONNX_NONE)
        return true;
    if (map_type(o) == MONA_TYPE_COUNT)
        return onnx_node_fail(node, why, "makes %s, which no map has", mona_type_name(o->type));
    if (!is_square(o))
        return onnx_node_fail(node, why,
                              "makes cells of %u x %u samples; those of maps are squares",
                              o->cell_rows, o->cell_columns);
    return suits(im, value, o, im->uses[value].kept) ||
           onnx_node_fail(node, why,
                          "makes %s that are an output or read by what is not on maps, and stay as "
                          "they are",
                          mona_type_name(o->type));
}

/* Whether the kernel can run on maps, as far as its table and its neighbours in the model tell. */
static bool may_join(const importer *im, const onnx_node *node, format_error *why)
{
    const mona_kernel *k = onnx_kernel_of(im->model, node);
    if (im->model->kernels_apart)
        return onnx_node_fail(node, why, "is for AI Cores, which run kernels on arrays alone");
    if (node->attribute_count || node->input_count != k->inputs || node->output_count > k->outputs)
        return onnx_node_fail(node, why, "does not suit its kernel");
    bool may = true;
    for (uint32_t i = 0; may && i < k->inputs; i++)
        may = input_suits(im, node, i, &k->operands[i], why);
    for (uint32_t i = 0; may && i < node->output_count; i++)
        may = output_suits(im, node, i, &k->operands[k->inputs + i], why);
    return may;
}

bool import_kernel_joins(const importer *im, const onnx_node *node)
{
    format_error why = {0};
    return may_join(im, node, &why);
}

/* Whether a map of these numbers is what the operand reads. */
static bool reads(const mona_kernel_operand *o, element_type type)
{
    const mona_type map = map_type(o);
    return map == MONA_F16 ? element_is_float(type)
                           : type == (map == MONA_U8 ? ELEMENT_UINT8 : ELEMENT_INT8);
}

bool import_kernel_takes(const importer *im, const onnx_input *input)
{
    const onnx_graph *model = im->model;
    const bool floats = element_is_float(input->type);
    bool taken = false;
    for (uint32_t n = 0; n < model->node_count; n++) {
        const onnx_node *node = &model->nodes[n];
        const mona_kernel *k = onnx_kernel_of(model, node);
        for (uint32_t i = 0; i < node->input_count; i++) {
            if (node->inputs[i] != input->value)
                continue;
            if (k ? !import_kernel_joins(im, node) || !reads(&k->operands[i], input->type)
                  : !floats && operator_find(node->op_type)->integers != INTEGERS_casts)
                return false;
            taken |= k != NULL;
        }
    }
    return taken;
}

/* ---- the node ------------------------------------------------------------------------------- */

/* The maps and tables of the node. */
static bool read_inputs(importer *im, const mona_kernel *k, graph_kernel *own, uint32_t *maps,
                        uint32_t size[2])
{
    uint32_t count = 0;
    size[0] = size[1] = 0;
    for (uint32_t i = 0; i < k->inputs; i++) {
        const mona_kernel_operand *o = &k->operands[i];
        if (!o->planes) {
            const array table = array_in(im, i);
            if (!array_ok(table))
                return false;
            own->tables[i] = im->g->values[table.value].elements;
            continue;
        }
        if (import_bound(im, i) == UINT32_MAX)
            return import_fail(im, "reads a value that is not a map");
        if (!import_tensor(im, i, &maps[count]))
            return false;
        const graph_value *v = &im->g->values[maps[count++]];
        const import_quantisation q = import_quantisation_of(im, i);
        const bool integers = q.scale > 0;
        if (integers ? q.scale != 1 || q.zero || !reads(o, q.type) : map_type(o) != MONA_F16)
            return import_fail(im, "reads integers of another type or scale");
        if (v->channels != o->planes || v->height % o->cell_rows || v->width % o->cell_columns)
            return import_fail(im, "reads %u planes of %u x %u as input %u", v->channels, v->height,
                               v->width, i);
        size[0] = v->height / o->cell_rows;
        size[1] = v->width / o->cell_columns;
    }
    return true;
}

/* Adds output i, of a grid of this size; 0: open. */
static bool add_output(importer *im, uint32_t i, const graph_kernel *like, const uint32_t *maps,
                       const uint32_t size[2])
{
    const mona_kernel *k = like->kernel;
    const mona_kernel_operand *o = &k->operands[k->inputs + i];
    const uint32_t block = o->cell_rows, samples = o->planes * block * block;
    const mona_type type = map_type(o);
    graph_kernel *own = graph_alloc(im->g, 1, sizeof *own);
    graph_node *made = !own ? NULL
                       : block == 1
                           ? import_node(im, i, GRAPH_KERNEL, maps[0], samples, size[0], size[1])
                           : import_inner(im, GRAPH_KERNEL, maps[0], samples, size[0], size[1]);
    if (!made)
        return false;
    *own = *like;
    own->output = i;
    made->own = own;
    for (uint32_t m = 0, input = 0; input < k->inputs; input++)
        if (k->operands[input].planes) {
            made->inputs[m] = maps[m];
            made->input_count = ++m;
        }
    const uint32_t value = made->output;
    im->g->values[value].whole = type != MONA_F16;
    if (type != MONA_F16)
        im->g->values[value].prequantised = (value_format){type, 1, 0};
    if (block > 1) {
        made = import_node(im, i, GRAPH_DEPTH_TO_SPACE, value, o->planes, size[0] * block,
                           size[1] * block);
        if (!made)
            return false;
        made->depth.block = block;
    }
    im->bindings[im->node->outputs[i]].quantisation =
        type == MONA_F16
            ? (import_quantisation){0}
            : (import_quantisation){1, 0, type == MONA_U8 ? ELEMENT_UINT8 : ELEMENT_INT8};
    return true;
}

bool import_kernel(importer *im)
{
    uint32_t maps[MONA_KERNEL_OPERANDS], size[2];
    graph_kernel own = {.kernel = onnx_kernel_of(im->model, im->node)};
    bool ok = may_join(im, im->node, im->error) && read_inputs(im, own.kernel, &own, maps, size);
    for (uint32_t i = 0; ok && i < im->node->output_count; i++)
        ok = !array_wants(im, i) || add_output(im, i, &own, maps, size);
    return ok;
}
