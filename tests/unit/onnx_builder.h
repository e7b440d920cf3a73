// SPDX-License-Identifier: Apache-2.0
/* Builds small ONNX models in memory, for tests of the reader and the compiler. */
#ifndef MONA_TESTS_ONNX_BUILDER_H
#define MONA_TESTS_ONNX_BUILDER_H

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "onnx.pb-c.h"

typedef struct onnx_builder {
    void *memory[65536];
    size_t memory_count;
    Onnx__ModelProto model;
    Onnx__GraphProto graph;
    Onnx__OperatorSetIdProto opset, *opsets[1];
    Onnx__NodeProto *nodes[4096];
    Onnx__TensorProto *constants[512];
    Onnx__ValueInfoProto *inputs[16], *outputs[16];
} onnx_builder;

static inline void *ob_alloc(onnx_builder *b, size_t size)
{
    assert(b->memory_count < sizeof b->memory / sizeof *b->memory);
    void *memory = calloc(1, size ? size : 1);
    assert(memory);
    return b->memory[b->memory_count++] = memory;
}

static inline char *ob_text(onnx_builder *b, const char *text)
{
    return strcpy(ob_alloc(b, strlen(text) + 1), text);
}

static inline onnx_builder *ob_new(int64_t opset)
{
    onnx_builder *b = calloc(1, sizeof *b);
    assert(b);
    onnx__model_proto__init(&b->model);
    onnx__graph_proto__init(&b->graph);
    onnx__operator_set_id_proto__init(&b->opset);
    b->opset.has_version = true;
    b->opset.version = opset;
    b->opsets[0] = &b->opset;
    b->model.opset_import = b->opsets;
    b->model.n_opset_import = 1;
    b->model.graph = &b->graph;
    b->graph.name = ob_text(b, "test");
    b->graph.node = b->nodes;
    b->graph.initializer = b->constants;
    b->graph.input = b->inputs;
    b->graph.output = b->outputs;
    return b;
}

static inline void ob_free(onnx_builder *b)
{
    while (b->memory_count)
        free(b->memory[--b->memory_count]);
    free(b);
}

static inline Onnx__ValueInfoProto *ob_value(onnx_builder *b, const char *name, const int64_t *dims,
                                             size_t rank)
{
    Onnx__ValueInfoProto *info = ob_alloc(b, sizeof *info);
    Onnx__TypeProto *type = ob_alloc(b, sizeof *type);
    Onnx__TypeProto__Tensor *tensor = ob_alloc(b, sizeof *tensor);
    Onnx__TensorShapeProto *shape = ob_alloc(b, sizeof *shape);
    onnx__value_info_proto__init(info);
    onnx__type_proto__init(type);
    onnx__type_proto__tensor__init(tensor);
    onnx__tensor_shape_proto__init(shape);
    info->name = ob_text(b, name);
    info->type = type;
    type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    type->tensor_type = tensor;
    tensor->has_elem_type = true;
    tensor->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    tensor->shape = shape;
    shape->n_dim = rank;
    shape->dim = ob_alloc(b, rank * sizeof *shape->dim);
    for (size_t i = 0; i < rank; i++) {
        shape->dim[i] = ob_alloc(b, sizeof **shape->dim);
        onnx__tensor_shape_proto__dimension__init(shape->dim[i]);
        if (dims[i] > 0) {
            shape->dim[i]->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
            shape->dim[i]->dim_value = dims[i];
        } else {
            shape->dim[i]->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
            shape->dim[i]->dim_param = ob_text(b, "n");
        }
    }
    return info;
}

/* height and width 0: any. */
static inline void ob_input(onnx_builder *b, const char *name, int64_t channels, int64_t height,
                            int64_t width)
{
    const int64_t dims[4] = {1, channels, height, width};
    b->inputs[b->graph.n_input++] = ob_value(b, name, dims, 4);
}

static inline void ob_output(onnx_builder *b, const char *name)
{
    const int64_t dims[4] = {1, 0, 0, 0};
    b->outputs[b->graph.n_output++] = ob_value(b, name, dims, 4);
}

/* A float constant with dims given as "4 16 3 3"; "" is a single number. */
static inline Onnx__TensorProto *ob_constant(onnx_builder *b, const char *name, const char *dims,
                                             const float *data)
{
    Onnx__TensorProto *t = ob_alloc(b, sizeof *t);
    onnx__tensor_proto__init(t);
    t->name = ob_text(b, name);
    t->has_data_type = true;
    t->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    t->dims = ob_alloc(b, 8 * sizeof *t->dims);
    size_t count = 1;
    for (char *p = ob_text(b, dims), *end; *p; p = end) {
        t->dims[t->n_dims] = strtoll(p, &end, 10);
        count *= (size_t)t->dims[t->n_dims++];
    }
    t->n_float_data = count;
    t->float_data = ob_alloc(b, count * sizeof(float));
    memcpy(t->float_data, data, count * sizeof(float));
    b->constants[b->graph.n_initializer++] = t;
    return t;
}

/* The same for integers of another type. */
static inline Onnx__TensorProto *ob_int_tensor(onnx_builder *b, const char *name, int32_t type,
                                               const char *dims, const int32_t *data)
{
    const float none[1] = {0};
    Onnx__TensorProto *t = ob_constant(b, name, "", none);
    size_t count = 1;
    for (char *p = ob_text(b, dims), *end; *p; p = end) {
        t->dims[t->n_dims] = strtoll(p, &end, 10);
        count *= (size_t)t->dims[t->n_dims++];
    }
    t->data_type = type;
    t->n_float_data = 0;
    t->n_int32_data = count;
    t->int32_data = ob_alloc(b, count * sizeof *t->int32_data);
    memcpy(t->int32_data, data, count * sizeof *data);
    return t;
}

static inline void ob_numbers(onnx_builder *b, const char *name, const char *list)
{
    Onnx__TensorProto *t = ob_alloc(b, sizeof *t);
    onnx__tensor_proto__init(t);
    t->name = ob_text(b, name);
    t->has_data_type = true;
    t->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
    t->int64_data = ob_alloc(b, 16 * sizeof(int64_t));
    for (char *p = ob_text(b, list), *end; *p; p = end)
        t->int64_data[t->n_int64_data++] = strtoll(p, &end, 10);
    t->n_dims = 1;
    t->dims = ob_alloc(b, sizeof(int64_t));
    t->dims[0] = (int64_t)t->n_int64_data;
    b->constants[b->graph.n_initializer++] = t;
}

/* "x w" -> {"x", "w"}; "-" stands for an input left out. */
static inline char **ob_names(onnx_builder *b, const char *list, size_t *count)
{
    char **names = ob_alloc(b, 16 * sizeof *names), *rest = ob_text(b, list);
    for (char *p = strtok(rest, " "); p; p = strtok(NULL, " "))
        names[(*count)++] = strcmp(p, "-") ? p : ob_text(b, "");
    return names;
}

/* inputs and outputs are names separated by spaces; the node has the name of its first output. */
static inline Onnx__NodeProto *ob_node(onnx_builder *b, const char *op_type, const char *inputs,
                                       const char *outputs)
{
    Onnx__NodeProto *n = ob_alloc(b, sizeof *n);
    onnx__node_proto__init(n);
    n->op_type = ob_text(b, op_type);
    n->input = ob_names(b, inputs, &n->n_input);
    n->output = ob_names(b, outputs, &n->n_output);
    n->name = n->n_output ? n->output[0] : ob_text(b, "");
    n->attribute = ob_alloc(b, 16 * sizeof *n->attribute);
    b->nodes[b->graph.n_node++] = n;
    return n;
}

static inline Onnx__AttributeProto *ob_attribute(onnx_builder *b, Onnx__NodeProto *n,
                                                 const char *name)
{
    Onnx__AttributeProto *a = ob_alloc(b, sizeof *a);
    onnx__attribute_proto__init(a);
    a->name = ob_text(b, name);
    return n->attribute[n->n_attribute++] = a;
}

static inline void ob_int(onnx_builder *b, Onnx__NodeProto *n, const char *name, int64_t value)
{
    Onnx__AttributeProto *a = ob_attribute(b, n, name);
    a->has_i = true;
    a->i = value;
}

static inline void ob_float(onnx_builder *b, Onnx__NodeProto *n, const char *name, float value)
{
    Onnx__AttributeProto *a = ob_attribute(b, n, name);
    a->has_f = true;
    a->f = value;
}

static inline void ob_string(onnx_builder *b, Onnx__NodeProto *n, const char *name,
                             const char *value)
{
    Onnx__AttributeProto *a = ob_attribute(b, n, name);
    a->has_s = true;
    a->s.data = (uint8_t *)ob_text(b, value);
    a->s.len = strlen(value);
}

/* list: "1 1 1 1" */
static inline void ob_ints(onnx_builder *b, Onnx__NodeProto *n, const char *name, const char *list)
{
    Onnx__AttributeProto *a = ob_attribute(b, n, name);
    a->ints = ob_alloc(b, 16 * sizeof(int64_t));
    for (char *p = ob_text(b, list), *end; *p; p = end)
        a->ints[a->n_ints++] = strtoll(p, &end, 10);
}

/* The model as bytes, released with free(). */
static inline uint8_t *ob_pack(const onnx_builder *b, size_t *size)
{
    *size = onnx__model_proto__get_packed_size(&b->model);
    uint8_t *bytes = malloc(*size);
    assert(bytes);
    onnx__model_proto__pack(&b->model, bytes);
    return bytes;
}

#endif
