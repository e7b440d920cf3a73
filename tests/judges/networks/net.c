// SPDX-License-Identifier: Apache-2.0
#include "tests/judges/networks/net.h"

#include <stdio.h>

#include "formats/element.h"

/* ---- chance ------------------------------------------------------------------------------- */

/* splitmix64 */
uint64_t net_random(net *n)
{
    uint64_t x = n->random += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint32_t pick(net *n, uint32_t count)
{
    return (uint32_t)(net_random(n) >> 33) % count;
}

bool once_in(net *n, uint32_t count)
{
    return !pick(n, count);
}

double uniform(net *n, double low, double high)
{
    return low + (high - low) * (double)(net_random(n) >> 11) * 0x1p-53;
}

/* ---- shapes ------------------------------------------------------------------------------- */

shape shape_of(const net *n, int value)
{
    return value == NONE ? (shape){0} : n->shapes[value];
}

shape shape_make(int type, uint32_t rank, ...)
{
    shape s = {type, rank, {0}};
    va_list dims;
    va_start(dims, rank);
    for (uint32_t i = 0; i < rank; i++)
        s.dims[i] = va_arg(dims, int);
    va_end(dims);
    return s;
}

int64_t shape_count(const shape *s)
{
    int64_t count = 1;
    for (uint32_t i = 0; i < s->rank; i++)
        count *= s->dims[i];
    return count;
}

bool shape_same(const shape *a, const shape *b)
{
    bool same = a->rank == b->rank;
    for (uint32_t i = 0; same && i < a->rank; i++)
        same = a->dims[i] == b->dims[i];
    return same;
}

static bool is_reasonable(const shape *s)
{
    int64_t count = 1;
    for (uint32_t i = 0; i < s->rank; i++) {
        if (s->dims[i] < 1 || s->dims[i] > NET_ELEMENTS)
            return false;
        count *= s->dims[i];
        if (count > NET_ELEMENTS)
            return false;
    }
    return s->rank <= NET_RANK;
}

/* ---- values ------------------------------------------------------------------------------- */

static void name_of(int value, char name[16])
{
    snprintf(name, 16, "v%d", value);
}

static int add_value(net *n, shape s)
{
    assert(n->value_count < NET_VALUES);
    n->shapes[n->value_count] = s;
    return n->value_count++;
}

int net_input(net *n, shape s)
{
    char name[16];
    int64_t dims[NET_RANK];
    const int v = add_value(n, s);
    memcpy(dims, s.dims, sizeof dims);
    for (uint32_t i = 2; n->open && s.rank == 4 && i < 4; i++)
        dims[i] = 0;
    name_of(v, name);
    Onnx__ValueInfoProto *info = ob_value(n->b, name, dims, s.rank);
    info->type->tensor_type->elem_type = s.type;
    /* onnx_builder names all open sides alike. */
    for (uint32_t i = 2; n->open && s.rank == 4 && i < 4; i++)
        info->type->tensor_type->shape->dim[i]->dim_param = ob_text(n->b, i == 2 ? "h" : "w");
    n->b->inputs[n->b->graph.n_input++] = info;
    return v;
}

void net_output(net *n, int value)
{
    char name[16];
    if (value == NONE || n->b->graph.n_output >= 4)
        return;
    name_of(value, name);
    for (size_t i = 0; i < n->b->graph.n_output; i++)
        if (!strcmp(n->b->outputs[i]->name, name))
            return;
    const shape s = shape_of(n, value);
    int64_t open[NET_RANK] = {0};
    Onnx__ValueInfoProto *info = ob_value(n->b, name, n->open ? open : s.dims, s.rank);
    info->type->tensor_type->elem_type = s.type;
    /* Sides that nothing names are unknown. */
    for (uint32_t i = 0; n->open && i < s.rank; i++)
        info->type->tensor_type->shape->dim[i]->value_case =
            ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE__NOT_SET;
    n->b->outputs[n->b->graph.n_output++] = info;
}

/* A constant: an initialiser, or the result of a node, as PyTorch writes some. */
static Onnx__TensorProto *add_constant(net *n, shape s, size_t element, int *value)
{
    onnx_builder *b = n->b;
    char name[16];
    *value = add_value(n, s);
    name_of(*value, name);
    Onnx__TensorProto *t = ob_alloc(b, sizeof *t);
    onnx__tensor_proto__init(t);
    t->name = ob_text(b, name);
    t->has_data_type = true;
    t->data_type = s.type;
    t->n_dims = s.rank;
    t->dims = ob_alloc(b, NET_RANK * sizeof *t->dims);
    memcpy(t->dims, s.dims, s.rank * sizeof *t->dims);
    t->has_raw_data = true;
    t->raw_data.len = (size_t)shape_count(&s) * element;
    t->raw_data.data = ob_alloc(b, t->raw_data.len);
    if (once_in(n, 4) || b->graph.n_initializer >= sizeof b->constants / sizeof *b->constants) {
        Onnx__NodeProto *node = ob_node(b, "Constant", "", name);
        Onnx__AttributeProto *a = ob_attribute(b, node, "value");
        a->has_type = true;
        a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
        a->t = t;
    } else {
        b->constants[b->graph.n_initializer++] = t;
    }
    return t;
}

int net_floats(net *n, shape s, double center, double spread)
{
    int value;
    s.type = n->type;
    Onnx__TensorProto *t = add_constant(n, s, n->type == T_HALF ? 2 : 4, &value);
    for (int64_t i = 0; i < shape_count(&s); i++) {
        const double number = uniform(n, center - spread, center + spread);
        if (n->type == T_HALF)
            ((uint16_t *)t->raw_data.data)[i] = half_from_double(number);
        else
            ((float *)t->raw_data.data)[i] = (float)number;
    }
    return value;
}

int net_float(net *n, double value)
{
    return net_floats(n, shape_make(n->type, 0), value, 0);
}

int net_list(net *n, const float *list, uint32_t count)
{
    int value;
    Onnx__TensorProto *t =
        add_constant(n, shape_make(T_FLOAT, 1, (int)count), sizeof *list, &value);
    if (count) /* of none, there is no list */
        memcpy(t->raw_data.data, list, t->raw_data.len);
    return value;
}

static int add_ints(net *n, shape s, const int64_t *list)
{
    int value;
    Onnx__TensorProto *t = add_constant(n, s, sizeof *list, &value);
    memcpy(t->raw_data.data, list, t->raw_data.len);
    return value;
}

int net_ints(net *n, const int64_t *list, uint32_t count)
{
    return add_ints(n, shape_make(T_S64, 1, (int)count), list);
}

int net_int(net *n, int64_t value)
{
    return add_ints(n, shape_make(T_S64, 0), &value);
}

int net_small_ints(net *n, shape s, int low, int high)
{
    int value;
    const size_t element = s.type == T_S32 ? 4 : 1;
    Onnx__TensorProto *t = add_constant(n, s, element, &value);
    for (int64_t i = 0; i < shape_count(&s); i++) {
        const int32_t number = low + (int32_t)pick(n, (uint32_t)(high - low) + 1);
        memcpy(t->raw_data.data + (size_t)i * element, &number, element);
    }
    return value;
}

/* ---- nodes -------------------------------------------------------------------------------- */

bool net_nodes(net *n, const char *op, int made, const shape *shapes, int *outputs, int count,
               const int *inputs)
{
    char in[512] = "", out[512] = "", name[16];
    for (int i = 0; i < made; i++)
        if (!is_reasonable(&shapes[i]))
            return false;
    for (int i = 0; i < count; i++) {
        name_of(inputs[i], name);
        strcat(strcat(in, inputs[i] == NONE ? "-" : name), " ");
    }
    if (n->b->graph.n_node + 8 > sizeof n->b->nodes / sizeof *n->b->nodes ||
        n->value_count + made + 8 > NET_VALUES)
        return false;
    for (int i = 0; i < made; i++) {
        outputs[i] = add_value(n, shapes[i]);
        name_of(outputs[i], name);
        strcat(strcat(out, name), " ");
    }
    n->last = ob_node(n->b, op, in, out);
    return true;
}

int net_node(net *n, const char *op, shape output, int count, ...)
{
    int inputs[16], made = NONE;
    va_list list;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        inputs[i] = va_arg(list, int);
    va_end(list);
    if (inputs[0] == NONE)
        return NONE;
    return net_nodes(n, op, 1, &output, &made, count, inputs) ? made : NONE;
}

static Onnx__AttributeProto *attribute(net *n, const char *name,
                                       Onnx__AttributeProto__AttributeType type)
{
    Onnx__AttributeProto *a = ob_attribute(n->b, n->last, name);
    a->has_type = true;
    a->type = type;
    return a;
}

void set_int(net *n, const char *name, int64_t value)
{
    Onnx__AttributeProto *a = attribute(n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    a->has_i = true;
    a->i = value;
}

void set_float(net *n, const char *name, double value)
{
    Onnx__AttributeProto *a = attribute(n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
    a->has_f = true;
    a->f = (float)value;
}

void set_text(net *n, const char *name, const char *value)
{
    Onnx__AttributeProto *a = attribute(n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
    a->has_s = true;
    a->s.data = (uint8_t *)ob_text(n->b, value);
    a->s.len = strlen(value);
}

void set_ints(net *n, const char *name, const int64_t *list, uint32_t count)
{
    Onnx__AttributeProto *a = attribute(n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
    a->ints = ob_alloc(n->b, count * sizeof *list);
    a->n_ints = count;
    memcpy(a->ints, list, count * sizeof *list);
}

/* ---- networks ----------------------------------------------------------------------------- */

net *net_new(uint64_t seed)
{
    net *n = calloc(1, sizeof *n);
    assert(n);
    n->random = seed * 0x2545f4914f6cdd1du + 1;
    n->type = T_FLOAT;
    n->opset = ONE_OF(n, int, 11, 11, 12, 13, 13, 13, 14, 15, 16, 17, 17, 18, 19);
    n->batch = once_in(n, 8) ? 2 + (int)pick(n, 2) : 1;
    n->b = ob_new(n->opset);
    n->b->model.has_ir_version = true;
    n->b->model.ir_version = 7;
    return n;
}

void net_free(net *n)
{
    ob_free(n->b);
    free(n);
}
