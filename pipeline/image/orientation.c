// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/orientation.h"

#include <string.h>

#include "pipeline/io/av_compat.h"

/* matrix: a display matrix of size bytes, or NULL. */
static orientation orientation_of_matrix(const int32_t *matrix, size_t size)
{
    if (!matrix || size < 9 * sizeof *matrix)
        return (orientation){0};
    /* 16.16 fixed point; [3 i + j]: the contribution of x (i = 0) and y (i = 1) to the result's
     * column (j = 0) and row (j = 1). */
    const orientation turn = {matrix[0] / 65536, matrix[1] / 65536, matrix[3] / 65536,
                              matrix[4] / 65536};
    const bool straight = turn.xx * turn.xx == 1 && turn.yy * turn.yy == 1 && !turn.xy && !turn.yx;
    const bool sideways = turn.xy * turn.xy == 1 && turn.yx * turn.yx == 1 && !turn.xx && !turn.yy;
    return straight || sideways ? turn : (orientation){0};
}

orientation orientation_of(const AVStream *stream)
{
    size_t size = 0;
    const uint8_t *matrix = avstream_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    return orientation_of_matrix((const int32_t *)(const void *)matrix, size);
}

orientation orientation_of_photo(const AVFrame *frame)
{
    const AVFrameSideData *matrix = av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX);
    return orientation_of_matrix(matrix ? (const int32_t *)(const void *)matrix->data : NULL,
                                 matrix ? matrix->size : 0);
}

orientation orientation_of_exif(unsigned exif)
{
    static const orientation turns[] = {{1, 0, 0, 1}, {-1, 0, 0, 1}, {-1, 0, 0, -1}, {1, 0, 0, -1},
                                        {0, 1, 1, 0}, {0, 1, -1, 0}, {0, -1, -1, 0}, {0, -1, 1, 0}};
    return exif >= 1 && exif <= 8 ? turns[exif - 1] : (orientation){0};
}

bool orientation_swaps(orientation turn)
{
    return turn.xy;
}

bool orientation_changes(orientation turn)
{
    return (turn.xx || turn.xy) && (turn.xx != 1 || turn.yy != 1);
}

void orientation_copy(orientation_pixels to, orientation_pixels from, int width, int height,
                      size_t pixel, orientation turn)
{
    const int across = orientation_swaps(turn) ? height : width;
    const int rows = orientation_swaps(turn) ? width : height;
    /* Where the sample at (0, 0) goes, so that all samples stay inside the picture. */
    const int right = turn.xx < 0 || turn.yx < 0 ? across - 1 : 0;
    const int down = turn.xy < 0 || turn.yy < 0 ? rows - 1 : 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const ptrdiff_t column = right + turn.xx * x + turn.yx * y;
            const ptrdiff_t row = down + turn.xy * x + turn.yy * y;
            memcpy(to.data + row * to.stride + (ptrdiff_t)pixel * column,
                   from.data + y * from.stride + (ptrdiff_t)pixel * x, pixel);
        }
}

bool orientation_turn(AVFrame *rgb, orientation turn, pipeline_error *error)
{
    enum { PIXEL = 3 };
    if (!orientation_changes(turn))
        return true;
    AVFrame *to = av_frame_alloc();
    const int width = rgb->width, height = rgb->height;
    if (to) {
        to->format = rgb->format;
        to->width = orientation_swaps(turn) ? height : width;
        to->height = orientation_swaps(turn) ? width : height;
    }
    if (!to || av_frame_get_buffer(to, 0) < 0) {
        av_frame_free(&to);
        return pipeline_fail(error, "out of memory");
    }
    orientation_copy((orientation_pixels){to->data[0], to->linesize[0]},
                     (orientation_pixels){rgb->data[0], rgb->linesize[0]}, width, height, PIXEL,
                     turn);
    av_frame_unref(rgb);
    av_frame_move_ref(rgb, to);
    av_frame_free(&to);
    return true;
}
