// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/picture_planes.h"

#include <string.h>

#include <libavutil/bswap.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

#include "pipeline/image/pixels.h"
#include "pipeline/image/frame_convert.h"

/* The same planes in words of the machine's byte order; NONE: they are that, or there are none. */
static enum AVPixelFormat in_own_order(int format)
{
    const enum AVPixelFormat own = av_pix_fmt_swap_endianness(format);
    return !pixels_has_planes(format) && pixels_has_planes(own) ? own : AV_PIX_FMT_NONE;
}

/* libswscale rounds some of these, so that samples would change. */
bool picture_own_order(AVFrame *frame, pipeline_error *error)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(frame->format);
    if (in_own_order(frame->format) == AV_PIX_FMT_NONE)
        return true;
    if (av_frame_make_writable(frame) < 0)
        return pipeline_fail(error, "out of memory");
    frame->format = in_own_order(frame->format);
    for (int p = 0; p < d->nb_components; p++) {
        const bool chroma = p == 1 || p == 2;
        const int width = AV_CEIL_RSHIFT(frame->width, chroma ? d->log2_chroma_w : 0);
        const int height = AV_CEIL_RSHIFT(frame->height, chroma ? d->log2_chroma_h : 0);
        for (int y = 0; y < height; y++) {
            uint8_t *row = frame->data[p] + y * (ptrdiff_t)frame->linesize[p];
            uint16_t *words = (uint16_t *)(void *)row;
            for (int x = 0; x < width; x++)
                words[x] = av_bswap16(words[x]);
        }
    }
    return true;
}

/* Luma and chroma in packed form, as from cameras: conversion only moves samples. */
static bool is_packed_yuv(int format)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    return d && !pixels_are_rgb(format) && d->nb_components == 3 && !pixels_has_planes(format);
}

static enum AVPixelFormat unpacked(const AVPixFmtDescriptor *d)
{
    const enum AVPixelFormat plain =
        d->log2_chroma_h        ? d->log2_chroma_w == 1 ? AV_PIX_FMT_YUV420P : AV_PIX_FMT_NONE
        : d->log2_chroma_w == 0 ? AV_PIX_FMT_YUV444P
        : d->log2_chroma_w == 1 ? AV_PIX_FMT_YUV422P
                                : AV_PIX_FMT_YUV411P;
    return plain == AV_PIX_FMT_NONE ? plain : pixels_with_bits(plain, (unsigned)d->comp[0].depth);
}

/* Full range and two bits more than RGB has restore its colours exactly. FFV1 has alpha of 10 and
 * 16 bits. */
static enum AVPixelFormat whole_planes(unsigned depth, bool alpha, bool colour)
{
    if (depth <= 8)
        return alpha ? AV_PIX_FMT_YUVA444P : colour ? AV_PIX_FMT_YUV444P : AV_PIX_FMT_GRAY8;
    return alpha         ? AV_PIX_FMT_YUVA444P16
           : !colour     ? AV_PIX_FMT_GRAY16
           : depth <= 10 ? AV_PIX_FMT_YUV444P12
                         : AV_PIX_FMT_YUV444P16;
}

enum AVPixelFormat picture_planes_format(int found, picture_chroma chroma)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(found);
    if (!d || d->flags & (AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_FLOAT))
        return AV_PIX_FMT_NONE;
    if (pixels_has_planes(found))
        return found;
    if (in_own_order(found) != AV_PIX_FMT_NONE)
        return in_own_order(found);
    if (!sws_isSupportedInput(found) || !strncmp(d->name, "xyz", 3) ||
        (!pixels_are_rgb(found) && d->nb_components > 3))
        return AV_PIX_FMT_NONE;
    if (is_packed_yuv(found))
        return unpacked(d);
    const bool colour = pixels_are_rgb(found);
    const unsigned depth = (unsigned)d->comp[0].depth;
    /* Every palette format can have alpha; whether a palette does is known only once it is
     * decoded. */
    const bool alpha = d->flags & AV_PIX_FMT_FLAG_ALPHA && !(d->flags & AV_PIX_FMT_FLAG_PAL);
    if (chroma == PICTURE_444)
        return whole_planes(depth, alpha, colour);
    if (chroma == PICTURE_422_10)
        return alpha ? AV_PIX_FMT_YUVA444P10 : colour ? AV_PIX_FMT_YUV422P10 : AV_PIX_FMT_GRAY8;
    const enum AVPixelFormat plain = alpha    ? AV_PIX_FMT_YUVA420P
                                     : colour ? AV_PIX_FMT_YUV420P
                                              : AV_PIX_FMT_GRAY8;
    return pixels_with_bits(plain, depth > 8 ? 10 : 8);
}

static bool is_whole(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    return !d->log2_chroma_w && !d->log2_chroma_h;
}

/* ProRes has ten bits, which nothing else here has with all chroma, and treats everything as
 * limited range. */
static enum AVColorRange range_of(enum AVPixelFormat format)
{
    const bool prores = av_pix_fmt_desc_get(format)->comp[0].depth == 10;
    return is_whole(format) && !prores ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
}

void picture_planes_describe(AVCodecParameters *video, enum AVPixelFormat format)
{
    const bool colour = av_pix_fmt_desc_get(format)->nb_components >= 3;
    if (is_packed_yuv(video->format) || in_own_order(video->format) == format) {
        video->format = format;
        return;
    }
    if (video->color_range == AVCOL_RANGE_UNSPECIFIED)
        video->color_range = AVCOL_RANGE_JPEG;
    if (video->format == format)
        return;
    video->format = format;
    video->color_range = range_of(format);
    video->color_space = colour ? AVCOL_SPC_BT709 : AVCOL_SPC_UNSPECIFIED;
    if (video->color_primaries == AVCOL_PRI_UNSPECIFIED)
        video->color_primaries = AVCOL_PRI_BT709;
    if (video->color_trc == AVCOL_TRC_UNSPECIFIED)
        video->color_trc = AVCOL_TRC_IEC61966_2_1;
    video->chroma_location = is_whole(format) ? AVCHROMA_LOC_UNSPECIFIED : AVCHROMA_LOC_LEFT;
}

/* libswscale sometimes rounds alpha, which must not change. For 8 bits. */
static void copy_alpha(AVFrame *to, const AVFrame *from)
{
    const AVPixFmtDescriptor *t = av_pix_fmt_desc_get(to->format);
    const AVPixFmtDescriptor *f = av_pix_fmt_desc_get(from->format);
    const AVComponentDescriptor *a = &t->comp[t->nb_components - 1];
    const AVComponentDescriptor *b = &f->comp[f->nb_components - 1];
    const uint64_t alpha = AV_PIX_FMT_FLAG_ALPHA;
    if (!(t->flags & f->flags & alpha) || f->flags & AV_PIX_FMT_FLAG_PAL || a->depth != 8 ||
        b->depth != 8)
        return;
    for (int y = 0; y < from->height; y++) {
        uint8_t *row = to->data[a->plane] + y * (ptrdiff_t)to->linesize[a->plane] + a->offset;
        const uint8_t *old =
            from->data[b->plane] + y * (ptrdiff_t)from->linesize[b->plane] + b->offset;
        for (int x = 0; x < from->width; x++)
            row[x * a->step] = old[x * b->step];
    }
}

/* Grey may become colour, but not the reverse; other planes stay as they are. */
static bool is_to_be_made(int from, enum AVPixelFormat to)
{
    const bool colour = av_pix_fmt_desc_get(from)->nb_components >= 3 || from == AV_PIX_FMT_PAL8;
    if (pixels_plain(from) == pixels_plain(to))
        return false;
    return !colour || (!pixels_has_planes(from) && av_pix_fmt_desc_get(to)->nb_components > 1);
}

static bool replace(AVFrame *frame, const frame_convert_shape *shape, pipeline_error *error)
{
    AVFrame *old = av_frame_clone(frame);
    const bool good =
        old ? frame_convert_replace(frame, shape, error) : pipeline_fail(error, "out of memory");
    if (good)
        copy_alpha(frame, old);
    av_frame_free(&old);
    return good;
}

bool picture_planes(AVFrame *frame, enum AVPixelFormat format, pipeline_error *error)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(frame->format);
    const enum AVColorSpace matrix = frame->colorspace;
    frame_convert_shape shape = {.width = frame->width,
                                 .height = frame->height,
                                 .format = format,
                                 .range = range_of(format),
                                 .matrix = AVCOL_SPC_BT709};
    if (in_own_order(frame->format) != AV_PIX_FMT_NONE) {
        if (!picture_own_order(frame, error))
            return false;
        if (frame->format == format)
            return true;
    }
    if (is_packed_yuv(frame->format)) {
        shape.range = frame->color_range;
        shape.matrix = AVCOL_SPC_UNSPECIFIED;
        const bool moved = !is_to_be_made(frame->format, format) || replace(frame, &shape, error);
        frame->colorspace = matrix;
        return moved;
    }
    if (frame->color_range == AVCOL_RANGE_UNSPECIFIED)
        frame->color_range = AVCOL_RANGE_JPEG;
    if (!is_to_be_made(frame->format, format))
        return true;
    /* From palettes and formats with few bits, libswscale always makes BT.601. */
    const frame_convert_shape rgb = {.width = frame->width,
                                     .height = frame->height,
                                     .format = AV_PIX_FMT_RGB24,
                                     .range = AVCOL_RANGE_JPEG,
                                     .matrix = AVCOL_SPC_RGB};
    const bool coarse =
        pixels_are_rgb(frame->format) && (d->flags & AV_PIX_FMT_FLAG_PAL || d->comp[0].depth < 5);
    return (!coarse || replace(frame, &rgb, error)) && replace(frame, &shape, error);
}

AVFrame *picture_of_planes(const AVFrame *frame, pipeline_error *error)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(frame->format);
    const bool deep = d->comp[0].depth > 8, alpha = d->flags & AV_PIX_FMT_FLAG_ALPHA;
    const bool full = frame->color_range == AVCOL_RANGE_JPEG;
    enum AVPixelFormat format = deep ? AV_PIX_FMT_RGB48BE : AV_PIX_FMT_RGB24;
    if (alpha)
        format = deep ? AV_PIX_FMT_RGBA64BE : AV_PIX_FMT_RGBA;
    else if (d->nb_components == 1 && full)
        format = deep ? AV_PIX_FMT_GRAY16BE : AV_PIX_FMT_GRAY8;
    AVFrame *picture = frame_convert(frame, frame->width, frame->height, format, error);
    if (picture)
        copy_alpha(picture, frame);
    return picture;
}
