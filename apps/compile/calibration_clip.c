// SPDX-License-Identifier: Apache-2.0
/* Frames of clips for calibration. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/compile/calibration.h"
#include "pipeline/image/frame_convert.h"
#include "pipeline/io/sources/input.h"

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
static bool add_frames(calibration *c, input *clip, pipeline_error *error)
{
    const size_t first = c->count;
    uint64_t step = 1;
    input_result result;
    for (uint64_t n = 0; (result = input_next(clip, error)) == INPUT_FRAME; n++) {
        char name[4096];
        still copy;
        if (n % step)
            continue;
        if (c->count - first == CALIBRATION_FRAMES) {
            for (size_t i = 0; i < CALIBRATION_FRAMES; i++)
                if (i % 2)
                    calibration_drop(&c->images[first + i]);
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
        if (!calibration_add(c, (calibration_image){CALIBRATION_FRAME, name, copy, 0}))
            return false;
    }
    return result == INPUT_END;
}

bool calibration_add_clip(calibration *c, const char *path)
{
    input clip;
    pipeline_error error = {0};
    if (!input_open(&clip, &(input_settings){.path = path, .as_decoded = true}, &error)) {
        input_close(&clip);
        return cli_fail(0,
                        "%s: expected a PNG or JPEG image, a .npy array, a folder of them or a "
                        "clip",
                        path);
    }
    const bool ok = add_frames(c, &clip, &error);
    input_close(&clip);
    if (!ok && error.text[0])
        cli_fail(EXIT_FAILED, "%s", error.text);
    return ok;
}
