// SPDX-License-Identifier: Apache-2.0
/* The fusion rules: files that switch them, what remains without them, and that networks compute
 * the same without them. */
#include "tests/unit/compiler_check.h"

#include "formats/compiler/graph/fusion.h"

/* ---- rule files --------------------------------------------------------------------------- */

static bool reads(fusion_switches *switches, const char *text, format_error *error)
{
    *error = (format_error){0};
    return fusion_read(switches, text, strlen(text), error);
}

static void files_switch_rules(void **state)
{
    (void)state;
    fusion_switches s = {0}, plain = {0};
    format_error error;
    fusion_switch_off(&plain);
    assert_true(reads(&s, "", &error));
    assert_true(reads(&s, "# nothing\n\n  \t\r\n", &error));
    assert_false(s.off[FUSION_AFFINE]);
    assert_true(reads(&s, " affine : off # and why\r\nactivation:off\nactivation:on", &error));
    assert_true(s.off[FUSION_AFFINE]);
    assert_false(s.off[FUSION_ACTIVATION]);
    assert_true(reads(&s, "all:off\n", &error));
    assert_memory_equal(&s, &plain, sizeof s);
    assert_true(reads(&s, "all:off\npad:on\n", &error));
    assert_false(s.off[FUSION_PAD]);
    assert_true(reads(&s, "all:on", &error));
    for (int r = 0; r < FUSION_RULES; r++)
        assert_true(!s.off[r] && plain.off[r] != fusion_rule_row((fusion_rule)r)->mandatory);
}

static void bad_files_are_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"all:off\nconvolve:off\n", "line 2: no rule 'convolve'; mona ops --fusion lists them"},
        {"affine", "line 1: expected NAME:on or NAME:off, found 'affine'"},
        {"affine:perhaps", "line 1: expected NAME:on or NAME:off, found 'affine:perhaps'"},
        {"\n\nviews:off", "line 3: rule 'views' is mandatory"},
        {":off", "line 1: no rule ''; mona ops --fusion lists them"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fusion_switches s = {0};
        format_error error;
        assert_false(reads(&s, bad[i][0], &error));
        assert_string_equal(error.text, bad[i][1]);
    }
}

/* ---- networks without them ---------------------------------------------------------------- */

static void check_plain(onnx_builder *b, bool int8, double most)
{
    compiler_options o =
        int8 ? (compiler_options){.int8 = true, .output_type = MONA_S8} : half_planes;
    compiler *c = open_good(b);
    const unsigned fused = operators_of(c, &half_planes);
    fusion_switch_off(&o.fusion);
    const double d = difference(c, &o, 14, 22);
    if (d > most)
        fail_msg("differs by %g", d);
    if (!int8)
        assert_true(operators_of(c, &o) > fused);
    compiler_close(c);
}

/* As FP16 and INT8. */
static void networks_run_without_fusion(void **state)
{
    (void)state;
    seed = 11;
    for (int int8 = 0; int8 < 2; int8++) {
        check_plain(small_net(), int8, int8 ? 0.05 : 0.01);
        check_plain(residual_net(), int8, int8 ? 0.1 : 0.01);
    }
}

/* Asserts how often the rule matched and was applied in the network as last emitted. */
static void assert_count(const compiler *c, fusion_rule rule, size_t matched, size_t applied)
{
    const fusion_count n = fusion_log_count(compiler_log(c), rule);
    if (n.matched != matched || n.applied != applied)
        fail_msg("%s: matched %zu, applied %zu", fusion_rule_row(rule)->name, n.matched, n.applied);
}

/* The same model, emitted with and without the rule. */
static void each_rule_counts(void **state)
{
    (void)state;
    compiler_options o = half_planes;
    compiler *c = open_good(residual_net());
    assert_int_equal(operators_of(c, &o), 5);
    assert_count(c, FUSION_AFFINE, 2, 2);
    assert_count(c, FUSION_ACTIVATION, 3, 3);
    assert_count(c, FUSION_ADD, 1, 1);
    fusion_switch_off(&o.fusion);
    assert_int_equal(operators_of(c, &o), 3 + 2 + 3 + 1 + 2);
    assert_count(c, FUSION_AFFINE, 2, 0);
    assert_count(c, FUSION_ACTIVATION, 3, 0);
    assert_count(c, FUSION_ADD, 1, 0);
    o.fusion.off[FUSION_ADD] = false;
    assert_int_equal(operators_of(c, &o), 3 + 2 + 3 + 2);
    compiler_close(c);
}

/* What a network needs stays: slices, and packed planes. */
static void mandatory_rules_stay(void **state)
{
    (void)state;
    compiler_options o = half_planes;
    reference_array inputs[3];
    seed = 5;
    compiler *c = open_good(packed_net());
    make_packed(inputs);
    assert_true(difference_on(c, &o, inputs) < 0.01);
    assert_count(c, FUSION_LOAD, 2, 2);
    assert_count(c, FUSION_SLICE_STORE, 2, 2);
    assert_count(c, FUSION_DEPTH_STORE, 1, 1);
    assert_count(c, FUSION_ADD_SLICE, 1, 1);
    fusion_switch_off(&o.fusion);
    assert_true(difference_on(c, &o, inputs) < 0.01);
    assert_count(c, FUSION_ADD_SLICE, 1, 1);
    free_arrays(inputs, 3);
    compiler_close(c);
}

/* ---- common sub-expressions and dead code ------------------------------------------------- */

static onnx_builder *twins(void)
{
    const float slope[] = {0.25f, 0.5f, 0.25f}, twice[] = {2};
    onnx_builder *b = ob_new(13);
    seed = 7;
    ob_input(b, "x", 3, 0, 0);
    float *w = noises(b, 27, 0.3f);
    ob_constant(b, "w", "3 3 1 1", w);
    ob_constant(b, "w2", "3 3 1 1", w);
    ob_constant(b, "slope", "3 1 1", slope);
    ob_constant(b, "twice", "1", twice);
    ob_node(b, "Conv", "x w", "a");
    ob_node(b, "Conv", "x w2", "b"); /* has equal contents */
    ob_node(b, "PRelu", "a slope", "ap");
    ob_node(b, "PRelu", "b slope", "bp");
    ob_node(b, "Mul", "ap bp", "m");
    ob_node(b, "Mul", "bp twice", "d"); /* is not equal */
    ob_node(b, "Add", "m d", "y");
    ob_node(b, "Erf", "d", "unused"); /* the engine does not have it */
    ob_node(b, "Neg", "twice", "minus");
    ob_node(b, "Mul", "minus twice", "never");
    ob_output(b, "y");
    return b;
}

static void twins_become_one(void **state)
{
    (void)state;
    compiler_options o = half_planes;
    compiler *c = open_good(twins());
    assert_true(difference(c, &o, 9, 11) < 0.01);
    assert_count(c, FUSION_COMMON, 2, 2);
    assert_count(c, FUSION_DEAD_CODE, 3, 3);
    const unsigned merged = operators_of(c, &o);
    o.fusion.off[FUSION_COMMON] = true;
    assert_true(difference(c, &o, 9, 11) < 0.01);
    assert_count(c, FUSION_COMMON, 1, 0); /* operators after convolutions read other values */
    assert_int_equal(operators_of(c, &o), merged + 1);
    compiler_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_switch_rules),          cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(networks_run_without_fusion), cmocka_unit_test(each_rule_counts),
        cmocka_unit_test(mandatory_rules_stay),        cmocka_unit_test(twins_become_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
