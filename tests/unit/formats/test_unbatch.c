// SPDX-License-Identifier: Apache-2.0
/* A network for a batch becomes one for a single image where no operator mixes images, and nowhere
 * else: every image then gives the bytes that it gives in the batch. */
#include "tests/unit/compiler_check.h"

#include "formats/compiler/import/operators.h"
#include "formats/reference/execute.h"

enum { IMAGES = 3, CHANNELS = 4, ROWS = 4, COLUMNS = 6, NUMBERS = CHANNELS * ROWS * COLUMNS };

typedef struct unbatch_case {
    const char *op_type;
    /* Values of add_values; f3,4: floats of that shape; f: one; v: above 0; i1,2 and s1,2: these
     * integers and floats; -: left out. */
    const char *inputs;
    const char *attributes; /* "axis=1;perm=[0 2 1];mode=linear" */
    bool apart;
} unbatch_case;

static const unbatch_case cases[] = {
    {"Add", "x f4,1,1", "", true},
    {"Add", "x r", "", true},
    {"Add", "x f1,4,4,6", "", true},
    {"Add", "x f3,1,1,1", "", false},
    {"Add", "p f3,96", "", false},
    {"Add", "m f1,1,1,1", "", false},
    {"Mul", "x m2", "", false},
    {"Add", "x p2", "", false},
    {"Where", "c x r", "", true},
    {"Where", "c x f3,4,4,6", "", false},
    {"Clip", "x f f", "", true},
    {"PRelu", "x f4,1,1", "", true},
    {"PRelu", "x f3,1,1,1", "", false},
    {"Cast", "x", "to=10", true},
    {"Sigmoid", "x", "", true},
    {"Conv", "x f5,4,3,3 f5", "pads=[1 1 1 1]", true},
    {"Conv", "f3,4,4,6 x", "", false},
    {"ConvTranspose", "x f4,2,2,2", "strides=[2 2]", true},
    {"MaxPool", "x", "kernel_shape=[2 2];strides=[2 2]", true},
    {"AveragePool", "x", "kernel_shape=[3 3];pads=[1 1 1 1]", true},
    {"GlobalAveragePool", "x", "", true},
    {"GlobalMaxPool", "x", "", true},
    {"BatchNormalization", "x f4 f4 f4 v4", "", true},
    {"InstanceNormalization", "x f4 f4", "", true},
    {"LayerNormalization", "x f6 f6", "", true},
    {"LayerNormalization", "x f4,4,6 f4,4,6", "axis=1", true},
    {"LayerNormalization", "x f3,4,4,6 f3,4,4,6", "axis=0", false},
    {"Softmax", "x", "axis=1", true},
    {"Softmax", "p", "", true},
    {"Softmax", "x", "axis=0", false},
    {"Softmax", "x", "axis=-4", false},
    {"Concat", "x r", "axis=1", true},
    {"Concat", "x r", "axis=0", false},
    {"Concat", "x f3,2,4,6", "axis=1", false},
    {"Split", "x i1,3", "axis=1", true},
    {"Split", "x i1,2", "axis=0", false},
    {"Gather", "x i0,2", "axis=1", true},
    {"Gather", "x i2,1,0", "axis=0", false},
    {"Gather", "f96,2 k", "axis=0", false},
    {"Slice", "x i1 i3 i1", "", true},
    {"Slice", "x i0,1 i3,4", "", true},
    {"Slice", "x i0,1 i9,9 i0,2", "", true},
    {"Slice", "x i-1 i-9 i0 i-1", "", false},
    {"Slice", "x i0 i2 i0", "", false},
    {"Pad", "x i0,0,1,1,0,0,1,1", "", true},
    {"Pad", "x i1,0,0,0,-1,0,0,0", "", false},
    {"Resize", "x - s1,1,2,2", "mode=linear", true},
    {"Resize", "x - - i3,4,8,12", "mode=nearest", true},
    {"Resize", "x - s2,1,1,1", "mode=nearest", false},
    {"Resize", "x - - i3,8,8,12", "keep_aspect_ratio_policy=not_larger;mode=nearest", false},
    {"Transpose", "x", "perm=[0 2 3 1]", true},
    {"Transpose", "x", "perm=[1 0 2 3]", false},
    {"Transpose", "x", "", false},
    {"Reshape", "x i3,96", "", true},
    {"Reshape", "x i0,-1", "", true},
    {"Reshape", "x i-1,24", "", false},
    {"Reshape", "x i-1,4,24", "", true},
    {"Reshape", "x i4,3,24", "", false},
    {"Reshape", "x i3,2,2,24", "", true},
    {"Flatten", "x", "", true},
    {"Flatten", "x", "axis=0", false},
    {"Flatten", "x", "axis=2", false},
    {"Squeeze", "g i2,3", "", true},
    {"Squeeze", "g", "", false},
    {"Unsqueeze", "x i1", "", true},
    {"Unsqueeze", "x i0", "", false},
    {"Expand", "g i3,4,4,6", "", true},
    {"Expand", "g i1,4,4,6", "", true},
    {"Expand", "e i3,3,4", "", false},
    {"Tile", "x i1,2,1,1", "", true},
    {"Tile", "x i2,1,1,1", "", false},
    {"MatMul", "p f96,5", "", true},
    {"MatMul", "x f6,5", "", true},
    {"MatMul", "m f1,24,2", "", true},
    {"MatMul", "m f3,24,2", "", false},
    {"MatMul", "f2,3 p", "", false},
    {"MatMul", "x t", "", true},
    {"MatMul", "p l", "", false},
    {"Gemm", "p f96,5 f5", "", true},
    {"Gemm", "p f5,96 f1,5", "transB=1", true},
    {"Gemm", "p f96,5 f3,5", "", false},
    {"Gemm", "p f3,5", "transA=1", false},
    {"ReduceMean", "x i2,3", "", true},
    {"ReduceMean", "x i-1", "keepdims=0", true},
    {"ReduceMean", "x i0", "", false},
    {"ReduceMax", "x i-4,1", "", false},
    {"ReduceSum", "x", "", false},
    {"ArgMax", "x", "axis=1", true},
    {"ArgMax", "x", "", false},
    {"TopK", "p i5", "", true},
    {"TopK", "x i2", "axis=0", false},
    {"DepthToSpace", "x", "blocksize=2", true},
    {"SpaceToDepth", "x", "blocksize=2", true},
    {"QuantizeLinear", "x v z", "", true},
    {"QuantizeLinear", "x v4", "axis=1", true},
    {"QuantizeLinear", "x v3", "axis=0", false},
    {"DequantizeLinear", "u v z", "", true},
    {"DynamicQuantizeLinear", "x", "", false},
    {"GridSample", "x o", "", true},
    {"GridSample", "x f3,2,2,2", "", false},
    {"Attention", "m m m", "q_num_heads=4;kv_num_heads=4", true},
    {"Attention", "m m f3,4,24", "q_num_heads=4;kv_num_heads=4", false},
    {"Einsum", "x", "equation=abcd->cd", false},
};

/* ---- a network for a case ----------------------------------------------------------------- */

static void add_constant(onnx_builder *b, const char *name, const char *text)
{
    char dims[64];
    size_t count = 1;
    snprintf(dims, sizeof dims, "%s", text + 1);
    for (char *p = dims; *p; p++)
        *p = *p == ',' ? ' ' : *p;
    if (*text == 'i') {
        ob_numbers(b, name, dims);
        return;
    }
    float *data, listed[16];
    for (char *p = dims, *end; *text != 's' && *p; p = end)
        count *= (size_t)strtoll(p, &end, 10);
    data = noises(b, count, 1);
    for (size_t i = 0; *text == 'v' && i < count; i++)
        data[i] = 0.05f + fabsf(data[i]);
    if (*text == 's') { /* these numbers */
        count = 0;
        for (char *p = dims, *end; *p; p = end)
            listed[count++] = strtof(p, &end);
        snprintf(dims, sizeof dims, "%zu", count);
        data = listed;
    }
    ob_constant(b, name, dims, data);
}

static void add_attributes(onnx_builder *b, Onnx__NodeProto *node, const char *text)
{
    char copy[128];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *p = strtok(copy, ";"); p; p = strtok(NULL, ";")) {
        char *value = strchr(p, '=');
        *value++ = 0;
        if (*value == '[') {
            value[strlen(value) - 1] = 0;
            ob_ints(b, node, p, value + 1);
        } else if (strchr("-0123456789", *value)) {
            ob_int(b, node, p, strtoll(value, NULL, 10));
        } else {
            ob_string(b, node, p, value);
        }
    }
}

/* What cases read; those that are not read are removed. */
static void add_values(onnx_builder *b)
{
    const int64_t dims[4] = {IMAGES, CHANNELS, ROWS, COLUMNS};
    const float zero = 0;
    const int32_t none = 0;
    b->inputs[b->graph.n_input++] = ob_value(b, "x", dims, 4);
    ob_constant(b, "zero", "", &zero);
    add_constant(b, "step", "v");
    ob_int_tensor(b, "z", ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, "", &none);
    ob_numbers(b, "to_m", "3 4 24");
    ob_numbers(b, "to_m2", "3 4 4 6");
    ob_numbers(b, "to_sides", "2 3");
    ob_numbers(b, "from", "0 0 0");
    ob_numbers(b, "to", "2 2 2");
    ob_numbers(b, "third", "1 2 3");
    ob_node(b, "Relu", "x", "r");
    ob_node(b, "Reshape", "x to_m", "m");
    ob_ints(b, ob_node(b, "Transpose", "x", "swapped"), "perm", "1 0 2 3");
    ob_node(b, "Reshape", "swapped to_m2", "m2");
    ob_node(b, "Flatten", "x", "p");
    ob_node(b, "Greater", "x zero", "c");
    ob_node(b, "GlobalAveragePool", "x", "g");
    ob_node(b, "Squeeze", "g to_sides", "e");
    ob_node(b, "QuantizeLinear", "x step z", "u");
    ob_node(b, "Slice", "x from to third", "some");
    ob_ints(b, ob_node(b, "Transpose", "some", "o"), "perm", "0 2 3 1");
    ob_ints(b, ob_node(b, "Transpose", "x", "t"), "perm", "0 1 3 2");
    ob_ints(b, ob_node(b, "Transpose", "p", "l"), "perm", "1 0");
    ob_int(b, ob_node(b, "ArgMax", "p", "k"), "axis", 1);
    ob_ints(b, ob_node(b, "ReduceMean", "x", "p2"), "axes", "0");
}

static uint8_t *case_bytes(const unbatch_case *n, size_t *size)
{
    onnx_builder *b = ob_new(17);
    char inputs[96], names[128] = "";
    int at = 0;
    add_values(b);
    snprintf(inputs, sizeof inputs, "%s", n->inputs);
    for (char *rest = inputs, *p; (p = strtok_r(rest, " ", &rest));) {
        char name[32];
        snprintf(name, sizeof name, "%s", p);
        if (strchr("fisv", *p) && (p[1] == 0 || strchr("-0123456789", p[1]))) {
            snprintf(name, sizeof name, "constant%d", at);
            add_constant(b, name, p);
        }
        at += snprintf(names + at, sizeof names - (size_t)at, "%s ", name);
    }
    const bool two = !strcmp(n->op_type, "Split") || !strcmp(n->op_type, "TopK");
    add_attributes(b, ob_node(b, n->op_type, names, two ? "y second" : "y"), n->attributes);
    ob_output(b, "y");
    if (!strcmp(n->op_type, "GridSample") || !strcmp(n->op_type, "Attention"))
        b->model.opset_import[0]->version = 23;
    uint8_t *bytes = ob_pack(b, size);
    ob_free(b);
    return bytes;
}

/* ---- judging ------------------------------------------------------------------------------ */

static void read_model(const uint8_t *bytes, size_t size, const char *what, onnx_graph *g)
{
    format_error error = {0};
    if (!onnx_graph_read(g, bytes, size, NULL, &error) || !onnx_graph_fold(g, &error))
        fail_msg("%s: %s", what, error.text);
}

static void execute(const onnx_graph *g, const float *from, int64_t images, const char *what,
                    tensor *out)
{
    const int64_t dims[4] = {images, CHANNELS, ROWS, COLUMNS};
    format_error error = {0};
    tensor in;
    assert_true(tensor_make(&in, ELEMENT_FLOAT32, 4, dims));
    memcpy(in.data, from, tensor_bytes(&in));
    if (!reference_execute(g, &in, out, NULL, &error))
        fail_msg("%s: %s", what, error.text);
    tensor_free(&in);
}

static void compare(const onnx_graph *g, const float *from, int64_t images, const tensor *whole,
                    const char *what)
{
    const size_t bytes = tensor_bytes(whole) / (size_t)images;
    for (int64_t i = 0; i < images; i++) {
        tensor one = {0};
        execute(g, from + i * NUMBERS, IMAGES / images, what, &one);
        if (tensor_bytes(&one) != bytes ||
            memcmp(one.data, (const char *)whole->data + (size_t)i * bytes, bytes) != 0)
            fail_msg("%s: image %d differs from that of the batch", what, (int)i);
        tensor_free(&one);
    }
}

static void every_rule_keeps_images_apart(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        char what[160];
        size_t size;
        format_error error = {0};
        onnx_graph batch = {0}, one = {0};
        tensor whole = {0};
        float x[IMAGES * NUMBERS];
        int64_t images;
        snprintf(what, sizeof what, "%s %s %s", cases[n].op_type, cases[n].inputs,
                 cases[n].attributes);
        uint8_t *bytes = case_bytes(&cases[n], &size);
        for (int i = 0; i < IMAGES * NUMBERS; i++)
            x[i] = noise();
        read_model(bytes, size, what, &batch);
        read_model(bytes, size, what, &one);
        execute(&batch, x, IMAGES, what, &whole);
        if (!onnx_graph_unbatch(&one, &images, &error))
            fail_msg("%s: %s", what, error.text);
        if (images != (cases[n].apart ? IMAGES : 1))
            fail_msg("%s: for %d images, expected %d", what, (int)images,
                     cases[n].apart ? IMAGES : 1);
        compare(&one, x, images, &whole, what);
        tensor_free(&whole);
        onnx_graph_free(&batch);
        onnx_graph_free(&one);
        free(bytes);
    }
}

/* A rule that no case holds to is not known to be right. */
static void every_rule_has_cases(void **state)
{
    (void)state;
    for (size_t i = 0; operator_at(i); i++) {
        images_rule *rule = operator_at(i)->images;
        bool tried = !rule;
        for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
            tried = tried || (cases[n].apart && operator_find(cases[n].op_type)->images == rule);
        if (!tried)
            fail_msg("%s: no case has its rule", operator_at(i)->name);
    }
}

/* ---- compiled ----------------------------------------------------------------------------- */

/* others: the images of a second input; 0: there is none. */
static compiler *open_images(bool mixes, int64_t others)
{
    onnx_builder *b = ob_new(13);
    const int64_t dims[4] = {4, 3, 8, 8};
    size_t size;
    format_error error = {0};
    onnx_graph g;
    b->inputs[b->graph.n_input++] = ob_value(b, "x", dims, 4);
    add_conv(b, "x", "a", 3, 4);
    ob_node(b, "Relu", "a", "r");
    ob_node(b, "GlobalAveragePool", "r", "q");
    if (mixes) {
        ob_ints(b, ob_node(b, "ReduceMean", "q", "mean"), "axes", "0");
        ob_node(b, "Sub", "q mean", "y");
    } else {
        ob_node(b, "Sigmoid", "q", "y");
    }
    ob_output(b, "y");
    if (others) {
        b->inputs[b->graph.n_input++] = ob_value(b, "z", (int64_t[]){others, 3, 8, 8}, 4);
        ob_node(b, "Relu", "z", "s");
        ob_output(b, "s");
    }
    uint8_t *bytes = ob_pack(b, &size);
    assert_true(onnx_graph_read(&g, bytes, size, NULL, &error));
    ob_free(b);
    free(bytes);
    compiler *c = compiler_open_image(&g, NULL, &error);
    if (!c)
        fail_msg("%s", error.text);
    return c;
}

static void a_batch_runs_on_maps(void **state)
{
    unsigned more;
    (void)state;
    compiler *c = open_images(false, 0);
    assert_int_equal(compiler_images(c), 4);
    assert_false(compiler_has_arrays(c));
    assert_false(compiler_input(c, 0).array);
    assert_null(compiler_warning(c, 0, &more));
    assert_null(compiler_output(c, 0).declared);
    compiler_close(c);
}

static void images_that_mix_stay_on_arrays(void **state)
{
    unsigned more;
    (void)state;
    compiler *c = open_images(true, 0);
    assert_int_equal(compiler_images(c), 1);
    assert_true(compiler_has_arrays(c));
    assert_non_null(strstr(compiler_warning(c, 0, &more), "is a batch of 4"));
    compiler_close(c);
}

static void images_of_two_inputs(void **state)
{
    unsigned more;
    (void)state;
    compiler *c = open_images(false, 4);
    assert_int_equal(compiler_images(c), 4);
    assert_null(compiler_warning(c, 0, &more));
    compiler_close(c);
    c = open_images(false, 2);
    assert_int_equal(compiler_images(c), 1);
    assert_true(compiler_input(c, 0).array && compiler_input(c, 1).array);
    assert_non_null(strstr(compiler_warning(c, 0, &more), "node 'x' (input) is a batch of 4"));
    assert_non_null(strstr(compiler_warning(c, 1, &more), "node 'z' (input) is a batch of 2"));
    compiler_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_keeps_images_apart),
        cmocka_unit_test(every_rule_has_cases),
        cmocka_unit_test(a_batch_runs_on_maps),
        cmocka_unit_test(images_that_mix_stay_on_arrays),
        cmocka_unit_test(images_of_two_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
