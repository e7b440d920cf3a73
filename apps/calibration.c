#include "calibration.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

bool calibration_sample(const calibration *c, size_t index, const compiler *model, float range,
                        reference_array *inputs)
{
    pipeline_error error = {0};
    picture p = {.random = index};
    if (!still_read(&p.image, c->files[index], 3, &error))
        return !cli_fail(EXIT_FAILED, "%s", error.text);
    if (has_role(model, ROLE_NOISE))
        p.noise = (uint32_t)(next_random(&p.random) % (MAX_NOISE + 1));
    bool ok = true;
    const unsigned count = compiler_input_count(model);
    for (unsigned i = 0; i < count; i++)
        inputs[i].data = NULL;
    for (unsigned i = 0; ok && i < count; i++) {
        const compiler_tensor t = compiler_input(model, i);
        const int role = role_of(t.name);
        const bool half = role == ROLE_U || role == ROLE_V || role == ROLE_NOISE;
        inputs[i].channels = t.channels;
        inputs[i].height = side_of(t.height, p.image.height, half);
        inputs[i].width = side_of(t.width, p.image.width, half);
        ok = fill_input(&p, &t, range, &inputs[i]);
    }
    still_free(&p.image);
    for (unsigned i = 0; !ok && i < count; i++)
        free(inputs[i].data);
    return ok;
}
