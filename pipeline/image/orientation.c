// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/orientation.h"

#include <string.h>

#include "pipeline/io/av_compat.h"

upright upright_of(const AVStream *stream)
{
    size_t size = 0;
    const int32_t *matrix = avstream_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    if (!matrix || size < 9 * sizeof *matrix)
        return (upright){0};
    /* 16.16 fixed point; [3 i + j]: what x (i = 0) and y (i = 1) add to the place across (j = 0)
     * and down (j = 1). */
    const upright turn = {matrix[0] / 65536, matrix[1] / 65536, matrix[3] / 65536,
                          matrix[4] / 65536};
    const bool straight = turn.xx * turn.xx == 1 && turn.yy * turn.yy == 1 && !turn.xy && !turn.yx;
    const bool sideways = turn.xy * turn.xy == 1 && turn.yx * turn.yx == 1 && !turn.xx && !turn.yy;
    return straight || sideways ? turn : (upright){0};
}

bool upright_swaps(upright turn)
{
    return turn.xy;
}

bool upright_turn(AVFrame *rgb, upright turn, pipeline_error *error)
{
    enum { PIXEL = 3 };
    if ((!turn.xx && !turn.xy) || (turn.xx == 1 && turn.yy == 1))
        return true;
    AVFrame *to = av_frame_alloc();
    const int width = rgb->width, height = rgb->height;
    if (to) {
        to->format = rgb->format;
        to->width = upright_swaps(turn) ? height : width;
        to->height = upright_swaps(turn) ? width : height;
    }
    if (!to || av_frame_get_buffer(to, 0) < 0) {
        av_frame_free(&to);
        return pipeline_fail(error, "out of memory");
    }
    /* Where the sample at (0, 0) goes, so that none leaves the picture. */
    const int right = turn.xx < 0 || turn.yx < 0 ? to->width - 1 : 0;
    const int down = turn.xy < 0 || turn.yy < 0 ? to->height - 1 : 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const ptrdiff_t column = right + turn.xx * x + turn.yx * y;
            const ptrdiff_t row = down + turn.xy * x + turn.yy * y;
            memcpy(to->data[0] + row * to->linesize[0] + PIXEL * column,
                   rgb->data[0] + y * (ptrdiff_t)rgb->linesize[0] + (ptrdiff_t)PIXEL * x, PIXEL);
        }
    av_frame_unref(rgb);
    av_frame_move_ref(rgb, to);
    av_frame_free(&to);
    return true;
}
