#include "calibration.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pipeline/measure.h"
#include "pipeline/roles.h"
#include "pipeline/stills.h"

enum {
    MAX_FILES = 100000,
    MAX_DEPTH = 16, /* of folders */
    MAX_SIDE = 640, /* larger images are cut: ranges need many pixels, not all */
    MAX_NOISE = 50, /* in steps of 8 bits */
};

/* ---- files -------------------------------------------------------------------------------- */

static bool add_file(calibration *c, const char *path)
{
    if (c->count == MAX_FILES)
        return true;
    if (c->count == c->room) {
        const size_t room = c->room ? c->room * 2 : 64;
        char **files = realloc(c->files, room * sizeof *files);
        if (!files)
            return !cli_fail(EXIT_FAILED, "out of memory");
        c->files = files;
        c->room = room;
    }
    char *copy = strdup(path);
    if (!copy)
        return !cli_fail(EXIT_FAILED, "out of memory");
    c->files[c->count++] = copy;
    return true;
}

static bool add_path(calibration *c, const char *path, int depth);

static bool add_folder(calibration *c, const char *path, int depth)
{
    DIR *folder = opendir(path);
    if (!folder)
        return !cli_fail(EXIT_FAILED, "%s: %s", path, strerror(errno));
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(folder));) {
        char name[4096];
        const int n = snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.' && n > 0 && (size_t)n < sizeof name && depth < MAX_DEPTH)
            ok = add_path(c, name, depth + 1);
    }
    closedir(folder);
    return ok;
}

/* A file named on the command line must be an image; in folders other files are passed over. */
static bool add_path(calibration *c, const char *path, int depth)
{
    struct stat about;
    if (stat(path, &about))
        return !cli_fail(EXIT_FAILED, "%s: %s", path, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return add_folder(c, path, depth);
    const bool image = S_ISREG(about.st_mode) && still_is_image(path);
    if (!image && !depth)
        return !cli_fail(EXIT_FAILED, "%s: expected a PNG or JPEG image, or a folder of them",
                         path);
    return !image || add_file(c, path);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool calibration_open(calibration *c, const option_list *paths, size_t most)
{
    *c = (calibration){0};
    for (size_t i = 0; i < paths->count; i++) {
        const size_t before = c->count;
        if (!add_path(c, paths->items[i], 0))
            return false;
        if (c->count == before)
            return !cli_fail(EXIT_FAILED, "%s: no PNG or JPEG images there", paths->items[i]);
    }
    if (c->count)
        qsort(c->files, c->count, sizeof *c->files, by_name);
    if (c->count > most) {
        for (size_t i = 0; i < c->count; i++) {
            const size_t keep = i * most / c->count; /* group of i; its first file stays */
            if (i && keep == (i - 1) * most / c->count)
                free(c->files[i]);
            else
                c->files[keep] = c->files[i];
        }
        c->count = most;
    }
    return true;
}

void calibration_close(calibration *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->files[i]);
    free(c->files);
    *c = (calibration){0};
}

/* ---- planes ------------------------------------------------------------------------------- */

/* One image of a known size, in 8-bit steps. */
typedef struct picture {
    still image;    /* RGB */
    uint32_t noise; /* level */
    uint64_t random;
} picture;

/* SplitMix64: uniform 64 bits. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Box and Muller's normal numbers, one of each pair. */
static double gaussian(uint64_t *state)
{
    const double u = ((double)(next_random(state) >> 11) + 1) * 0x1p-53;
    const double v = (double)(next_random(state) >> 11) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* RGB of a pixel; beyond its sides the image repeats. */
static const uint8_t *pixel(const picture *p, uint32_t x, uint32_t y)
{
    return p->image.pixels +
           ((size_t)(y % p->image.height) * p->image.width + x % p->image.width) * 3;
}

/* BT.601, studio range: offset + the weights of R, G, B. */
static double component(const uint8_t *rgb, int role)
{
    static const double weights[3][4] = {
        [ROLE_LUMA] = {16, 65.481, 128.553, 24.966},
        [ROLE_U] = {128, -37.797, -74.203, 112.0},
        [ROLE_V] = {128, 112.0, -93.786, -18.214},
    };
    const double *w = weights[role];
    return w[0] + (w[1] * rgb[0] + w[2] * rgb[1] + w[3] * rgb[2]) / 255;
}

static double sample_at(const picture *p, int role, uint32_t x, uint32_t y)
{
    if (role == ROLE_LUMA)
        return component(pixel(p, x, y), role);
    double sum = 0;
    for (uint32_t i = 0; i < 4; i++)
        sum += component(pixel(p, 2 * x + i % 2, 2 * y + i / 2), role);
    return sum / 4;
}

static bool fill_input(picture *p, const compiler_tensor *t, float range, reference_array *a)
{
    const int named = role_of(t->name);
    const int role = named == ROLE_UNKNOWN ? ROLE_LUMA : named;
    const size_t plane = (size_t)a->height * a->width;
    a->data = malloc(t->channels * plane * sizeof *a->data);
    if (!a->data)
        return !cli_fail(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < t->channels * plane; i++) {
        const uint32_t x = (uint32_t)(i % a->width), y = (uint32_t)(i % plane / a->width);
        double value = p->noise;
        if (t->channels == 3)
            value = pixel(p, x, y)[i / plane];
        else if (role != ROLE_NOISE)
            value = sample_at(p, role, x, y) + p->noise * gaussian(&p->random);
        /* Planes hold 8-bit samples. */
        value = nearbyint(fmax(0, fmin(value, 255)));
        a->data[i] = (float)(value / 255) * range;
    }
    return true;
}

static uint32_t side_of(uint32_t fixed, uint32_t image, bool half)
{
    const uint32_t even = (image < MAX_SIDE ? image : MAX_SIDE) & ~1u;
    return fixed ? fixed : half ? (even ? even : 2) / 2 : even ? even : 2;
}

static bool has_role(const compiler *model, int role)
{
    for (unsigned i = 0; i < compiler_input_count(model); i++)
        if (role_of(compiler_input(model, i).name) == role)
            return true;
    return false;
}

/* Image `index`, with a level of noise if the model is told of any. */
static bool open_picture(const calibration *c, size_t index, const compiler *model, picture *p)
{
    pipeline_error error = {0};
    *p = (picture){.random = index};
    if (!still_read(&p->image, c->files[index], 3, &error))
        return !cli_fail(EXIT_FAILED, "%s", error.text);
    if (has_role(model, ROLE_NOISE))
        p->noise = (uint32_t)(next_random(&p->random) % (MAX_NOISE + 1));
    return true;
}

/* The size of an input for this image reduced by `scale`. */
static reference_array sized(const compiler_tensor *t, const picture *p, uint32_t scale)
{
    const int role = role_of(t->name);
    const bool half = role == ROLE_U || role == ROLE_V || role == ROLE_NOISE;
    return (reference_array){t->channels, side_of(t->height, p->image.height / scale, half),
                             side_of(t->width, p->image.width / scale, half), NULL};
}

static bool fill_inputs(picture *p, const compiler *model, float range, reference_array *inputs)
{
    const unsigned count = compiler_input_count(model);
    bool ok = true;
    for (unsigned i = 0; i < count; i++)
        inputs[i].data = NULL;
    for (unsigned i = 0; ok && i < count; i++) {
        const compiler_tensor t = compiler_input(model, i);
        inputs[i] = sized(&t, p, 1);
        ok = fill_input(p, &t, range, &inputs[i]);
    }
    for (unsigned i = 0; !ok && i < count; i++) {
        free(inputs[i].data);
        inputs[i].data = NULL;
    }
    return ok;
}

bool calibration_sample(const calibration *c, size_t index, const compiler *model, float range,
                        reference_array *inputs)
{
    picture p;
    if (!open_picture(c, index, model, &p))
        return false;
    const bool ok = fill_inputs(&p, model, range, inputs);
    still_free(&p.image);
    return ok;
}

/* ---- pairs -------------------------------------------------------------------------------- */

/* Reduces one channel of `large`, both in real values, and rounds it to 8 bits. */
static bool reduce(const reference_array *large, uint32_t channel, float range,
                   reference_array *small)
{
    const size_t from_count = (size_t)large->height * large->width;
    const size_t to_count = (size_t)small->height * small->width;
    real_plane from = {0}, to = {0};
    bool ok = real_plane_open(&from, large->width, large->height) &&
              real_plane_open(&to, small->width, small->height);
    for (size_t i = 0; ok && i < from_count; i++)
        from.values[i] = (double)(large->data[channel * from_count + i] / range) * 255;
    ok = (ok && measure_resize(&to, &from)) || !cli_fail(EXIT_FAILED, "out of memory");
    for (size_t i = 0; ok && i < to_count; i++) {
        const double q = nearbyint(fmax(0, fmin(to.values[i], 255)));
        small->data[channel * to_count + i] = (float)(q / 255) * range;
    }
    real_plane_close(&from);
    real_plane_close(&to);
    return ok;
}

/* The picture, and what it is when it is `scale` times smaller. */
static bool fill_reduced(picture *p, const compiler *model, float range, uint32_t scale,
                         reference_array *input, reference_array *truth)
{
    const compiler_tensor t = compiler_input(model, 0);
    *input = sized(&t, p, scale);
    *truth = (reference_array){t.channels, input->height * scale, input->width * scale, NULL};
    if (!fill_input(p, &t, range, truth))
        return false;
    input->data =
        malloc((size_t)input->channels * input->height * input->width * sizeof *input->data);
    bool ok = input->data || !cli_fail(EXIT_FAILED, "out of memory");
    for (uint32_t c = 0; ok && c < t.channels; c++)
        ok = reduce(truth, c, range, input);
    return ok;
}

/* For every output that has the role of an input, that input's planes without noise. */
static bool fill_clean(picture *p, const compiler *model, float range,
                       const reference_array *inputs, reference_array *truth)
{
    bool ok = true;
    p->noise = 0;
    for (unsigned o = 0; o < compiler_output_count(model); o++)
        for (unsigned i = 0; ok && i < compiler_input_count(model); i++) {
            const compiler_tensor t = compiler_input(model, i);
            const int role = role_of(t.name);
            if (role == ROLE_UNKNOWN || role != role_of(compiler_output(model, o).name) ||
                truth[o].data)
                continue;
            truth[o] = inputs[i];
            truth[o].data = NULL;
            ok = fill_input(p, &t, range, &truth[o]);
        }
    return ok;
}

bool calibration_pair(const calibration *c, size_t index, const compiler *model, float range,
                      uint32_t scale, reference_array *inputs, reference_array *truth)
{
    picture p;
    for (unsigned i = 0; i < MONA_MAX_IO; i++)
        inputs[i] = truth[i] = (reference_array){0};
    if (!open_picture(c, index, model, &p))
        return false;
    bool ok;
    if (scale > 1)
        ok = fill_reduced(&p, model, range, scale, inputs, truth);
    else
        ok = fill_inputs(&p, model, range, inputs) &&
             (!has_role(model, ROLE_NOISE) || fill_clean(&p, model, range, inputs, truth));
    still_free(&p.image);
    return ok;
}

const char *calibration_name(const calibration *c, size_t index)
{
    return c->files[index];
}

static size_t common_divisor(size_t a, size_t b)
{
    while (b) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Steps of about the golden section of the count that share no divisor with it. */
size_t calibration_spread(const calibration *c, size_t k)
{
    size_t step = (size_t)((double)c->count * 0.6180339887);
    while (common_divisor(step, c->count) != 1)
        step++;
    return k * step % c->count;
}
