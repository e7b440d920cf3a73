/* How calibration finds ranges, and FP16 beside INT8 in one model. */
#include "compiler_check.h"

#include "formats/compiler/histogram.h"
#include "modelled_check.h"

/* ---- histograms --------------------------------------------------------------------------- */

/* Counts do not depend on the order in which samples come, nor on how they are split. */
static void histograms_do_not_care_for_order(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static float values[COUNT], reversed[COUNT];
    static histogram whole, parts, a, b;
    seed = 5;
    for (int i = 0; i < COUNT; i++)
        values[i] = i % 7 ? noise() * expf(8 * noise()) : 0;
    for (int i = 0; i < COUNT; i++)
        reversed[i] = values[COUNT - 1 - i];
    histogram_add(&whole, values, COUNT);
    for (int i = 0; i < COUNT; i += 100)
        histogram_add(&parts, reversed + i, 100);
    assert_memory_equal(&whole, &parts, sizeof whole);
    histogram_add(&a, values, 1234);
    histogram_add(&b, values + 1234, COUNT - 1234);
    histogram_merge(&a, &b);
    assert_memory_equal(&whole, &a, sizeof whole);
}

static void zeros_and_nothing_have_no_threshold(void **state)
{
    (void)state;
    static const float zeros[100];
    static histogram h;
    for (range_rule rule = RANGE_MIN_MAX; rule <= RANGE_MSE; rule++)
        assert_true(histogram_threshold(&h, rule, 127, 0) == 0);
    histogram_add(&h, zeros, 100);
    for (range_rule rule = RANGE_MIN_MAX; rule <= RANGE_MSE; rule++)
        assert_true(histogram_threshold(&h, rule, 255, 0) == 0);
}

/* All rules keep a uniform distribution nearly whole, and cut far outliers but for the first. */
static void rules_cut_what_is_rare(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    float *values = malloc(COUNT * sizeof *values);
    for (range_rule rule = RANGE_MIN_MAX; rule <= RANGE_MSE; rule++) {
        static histogram h;
        memset(&h, 0, sizeof h);
        for (int i = 0; i < COUNT; i++)
            values[i] = (float)i / COUNT;
        histogram_add(&h, values, COUNT);
        const double even = histogram_threshold(&h, rule, 255, 1);
        assert_true(even > 0.97 && even <= 1);
        const float far = 4;
        histogram_add(&h, &far, 1);
        const double cut = histogram_threshold(&h, rule, 255, 4);
        assert_true(rule == RANGE_MIN_MAX ? cut == 4 : cut > 0.9 && cut < 3.9);
    }
    free(values);
}

/* The rule of least squared error against every threshold tried on the samples themselves. */
static void least_squares_are_found(void **state)
{
    (void)state;
    enum { COUNT = 50000, LEVELS = 127 };
    float *values = malloc(COUNT * sizeof *values);
    static histogram h;
    double most = 0, best = 0, least = INFINITY, chosen = 0;
    seed = 9;
    for (int i = 0; i < COUNT; i++) {
        values[i] = noise() * noise() * noise() * noise() * 8;
        most = fmax(most, fabs((double)values[i]));
    }
    histogram_add(&h, values, COUNT);
    const double found = histogram_threshold(&h, RANGE_MSE, LEVELS, most);
    for (int k = 1; k <= 101; k++) {
        const double t = k == 101 ? found : most * k / 100, step = t / LEVELS;
        double sum = 0;
        for (int i = 0; i < COUNT; i++) {
            const double x = (double)values[i];
            const double q = fmax(-LEVELS, fmin(nearbyint(x / step), LEVELS)) * step;
            sum += (x - q) * (x - q);
        }
        best = sum < least ? t : best;
        least = fmin(least, sum);
        chosen = sum;
    }
    assert_true(found < most);
    assert_true(chosen < 1.1 * least);
    free(values);
}

/* ---- both precisions in one model --------------------------------------------------------- */

/* Every layer INT8 or FP16 by chance. */
static void mix(compiler *c, const compiler_options *options)
{
    format_error error = {0};
    assert_true(compiler_set_precision(c, options, true, &error));
    for (unsigned i = 0; i < compiler_layer_count(c); i++) {
        const compiler_layer l = compiler_layer_at(c, i);
        if (!l.pinned && !compiler_pin(c, options, l.name, noise() > 0, &error))
            fail_msg("%s", error.text);
    }
}

/* The judge, the host, its plain instructions and model310, whatever mix of precisions. */
static void mixed_models_are_one_everywhere(void **state)
{
    (void)state;
    const compiler_options options = {
        .int8 = true, .has_output_type = true, .output_type = MONA_F16};
    onnx_builder *(*const nets[])(void) = {residual_net, packed_net, small_net};
    for (int n = 0; n < 3; n++)
        for (int mixture = 0; mixture < 8; mixture++) {
            seed = 3;
            compiler *c = open_good(nets[n]());
            reference_array in[MONA_MAX_IO], expected[MONA_MAX_IO], found[MONA_MAX_IO],
                again[MONA_MAX_IO];
            format_error error = {0};
            uint8_t *bytes;
            size_t size;
            seed = 100 + (uint32_t)mixture;
            make_inputs(c, 20, 28, in);
            if (n == 1)
                for (int k = 1; k < 3; k++) {
                    free(in[k].data);
                    in[k] = image(1, 10, 14);
                }
            assert_true(compiler_calibrate(c, in, &error));
            mix(c, &options);
            emit(c, &options, &bytes, &size);
            run_reference(c, in, expected);
            run_engine(bytes, size, in, found);
            for (unsigned i = 0; i < compiler_output_count(c); i++) {
                double most = 0;
                for (size_t k = 0;
                     k < (size_t)expected[i].channels * expected[i].height * expected[i].width; k++)
                    most = fmax(most, fabs((double)expected[i].data[k]));
                assert_true(largest_difference(&expected[i], &found[i]) < 0.04 * most);
            }
            static const mona_config others[] = {{.cpu = "instructions", .threads = 1}, {0}};
            for (int o = 0; o < 2; o++) {
                mona_config config = others[o];
                config.device = mona_device_find(o ? "model310" : "host");
                run_engine_as(bytes, size, &config, in, again);
                for (unsigned i = 0; i < compiler_output_count(c); i++)
                    assert_true(largest_difference(&found[i], &again[i]) == 0);
                free_arrays(again, compiler_output_count(c));
            }
            free(bytes);
            free_arrays(in, compiler_input_count(c));
            free_arrays(expected, compiler_output_count(c));
            free_arrays(found, compiler_output_count(c));
            compiler_close(c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histograms_do_not_care_for_order),
        cmocka_unit_test(zeros_and_nothing_have_no_threshold),
        cmocka_unit_test(rules_cut_what_is_rare),
        cmocka_unit_test(least_squares_are_found),
        cmocka_unit_test(mixed_models_are_one_everywhere),
    };
    return cmocka_run_group_tests_name("precision", tests, NULL, NULL);
}
