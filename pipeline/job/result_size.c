// SPDX-License-Identifier: Apache-2.0
#include "pipeline/job/job.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/image/orientation.h"
#include "pipeline/io/sources/input.h"

static mona_size turned(uint32_t width, uint32_t height, orientation turn)
{
    return orientation_swaps(turn) ? (mona_size){height, width} : (mona_size){width, height};
}

static bool size_of_picture(mona_size *size, const input_settings *in, pipeline_error *error)
{
    still image;
    const still_wish wish = {.max_pixels = in->max_pixels, .notes = &(pipeline_notes){0}};
    const bool good =
        still_read_head(&image, in->path) || still_read(&image, in->path, &wish, error);
    if (good)
        *size = turned(image.width, image.height,
                       orientation_of_exif(metadata_orientation(&image.metadata)));
    still_free(&image);
    return good;
}

static bool size_of_video(mona_size *size, const input_settings *in, pipeline_error *error)
{
    input f;
    pipeline_error unknown = {0};
    const bool good = input_open(&f,
                                 &(input_settings){.path = in->path,
                                                   .rate = in->rate,
                                                   .list = in->list,
                                                   .max_pixels = in->max_pixels,
                                                   .rotate = in->rotate,
                                                   .keeps_matrix = true},
                                 error);
    /* The first frame may say how it is turned. */
    if (good)
        (void)input_first(&f, &unknown);
    if (good)
        *size = turned((uint32_t)f.video->codecpar->width, (uint32_t)f.video->codecpar->height,
                       input_orientation(&f));
    input_close(&f);
    return good;
}

/* The size that the input is shown in. */
static bool input_size(mona_size *size, const input_settings *in, bool image, pipeline_error *error)
{
    if (in->raw && sscanf(in->raw, "%5ux%5u", &size->width, &size->height) == 2 && size->width &&
        size->height)
        return true;
    return image ? size_of_picture(size, in, error) : size_of_video(size, in, error);
}

static bool is_given(const result_size *asked)
{
    return asked->width || asked->height || asked->size.width;
}

bool result_size_is_late(const result_size *asked, mona_size shown, const input_settings *in)
{
    return is_given(asked) && !shown.width && !in->raw && !strcmp(in->path, "-");
}

bool result_size_scale(const result_size *asked, mona_size shown, const input_settings *from,
                       bool image, resize_scale *scale, pipeline_error *error)
{
    mona_size in = shown, out = {(uint32_t)asked->width, (uint32_t)asked->height};
    if (!is_given(asked))
        return true;
    if (asked->size.width)
        out = asked->size;
    if (!in.width && !input_size(&in, from, image, error))
        return false;
    scale->y = (double)out.height / in.height;
    scale->x = out.width ? (double)out.width / in.width : scale->y;
    if (!out.height)
        scale->y = scale->x;
    const double max = scale->x > scale->y ? scale->x : scale->y;
    const double min = scale->x < scale->y ? scale->x : scale->y;
    return (max <= RESIZE_MAX && min >= RESIZE_MIN) ||
           pipeline_misuse(error, "%s: expected %g to %d times the input's %ux%u, found %.4g times",
                           asked->size.width ? "--size"
                           : asked->width    ? "--width"
                                             : "--height",
                           RESIZE_MIN, RESIZE_MAX, in.width, in.height,
                           max > RESIZE_MAX ? max : min);
}
