// SPDX-License-Identifier: Apache-2.0
/* How calibration finds ranges, and FP16 and INT8 in the same model. */
#include "tests/unit/compiler_check.h"

#include "formats/compiler/quantize/observation.h"
#include "tests/unit/modelled_check.h"

/* ---- histograms --------------------------------------------------------------------------- */

/* The counts depend neither on the order of samples nor on how they are split. */
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

/* All rules keep a uniform distribution almost completely, and all but the first cut distant
 * outliers. */
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

/* The rule of least squared error, compared with every threshold tried on the samples
 * themselves. */
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
        const double t = k == 101 ? found : most * k / 100, scale = t / LEVELS;
        double sum = 0;
        for (int i = 0; i < COUNT; i++) {
            const double x = (double)values[i];
            const double q = fmax(-LEVELS, fmin(nearbyint(x / scale), LEVELS)) * scale;
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

/* Makes every layer INT8 or FP16 at random. */
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

/* The judge, the host, plain C and model310 agree for any mix of precisions. */
static void mixed_models_are_one_everywhere(void **state)
{
    (void)state;
    const compiler_options options = {.int8 = true, .output_type = MONA_F16};
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
            static const mona_config others[] = {{.cpu = "c", .threads = 1}, {0}};
            for (int o = 0; o < 2; o++) {
                mona_config config = others[o];
                config.device = o ? &mona_device_model310 : &mona_device_host;
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

/* ---- layers ------------------------------------------------------------------------------- */

static void a_pin_names_a_layer(void **state)
{
    (void)state;
    const compiler_options options = {.int8 = true};
    compiler *c = open_good(residual_net());
    format_error error = {0};
    assert_true(compiler_set_precision(c, &options, true, &error));
    assert_int_equal(compiler_layer_count(c), 3);
    const char *name = compiler_layer_at(c, 1).name;
    assert_true(compiler_pin(c, &options, name, false, &error));
    assert_true(compiler_layer_at(c, 1).pinned);
    assert_false(compiler_layer_at(c, 1).int8);
    assert_true(compiler_layer_at(c, 0).int8);
    assert_true(compiler_set_precision(c, &options, true, &error));
    assert_false(compiler_layer_at(c, 1).int8); /* pinned */
    assert_true(compiler_pin(c, &options, name, false, &error));
    assert_false(compiler_pin(c, &options, name, true, &error)); /* against the first */
    error = (format_error){0};
    assert_false(compiler_pin(c, &options, "nothing like it", true, &error));
    for (unsigned i = 0; i < 3; i++) /* all of them, since they are few */
        assert_non_null(strstr(error.text, compiler_layer_at(c, i).name));
    compiler_close(c);
}

/* Two layers read the same value: pins that contradict each other are refused, and the error names
 * both. */
static void layers_of_one_value_share_their_precision(void **state)
{
    (void)state;
    const compiler_options options = {.int8 = true};
    seed = 4;
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 2, 0, 0);
    add_conv(b, "x", "left", 2, 4);
    add_conv(b, "x", "right", 2, 4);
    ob_node(b, "Add", "left right", "y");
    ob_output(b, "y");
    compiler *c = open_good(b);
    format_error error = {0};
    assert_true(compiler_set_precision(c, &options, true, &error));
    assert_true(compiler_pin(c, &options, "left", false, &error));
    assert_false(compiler_layer_at(c, 1).int8);
    assert_false(compiler_pin(c, &options, "right", true, &error));
    assert_non_null(strstr(error.text, "left"));
    assert_non_null(strstr(error.text, "right"));
    compiler_close(c);
}

/* Four layers. INT8 does not suit the second: one channel of its input is a thousand times as large
 * as the others, which matter as much. */
static onnx_builder *uneven_net(void)
{
    seed = 8;
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 3, 0, 0);
    add_conv(b, "x", "first", 3, 8);
    ob_node(b, "Relu", "first", "r1");
    float *weights = b->constants[0]->float_data;
    for (int i = 0; i < 27; i++)
        weights[i] *= 1000;
    add_conv(b, "r1", "uneven", 8, 8);
    for (size_t i = 0; i < 8 * 8; i++)
        for (int k = 0; k < 9 && i % 8 == 0; k++)
            b->constants[2]->float_data[i * 9 + k] *= 0.001f;
    ob_node(b, "Relu", "uneven", "r2");
    add_conv(b, "r2", "third", 8, 8);
    ob_node(b, "Relu", "third", "r3");
    add_conv(b, "r3", "last", 8, 4);
    ob_output(b, "last");
    return b;
}

typedef struct sample {
    const compiler *c;
    reference_array in, expected;
    unsigned asked;
} sample;

/* The noise of the outputs as a loss in dB, for a network that is 40 dB from the truth. */
static bool judge_sample(void *context, const uint8_t *bytes, size_t size, bool quick,
                         compiler_loss *loss, format_error *error)
{
    sample *s = context;
    reference_array found;
    double squares = 0, errors = 0;
    (void)quick, (void)error;
    run_engine(bytes, size, &s->in, &found);
    for (size_t i = 0; i < (size_t)found.channels * found.height * found.width; i++) {
        const double e = (double)s->expected.data[i], d = (double)found.data[i] - e;
        squares += e * e;
        errors += d * d;
    }
    free(found.data);
    s->asked++;
    *loss = (compiler_loss){10 * log10(1 + errors / squares * 1e4), errors / squares};
    return true;
}

static void open_sample(sample *s, compiler *c)
{
    format_error error = {0};
    *s = (sample){.c = c};
    make_inputs(c, 24, 24, &s->in);
    run_reference(c, &s->in, &s->expected);
    assert_true(compiler_calibrate(c, &s->in, &error));
}

static void close_sample(sample *s)
{
    free(s->in.data);
    free(s->expected.data);
}

static const compiler_options mixed = {.int8 = true, .output_type = MONA_F16};

static void the_search_finds_the_layer_that_suffers(void **state)
{
    (void)state;
    static const char *const targets[] = {"host", "ascend310"};
    for (int t = 0; t < 2; t++) {
        compiler *c = open_good(uneven_net());
        sample s;
        compiler_choice choice;
        format_error error = {0};
        uint8_t *bytes, *again;
        size_t size, size_again;
        open_sample(&s, c);
        const compiler_judge judge = {judge_sample, &s};
        assert_true(compiler_measure_layers(c, &mixed, &s.in, &error));
        if (!compiler_choose(c, &mixed, targets[t], 1, &judge, &choice, &error))
            fail_msg("%s", error.text);
        assert_int_equal(choice.trials, s.asked);
        assert_true(choice.int8.drop > 1 && choice.fp16.drop < 0.1);
        assert_true(choice.chosen.drop <= 1);
        assert_true(choice.int8_cost < choice.chosen_cost && choice.chosen_cost < choice.fp16_cost);
        double worst = INFINITY, most = 0;
        for (unsigned i = 0; i < 4; i++) {
            const compiler_layer l = compiler_layer_at(c, i);
            assert_true(l.int8 == (strcmp(l.name, "uneven") && l.int8_cost < l.fp16_cost));
            assert_true(l.int8 || i < 2); /* 3 channels gain nothing on the 310 */
            assert_true(l.cosine > 0 && l.cosine <= 1);
            assert_true(l.saturated == 0);
            worst = strcmp(l.name, "uneven") ? fmin(worst, l.sqnr) : worst;
            most = l.int8 ? fmax(most, l.drop) : most;
        }
        assert_true(compiler_layer_at(c, 1).sqnr < worst);
        assert_true(compiler_layer_at(c, 1).drop > most);
        /* The model that was judged is written, and doing everything again gives the same. */
        emit(c, &mixed, &bytes, &size);
        compiler_loss loss;
        judge_sample(&s, bytes, size, false, &loss, &error);
        assert_true(loss.drop == choice.chosen.drop);
        assert_true(compiler_choose(c, &mixed, targets[t], 1, &judge, &choice, &error));
        emit(c, &mixed, &again, &size_again);
        assert_int_equal(size, size_again);
        assert_memory_equal(bytes, again, size);
        free(bytes);
        free(again);
        close_sample(&s);
        compiler_close(c);
    }
}

/* A chain of 40 small layers and a large one, the last. */
static onnx_builder *long_net(void)
{
    char before[8] = "x", name[8];
    seed = 31;
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 4, 0, 0);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "n%d", i);
        add_conv(b, before, name, 4, i == 39 ? 32 : 4);
        memcpy(before, name, sizeof name);
    }
    add_conv(b, name, "large", 32, 32);
    ob_output(b, "large");
    return b;
}

/* Only the large layer loses anything by INT8. FP16 is not exact either. */
static bool judge_large(void *context, const uint8_t *bytes, size_t size, bool quick,
                        compiler_loss *loss, format_error *error)
{
    const compiler *c = context;
    const bool int8 = compiler_layer_at(c, compiler_layer_count(c) - 1).int8;
    (void)bytes, (void)size, (void)quick, (void)error;
    *loss = (compiler_loss){int8, int8 ? 1.5 : 1};
    return true;
}

static void small_layers_do_not_pay_for_a_large_one(void **state)
{
    (void)state;
    compiler *c = open_good(long_net());
    sample s;
    compiler_choice choice;
    format_error error = {0};
    open_sample(&s, c);
    const compiler_judge judge = {judge_large, c};
    assert_true(compiler_choose(c, &mixed, "host", 0.5, &judge, &choice, &error));
    for (unsigned i = 0; i < compiler_layer_count(c); i++)
        assert_int_equal(compiler_layer_at(c, i).int8, i + 1 < compiler_layer_count(c));
    close_sample(&s);
    compiler_close(c);
}

/* All INT8 if any loss is allowed, and refused if none is. */
static void budgets_at_both_ends(void **state)
{
    (void)state;
    compiler *c = open_good(uneven_net());
    sample s;
    compiler_choice choice;
    format_error error = {0};
    open_sample(&s, c);
    const compiler_judge judge = {judge_sample, &s};
    assert_true(compiler_choose(c, &mixed, "host", 100, &judge, &choice, &error));
    for (unsigned i = 0; i < 4; i++)
        assert_true(compiler_layer_at(c, i).int8);
    assert_true(choice.chosen_cost == choice.int8_cost);
    assert_true(compiler_pin(c, &mixed, "third", false, &error));
    assert_true(compiler_choose(c, &mixed, "host", 100, &judge, &choice, &error));
    assert_false(compiler_layer_at(c, 2).int8);
    assert_true(compiler_layer_at(c, 3).int8);
    assert_false(compiler_choose(c, &mixed, "host", 0, &judge, &choice, &error));
    assert_non_null(strstr(error.text, "no plan"));
    error = (format_error){0};
    assert_false(compiler_choose(c, &mixed, "abacus", 1, &judge, &choice, &error));
    assert_non_null(strstr(error.text, "abacus"));
    close_sample(&s);
    compiler_close(c);
}

/* Numbers beyond fp16 between the second and the third layer: FP16 is refused with the layer's
 * name, and auto keeps those two in INT8. */
static void what_fp16_does_not_hold_stays_int8(void **state)
{
    (void)state;
    seed = 12;
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 3, 0, 0);
    add_conv(b, "x", "first", 3, 8);
    ob_node(b, "Relu", "first", "r1");
    add_conv(b, "r1", "second", 8, 8);
    for (int i = 0; i < 8 * 8 * 9; i++)
        b->constants[2]->float_data[i] *= 1e6f;
    ob_node(b, "Relu", "second", "r2");
    add_conv(b, "r2", "third", 8, 8);
    for (int i = 0; i < 8 * 8 * 9; i++)
        b->constants[4]->float_data[i] *= 1e-6f;
    ob_node(b, "Relu", "third", "r3");
    add_conv(b, "r3", "last", 8, 4);
    ob_output(b, "last");
    compiler *c = open_good(b);
    sample s;
    compiler_choice choice;
    format_error error = {0};
    uint8_t *bytes;
    size_t size;
    open_sample(&s, c);
    assert_false(compiler_emit(c, &half_planes, &bytes, &size, &error));
    assert_non_null(strstr(error.text, "second"));
    assert_non_null(strstr(error.text, "65504"));
    const compiler_judge judge = {judge_sample, &s};
    error = (format_error){0};
    if (!compiler_choose(c, &mixed, "host", 0.7, &judge, &choice, &error))
        fail_msg("%s", error.text);
    assert_true(compiler_layer_at(c, 1).int8);
    assert_true(compiler_layer_at(c, 2).int8);
    close_sample(&s);
    compiler_close(c);
}

/* A 1x1 convolution of random weights; side 0: of any size. */
static compiler *open_pointwise(uint32_t inputs, uint32_t outputs, uint32_t side)
{
    char shape[32];
    snprintf(shape, sizeof shape, "%u %u 1 1", outputs, inputs);
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", inputs, side, side);
    ob_constant(b, "w", shape, noises(b, inputs * outputs, 1));
    ob_node(b, "Conv", "x w", "y");
    ob_output(b, "y");
    return open_good(b);
}

/* The mean error of each output of a 1x1 convolution whose weights all round in the same direction,
 * with and without correction. */
static void corrected_biases_keep_the_mean(void **state)
{
    (void)state;
    enum { INPUTS = 40, OUTPUTS = 4, SIDE = 16 };
    seed = 21;
    compiler *c = open_pointwise(INPUTS, OUTPUTS, 0);
    sample s;
    uint8_t *bytes;
    size_t size;
    double worst[2] = {0};
    open_sample(&s, c);
    for (int correct = 0; correct < 2; correct++) {
        compiler_options options = mixed;
        reference_array found;
        options.correct_bias = correct;
        emit(c, &options, &bytes, &size);
        run_engine(bytes, size, &s.in, &found);
        for (size_t o = 0, plane = found.height * found.width; o < OUTPUTS; o++) {
            double sum = 0;
            for (size_t i = o * plane; i < (o + 1) * plane; i++)
                sum += (double)found.data[i] - (double)s.expected.data[i];
            worst[correct] = fmax(worst[correct], fabs(sum / (double)plane));
        }
        free(bytes);
        free(found.data);
    }
    assert_true(worst[1] < 0.5 * worst[0]);
    close_sample(&s);
    compiler_close(c);
}

/* Two convolutions with channels of very different ranges in between, as in networks with few
 * weights per channel: with equalisation, INT8 loses far less, and the fp32 result does not
 * change. */
static void equalised_channels_lose_less(void **state)
{
    (void)state;
    double noise_of[2];
    for (int equalise = 0; equalise < 2; equalise++) {
        compiler *c = open_good(uneven_net());
        sample s;
        compiler_loss loss;
        reference_array again;
        format_error error = {0};
        uint8_t *bytes;
        size_t size;
        unsigned pairs = 0;
        open_sample(&s, c);
        if (equalise) {
            assert_true(compiler_equalise(c, &mixed, &pairs, &error));
            assert_int_equal(pairs, 3);
            uint8_t *none;
            assert_false(compiler_emit(c, &mixed, &none, &size, &error)); /* not calibrated */
            error = (format_error){0};
            assert_true(compiler_calibrate(c, &s.in, &error));
            run_reference(c, &s.in, &again);
            assert_true(largest_difference(&again, &s.expected) < 1e-5);
            free(again.data);
        }
        emit(c, &mixed, &bytes, &size);
        assert_true(judge_sample(&s, bytes, size, false, &loss, &error));
        noise_of[equalise] = loss.noise;
        free(bytes);
        close_sample(&s);
        compiler_close(c);
    }
    print_message("# noise %g, equalised %g\n", noise_of[0], noise_of[1]);
    assert_true(noise_of[1] < 0.1 * noise_of[0]);
}

/* An image whose channels are all the same but for their own part; or every other one is the
 * opposite. */
static reference_array channels_alike(uint32_t channels, float own, bool opposite)
{
    enum { SIDE = 16 };
    reference_array a = image(channels, SIDE, SIDE);
    for (size_t i = 0; i < (size_t)channels * SIDE * SIDE; i++) {
        const float common = a.data[i % (SIDE * SIDE)];
        const float all = opposite && i / (SIDE * SIDE) % 2 ? 1 - common : common;
        a.data[i] = nearbyintf((all * (1 - own) + a.data[i] * own) * 255) / 255;
    }
    return a;
}

/* The noise of a 1x1 convolution in INT8 on an image like the one that was held out when rounding
 * was learnt from others. */
static double noise_when_learnt(bool learn, float own, bool opposite)
{
    enum { INPUTS = 40, OUTPUTS = 8 };
    seed = 77;
    compiler *c = open_pointwise(INPUTS, OUTPUTS, 16);
    compiler_loss loss;
    format_error error = {0};
    uint8_t *bytes;
    size_t size;
    sample s;
    open_sample(&s, c);
    for (int i = 0; i < 4; i++) {
        reference_array x = channels_alike(INPUTS, own, opposite && i == 3);
        assert_true(compiler_calibrate(c, &x, &error));
        if (learn)
            assert_true(compiler_learn(c, &mixed, &x, i == 3, &error));
        free(x.data);
    }
    assert_true(compiler_learn_rounding(c, &mixed, &error));
    close_sample(&s);
    s.in = channels_alike(INPUTS, own, opposite);
    run_reference(c, &s.in, &s.expected);
    emit(c, &mixed, &bytes, &size);
    assert_true(judge_sample(&s, bytes, size, false, &loss, &error));
    free(bytes);
    close_sample(&s);
    compiler_close(c);
    return loss.noise;
}

/* Roundings that cancel each other are found, and refused if they do not in images that were held
 * out. */
static void rounding_is_learnt(void **state)
{
    (void)state;
    for (int opposite = 0; opposite < 2; opposite++) {
        const float own = opposite ? 0 : 0.06f;
        const double before = noise_when_learnt(false, own, opposite);
        const double after = noise_when_learnt(true, own, opposite);
        print_message("# noise %g, learnt %g\n", before, after);
        assert_true(after < (opposite ? 0.3 : 0.02) * before); /* 0.35 if none is refused */
    }
}

/* The cycles of every layer on model310, summed over all cores. */
static void modelled_cycles(compiler *c, const compiler_options *options, const reference_array *in,
                            double *cycles)
{
    uint8_t *bytes;
    size_t size;
    mona_model model;
    session_binding bound;
    pipeline_error error = {0};
    mona_op_info op;
    emit(c, options, &bytes, &size);
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    const mona_config config = {.device = &mona_device_model310,
                                .sizes = {{in->width, in->height}}};
    if (!session_binding_open(&bound, &model, "test", &config, &error))
        fail_msg("%s", error.text);
    const mona_tensor_info from = mona_plan_input(bound.plan, 0),
                           to = mona_plan_output(bound.plan, 0);
    mona_buffer x = make_buffer(&from), y = make_buffer(&to);
    assert_int_equal(mona_session_run(bound.session, &x, &y), MONA_OK);
    assert_nothing_found(bound.session);
    for (unsigned i = 0; i < compiler_layer_count(c); i++) {
        cycles[i] = 0;
        for (unsigned o = 0; mona_plan_op_at(bound.plan, o, &op); o++)
            for (unsigned core = 0; core < mona_plan_threads(bound.plan); core++)
                if (!strcmp(op.name, compiler_layer_at(c, i).name))
                    cycles[i] += mona_session_modelled_op(bound.session, core, o)->cycles;
    }
    free(x.data);
    free(y.data);
    free(bytes);
    session_binding_close(&bound);
}

/* Chooses for the chip, then runs all layers of FP16 and of INT8 on model310. */
static void costs_and_cycles(compiler *c, double *half, double *int8)
{
    reference_array in = image(1, 64, 480);
    format_error error = {0};
    compiler_choice choice;
    sample s = {.c = c, .in = in};
    run_reference(c, &in, &s.expected);
    assert_true(compiler_calibrate(c, &in, &error));
    const compiler_judge judge = {judge_sample, &s};
    assert_true(compiler_choose(c, &mixed, "ascend310", 100, &judge, &choice, &error));
    assert_true(compiler_set_precision(c, &mixed, false, &error));
    modelled_cycles(c, &mixed, &in, half);
    assert_true(compiler_set_precision(c, &mixed, true, &error));
    modelled_cycles(c, &mixed, &in, int8);
    close_sample(&s);
}

/* The gain of INT8 according to the costs, compared with model310. */
static void costs_follow_the_modelled_chip(void **state)
{
    (void)state;
    enum { LAYERS = 5 };
    static const int channels[LAYERS + 1] = {1, 16, 16, 32, 32, 4};
    seed = 17;
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 1, 0, 0);
    char from[16] = "x", to[16], made[16];
    for (int i = 0; i < LAYERS; i++) {
        snprintf(made, sizeof made, "conv%d", i);
        snprintf(to, sizeof to, "relu%d", i);
        add_conv(b, from, made, channels[i], channels[i + 1]);
        ob_node(b, "Relu", made, to);
        strcpy(from, to);
    }
    ob_output(b, from);
    compiler *c = open_good(b);
    double half[LAYERS], int8[LAYERS];
    costs_and_cycles(c, half, int8);
    for (unsigned i = 0; i < LAYERS; i++) {
        const compiler_layer l = compiler_layer_at(c, i);
        const double said = l.fp16_cost / l.int8_cost, modelled = half[i] / int8[i];
        print_message("# %s, %d to %d channels: INT8 gains %.2f, modelled %.2f\n", l.name,
                      channels[i], channels[i + 1], said, modelled);
        assert_true(said / modelled > 0.7 && said / modelled < 1.4);
    }
    compiler_close(c);
}

/* A function of ONNX. */
typedef struct onnx_function {
    const char *op, *attribute, *value;
    bool times; /* its result is multiplied by its argument */
} onnx_function;

/* The cycles of a convolution of 1 to `channels` channels with a function on model310, as FP16 and
 * as INT8, and what the compiler takes the function for. */
static void cycles_of_function(const onnx_function *f, int channels, double cycles[2],
                               double said[2])
{
    enum { LAYERS = 2 };
    double half[LAYERS], int8[LAYERS];
    onnx_builder *b = ob_new(20);
    seed = 19;
    ob_input(b, "x", 1, 0, 0);
    add_conv(b, "x", "conv0", 1, channels);
    Onnx__NodeProto *node = ob_node(b, f->op, "conv0", f->times ? "gate" : "made");
    if (f->attribute)
        ob_string(b, node, f->attribute, f->value);
    if (f->times)
        ob_node(b, "Mul", "conv0 gate", "made");
    add_conv(b, "made", "conv1", channels, 4);
    ob_output(b, "conv1");
    compiler *c = open_good(b);
    costs_and_cycles(c, half, int8);
    const compiler_layer l = compiler_layer_at(c, 1);
    cycles[0] = half[0], cycles[1] = int8[0];
    said[0] = l.fp16_cost, said[1] = l.int8_cost;
    compiler_close(c);
}

/* What a function costs beyond ReLU. A table of INT8 takes one to three polynomials. */
static void costs_of_functions_follow_it(void **state)
{
    static const onnx_function functions[] = {
        {"HardSwish", NULL, NULL, false},
        {"Sigmoid", NULL, NULL, false},
        {"Sigmoid", NULL, NULL, true},
        {"Tanh", NULL, NULL, false},
        {"Elu", NULL, NULL, false},
        {"Softplus", NULL, NULL, false},
        {"Mish", NULL, NULL, false},
        {"Gelu", "approximate", "none", false},
        {"Gelu", "approximate", "tanh", false},
    };
    static const onnx_function relu = {"Relu", NULL, NULL, false};
    (void)state;
    for (int channels = 16; channels <= 64; channels += 16) {
        double plain[2], with[2], none[2], said[2];
        cycles_of_function(&relu, channels, plain, none);
        for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
            cycles_of_function(&functions[f], channels, with, said);
            for (int int8 = 0; int8 < 2; int8++) {
                const double ratio = (said[int8] - none[int8]) / (with[int8] - plain[int8]);
                print_message("# %s%s, %d channels, %s: %.2f of what is modelled\n",
                              functions[f].op, functions[f].times ? " times its argument" : "",
                              channels, int8 ? "INT8" : "FP16", ratio);
                assert_true(int8 ? ratio > 0.6 && ratio < 1.6 : ratio > 0.8 && ratio < 1.25);
            }
        }
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
        cmocka_unit_test(a_pin_names_a_layer),
        cmocka_unit_test(layers_of_one_value_share_their_precision),
        cmocka_unit_test(the_search_finds_the_layer_that_suffers),
        cmocka_unit_test(small_layers_do_not_pay_for_a_large_one),
        cmocka_unit_test(budgets_at_both_ends),
        cmocka_unit_test(what_fp16_does_not_hold_stays_int8),
        cmocka_unit_test(corrected_biases_keep_the_mean),
        cmocka_unit_test(equalised_channels_lose_less),
        cmocka_unit_test(rounding_is_learnt),
        cmocka_unit_test(costs_follow_the_modelled_chip),
        cmocka_unit_test(costs_of_functions_follow_it),
    };
    return cmocka_run_group_tests_name("precision", tests, NULL, NULL);
}
