// SPDX-License-Identifier: Apache-2.0
/* Formats that differ in their zero points alone are different ones. */
#include "tests/unit/onnx_check.h"

static void add_format(onnx_builder *b, const char *scale, const char *zero, int point)
{
    const float step = 1 / 128.f;
    ob_constant(b, scale, "", &step);
    ob_int_tensor(b, zero, ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, "", &point);
}

/* A convolution whose result is quantised twice. */
static onnx_builder *two_formats(int first, int second, const char *join)
{
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 3, CHECK_HEIGHT, CHECK_WIDTH);
    add_format(b, "s1", "z1", first);
    add_format(b, "s2", "z2", second);
    const float weights[9] = {1, -1, 0.5f, 0.25f, -1, 1, -0.5f, 1, -0.25f};
    ob_constant(b, "w", "3 3 1 1", weights);
    ob_node(b, "Conv", "x w", "t");
    ob_node(b, "QuantizeLinear", "t s1 z1", "q1");
    ob_node(b, "QuantizeLinear", "t s2 z2", "q2");
    ob_node(b, "DequantizeLinear", "q1 s1 z1", "d1");
    ob_node(b, "DequantizeLinear", "q2 s2 z2", "d2");
    ob_node(b, join, "d1 d2", "y");
    ob_output(b, "y");
    return b;
}

static void zero_points_tell_formats_apart(void **state)
{
    (void)state;
    static const int points[] = {0, 128, 255};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            for (int join = 0; join < 2; join++) {
                char what[48];
                snprintf(what, sizeof what, "zero points %d and %d, %s", points[i], points[k],
                         join ? "Add" : "Mul");
                check(two_formats(points[i], points[k], join ? "Add" : "Mul"), false, what);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(zero_points_tell_formats_apart)};
    return cmocka_run_group_tests_name("zero_points", tests, NULL, NULL);
}
