// SPDX-License-Identifier: Apache-2.0
/* The frames of a synthetic clip are decoded too: from a YUV4MPEG file, which costs little more
 * than a copy. To repeat the clip, a list for libav's concat demuxer names it several times. */
#include "apps/bench/bench_pipeline.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/options.h"

bool bench_clip_open(bench_clip *c)
{
    *c = (bench_clip){0};
    if (!temp_folder_open(&c->folder))
        return false;
    snprintf(c->frames, sizeof c->frames, "%s/in.y4m", c->folder.path);
    snprintf(c->input, sizeof c->input, "%s/in.ffconcat", c->folder.path);
    snprintf(c->output, sizeof c->output, "%s/out.mkv", c->folder.path);
    return true;
}

/* A moving gradient with noise, which neither a network nor an encoder skips. */
static void fill_plane(uint8_t *plane, uint32_t width, uint32_t height, uint32_t frame,
                       uint32_t *seed)
{
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            *seed = *seed * 1664525 + 1013904223;
            plane[(size_t)y * width + x] =
                (uint8_t)(((x + y + 3 * frame) >> 2 & 127) + 48 + (*seed >> 28));
        }
}

static bool write_frames(FILE *file, mona_size size, long frames, double fps, uint8_t *plane)
{
    const uint32_t w = size.width, h = size.height, cw = (w + 1) / 2, ch = (h + 1) / 2;
    uint32_t seed = 1;
    bool good = fprintf(file, "YUV4MPEG2 W%u H%u F%ld:1000 Ip A1:1 C420jpeg\n", w, h,
                        fps > 0 ? (long)(1000 * fps) : 30000) > 0;
    for (long f = 0; f < frames && good; f++) {
        good = fputs("FRAME\n", file) >= 0;
        for (int p = 0; p < 3 && good; p++) {
            const size_t bytes = p ? (size_t)cw * ch : (size_t)w * h;
            fill_plane(plane, p ? cw : w, p ? ch : h, (uint32_t)f, &seed);
            good = fwrite(plane, 1, bytes, file) == bytes;
        }
    }
    return good;
}

static bool write_list(FILE *file, long times)
{
    bool good = fputs("ffconcat version 1.0\n", file) >= 0;
    for (long i = 0; i < times && good; i++)
        good = fputs("file in.y4m\n", file) >= 0;
    return good;
}

static bool finish(FILE *file, bool good, const char *path)
{
    if (file && fclose(file))
        good = false;
    return good || cli_fail(0, "%s: cannot be written: %s", path, strerror(errno));
}

bool bench_clip_make(bench_clip *c, mona_size size, long frames, long plays, double fps)
{
    uint8_t *plane = malloc((size_t)size.width * size.height + 1);
    FILE *file = plane ? fopen(c->frames, "wb") : NULL;
    const bool written =
        finish(file, file && write_frames(file, size, frames, fps, plane), c->frames);
    free(plane);
    if (!written)
        return false;
    if (plays <= frames) {
        memcpy(c->input, c->frames, sizeof c->input);
        return true;
    }
    file = fopen(c->input, "wb");
    return finish(file, file && write_list(file, (plays + frames - 1) / frames), c->input);
}

void bench_clip_close(bench_clip *c)
{
    temp_folder_close(&c->folder);
}
