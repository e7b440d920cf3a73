// SPDX-License-Identifier: Apache-2.0
/* Collects the images and frames for calibration. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "apps/compile/calibration.h"
#include "apps/compile/calibration_array.h"
#include "engine/arith.h"
#include "pipeline/io/footage.h"
#include "pipeline/image/frame_convert.h"

enum {
    MAX_FILES = 100000,
    MAX_DEPTH = 16, /* of nested folders */
};

/* ---- files -------------------------------------------------------------------------------- */

/* Takes over the frame and copies the name. */
static bool add_image(calibration *c, calibration_image image)
{
    if (c->count == MAX_FILES) {
        still_free(&image.frame);
        return true;
    }
    if (c->count == c->room) {
        const size_t room = c->room ? c->room * 2 : 64;
        calibration_image *images = realloc(c->images, room * sizeof *images);
        if (!images) {
            still_free(&image.frame);
            return !cli_fail(EXIT_FAILED, "out of memory");
        }
        c->images = images;
        c->room = room;
    }
    image.name = strdup(image.name);
    if (!image.name) {
        still_free(&image.frame);
        return !cli_fail(EXIT_FAILED, "out of memory");
    }
    c->images[c->count++] = image;
    return true;
}

static void free_image(calibration_image *image)
{
    free(image->name);
    still_free(&image->frame);
}

/* ---- clips -------------------------------------------------------------------------------- */

/* Copies the upper left corner of the frame in RGB, as far as calibration uses it. */
static bool copy_frame(const AVFrame *frame, still *copy, pipeline_error *error)
{
    AVFrame *rgb = frame_convert(frame, frame->width, frame->height, AV_PIX_FMT_RGB24, error);
    if (!rgb)
        return false;
    const uint32_t side = 2 * CALIBRATION_SIDE;
    *copy = (still){.channels = 3};
    copy->width = (uint32_t)rgb->width < side ? (uint32_t)rgb->width : side;
    copy->height = (uint32_t)rgb->height < side ? (uint32_t)rgb->height : side;
    const size_t row = (size_t)copy->width * 3;
    copy->pixels = malloc(row * copy->height);
    for (size_t y = 0; copy->pixels && y < copy->height; y++)
        memcpy(copy->pixels + y * row, rgb->data[0] + (ptrdiff_t)y * rgb->linesize[0], row);
    av_frame_free(&rgb);
    return copy->pixels || pipeline_fail(error, "out of memory");
}

/* Keeps the frames 0, s, 2 s, ... with the smallest power of two s at which they fit. As their
 * number is unknown, every second one is dropped whenever there are too many. */
static bool add_frames(calibration *c, footage *clip, pipeline_error *error)
{
    const size_t first = c->count;
    uint64_t step = 1;
    footage_result result;
    for (uint64_t n = 0; (result = footage_next(clip, error)) == FOOTAGE_FRAME; n++) {
        char name[4096];
        still copy;
        if (n % step)
            continue;
        if (c->count - first == CALIBRATION_FRAMES) {
            for (size_t i = 0; i < CALIBRATION_FRAMES; i++)
                if (i % 2)
                    free_image(&c->images[first + i]);
                else
                    c->images[first + i / 2] = c->images[first + i];
            c->count = first + CALIBRATION_FRAMES / 2;
            step *= 2;
            if (n % step)
                continue;
        }
        snprintf(name, sizeof name, "%s frame %08llu", clip->path, (unsigned long long)n);
        if (!copy_frame(clip->frame, &copy, error))
            return false;
        if (!add_image(c, (calibration_image){CALIBRATION_FRAME, name, copy, 0}))
            return false;
    }
    return result == FOOTAGE_END;
}

static bool add_clip(calibration *c, const char *path)
{
    footage clip = {0};
    pipeline_error error = {0};
    if (!footage_open(&clip, path, 0, 0, &error)) {
        footage_close(&clip);
        return !cli_fail(EXIT_FAILED,
                         "%s: expected a PNG or JPEG image, a .npy array, a folder of them or a "
                         "clip",
                         path);
    }
    const bool ok = add_frames(c, &clip, &error);
    footage_close(&clip);
    if (!ok && error.text[0])
        cli_fail(EXIT_FAILED, "%s", error.text);
    return ok;
}

/* ---- paths -------------------------------------------------------------------------------- */

static bool add_arrays(calibration *c, const char *path, const compiler *model)
{
    uint64_t count;
    bool floats, ok = calibration_array_count(path, model, &count, &floats);
    for (uint64_t i = 0; ok && i < count; i++)
        ok = add_image(c, (calibration_image){.kind = CALIBRATION_ARRAY,
                                              .name = (char *)(uintptr_t)path,
                                              .place = i});
    c->floats = c->floats || (ok && floats);
    return ok;
}

static bool add_path(calibration *c, const char *path, const compiler *model, int depth);

static bool add_folder(calibration *c, const char *path, const compiler *model, int depth)
{
    DIR *folder = opendir(path);
    if (!folder)
        return !cli_fail(EXIT_FAILED, "%s: %s", path, strerror(errno));
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
        return !cli_fail(EXIT_FAILED, "%s: %s", path, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return add_folder(c, path, model, depth);
    const bool image = S_ISREG(about.st_mode) && still_is_image(path);
    if (S_ISREG(about.st_mode) && !image && calibration_is_array(path))
        return add_arrays(c, path, model);
    if (!image && !depth)
        return add_clip(c, path);
    return !image || add_image(c, (calibration_image){.kind = CALIBRATION_STILL,
                                                      .name = (char *)(uintptr_t)path});
}

static int by_name(const void *a, const void *b)
{
    const calibration_image *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

bool calibration_open(calibration *c, const option_list *paths, size_t max,
                      const calibration_feed *feed, const compiler *model)
{
    *c = (calibration){.feed = *feed};
    for (size_t i = 0; i < paths->count; i++) {
        const size_t before = c->count;
        if (!add_path(c, paths->items[i], model, 0))
            return false;
        if (c->count == before)
            return !cli_fail(EXIT_FAILED,
                             "%s: expected PNG or JPEG images, .npy arrays or frames, found none",
                             paths->items[i]);
    }
    if (c->count)
        qsort(c->images, c->count, sizeof *c->images, by_name);
    if (c->count > max) {
        for (size_t i = 0; i < c->count; i++) {
            const size_t keep = i * max / c->count; /* group of i; its first file is kept */
            if (i && keep == (i - 1) * max / c->count)
                free_image(&c->images[i]);
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
        free_image(&c->images[i]);
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
