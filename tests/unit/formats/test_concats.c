// SPDX-License-Identifier: Apache-2.0
/* Concat, Split and Slice of computed channels from ONNX to the engine: within the bound of their
 * precision compared with the fp32 reference, and the same bytes whether in place or copied, on the
 * host and on model310. */
#include "tests/unit/compiler_check.h"

#include "formats/compiler/graph/fusion.h"

static void add_relu_conv(onnx_builder *b, const char *x, const char *y, int inputs, int outputs)
{
    char made[64];
    snprintf(made, sizeof made, "%s.c", y);
    add_conv(b, x, made, inputs, outputs);
    ob_node(b, "Relu", made, y);
}

static void add_concat(onnx_builder *b, const char *inputs, const char *y)
{
    ob_int(b, ob_node(b, "Concat", inputs, y), "axis", 1);
}

static void add_pool(onnx_builder *b, const char *x, const char *y)
{
    Onnx__NodeProto *pool = ob_node(b, "MaxPool", x, y);
    ob_ints(b, pool, "kernel_shape", "2 2");
    ob_ints(b, pool, "strides", "2 2");
}

static void add_up(onnx_builder *b, const char *x, const char *y, const char *mode)
{
    char names[64];
    snprintf(names, sizeof names, "%s - twice", x);
    ob_string(b, ob_node(b, "Resize", names, y), "mode", mode);
}

/* Two levels down and up; with `input`, the input itself joins at the end. */
static onnx_builder *u_net(int channels, bool input)
{
    const float twice[4] = {1, 1, 2, 2};
    onnx_builder *b = ob_new(13);
    const int c = channels;
    ob_input(b, "x", 3, 0, 0);
    ob_constant(b, "twice", "4", twice);
    add_relu_conv(b, "x", "e1", 3, c);
    add_pool(b, "e1", "p1");
    add_relu_conv(b, "p1", "e2", c, 2 * c);
    add_pool(b, "e2", "p2");
    add_relu_conv(b, "p2", "e3", 2 * c, 2 * c);
    add_up(b, "e3", "u2", "nearest");
    add_concat(b, "u2 e2", "j2");
    add_relu_conv(b, "j2", "d2", 4 * c, c);
    add_up(b, "d2", "u1", "linear");
    add_concat(b, input ? "e1 u1 x" : "e1 u1", "j1");
    add_relu_conv(b, "j1", "d1", 2 * c + (input ? 3 : 0), c);
    add_conv(b, "d1", "y", c, 3);
    ob_output(b, "y");
    return b;
}

/* Each layer reads a new concat of all before it: more values than an operator takes. */
static onnx_builder *dense_net(int growth, int layers)
{
    char names[512] = "f0", name[16], joined[16] = "f0";
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 3, 0, 0);
    add_relu_conv(b, "x", "f0", 3, 2 * growth);
    for (int i = 1; i <= layers; i++) {
        snprintf(name, sizeof name, "f%d", i);
        add_relu_conv(b, joined, name, (i + 1) * growth, growth);
        strcat(strcat(names, " "), name);
        snprintf(joined, sizeof joined, "j%d", i);
        add_concat(b, names, joined);
    }
    Onnx__NodeProto *pool = ob_node(b, "AveragePool", joined, "p");
    ob_ints(b, pool, "kernel_shape", "2 2");
    add_conv(b, "p", "y", (layers + 2) * growth, 2);
    ob_output(b, "y");
    return b;
}

/* Channels are split in three, processed, joined in another order and added to; the join is an
 * output too. */
static onnx_builder *split_net(int a, int m, int e)
{
    char sizes[64];
    const int all = a + m + e;
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 3, 0, 0);
    snprintf(sizes, sizeof sizes, "%d %d %d", a, m, e);
    ob_numbers(b, "sizes", sizes);
    add_relu_conv(b, "x", "h", 3, all);
    ob_int(b, ob_node(b, "Split", "h sizes", "s0 s1 s2"), "axis", 1);
    add_conv(b, "s1", "t", m, m);
    ob_node(b, "Add", "t s1", "r");
    add_concat(b, "s0 r s2", "j");
    ob_node(b, "Add", "j h", "sum");
    add_conv(b, "sum", "y", all, 3);
    ob_output(b, "y");
    ob_output(b, "j");
    return b;
}

/* Concats of concats, of pools, and of the same value twice. */
static onnx_builder *nested_net(int c)
{
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 2, 0, 0);
    add_relu_conv(b, "x", "a", 2, c);
    add_conv(b, "a", "b", c, c);
    add_concat(b, "a b", "ab");
    add_pool(b, "ab", "p");
    add_relu_conv(b, "p", "q", 2 * c, c);
    add_pool(b, "a", "pa");
    add_concat(b, "p q pa pa", "all");
    add_pool(b, "all", "y");
    ob_output(b, "y");
    add_concat(b, "b x", "bx");
    ob_output(b, "bx");
    return b;
}

/* ---- numbers -------------------------------------------------------------------------------- */

enum { NETS = 9 };

static onnx_builder *net(int i)
{
    seed = 17;
    switch (i) {
    case 0:
        return u_net(16, false);
    case 1:
        return u_net(5, true);
    case 2:
        return u_net(32, true);
    case 3:
        return dense_net(16, 10);
    case 4:
        return dense_net(3, 9);
    case 5:
        return split_net(16, 32, 16);
    case 6:
        return split_net(5, 3, 9);
    case 7:
        return nested_net(32);
    default:
        return nested_net(7);
    }
}

static double largest_output(const compiler *c, const reference_array *inputs)
{
    double most = 0;
    reference_array out[MONA_MAX_IO];
    run_reference(c, inputs, out);
    for (unsigned i = 0; i < compiler_output_count(c); i++)
        for (size_t k = 0; k < (size_t)out[i].channels * out[i].height * out[i].width; k++)
            most = fmax(most, fabs((double)out[i].data[k]));
    free_arrays(out, compiler_output_count(c));
    return most;
}

static void close_to_the_reference(bool int8, double bound)
{
    for (int i = 0; i < NETS; i++) {
        reference_array inputs[MONA_MAX_IO];
        compiler *c = open_good(net(i));
        make_inputs(c, 20, 28, inputs);
        compiler_options o = half_planes;
        o.int8 = int8;
        o.input_type = int8 ? MONA_U8 : MONA_F16;
        const double most = largest_output(c, inputs), d = difference_on(c, &o, inputs);
        if (d > bound * most)
            fail_msg("net %d differs by %g of %g", i, d, most);
        free_arrays(inputs, compiler_input_count(c));
        compiler_close(c);
    }
}

static void half_is_close(void **state)
{
    (void)state;
    close_to_the_reference(false, 0.005);
}

static void int8_is_close(void **state)
{
    (void)state;
    close_to_the_reference(true, 0.06);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

static void expect_same(compiler *c, const compiler_options *o, const reference_array *inputs,
                        const mona_config *how, const reference_array *want)
{
    uint8_t *bytes;
    size_t size;
    reference_array found[MONA_MAX_IO];
    emit(c, o, &bytes, &size);
    run_engine_as(bytes, size, how, inputs, found);
    for (unsigned i = 0; i < compiler_output_count(c); i++)
        assert_true(largest_difference(&found[i], &want[i]) == 0);
    free_arrays(found, compiler_output_count(c));
    free(bytes);
}

static void the_same_bytes_in_place_and_copied(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * NETS; i++) {
        format_error error = {0};
        reference_array inputs[MONA_MAX_IO], want[MONA_MAX_IO];
        compiler *c = open_good(net(i / 2));
        make_inputs(c, 20, 28, inputs);
        assert_true(compiler_calibrate(c, inputs, &error));
        compiler_options o = i % 2 ? (compiler_options){.int8 = true} : half_planes, copies = o;
        copies.fusion.off[FUSION_PLACE] = true;
        uint8_t *bytes;
        size_t size;
        emit(c, &copies, &bytes, &size);
        run_engine(bytes, size, inputs, want);
        free(bytes);
        const mona_config groups = {.threads = 2, .cache_bytes = 1};
        const mona_config tiles = {.threads = 3, .strip_rows = 3, .tile_columns = 9};
        const mona_config chip = {.device = &mona_device_model310};
        expect_same(c, &o, inputs, &groups, want);
        expect_same(c, &o, inputs, &tiles, want);
        expect_same(c, &o, inputs, &chip, want);
        free_arrays(want, compiler_output_count(c));
        free_arrays(inputs, compiler_input_count(c));
        compiler_close(c);
    }
}

/* ---- what became of them -------------------------------------------------------------------- */

typedef struct kinds {
    unsigned concats, slices, halves; /* halves: concats of F16 */
} kinds;

static kinds kinds_of(compiler *c, const compiler_options *o)
{
    uint8_t *bytes;
    size_t size;
    mona_model model;
    kinds k = {0};
    emit(c, o, &bytes, &size);
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    for (uint32_t i = 0; i < model.header->op_count; i++) {
        const mona_file_op *op = &model.ops[i];
        k.concats += op->kind == MONA_OP_CONCAT;
        k.slices += op->kind == MONA_OP_SLICE;
        k.halves += op->kind == MONA_OP_CONCAT && model.tensors[op->output].type == MONA_F16;
        for (uint32_t in = 0; in < op->input_count && op->kind == MONA_OP_CONCAT; in++) {
            const mona_file_tensor *a = &model.tensors[op->inputs[in]];
            const mona_file_tensor *b = &model.tensors[op->output];
            assert_true(a->type == b->type && a->scale == b->scale);
        }
    }
    free(bytes);
    return k;
}

static void expect_kinds(int i, unsigned concats, unsigned slices, unsigned halves, size_t placed)
{
    format_error error = {0};
    reference_array inputs[MONA_MAX_IO];
    compiler *c = open_good(net(i));
    make_inputs(c, 20, 28, inputs);
    assert_true(compiler_calibrate(c, inputs, &error));
    const compiler_options o = {.int8 = true};
    const kinds k = kinds_of(c, &o);
    const fusion_count n = fusion_log_count(compiler_log(c), FUSION_PLACE);
    if (k.concats != concats || k.slices != slices || k.halves != halves || n.applied != placed ||
        n.matched != concats + slices)
        fail_msg("net %d: %u concats, %u slices, %u of halves, %zu of %zu in place", i, k.concats,
                 k.slices, k.halves, n.applied, n.matched);
    free_arrays(inputs, compiler_input_count(c));
    compiler_close(c);
}

static void joined_values_share_a_format(void **state)
{
    (void)state;
    expect_kinds(0, 2, 0, 0, 2);
    expect_kinds(1, 2, 0, 1, 0); /* planes and features have no 8-bit steps in common */
    expect_kinds(2, 2, 0, 1, 2);
    expect_kinds(3, 10, 0, 0, 10); /* the first eight of the last three equal the seventh */
    expect_kinds(5, 1, 3, 0, 4);
    expect_kinds(6, 1, 3, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_is_close),
        cmocka_unit_test(int8_is_close),
        cmocka_unit_test(the_same_bytes_in_place_and_copied),
        cmocka_unit_test(joined_values_share_a_format),
    };
    return cmocka_run_group_tests_name("concats", tests, NULL, NULL);
}
