// SPDX-License-Identifier: Apache-2.0
/* 8-bit values with a zero other than 0: what functions make, wherever it is read. */
#include "tests/unit/compiler_check.h"

#include "tests/unit/model_builder.h"
#include "tests/unit/recorded.h"

static const compiler_options int8 = {.int8 = true, .output_type = MONA_F16};

static void silu(onnx_builder *b, const char *x, const char *y)
{
    char gate[32], names[80];
    snprintf(gate, sizeof gate, "%s.gate", y);
    snprintf(names, sizeof names, "%s %s", x, gate);
    ob_node(b, "Sigmoid", x, gate);
    ob_node(b, "Mul", names, y);
}

static Onnx__NodeProto *add_filter(onnx_builder *b, const char *x, const char *y, const char *dims,
                                   int outputs, int filter, float scale)
{
    char names[80], w[32], bias[32], count[16];
    snprintf(w, sizeof w, "%s.w", y);
    snprintf(bias, sizeof bias, "%s.b", y);
    snprintf(names, sizeof names, "%s %s %s", x, w, bias);
    snprintf(count, sizeof count, "%d", outputs);
    ob_constant(b, w, dims, noises(b, (size_t)outputs * filter, scale / sqrtf((float)filter)));
    ob_constant(b, bias, count, noises(b, (size_t)outputs, 0.5f));
    return ob_node(b, "Conv", names, y);
}

/* As in EfficientNet: a padded depthwise filter, its mean, and its product with what that says. */
static onnx_builder *excited_net(void)
{
    onnx_builder *b = ob_new(14);
    ob_input(b, "x", 3, 0, 0);
    add_filter(b, "x", "c", "20 3 1 1", 20, 3, 6);
    silu(b, "c", "a");
    Onnx__NodeProto *deep = add_filter(b, "a", "d", "20 1 5 5", 20, 25, 4);
    ob_ints(b, deep, "pads", "2 2 2 2");
    ob_int(b, deep, "group", 20);
    silu(b, "d", "e");
    ob_node(b, "GlobalAveragePool", "e", "m");
    add_filter(b, "m", "s", "20 20 1 1", 20, 20, 4);
    ob_node(b, "Sigmoid", "s", "gate");
    ob_node(b, "Mul", "e gate", "p");
    add_filter(b, "p", "y", "4 20 1 1", 4, 20, 2);
    ob_output(b, "y");
    return b;
}

/* As in YOLO: a sum, a maximum, channels side by side, and nearest samples. */
static onnx_builder *joined_net(void)
{
    static const float scales[4] = {1, 1, 2, 2};
    onnx_builder *b = ob_new(14);
    ob_input(b, "x", 3, 0, 0);
    add_filter(b, "x", "c", "18 3 1 1", 18, 3, 6);
    silu(b, "c", "a");
    add_conv(b, "a", "d", 18, 18);
    silu(b, "d", "e");
    ob_node(b, "Add", "a e", "s");
    Onnx__NodeProto *pool = ob_node(b, "MaxPool", "s", "p");
    ob_ints(b, pool, "kernel_shape", "5 5");
    ob_ints(b, pool, "pads", "2 2 2 2");
    ob_node(b, "Concat", "s p", "j");
    ob_int(b, b->graph.node[b->graph.n_node - 1], "axis", 1);
    ob_constant(b, "scales", "4", scales);
    ob_string(b, ob_node(b, "Resize", "j - scales", "r"), "mode", "nearest");
    add_conv(b, "r", "y", 36, 4);
    ob_output(b, "y");
    return b;
}

/* Layers with more weights than pixels in a row, which work on whole maps. */
static onnx_builder *heavy_net(void)
{
    onnx_builder *b = ob_new(14);
    ob_input(b, "x", 3, 0, 0);
    add_filter(b, "x", "c", "96 3 1 1", 96, 3, 6);
    silu(b, "c", "a");
    ob_ints(b, add_filter(b, "a", "d", "96 96 3 3", 96, 96 * 9, 5), "pads", "1 1 1 1");
    silu(b, "d", "e");
    ob_ints(b, add_filter(b, "e", "y", "4 96 3 3", 4, 96 * 9, 2), "pads", "1 1 1 1");
    ob_output(b, "y");
    return b;
}

/* Layers that all pad. */
static onnx_builder *deep_net(void)
{
    enum { LAYERS = 6 };
    char names[2][8] = {"a", "c0"};
    onnx_builder *b = ob_new(14);
    ob_input(b, "x", 3, 0, 0);
    add_filter(b, "x", "c", "18 3 1 1", 18, 3, 6);
    silu(b, "c", names[0]);
    for (int i = 0; i < LAYERS; i++) {
        snprintf(names[1], sizeof names[1], "c%d", i);
        add_conv(b, names[0], names[1], 18, 18);
        snprintf(names[0], sizeof names[0], "a%d", i);
        silu(b, names[1], names[0]);
    }
    add_conv(b, names[0], "y", 18, 4);
    ob_output(b, "y");
    return b;
}

static onnx_builder *(*const nets[])(void) = {excited_net, joined_net, heavy_net, deep_net};
enum { NETS = 3 /* that the first two tests take */ };

/* Tensors with a zero. */
static unsigned zeros_of(const uint8_t *bytes, size_t size)
{
    mona_model m;
    unsigned count = 0;
    assert_int_equal(mona_model_open(&m, bytes, size), MONA_OK);
    for (uint32_t t = 0; t < m.header->tensor_count; t++)
        count += m.tensors[t].zero != 0;
    assert_int_equal(m.header->version, count ? MONA_FILE_VERSION_ZEROS : MONA_FILE_VERSION);
    return count;
}

static double squared_error(compiler *c, const compiler_options *o, const reference_array *in,
                            const reference_array *expected, unsigned zeros)
{
    uint8_t *bytes;
    size_t size;
    reference_array found;
    double sum = 0;
    emit(c, o, &bytes, &size);
    assert_int_equal(zeros_of(bytes, size), zeros);
    run_engine(bytes, size, in, &found);
    for (size_t i = 0; i < reference_count(&found); i++) {
        const double d = (double)found.data[i] - (double)expected->data[i];
        sum += d * d;
    }
    free(found.data);
    free(bytes);
    return sum;
}

/* Steps are nearly half as large, so there is less noise. */
static void zeros_lower_the_noise(void **state)
{
    (void)state;
    static const unsigned zeros[NETS] = {3, 6, 2};
    static const double symmetric[NETS] = {4.75, 1.87, 0.498}; /* with S8 in their place */
    for (int n = 0; n < NETS; n++) {
        seed = 41;
        compiler *c = open_good(nets[n]());
        format_error error = {0};
        reference_array in, expected;
        make_inputs(c, n < 2 ? 24 : 7, n < 2 ? 20 : 6, &in);
        run_reference(c, &in, &expected);
        assert_true(compiler_calibrate(c, &in, &error));
        const double noise = squared_error(c, &int8, &in, &expected, zeros[n]);
        if (noise > 0.7 * symmetric[n])
            fail_msg("net %d: noise %g, without zeros %g", n, noise, symmetric[n]);
        free(in.data);
        free(expected.data);
        compiler_close(c);
    }
}

/* Whether this CPU has the instruction set that a configuration names. */
static bool runs_here(const uint8_t *bytes, size_t size, mona_config how, const reference_array *in)
{
    mona_model model;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    void *memory = session_binding_allocate(mona_plan_bytes(&model)); /* aligned */
    mona_plan *plan;
    how.sizes[0] = (mona_size){in->width, in->height};
    const mona_status status = mona_plan_make(&plan, memory, &model, &how);
    free(memory);
    return status != MONA_ERR_DEVICE;
}

/* However maps are cut into strips, tiles and groups, and whoever computes them. */
static void zeros_are_the_same_everywhere(void **state)
{
    (void)state;
    static const mona_config configs[] = {
        {.threads = 1, .strip_rows = 1},
        {.threads = 2},
        {.threads = 1, .tile_columns = 7},
        {.threads = 2, .cache_bytes = 4096},
        {.cpu = "c"},
        {.cpu = "avx2"},
        {.cpu = "avxvnni"},
        {.cpu = "neon"},
        {.device = &mona_device_model310, .threads = 1, .strip_rows = 1},
        {.device = &mona_device_model310, .tile_columns = 7},
    };
    for (int n = 0; n < NETS; n++) {
        seed = 43;
        compiler *c = open_good(nets[n]());
        format_error error = {0};
        reference_array in, found[2];
        uint8_t *bytes;
        size_t size;
        make_inputs(c, n < 2 ? 27 : 7, n < 2 ? 22 : 6, &in);
        assert_true(compiler_calibrate(c, &in, &error));
        emit(c, &int8, &bytes, &size);
        run_engine(bytes, size, &in, &found[0]);
        for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
            if (!runs_here(bytes, size, configs[i], &in))
                continue;
            run_engine_as(bytes, size, &configs[i], &in, &found[1]);
            if (largest_difference(&found[0], &found[1]) > 0)
                fail_msg("net %d: configuration %zu differs", n, i);
            free(found[1].data);
        }
        free(found[0].data);
        free(in.data);
        free(bytes);
        compiler_close(c);
    }
}

static void check_program(int n, uint32_t height, uint32_t width)
{
    const mona_config on_chip = {.device = &mona_device_model310};
    compiler *c = open_good(nets[n]());
    format_error error = {0};
    reference_array in, found[2];
    mona_model model;
    size_t size;
    uint8_t *bytes;
    make_inputs(c, height, width, &in);
    assert_true(compiler_calibrate(c, &in, &error));
    emit(c, &int8, &bytes, &size);
    run_engine(bytes, size, &in, &found[0]);
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    uint8_t *file = recorded_file(&model, (mona_size){width, height}, &size);
    run_engine_as(file, size, &on_chip, &in, &found[1]);
    if (largest_difference(&found[0], &found[1]) > 0)
        fail_msg("net %d, %ux%u: its program differs", n, width, height);
    for (int i = 0; i < 2; i++)
        free(found[i].data);
    free(in.data);
    free(bytes);
    free(file);
    compiler_close(c);
}

/* Programs of AI Cores make the same bytes. Rows of wide pictures fill L1, with one of padding
 * beside those of each tensor. */
static void programs_have_zeros(void **state)
{
    (void)state;
    seed = 44;
    for (int n = 0; n < NETS; n++)
        check_program(n, n < 2 ? 41 : 7, n < 2 ? 35 : 6);
    check_program(NETS, 4, 1500);
}

static uint8_t *excited(size_t *size)
{
    uint8_t *bytes;
    format_error error = {0};
    reference_array in;
    seed = 47;
    compiler *c = open_good(excited_net());
    make_inputs(c, 16, 16, &in);
    assert_true(compiler_calibrate(c, &in, &error));
    emit(c, &int8, &bytes, size);
    free(in.data);
    compiler_close(c);
    return bytes;
}

/* A zero where none may be. */
static void wrong_zeros_are_refused(void **state)
{
    (void)state;
    mona_model m;
    size_t size;
    uint8_t *bytes = excited(&size);
    assert_int_equal(mona_model_open(&m, bytes, size), MONA_OK);
    mona_file_header *h = (mona_file_header *)(void *)bytes;
    h->version = MONA_FILE_VERSION;
    builder_seal(bytes);
    assert_int_equal(mona_model_open(&m, bytes, size), MONA_ERR_MODEL);
    h->version = MONA_FILE_VERSION_ZEROS;
    unsigned refused = 0;
    for (uint32_t t = 0; t < h->tensor_count; t++) {
        mona_file_tensor *tensor = (mona_file_tensor *)(void *)(bytes + h->tensors_offset) + t;
        const uint8_t zero = tensor->zero;
        tensor->zero = 7;
        builder_seal(bytes);
        const mona_status status = mona_model_open(&m, bytes, size);
        const bool may = tensor->type == MONA_U8 && t >= h->input_count + h->output_count;
        assert_true(status == (may ? MONA_OK : MONA_ERR_MODEL) || (may && !zero));
        refused += status != MONA_OK;
        tensor->zero = zero;
    }
    assert_true(refused >= 3); /* planes, what is loaded, the mean */
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeros_lower_the_noise),
        cmocka_unit_test(zeros_are_the_same_everywhere),
        cmocka_unit_test(programs_have_zeros),
        cmocka_unit_test(wrong_zeros_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
