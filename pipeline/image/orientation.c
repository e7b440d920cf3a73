// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/orientation.h"

#include <string.h>

#include <libavutil/pixdesc.h>

#include "pipeline/base/av_compat.h"

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

void orientation_matrix(int32_t *matrix, orientation turn)
{
    const int32_t one = 65536;
    const int32_t whole[9] = {
        turn.xx * one, turn.xy * one, 0, turn.yx * one, turn.yy * one, 0, 0, 0, 1 << 30};
    memcpy(matrix, whole, sizeof whole);
}

orientation orientation_of(const AVStream *stream)
{
    size_t size = 0;
    const uint8_t *matrix = avstream_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    return orientation_of_matrix((const int32_t *)(const void *)matrix, size);
}

orientation orientation_of_still(const AVFrame *frame)
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

orientation orientation_wanted(rotation rotate, const AVStream *stream)
{
    static const unsigned exif[] = {[ROTATION_NONE] = 1, 6, 3, 8};
    return rotate == ROTATION_AUTO ? orientation_of(stream) : orientation_of_exif(exif[rotate]);
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

/* Bytes of a pixel in a plane; 0: its components differ in that. */
static size_t pixel_bytes(const AVPixFmtDescriptor *format, int plane)
{
    int step = 0;
    for (int i = 0; i < format->nb_components; i++) {
        const AVComponentDescriptor *c = &format->comp[i];
        if (c->plane != plane)
            continue;
        if (step && step != c->step)
            return 0;
        step = c->step;
    }
    return (size_t)step;
}

bool orientation_takes(enum AVPixelFormat pix_fmt, orientation turn)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(pix_fmt);
    const uint64_t other =
        AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL;
    if (!format || format->flags & other ||
        (orientation_swaps(turn) && format->log2_chroma_w != format->log2_chroma_h))
        return false;
    for (int p = 0; p < av_pix_fmt_count_planes(pix_fmt); p++)
        if (!pixel_bytes(format, p))
            return false;
    return true;
}

/* Of LEFT to BOTTOM: -1 is the first of the samples that share chroma, 0 their middle, 1 the last.
 */
static int chroma_x(int location)
{
    return ((location - AVCHROMA_LOC_LEFT) & 1) - 1;
}

static int chroma_y(int location)
{
    return location >= AVCHROMA_LOC_BOTTOMLEFT ? 1 : location >= AVCHROMA_LOC_TOPLEFT ? -1 : 0;
}

enum AVChromaLocation orientation_chroma(enum AVChromaLocation location, orientation turn)
{
    const int x = chroma_x((int)location), y = chroma_y((int)location);
    const int column = turn.xx * x + turn.yx * y, row = turn.xy * x + turn.yy * y;
    int to = AVCHROMA_LOC_LEFT;
    if (location == AVCHROMA_LOC_UNSPECIFIED || !orientation_changes(turn))
        return location;
    while (to < AVCHROMA_LOC_BOTTOM && (chroma_x(to) != FFMIN(column, 0) || chroma_y(to) != row))
        to++;
    return (enum AVChromaLocation)to;
}

static AVFrame *frame_for(const AVFrame *frame, orientation turn)
{
    AVFrame *to = av_frame_alloc();
    if (!to)
        return NULL;
    to->format = frame->format;
    to->width = orientation_swaps(turn) ? frame->height : frame->width;
    to->height = orientation_swaps(turn) ? frame->width : frame->height;
    if (av_frame_get_buffer(to, 0) < 0 || av_frame_copy_props(to, frame) < 0) {
        av_frame_free(&to);
        return NULL;
    }
    if (orientation_swaps(turn) && frame->sample_aspect_ratio.num > 0)
        to->sample_aspect_ratio = av_inv_q(frame->sample_aspect_ratio);
    to->chroma_location = orientation_chroma(frame->chroma_location, turn);
    av_frame_remove_side_data(to, AV_FRAME_DATA_DISPLAYMATRIX);
    return to;
}

bool orientation_check(enum AVPixelFormat format, orientation turn, pipeline_error *error)
{
    const char *name = av_get_pix_fmt_name(format);
    return !orientation_changes(turn) || orientation_takes(format, turn) ||
           pipeline_fail(error,
                         "frames of %s cannot be turned like that; ffmpeg -i IN -pix_fmt "
                         "yuv420p OUT makes some that can",
                         name ? name : "an unknown format");
}

bool orientation_turn(AVFrame *frame, orientation turn, pipeline_error *error)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    if (!orientation_changes(turn))
        return true;
    if (!orientation_check(frame->format, turn, error))
        return false;
    AVFrame *to = frame_for(frame, turn);
    if (!to)
        return pipeline_fail(error, "out of memory");
    for (int p = 0; p < av_pix_fmt_count_planes(frame->format); p++) {
        const bool chroma = p == 1 || p == 2;
        orientation_copy((orientation_pixels){to->data[p], to->linesize[p]},
                         (orientation_pixels){frame->data[p], frame->linesize[p]},
                         AV_CEIL_RSHIFT(frame->width, chroma ? format->log2_chroma_w : 0),
                         AV_CEIL_RSHIFT(frame->height, chroma ? format->log2_chroma_h : 0),
                         pixel_bytes(format, p), turn);
    }
    av_frame_unref(frame);
    av_frame_move_ref(frame, to);
    av_frame_free(&to);
    return true;
}
