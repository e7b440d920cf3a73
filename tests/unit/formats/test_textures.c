// SPDX-License-Identifier: Apache-2.0
/* A classifier whose decisions have a meaning (tests/precision/train.py): the effect of calibration
 * and auto on images that neither has seen. */
#include "tests/unit/compiler_check.h"

enum {
    SIDE = 32,
    PIXELS = SIDE * SIDE,
    CLASSES = 10,
    CALIBRATED = 48, /* images */
    JUDGED = 200,
    UNSEEN = 400,
};

/* ---- images ------------------------------------------------------------------------------- */

static double between(double low, double high)
{
    return low + (high - low) * ((double)noise() + 1) / 2;
}

/* Draws a grating like train.py; returns its class. */
static unsigned draw(float *image)
{
    const double pi = 3.141592653589793;
    const unsigned class = (unsigned)between(0, CLASSES);
    const double angle = (class % 5 + between(-0.35, 0.35)) * pi / 5;
    const double cycles = (class < 5 ? 0.09 : 0.14) + between(-0.015, 0.015);
    const double phase = between(0, 2 * pi);
    for (int c = 0; c < 3; c++) {
        const double contrast = between(-0.16, 0.16);
        for (int i = 0; i < PIXELS; i++) {
            const double along = i % SIDE * cos(angle) + i / SIDE * sin(angle);
            const double wave = contrast * sin(2 * pi * cycles * along + phase);
            const double value = fmax(0, fmin(0.5 + wave + between(-0.5, 0.5), 1));
            image[c * PIXELS + i] = (float)(nearbyint(value * 255) / 255);
        }
    }
    return class;
}

typedef struct drawn {
    float image[3 * PIXELS];
    float scores[CLASSES]; /* of the fp32 network */
    unsigned class;
} drawn;

static unsigned largest(const float *scores)
{
    unsigned best = 0;
    for (unsigned i = 1; i < CLASSES; i++)
        best = scores[i] > scores[best] ? i : best;
    return best;
}

static drawn *draw_all(const compiler *c, size_t count)
{
    drawn *all = malloc(count * sizeof *all);
    for (size_t i = 0; i < count; i++) {
        reference_array out;
        all[i].class = draw(all[i].image);
        run_reference(c, &(reference_array){3, SIDE, SIDE, all[i].image}, &out);
        memcpy(all[i].scores, out.data, sizeof all[i].scores);
        free(out.data);
    }
    return all;
}

/* ---- agreement ---------------------------------------------------------------------------- */

typedef struct judged {
    drawn *images;
    size_t count;
} judged;

static bool judge(void *context, const uint8_t *bytes, size_t size, bool quick, compiler_loss *loss,
                  format_error *error)
{
    const judged *j = context;
    double errors = 0, squares = 0, changed = 0;
    mona_model model;
    session_binding bound;
    pipeline_error bound_error = {0};
    (void)quick, (void)error;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    assert_true(session_binding_open(&bound, &model, "textures", &(mona_config){.threads = 1},
                                     &bound_error));
    const mona_tensor_info in = mona_plan_input(bound.plan, 0),
                           out = mona_plan_output(bound.plan, 0);
    mona_buffer from = make_buffer(&in), to = make_buffer(&out);
    for (size_t i = 0; i < j->count; i++) {
        float scores[CLASSES];
        for (size_t k = 0; k < count_of(&in); k++)
            put(&in, from.data, k, (double)j->images[i].image[k]);
        assert_int_equal(mona_session_run(bound.session, &from, &to), MONA_OK);
        for (unsigned k = 0; k < CLASSES; k++) {
            const double e = (double)j->images[i].scores[k], d = get(&out, to.data, k) - e;
            scores[k] = (float)(e + d);
            errors += d * d;
            squares += e * e;
        }
        changed += largest(scores) != largest(j->images[i].scores);
    }
    free(from.data);
    free(to.data);
    session_binding_close(&bound);
    *loss = (compiler_loss){changed / (double)j->count, errors / squares};
    return true;
}

static compiler *open_net(void)
{
    format_error error = {0};
    FILE *file = fopen("tests/precision/model.onnx", "rb");
    static uint8_t bytes[1 << 18];
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    compiler *c = compiler_open(bytes, size, NULL, &error);
    if (!c)
        fail_msg("%s", error.text);
    return c;
}

static void calibrate(compiler *c, const drawn *images)
{
    format_error error = {0};
    for (size_t i = 0; i < CALIBRATED; i++) {
        float *image = (float *)(uintptr_t)images[i].image;
        assert_true(compiler_calibrate(c, &(reference_array){3, SIDE, SIDE, image}, &error));
    }
}

/* The network is right where that is possible, so agreement with it means something. */
static void decisions_mean_something(void **state)
{
    (void)state;
    compiler *c = open_net();
    seed = 77;
    drawn *images = draw_all(c, UNSEEN);
    double right = 0;
    for (size_t i = 0; i < UNSEEN; i++)
        right += largest(images[i].scores) == images[i].class;
    print_message("# %g of %d images are told right in fp32\n", right, UNSEEN);
    assert_true(right > 0.9 * UNSEEN);
    free(images);
    compiler_close(c);
}

/* Every rule, with and without corrected biases: all INT8, and the choice of auto. */
static void auto_decides_as_the_judge_does(void **state)
{
    (void)state;
    static const char *const rules[] = {"min-max", "percentile", "kl", "mse"};
    compiler *c = open_net();
    seed = 99;
    drawn *known = draw_all(c, JUDGED), *unseen = draw_all(c, UNSEEN);
    judged calibration = {known, JUDGED}, others = {unseen, UNSEEN};
    const compiler_judge ask = {judge, &calibration};
    calibrate(c, known);
    for (int i = 0; i < 8; i++) {
        compiler_options options = {.int8 = true,
                                    .output_type = MONA_F16,
                                    .ranges = (range_rule)(i / 2),
                                    .correct_bias = i % 2};
        compiler_choice choice;
        compiler_loss loss;
        format_error error = {0};
        uint8_t *bytes;
        size_t size;
        if (!compiler_choose(c, &options, "host", 0.005, &ask, &choice, &error))
            fail_msg("%s", error.text);
        emit(c, &options, &bytes, &size);
        judge(&others, bytes, size, false, &loss, &error);
        print_message("# %-10s bias %d: int8 changes %.2f %% (%.1f dB), auto %.2f %% (%.1f dB) of "
                      "judged and %.2f %% of other decisions at %.2f of the cost\n",
                      rules[i / 2], i % 2, choice.int8.drop * 100, -10 * log10(choice.int8.noise),
                      choice.chosen.drop * 100, -10 * log10(choice.chosen.noise), loss.drop * 100,
                      choice.chosen_cost / choice.fp16_cost);
        assert_true(loss.drop <= 0.01);
        free(bytes);
    }
    free(known);
    free(unseen);
    compiler_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decisions_mean_something),
        cmocka_unit_test(auto_decides_as_the_judge_does),
    };
    return cmocka_run_group_tests_name("textures", tests, NULL, NULL);
}
