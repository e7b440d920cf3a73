// SPDX-License-Identifier: Apache-2.0
/* Every operator that the engine runs, with each value of each attribute, after and before
 * operators that a compiler likes to merge: compiled, and compared with what ONNX defines, to the
 * precision of FP16 and, in one of three, to about that of INT8.
 *
 * attribute_cases.h has the values; formats/operators.inc has the operators and their attributes.
 * An operator without a case fails the test, as does an attribute without two values. In the short
 * tier each value runs in one place, which changes from value to value, and one in MONA_TEST_SHARE
 * of all others. */
#include "tests/unit/compiler_check.h"

#include "formats/compiler/import/operators.h"
#include "formats/reference/execute.h"
#include "formats/reference/operators.h"
#include "tests/cases.h"
#include "tests/unit/formats/attribute_cases.h"

enum { OPERANDS = 8, OUTPUTS = 3, ATTRIBUTES = 10, VALUES = 10, COMBINATIONS = 24, TEXT = 1024 };

/* ---- the table ------------------------------------------------------------------------------ */

typedef struct attribute {
    char kind, name[40];
    const char *values[VALUES];
    int count;
} attribute;

/* A row taken apart; `text` is what the strings lie in. */
typedef struct row {
    const op_case *about;
    char text[2 * TEXT];
    const char *operands[OPERANDS];
    attribute attributes[ATTRIBUTES];
    int operand_count, attribute_count;
} row;

static void open_row(row *r, const op_case *about)
{
    char *rest;
    *r = (row){.about = about};
    assert_true(strlen(about->operands) < TEXT && strlen(about->attributes) < TEXT);
    strcpy(r->text, about->operands);
    strcpy(r->text + TEXT, about->attributes);
    for (char *p = strtok_r(r->text, " ", &rest); p; p = strtok_r(NULL, " ", &rest))
        r->operands[r->operand_count++] = p;
    for (char *p = strtok_r(r->text + TEXT, ";", &rest); p; p = strtok_r(NULL, ";", &rest)) {
        attribute *a = &r->attributes[r->attribute_count++];
        char *values = strchr(p, '='), *more;
        assert_true(values && p[1] == ':' && values - p < 40);
        a->kind = p[0];
        memcpy(a->name, p + 2, (size_t)(values - p - 2));
        for (char *v = strtok_r(values + 1, "|", &more); v; v = strtok_r(NULL, "|", &more))
            a->values[a->count++] = v;
        assert_true(r->operand_count <= OPERANDS && r->attribute_count <= ATTRIBUTES &&
                    a->count <= VALUES);
    }
}

/* Counts a value of an attribute that the table has, once. */
static void count_value(const char *value, const char **seen, int *count)
{
    for (int i = 0; i < *count; i++)
        if (!strcmp(seen[i], value))
            return;
    seen[(*count)++] = value;
}

static int values_of(const char *op, const char *name, bool *any)
{
    static row rows[sizeof op_cases / sizeof *op_cases];
    const char *seen[8 * VALUES];
    int count = 0;
    *any = false;
    for (size_t i = 0; i < sizeof op_cases / sizeof *op_cases; i++) {
        if (strcmp(op_cases[i].op, op))
            continue;
        open_row(&rows[i], &op_cases[i]);
        *any = true;
        for (int k = 0; k < rows[i].attribute_count; k++)
            for (int v = 0; v < rows[i].attributes[k].count && name; v++)
                if (!strcmp(rows[i].attributes[k].name, name))
                    count_value(rows[i].attributes[k].values[v], seen, &count);
    }
    return count;
}

static void every_operator_and_attribute_has_cases(void **state)
{
    (void)state;
    int missing = 0;
    const operator_row *op;
    for (size_t i = 0; (op = operator_at(i)); i++) {
        char names[TEXT], *rest;
        bool any;
        if ((!op->import && !op->array) || !strcmp(op->name, "If")) /* test_branches.c */
            continue;
        values_of(op->name, NULL, &any);
        if (!any)
            print_error("%s has no case\n", op->name), missing++;
        strcpy(names, reference_find(op->name)->attributes);
        for (char *p = strtok_r(names, " ", &rest); p && any; p = strtok_r(NULL, " ", &rest))
            if (values_of(op->name, p, &any) < 2)
                print_error("%s: attribute %s has fewer than two values\n", op->name, p), missing++;
    }
    assert_int_equal(missing, 0);
}

/* ---- a network ------------------------------------------------------------------------------ */

/* The first operand is read from an input, or computed by one of these; the first result is an
 * output, or read by one of those. */
typedef enum before {
    INPUT,
    RELU,
    CLIP,
    ADD,
    CONCAT,
    SLICE,
    CHANNELS_LAST,
    RESHAPED,
    PRELU,
    MAX_POOL,
    SIGMOID, /* from here on, numbers are rounded */
    DEPTHWISE,
    CONV_TRANSPOSE,
    CONV,
    QUANTISE,
    BEFORES,
} before;

typedef enum after {
    OUTPUT,
    RELU_AFTER,
    ADD_AFTER,
    CONCAT_AFTER,
    SLICE_AFTER,
    TWO_READERS,
    CHANNELS_FIRST,
    CONV_AFTER,
    RESIZE_AFTER,
    DEPTH_AFTER,
    DEQUANTISE,
    AFTERS,
} after;

static const char *const befores[BEFORES] = {
    "nothing", "Relu",           "Clip",          "Add",   "Concat",
    "Slice",   "Transpose",      "Reshape",       "PRelu", "MaxPool",
    "Sigmoid", "depthwise Conv", "ConvTranspose", "Conv",  "QuantizeLinear"};
static const char *const afters[AFTERS] = {
    "nothing",   "Relu", "Add",    "Concat",       "Slice",           "output and Relu",
    "Transpose", "Conv", "Resize", "DepthToSpace", "DequantizeLinear"};

/* One network of a row. */
typedef struct network {
    const row *r;
    int values[ATTRIBUTES]; /* chosen */
    before before;
    after after;
    bool open; /* of open size */
    bool int8;
    const tensor *made; /* shape of the operator's first result; NULL: unknown yet */
    onnx_builder *b;
    int nodes;
    bool must_fail;
} network;

typedef struct dims {
    int64_t at[TENSOR_MAX_RANK];
    uint32_t rank;
} dims;

static dims read_dims(const char *text)
{
    dims d = {0};
    for (char *end; *text && *text != '!'; text = *end == ',' ? end + 1 : end)
        d.at[d.rank++] = strtoll(text, &end, 10);
    return d;
}

static size_t count_of_dims(const dims *d)
{
    size_t count = 1;
    for (uint32_t i = 0; i < d->rank; i++)
        count *= (size_t)d->at[i];
    return count;
}

/* As ob_constant takes them. */
static const char *dims_text(const dims *d, char *text)
{
    char *at = text;
    *at = 0;
    for (uint32_t i = 0; i < d->rank; i++)
        at += sprintf(at, i ? " %lld" : "%lld", (long long)d->at[i]);
    return text;
}

/* A number that fp16 holds, in steps in which sums are exact. */
static double number(char kind)
{
    const double steps = floor((double)noise() * 64);
    switch (kind) {
    case 'x':
    case 'c':
        return steps / 64;
    case 'p':
    case 'k':
        return 0.25 + (steps + 64) / 128;
    case 'n':
        return floor((steps + 64) / 32);
    case 'b':
        return steps < 0;
    case 's':
        return steps * 2;
    default:
        return steps * 2 + 128;
    }
}

static element_type type_of(char kind)
{
    return kind == 'n'                  ? ELEMENT_INT64
           : kind == 'b'                ? ELEMENT_BOOL
           : kind == 's'                ? ELEMENT_INT8
           : kind == 'u' || kind == 'q' ? ELEMENT_UINT8
                                        : ELEMENT_FLOAT32;
}

static void add_input(network *n, const char *name, char kind, const dims *d)
{
    dims open = *d;
    if (n->open)
        open.at[2] = open.at[3] = 0;
    Onnx__ValueInfoProto *info = ob_value(n->b, name, open.at, d->rank);
    info->type->tensor_type->elem_type = (int32_t)type_of(kind);
    n->b->inputs[n->b->graph.n_input++] = info;
}

static Onnx__NodeProto *add_node(network *n, const char *op, const char *inputs,
                                 const char *outputs)
{
    n->nodes++;
    return ob_node(n->b, op, inputs, outputs);
}

static void add_random(network *n, const char *name, char kind, const dims *d)
{
    char text[128];
    const size_t count = count_of_dims(d);
    float *data = ob_alloc(n->b, count * sizeof *data);
    int32_t *whole = ob_alloc(n->b, count * sizeof *whole);
    for (size_t i = 0; i < count; i++)
        whole[i] = (int32_t)(data[i] = (float)number(kind));
    if (type_of(kind) == ELEMENT_FLOAT32)
        ob_constant(n->b, name, dims_text(d, text), data);
    else
        ob_int_tensor(n->b, name, (int32_t)type_of(kind), dims_text(d, text), whole);
}

/* i=1,2  f=0.5!  q=128! */
static void add_written(network *n, const char *name, const char *text)
{
    float numbers[16];
    int32_t whole[16];
    int64_t ints[16];
    size_t count = 0;
    const char *p = text + 2;
    for (char *end; *p && *p != '!'; p = *end == ',' ? end + 1 : end, count++) {
        numbers[count] = strtof(p, &end);
        ints[count] = strtoll(p, NULL, 10);
        whole[count] = (int32_t)ints[count];
    }
    char dims[8] = "";
    if (*p != '!')
        snprintf(dims, sizeof dims, "%zu", count);
    if (*text == 'f') {
        ob_constant(n->b, name, dims, numbers);
        return;
    }
    if (*text != 'i') {
        ob_int_tensor(n->b, name, (int32_t)type_of(*text), dims, whole);
        return;
    }
    Onnx__TensorProto *t = ob_constant(n->b, name, dims, numbers);
    t->data_type = ELEMENT_INT64;
    t->n_float_data = 0;
    t->n_int64_data = count;
    t->int64_data = ob_alloc(n->b, count * sizeof *t->int64_data);
    memcpy(t->int64_data, ints, count * sizeof *ints);
}

/* A convolution of `channels` with weights of these dimensions. */
static void add_filter(network *n, const char *op, const char *x, const char *y, const dims *w,
                       int64_t group, const char *pads, const char *strides)
{
    char names[64], weights[32];
    snprintf(weights, sizeof weights, "%s.w", y);
    snprintf(names, sizeof names, "%s %s", x, weights);
    add_random(n, weights, 'c', w);
    Onnx__NodeProto *node = add_node(n, op, names, y);
    ob_int(n->b, node, "group", group);
    ob_ints(n->b, node, "pads", pads);
    ob_ints(n->b, node, "strides", strides);
}

/* The permutation that moves channels to the end, or back. */
static const char *permutation(uint32_t rank, bool back)
{
    return rank == 3 ? "0 2 1" : back ? "0 3 1 2" : "0 2 3 1";
}

/* Dimensions of what value y is computed from. */
static dims dims_before(before how, const dims *d)
{
    dims in = *d;
    const uint32_t axis = d->rank > 1, last = d->rank - 1;
    if (how == CONCAT)
        in.at[axis] /= 2;
    if (how == SLICE)
        in.at[axis] += 3;
    if (how == CHANNELS_LAST) {
        in.at[1] = d->at[last];
        for (uint32_t i = 2; i < d->rank; i++)
            in.at[i] = d->at[i - 1];
    }
    for (int i = 2; i < 4 && how == CONV_TRANSPOSE; i++)
        in.at[i] /= 2;
    if (how == RESHAPED) {
        in.at[2] *= in.at[3];
        in.at[3] = 1;
    }
    return in;
}

static void add_other(network *n, char kind, const dims *d)
{
    dims rest = *d;
    const uint32_t axis = d->rank > 1;
    if (n->before == CONCAT)
        rest.at[axis] -= d->at[axis] / 2;
    add_input(n, "other", kind, &rest);
}

/* Value y of these dimensions. */
static void add_before(network *n, const char *y, char kind, const dims *d)
{
    const float low = 0.3125f, high = 0.75f, slope = 0.5f, step = 1 / 128.f;
    const dims in = dims_before(n->before, d);
    const int64_t channels = d->rank > 1 ? d->at[1] : 1;
    char end[24], text[128];
    bool scaled;
    Onnx__NodeProto *node;
    add_input(n, "x", kind == 'u' ? 'x' : kind, &in);
    if (n->before == CONCAT || n->before == ADD)
        add_other(n, kind, d);
    switch (n->before) {
    case RELU:
    case SIGMOID:
        add_node(n, befores[n->before], "x", y);
        break;
    case CLIP:
        ob_constant(n->b, "low", "", &low);
        ob_constant(n->b, "high", "", &high);
        add_node(n, "Clip", "x low high", y);
        break;
    case ADD:
        add_node(n, "Add", "x other", y);
        break;
    case CONCAT:
        ob_int(n->b, add_node(n, "Concat", "x other", y), "axis", d->rank > 1);
        break;
    case SLICE:
        snprintf(end, sizeof end, "%lld", (long long)(in.at[d->rank > 1] - 1));
        ob_numbers(n->b, "from", "2");
        ob_numbers(n->b, "to", end);
        ob_numbers(n->b, "axes", d->rank > 1 ? "1" : "0");
        add_node(n, "Slice", "x from to axes", y);
        break;
    case CHANNELS_LAST:
        ob_ints(n->b, add_node(n, "Transpose", "x", y), "perm", permutation(d->rank, false));
        break;
    case RESHAPED:
        ob_numbers(n->b, "shape", dims_text(d, text));
        add_node(n, "Reshape", "x shape", y);
        break;
    case PRELU:
        ob_constant(n->b, "slope", "1", &slope);
        add_node(n, "PRelu", "x slope", y);
        break;
    case MAX_POOL:
        node = add_node(n, "MaxPool", "x", y);
        ob_ints(n->b, node, "kernel_shape", "3 3");
        ob_ints(n->b, node, "pads", "1 1 1 1");
        break;
    case DEPTHWISE:
        add_filter(n, "Conv", "x", y, &(dims){{channels, 1, 3, 3}, 4}, channels, "1 1 1 1", "1 1");
        break;
    case CONV_TRANSPOSE:
        add_filter(n, "ConvTranspose", "x", y, &(dims){{channels, channels, 2, 2}, 4}, 1, "0 0 0 0",
                   "2 2");
        break;
    case CONV:
        add_filter(n, "Conv", "x", y, &(dims){{channels, channels, 1, 1}, 4}, 1, "0 0 0 0", "1 1");
        break;
    case QUANTISE:
        ob_constant(n->b, "step", "", &step);
        ob_int_tensor(n->b, "zero", ELEMENT_UINT8, "", (const int32_t[]){128});
        /* With the operator's own scale if it has one. */
        scaled = n->r->operand_count > 2 && kind == 'u' && n->r->operands[1][0] == 'f';
        add_node(n, "QuantizeLinear", scaled ? "x x1 x2" : "x step zero", kind == 'u' ? y : "q");
        if (kind != 'u')
            add_node(n, "DequantizeLinear", "q step zero", y);
        break;
    default:
        break;
    }
}

static void add_attribute(network *n, Onnx__NodeProto *node, const attribute *a, const char *value)
{
    char list[256];
    size_t length = strlen(value);
    if (value[length - 1] == '!') {
        n->must_fail = true;
        length--;
    }
    snprintf(list, sizeof list, "%.*s", (int)length, value);
    if (!strcmp(list, "-"))
        return;
    if (a->kind == 'i')
        ob_int(n->b, node, a->name, strtoll(list, NULL, 10));
    else if (a->kind == 'f')
        ob_float(n->b, node, a->name, strtof(list, NULL));
    else if (a->kind == 's')
        ob_string(n->b, node, a->name, list);
    for (char *p = list; (p = strchr(p, ','));)
        *p = ' ';
    if (a->kind == 'l')
        ob_ints(n->b, node, a->name, list);
    if (a->kind == 'F') {
        Onnx__AttributeProto *made = ob_attribute(n->b, node, a->name);
        made->floats = ob_alloc(n->b, 16 * sizeof *made->floats);
        for (char *p = list, *end; *p; p = end)
            made->floats[made->n_floats++] = strtof(p, &end);
    }
}

/* Adds the operator; its first result is y0. */
static void add_operator(network *n)
{
    const row *r = n->r;
    char inputs[256] = "", outputs[32] = "";
    for (int i = 0; i < r->operand_count; i++) {
        const char *text = r->operands[i];
        char name[16];
        snprintf(name, sizeof name, i || !n->before ? "x%d" : "a", i);
        const dims d = text[0] != '-' && text[1] == ':' ? read_dims(text + 2) : (dims){0};
        if (!i && n->before)
            add_before(n, name, text[0], &d);
        else if (text[1] == ':' && strchr("xpnbus", text[0]) && (text[0] != 's' || !i))
            add_input(n, name, text[0], &d);
        else if (text[1] == ':')
            add_random(n, name, text[0], &d);
        else if (text[0] != '-')
            add_written(n, name, text);
        strcat(strcat(inputs, *text == '-' ? "-" : name), " ");
    }
    for (int i = 0; i < (r->about->outputs ? r->about->outputs : 1); i++)
        sprintf(outputs + strlen(outputs), "y%d ", i);
    Onnx__NodeProto *node = add_node(n, r->about->op, inputs, outputs);
    for (int i = 0; i < r->attribute_count; i++)
        add_attribute(n, node, &r->attributes[i], r->attributes[i].values[n->values[i]]);
}

/* What reads y0, and the outputs. */
static void add_after(network *n)
{
    const float scales[4] = {1, 1, 2, 2}, step = 0.5f;
    const tensor *y = n->made;
    bool scaled;
    switch (n->after) {
    case RELU_AFTER:
    case TWO_READERS:
        add_node(n, "Relu", "y0", "z");
        break;
    case ADD_AFTER:
        add_node(n, "Relu", "y0", "r");
        add_node(n, "Add", "y0 r", "z");
        break;
    case CONCAT_AFTER:
        add_node(n, "Relu", "y0", "r");
        ob_int(n->b, add_node(n, "Concat", "y0 r", "z"), "axis", y->rank > 1);
        break;
    case SLICE_AFTER:
        ob_numbers(n->b, "first", "0");
        ob_numbers(n->b, "last", "-1");
        ob_numbers(n->b, "sliced", y->rank > 1 ? "1" : "0");
        add_node(n, "Slice", "y0 first last sliced", "z");
        break;
    case CHANNELS_FIRST:
        ob_ints(n->b, add_node(n, "Transpose", "y0", "z"), "perm", permutation(y->rank, true));
        break;
    case CONV_AFTER:
        add_filter(n, "Conv", "y0", "z", &(dims){{5, y->dims[1], 1, 1}, 4}, 1, "0 0 0 0", "1 1");
        break;
    case RESIZE_AFTER:
        ob_constant(n->b, "scales", "4", scales);
        ob_string(n->b, add_node(n, "Resize", "y0 - scales", "z"), "mode", "linear");
        break;
    case DEPTH_AFTER:
        ob_int(n->b, add_node(n, "DepthToSpace", "y0", "z"), "blocksize", 2);
        break;
    case DEQUANTISE:
        ob_constant(n->b, "y.step", "", &step);
        ob_int_tensor(n->b, "y.zero", (int32_t)y->type, "", (const int32_t[]){120});
        scaled = !strcmp(n->r->about->op, "QuantizeLinear") && n->r->operands[1][0] == 'f';
        add_node(n, "DequantizeLinear", scaled ? "y0 x1 x2" : "y0 y.step y.zero", "z");
        break;
    default:
        break;
    }
    if (n->after == OUTPUT || n->after == TWO_READERS)
        ob_output(n->b, "y0");
    if (n->after != OUTPUT)
        ob_output(n->b, "z");
    for (int i = 1; i < n->r->about->outputs; i++) {
        char name[16];
        snprintf(name, sizeof name, "y%d", i);
        ob_output(n->b, name);
    }
}

static const char *network_text(const network *n)
{
    static char text[4 * TEXT];
    int at = snprintf(text, sizeof text, "%s %s (opset %d)", n->r->about->op, n->r->about->operands,
                      n->r->about->opset);
    for (int i = 0; i < n->r->attribute_count; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, " %s=%s", n->r->attributes[i].name,
                       n->r->attributes[i].values[n->values[i]]);
    snprintf(text + at, sizeof text - (size_t)at, ", after %s, before %s%s%s", befores[n->before],
             afters[n->after], n->open ? ", of open size" : "", n->int8 ? ", INT8" : "");
    return text;
}

/* ---- one run -------------------------------------------------------------------------------- */

typedef struct run {
    onnx_graph graph;
    tensor in[MONA_MAX_IO], out[MONA_MAX_IO];
    format_error error;
} run;

/* Makes inputs of the dimensions that the row has, also where the model leaves them open. */
static bool make_tensors(const network *n, run *r)
{
    const dims d = read_dims(n->r->operands[0] + 2);
    for (uint32_t i = 0; i < r->graph.input_count; i++) {
        const onnx_input *input = &r->graph.inputs[i];
        int64_t sides[TENSOR_MAX_RANK];
        const dims given = i ? d : dims_before(n->before, &d);
        for (uint32_t k = 0; k < input->rank; k++)
            sides[k] = input->dims[k] > 0 ? input->dims[k] : given.at[k];
        const char kind = i < 1 || n->before ? n->r->operands[0][0] : 'x';
        if (!tensor_make(&r->in[i], input->type, input->rank, sides))
            return false;
        for (size_t k = 0; k < r->in[i].count; k++)
            tensor_set_number(&r->in[i], k,
                              number(input->type == ELEMENT_INT64                     ? 'n'
                                     : input->type == ELEMENT_BOOL                    ? 'b'
                                     : input->type == ELEMENT_UINT8                   ? 'u'
                                     : input->type == ELEMENT_INT8                    ? 's'
                                     : kind == 'p' || !strcmp(n->r->about->op, "Div") ? 'p'
                                                                                      : 'x'));
    }
    return true;
}

static void close_run(run *r)
{
    for (uint32_t i = 0; i < MONA_MAX_IO; i++) {
        tensor_free(&r->in[i]);
        tensor_free(&r->out[i]);
    }
    onnx_graph_free(&r->graph);
}

/* Whether ONNX, as the reference understands it, defines the network's results. */
static bool define(const network *n, const uint8_t *bytes, size_t size, run *r)
{
    *r = (run){0};
    return onnx_graph_read(&r->graph, bytes, size, NULL, &r->error) && make_tensors(n, r) &&
           reference_execute(&r->graph, r->in, r->out, NULL, &r->error);
}

static void fill(const mona_tensor_info *t, const tensor *from, void *data)
{
    for (size_t i = 0; i < from->count; i++)
        if (mona_type_size(t->type) == element_size(from->type) && !element_is_float(from->type))
            memcpy(data, from->data, tensor_bytes(from));
        else if (t->type == MONA_F32)
            ((float *)data)[i] = (float)tensor_number(from, i);
        else
            put(t, data, i, tensor_number(from, i));
}

/* "" or how the engine's result differs. */
/* fp16 saturates. */
static double held(double value)
{
    return fmax(-65504, fmin(value, 65504));
}

static const char *compare(const network *n, const mona_tensor_info *t, const void *data,
                           const tensor *expected)
{
    static char text[160];
    double peak = 0, most = 0;
    size_t place = 0;
    if (count_of(t) != expected->count) {
        snprintf(text, sizeof text, "%zu numbers, expected %zu", count_of(t), expected->count);
        return text;
    }
    const bool whole = !element_is_float(expected->type);
    for (size_t i = 0; i < expected->count; i++) {
        const double e = whole ? tensor_number(expected, i) : held(tensor_number(expected, i));
        tensor view = *expected;
        view.data = (void *)(uintptr_t)data;
        const double f = whole && mona_type_size(t->type) == element_size(expected->type)
                             ? tensor_number(&view, i)
                             : held(get(t, data, i));
        peak = fmax(peak, fabs(e));
        if (fabs(e - f) > most || isnan(f) != isnan(e)) {
            most = fabs(e - f);
            place = i;
        }
    }
    /* Each node rounds to fp16, inputs and constants have been rounded. */
    const case_kind kind = n->r->about->kind;
    const double bound = whole && kind != QUANTISED
                             ? 0
                             : (n->nodes + 3) * (kind == ROUGH ? 8 : 1) * 0x1p-11 * peak + 3e-5 +
                                   (kind == QUANTISED ? (whole ? 1 : 0.5) : 0) +
                                   (n->before == QUANTISE ? peak / 128 : 0) +
                                   (n->int8 ? 0.08 * peak : 0);
    if (most <= bound)
        return "";
    snprintf(text, sizeof text, "element %zu is off by %g of %g; bound %g", place, most, peak,
             bound);
    return text;
}

static const char *run_on_engine(const network *n, const uint8_t *bytes, size_t size, const run *r)
{
    mona_model model;
    session_binding bound;
    pipeline_error error = {0};
    mona_config config = {.threads = 1};
    const char *why = "";
    if (mona_model_open(&model, bytes, size))
        return "the engine refuses the model";
    for (uint32_t i = 0; i < r->graph.input_count; i++) {
        const tensor *t = &r->in[i];
        config.sizes[i] = t->rank < 4 ? (mona_size){0, 0}
                                      : (mona_size){(uint32_t)t->dims[3], (uint32_t)t->dims[2]};
        if (!n->open)
            config.sizes[i] = (mona_size){0, 0};
    }
    if (!session_binding_open(&bound, &model, "test", &config, &error)) {
        print_error("%s\n", error.text);
        return "the engine cannot run it";
    }
    mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
    for (uint32_t i = 0; i < r->graph.input_count; i++) {
        const mona_tensor_info t = mona_plan_input(bound.plan, i);
        in[i] = make_buffer(&t);
        fill(&t, &r->in[i], in[i].data);
    }
    for (uint32_t i = 0; i < r->graph.output_count; i++) {
        const mona_tensor_info t = mona_plan_output(bound.plan, i);
        out[i] = make_buffer(&t);
    }
    if (mona_session_run(bound.session, in, out))
        why = "the run failed";
    for (uint32_t i = 0; i < r->graph.output_count && !*why; i++) {
        const mona_tensor_info t = mona_plan_output(bound.plan, i);
        why = compare(n, &t, out[i].data, &r->out[i]);
    }
    for (uint32_t i = 0; i < r->graph.input_count; i++)
        free(in[i].data);
    for (uint32_t i = 0; i < r->graph.output_count; i++)
        free(out[i].data);
    session_binding_close(&bound);
    return why;
}

typedef struct tally {
    unsigned run, wrong, maps, arrays, open;
} tally;

/* Shows the compiler the inputs. */
static bool calibrate(compiler *c, const run *r, format_error *error)
{
    reference_array shown[MONA_MAX_IO] = {{0}};
    for (uint32_t i = 0; i < r->graph.input_count; i++) {
        const compiler_tensor t = compiler_input(c, i);
        const tensor *in = &r->in[i];
        shown[i] = (reference_array){t.channels, t.height ? t.height : (uint32_t)in->dims[2],
                                     t.width ? t.width : (uint32_t)in->dims[3],
                                     malloc(in->count * sizeof(float))};
        for (size_t k = 0; k < in->count; k++)
            shown[i].data[k] = (float)tensor_number(in, k);
    }
    const bool ok = compiler_calibrate(c, shown, error);
    free_arrays(shown, r->graph.input_count);
    return ok;
}

/* Compiles the network and compares its results, one in three networks also as INT8. *why: "" if
 * they are as ONNX defines them. */
static bool check_compiled(network *n, const uint8_t *onnx, size_t onnx_size, const run *r,
                           const char **why, tally *t)
{
    static const compiler_options options[] = {{COMPILER_FLOATS}, {COMPILER_FLOATS, .int8 = true}};
    static format_error error;
    bool made = true;
    error = (format_error){0};
    compiler *c = compiler_open(onnx, onnx_size, NULL, &error);
    *why = c ? "" : error.text;
    for (int int8 = 0; c && made && !**why && int8 <= (t->run % 3 == 0); int8++) {
        uint8_t *bytes;
        size_t size;
        n->int8 = int8;
        made = (!int8 || calibrate(c, r, &error)) &&
               compiler_emit(c, &options[int8], &bytes, &size, &error);
        *why = made ? run_on_engine(n, bytes, size, r) : error.text;
        if (made)
            free(bytes);
    }
    t->maps += c && made && !compiler_has_arrays(c);
    t->arrays += c && made && compiler_has_arrays(c);
    t->open += c && made && n->open;
    compiler_close(c);
    return c && made;
}

/* Whether the operand can be computed so: not everything keeps numbers positive, or exact. */
static bool may_precede(const row *r, before how)
{
    const char kind = r->operands[0][0];
    const dims d = read_dims(r->operands[0] + 2);
    const bool map = d.rank == 4 && d.at[0] == 1, exact = how < SIGMOID;
    if (how == INPUT)
        return true;
    if (kind == 'u')
        return how == QUANTISE;
    if ((kind != 'x' && kind != 'p') || (kind == 'p' && how >= PRELU && how != MAX_POOL) ||
        (r->about->kind == STEPS && !exact))
        return false;
    if (how == CHANNELS_LAST)
        return d.rank == 3 || d.rank == 4;
    if (how == RESHAPED)
        return map;
    if (how == CONV_TRANSPOSE && (d.at[2] % 2 || d.at[3] % 2))
        return false;
    return how < MAX_POOL ? d.at[d.rank > 1] > 1 : how == SIGMOID || map;
}

static bool may_follow(const tensor *made, after how)
{
    const bool bytes = made->type == ELEMENT_UINT8 || made->type == ELEMENT_INT8;
    if (how == OUTPUT || how == DEQUANTISE)
        return how == OUTPUT || bytes;
    if (made->type != ELEMENT_FLOAT32 || !made->rank)
        return false;
    if (how == SLICE_AFTER)
        return made->dims[made->rank > 1] > 1;
    if (how == CHANNELS_FIRST)
        return made->rank == 3 || made->rank == 4;
    return how < CHANNELS_FIRST ||
           (made->rank == 4 && (how != DEPTH_AFTER || made->dims[1] % 4 == 0));
}

static uint8_t *build(network *n, size_t *size)
{
    const uint32_t kept = seed;
    n->b = ob_new(n->r->about->opset);
    n->nodes = 0;
    n->int8 = false;
    n->must_fail = false;
    add_operator(n);
    add_after(n);
    uint8_t *bytes = ob_pack(n->b, size);
    ob_free(n->b);
    seed = kept;
    return bytes;
}

static void check_network(network *n, tally *t)
{
    size_t size;
    run r;
    const char *why = "";
    uint8_t *bytes = build(n, &size);
    const bool defined = define(n, bytes, size, &r);
    if (n->must_fail) {
        compiler *c = compiler_open(bytes, size, NULL, &r.error);
        if (c)
            why = "it compiles, and should be refused";
        else if (!strstr(r.error.text, n->r->about->op))
            why = "it is refused without its name";
        compiler_close(c);
    } else if (!defined) {
        why = r.error.text;
    } else if (!check_compiled(n, bytes, size, &r, &why, t) && n->open && strstr(why, "size")) {
        why = "";
    }
    t->run++;
    if (*why && t->wrong++ < 400)
        print_error("%s: %s\n", network_text(n), why);
    close_run(&r);
    free(bytes);
}

/* ---- the product ---------------------------------------------------------------------------- */

/* Of open size, every other network that can be. */
static bool may_be_open(const row *r)
{
    for (int i = 0; i < r->operand_count; i++)
        if (strchr("xpnbu", r->operands[i][0]) && r->operands[i][1] == ':' &&
            (r->operands[i][0] != 'x' || read_dims(r->operands[i] + 2).rank != 4 ||
             strncmp(r->operands[i], "x:1,", 4) || strcmp(r->operands[i], r->operands[0])))
            return false;
    return true;
}

/* The chosen values in all places. turn: counts the calls, and decides what is left out; of the
 * row's first values, nothing that has an input before it or an output after it. */
static void check_places(network *n, bool first_values, uint32_t *turn, tally *t)
{
    static const uint32_t all = 12;
    const uint32_t share = all / CASES(all);
    const row *r = n->r;
    const bool open = may_be_open(r);
    size_t size;
    run first = {0};
    n->before = INPUT;
    n->after = OUTPUT;
    n->open = false;
    n->made = NULL;
    uint8_t *bytes = build(n, &size);
    const bool defined = !n->must_fail && define(n, bytes, size, &first);
    check_network(n, t);
    free(bytes);
    n->made = &first.out[0];
    const uint32_t place = (*turn)++ % (BEFORES * AFTERS);
    for (uint32_t p = 1; defined && p < BEFORES * AFTERS; p++) {
        n->before = (before)(p % BEFORES);
        n->after = (after)(p / BEFORES);
        const bool edge = n->before == INPUT || n->after == OUTPUT;
        n->open = open && t->run % 2 && n->before != RESHAPED;
        if (may_precede(r, n->before) && may_follow(n->made, n->after) &&
            ((first_values && edge) || p == place || (p + *turn) % share == 0))
            check_network(n, t);
    }
    close_run(&first);
}

/* Each value of each attribute, the others having their first; then random combinations. */
static void check_row(const op_case *about, uint32_t *turn, tally *t)
{
    row r;
    open_row(&r, about);
    network n = {.r = &r};
    check_places(&n, true, turn, t);
    for (int a = 0; a < r.attribute_count; a++)
        for (int v = 1; v < r.attributes[a].count; v++) {
            memset(n.values, 0, sizeof n.values);
            n.values[a] = v;
            check_places(&n, false, turn, t);
        }
    const uint32_t combinations = r.attribute_count > 1 ? CASES(COMBINATIONS) : 0;
    for (uint32_t i = 0; i < combinations; i++) {
        for (int a = 0; a < r.attribute_count; a++)
            n.values[a] = (int)((noise() + 1) / 2 * (float)r.attributes[a].count);
        run unused = {0};
        size_t size;
        n.before = INPUT;
        n.after = OUTPUT;
        n.open = false;
        uint8_t *bytes = build(&n, &size);
        if (!n.must_fail && define(&n, bytes, size, &unused))
            check_network(&n, t);
        close_run(&unused);
        free(bytes);
    }
}

static void every_value_in_every_place(void **state)
{
    (void)state;
    const char *only = getenv("MONA_TEST_OP");
    uint32_t turn = 0, wrong = 0, run = 0;
    for (size_t i = 0; i < sizeof op_cases / sizeof *op_cases;) {
        const char *op = op_cases[i].op;
        const operator_row *about = operator_find(op);
        tally t = {0};
        seed = (uint32_t)i + 1;
        for (; i < sizeof op_cases / sizeof *op_cases && !strcmp(op_cases[i].op, op); i++)
            if (!only || !strcmp(only, op))
                check_row(&op_cases[i], &turn, &t);
        print_message("# %s: %u networks, %u on maps alone, %u of open size, %u wrong\n", op, t.run,
                      t.maps, t.open, t.wrong);
        const bool maps = about->import && strcmp(op, "Attention"); /* test_channels_last.c */
        if (!only && CASES(2) == 2 && ((maps && !t.maps) || (about->array && !t.arrays)))
            print_error("%s: a form of it never ran\n", op), t.wrong++;
        wrong += t.wrong;
        run += t.run;
    }
    print_message("# %u networks\n", run);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator_and_attribute_has_cases),
        cmocka_unit_test(every_value_in_every_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
