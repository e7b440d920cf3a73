// SPDX-License-Identifier: Apache-2.0
/* ONNX operators on arrays as the compiler's judge runs them: calibration and measurements of
 * networks with arrays depend on it. The cases are those of tests/conformance, whose results numpy
 * computed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "formats/compiler/compiler.h"
#include "formats/onnx/conformance.h"
#include "formats/file.h"

static compiler *open_case(const char *folder)
{
    char path[256];
    uint8_t *bytes;
    size_t size;
    format_error error = {0};
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    assert_true(file_read(path, "an ONNX model", ONNX_MAX_BYTES, &bytes, &size, &error));
    compiler *c = compiler_open(bytes, size, NULL, &error);
    free(bytes);
    if (!c)
        fail_msg("%s", error.text);
    return c;
}

static void fill(reference_array *a, const compiler_tensor *t, const tensor *from)
{
    *a = (reference_array){t->channels, t->height, t->width, malloc(from->count * sizeof(float))};
    assert_non_null(a->data);
    assert_int_equal(from->count, (size_t)t->channels * t->height * t->width);
    for (size_t i = 0; i < from->count; i++)
        a->data[i] = (float)tensor_number(from, i);
}

static void judge_equals(const char *name, const reference_array *found, const tensor *expected)
{
    assert_int_equal((size_t)found->channels * found->height * found->width, expected->count);
    for (size_t i = 0; i < expected->count; i++) {
        const double e = tensor_number(expected, i), f = (double)found->data[i];
        if (!(fabs(f - e) <= 2e-3 * (1 + fabs(e)))) /* maps become FP16 arrays */
            fail_msg("%s: element %zu is %g, expected %g", name, i, f, e);
    }
}

static void the_judge_runs_arrays(void **state)
{
    static const char *const cases[] = {"array_broadcast", "array_functions", "array_mixed",
                                        "array_moves",     "array_normalise", "array_products",
                                        "array_reduce",    "array_resize",    "array_windows"};
    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        char folder[128];
        conformance_set set;
        format_error error = {0};
        reference_array in[MONA_MAX_IO], out[MONA_MAX_IO];
        snprintf(folder, sizeof folder, "tests/conformance/%s", cases[n]);
        assert_true(conformance_read(&set, folder, 0, &error));
        compiler *c = open_case(folder);
        assert_true(compiler_has_arrays(c));
        assert_int_equal(compiler_input_count(c), set.input_count);
        assert_int_equal(compiler_output_count(c), set.output_count);
        for (uint32_t i = 0; i < set.input_count; i++) {
            const compiler_tensor t = compiler_input(c, i);
            fill(&in[i], &t, &set.inputs[i]);
        }
        if (!compiler_reference(c, in, out, &error))
            fail_msg("%s: %s", cases[n], error.text);
        for (uint32_t i = 0; i < set.output_count; i++) {
            judge_equals(cases[n], &out[i], &set.outputs[i]);
            free(out[i].data);
        }
        for (uint32_t i = 0; i < set.input_count; i++)
            free(in[i].data);
        compiler_close(c);
        conformance_free(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_judge_runs_arrays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
