// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/frame_convert.h"

#include <string.h>

#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

#include "pipeline/image/pixels.h"

enum AVColorSpace frame_convert_assumed(enum AVColorSpace named, int height)
{
    if (named != AVCOL_SPC_UNSPECIFIED && named != AVCOL_SPC_RGB)
        return named;
    return height >= 720 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
}

enum AVColorSpace frame_convert_matrix(const AVFrame *frame)
{
    return frame_convert_assumed(frame->colorspace, frame->height);
}

bool frame_convert_knows(enum AVColorSpace matrix)
{
    switch (matrix) {
    case AVCOL_SPC_RGB:
    case AVCOL_SPC_BT709:
    case AVCOL_SPC_UNSPECIFIED:
    case AVCOL_SPC_FCC:
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M:
    case AVCOL_SPC_SMPTE240M:
    case AVCOL_SPC_BT2020_NCL:
        return true;
    default:
        return false;
    }
}

/* libswscale counts in 256ths of a row or column of luma, from the first one. */
static int place(chroma_position at, int shift)
{
    return ((int)at + 1) * ((128 << shift) - 128);
}

static bool site(struct SwsContext *sws, const char *across, const char *down, int format,
                 enum AVChromaLocation location)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    const chroma_location at = pixels_chroma_location(location);
    return (!d->log2_chroma_w ||
            av_opt_set_int(sws, across, place(at.x, d->log2_chroma_w), 0) >= 0) &&
           (!d->log2_chroma_h || av_opt_set_int(sws, down, place(at.y, d->log2_chroma_h), 0) >= 0);
}

/* Subsampled chroma made from RGB is sited left, as players expect, and RGB is made of it where it
 * lies; libswscale's default is the middle. */
static bool site_chroma(struct SwsContext *sws, const AVFrame *from, const AVFrame *to)
{
    if (pixels_are_rgb(from->format))
        return site(sws, "dst_h_chr_pos", "dst_v_chr_pos", to->format, AVCHROMA_LOC_LEFT);
    return !pixels_are_rgb(to->format) ||
           site(sws, "src_h_chr_pos", "src_v_chr_pos", from->format, from->chroma_location);
}

static struct SwsContext *open_scaler(const AVFrame *from, const AVFrame *to, int flags)
{
    const struct option {
        const char *name;
        int value;
    } options[] = {{"srcw", from->width},
                   {"srch", from->height},
                   {"src_format", from->format},
                   {"src_range", pixels_full_range(from->format, from->color_range)},
                   {"dstw", to->width},
                   {"dsth", to->height},
                   {"dst_format", to->format},
                   {"dst_range", pixels_full_range(to->format, to->color_range)},
                   {"sws_flags", flags}};
    struct SwsContext *sws = sws_alloc_context();
    bool good = sws && site_chroma(sws, from, to);
    for (unsigned i = 0; good && i < sizeof options / sizeof *options; i++)
        good = av_opt_set_int(sws, options[i].name, options[i].value, 0) >= 0;
    if (good && sws_init_context(sws, NULL, NULL) >= 0)
        return sws;
    sws_freeContext(sws);
    return NULL;
}

/* `to` must have size, format, matrix and range. */
static bool scale_whole(const AVFrame *from, AVFrame *to)
{
    const int flags = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP;
    struct SwsContext *sws = open_scaler(from, to, flags);
    if (!sws)
        return false;
    sws_setColorspaceDetails(sws, sws_getCoefficients((int)frame_convert_matrix(from)),
                             pixels_full_range(from->format, from->color_range),
                             sws_getCoefficients((int)(to->colorspace == AVCOL_SPC_UNSPECIFIED
                                                           ? frame_convert_matrix(from)
                                                           : to->colorspace)),
                             pixels_full_range(to->format, to->color_range), 0, 1 << 16, 1 << 16);
    const int rows = sws_scale(sws, (const uint8_t *const *)from->data, from->linesize, 0,
                               from->height, to->data, to->linesize);
    sws_freeContext(sws);
    return rows == to->height;
}

/* Whether chroma has samples that reach beyond the picture: of 61 pixels, 31 for every two. */
static bool is_uneven(const AVFrame *f)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(f->format);
    return f->width & ((1 << d->log2_chroma_w) - 1) || f->height & ((1 << d->log2_chroma_h) - 1);
}

/* Repeats the last pixels of `from` in a larger frame of its format, which has whole bytes. */
static void fill_larger(AVFrame *to, const AVFrame *from)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(from->format);
    int steps[4];
    av_image_fill_max_pixsteps(steps, NULL, d);
    for (int p = 0; p < av_pix_fmt_count_planes(from->format); p++) {
        const bool chroma = p == 1 || p == 2;
        const int across = chroma ? d->log2_chroma_w : 0, down = chroma ? d->log2_chroma_h : 0;
        const int width = AV_CEIL_RSHIFT(from->width, across), step = steps[p];
        const int height = AV_CEIL_RSHIFT(from->height, down);
        for (int y = 0; y < AV_CEIL_RSHIFT(to->height, down); y++) {
            uint8_t *row = to->data[p] + y * (ptrdiff_t)to->linesize[p];
            memcpy(row, from->data[p] + FFMIN(y, height - 1) * (ptrdiff_t)from->linesize[p],
                   (size_t)width * (size_t)step);
            for (int x = width; x < AV_CEIL_RSHIFT(to->width, across); x++)
                memcpy(row + x * (ptrdiff_t)step, row + (x - 1) * (ptrdiff_t)step, (size_t)step);
        }
    }
}

static AVFrame *larger_of(const AVFrame *f)
{
    enum { WHOLE = 4 }; /* chroma has a sample for at most so many pixels a side */
    AVFrame *larger = av_frame_alloc();
    if (!larger)
        return NULL;
    larger->width = FFALIGN(f->width, WHOLE);
    larger->height = FFALIGN(f->height, WHOLE);
    larger->format = f->format;
    larger->color_range = f->color_range;
    larger->colorspace = f->colorspace;
    larger->chroma_location = f->chroma_location;
    if (av_frame_get_buffer(larger, 0) < 0)
        av_frame_free(&larger);
    return larger;
}

/* libswscale stretches chroma to the size of luma, so that in uneven sizes colours would lie up to
 * half a pixel beside their place. */
static bool scale(const AVFrame *from, AVFrame *to)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(from->format);
    const bool whole = !(d->flags & (AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM)) &&
                       (!d->log2_chroma_w || d->flags & AV_PIX_FMT_FLAG_PLANAR);
    if (from->width != to->width || from->height != to->height || !whole ||
        (!is_uneven(from) && !is_uneven(to)))
        return scale_whole(from, to);
    AVFrame *source = larger_of(from), *result = larger_of(to);
    bool good = source && result;
    if (good) {
        fill_larger(source, from);
        good = scale_whole(source, result);
    }
    if (good)
        av_image_copy(to->data, to->linesize, (const uint8_t **)result->data, result->linesize,
                      to->format, to->width, to->height);
    av_frame_free(&source);
    av_frame_free(&result);
    return good;
}

static bool is_limited_grey(const AVFrame *f)
{
    return pixels_has_planes(f->format) && av_pix_fmt_desc_get(f->format)->nb_components == 1 &&
           !pixels_full_range(f->format, f->color_range);
}

/* libswscale takes grey for full range, whatever it is told, but not what has neutral chroma. */
static bool scale_grey(const AVFrame *grey, AVFrame *to)
{
    const int bits = av_pix_fmt_desc_get(grey->format)->comp[0].depth;
    AVFrame *f = av_frame_alloc();
    if (!f)
        return false;
    f->width = grey->width;
    f->height = grey->height;
    f->format = pixels_with_bits(AV_PIX_FMT_YUV444P, (unsigned)bits);
    f->color_range = grey->color_range;
    bool good = av_frame_get_buffer(f, 0) >= 0;
    const frame_format format = pixels_frame_format(f->format, f->width, f->height);
    for (int y = 0; good && y < f->height; y++) {
        memcpy(f->data[0] + y * (ptrdiff_t)f->linesize[0],
               grey->data[0] + y * (ptrdiff_t)grey->linesize[0],
               (size_t)f->width * (bits > 8 ? 2 : 1));
        for (int p = 1; p < 3; p++)
            frame_set_samples(f->data[p] + y * (ptrdiff_t)f->linesize[p], &format, 1u << (bits - 1),
                              format.width);
    }
    good = good && scale(f, to);
    av_frame_free(&f);
    return good;
}

AVFrame *frame_convert_to(const AVFrame *from, const frame_convert_shape *shape,
                          pipeline_error *error)
{
    AVFrame *to = av_frame_alloc();
    if (!to)
        return pipeline_fail(error, "out of memory"), NULL;
    to->width = shape->width;
    to->height = shape->height;
    to->format = shape->format;
    to->color_range = shape->range;
    to->colorspace = shape->matrix;
    const bool grey = is_limited_grey(from) && pixels_are_rgb(to->format);
    if (av_frame_get_buffer(to, 0) >= 0 && (grey ? scale_grey(from, to) : scale(from, to)))
        return to;
    av_frame_free(&to);
    pipeline_fail(error, "a frame of %dx%d %s cannot be converted to %dx%d %s", from->width,
                  from->height, av_get_pix_fmt_name(from->format), shape->width, shape->height,
                  av_get_pix_fmt_name(shape->format));
    return NULL;
}

bool frame_convert_replace(AVFrame *frame, const frame_convert_shape *shape, pipeline_error *error)
{
    AVFrame *made = frame_convert_to(frame, shape, error);
    if (!made)
        return false;
    const bool copied = av_frame_copy_props(made, frame) >= 0;
    made->color_range = shape->range;
    made->colorspace = shape->matrix;
    av_frame_unref(frame);
    av_frame_move_ref(frame, made);
    av_frame_free(&made);
    return copied || pipeline_fail(error, "out of memory");
}

AVFrame *frame_convert(const AVFrame *from, int width, int height, enum AVPixelFormat format,
                       pipeline_error *error)
{
    const bool full = pixels_full_range(format, AVCOL_RANGE_UNSPECIFIED);
    /* JPEG allows only one matrix; between other YUV formats only the size changes. */
    const frame_convert_shape shape = {
        .width = width,
        .height = height,
        .format = format,
        .range = full ? AVCOL_RANGE_JPEG : from->color_range,
        .matrix = format == AV_PIX_FMT_YUVJ444P ? AVCOL_SPC_SMPTE170M : frame_convert_matrix(from)};
    return frame_convert_to(from, &shape, error);
}

static AVPacket *encode(const AVFrame *frame, enum AVCodecID id)
{
    const bool webp = id == AV_CODEC_ID_WEBP;
    const AVCodec *codec =
        webp ? avcodec_find_encoder_by_name("libwebp") : avcodec_find_encoder(id);
    AVCodecContext *encoder = codec ? avcodec_alloc_context3(codec) : NULL;
    AVPacket *packet = av_packet_alloc();
    bool good = encoder && packet;
    if (good) {
        encoder->width = frame->width;
        encoder->height = frame->height;
        encoder->pix_fmt = frame->format;
        encoder->color_range = AVCOL_RANGE_JPEG;
        encoder->time_base = (AVRational){1, 25};
        encoder->flags |= AV_CODEC_FLAG_QSCALE;
        encoder->global_quality = 2 * FF_QP2LAMBDA;
        good = (!webp || av_opt_set_int(encoder->priv_data, "lossless", 1, 0) >= 0) &&
               avcodec_open2(encoder, codec, NULL) >= 0 &&
               avcodec_send_frame(encoder, frame) >= 0 && avcodec_send_frame(encoder, NULL) >= 0 &&
               avcodec_receive_packet(encoder, packet) >= 0;
    }
    avcodec_free_context(&encoder);
    if (!good)
        av_packet_free(&packet);
    return packet;
}

AVPacket *frame_convert_encode(const AVFrame *rgb, picture_kind kind, pipeline_error *error)
{
    AVFrame *made = NULL;
    AVPacket *packet = NULL;
    if (kind == PICTURE_PNG)
        packet = encode(rgb, AV_CODEC_ID_PNG);
    else if ((made = frame_convert(rgb, rgb->width, rgb->height,
                                   kind == PICTURE_JPEG ? AV_PIX_FMT_YUVJ444P : AV_PIX_FMT_BGRA,
                                   error)))
        packet = encode(made, kind == PICTURE_JPEG ? AV_CODEC_ID_MJPEG : AV_CODEC_ID_WEBP);
    av_frame_free(&made);
    if (!packet)
        pipeline_fail(error, "a picture of %dx%d cannot be encoded", rgb->width, rgb->height);
    return packet;
}
