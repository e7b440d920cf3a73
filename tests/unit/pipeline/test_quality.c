// SPDX-License-Identifier: Apache-2.0
/* The effect of the embedded models on standard test sets and on flat pictures, in INT8, through
 * the engine. The figures are the minimum for a release; as the bytes are the same, they are the
 * same on every CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

#include <cmocka.h>

#include "models/embedded.h"
#include "pipeline/quality/quality.h"

#define DATA "../shared/data/test/"

static bool data_there(void)
{
    FILE *f = fopen(DATA "cbsd68.txt", "r");
    if (f)
        fclose(f);
    else
        print_message("# skip: test images are not there (%s)\n", DATA);
    return f != NULL;
}

/* A whole image as luma or grey (measure_luma, measure_grey). */
static real_plane read_plane(const char *path, void (*convert)(real_plane *, const still *))
{
    still image = {0};
    real_plane p;
    pipeline_error error = {0};
    if (!still_read(&image, path, &(still_wish){0}, &error))
        fail_msg("%s", error.text);
    assert_true(real_plane_open(&p, image.width, image.height));
    convert(&p, &image);
    still_free(&image);
    return p;
}

/* The luma of size w x h that an embedded model makes from p. */
static real_plane run(const char *name, const real_plane *p, uint32_t w, uint32_t h, unsigned sigma)
{
    const embedded_model *e = embedded_model_find(name);
    named_model model = {.name = name};
    real_plane made;
    pipeline_error error = {0};
    assert_non_null(e);
    assert_int_equal(mona_model_open(&model.model, e->begin, (size_t)(e->end - e->begin)), MONA_OK);
    assert_true(real_plane_open(&made, w, h));
    if (!model_run(&made, p, &model, false, &(mona_config){0}, sigma, &error))
        fail_msg("%s", error.text);
    return made;
}

static double mean_psnr_x2(const char *set, int images)
{
    double sum = 0;
    for (int i = 1; i <= images; i++) {
        char path[256];
        snprintf(path, sizeof path, DATA "%s/x2/img_%03d_SRF_2_LR.png", set, i);
        real_plane low = read_plane(path, measure_luma);
        snprintf(path, sizeof path, DATA "%s/x2/img_%03d_SRF_2_HR.png", set, i);
        real_plane original = read_plane(path, measure_luma);
        real_plane made = run("sr_x2_fast", &low, original.width, original.height, 0);
        sum += measure_psnr(&made, &original, 2);
        real_plane_close(&low);
        real_plane_close(&original);
        real_plane_close(&made);
    }
    return sum / images;
}

static void super_resolution_x2(void **state)
{
    (void)state;
    if (!data_there())
        return;
    const double set5 = mean_psnr_x2("set5", 5), set14 = mean_psnr_x2("set14", 14);
    print_message("# sr_x2_fast as INT8: Set5 %.3f dB, Set14 %.3f dB\n", set5, set14);
    assert_true(set5 >= 36.9);
    assert_true(set14 >= 32.6);
}

/* How many of the 220 levels of luma do not come out of a network as flat as they went in. */
static int levels_spoilt(const char *name, uint32_t scale)
{
    enum { SIDE = 48, REACH = 20 }; /* REACH: how far the border is seen, in samples */
    real_plane flat, wanted;
    int spoilt = 0;
    assert_true(real_plane_open(&flat, SIDE, SIDE));
    assert_true(real_plane_open(&wanted, scale * SIDE, scale * SIDE));
    for (int level = 16; level <= 235; level++) {
        for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
            flat.values[i] = level;
        for (size_t i = 0; i < (size_t)scale * SIDE * scale * SIDE; i++)
            wanted.values[i] = level;
        real_plane made = run(name, &flat, scale * SIDE, scale * SIDE, 0);
        spoilt += isfinite(measure_psnr(&made, &wanted, scale * REACH));
        real_plane_close(&made);
    }
    real_plane_close(&flat);
    real_plane_close(&wanted);
    return spoilt;
}

static void flat_stays_flat(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t scale;
        int most;
    } rows[] = {{"sr_x2_tiny", 2, 1},       {"sr_x2_fast", 2, 0},
                {"sr_x2_fast_video", 2, 2}, {"sr_x3_fast", 3, 0},
                {"sr_x4_fast", 4, 8},       {"sr_x4_balanced", 4, 17},
                {"sr_x4_best", 4, 3},       {"sr_x4_balanced_video", 4, 27},
                {"sr_x4_best_video", 4, 27}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_in_range(levels_spoilt(rows[i].name, rows[i].scale), 0, rows[i].most);
}

/* ---- noise ----------------------------------------------------------------------------------- */

/* The mean gain in dB over the images of BSD68, and the PSNR reached. */
static double mean_gain(unsigned sigma, double *reached)
{
    FILE *list = fopen(DATA "cbsd68.txt", "r");
    assert_non_null(list);
    char name[128];
    double gain = 0, sum = 0;
    int images = 0;
    uint64_t random = sigma;
    while (fscanf(list, "%127s", name) == 1) {
        char path[256];
        snprintf(path, sizeof path, DATA "bsd100/%s", name);
        real_plane clean = read_plane(path, measure_grey), noisy = read_plane(path, measure_grey);
        measure_add_noise(&noisy, sigma, &random);
        real_plane made = run("denoise_fast", &noisy, clean.width, clean.height, sigma);
        const double after = measure_psnr(&made, &clean, 0);
        gain += after - measure_psnr(&noisy, &clean, 0);
        sum += after;
        images++;
        real_plane_close(&clean);
        real_plane_close(&noisy);
        real_plane_close(&made);
    }
    fclose(list);
    assert_int_equal(images, 68);
    *reached = sum / images;
    return gain / images;
}

static void denoising(void **state)
{
    (void)state;
    if (!data_there())
        return;
    static const struct {
        unsigned sigma;
        double floor;
    } rows[] = {{15, 30.55}, {25, 28.01}, {50, 24.72}};
    for (int i = 0; i < 3; i++) {
        double reached;
        const double gain = mean_gain(rows[i].sigma, &reached);
        print_message(
            "# denoise_fast as INT8, BSD68 grey, sigma %u: %.3f dB, %.2f dB better than its "
            "input\n",
            rows[i].sigma, reached, gain);
        assert_true(reached >= rows[i].floor);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(super_resolution_x2),
        cmocka_unit_test(flat_stays_flat),
        cmocka_unit_test(denoising),
    };
    return cmocka_run_group_tests_name("quality", tests, NULL, NULL);
}
