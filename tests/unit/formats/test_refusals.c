// SPDX-License-Identifier: Apache-2.0
/* Models that cannot be compiled are refused by name, and damaged ones, ONNX or .mona, do no
 * harm. */
#include "tests/unit/onnx_check.h"
#include "tests/seal.h"

/* ---- damage ------------------------------------------------------------------------------- */

/* Opens, plans and, if the model allows it, runs any bytes. True: it ran. */
static bool survive(const uint8_t *bytes, size_t size)
{
    mona_model model;
    bool ran = false;
    if (mona_model_open(&model, bytes, size))
        return ran;
    mona_config config = {.threads = 1};
    for (unsigned i = 0; i < mona_model_input_count(&model); i++)
        config.sizes[i] = (mona_size){8, 8};
    void *memory = session_binding_allocate(mona_plan_bytes(&model));
    mona_plan *plan;
    if (!mona_plan_make(&plan, memory, &model, &config) && mona_plan_arena_bytes(plan) < 1 << 26) {
        const size_t arena_bytes = mona_plan_arena_bytes(plan);
        void *arena = session_binding_allocate(arena_bytes);
        mona_session *session;
        mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
        const unsigned inputs = mona_model_input_count(&model);
        const unsigned outputs = mona_model_output_count(&model);
        for (unsigned i = 0; i < inputs + outputs; i++) {
            const mona_tensor_info t =
                i < inputs ? mona_plan_input(plan, i) : mona_plan_output(plan, i - inputs);
            *(i < inputs ? &in[i] : &out[i - inputs]) = make_buffer(&t);
        }
        assert_int_equal(mona_session_open(&session, plan, arena, arena_bytes), MONA_OK);
        assert_int_equal(mona_session_run(session, in, out), MONA_OK);
        ran = true;
        mona_session_close(session);
        for (unsigned i = 0; i < inputs + outputs; i++)
            free(i < inputs ? in[i].data : out[i - inputs].data);
        free(arena);
    }
    free(memory);
    return ran;
}

/* Each byte of a compiled model is changed in turn: the checksum refuses it, and with a corrected
 * checksum it does no harm. */
static void every_changed_byte_is_survived(void **state)
{
    (void)state;
    compiler *c = open_good(small_net());
    reference_array in;
    uint8_t *bytes;
    size_t size;
    format_error error = {0};
    make_inputs(c, 8, 8, &in);
    assert_true(compiler_calibrate(c, &in, &error));
    emit(c, &(compiler_options){.int8 = true}, &bytes, &size);
    assert_true(survive(bytes, size));
    uint8_t *copy = session_binding_allocate(size);
    size_t ran = 0;
    for (size_t i = 0; i < size; i++)
        for (int k = 0; k < 2; k++) {
            mona_model model;
            memcpy(copy, bytes, size);
            copy[i] ^= k ? 0xff : 1;
            assert_true(mona_model_open(&model, copy, size) < 0);
            seal(copy, size);
            ran += survive(copy, size);
        }
    assert_true(ran > 100 && ran < 2 * size);
    free(copy);
    free(bytes);
    free(in.data);
    compiler_close(c);
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void refused(onnx_builder *b, const char *expected)
{
    format_error error = {0};
    compiler *c = open_builder(b, &error);
    uint8_t *bytes = NULL;
    size_t size;
    const bool ok = c && compiler_emit(c, &half_planes, &bytes, &size, &error);
    compiler_close(c);
    free(bytes);
    if (ok)
        fail_msg("accepted, expected: %s", expected);
    if (!strstr(error.text, expected))
        fail_msg("'%s' does not say '%s'", error.text, expected);
}

/* A model of one node from x (4 channels, any size) to y. */
static onnx_builder *one_node(const char *op_type, const char *inputs, Onnx__NodeProto **node)
{
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 4, 0, 0);
    *node = ob_node(b, op_type, inputs, "y");
    ob_output(b, "y");
    return b;
}

/* Six boxes whose scores are the first numbers of x. */
static onnx_builder *suppressing_net(void)
{
    static const float boxes[24] = {0, 0,  1, 1,  0, 0.1f,  1, 1.1f,  0, -0.1f, 1, 0.9f,
                                    0, 10, 1, 11, 0, 10.1f, 1, 11.1f, 1, 101,   0, 100};
    static const float half = 0.5f, least = 0;
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 3, CHECK_HEIGHT, CHECK_WIDTH);
    ob_numbers(b, "all", "1 1 180");
    ob_numbers(b, "zero", "0");
    ob_numbers(b, "six", "6");
    ob_numbers(b, "two", "2");
    ob_numbers(b, "three", "3");
    ob_constant(b, "boxes", "1 6 4", boxes);
    ob_constant(b, "half", "1", &half);
    ob_constant(b, "least", "1", &least);
    ob_node(b, "Reshape", "x all", "list");
    ob_node(b, "Slice", "list zero six two", "scores");
    ob_node(b, "NonMaxSuppression", "boxes scores three half least", "y");
    ob_output(b, "y");
    return b;
}

/* The reference does what the engine cannot: make as many results as the numbers ask for. */
static void boxes_that_overlap_are_suppressed(void **state)
{
    (void)state;
    static const float scores[6] = {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f};
    static const float expected[9] = {0, 0, 3, 0, 0, 0, 0, 0, 5};
    size_t size;
    onnx_builder *b = suppressing_net();
    uint8_t *bytes = ob_pack(b, &size);
    ob_free(b);
    reference_array x = image(3, CHECK_HEIGHT, CHECK_WIDTH);
    memcpy(x.data, scores, sizeof scores);
    reference_array found = defined(bytes, size, &x);
    assert_int_equal(found.width, 9);
    assert_memory_equal(found.data, expected, sizeof expected);
    free(found.data);
    free(x.data);
    free(bytes);
    refused(suppressing_net(), "node 'y' (NonMaxSuppression) is run by the engine only where");
}

static void unsupported_models_are_refused_by_name(void **state)
{
    (void)state;
    Onnx__NodeProto *n;
    const float ones[36] = {1}, infinite[36] = {INFINITY};
    refused(one_node("Softmax", "x", &n),
            "node 'y' (Softmax) makes a tensor whose size is open; give the model one");
    refused(one_node("Unique", "x", &n),
            "node 'y' (Unique) is not supported by the engine; mona ops --engine lists");
    refused(one_node("Relu", "z", &n), "reads 'z', which nothing before it makes");
    refused(one_node("Conv", "x x", &n), "has computed weights");
    onnx_builder *b = one_node("Conv", "x w", &n);
    ob_constant(b, "w", "1 3 3 3", ones);
    refused(b, "its input has 4 channels");
    b = one_node("Conv", "x w", &n);
    ob_constant(b, "w", "1 4 3 3", infinite);
    refused(b, "infinite or not a number");
    b = one_node("Conv", "x w", &n);
    ob_constant(b, "w", "1 4 3", ones);
    refused(b, "has an input of 4 dimensions and weights of 3");
    b = one_node("Conv", "x w", &n);
    ob_constant(b, "w", "1 4 3 3", ones);
    ob_ints(b, n, "strides", "64 1");
    refused(b, "has strides 64; supported: 1 to 63");
    b = one_node("Conv", "x w", &n);
    ob_constant(b, "w", "1 4 3 3", ones);
    ob_ints(b, n, "pads", "-1 0 0 0");
    refused(b, "pads by -1");
    b = one_node("DepthToSpace", "x", &n);
    ob_int(b, n, "blocksize", 3);
    refused(b, "cannot rearrange 4 channels");
    b = one_node("Concat", "x x", &n);
    ob_int(b, n, "axis", 2);
    refused(b, "along axis 2");
    refused(one_node("Transpose", "x", &n), "to the end and back and, after a Reshape");
    b = one_node("Relu", "x", &n);
    n->domain = ob_text(b, "com.example");
    refused(b, "operator set 'com.example'");
    b = one_node("Relu", "x", &n);
    b->graph.n_input = 0;
    refused(b, "reads 'x', which nothing before it makes");
    b = one_node("Relu", "x", &n);
    b->graph.n_output = 0;
    refused(b, "no outputs");
    b = one_node("Relu", "x", &n);
    b->model.n_opset_import = 0;
    refused(b, "no ONNX operator set");
    b = one_node("Relu", "x", &n);
    ob_node(b, "Relu", "x", "y");
    refused(b, "'y' is defined twice");
    b = one_node("Relu", "x", &n);
    b->inputs[0]->type->tensor_type->shape->n_dim = 3;
    refused(b, "input 'x' is not [1, channels, height, width] of floats");
    b = one_node("SpaceToDepth", "x", &n);
    ob_int(b, n, "blocksize", 5);
    refused(b, "needs a fixed size");
    b = one_node("BatchNormalization", "x s s s", &n);
    ob_constant(b, "s", "4", ones);
    refused(b, "needs constants of 4 elements");
    b = one_node("Clip", "x high low", &n);
    ob_constant(b, "high", "", &(float){1});
    ob_constant(b, "low", "", &(float){0});
    refused(b, "the lower is above the upper");
}

static void unsupported_pools_and_products_are_refused_by_name(void **state)
{
    (void)state;
    Onnx__NodeProto *n;
    const float ones[64] = {1};
    refused(one_node("MaxPool", "x", &n), "has no kernel_shape");
    onnx_builder *b = one_node("MaxPool", "x", &n);
    ob_ints(b, n, "kernel_shape", "2 2 2");
    refused(b, "has 3 numbers in kernel_shape; expected 2");
    b = one_node("AveragePool", "x", &n);
    ob_ints(b, n, "kernel_shape", "2 2");
    ob_ints(b, n, "pads", "0 2 0 0");
    refused(b, "pads by 2, which leaves nothing");
    b = one_node("AveragePool", "x", &n);
    ob_ints(b, n, "kernel_shape", "256 2");
    refused(b, "has kernel_shape 256; supported: 1 to 255");
    b = one_node("MaxPool", "x", &n);
    n->output[n->n_output++] = ob_text(b, "places");
    ob_ints(b, n, "kernel_shape", "2 2");
    refused(b, "indices of the maxima");
    b = one_node("ReduceMean", "x", &n);
    ob_ints(b, n, "axes", "1");
    refused(b, "height and width");
    refused(one_node("ReduceMean", "x", &n), "height and width");
    b = one_node("Flatten", "x", &n);
    ob_int(b, n, "axis", 2);
    refused(b, "keeps more dimensions than the batch (axis 2)");
    refused(one_node("Squeeze", "x", &n), "of a 1x1 map alone");
    b = one_node("Gemm", "x w", &n);
    ob_constant(b, "w", "4 4", ones);
    refused(b, "a tensor of four dimensions");
    b = one_node("Reshape", "x shape", &n);
    ob_numbers(b, "shape", "4 -1");
    refused(b, "only [1, n] is supported");
    static const char *const products[][3] = {
        /* inputs, dims of w, expected */
        {"f w", "5 2", "multiplies 4 numbers by a matrix of 5x2"},
        {"f w", "4 1 1", "a constant matrix of two dimensions"},
        {"f f", "4 4", "a constant matrix of two dimensions"},
        {"f w b", "4 2", "a bias that is not a constant of 1 or 2 elements"},
    };
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        b = one_node("GlobalMaxPool", "x", &n);
        b->graph.n_node--;
        ob_node(b, "GlobalMaxPool", "x", "p");
        ob_node(b, "Flatten", "p", "f");
        ob_constant(b, "w", products[i][1], ones);
        ob_constant(b, "b", "3", ones);
        ob_node(b, "Gemm", products[i][0], "y");
        refused(b, products[i][2]);
    }
    b = one_node("Conv", "f w", &n);
    b->graph.n_node--;
    ob_node(b, "Flatten", "x", "f");
    ob_constant(b, "w", "4 4 1 1", ones);
    ob_node(b, "Conv", "f w", "y");
    refused(b, "which is flattened to [1, n]");
    b = one_node("MatMul", "f w", &n);
    b->graph.n_node--;
    ob_node(b, "Flatten", "x", "f");
    ob_constant(b, "w", "4 4", ones);
    ob_node(b, "MatMul", "f w", "y");
    refused(b, "a flattened map of 0x0 (0: any size)");
    b = one_node("Add", "f x", &n);
    b->graph.n_node--;
    ob_node(b, "Flatten", "x", "f");
    ob_node(b, "Add", "f x", "y");
    refused(b, "combines a flattened tensor and one of four dimensions");
}

static void fuzzed_models_never_crash_the_compiler(void **state)
{
    (void)state;
    onnx_builder *b = packed_net();
    size_t size;
    uint8_t *bytes = ob_pack(b, &size);
    ob_free(b);
    seed = 1;
    for (unsigned round = 0; round < 3000; round++) {
        uint8_t *copy = malloc(size);
        memcpy(copy, bytes, size);
        for (unsigned k = 0; k < 1 + round % 3; k++) {
            noise();
            const uint32_t at = seed >> 8;
            noise();
            copy[at % size] = (uint8_t)(seed >> 24);
        }
        format_error error = {0};
        compiler *c = compiler_open(copy, size, NULL, &error);
        uint8_t *model_bytes = NULL;
        size_t model_size;
        mona_model model;
        if (c && compiler_emit(c, &half_planes, &model_bytes, &model_size, &error))
            (void)mona_model_open(&model, model_bytes, model_size);
        else
            assert_true(error.text[0]);
        free(model_bytes);
        compiler_close(c);
        free(copy);
    }
    free(bytes);
}

/* ---- hostile models ----------------------------------------------------------------------- */

/* A node on the constants x, float32 [0, 4], and others that the caller has set. */
static onnx_builder *on_empty(const char *op_type, const char *inputs, const char *dims,
                              Onnx__NodeProto **node)
{
    const float none[1] = {0};
    onnx_builder *b = ob_new(21);
    Onnx__TensorProto *x = ob_constant(b, "x", "", none);
    x->n_float_data = 0;
    for (char *p = ob_text(b, dims), *end; *p; p = end)
        x->dims[x->n_dims++] = strtoll(p, &end, 10);
    *node = ob_node(b, op_type, inputs, "y");
    ob_output(b, "y");
    return b;
}

static void a_side_of_0_hides_no_impossible_one(void **state)
{
    (void)state;
    static const char *const ops[] = {"Softmax", "Flatten", "MaxPool", "Concat"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        Onnx__NodeProto *n;
        refused(on_empty(ops[i], "x", "0 4611686018427387904", &n), "has an impossible dimension");
    }
    tensor t;
    assert_true(tensor_shape(&t, ELEMENT_FLOAT32, 2, (const int64_t[]){0, 4}));
    assert_false(tensor_shape(&t, ELEMENT_FLOAT32, 3, (const int64_t[]){0, 1 << 20, 1 << 20}));
}

static void impossible_groups_are_refused(void **state)
{
    (void)state;
    const float none[1] = {0};
    Onnx__NodeProto *n;
    onnx_builder *b = on_empty("GroupNormalization", "x s s", "1 0 4", &n);
    ob_constant(b, "s", "0", none);
    ob_int(b, n, "num_groups", (int64_t)1 << 62);
    refused(b, "divides 0 channels into");
}

static void a_constant_without_a_name_is_refused(void **state)
{
    (void)state;
    Onnx__NodeProto *n;
    onnx_builder *b = one_node("Constant", "", &n);
    n->output[0] = ob_text(b, "");
    ob_float(b, n, "value_float", 1);
    refused(b, "has no output");
}

static void indices_of_floats_are_refused(void **state)
{
    (void)state;
    const float data[4] = {0, 1, 2, 3};
    Onnx__NodeProto *n;
    onnx_builder *b = one_node("Gather", "w x", &n);
    ob_constant(b, "w", "4", data);
    for (size_t i = 2; i < 4; i++) {
        b->inputs[0]->type->tensor_type->shape->dim[i]->value_case =
            ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        b->inputs[0]->type->tensor_type->shape->dim[i]->dim_value = 2;
    }
    refused(b, "has indices of float32");
}

static void indices_are_told_as_the_model_has_them(void **state)
{
    (void)state;
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 4, 2, 2);
    ob_numbers(b, "i", "0 -6");
    ob_int(b, ob_node(b, "Gather", "x i", "y"), "axis", 1);
    ob_output(b, "y");
    refused(b, "asks for element -6 of 4");
}

/* A model cannot set what only old operator sets had, by mona's own name for it. */
static void no_attribute_brings_an_old_form_back(void **state)
{
    (void)state;
    Onnx__NodeProto *n;
    onnx_graph g;
    format_error error = {0};
    size_t size;
    onnx_builder *b = one_node("Softmax", "x", &n);
    ob_int(b, n, "flatten", 1);
    ob_int(b, n, "broadcast", 1);
    uint8_t *bytes = ob_pack(b, &size);
    assert_true(onnx_graph_read(&g, bytes, size, NULL, &error));
    assert_false(g.nodes[0].flattens || g.nodes[0].broadcasts);
    onnx_graph_free(&g);
    free(bytes);
    ob_free(b);
}

/* A name may look like the end of what an error says of a node. */
static void names_do_not_cut_errors(void **state)
{
    (void)state;
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 3, 0, 0);
    ob_numbers(b, "pads", "0 0 1 1 0 0 1 1");
    Onnx__NodeProto *n = ob_node(b, "Pad", "x pads", "y");
    ob_string(b, n, "mode", "wrap");
    n->name = ob_text(b, "x) y");
    ob_output(b, "y");
    size_t size;
    uint8_t *bytes = ob_pack(b, &size);
    ob_free(b);
    format_error error = {0};
    assert_null(compiler_open(bytes, size, NULL, &error));
    const char *second = strstr(error.text, "; as an array it ");
    assert_int_equal(strncmp(error.text, "node 'x) y' (Pad) pads by mode", 30), 0);
    assert_non_null(second);
    assert_null(strstr(second, "(Pad)"));
    free(bytes);
}

/* kind: what the weights of a convolution have in them; NULL: numbers. */
static void check_told(float weight, float bias, const char *kind)
{
    const float weights[2] = {weight, 1}, biases[2] = {bias, 0};
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 1, 8, 8);
    ob_constant(b, "w", "2 1 1 1", weights);
    ob_constant(b, "bias", "2", biases);
    ob_node(b, "Conv", "x w bias", "y");
    ob_output(b, "y");
    compiler *c = open_good(b);
    unsigned more;
    const char *warning = compiler_warning(c, 0, &more);
    assert_int_equal(!warning, !kind);
    assert_true(!kind || strstr(warning, kind));
    compiler_close(c);
}

static void weights_that_are_no_numbers_are_told(void **state)
{
    (void)state;
    check_told(1, 1, NULL);
    check_told(NAN, 0, "a weight that is NaN");
    check_told(0, NAN, "a weight that is NaN");
    check_told(-INFINITY, 0, "a weight that is infinite");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_that_are_no_numbers_are_told),
        cmocka_unit_test(names_do_not_cut_errors),
        cmocka_unit_test(every_changed_byte_is_survived),
        cmocka_unit_test(boxes_that_overlap_are_suppressed),
        cmocka_unit_test(unsupported_models_are_refused_by_name),
        cmocka_unit_test(unsupported_pools_and_products_are_refused_by_name),
        cmocka_unit_test(a_side_of_0_hides_no_impossible_one),
        cmocka_unit_test(impossible_groups_are_refused),
        cmocka_unit_test(a_constant_without_a_name_is_refused),
        cmocka_unit_test(indices_of_floats_are_refused),
        cmocka_unit_test(indices_are_told_as_the_model_has_them),
        cmocka_unit_test(no_attribute_brings_an_old_form_back),
        cmocka_unit_test(fuzzed_models_never_crash_the_compiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
