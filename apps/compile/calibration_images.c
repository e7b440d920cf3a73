// SPDX-License-Identifier: Apache-2.0
/* Collects the images and frames for calibration. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "apps/compile/calibration.h"
#include "engine/arith.h"
#include "formats/blocks.h"

enum {
    MAX_FILES = 100000,
    MAX_DEPTH = 16, /* of nested folders */
};

/* ---- files -------------------------------------------------------------------------------- */

bool calibration_add(calibration *c, calibration_image image)
{
    const bool full = c->count == MAX_FILES;
    image.name = !full && list_grow((void **)&c->images, &c->room, c->count, sizeof *c->images)
                     ? strdup(image.name)
                     : NULL;
    if (image.name)
        c->images[c->count++] = image;
    else
        still_free(&image.frame);
    return image.name || full || cli_fail(0, "out of memory");
}

void calibration_drop(calibration_image *image)
{
    free(image->name);
    still_free(&image->frame);
}

/* ---- paths -------------------------------------------------------------------------------- */

static bool refuse_unnamed(const char *path, const compiler *model)
{
    char names[256] = "";
    size_t used = 0;
    for (unsigned i = 0; i < compiler_input_count(model) && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                 compiler_input(model, i).name);
    return cli_fail(
        0, "%s: the model takes %u inputs: expected --calibrate NAME=FILE.npy for each of %s", path,
        compiler_input_count(model), names);
}

static bool add_arrays(calibration *c, const char *path, const compiler *model)
{
    uint64_t count;
    if (compiler_input_count(model) != 1 && !c->named[0])
        return refuse_unnamed(path, model);
    bool ok = calibration_array_count(path, model, 0, &count);
    for (uint64_t i = 0; ok && i < count; i++)
        ok = calibration_add(c, (calibration_image){.kind = CALIBRATION_ARRAY,
                                                    .name = (char *)(uintptr_t)path,
                                                    .place = i});
    return ok;
}

static bool add_path(calibration *c, const char *path, const compiler *model, int depth);

static bool add_folder(calibration *c, const char *path, const compiler *model, int depth)
{
    DIR *folder = opendir(path);
    if (!folder)
        return cli_fail(0, "%s: %s", path, strerror(errno));
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(folder));) {
        char name[4096];
        const int n = snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.' && n > 0 && (size_t)n < sizeof name && depth < MAX_DEPTH)
            ok = add_path(c, name, model, depth + 1);
    }
    closedir(folder);
    return ok;
}

/* A file named on the command line must be an image, an array or a clip; in folders, files other
 * than images and arrays are skipped. */
static bool add_path(calibration *c, const char *path, const compiler *model, int depth)
{
    struct stat about;
    if (stat(path, &about))
        return cli_fail(0, "%s: %s", path, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return add_folder(c, path, model, depth);
    const bool image = S_ISREG(about.st_mode) && still_is_image(path);
    if (S_ISREG(about.st_mode) && !image && calibration_is_array(path))
        return add_arrays(c, path, model);
    if (!image && !depth)
        return calibration_add_clip(c, path);
    return !image || calibration_add(c, (calibration_image){.kind = CALIBRATION_STILL,
                                                            .name = (char *)(uintptr_t)path});
}

static int by_name(const void *a, const void *b)
{
    const calibration_image *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

/* ---- arrays of several inputs --------------------------------------------------------------- */

/* The input that a path names, NAME=FILE; the number of inputs: none. A file of that whole name is
 * meant itself. */
static unsigned named_input(const compiler *model, const char *path, const char **file)
{
    struct stat about;
    unsigned i = 0;
    for (; i < compiler_input_count(model) && stat(path, &about); i++) {
        const char *name = compiler_input(model, i).name;
        const size_t length = strlen(name);
        if (!strncmp(path, name, length) && path[length] == '=') {
            *file = path + length + 1;
            return i;
        }
    }
    return compiler_input_count(model);
}

/* Takes the paths that name an input, and counts them. */
static bool take_names(calibration *c, const option_list *paths, const compiler *model,
                       size_t *named)
{
    *named = 0;
    for (size_t k = 0; k < paths->count; k++) {
        const char *file = NULL;
        const unsigned i = named_input(model, paths->items[k], &file);
        if (i == compiler_input_count(model))
            continue;
        if (c->named[i])
            return cli_fail(0, "--calibrate: expected one file for input '%s', found %s and %s",
                            compiler_input(model, i).name, c->named[i], file);
        c->named[i] = file;
        ++*named;
    }
    return true;
}

/* Each input has a file, and all files have the same number of inputs. */
static bool add_named(calibration *c, const compiler *model)
{
    uint64_t first = 0;
    for (unsigned i = 0; i < compiler_input_count(model); i++) {
        const char *name = compiler_input(model, i).name;
        uint64_t count;
        if (!c->named[i])
            return cli_fail(0, "--calibrate: expected %s=FILE.npy as well", name);
        if (!calibration_array_count(c->named[i], model, i, &count))
            return false;
        first = i ? first : count;
        if (count != first)
            return cli_fail(
                0, "%s: expected input '%s' %" PRIu64 " times, as often as '%s'; found %" PRIu64,
                c->named[i], name, first, compiler_input(model, 0).name, count);
    }
    return add_arrays(c, c->named[0], model);
}

static bool add_paths(calibration *c, const option_list *paths, const compiler *model)
{
    for (size_t i = 0; i < paths->count; i++) {
        const size_t before = c->count;
        if (!add_path(c, paths->items[i], model, 0))
            return false;
        if (c->count == before)
            return cli_fail(0, "%s: expected PNG or JPEG images, .npy arrays or frames, found none",
                            paths->items[i]);
    }
    return true;
}

/* ---- all together --------------------------------------------------------------------------- */

bool calibration_open(calibration *c, const option_list *paths, size_t max,
                      const calibration_feed *feed, const compiler *model)
{
    *c = (calibration){.feed = *feed};
    size_t named;
    if (!take_names(c, paths, model, &named))
        return false;
    if (named && named < paths->count)
        return cli_fail(0, "--calibrate: expected NAME=FILE.npy for every input and nothing else");
    if (named ? !add_named(c, model) : !add_paths(c, paths, model))
        return false;
    if (c->count)
        qsort(c->images, c->count, sizeof *c->images, by_name);
    if (c->count > max) {
        for (size_t i = 0; i < c->count; i++) {
            const size_t keep = i * max / c->count; /* group of i; its first file is kept */
            if (i && keep == (i - 1) * max / c->count)
                calibration_drop(&c->images[i]);
            else
                c->images[keep] = c->images[i];
        }
        c->count = max;
    }
    return true;
}

void calibration_close(calibration *c)
{
    for (size_t i = 0; i < c->count; i++)
        calibration_drop(&c->images[i]);
    free(c->images);
    *c = (calibration){0};
}

const char *calibration_name(const calibration *c, size_t index)
{
    return c->images[index].name;
}

/* Steps by about the golden section of the count, with a step that shares no divisor with it. */
size_t calibration_spread(const calibration *c, size_t k)
{
    size_t step = (size_t)((double)c->count * 0.6180339887);
    while (greatest_divisor(step, c->count) != 1)
        step++;
    return k * step % c->count;
}
