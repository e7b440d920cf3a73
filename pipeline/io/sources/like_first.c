// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/sources/input.h"

#include <stdio.h>
#include <string.h>

#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

#include "pipeline/image/pixels.h"

/* Those without a shape have square ones. */
static AVRational shape_of(const AVFrame *f)
{
    return f->sample_aspect_ratio.num > 0 ? f->sample_aspect_ratio : (AVRational){1, 1};
}

void like_first_begin(like_first *l, const AVFrame *first)
{
    *l = (like_first){.pixel = shape_of(first),
                      .turn = orientation_of_still(first),
                      .range = first->color_range,
                      .matrix = first->colorspace,
                      .primaries = first->color_primaries,
                      .transfer = first->color_trc};
}

/* Of YUV; other formats have no matrix and one range. */
static bool has_colours(int format)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    return d->nb_components > 2 && !pixels_are_rgb(format);
}

static bool same_matrix(enum AVColorSpace a, enum AVColorSpace b)
{
    enum { COEFFICIENTS = 4 };
    return !memcmp(sws_getCoefficients((int)a), sws_getCoefficients((int)b),
                   COEFFICIENTS * sizeof(int));
}

bool like_first_colours(const like_first *l, const AVFrame *frame, enum AVPixelFormat first)
{
    const bool range = frame->color_range != AVCOL_RANGE_UNSPECIFIED,
               matrix = frame->colorspace != AVCOL_SPC_UNSPECIFIED;
    return !has_colours(frame->format) ||
           ((!range || pixels_full_range(frame->format, frame->color_range) ==
                           pixels_full_range(first, l->range)) &&
            (!matrix ||
             same_matrix(frame->colorspace, frame_convert_assumed(l->matrix, frame->height))));
}

/* libav has no name for values that a later standard defines. */
static const char *named(const char *name)
{
    return name ? name : "unknown";
}

typedef struct description {
    char text[96];
} description;

static description colours(int format, enum AVColorRange range, enum AVColorSpace matrix,
                           int height)
{
    description d;
    snprintf(d.text, sizeof d.text, "%s range and %s",
             pixels_full_range(format, range) ? "full" : "limited",
             named(av_color_space_name(frame_convert_assumed(matrix, height))));
    return d;
}

static description size_and_format(int width, int height, int format)
{
    description d;
    snprintf(d.text, sizeof d.text, "%dx%d %s", width, height, pixels_name(format));
    return d;
}

bool like_first_convert(like_first *l, AVFrame *frame, const AVCodecParameters *video, int width,
                        int height, double seconds, const char *path, const pipeline_notes *notes,
                        pipeline_error *error)
{
    const frame_convert_shape shape = {
        .width = width,
        .height = height,
        .format = pixels_plain(video->format),
        .range = pixels_full_range(video->format, l->range) ? AVCOL_RANGE_JPEG : l->range,
        .matrix = frame_convert_assumed(l->matrix, height)};
    const bool resized = frame->width != width || frame->height != height ||
                         pixels_plain(frame->format) != shape.format;
    const description from = resized ? size_and_format(frame->width, frame->height, frame->format)
                                     : colours(frame->format, frame->color_range, frame->colorspace,
                                               height),
                      to = resized ? size_and_format(width, height, shape.format)
                                   : colours(video->format, l->range, l->matrix, height);
    if (!l->converted)
        pipeline_note(notes,
                      "%s: from %.2f s on, frames have %s; they are converted to %s like the first",
                      path, seconds, from.text, to.text);
    l->converted = true;
    av_frame_remove_side_data(frame, AV_FRAME_DATA_VIDEO_ENC_PARAMS); /* of blocks elsewhere */
    frame->sample_aspect_ratio = video->sample_aspect_ratio;
    if (!pixels_full_range(frame->format, frame->color_range))
        frame->format = pixels_plain(frame->format);
    if (!frame_convert_replace(frame, &shape, error))
        return false;
    frame->color_range = l->range;
    frame->colorspace = l->matrix;
    return true;
}

static bool differs(int named, int first, int unspecified)
{
    return named != unspecified && first != unspecified && named != first;
}

void like_first_tell(like_first *l, const AVFrame *frame, double seconds, const char *path,
                     const pipeline_notes *notes)
{
    const AVRational pixel = shape_of(frame);
    const bool reshaped = av_cmp_q(pixel, l->pixel) != 0;
    if (l->told)
        return;
    if (reshaped)
        pipeline_note(notes,
                      "%s: from %.2f s on, the shape of pixels is %d:%d; the result keeps the "
                      "first one, %d:%d",
                      path, seconds, pixel.num, pixel.den, l->pixel.num, l->pixel.den);
    const bool recoloured =
        differs((int)frame->color_trc, (int)l->transfer, AVCOL_TRC_UNSPECIFIED) ||
        differs((int)frame->color_primaries, (int)l->primaries, AVCOL_PRI_UNSPECIFIED);
    if (recoloured)
        pipeline_note(
            notes,
            "%s: from %.2f s on, colours have the transfer curve %s and the primaries %s; "
            "the result names the first ones, %s and %s",
            path, seconds, named(av_color_transfer_name(frame->color_trc)),
            named(av_color_primaries_name(frame->color_primaries)),
            named(av_color_transfer_name(l->transfer)),
            named(av_color_primaries_name(l->primaries)));
    const orientation turn = orientation_of_still(frame);
    const bool turned = (orientation_changes(turn) || orientation_changes(l->turn)) &&
                        (turn.xx || turn.xy) && memcmp(&turn, &l->turn, sizeof turn) != 0;
    if (turned)
        pipeline_note(
            notes,
            "%s: from %.2f s on, frames say that they are turned otherwise; the result is "
            "turned like the first",
            path, seconds);
    l->told = reshaped || recoloured || turned;
}
