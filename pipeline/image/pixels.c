// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/pixels.h"

#include <limits.h>

#include <libavutil/pixdesc.h>

#include "mona.h"
#include "pipeline/base/av_library.h"

enum AVPixelFormat pixels_plain(int format)
{
    switch (format) {
    case AV_PIX_FMT_YUVJ420P:
        return AV_PIX_FMT_YUV420P;
    case AV_PIX_FMT_YUVJ422P:
        return AV_PIX_FMT_YUV422P;
    case AV_PIX_FMT_YUVJ444P:
        return AV_PIX_FMT_YUV444P;
    case AV_PIX_FMT_YUVJ440P:
        return AV_PIX_FMT_YUV440P;
    case AV_PIX_FMT_YUVJ411P:
        return AV_PIX_FMT_YUV411P;
    default:
        return format;
    }
}

bool pixels_are_rgb(int format)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    return d && d->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL);
}

bool pixels_full_range(int format, enum AVColorRange range)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    if (pixels_are_rgb(format))
        return true;
    if (range != AVCOL_RANGE_UNSPECIFIED)
        return range == AVCOL_RANGE_JPEG;
    return format != pixels_plain(format) || (d && d->nb_components < 3);
}

const char *pixels_name(int format)
{
    const char *name = av_get_pix_fmt_name(format);
    return name ? name : "none";
}

/* Whether component i fills plane i alone, in words of the machine's byte order. */
static bool is_plane(const AVPixFmtDescriptor *d, int i)
{
    const AVComponentDescriptor *c = &d->comp[i];
    return c->plane == i && !c->offset && !c->shift && c->depth == d->comp[0].depth &&
           c->step == (c->depth > 8 ? 2 : 1);
}

static bool has_planes(const AVPixFmtDescriptor *d)
{
    const uint64_t other = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL |
                           AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_FLOAT |
                           AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_BE;
    bool planes = !(d->flags & other) && d->nb_components != 2;
    for (int i = 0; i < d->nb_components; i++)
        planes = planes && is_plane(d, i);
    return planes && d->comp[0].depth >= 8 && d->comp[0].depth <= PIXELS_MAX_BITS;
}

bool pixels_has_planes(int format)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    return d && has_planes(d);
}

bool pixels_check(const char *path, int format, pipeline_error *error)
{
    return pixels_has_planes(format) || pipeline_fail(error,
                                                      "%s: expected YUV, grey or RGB with 8 to %d "
                                                      "bits a sample, found %s",
                                                      path, PIXELS_MAX_BITS, pixels_name(format));
}

bool pixels_limit(const char *path, double most, uint32_t width, uint32_t height,
                  pipeline_error *error)
{
    return !(most > 0) || (double)width * height <= most ||
           pipeline_fail(error,
                         "%s: expected at most %.0f pixels (--limit pixels), found %ux%u, which "
                         "are %.0f",
                         path, most, width, height, (double)width * height);
}

int64_t pixels_limit_decoder(double most)
{
    const double rounded = most + 63. * MONA_MAX_SIDE;
    return rounded < INT_MAX ? (int64_t)rounded : INT_MAX; /* the option's own maximum */
}

bool pixels_limit_kept(const char *path, double most, pipeline_error *error)
{
    uint32_t width, height;
    return !av_log_errors_size(&width, &height) || pixels_limit(path, most, width, height, error);
}

/* The format with planes like these, but so many and of so many bits. */
static enum AVPixelFormat find_planes(const AVPixFmtDescriptor *from, int planes, int bits)
{
    const AVPixFmtDescriptor *d = NULL;
    while ((d = av_pix_fmt_desc_next(d)))
        if (has_planes(d) && d->comp[0].depth == bits && d->nb_components == planes &&
            d->log2_chroma_w == from->log2_chroma_w && d->log2_chroma_h == from->log2_chroma_h &&
            pixels_plain((int)av_pix_fmt_desc_get_id(d)) == av_pix_fmt_desc_get_id(d))
            return av_pix_fmt_desc_get_id(d);
    return AV_PIX_FMT_NONE;
}

enum AVPixelFormat pixels_with_bits(int format, unsigned bits)
{
    const AVPixFmtDescriptor *from = av_pix_fmt_desc_get(format);
    return find_planes(from, from->nb_components, (int)bits);
}

enum AVPixelFormat pixels_without_alpha(int format)
{
    const AVPixFmtDescriptor *from = av_pix_fmt_desc_get(format);
    return from->flags & AV_PIX_FMT_FLAG_ALPHA
               ? find_planes(from, from->nb_components - 1, from->comp[0].depth)
               : (enum AVPixelFormat)format;
}

frame_format pixels_frame_format(int format, int width, int height)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    return (frame_format){.width = (uint32_t)width,
                          .height = (uint32_t)height,
                          .planes = d->nb_components,
                          .shift_x = d->log2_chroma_w,
                          .shift_y = d->log2_chroma_h,
                          .bits = (unsigned)d->comp[0].depth};
}

chroma_location pixels_chroma_location(enum AVChromaLocation location)
{
    switch (location) {
    case AVCHROMA_LOC_CENTER:
        return (chroma_location){CHROMA_MIDDLE, CHROMA_MIDDLE};
    case AVCHROMA_LOC_TOPLEFT:
        return (chroma_location){CHROMA_FIRST, CHROMA_FIRST};
    case AVCHROMA_LOC_TOP:
        return (chroma_location){CHROMA_MIDDLE, CHROMA_FIRST};
    case AVCHROMA_LOC_BOTTOMLEFT:
        return (chroma_location){CHROMA_FIRST, CHROMA_LAST};
    case AVCHROMA_LOC_BOTTOM:
        return (chroma_location){CHROMA_MIDDLE, CHROMA_LAST};
    default:
        return (chroma_location){CHROMA_FIRST, CHROMA_MIDDLE};
    }
}

enum AVChromaLocation pixels_picture_location(enum AVCodecID id, enum AVChromaLocation told)
{
    const bool middle = id == AV_CODEC_ID_WEBP || id == AV_CODEC_ID_TIFF;
    return middle && told == AVCHROMA_LOC_UNSPECIFIED ? AVCHROMA_LOC_CENTER : told;
}
