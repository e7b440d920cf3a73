// SPDX-License-Identifier: Apache-2.0
/* Converts protocol-buffer messages to an onnx_graph. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mona_op.h"
#include "formats/onnx/onnx_graph.h"

typedef struct graph_reader {
    onnx_graph *g;
    const onnx_read_options *options;
    onnx_names names;
    const struct graph_reader *outer; /* of the graph around a branch; NULL: it is the model */
    const onnx_branch *branch;
    const Onnx__ModelProto *model;
    /* Of a function's body: the node that calls it, and the reader of that. NULL: it is none. */
    const Onnx__FunctionProto *function;
    const Onnx__NodeProto *call;
    struct graph_reader *caller;
    Onnx__AttributeProto **defaults; /* of its attributes */
    size_t default_count;
    bool borrowed;   /* the defaults are the model's */
    uint64_t *given; /* bytes of attributes that bodies refer to */
    format_error *error;
} graph_reader;

static bool out_of_memory(graph_reader *r)
{
    return format_fail(r->error, "out of memory");
}

/* NULL: out of memory, or the name is too long. */
static const char *copy_name(graph_reader *r, const char *name)
{
    const size_t length = strlen(name);
    const char *copy = length <= ONNX_MAX_NAME ? blocks_strdup(&r->g->memory, name) : NULL;
    if (length > ONNX_MAX_NAME)
        format_fail(r->error, "'%.40s...' has %zu characters; names may have %d", name, length,
                    ONNX_MAX_NAME);
    else if (!copy)
        out_of_memory(r);
    return copy;
}

/* Whether it is an input of the function that the call leaves out; then the nodes of its body leave
 * it out. */
static bool is_left_out(const graph_reader *r, const char *name)
{
    while (r && !r->function)
        r = r->outer;
    for (size_t i = 0; r && i < r->function->n_input; i++)
        if (!strcmp(onnx_text(r->function->input[i]), name))
            return i >= r->call->n_input || !onnx_text(r->call->input[i])[0] ||
                   is_left_out(r->caller, r->call->input[i]);
    return false;
}

/* The value with this name in the branch, or around it; ONNX_NONE: none. */
static uint32_t find_value(const graph_reader *r, const char *name)
{
    uint32_t value = ONNX_NONE;
    for (; r && value == ONNX_NONE; r = r->outer)
        value = onnx_names_find(&r->names, name);
    return value;
}

/* ---- values ------------------------------------------------------------------------------- */

/* What the caller of a function calls a result; NULL: this is none, or is not wanted. */
static const char *result_name(const graph_reader *r, const char *name)
{
    for (size_t i = 0; r->function && i < r->function->n_output && i < r->call->n_output; i++)
        if (!strcmp(onnx_text(r->function->output[i]), name) && onnx_text(r->call->output[i])[0])
            return r->call->output[i];
    return NULL;
}

static bool add_value(graph_reader *r, const char *name, uint32_t *value)
{
    if (onnx_names_find(&r->names, name) != ONNX_NONE)
        return format_fail(r->error, "value '%s' is defined twice", name);
    const char *copy = copy_name(r, name), *outside = result_name(r, name);
    if (!copy || (outside && !add_value(r->caller, outside, value)))
        return false;
    if (!outside)
        *value = onnx_graph_add_value(r->g, copy);
    if (*value == ONNX_NONE)
        return out_of_memory(r);
    return onnx_names_add(&r->names, copy, *value, r->error);
}

static bool add_constant(graph_reader *r, const Onnx__TensorProto *proto, const char *name)
{
    uint32_t value;
    tensor t;
    if (!add_value(r, name, &value))
        return false;
    const bool ok = onnx_tensor_read(proto, r->options->folder, &t, r->error);
    if (ok)
        onnx_value_set(r->g, value, &t);
    return ok;
}

/* The size of a dimension: fixed, or given by the caller for its name. -1: open, which exporters
 * also write as 0 or a negative number. */
static int64_t dim_of(const graph_reader *r, const Onnx__TensorShapeProto__Dimension *d)
{
    if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
        return d->dim_value < 1 ? -1 : d->dim_value;
    const char *name = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM
                           ? onnx_text(d->dim_param)
                           : "";
    for (size_t i = 0; i < r->options->dim_count; i++)
        if (*name && !strcmp(name, r->options->dims[i].name))
            return r->options->dims[i].size;
    return -1;
}

static bool read_dims(graph_reader *r, const Onnx__TensorShapeProto *shape, const char *name,
                      onnx_input *input)
{
    input->rank = (uint32_t)shape->n_dim;
    for (uint32_t i = 0; i < input->rank; i++) {
        const Onnx__TensorShapeProto__Dimension *d = shape->dim[i];
        input->dims[i] = dim_of(r, d);
        const bool named = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
        input->dim_names[i] = copy_name(r, named ? onnx_text(d->dim_param) : "");
        if (!input->dim_names[i])
            return false;
        if (input->dims[i] > TENSOR_MAX_COUNT)
            return format_fail(
                r->error, "input '%s' has a dimension of %" PRId64 "; at most %d are supported",
                name, input->dims[i], TENSOR_MAX_COUNT);
    }
    return true;
}

static bool add_input(graph_reader *r, const Onnx__ValueInfoProto *info)
{
    const char *name = onnx_text(info->name);
    const Onnx__TypeProto *type = info->type;
    if (!type || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE || !type->tensor_type)
        return format_fail(
            r->error, "input '%s' is a sequence, a map or an optional; only tensors are supported",
            name);
    const Onnx__TypeProto__Tensor *t = type->tensor_type;
    onnx_input input = {.type = (element_type)t->elem_type};
    if (!element_size(t->elem_type))
        return format_fail(r->error, "input '%s' holds %s, which is not supported", name,
                           element_name(t->elem_type));
    if (!t->shape || t->shape->n_dim > TENSOR_MAX_RANK)
        return format_fail(r->error, "input '%s' has no shape, or one of more than %d dimensions",
                           name, TENSOR_MAX_RANK);
    if (!read_dims(r, t->shape, name, &input) || !add_value(r, name, &input.value))
        return false;
    onnx_value *v = &r->g->values[input.value];
    v->shaped = onnx_input_shape(&input, &v->tensor);
    r->g->inputs[r->g->input_count++] = input;
    return true;
}

/* Old models list their constants among the inputs too. */
static bool add_inputs(graph_reader *r, const Onnx__GraphProto *o)
{
    r->g->inputs = calloc(o->n_input + 1, sizeof *r->g->inputs);
    if (!r->g->inputs)
        return out_of_memory(r);
    if (o->n_sparse_initializer)
        return format_fail(r->error, "the model has sparse constants, which are not supported");
    for (size_t i = 0; i < o->n_initializer; i++)
        if (!add_constant(r, o->initializer[i], onnx_text(o->initializer[i]->name)))
            return false;
    for (size_t i = 0; i < o->n_input; i++)
        if (onnx_names_find(&r->names, onnx_text(o->input[i]->name)) == ONNX_NONE &&
            !add_input(r, o->input[i]))
            return false;
    return true;
}

/* ---- attributes --------------------------------------------------------------------------- */

static const void *copy(graph_reader *r, const void *from, size_t count, size_t size)
{
    void *to = blocks_alloc(&r->g->memory, count ? count : 1, size);
    return to && count ? memcpy(to, from, count * size) : to;
}

static onnx_kind kind_of(const Onnx__AttributeProto *a)
{
    if (a->t)
        return ONNX_TENSOR;
    if (a->g || a->n_graphs || a->n_strings || a->sparse_tensor || a->n_tensors)
        return ONNX_OTHER;
    if (a->has_s)
        return ONNX_TEXT;
    if (a->has_f || a->n_floats)
        return ONNX_FLOATS;
    if (a->has_i || a->n_ints || !a->has_type)
        return ONNX_INTS;
    switch (a->type) { /* it is an empty list */
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
        return ONNX_FLOATS;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING:
        return ONNX_TEXT;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
        return ONNX_INTS;
    default:
        return ONNX_OTHER;
    }
}

static const tensor *copy_tensor(graph_reader *r, const Onnx__TensorProto *proto)
{
    tensor *t = blocks_alloc(&r->g->memory, 1, sizeof *t);
    if (!t)
        out_of_memory(r);
    return t && onnx_tensor_read(proto, r->options->folder, t, r->error) ? t : NULL;
}

static const char *copy_text(graph_reader *r, const Onnx__AttributeProto *a)
{
    char *text = blocks_alloc(&r->g->memory, a->s.len + 1, 1);
    return text && a->s.len ? memcpy(text, a->s.data, a->s.len) : text;
}

static const Onnx__AttributeProto *attribute_named(Onnx__AttributeProto *const *attributes,
                                                   size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(onnx_text(attributes[i]->name), name))
            return attributes[i];
    return NULL;
}

/* Whether a function has an attribute of this name. */
static bool declares(const graph_reader *r, const char *name)
{
    bool found = attribute_named(r->defaults, r->default_count, name);
    for (size_t i = 0; i < r->function->n_attribute; i++)
        found |= !strcmp(onnx_text(r->function->attribute[i]), name);
    return found;
}

/* The attribute that one in a function's body refers to, given or by default; itself where it
 * refers to none. What a call passes on and its own caller left out is not given. NULL: it is left
 * out, or a function declares none of that name. */
static const Onnx__AttributeProto *given_attribute(const graph_reader *r,
                                                   const Onnx__AttributeProto *a, bool *declared)
{
    const char *name = onnx_text(a->ref_attr_name);
    if (!name[0])
        return a;
    while (r && !r->call)
        r = r->outer;
    *declared = r && declares(r, name);
    if (!*declared)
        return NULL;
    const Onnx__AttributeProto *given =
        attribute_named(r->call->attribute, r->call->n_attribute, name);
    if (given)
        given = given_attribute(r->caller, given, declared);
    if (given || !*declared)
        return given;
    given = attribute_named(r->defaults, r->default_count, name);
    return given ? given_attribute(NULL, given, declared) : NULL;
}

/* Tensors that many nodes of bodies refer to are copied for each. */
static bool count_given(graph_reader *r, const Onnx__AttributeProto *a)
{
    *r->given += protobuf_c_message_get_packed_size(&a->base);
    return *r->given <= ONNX_MAX_EXTERNAL_BYTES ||
           format_fail(r->error,
                       "functions refer to %" PRIu64 " bytes of attributes; at most %" PRIu64
                       " are supported",
                       *r->given, ONNX_MAX_EXTERNAL_BYTES);
}

/* What refers to an attribute that the call leaves out is left out, too. */
static bool read_attribute(graph_reader *r, const Onnx__AttributeProto *named, onnx_node *node)
{
    bool declared = true;
    const Onnx__AttributeProto *a = given_attribute(r, named, &declared);
    onnx_attribute *to = &node->attributes[node->attribute_count];
    if (!a && declared)
        return true;
    if (!a)
        return format_fail(r->error,
                           "a function refers to the attribute '%.60s', which it does not declare",
                           named->ref_attr_name);
    if (a != named && !count_given(r, a))
        return false;
    node->attribute_count++;
    if (a != named && named->has_type && a->has_type && a->type != named->type)
        return format_fail(r->error, "expected the attribute '%.60s' of type %d, found %d",
                           named->ref_attr_name, (int)named->type, (int)a->type);
    to->name = copy_name(r, onnx_text(named->name));
    to->kind = kind_of(a);
    const void *made = to->name;
    if (to->kind == ONNX_INTS) {
        const bool one = a->has_i && !a->n_ints;
        to->count = one ? 1 : a->n_ints;
        made = to->ints = copy(r, one ? &a->i : a->ints, to->count, sizeof *to->ints);
    } else if (to->kind == ONNX_FLOATS) {
        const bool one = a->has_f && !a->n_floats;
        to->count = one ? 1 : a->n_floats;
        made = to->floats = copy(r, one ? &a->f : a->floats, to->count, sizeof *to->floats);
    } else if (to->kind == ONNX_TEXT) {
        made = to->text = copy_text(r, a);
    } else if (to->kind == ONNX_TENSOR) {
        made = to->tensor = copy_tensor(r, a->t);
    }
    return made && to->name ? true : out_of_memory(r);
}

/* ---- nodes -------------------------------------------------------------------------------- */

/* The output of a Constant node is its tensor or its list of numbers. */
static bool add_constant_node(graph_reader *r, onnx_node *node)
{
    const onnx_attribute *a = node->attribute_count == 1 ? node->attributes : NULL;
    tensor t = {0};
    if (node->output_count != 1 || node->outputs[0] == ONNX_NONE)
        return onnx_node_fail(node, r->error, "has no output, or more than one");
    if (!a || a->kind == ONNX_TEXT || a->kind == ONNX_OTHER)
        return onnx_node_fail(node, r->error, "has a value that is neither a tensor nor numbers");
    const bool list = !strcmp(a->name, "value_ints") || !strcmp(a->name, "value_floats");
    if (a->kind == ONNX_TENSOR)
        t = *a->tensor;
    else if (!onnx_numbers(a, list, &t))
        return out_of_memory(r);
    node->attribute_count = 0; /* the data has moved */
    onnx_value_set(r->g, node->outputs[0], &t);
    return true;
}

static bool read_names(graph_reader *r, const Onnx__NodeProto *n, onnx_node *node)
{
    if (n->n_input > ONNX_MAX_ARGUMENTS || n->n_output > ONNX_MAX_ARGUMENTS)
        return onnx_node_fail(node, r->error,
                              "has %zu inputs and %zu outputs; at most %d are supported",
                              n->n_input, n->n_output, ONNX_MAX_ARGUMENTS);
    node->inputs = blocks_alloc(&r->g->memory, n->n_input + ONNX_MORE_INPUTS, sizeof *node->inputs);
    node->outputs = blocks_alloc(&r->g->memory, n->n_output + 1, sizeof *node->outputs);
    if (!node->inputs || !node->outputs)
        return out_of_memory(r);
    for (; node->input_count < n->n_input; node->input_count++) {
        const char *name = onnx_text(n->input[node->input_count]);
        const uint32_t value = *name ? find_value(r, name) : ONNX_NONE;
        if (*name && value == ONNX_NONE && !is_left_out(r, name))
            return onnx_node_fail(node, r->error, "reads '%.60s', which nothing before it makes",
                                  name);
        node->inputs[node->input_count] = value;
    }
    for (; node->output_count < n->n_output; node->output_count++) {
        const char *name = onnx_text(n->output[node->output_count]);
        node->outputs[node->output_count] = ONNX_NONE;
        if (*name && !add_value(r, name, &node->outputs[node->output_count]))
            return false;
    }
    return true;
}

static bool add_if(graph_reader *r, const Onnx__NodeProto *n);

/* The name of the kernel that a node of another domain calls; NULL: none. */
static const char *kernel_name(const graph_reader *r, const Onnx__NodeProto *n)
{
    const char *domain = onnx_text(n->domain);
    const size_t length = strlen(domain);
    for (const mona_kernel *const *k = r->g->kernels; k && *k; k++) {
        const char *name = (*k)->name;
        if (!strncmp(name, domain, length) && !strncmp(name + length, "::", 2) &&
            !strcmp(name + length + 2, onnx_text(n->op_type)))
            return name;
    }
    return NULL;
}

static bool is_own(const Onnx__NodeProto *n)
{
    const char *domain = onnx_text(n->domain);
    return domain[0] && strcmp(domain, "ai.onnx");
}

/* The model's function that a node calls; NULL: none. */
static const Onnx__FunctionProto *function_of(const Onnx__ModelProto *m, const Onnx__NodeProto *n)
{
    for (size_t i = 0; is_own(n) && i < m->n_functions; i++)
        if (!strcmp(onnx_text(m->functions[i]->name), onnx_text(n->op_type)) &&
            !strcmp(onnx_text(m->functions[i]->domain), n->domain))
            return m->functions[i];
    return NULL;
}

static bool add_call(graph_reader *r, const Onnx__NodeProto *n, const Onnx__FunctionProto *f);

/* The node is added to the graph as soon as it owns something. */
static bool add_node(graph_reader *r, const Onnx__NodeProto *n)
{
    onnx_graph *g = r->g;
    if (!is_own(n) && !strcmp(onnx_text(n->op_type), "If"))
        return add_if(r, n);
    const char *kernel = is_own(n) ? kernel_name(r, n) : NULL, *name = onnx_text(n->name);
    const Onnx__FunctionProto *function = kernel ? NULL : function_of(r->model, n);
    if (function)
        return add_call(r, n, function);
    onnx_node *node = &g->nodes[g->node_count];
    node->name = copy_name(r, name[0] || !n->n_output ? name : onnx_text(n->output[0]));
    node->op_type = kernel ? kernel : copy_name(r, onnx_text(n->op_type));
    node->branch = r->branch;
    node->attributes =
        blocks_alloc(&g->memory, n->n_attribute + ONNX_MORE_ATTRIBUTES, sizeof *node->attributes);
    if (!node->name || !node->op_type)
        return false;
    if (!node->attributes)
        return out_of_memory(r);
    if (is_own(n) && !kernel)
        return onnx_node_fail(
            node, r->error,
            "is of the operator set '%.60s': expected ONNX's own, or a kernel of that name (%s)",
            n->domain, g->kernels ? "--kernels has none" : "mona compile --kernels");
    g->node_count++;
    for (size_t i = 0; i < n->n_attribute; i++)
        if (!read_attribute(r, n->attribute[i], node))
            return false;
    if (!read_names(r, n, node))
        return false;
    if (kernel)
        return true;
    if (strcmp(node->op_type, "Constant"))
        return onnx_upgrade(g, node, r->error);
    if (!add_constant_node(r, node))
        return false;
    *node = (onnx_node){0};
    g->node_count--;
    return true;
}

/* ---- branches ----------------------------------------------------------------------------- */

enum { MAX_NESTED = 8, MAX_FUNCTIONS = 4096 };

static const char *const branch_names[] = {"then_branch", "else_branch"};

static const Onnx__GraphProto *branch_of(const Onnx__NodeProto *n, const char *name)
{
    for (size_t i = 0; i < n->n_attribute; i++)
        if (!strcmp(onnx_text(n->attribute[i]->name), name))
            return n->attribute[i]->g;
    return NULL;
}

/* What the nodes of a graph become, with those of branches and functions; counting ends above
 * what is supported. */
typedef struct graph_size {
    const Onnx__ModelProto *model;
    size_t nodes;
    uint64_t bytes; /* of tensors in other files, and of those in functions */
} graph_size;

static bool size_in_bounds(const graph_size *s)
{
    return s->nodes <= ONNX_MAX_NODES && s->bytes <= ONNX_MAX_EXTERNAL_BYTES;
}

static void count_nodes(graph_size *s, Onnx__NodeProto *const *nodes, size_t count, int depth,
                        bool in_function);

static void count_graph(graph_size *s, const Onnx__GraphProto *o, int depth, bool in_function)
{
    for (size_t i = 0; i < o->n_initializer; i++)
        s->bytes += in_function ? protobuf_c_message_get_packed_size(&o->initializer[i]->base)
                                : onnx_tensor_external_bytes(o->initializer[i]);
    count_nodes(s, o->node, o->n_node, depth, in_function);
}

static void count_attribute(graph_size *s, const Onnx__AttributeProto *a, int depth,
                            bool in_function)
{
    if (in_function)
        s->bytes += protobuf_c_message_get_packed_size(&a->base);
    if (a->t)
        s->bytes += onnx_tensor_external_bytes(a->t);
    if (a->g && depth)
        count_graph(s, a->g, depth - 1, in_function);
    else if (a->g)
        s->nodes = ONNX_MAX_NODES + 1;
}

static void count_nodes(graph_size *s, Onnx__NodeProto *const *nodes, size_t count, int depth,
                        bool in_function)
{
    s->nodes += count;
    for (size_t i = 0; i < count && size_in_bounds(s); i++) {
        const Onnx__NodeProto *n = nodes[i];
        const Onnx__FunctionProto *f = function_of(s->model, n);
        s->nodes += strcmp(onnx_text(n->op_type), "If") ? 0 : n->n_output;
        for (size_t k = 0; k < n->n_attribute && size_in_bounds(s); k++)
            count_attribute(s, n->attribute[k], depth, in_function);
        if (f && depth)
            count_nodes(s, f->node, f->n_node, depth - 1, true);
        else if (f)
            s->nodes = ONNX_MAX_NODES + 1;
    }
}

/* Adds the nodes of a branch; results: the values of its outputs. */
static bool add_branch(graph_reader *r, const Onnx__GraphProto *o, const onnx_branch *branch,
                       uint32_t *results)
{
    graph_reader inner = {.g = r->g,
                          .options = r->options,
                          .outer = r,
                          .branch = branch,
                          .model = r->model,
                          .given = r->given,
                          .error = r->error};
    bool ok = true;
    for (size_t i = 0; ok && i < o->n_initializer; i++)
        ok = add_constant(&inner, o->initializer[i], onnx_text(o->initializer[i]->name));
    for (size_t i = 0; ok && i < o->n_node; i++)
        ok = add_node(&inner, o->node[i]);
    for (size_t i = 0; ok && i < o->n_output; i++) {
        results[i] = find_value(&inner, onnx_text(o->output[i]->name));
        ok = results[i] != ONNX_NONE ||
             format_fail(r->error, "output '%.80s' of a branch is not made by any node",
                         onnx_text(o->output[i]->name));
    }
    onnx_names_free(&inner.names);
    return ok;
}

/* The operator set of a function's nodes is the model's, for which they are upgraded. */
static bool same_opset(const graph_reader *r, const Onnx__FunctionProto *f)
{
    for (size_t i = 0; i < f->n_opset_import; i++) {
        const char *domain = onnx_text(f->opset_import[i]->domain);
        if ((!domain[0] || !strcmp(domain, "ai.onnx")) &&
            f->opset_import[i]->version != r->g->opset)
            return format_fail(r->error,
                               "function '%.60s' is of operator set %" PRId64 ": expected %" PRId64
                               ", the model's",
                               onnx_text(f->name), f->opset_import[i]->version, r->g->opset);
    }
    return true;
}

static bool same_function(const Onnx__FunctionProto *f, const Onnx__FunctionProto *g)
{
    return !strcmp(onnx_text(f->name), onnx_text(g->name)) &&
           !strcmp(onnx_text(f->domain), onnx_text(g->domain));
}

/* A call may leave out what is last, but gives and takes no more than the function has. It may name
 * one of several functions of a name (an overload), which is not read: there must be one. */
static bool same_arguments(const graph_reader *r, const Onnx__NodeProto *n,
                           const Onnx__FunctionProto *f)
{
    uint32_t same = 0;
    for (size_t i = 0; i < r->model->n_functions; i++)
        same += same_function(r->model->functions[i], f);
    if (same > 1)
        return format_fail(r->error, "expected one function '%.60s', found %u", onnx_text(f->name),
                           same);
    return (n->n_input <= f->n_input && n->n_output <= f->n_output) ||
           format_fail(
               r->error,
               "a call of '%.60s' has %zu inputs and %zu outputs: expected up to %zu and %zu",
               onnx_text(f->name), n->n_input, n->n_output, f->n_input, f->n_output);
}

/* A function that passes an input on makes no value of its own. */
static bool add_results(graph_reader *inner)
{
    for (size_t i = 0; i < inner->function->n_output && i < inner->call->n_output; i++) {
        const char *name = onnx_text(inner->function->output[i]);
        const char *outside = onnx_text(inner->call->output[i]);
        const uint32_t value = onnx_names_find(&inner->names, name);
        if (value == ONNX_NONE)
            return format_fail(inner->error, "result '%.60s' of function '%.60s' is not made", name,
                               onnx_text(inner->function->name));
        if (!outside[0] || onnx_names_find(&inner->caller->names, outside) != ONNX_NONE)
            continue;
        const char *copy = copy_name(inner, outside);
        if (!copy || !onnx_names_add(&inner->caller->names, copy, value, inner->error))
            return false;
    }
    return true;
}

/* A default, which is a field of functions since ONNX 1.13. Headers before have it among what they
 * do not know: its length, 7 bits a byte, then itself. */
static Onnx__AttributeProto *default_of(const ProtobufCMessageUnknownField *u)
{
    size_t at = 0;
    while (at < u->len && u->data[at] & 0x80)
        at++;
    return at < u->len ? onnx__attribute_proto__unpack(NULL, u->len - at - 1, u->data + at + 1)
                       : NULL;
}

static bool read_defaults(graph_reader *inner)
{
    enum { DEFAULTS = 11 };
    const ProtobufCMessage *f = &inner->function->base;
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(f->descriptor, DEFAULTS);
    inner->borrowed = field;
    if (field) {
        memcpy(&inner->defaults, (const char *)f + field->offset, sizeof inner->defaults);
        memcpy(&inner->default_count, (const char *)f + field->quantifier_offset,
               sizeof inner->default_count);
        return true;
    }
    inner->defaults = calloc(f->n_unknown_fields + 1, sizeof *inner->defaults);
    for (size_t i = 0; inner->defaults && i < f->n_unknown_fields; i++) {
        const ProtobufCMessageUnknownField *u = &f->unknown_fields[i];
        if (u->tag != DEFAULTS)
            continue;
        Onnx__AttributeProto *a = default_of(u);
        if (!a)
            return format_fail(inner->error, "function '%.60s' has a default that is damaged",
                               onnx_text(inner->function->name));
        inner->defaults[inner->default_count++] = a;
    }
    return inner->defaults || out_of_memory(inner);
}

static bool all_declared(const graph_reader *inner)
{
    for (size_t i = 0; i < inner->call->n_attribute; i++)
        if (!declares(inner, onnx_text(inner->call->attribute[i]->name)))
            return format_fail(inner->error,
                               "a call of '%.60s' has the attribute '%.60s', which that function "
                               "does not declare",
                               onnx_text(inner->function->name),
                               onnx_text(inner->call->attribute[i]->name));
    return true;
}

/* Adds the nodes of a function's body, which sees nothing but what it is given. */
static bool add_call(graph_reader *r, const Onnx__NodeProto *n, const Onnx__FunctionProto *f)
{
    graph_reader inner = {.g = r->g,
                          .options = r->options,
                          .branch = r->branch,
                          .model = r->model,
                          .function = f,
                          .call = n,
                          .caller = r,
                          .given = r->given,
                          .error = r->error};
    bool ok = same_opset(r, f) && same_arguments(r, n, f) && read_defaults(&inner) &&
              all_declared(&inner);
    for (size_t i = 0; ok && i < f->n_input && i < n->n_input; i++) {
        const char *name = onnx_text(n->input[i]), *copy = copy_name(r, onnx_text(f->input[i]));
        const uint32_t value = *name ? find_value(r, name) : ONNX_NONE;
        if (*name && value == ONNX_NONE && !is_left_out(r, name))
            ok = format_fail(r->error,
                             "a call of '%.60s' reads '%.60s', which nothing before it makes",
                             onnx_text(f->name), name);
        else if (value != ONNX_NONE &&
                 onnx_names_find(&inner.names, onnx_text(f->input[i])) != ONNX_NONE)
            ok = format_fail(r->error, "value '%s' is defined twice", f->input[i]);
        else if (value != ONNX_NONE)
            ok = copy && onnx_names_add(&inner.names, copy, value, r->error);
    }
    for (size_t i = 0; ok && i < f->n_node; i++)
        ok = add_node(&inner, f->node[i]);
    ok = ok && add_results(&inner);
    onnx_names_free(&inner.names);
    for (size_t i = 0; !inner.borrowed && i < inner.default_count; i++)
        onnx__attribute_proto__free_unpacked(inner.defaults[i], NULL);
    if (!inner.borrowed)
        free(inner.defaults);
    return ok;
}

/* The node that is left of an If for output i. */
static bool add_choice(graph_reader *r, const Onnx__NodeProto *n, size_t i, uint32_t condition,
                       uint32_t one, uint32_t other)
{
    onnx_node *node = &r->g->nodes[r->g->node_count];
    node->name = copy_name(r, onnx_text(n->name)[0] ? onnx_text(n->name) : onnx_text(n->output[i]));
    node->op_type = "If";
    node->branch = r->branch;
    node->inputs = blocks_alloc(&r->g->memory, 3, sizeof *node->inputs);
    node->outputs = blocks_alloc(&r->g->memory, 1, sizeof *node->outputs);
    if (!node->name || !node->inputs || !node->outputs)
        return out_of_memory(r);
    node->inputs[0] = condition;
    node->inputs[1] = one;
    node->inputs[2] = other;
    node->input_count = 3;
    node->output_count = 1;
    r->g->node_count++;
    return add_value(r, onnx_text(n->output[i]), node->outputs);
}

static bool add_if(graph_reader *r, const Onnx__NodeProto *n)
{
    const onnx_node named = {.name = onnx_text(n->name), .op_type = "If"};
    const uint32_t condition = n->n_input == 1 ? find_value(r, onnx_text(n->input[0])) : ONNX_NONE;
    onnx_branch *branches = blocks_alloc(&r->g->memory, 2, sizeof *branches);
    uint32_t *results[2];
    if (condition == ONNX_NONE || n->n_output > ONNX_MAX_ARGUMENTS)
        return onnx_node_fail(&named, r->error, "has no condition, or too many outputs");
    for (int k = 0; k < 2; k++) {
        const Onnx__GraphProto *o = branch_of(n, branch_names[k]);
        results[k] = blocks_alloc(&r->g->memory, n->n_output + 1, sizeof **results);
        if (!branches || !results[k])
            return out_of_memory(r);
        if (!o || o->n_output != n->n_output)
            return onnx_node_fail(&named, r->error, "has no %s with %zu results", branch_names[k],
                                  n->n_output);
        branches[k] = (onnx_branch){condition, !k, r->branch};
        if (!add_branch(r, o, &branches[k], results[k]))
            return false;
    }
    for (size_t i = 0; i < n->n_output; i++)
        if (onnx_text(n->output[i])[0] &&
            !add_choice(r, n, i, condition, results[0][i], results[1][i]))
            return false;
    return true;
}

/* ---- the model ---------------------------------------------------------------------------- */

static bool read_opset(graph_reader *r, const Onnx__ModelProto *model)
{
    for (size_t i = 0; i < model->n_opset_import; i++) {
        const Onnx__OperatorSetIdProto *o = model->opset_import[i];
        if (!onnx_text(o->domain)[0] || !strcmp(o->domain, "ai.onnx"))
            r->g->opset = o->version;
    }
    if (r->g->opset >= ONNX_OPSET_MIN && r->g->opset <= ONNX_OPSET_MAX)
        return true;
    return format_fail(r->error,
                       "the model names no ONNX operator set from %d to %d (found %" PRId64 ")",
                       ONNX_OPSET_MIN, ONNX_OPSET_MAX, r->g->opset);
}

static void read_declared(const Onnx__ValueInfoProto *info, tensor *to)
{
    const Onnx__TypeProto *type = info->type;
    if (!type || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE || !type->tensor_type ||
        !type->tensor_type->shape || type->tensor_type->shape->n_dim > TENSOR_MAX_RANK)
        return;
    const Onnx__TensorShapeProto *shape = type->tensor_type->shape;
    to->type = (element_type)type->tensor_type->elem_type;
    for (; to->rank < shape->n_dim; to->rank++) {
        const Onnx__TensorShapeProto__Dimension *d = shape->dim[to->rank];
        const bool fixed = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
                           d->dim_value > 0;
        to->dims[to->rank] = fixed ? d->dim_value : -1;
    }
}

static bool add_outputs(graph_reader *r, const Onnx__GraphProto *o)
{
    onnx_graph *g = r->g;
    g->outputs = calloc(o->n_output + 1, sizeof *g->outputs);
    g->declared = calloc(o->n_output + 1, sizeof *g->declared);
    if (!g->outputs || !g->declared)
        return out_of_memory(r);
    for (size_t i = 0; i < o->n_output; i++) {
        const char *name = onnx_text(o->output[i]->name);
        const uint32_t value = onnx_names_find(&r->names, name);
        if (value == ONNX_NONE)
            return format_fail(r->error, "output '%s' is not made by any node", name);
        read_declared(o->output[i], &g->declared[i]);
        g->outputs[g->output_count++] = value;
    }
    return g->output_count ? true : format_fail(r->error, "the model has no outputs");
}

/* A large or sparse file, or a function, could stand for hundreds of tensors, so their total size
 * is checked before any is read. */
static bool size_ok(graph_reader *r, size_t *nodes)
{
    graph_size s = {.model = r->model};
    if (r->model->n_functions > MAX_FUNCTIONS)
        return format_fail(r->error, "the model has %zu functions; at most %d are supported",
                           r->model->n_functions, MAX_FUNCTIONS);
    count_graph(&s, r->model->graph, MAX_NESTED, false);
    *nodes = s.nodes;
    if (s.nodes > ONNX_MAX_NODES)
        return format_fail(r->error,
                           "the model has more than %d nodes, or branches and functions in %d "
                           "others; so many are supported",
                           ONNX_MAX_NODES, MAX_NESTED);
    return s.bytes <= ONNX_MAX_EXTERNAL_BYTES ||
           format_fail(r->error,
                       "the model has %" PRIu64 " bytes of tensors in other files and in "
                       "functions; at most %" PRIu64 " are supported",
                       s.bytes, ONNX_MAX_EXTERNAL_BYTES);
}

static bool read_model(graph_reader *r, const Onnx__ModelProto *model)
{
    const Onnx__GraphProto *o = model->graph;
    onnx_graph *g = r->g;
    if (!read_opset(r, model))
        return false;
    size_t nodes = 0;
    if (!size_ok(r, &nodes))
        return false;
    g->name = copy_name(r, onnx_text(o->name));
    if (!g->name)
        return false;
    g->nodes = calloc(nodes + 1, sizeof *g->nodes);
    if (!g->nodes)
        return out_of_memory(r);
    if (!add_inputs(r, o))
        return false;
    for (size_t i = 0; i < o->n_node; i++)
        if (!add_node(r, o->node[i]))
            return false;
    return add_outputs(r, o);
}

bool onnx_graph_read(onnx_graph *g, const void *bytes, size_t size,
                     const onnx_read_options *options, format_error *error)
{
    static const onnx_read_options none = {0};
    *g = (onnx_graph){0};
    if (options) {
        g->kernels = options->kernels;
        g->kernels_run = options->kernels_run;
        g->kernels_apart = options->kernels_apart;
        g->patterns = options->patterns;
        g->pattern_count = options->pattern_count;
    }
    uint64_t given = 0;
    graph_reader r = {
        .g = g, .options = options ? options : &none, .given = &given, .error = error};
    Onnx__ModelProto *model = onnx_parse(bytes, size, error);
    r.model = model;
    const bool ok = model && read_model(&r, model);
    onnx_release(model);
    onnx_names_free(&r.names);
    if (!ok)
        onnx_graph_free(g);
    return ok;
}
