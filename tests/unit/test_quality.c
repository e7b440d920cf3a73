/* The pictures: what the embedded models do to standard test sets, as INT8, through the engine. The
 * figures are the floor a release must keep; `mona` prints no lower ones on any CPU, since its
 * bytes are the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

#include <cmocka.h>

#include "models/embedded.h"
#include "pipeline/bound.h"
#include "pipeline/stills.h"

#define DATA "../shared/data/test/"

typedef struct plane {
    int width, height;
    uint8_t *samples;
} plane;

static bool data_there(void)
{
    FILE *f = fopen(DATA "cbsd68.txt", "r");
    if (f)
        fclose(f);
    else
        print_message("# skip: test images are not there (%s)\n", DATA);
    return f != NULL;
}

/* BT.601 luma in studio range, rounded to 8 bit, as published figures take it. */
static plane read_luma(const char *path)
{
    still image = {0};
    pipeline_error error = {""};
    if (!still_read(&image, path, 3, &error))
        fail_msg("%s", error.text);
    plane p = {(int)image.width, (int)image.height, malloc((size_t)image.width * image.height)};
    for (size_t i = 0; i < (size_t)image.width * image.height; i++) {
        const uint8_t *rgb = image.pixels + 3 * i;
        p.samples[i] =
            (uint8_t)lrint(16 + (65.481 * rgb[0] + 128.553 * rgb[1] + 24.966 * rgb[2]) / 255);
    }
    still_free(&image);
    return p;
}

/* Over everything but `border` samples at each side. */
static double psnr(const plane *a, const plane *b, int border)
{
    double sum = 0;
    for (int y = border; y < b->height - border; y++)
        for (int x = border; x < b->width - border; x++) {
            const double d = a->samples[y * a->width + x] - b->samples[y * b->width + x];
            sum += d * d;
        }
    const double count = (double)(b->width - 2 * border) * (b->height - 2 * border);
    return 10 * log10(255.0 * 255 * count / sum);
}

static void open_model(bound_model *bound, const char *name, int width, int height)
{
    const embedded_model *e = embedded_model_find(name);
    assert_non_null(e);
    mona_model model;
    assert_int_equal(mona_model_open(&model, e->begin, (size_t)(e->end - e->begin)), MONA_OK);
    const mona_config config = {.sizes = {{(uint32_t)width, (uint32_t)height}}};
    pipeline_error error = {""};
    if (!bound_open(bound, &model, name, &config, &error))
        fail_msg("%s", error.text);
}

static plane enlarge(const plane *low)
{
    bound_model bound = {0};
    open_model(&bound, "sr_x2_fast", low->width, low->height);
    plane high = {2 * low->width, 2 * low->height, malloc((size_t)(4 * low->width * low->height))};
    const mona_buffer in = {low->samples, low->width, 0}, out = {high.samples, high.width, 0};
    assert_int_equal(mona_session_run(bound.session, &in, &out), MONA_OK);
    bound_close(&bound);
    return high;
}

static double mean_psnr_x2(const char *set, int images)
{
    double sum = 0;
    for (int i = 1; i <= images; i++) {
        char path[256];
        snprintf(path, sizeof path, DATA "%s/x2/img_%03d_SRF_2_LR.png", set, i);
        plane low = read_luma(path);
        snprintf(path, sizeof path, DATA "%s/x2/img_%03d_SRF_2_HR.png", set, i);
        plane original = read_luma(path), made = enlarge(&low);
        sum += psnr(&made, &original, 2);
        free(low.samples), free(original.samples), free(made.samples);
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
    assert_true(set5 >= 36.6);
    assert_true(set14 >= 32.4);
}

/* ---- noise ----------------------------------------------------------------------------------- */

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 33) + 0.5) / 2147483648.0;
}

/* Gaussian noise, then clipped and rounded to 8 bit, as a camera delivers it. */
static void add_noise(const plane *clean, double sigma, plane *noisy)
{
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < clean->width * clean->height; i++) {
        const double u = uniform(&state), v = uniform(&state);
        const double gauss = sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
        noisy->samples[i] = (uint8_t)lrint(fmin(fmax(clean->samples[i] + sigma * gauss, 0), 255));
    }
}

/* Grey as BSD68 has it: full range. */
static plane read_grey(const char *path)
{
    still image = {0};
    pipeline_error error = {""};
    if (!still_read(&image, path, 3, &error))
        fail_msg("%s", error.text);
    /* Even sides: 4:2:0. */
    plane p = {(int)image.width & ~1, (int)image.height & ~1, NULL};
    p.samples = malloc((size_t)(p.width * p.height));
    for (int y = 0; y < p.height; y++)
        for (int x = 0; x < p.width; x++) {
            const uint8_t *rgb = image.pixels + 3 * ((size_t)y * image.width + (size_t)x);
            p.samples[y * p.width + x] =
                (uint8_t)lrint(0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]);
        }
    still_free(&image);
    return p;
}

/* Luma with grey chroma through the denoiser. */
static void denoise(const plane *noisy, int sigma, plane *made)
{
    bound_model bound = {0};
    const int w = noisy->width / 2, h = noisy->height / 2;
    open_model(&bound, "denoise_fast", noisy->width, noisy->height);
    uint8_t *grey = malloc((size_t)(w * h)), *level = malloc((size_t)w);
    uint8_t *u = malloc((size_t)(w * h)), *v = malloc((size_t)(w * h));
    memset(grey, 128, (size_t)(w * h));
    memset(level, sigma, (size_t)w);
    const mona_buffer in[] = {
        {noisy->samples, noisy->width, 0}, {grey, w, 0}, {grey, w, 0}, {level, 0, 0}};
    const mona_buffer out[] = {{made->samples, made->width, 0}, {u, w, 0}, {v, w, 0}};
    assert_int_equal(mona_session_run(bound.session, in, out), MONA_OK);
    free(grey), free(level), free(u), free(v);
    bound_close(&bound);
}

/* Mean gain in dB over the images of BSD68, and what is reached. */
static double mean_gain(int sigma, double *reached)
{
    FILE *list = fopen(DATA "cbsd68.txt", "r");
    assert_non_null(list);
    char name[128];
    double gain = 0, sum = 0;
    int images = 0;
    while (fscanf(list, "%127s", name) == 1) {
        char path[256];
        snprintf(path, sizeof path, DATA "bsd100/%s%s", name, strchr(name, '.') ? "" : ".jpg");
        plane clean = read_grey(path), noisy = clean, made = clean;
        noisy.samples = malloc((size_t)(clean.width * clean.height));
        made.samples = malloc((size_t)(clean.width * clean.height));
        add_noise(&clean, sigma, &noisy);
        denoise(&noisy, sigma, &made);
        const double after = psnr(&made, &clean, 0);
        gain += after - psnr(&noisy, &clean, 0);
        sum += after;
        images++;
        free(clean.samples), free(noisy.samples), free(made.samples);
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
    static const int sigmas[] = {15, 25, 50};
    for (int i = 0; i < 3; i++) {
        double reached;
        const double gain = mean_gain(sigmas[i], &reached);
        print_message(
            "# denoise_fast as INT8, BSD68 grey, sigma %d: %.3f dB, %.2f dB better than its "
            "input\n",
            sigmas[i], reached, gain);
        assert_true(gain >= 1.5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(super_resolution_x2),
        cmocka_unit_test(denoising),
    };
    return cmocka_run_group_tests_name("quality", tests, NULL, NULL);
}
