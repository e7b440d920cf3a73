// SPDX-License-Identifier: Apache-2.0
/* Changes an ONNX model where libFuzzer's bytes would only break it: its operators, by their table,
 * attributes, names, shapes, types and tensors; puts nodes into branches of an If and into
 * functions. */
#ifndef MONA_TESTS_FUZZ_ONNX_MUTATOR_H
#define MONA_TESTS_FUZZ_ONNX_MUTATOR_H

#include <stdlib.h>
#include <string.h>

#include "formats/blocks.h"
#include "onnx.pb-c.h"
#include "tests/fuzz/fuzz.h"

/* All that a changed model holds lies in `memory`, so that parts may be shared and left out. */
typedef struct onnx_mutator {
    Onnx__ModelProto *model;
    blocks memory;
    uint64_t state;
} onnx_mutator;

static inline uint32_t onnx_draw(onnx_mutator *m, size_t below)
{
    return below ? fuzz_draw(&m->state) % (uint32_t)below : 0;
}

static inline void *onnx_take(void *memory, size_t size)
{
    return blocks_alloc(memory, 1, size ? size : 1);
}

static inline void onnx_keep(void *memory, void *block)
{
    (void)memory, (void)block;
}

static inline char *onnx_copy(onnx_mutator *m, const char *text)
{
    char *copy = onnx_take(&m->memory, strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

/* One of a list of texts. */
#define ONNX_WORD(m, ...)                                                                          \
    onnx_copy(m, ((const char *const[]){__VA_ARGS__})[onnx_draw(                                   \
                     m, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))])

static inline int64_t onnx_number(onnx_mutator *m)
{
    static const int64_t numbers[] = {0, 1, 2, 3, 4, 7, -1, -2, 255, 65536, INT32_MAX, INT64_MIN};
    return numbers[onnx_draw(m, sizeof numbers / sizeof *numbers)];
}

/* A list with room for one more at its end, which becomes `one`. */
static inline void *onnx_append(onnx_mutator *m, void *list, size_t *count, void *one)
{
    void **longer = blocks_alloc(&m->memory, *count + 1, sizeof *longer);
    if (!longer || !one)
        return list;
    if (*count)
        memcpy(longer, list, *count * sizeof *longer);
    longer[(*count)++] = one;
    return longer;
}

#define ONNX_APPEND(m, list, count, one) ((list) = onnx_append(m, list, &(count), one))

#define ONNX_NEW(m, type, init) onnx_made(m, sizeof(type), &(type)init)

static inline void *onnx_made(onnx_mutator *m, size_t size, const void *from)
{
    void *made = onnx_take(&m->memory, size);
    return made && size ? memcpy(made, from, size) : made;
}

static inline Onnx__NodeProto *onnx_some_node(onnx_mutator *m)
{
    Onnx__GraphProto *g = m->model->graph;
    return g->n_node ? g->node[onnx_draw(m, g->n_node)] : NULL;
}

/* A name that some node reads or makes. */
static inline char *onnx_some_name(onnx_mutator *m)
{
    const Onnx__NodeProto *n = onnx_some_node(m);
    if (n && n->n_input && onnx_draw(m, 2))
        return n->input[onnx_draw(m, n->n_input)];
    return n && n->n_output ? n->output[onnx_draw(m, n->n_output)] : onnx_copy(m, "x");
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static inline void onnx_change_operator(onnx_mutator *m, Onnx__NodeProto *n)
{
#define ROW(name, ...) name,
    static const char *const names[] = {
#include "formats/operators.inc"
        "Constant", "If", "Loop", "Sum"};
#undef ROW
    if (onnx_draw(m, 4))
        n->op_type = onnx_copy(m, names[onnx_draw(m, sizeof names / sizeof *names)]);
    else
        n->domain = ONNX_WORD(m, "", "ai.onnx", "test", "elsewhere");
}

static inline void onnx_change_names(onnx_mutator *m, Onnx__NodeProto *n)
{
    const bool outputs = onnx_draw(m, 3) == 0;
    char ***names = outputs ? &n->output : &n->input;
    size_t *count = outputs ? &n->n_output : &n->n_input;
    static char many[300];
    memset(many, 'n', sizeof many - 1);
    switch (onnx_draw(m, 5)) {
    case 0:
        *names = onnx_append(m, *names, count, onnx_some_name(m));
        break;
    case 1:
        *count -= *count > 0;
        break;
    case 2:
        for (int i = 0; i < 20; i++)
            *names = onnx_append(m, *names, count, onnx_some_name(m));
        break;
    default:
        if (*count)
            (*names)[onnx_draw(m, *count)] =
                onnx_draw(m, 2) ? onnx_some_name(m) : ONNX_WORD(m, "", "fresh", many);
    }
}

static inline Onnx__AttributeProto *onnx_new_attribute(onnx_mutator *m)
{
    Onnx__AttributeProto *a = ONNX_NEW(m, Onnx__AttributeProto, ONNX__ATTRIBUTE_PROTO__INIT);
    if (a)
        a->name = ONNX_WORD(m, "axis", "value", "value_int", "value_ints", "value_float",
                            "value_floats", "value_string", "pads", "mode", "alpha", "sparse_value",
                            "then_branch", "to", "perm", "odd");
    return a;
}

static inline void onnx_set_attribute(onnx_mutator *m, Onnx__AttributeProto *a)
{
    static float floats[] = {0.5f, -1, 3, 0};
    const size_t count = onnx_draw(m, 5);
    int64_t *ints = blocks_alloc(&m->memory, 5, sizeof *ints);
    char *text = ONNX_WORD(m, "", "SAME_UPPER", "reflect", "linear", "DCR", "ij,jk->ik", "odd");
    if (!ints || !text)
        return;
    for (size_t i = 0; i < count; i++)
        ints[i] = onnx_number(m);
    if (onnx_draw(m, 2)) /* else it is of two kinds */
        *a = (Onnx__AttributeProto){.base = a->base, .name = a->name};
    switch (onnx_draw(m, 8)) {
    case 0:
        a->has_i = true;
        a->i = onnx_number(m);
        break;
    case 1:
        a->n_ints = count;
        a->ints = ints;
        break;
    case 2:
        a->n_floats = count < 4 ? count : 4;
        a->floats = floats;
        break;
    case 3:
        a->has_f = true;
        a->f = floats[onnx_draw(m, 4)];
        break;
    case 4:
        a->has_s = true;
        a->s = (ProtobufCBinaryData){strlen(text), (uint8_t *)text};
        break;
    case 5:
        a->ref_attr_name = ONNX_WORD(m, "slope", "axis", "odd");
        break;
    case 6:
        if (m->model->graph->n_initializer)
            a->t = m->model->graph->initializer[onnx_draw(m, m->model->graph->n_initializer)];
        break;
    default:
        break;
    }
    a->has_type = onnx_draw(m, 3) > 0;
    a->type = (Onnx__AttributeProto__AttributeType)onnx_draw(m, 12);
}

static inline void onnx_change_attributes(onnx_mutator *m, Onnx__NodeProto *n)
{
    if (!n->n_attribute || !onnx_draw(m, 4))
        ONNX_APPEND(m, n->attribute, n->n_attribute, onnx_new_attribute(m));
    Onnx__AttributeProto *a = n->n_attribute ? n->attribute[onnx_draw(m, n->n_attribute)] : NULL;
    if (a && onnx_draw(m, 8))
        onnx_set_attribute(m, a);
    else if (a)
        a->name = onnx_new_attribute(m)->name;
}

/* ---- tensors and types ---------------------------------------------------------------------- */

static inline Onnx__StringStringEntryProto *onnx_entry(onnx_mutator *m, const char *key,
                                                       char *value)
{
    Onnx__StringStringEntryProto *e =
        ONNX_NEW(m, Onnx__StringStringEntryProto, ONNX__STRING_STRING_ENTRY_PROTO__INIT);
    if (e) {
        e->key = onnx_copy(m, key);
        e->value = value;
    }
    return e;
}

static inline void onnx_put_outside(onnx_mutator *m, Onnx__TensorProto *t)
{
    static const char *const keys[] = {"location", "offset", "length"};
    t->has_data_location = true;
    t->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    t->has_raw_data = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (onnx_draw(m, 6))
            ONNX_APPEND(
                m, t->external_data, t->n_external_data,
                onnx_entry(m, keys[i],
                           i ? ONNX_WORD(m, "0", "4", "16", "-1", "x", "99999999999999")
                             : ONNX_WORD(m, "weights.bin", "../weights.bin", "test_data_set_0",
                                         "/dev/null", "a\\b", "", "none", "./weights.bin")));
}

static inline void onnx_change_tensor(onnx_mutator *m, Onnx__TensorProto *t)
{
    switch (onnx_draw(m, 8)) {
    case 0:
        t->has_data_type = onnx_draw(m, 8) > 0;
        t->data_type = (int32_t)onnx_draw(m, 24);
        break;
    case 1:
        if (t->n_dims)
            t->dims[onnx_draw(m, t->n_dims)] = onnx_number(m);
        break;
    case 2:
        t->n_dims -= t->n_dims > 0;
        break;
    case 3:
        if (t->has_raw_data)
            t->raw_data.len /= 2;
        break;
    case 4:
        onnx_put_outside(m, t);
        break;
    case 5: /* the same bytes as numbers of another field */
        t->n_int32_data = t->n_float_data = t->raw_data.len / 4;
        t->int32_data = onnx_made(m, t->raw_data.len, t->raw_data.data);
        t->float_data = onnx_made(m, t->raw_data.len, t->raw_data.data);
        t->n_int64_data = t->n_double_data = t->n_uint64_data = t->raw_data.len / 8;
        t->int64_data = onnx_made(m, t->raw_data.len, t->raw_data.data);
        t->double_data = onnx_made(m, t->raw_data.len, t->raw_data.data);
        t->uint64_data = onnx_made(m, t->raw_data.len, t->raw_data.data);
        t->has_raw_data = false;
        break;
    case 6:
        t->segment = ONNX_NEW(m, Onnx__TensorProto__Segment, ONNX__TENSOR_PROTO__SEGMENT__INIT);
        break;
    default:
        t->name = onnx_draw(m, 2) ? onnx_some_name(m) : ONNX_WORD(m, "", "x", "y");
    }
}

static inline void onnx_change_value(onnx_mutator *m, Onnx__ValueInfoProto *v)
{
    static const Onnx__TypeProto__ValueCase cases[] = {ONNX__TYPE_PROTO__VALUE__NOT_SET,
                                                       ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE};
    Onnx__TypeProto__Tensor *t =
        v->type && v->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ? v->type->tensor_type
                                                                              : NULL;
    Onnx__TensorShapeProto *s = t ? t->shape : NULL;
    Onnx__TensorShapeProto__Dimension *d = s && s->n_dim ? s->dim[onnx_draw(m, s->n_dim)] : NULL;
    const uint32_t what = onnx_draw(m, 8);
    if (what == 0 && v->type) {
        v->type->value_case = cases[onnx_draw(m, 2)];
        v->type->sequence_type =
            ONNX_NEW(m, Onnx__TypeProto__Sequence, ONNX__TYPE_PROTO__SEQUENCE__INIT);
    } else if (what == 1)
        v->name = onnx_draw(m, 2) ? onnx_some_name(m) : ONNX_WORD(m, "", "x", "y");
    else if (what == 2 && t)
        t->elem_type = (int32_t)onnx_draw(m, 24);
    else if (what == 3 && t && onnx_draw(m, 4) == 0)
        t->shape = NULL;
    else if (what == 4 && s && s->n_dim)
        for (int i = 0; i < 9; i++)
            ONNX_APPEND(m, s->dim, s->n_dim, d);
    else if (what == 5 && d) {
        d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
        d->dim_param = ONNX_WORD(m, "N", "M", "");
    } else if (d) {
        d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        d->dim_value = onnx_number(m);
    }
}

/* ---- branches and functions ----------------------------------------------------------------- */

static inline Onnx__ValueInfoProto *onnx_named(onnx_mutator *m, char *name)
{
    Onnx__ValueInfoProto *v = ONNX_NEW(m, Onnx__ValueInfoProto, ONNX__VALUE_INFO_PROTO__INIT);
    if (v)
        v->name = name;
    return v;
}

/* A branch that holds the node, or, for the other one, its first input alone. */
static inline Onnx__AttributeProto *onnx_branch_of(onnx_mutator *m, const Onnx__NodeProto *n,
                                                   const char *name, bool other)
{
    Onnx__AttributeProto *a = ONNX_NEW(m, Onnx__AttributeProto, ONNX__ATTRIBUTE_PROTO__INIT);
    Onnx__GraphProto *g = ONNX_NEW(m, Onnx__GraphProto, ONNX__GRAPH_PROTO__INIT);
    Onnx__NodeProto *inner = onnx_made(m, sizeof *n, n);
    if (!a || !g || !inner)
        return NULL;
    a->name = onnx_copy(m, name);
    a->has_type = true;
    a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH;
    a->g = g;
    inner->output = NULL;
    inner->n_output = 0;
    for (size_t i = 0; i < n->n_output; i++)
        ONNX_APPEND(m, inner->output, inner->n_output, ONNX_WORD(m, "inner", "inside", "inner2"));
    if (other && n->n_input)
        inner->op_type = onnx_copy(m, "Identity"), inner->n_input = 1, inner->n_attribute = 0;
    ONNX_APPEND(m, g->node, g->n_node, inner);
    for (size_t i = 0; i < n->n_output; i++)
        ONNX_APPEND(m, g->output, g->n_output,
                    onnx_named(m, onnx_draw(m, 8) ? inner->output[i] : onnx_some_name(m)));
    if (!onnx_draw(m, 3) && m->model->graph->n_initializer)
        ONNX_APPEND(m, g->initializer, g->n_initializer, m->model->graph->initializer[0]);
    return a;
}

static inline void onnx_wrap_in_if(onnx_mutator *m, Onnx__NodeProto *n)
{
    static int32_t yes = 1;
    Onnx__TensorProto *condition = ONNX_NEW(m, Onnx__TensorProto, ONNX__TENSOR_PROTO__INIT);
    Onnx__NodeProto *whole = ONNX_NEW(m, Onnx__NodeProto, ONNX__NODE_PROTO__INIT);
    if (!condition || !whole)
        return;
    condition->name = onnx_copy(m, "condition");
    condition->has_data_type = true;
    condition->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__BOOL;
    condition->n_int32_data = 1;
    condition->int32_data = &yes;
    ONNX_APPEND(m, m->model->graph->initializer, m->model->graph->n_initializer, condition);
    whole->op_type = onnx_copy(m, "If");
    whole->output = n->output;
    whole->n_output = n->n_output;
    if (onnx_draw(m, 8))
        ONNX_APPEND(m, whole->input, whole->n_input,
                    onnx_draw(m, 3) ? condition->name : onnx_some_name(m));
    ONNX_APPEND(m, whole->attribute, whole->n_attribute,
                onnx_branch_of(m, n, "then_branch", onnx_draw(m, 2)));
    if (onnx_draw(m, 8))
        ONNX_APPEND(m, whole->attribute, whole->n_attribute,
                    onnx_branch_of(m, n, "else_branch", onnx_draw(m, 2)));
    *n = *whole;
}

static inline void onnx_wrap_in_function(onnx_mutator *m, Onnx__NodeProto *n)
{
    Onnx__FunctionProto *f = ONNX_NEW(m, Onnx__FunctionProto, ONNX__FUNCTION_PROTO__INIT);
    Onnx__NodeProto *inner = onnx_made(m, sizeof *n, n);
    Onnx__OperatorSetIdProto *set =
        ONNX_NEW(m, Onnx__OperatorSetIdProto, ONNX__OPERATOR_SET_ID_PROTO__INIT);
    if (!f || !inner || !set)
        return;
    f->name = onnx_copy(m, "Wrapped");
    f->domain = onnx_copy(m, "test");
    f->input = n->input;
    f->n_input = n->n_input;
    f->output = n->output;
    f->n_output = n->n_output;
    for (size_t i = 0; i < n->n_attribute; i++)
        if (onnx_draw(m, 2))
            ONNX_APPEND(m, f->attribute, f->n_attribute, n->attribute[i]->name);
    ONNX_APPEND(m, f->node, f->n_node, inner);
    set->domain = onnx_copy(m, "");
    set->has_version = true;
    set->version = onnx_draw(m, 4) && m->model->n_opset_import ? m->model->opset_import[0]->version
                                                               : (int64_t)onnx_draw(m, 30);
    ONNX_APPEND(m, f->opset_import, f->n_opset_import, set);
    ONNX_APPEND(m, m->model->functions, m->model->n_functions, f);
    if (!onnx_draw(m, 6))
        ONNX_APPEND(m, m->model->functions, m->model->n_functions, f);
    n->op_type = f->name;
    n->domain = f->domain;
    if (!onnx_draw(m, 4))
        onnx_change_names(m, onnx_draw(m, 2) ? inner : n);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static inline void onnx_change_graph(onnx_mutator *m)
{
    Onnx__GraphProto *g = m->model->graph;
    switch (onnx_draw(m, 6)) {
    case 0:
        if (m->model->n_opset_import)
            m->model->opset_import[0]->version = (int64_t)onnx_draw(m, 30) - 2;
        break;
    case 1:
        ONNX_APPEND(m, g->node, g->n_node, onnx_some_node(m));
        break;
    case 2:
        ONNX_APPEND(m, g->output, g->n_output, onnx_named(m, onnx_some_name(m)));
        break;
    case 3:
        ONNX_APPEND(m, g->sparse_initializer, g->n_sparse_initializer,
                    ONNX_NEW(m, Onnx__SparseTensorProto, ONNX__SPARSE_TENSOR_PROTO__INIT));
        break;
    case 4:
        g->n_node -= g->n_node > 0;
        break;
    default:
        if (g->n_input &&
            g->n_initializer) /* a constant becomes an input's default, or an input one */
            g->initializer[0]->name = g->input[0]->name;
    }
}

static inline void onnx_change(onnx_mutator *m)
{
    Onnx__GraphProto *g = m->model->graph;
    Onnx__NodeProto *n = onnx_some_node(m);
    const uint32_t what = onnx_draw(m, 16);
    if (what < 3 && n)
        onnx_change_operator(m, n);
    else if (what < 6 && n)
        onnx_change_attributes(m, n);
    else if (what < 8 && n)
        onnx_change_names(m, n);
    else if (what < 10 && g->n_initializer)
        onnx_change_tensor(m, g->initializer[onnx_draw(m, g->n_initializer)]);
    else if (what == 10 && g->n_input)
        onnx_change_value(m, g->input[onnx_draw(m, g->n_input)]);
    else if (what == 11 && g->n_output)
        onnx_change_value(m, g->output[onnx_draw(m, g->n_output)]);
    else if (what == 12 && n)
        onnx_wrap_in_if(m, n);
    else if (what == 13 && n)
        onnx_wrap_in_function(m, n);
    else
        onnx_change_graph(m);
}

/* Data that is no model stays as it is. */
static inline size_t onnx_mutate(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    onnx_mutator m = {.state = seed};
    ProtobufCAllocator memory = {onnx_take, onnx_keep, &m.memory};
    m.model = onnx__model_proto__unpack(&memory, size, data);
    if (m.model && m.model->graph) {
        for (uint32_t times = 1 + onnx_draw(&m, 3); times; times--)
            onnx_change(&m);
        const size_t bytes = onnx__model_proto__get_packed_size(m.model);
        if (bytes <= room)
            size = onnx__model_proto__pack(m.model, data);
    }
    blocks_free(&m.memory);
    return size;
}

#endif
