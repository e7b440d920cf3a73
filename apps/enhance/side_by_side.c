// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/preview.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apps/enhance/font.h"

static const uint8_t *pixel(const AVFrame *f, int x, int y)
{
    return f->data[0] + y * (ptrdiff_t)f->linesize[0] + 3 * (ptrdiff_t)x;
}

/* Of one pixel in 16. */
static uint64_t change_of(const AVFrame *before, const AVFrame *after, picture_part p)
{
    enum { STEP = 4 };
    uint64_t sum = 0;
    for (int y = p.y; y < p.y + p.height; y += STEP)
        for (int x = p.x; x < p.x + p.width; x += STEP)
            for (int c = 0; c < 3; c++)
                sum += (uint64_t)abs(pixel(before, x, y)[c] - pixel(after, x, y)[c]);
    return sum;
}

picture_part side_most_changed(const AVFrame *before, const AVFrame *after)
{
    enum { STEP = SIDE_MAX / 4 };
    picture_part p = {.width = FFMIN(after->width, SIDE_MAX),
                      .height = FFMIN(after->height, SIDE_MAX)},
                 best = p;
    uint64_t most = 0;
    const int right = after->width - p.width, bottom = after->height - p.height;
    for (int y = 0; y < bottom + STEP; y += STEP)
        for (int x = 0; x < right + STEP; x += STEP) {
            p.x = FFMIN(x, right);
            p.y = FFMIN(y, bottom);
            const uint64_t change = change_of(before, after, p);
            if (change > most) {
                most = change;
                best = p;
            }
        }
    return best;
}

static void copy_part(AVFrame *to, int at, const AVFrame *from, picture_part p)
{
    for (int y = 0; y < p.height; y++)
        memcpy(to->data[0] + (SIDE_LABEL + y) * (ptrdiff_t)to->linesize[0] + 3 * (ptrdiff_t)at,
               pixel(from, p.x, p.y + y), 3 * (size_t)p.width);
}

/* In the middle of the strip above, as large as fits. */
static void write_label(AVFrame *to, int at, int width, const char *text)
{
    enum { ACROSS = 6, DOWN = 7, MARGIN = 4 };
    const int cells = ACROSS * (int)strlen(text);
    const int cell = FFMIN((width - MARGIN) / cells, (SIDE_LABEL - 2 * MARGIN) / DOWN);
    const int left = at + (width - cell * cells) / 2, top = (SIDE_LABEL - cell * DOWN) / 2;
    for (int y = 0; y < cell * DOWN; y++)
        for (int x = 0; x < cell * cells; x++) {
            const uint8_t *rows = font_glyph(text[x / cell / ACROSS]);
            if (font_cell(rows, x / cell % ACROSS, y / cell))
                memset(to->data[0] + (top + y) * (ptrdiff_t)to->linesize[0] +
                           3 * (ptrdiff_t)(left + x),
                       255, 3);
        }
}

AVFrame *side_by_side(const AVFrame *before, const AVFrame *after, picture_part part,
                      pipeline_error *error)
{
    AVFrame *both = av_frame_alloc();
    if (both) {
        both->format = AV_PIX_FMT_RGB24;
        both->width = 2 * part.width;
        both->height = SIDE_LABEL + part.height;
    }
    if (!both || av_frame_get_buffer(both, 0) < 0) {
        av_frame_free(&both);
        pipeline_fail(error, "out of memory");
        return NULL;
    }
    for (int y = 0; y < SIDE_LABEL; y++)
        memset(both->data[0] + y * (ptrdiff_t)both->linesize[0], 0, 3 * (size_t)both->width);
    write_label(both, 0, part.width, "BEFORE");
    write_label(both, part.width, part.width, "AFTER");
    copy_part(both, 0, before, part);
    copy_part(both, part.width, after, part);
    return both;
}
