// SPDX-License-Identifier: Apache-2.0
/* TopK on arrays: values and indices along any axis, with many equal elements. */
#include "tests/unit/onnx_check.h"

static void add_number(onnx_builder *b, const char *name, float number)
{
    ob_constant(b, name, "", &number);
}

/* Sixteenths of values plus indices, so that one output shows both. */
static onnx_builder *sorted_net(int axis, const char *count, int largest, bool whole)
{
    onnx_builder *b = ob_new(13);
    seed = 71;
    ob_input(b, "x", 3, CHECK_HEIGHT, CHECK_WIDTH);
    add_number(b, "steps", 5);
    ob_node(b, "Mul", "x steps", "large");
    ob_node(b, "Floor", "large", "f");
    if (whole)
        ob_int(b, ob_node(b, "Cast", "f", "i"), "to", ELEMENT_INT32);
    ob_numbers(b, "k", count);
    Onnx__NodeProto *n = ob_node(b, "TopK", whole ? "i k" : "f k", "values indices");
    ob_int(b, n, "axis", axis);
    ob_int(b, n, "largest", largest);
    ob_int(b, ob_node(b, "Cast", "indices", "numbers"), "to", ELEMENT_FLOAT32);
    ob_int(b, ob_node(b, "Cast", "values", "v"), "to", ELEMENT_FLOAT32);
    add_number(b, "small", 0.0625f);
    ob_node(b, "Mul", "v small", "scaled");
    ob_node(b, "Add", "numbers scaled", "y");
    ob_output(b, "y");
    return b;
}

static void the_best_come_first(void **state)
{
    (void)state;
    static const struct {
        int axis;
        const char *count;
    } cases[] = {{-1, "3"}, {2, "6"}, {1, "1"}, {3, "10"}, {-2, "2"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < 4; k++) {
            char what[48];
            snprintf(what, sizeof what, "axis %d, %s elements, form %d", cases[i].axis,
                     cases[i].count, k);
            check(sorted_net(cases[i].axis, cases[i].count, k % 2, k / 2), true, what);
        }
}

/* Logarithms of which about half are NaN. */
static void nan_is_larger_than_all_numbers(void **state)
{
    (void)state;
    for (int largest = 0; largest < 2; largest++) {
        onnx_builder *b = ob_new(13);
        seed = 72;
        ob_input(b, "x", 3, CHECK_HEIGHT, CHECK_WIDTH);
        add_number(b, "half", 0.5f);
        ob_node(b, "Sub", "x half", "signed");
        ob_node(b, "Log", "signed", "f");
        ob_numbers(b, "k", "6");
        Onnx__NodeProto *n = ob_node(b, "TopK", "f k", "values indices");
        ob_int(b, n, "largest", largest);
        ob_int(b, ob_node(b, "Cast", "indices", "y"), "to", ELEMENT_FLOAT32);
        ob_output(b, "y");
        check(b, true, largest ? "largest with NaN" : "smallest with NaN");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_best_come_first),
                                       cmocka_unit_test(nan_is_larger_than_all_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
