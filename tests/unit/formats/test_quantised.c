// SPDX-License-Identifier: Apache-2.0
/* Quantised models become INT8 layers with their own scales: every kind of layer compared with the
 * reference executor, which follows ONNX's definitions, and whole networks. */
#include "tests/unit/compiler_check.h"
#include "formats/reference/execute.h"
#include "tests/unit/modelled_check.h"
#include "tests/unit/quantised_nets.h"

enum { SIDE = 20 };

/* Input planes of a type, outputs in fp16. */
static compiler_options to_half_from(mona_type input)
{
    return (compiler_options){.input_type = input, .output_type = MONA_F16};
}

/* The result of ONNX's own operators, run one by one. */
static tensor judge(const onnx_builder *b, const reference_array *x)
{
    size_t size;
    uint8_t *bytes = ob_pack(b, &size);
    onnx_graph g;
    format_error error = {0};
    tensor in, out;
    const int64_t dims[4] = {1, x->channels, x->height, x->width};
    assert_true(onnx_graph_read(&g, bytes, size, NULL, &error));
    assert_true(tensor_make(&in, ELEMENT_FLOAT32, 4, dims));
    memcpy(in.data, x->data, tensor_bytes(&in));
    if (!reference_execute(&g, &in, &out, NULL, &error))
        fail_msg("%s", error.text);
    tensor_free(&in);
    onnx_graph_free(&g);
    free(bytes);
    return out;
}

/* How far the engine's result is from that. */
typedef struct outcome {
    double most;    /* in steps; fp16 numbers are off by up to an eighth */
    double changed; /* share of the numbers that are off by a step or more */
    double shift;   /* mean of all differences, in whole steps */
    unsigned int8, convs;
} outcome;

/* Noise in [-1, 1). */
static reference_array noisy(uint32_t side)
{
    reference_array x = image(3, side, side);
    for (size_t i = 0; i < (size_t)3 * side * side; i++)
        x.data[i] = noise();
    return x;
}

static void count_layers(const uint8_t *bytes, size_t size, outcome *o)
{
    mona_model model;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    for (uint32_t i = 0; i < model.header->op_count; i++) {
        const mona_file_op *op = &model.ops[i];
        o->convs += op->kind == MONA_OP_CONV;
        o->int8 += op->kind == MONA_OP_CONV && model.tensors[op->inputs[0]].type != MONA_F16;
    }
}

/* The last outcome that the compiler logged, and why an operator is separate. */
static char told[160], why_not[160];
static unsigned told_steps;

static void take_log(const compiler *c)
{
    const fusion_log *log = compiler_log(c);
    told[0] = why_not[0] = 0;
    for (size_t i = 0; i < log->count; i++) {
        const fusion_event *e = &log->events[i];
        if (e->outcome) {
            snprintf(told, sizeof told, "%s", e->outcome);
            told_steps = e->steps;
        }
        if (e->rule == FUSION_QUANTISED && e->why_not)
            snprintf(why_not, sizeof why_not, "%s: %s", e->op_type, e->why_not);
    }
}

/* Rules that the options switch off are off from the beginning. */
static compiler *open_with(onnx_builder *b, const compiler_options *options)
{
    size_t size;
    uint8_t *bytes = ob_pack(b, &size);
    onnx_graph g;
    format_error error = {0};
    assert_true(onnx_graph_read(&g, bytes, size, NULL, &error));
    compiler *c = compiler_open_graph(&g, &options->fusion, &error);
    if (!c)
        fail_msg("%s", error.text);
    onnx_graph_free(&g);
    free(bytes);
    ob_free(b);
    return c;
}

static outcome run(onnx_builder *b, const compiler_options *options, float scale)
{
    seed = 11;
    outcome o = {0};
    const reference_array x = noisy(SIDE);
    tensor expected = judge(b, &x);
    compiler *c = open_with(b, options);
    reference_array found[1], modelled[1];
    uint8_t *bytes;
    size_t size;
    emit(c, options, &bytes, &size);
    count_layers(bytes, size, &o);
    take_log(c);
    run_engine(bytes, size, &x, found);
    const mona_config model310 = {.threads = 1, .device = &mona_device_model310};
    run_engine_as(bytes, size, &model310, &x, modelled);
    const size_t count = (size_t)found->channels * found->height * found->width;
    assert_int_equal(count, expected.count);
    assert_memory_equal(found->data, modelled->data, count * sizeof(float));
    size_t changed = 0;
    for (size_t i = 0; i < count; i++) {
        const double far = ((double)found->data[i] - tensor_number(&expected, i)) / (double)scale;
        o.most = fmax(o.most, fabs(far));
        o.shift += nearbyint(far) / (double)count;
        changed += fabs(far) > 0.5;
    }
    o.changed = (double)changed / (double)count;
    free(bytes);
    free(x.data);
    free_arrays(found, 1);
    free_arrays(modelled, 1);
    tensor_free(&expected);
    compiler_close(c);
    return o;
}

/* ---- single layers ------------------------------------------------------------------------ */

typedef struct layer_case {
    const char *name;
    quantisation in, out;
    int channels, side, groups; /* of the convolution */
    int lowest;                 /* the first weight of every output; 0: random */
    bool relu, sum, pool, average, dense, per_tensor;
    unsigned int8; /* convolutions that read 8 bits */
} layer_case;

static onnx_builder *layer_net(const layer_case *l)
{
    qmap x;
    qnet n = qnet_begin(&x, SIDE);
    n.dense = l->dense;
    n.per_tensor = l->per_tensor;
    n.lowest = l->lowest;
    x = qnet_quantise(&n, x, l->in);
    const qmap skip = x;
    if (l->side)
        x = qnet_conv(&n, x, l->channels, l->side, l->groups, l->out);
    if (l->sum)
        x = qnet_add(&n, x, skip);
    if (l->relu)
        x = qnet_one(&n, "Relu", x);
    if (l->pool)
        x = qnet_max_pool(&n, x);
    if (l->average)
        x = qnet_one(&n, "GlobalAveragePool", x);
    x = l->dense ? qnet_dequantise(&n, x) : qnet_quantise(&n, x, l->out);
    return qnet_end(&n, x);
}

/* How often a layer may round the other way. Sums with a zero point lie at up to 255, where fp16
 * has steps of an eighth, others at half of that or less. */
static double rarely(quantisation out)
{
    return !out.is_signed && out.zero && out.zero != 128 ? 0.08 : 0.05;
}

/* For the same numbers, a layer gives the model's result, or one step beside it where fp16 scales
 * make it round the other way: never more, and rarely. */
static void every_layer_is_within_one_step(void **state)
{
    (void)state;
    const layer_case cases[] = {
        {"s8 to u8", qnet_image, qnet_u8, 24, 3, 1, .relu = true, .int8 = 2},
        {"s8 to s8", qnet_image, qnet_s8, 24, 3, 1, .int8 = 2},
        {"one scale", qnet_image, qnet_s8, 24, 3, 1, .per_tensor = true, .int8 = 2},
        {"a channel each", qnet_image, qnet_s8, 6, 3, 3, .int8 = 2},
        {"a sum", qnet_image, qnet_s8, 3, 3, 1, .sum = true, .int8 = 2},
        {"a sum and Relu", qnet_image, qnet_u8, 3, 3, 1, .sum = true, .relu = true, .int8 = 2},
        {"a sum to a zero point", qnet_image, qnet_odd, 3, 3, 1, .sum = true, .int8 = 2},
        {"a sum from and to one",
         {2 / 255.f, 120, false},
         qnet_odd,
         3,
         3,
         1,
         .sum = true,
         .int8 = 3},
        {"u8 around 128", {1 / 127.f, 128, false}, qnet_s8, 24, 3, 1, .int8 = 2},
        {"to a zero point", qnet_image, qnet_odd, 24, 3, 1, .int8 = 2},
        {"from a zero point, unpadded", {2 / 255.f, 120, false}, qnet_s8, 24, 1, 1, .int8 = 2},
        {"from a zero point, padded", {2 / 255.f, 120, false}, qnet_s8, 24, 3, 1, .int8 = 2},
        {"weights of -128", qnet_image, qnet_s8, 24, 3, 1, .lowest = -128, .int8 = 2},
        {"-128 and a fine result",
         qnet_image,
         {0.2f / 127, 0, true},
         3,
         1,
         1,
         .lowest = -128,
         .int8 = 2},
        {"pooled", qnet_image, qnet_s8, 24, 3, 1, .pool = true, .int8 = 2},
        {"mean", qnet_image, {1 / 127.f, 0, true}, .average = true, .int8 = 1},
        {"QLinearConv", qnet_image, qnet_u8, 24, 3, 1, .dense = true, .int8 = 2},
        {"QLinearConv to s8 from -128",
         qnet_image,
         {3 / 255.f, -128, true},
         24,
         3,
         1,
         .dense = true,
         .int8 = 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const layer_case *l = &cases[i];
        const compiler_options options =
            to_half_from(l->in.zero == 0 || l->in.zero == 128 ? MONA_S8 : MONA_F16);
        const outcome o = run(layer_net(l), &options, l->out.scale);
        print_message("%-28s %u of %u INT8, %.2f %% changed, at most %.3f steps\n", l->name, o.int8,
                      o.convs, 100 * o.changed, o.most);
        assert_true(o.most < 1.125);
        assert_true(o.changed < rarely(l->out));
        assert_int_equal(o.int8, l->int8);
        assert_memory_equal(told, "within one step: ", 17);
        assert_int_equal(told_steps, 1);
    }
}

/* With steps that are powers of two, fp16 has nothing to round. */
static void coarse_scales_are_exact(void **state)
{
    (void)state;
    const compiler_options options = to_half_from(MONA_S8);
    qmap x;
    qnet n = qnet_begin(&x, SIDE);
    n.coarse = true;
    x = qnet_quantise(&n, x, (quantisation){0x1p-6f, 0, true});
    x = qnet_one(&n, "Relu", qnet_conv(&n, x, 24, 3, 1, qnet_s8));
    x = qnet_quantise(&n, x, (quantisation){0x1p-6f, 0, false});
    const outcome o = run(qnet_end(&n, x), &options, 0x1p-6f);
    assert_string_equal(told, "bit-exact");
    assert_int_equal(told_steps, 0);
    assert_true(o.most == 0);
    assert_int_equal(o.int8, 2);
}

/* A function of a number of 8 bits is a table of all its results, however far they reach. `most`:
 * how many steps off it is told to be, which is how far apart neighbours are. */
static void functions_are_tables_of_their_results(void **state)
{
    (void)state;
    static const struct {
        const char *function;
        quantisation in, out;
        unsigned most;
    } cases[] = {{"Softplus", {0x1p-3f, 0, true}, {0x1p-3f, 0, true}, 1},
                 {"Elu", {0x1p-3f, 0, true}, {0x1p-3f, 0, true}, 1},
                 {"Softplus", {1, 0, true}, {1, 0, true}, 1},
                 {"Elu", {1, 0, true}, {1, 0, true}, 1},
                 {"Sigmoid", {0x1p-9f, 0, true}, {0x1p-9f, 0, false}, 1},
                 {"Softplus", {0x1p-3f, 0, true}, {0x1p-8f, 0, false}, 19}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const float range = 127 * cases[i].in.scale;
        qmap x;
        qnet n = qnet_begin(&x, SIDE);
        ob_constant(n.b, "range", "", &range);
        qnet_node(&n, "Mul", "x range", x.name);
        x = qnet_one(&n, cases[i].function, qnet_quantise(&n, x, cases[i].in));
        x = qnet_quantise(&n, x, cases[i].out);
        const outcome o = run(qnet_end(&n, x), &half_planes, cases[i].out.scale);
        print_message("%s to %g: at most %.3f steps; %s\n", cases[i].function, (double)range,
                      o.most, told);
        assert_int_equal(told_steps, cases[i].most);
        assert_true(o.most < 1.125);
    }
}

/* x times a function of x, both of 8 bits, from a convolution to a padded one. */
static onnx_builder *gate_net(const char *function, quantisation x_is, quantisation gate,
                              quantisation y, bool read_twice)
{
    char inputs[96];
    qmap x;
    qnet n = qnet_begin(&x, SIDE);
    x = qnet_quantise(&n, x, qnet_image);
    const qmap before = x = qnet_quantise(&n, qnet_conv(&n, x, 24, 3, 1, x_is), x_is);
    x = qnet_quantise(&n, qnet_one(&n, function, x), gate);
    snprintf(inputs, sizeof inputs, "%s %s", before.name, x.name);
    qnet_node(&n, "Mul", inputs, x.name);
    x = qnet_quantise(&n, x, y);
    if (read_twice)
        x = qnet_quantise(&n, qnet_add(&n, x, before), y);
    x = qnet_conv(&n, x, 8, 3, 1, qnet_s8);
    return qnet_end(&n, qnet_quantise(&n, x, qnet_s8));
}

/* Between two QuantizeLinear, what depends on one number of 8 bits becomes a table of the layer
 * that makes it; zero points stay in 8 bits, into the padding of the next layer. */
static void functions_of_one_number_are_tables(void **state)
{
    (void)state;
    static const quantisation share = {1 / 255.f, 0, false}, odd_share = {1 / 200.f, 31, false};
    static const struct {
        const char *name, *function;
        quantisation x, gate, y;
        bool read_twice;
    } cases[] = {{"SiLU", "Sigmoid", qnet_odd, share, {3 / 255.f, 23, false}, false},
                 {"of s8", "Sigmoid", qnet_s8, odd_share, {3 / 127.f, -100, true}, false},
                 {"HardSwish", "HardSigmoid", qnet_odd, share, {3 / 255.f, 40, false}, false},
                 {"also by itself", "Tanh", qnet_odd, odd_share, {5 / 255.f, 1, false}, true}};
    const compiler_options options = to_half_from(MONA_S8);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const outcome o = run(
            gate_net(cases[i].function, cases[i].x, cases[i].gate, cases[i].y, cases[i].read_twice),
            &options, qnet_s8.scale);
        print_message("%-16s %u of %u INT8, %.2f %% changed, at most %.3f steps\n", cases[i].name,
                      o.int8, o.convs, 100 * o.changed, o.most);
        assert_int_equal(o.convs, 3); /* two, of which one has the table, and the output's copy */
        assert_int_equal(o.int8, 3);
        assert_true(o.changed < 0.16); /* of two layers */
        assert_true(o.most < 1.125);
    }
}

/* Halves are rounded to the even number of steps from zero, wherever that is stored. What is a half
 * in fp32, as 3 * 0.025 / 0.03, need not be one in double. */
static void tables_round_halves_as_onnx_does(void **state)
{
    (void)state;
    static const struct {
        float x;
        quantisation y;
    } cases[] = {{0x1p-6f, {0x1p-5f, 31, false}},
                 {0x1p-6f, {0x1p-5f, 40, false}},
                 {0x1p-6f, {0x1p-5f, -77, true}},
                 {0.025f, {0.03f, 112, false}}};
    const compiler_options options = to_half_from(MONA_S8);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qmap x;
        qnet n = qnet_begin(&x, SIDE);
        x = qnet_one(&n, "Relu", qnet_quantise(&n, x, (quantisation){cases[i].x, 0, true}));
        const outcome o =
            run(qnet_end(&n, qnet_quantise(&n, x, cases[i].y)), &options, cases[i].y.scale);
        assert_true(o.most < 0.125);
    }
}

/* Channels that differ have no table in common, whatever clips their numbers afterwards. */
static void channels_that_differ_have_no_table(void **state)
{
    (void)state;
    const compiler_options options = to_half_from(MONA_S8);
    float gains[24];
    char inputs[64];
    qmap x;
    qnet n = qnet_begin(&x, SIDE);
    for (int c = 0; c < 24; c++)
        gains[c] = 0.25f + 0.05f * (float)c;
    ob_constant(n.b, "gains", "24 1 1", gains);
    x = qnet_quantise(&n, x, qnet_image);
    x = qnet_quantise(&n, qnet_conv(&n, x, 24, 3, 1, qnet_s8), qnet_s8);
    snprintf(inputs, sizeof inputs, "%s gains", x.name);
    qnet_node(&n, "Mul", inputs, x.name);
    x = qnet_quantise(&n, qnet_one(&n, "Relu", x), qnet_u8);
    const outcome o = run(qnet_end(&n, x), &options, qnet_u8.scale);
    print_message("%.2f %% changed, at most %.3f steps\n", 100 * o.changed, o.most);
    assert_true(o.changed < 0.05);
    assert_true(o.most < 2.8 + 1.125); /* 2.8: what a step of the product's argument makes of it */
}

static void refuse_pin(onnx_builder *b, bool int8, const char *why)
{
    const compiler_options options = to_half_from(MONA_S8);
    format_error error = {0};
    uint8_t *bytes;
    size_t size;
    compiler *c = open_with(b, &options);
    emit(c, &options, &bytes, &size);
    /* Behind the last convolution there is the copy that is the output. */
    const char *last = compiler_layer_at(c, compiler_layer_count(c) - 2).name;
    assert_false(compiler_pin(c, &options, last, int8, &error));
    assert_non_null(strstr(error.text, why));
    free(bytes);
    compiler_close(c);
}

static void some_pins_are_refused(void **state)
{
    (void)state;
    refuse_pin(gate_net("Sigmoid", qnet_odd, qnet_u8, qnet_u8, false), false,
               "cannot be fp16: a table of 8 bits makes");
    refuse_pin(
        layer_net(&(layer_case){"", qnet_image, {0.2f / 127, 0, true}, 3, 1, 1, .lowest = -128}),
        true, "cannot be int8: 8 bits do not hold its weights");
}

/* Where a multiplication changed the sign of weights, -128 becomes 128, which 8 bits hold no
 * better. */
static void turned_weights_are_as_near_as_told(void **state)
{
    (void)state;
    const compiler_options options = to_half_from(MONA_S8);
    qmap x;
    qnet n = qnet_begin(&x, SIDE);
    n.coarse = true;
    n.lowest = -128;
    x = qnet_quantise(&n, x, (quantisation){0x1p-6f, 0, true});
    x = qnet_one(&n, "Neg", qnet_conv(&n, x, 24, 3, 1, qnet_s8));
    x = qnet_quantise(&n, x, (quantisation){0x1p-3f, 0, true});
    const outcome o = run(qnet_end(&n, x), &options, 0x1p-3f);
    print_message("%s; at most %.3f steps, %.2f %% changed\n", told, o.most, 100 * o.changed);
    assert_true(o.most < told_steps + 0.125);
}

/* What cannot become a format of maps runs on arrays, as ONNX defines it, and the compiler gives
 * the reason. */
static void some_stay_on_arrays(void **state)
{
    (void)state;
    compiler_options options = half_planes;
    const float steps[3] = {0.01f, 0.02f, 0.03f};
    const int32_t zeros[3] = {0};
    qmap x;
    qnet n = qnet_begin(&x, SIDE);
    ob_constant(n.b, "steps", "3", steps);
    ob_int_tensor(n.b, "zeros", ONNX__TENSOR_PROTO__DATA_TYPE__INT8, "3", zeros);
    ob_node(n.b, "QuantizeLinear", "x steps zeros", "q");
    ob_node(n.b, "DequantizeLinear", "q steps zeros", "d");
    snprintf(x.name, sizeof x.name, "d");
    x.in = (quantisation){0.01f, 0, true};
    outcome o = run(qnet_end(&n, qnet_conv(&n, x, 8, 3, 1, qnet_s8)), &options, 0.01f);
    assert_int_equal(o.int8, 0);
    assert_true(o.most < 1);
    assert_string_equal(why_not, "DequantizeLinear: reads a value that is not a map");
    options.fusion.off[FUSION_QUANTISED] = true;
    const layer_case dense = {"", qnet_image, qnet_u8, 24, 3, 1, .dense = true};
    o = run(layer_net(&dense), &options, qnet_u8.scale);
    assert_int_equal(o.int8, 0);
    assert_true(o.most < 1.125); /* fp16 planes may start one step off */
    assert_string_equal(why_not, "DequantizeLinear: " FUSION_IS_OFF);
}

/* The result of a concat whose parts have one format has that format, which floats out must
 * leave. */
static void a_concat_may_be_an_output(void **state)
{
    (void)state;
    const compiler_options options = to_half_from(MONA_F16);
    char inputs[80];
    qmap x;
    qnet n = qnet_begin(&x, SIDE);
    const qmap first = x = qnet_quantise(&n, x, qnet_image);
    x = qnet_quantise(&n, qnet_conv(&n, x, 8, 3, 1, qnet_s8), qnet_s8);
    snprintf(inputs, sizeof inputs, "%s %s", first.name, x.name);
    ob_int(n.b, qnet_node(&n, "Concat", inputs, x.name), "axis", 1);
    x.channels += first.channels;
    const outcome o = run(qnet_end(&n, qnet_quantise(&n, x, qnet_u8)), &options, qnet_u8.scale);
    assert_true(o.most < 3.125); /* a step of its parts is two of these */
}

/* Where fp16 makes a scale a little larger or smaller, that is not done to the zero point, too. */
static void zero_points_do_not_shift(void **state)
{
    (void)state;
    const float fine = 0x1p-7f / 1.00046f,
                coarse = 1 / 127.f / (1448.49f * 0x1p-11f); /* nearly half an ulp */
    for (int i = 0; i < 2; i++) {
        const quantisation y = {i ? coarse : fine, 120, false};
        const compiler_options options = to_half_from(i ? MONA_S8 : MONA_F16);
        qmap x;
        qnet n = qnet_begin(&x, SIDE);
        if (i)
            x = qnet_max_pool(&n, qnet_quantise(&n, x, qnet_image));
        const outcome o = run(qnet_end(&n, qnet_quantise(&n, x, y)), &options, y.scale);
        print_message("from %s: %.2f %% changed, by %.4f in the mean\n", i ? "s8" : "f16",
                      100 * o.changed, o.shift);
        assert_true(fabs(o.shift) < (i ? 0.03 : 0.02)); /* the largest of four are above 0 */
    }
}

/* A copy to a finer scale has its zero point to a small part of a step, not to a step of its
 * source. */
static void copies_keep_their_zero_point(void **state)
{
    (void)state;
    static const quantisation finer[] = {{0.3f / 127, 101, false}, {0.07f / 127, -77, true}};
    const compiler_options options = to_half_from(MONA_S8);
    for (size_t i = 0; i < sizeof finer / sizeof *finer; i++) {
        qmap x;
        qnet n = qnet_begin(&x, SIDE);
        x = qnet_max_pool(&n, qnet_quantise(&n, x, qnet_image));
        const outcome o =
            run(qnet_end(&n, qnet_quantise(&n, x, finer[i])), &options, finer[i].scale);
        print_message("to %g: at most %.3f steps\n", (double)finer[i].scale, o.most);
        assert_true(o.most < 0.125);
        assert_int_equal(o.int8, 2);
    }
}

/* Resampling makes numbers between those of its source and, if cubic, beyond them. They are rounded
 * where the model does, and by its scale; samples that are only repeated stay as they are. */
static void resampling_rounds_where_the_model_does(void **state)
{
    (void)state;
    static const quantisation fine = {1 / 255.f, 120, false}, wide = {3 / 255.f, 120, false};
    static const struct {
        const char *mode;
        quantisation y;
        unsigned int8; /* convolutions that read 8 bits */
        bool float_out, twice, read_twice;
    } cases[] = {{"linear", fine, 2, false, false, false},
                 {"cubic", wide, 2, false, false, false},
                 {"linear", qnet_image, 1, false, false, false},
                 {"linear", qnet_image, 2, false, true, false},
                 {"linear", qnet_image, 1, false, false, true},
                 {"linear", fine, 1, true, false, false},
                 {"nearest", wide, 2, false, false, false}};
    const compiler_options options = to_half_from(MONA_S8);
    const float scales[4] = {1, 1, 2, 2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char inputs[80];
        qmap x, between;
        qnet n = qnet_begin(&x, SIDE);
        ob_constant(n.b, "scales", "4", scales);
        ob_constant(n.b, "none", "0", scales);
        x = qnet_quantise(&n, x, qnet_image);
        for (int k = 0; k <= (int)cases[i].twice; k++) {
            snprintf(inputs, sizeof inputs, "%s none scales", x.name);
            ob_string(n.b, qnet_node(&n, "Resize", inputs, x.name), "mode", cases[i].mode);
        }
        between = x;
        x = cases[i].float_out ? x : qnet_quantise(&n, x, cases[i].y);
        x = cases[i].read_twice ? qnet_add(&n, x, between) : x;
        const outcome o = run(qnet_end(&n, qnet_max_pool(&n, x)), &options, cases[i].y.scale);
        print_message("%s, %zu: %u of %u INT8, %.2f %% changed, at most %.3f steps\n",
                      cases[i].mode, i, o.int8, o.convs, 100 * o.changed, o.most);
        assert_true(o.changed < rarely(cases[i].y));
        assert_true(o.most < 1.125);
        assert_int_equal(o.int8, cases[i].int8);
    }
}

/* ---- networks ----------------------------------------------------------------------------- */

static void networks_are_int8(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        mona_type input;
        float scale;
        unsigned convs, int8;
    } nets[] = {{"symmetric", MONA_S8, 3 / 127.f, 6, 6},
                {"asymmetric", MONA_F16, 5 / 255.f, 8, 7},
                {"qlinear", MONA_S8, 3 / 127.f, 4, 4}};
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        const compiler_options options = to_half_from(nets[i].input);
        const outcome o = run(quantised_net(nets[i].name, SIDE), &options, nets[i].scale);
        print_message("%-12s %u of %u INT8, %.2f %% changed, at most %.3f steps\n", nets[i].name,
                      o.int8, o.convs, 100 * o.changed, o.most);
        assert_int_equal(o.convs, nets[i].convs);
        assert_int_equal(o.int8, nets[i].int8);
        assert_true(o.most < 2.125);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layer_is_within_one_step),
        cmocka_unit_test(coarse_scales_are_exact),
        cmocka_unit_test(functions_are_tables_of_their_results),
        cmocka_unit_test(functions_of_one_number_are_tables),
        cmocka_unit_test(tables_round_halves_as_onnx_does),
        cmocka_unit_test(channels_that_differ_have_no_table),
        cmocka_unit_test(some_pins_are_refused),
        cmocka_unit_test(turned_weights_are_as_near_as_told),
        cmocka_unit_test(some_stay_on_arrays),
        cmocka_unit_test(a_concat_may_be_an_output),
        cmocka_unit_test(zero_points_do_not_shift),
        cmocka_unit_test(copies_keep_their_zero_point),
        cmocka_unit_test(resampling_rounds_where_the_model_does),
        cmocka_unit_test(networks_are_int8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
