// SPDX-License-Identifier: Apache-2.0
/* How many decisions a plan changes, and what --precision auto therefore chooses for classifiers of
 * published shapes, on pictures that it has not seen.
 *
 *   test_top1_margin [NETWORK]...     resnet18 and mobilenet_v2, or those named: resnet50 too */
#include "tests/unit/compiler_check.h"

#include "apps/compile/accuracy.h"
#include "apps/compile/precision.h"
#include "tests/unit/classifiers.h"

/* ---- the estimate ------------------------------------------------------------------------- */

enum { SOME_CLASSES = 10 };

/* Scores of this many decisions, with errors of this size. */
static void draw_decisions(float *scores, float *errors, size_t count, float size)
{
    for (size_t i = 0; i < count * SOME_CLASSES; i++) {
        scores[i] = noise() + noise() + noise();
        errors[i] = size * (noise() + noise() + noise());
    }
}

static size_t highest_sum(const float *scores, const float *errors)
{
    size_t best = 0;
    for (size_t c = 1; c < SOME_CLASSES; c++)
        best = scores[c] + (errors ? errors[c] : 0) > scores[best] + (errors ? errors[best] : 0)
                   ? c
                   : best;
    return best;
}

static double share_changed(const float *scores, const float *errors, size_t count)
{
    double changed = 0;
    for (size_t i = 0; i < count; i++) {
        const float *s = scores + i * SOME_CLASSES;
        changed += highest_sum(s, NULL) != highest_sum(s, errors + i * SOME_CLASSES);
    }
    return changed / (double)count;
}

static double changed_of(const float *scores, const float *errors, size_t count)
{
    double share;
    assert_true(top1_margin_changes(scores, errors, count, SOME_CLASSES, &share));
    return share;
}

/* With few decisions, the estimate is nearly always at least what a great many show, and not much
 * higher, while counting would give no result at all. */
static void few_decisions_tell_of_many(void **state)
{
    (void)state;
    enum { FEW = 100, MANY = 200000, TRIES = 200 };
    static float scores[MANY * SOME_CLASSES], errors[MANY * SOME_CLASSES];
    seed = 31;
    for (int i = 0; i < 3; i++) {
        const float size = 0.003f * (float)(1 << 2 * i);
        draw_decisions(scores, errors, MANY, size);
        const double expected = share_changed(scores, errors, MANY);
        double sum = 0;
        int below = 0, unseen = 0;
        for (int t = 0; t < TRIES; t++) {
            draw_decisions(scores, errors, FEW, size);
            const double said = changed_of(scores, errors, FEW);
            below += said < expected;
            sum += said;
            unseen += share_changed(scores, errors, FEW) < 0.5 * expected;
        }
        print_message("# %.2f %% change: %d of %d estimates are below that, %.2f %% on average, "
                      "%d counts below half\n",
                      100 * expected, below, TRIES, 100 * sum / TRIES, unseen);
        assert_true(below < 0.1 * TRIES && sum / TRIES < 5 * expected);
        assert_true(i || unseen > 0.5 * TRIES);
    }
}

static void nothing_changes_without_errors(void **state)
{
    (void)state;
    float scores[4 * SOME_CLASSES], errors[4 * SOME_CLASSES];
    seed = 3;
    draw_decisions(scores, errors, 4, 0);
    for (int i = 0; i < 4; i++)
        scores[i * SOME_CLASSES] = 9;
    assert_true(changed_of(scores, errors, 4) == 0);
    scores[1] = 9; /* two scores are highest: any error decides */
    errors[1] = 1e-6f;
    assert_true(changed_of(scores, errors, 4) >= 0.25);
    for (int i = 0; i < 4; i++)
        errors[i * SOME_CLASSES + 5] = 1000;
    assert_true(changed_of(scores, errors, 4) == 1);
}

/* ---- networks ----------------------------------------------------------------------------- */

enum { SIDE = NET_SIDE, PIXELS = 3 * SIDE * SIDE };

static char *default_networks[] = {"resnet18", "mobilenet_v2"};
static char **networks = default_networks;
static int network_count = 2;

/* The smallest share of a network's layers for which auto must find an INT8 plan. */
static double least_int8(const char *name)
{
    return strcmp(name, "mobilenet_v2") ? 0.9 : 0.3;
}

/* Pictures in memory, like the frames of a clip. */
static void draw_calibration(calibration *c, size_t count, uint32_t *random)
{
    static float picture[PIXELS];
    *c = (calibration){.images = calloc(count, sizeof *c->images), .count = count, .room = count};
    c->feed.range = 1;
    for (size_t i = 0; i < count; i++) {
        still frame = {.width = SIDE, .height = SIDE, .channels = 3, .pixels = malloc(PIXELS)};
        texture_draw(picture, SIDE, (unsigned)i % TEXTURES, random);
        for (int k = 0; k < PIXELS; k++)
            frame.pixels[k] =
                (uint8_t)(picture[k % 3 * SIDE * SIDE + k / 3] * 255 + 0.5f); /* interleaved */
        c->images[i] = (calibration_image){CALIBRATION_FRAME, strdup("picture"), frame, 0};
    }
}

static void calibrate_on(compiler *model, const calibration *c, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        reference_array in;
        format_error error = {0};
        assert_true(calibration_sample(c, i, model, &in));
        assert_true(compiler_calibrate(model, &in, &error));
        free(in.data);
    }
}

typedef struct agreement {
    size_t right, same; /* of the fp32 network; of the plan, when it agrees with that */
} agreement;

static agreement compare_unseen(const compiler *model, const uint8_t *bytes, size_t size,
                                size_t count, uint32_t *random)
{
    static float picture[PIXELS];
    reference_array in = {3, SIDE, SIDE, picture}, out;
    agreement found = {0};
    sample_run run;
    pipeline_error error = {0};
    assert_true(sample_run_open(&run, bytes, size, "unseen", &error));
    for (size_t i = 0; i < count; i++) {
        float errors[TEXTURES];
        texture_draw(picture, SIDE, (unsigned)i % TEXTURES, random);
        run_reference(model, &in, &out);
        assert_true(sample_run_next(&run, &in, &error));
        for (size_t c = 0; c < TEXTURES; c++)
            errors[c] = (float)(planes_get(&run.planes.out[0], c) - (double)out.data[c]);
        const size_t wanted = highest_sum(out.data, NULL);
        found.right += wanted == i % TEXTURES;
        found.same += wanted == highest_sum(out.data, errors);
        free(out.data);
    }
    sample_run_close(&run);
    return found;
}

static void check_network(const char *name, size_t calibrated, size_t unseen)
{
    compiler *model = open_good(classifier(name, SIDE, TEXTURES));
    compiler_options options = {
        .int8 = true, .output_type = MONA_F16, .ranges = RANGE_MSE, .correct_bias = true};
    const precision_request request = {
        .precision = PRECISION_AUTO, .max_drop = "1%", .target = "host", .name = name};
    precision_result result;
    calibration pictures;
    uint8_t *bytes;
    size_t size;
    unsigned int8 = 0;
    uint32_t random = 2024;
    draw_calibration(&pictures, calibrated, &random);
    calibrate_on(model, &pictures, 16);
    assert_true(precision_set(&request, model, &options, &pictures, &result));
    emit(model, &options, &bytes, &size);
    const unsigned layers = compiler_layer_count(model);
    for (unsigned i = 0; i < layers; i++)
        int8 += compiler_layer_at(model, i).int8;
    const agreement a = compare_unseen(model, bytes, size, unseen, &random);
    print_message("# %s: %u of %u layers INT8, cost %.2f of FP16's; by %zu pictures it changes at "
                  "most %.2f %% (all INT8 %.2f %%, FP16 %.2f %%); agrees on %zu of %zu others, of "
                  "which fp32 tells %zu right\n",
                  name, int8, layers, result.choice.chosen_cost / result.choice.fp16_cost,
                  result.judged, 100 * result.choice.chosen.drop, 100 * result.choice.int8.drop,
                  100 * result.choice.fp16.drop, a.same, unseen, a.right);
    assert_true(result.choice.chosen.drop <= 0.01);
    /* If 1 % change, more than 5 of 200 do so once in sixty times. */
    assert_true((double)a.same >= 0.975 * (double)unseen);
    assert_true(int8 >= least_int8(name) * layers);
    free(bytes);
    calibration_close(&pictures);
    compiler_close(model);
}

static void published_networks_keep_their_decisions(void **state)
{
    (void)state;
    for (int i = 0; i < network_count; i++)
        check_network(networks[i], 100, 200);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_decisions_tell_of_many),
        cmocka_unit_test(nothing_changes_without_errors),
        cmocka_unit_test(published_networks_keep_their_decisions),
    };
    if (argc > 1) {
        networks = argv + 1;
        network_count = argc - 1;
    }
    return cmocka_run_group_tests_name("decisions", tests, NULL, NULL);
}
