// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/still_codec.h"

#include <stdlib.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/imgutils.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/pixdesc.h>

#include "mona.h"
#include "pipeline/image/picture_planes.h"
#include "pipeline/image/frame_convert.h"
#include "pipeline/image/picture_kind.h"
#include "pipeline/image/pixels.h"
#include "pipeline/base/av_library.h"

typedef struct decoding {
    const char *path;
    AVPacket *packet;
    AVCodecContext *decoder;
    AVFrame *frame, *picture; /* as coded; as RGB or grey */
    tiff_info tiff;           /* zeroed: it is none */
    double max_pixels;        /* 0: any number */
    uint8_t fill;             /* initial value of the samples, which shows what was not decoded */
    bool cut_off;
} decoding;

static void decoding_close(decoding *d)
{
    av_frame_free(&d->picture);
    av_frame_free(&d->frame);
    av_packet_free(&d->packet);
    avcodec_free_context(&d->decoder);
}

/* ---- the file's bytes ----------------------------------------------------------------------- */

static const uint8_t png_end[12] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};

/* libav accepts only whole chunks. A chunk that is cut off gets the length of the bytes that are
 * there, any checksum, as none is verified, and the end of a PNG after it. Returns the new size. */
static size_t mend_png(uint8_t *file, size_t size, bool *cut_off)
{
    size_t at = 8;
    *cut_off = true;
    while (size - at >= sizeof png_end) {
        const size_t left = size - at - sizeof png_end;
        const size_t length =
            (size_t)file[at] << 24 | (size_t)file[at + 1] << 16 | file[at + 2] << 8 | file[at + 3];
        *cut_off = memcmp(file + at + 4, "IEND", 4) != 0;
        if (!*cut_off)
            return size;
        if (length > left) {
            for (int i = 0; i < 4; i++)
                file[at + (size_t)i] = (uint8_t)(left >> (24 - 8 * i));
            at = size;
            break;
        }
        at += length + sizeof png_end;
    }
    memcpy(file + at, png_end, sizeof png_end);
    return at + sizeof png_end;
}

static bool fill_packet(decoding *d, const uint8_t *file, size_t size, picture_kind kind)
{
    d->packet = av_packet_alloc();
    if (!d->packet || av_new_packet(d->packet, (int)(size + sizeof png_end)) < 0)
        return false;
    memcpy(d->packet->data, file, size);
    if (kind == PICTURE_JPEG)
        d->cut_off = !jpeg_end(file, size);
    else if (kind == PICTURE_PNG)
        size = mend_png(d->packet->data, size, &d->cut_off);
    av_shrink_packet(d->packet, (int)size);
    return true;
}

/* ---- decoding ------------------------------------------------------------------------------- */

static int get_filled_buffer(AVCodecContext *decoder, AVFrame *frame, int flags)
{
    const decoding *d = decoder->opaque;
    if (d->max_pixels > 0 && (double)decoder->width * decoder->height > d->max_pixels)
        return AVERROR(EINVAL);
    const int code = avcodec_default_get_buffer2(decoder, frame, flags);
    for (int i = 0; code >= 0 && i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++)
        memset(frame->buf[i]->data, d->fill, frame->buf[i]->size);
    return code;
}

static enum AVCodecID codec_of(picture_kind kind)
{
    return kind == PICTURE_PNG    ? AV_CODEC_ID_PNG
           : kind == PICTURE_JPEG ? AV_CODEC_ID_MJPEG
           : kind == PICTURE_WEBP ? AV_CODEC_ID_WEBP
           : kind == PICTURE_BMP  ? AV_CODEC_ID_BMP
           : kind == PICTURE_PGM  ? AV_CODEC_ID_PGM
           : kind == PICTURE_PPM  ? AV_CODEC_ID_PPM
                                  : AV_CODEC_ID_TIFF;
}

static bool decode(decoding *d, picture_kind kind, pipeline_error *error)
{
    const AVCodec *codec = avcodec_find_decoder(codec_of(kind));
    d->decoder = codec ? avcodec_alloc_context3(codec) : NULL;
    d->frame = av_frame_alloc();
    if (!codec)
        return pipeline_fail(error, "%s: libav has no decoder for %s", d->path,
                             avcodec_get_name(codec_of(kind)));
    if (!d->decoder || !d->frame)
        return pipeline_fail(error, "out of memory");
    d->decoder->thread_count = 1;
    d->decoder->thread_type = FF_THREAD_SLICE;
    d->decoder->opaque = d;
    d->decoder->get_buffer2 = get_filled_buffer;
    if (d->max_pixels > 0)
        d->decoder->max_pixels = pixels_limit_decoder(d->max_pixels);
    int code = avcodec_open2(d->decoder, codec, NULL);
    if (code >= 0)
        code = avcodec_send_packet(d->decoder, d->packet);
    if (code >= 0)
        code = avcodec_send_packet(d->decoder, NULL);
    if (code >= 0)
        code = avcodec_receive_frame(d->decoder, d->frame);
    if (code == AVERROR_EOF)
        code = AVERROR_INVALIDDATA;
    const uint32_t width = (uint32_t)d->decoder->width, height = (uint32_t)d->decoder->height;
    return code >= 0 || (pixels_limit(d->path, d->max_pixels, width, height, error) &&
                         pixels_limit_kept(d->path, d->max_pixels, error) &&
                         pipeline_fail_av(error, code, "%s: cannot be decoded", d->path));
}

static bool check(const decoding *d, pipeline_error *error)
{
    const AVFrame *f = d->frame;
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(f->format);
    if (f->width > MONA_MAX_SIDE || f->height > MONA_MAX_SIDE)
        return pipeline_fail(error, "%s: expected at most %d pixels a side, found %dx%d", d->path,
                             MONA_MAX_SIDE, f->width, f->height);
    if (!format || format->flags & (AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_BAYER))
        return pipeline_fail(error, "%s: expected 8 to 16 bits a sample, found %s", d->path,
                             format ? format->name : "an unknown format");
    return true;
}

/* ---- damage --------------------------------------------------------------------------------- */

static bool is_filled(const uint8_t *row, size_t size, uint8_t fill)
{
    for (size_t i = 0; i < size; i++)
        if (row[i] != fill)
            return false;
    return true;
}

/* How many rows at the end still have the initial value. */
static int missing_rows(const decoding *d)
{
    const AVFrame *f = d->frame;
    const int bytes = av_image_get_linesize(f->format, f->width, 0);
    int rows = 0;
    while (rows < f->height &&
           is_filled(f->data[0] + (f->height - 1 - rows) * (ptrdiff_t)f->linesize[0],
                     (size_t)FFMAX(bytes, 0), d->fill))
        rows++;
    return rows;
}

/* Whether libav wrote every row: decoded upon another initial value, the picture is the same. Rows
 * of CCITT that a strip lacks it leaves out without a word. */
static bool writes_all(const decoding *d, picture_kind kind, pipeline_error *error)
{
    const AVFrame *f = d->frame;
    const size_t bytes = (size_t)FFMAX(av_image_get_linesize(f->format, f->width, 0), 0);
    decoding other = {
        .path = d->path, .packet = av_packet_clone(d->packet), .fill = ~d->fill & 255};
    bool same = (other.packet || pipeline_fail(error, "out of memory")) &&
                decode(&other, kind, error) && other.frame->height == f->height;
    for (int y = 0; same && y < f->height; y++)
        same = !memcmp(f->data[0] + y * (ptrdiff_t)f->linesize[0],
                       other.frame->data[0] + y * (ptrdiff_t)other.frame->linesize[0], bytes);
    decoding_close(&other);
    if (!same && !error->text[0])
        tiff_lacks_rows(d->path, error);
    return same;
}

static bool tell_damage(const decoding *d, picture_kind kind, const pipeline_notes *notes,
                        pipeline_error *error)
{
    enum { LOSSLESS = 0xc3 }; /* libav's profile of such a JPEG, as its marker */
    const char *what = d->cut_off ? "the file is cut off" : "the file is damaged";
    const int rows = d->frame->height;
    if (!d->cut_off && !av_log_errors_count())
        return !d->tiff.ccitt || writes_all(d, kind, error);
    /* Of a lossless JPEG that is damaged, libav returns memory that it never wrote. */
    const int missing = d->decoder->profile == LOSSLESS ? rows : missing_rows(d);
    if (!notes || missing == rows)
        return pipeline_fail(error, "%s: cannot be decoded: %s", d->path, what);
    for (int y = rows - missing; kind == PICTURE_PNG && y < rows; y++)
        memset(d->frame->data[0] + y * (ptrdiff_t)d->frame->linesize[0], 0,
               (size_t)FFMAX(av_image_get_linesize(d->frame->format, d->frame->width, 0), 0));
    if (missing)
        pipeline_note(notes, "%s: %s: of %d rows, the last %d are missing and stay empty", d->path,
                      what, rows, missing);
    else
        pipeline_note(notes, "%s: %s: all %d rows are there, but may lack detail", d->path, what,
                      rows);
    return true;
}

/* ---- the pixels ----------------------------------------------------------------------------- */

static bool has_opaque_alpha(const AVFrame *rgba)
{
    for (int y = 0; y < rgba->height; y++)
        for (int x = 0; x < rgba->width; x++)
            if (rgba->data[0][y * (ptrdiff_t)rgba->linesize[0] + 4 * x + 3] != 255)
                return false;
    return true;
}

/* Converts to grey, RGB or RGBA. */
static bool convert(decoding *d, unsigned channels, pipeline_error *error)
{
    AVFrame *f = d->frame;
    if (d->tiff.premultiplied && av_frame_make_writable(f) < 0)
        return pipeline_fail(error, "out of memory");
    if (d->tiff.premultiplied)
        alpha_divide(f);
    if (f->color_range == AVCOL_RANGE_UNSPECIFIED)
        f->color_range = AVCOL_RANGE_JPEG;
    f->chroma_location = pixels_picture_location(d->decoder->codec_id, f->chroma_location);
    if (channels != 3)
        d->picture = picture_of_planes(f, error);
    if (channels == 3 ||
        (d->picture && d->picture->format == AV_PIX_FMT_RGBA && has_opaque_alpha(d->picture))) {
        av_frame_free(&d->picture);
        d->picture = frame_convert(f, f->width, f->height, AV_PIX_FMT_RGB24, error);
    }
    return d->picture;
}

bool still_of_frame(still *image, const AVFrame *picture, pipeline_error *error)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(picture->format);
    image->width = (uint32_t)picture->width;
    image->height = (uint32_t)picture->height;
    image->channels = format->nb_components;
    image->depth = format->comp[0].depth > 8 ? 16 : 8;
    const size_t row = (size_t)picture->width * still_pixel_bytes(image);
    image->pixels = malloc(row * (size_t)picture->height);
    if (!image->pixels)
        return pipeline_fail(error, "out of memory");
    for (int y = 0; y < picture->height; y++) {
        const uint8_t *from = picture->data[0] + y * (ptrdiff_t)picture->linesize[0];
        uint8_t *to = image->pixels + (size_t)y * row;
        memcpy(to, from, row);
        for (size_t i = 0; image->depth == 16 && i < row; i += 2)
            AV_WN16(to + i, AV_RB16(from + i));
    }
    return true;
}

bool picture_decode(still *image, const char *path, const uint8_t *file, size_t size,
                    picture_kind kind, const still_wish *wish, pipeline_error *error)
{
    const pipeline_notes *notes = wish->notes;
    decoding d = {
        .path = path, .max_pixels = wish->max_pixels, .fill = kind == PICTURE_PNG ? 0x5a : 128};
    if (kind == PICTURE_TIFF && !tiff_check(&d.tiff, path, file, size, error))
        return false;
    if (notes && d.tiff.pages > 1)
        pipeline_note(notes, "%s: holds %u pictures; only the first is used", path, d.tiff.pages);
    av_log_errors_listen();
    const bool good =
        (fill_packet(&d, file, size, kind) || pipeline_fail(error, "out of memory")) &&
        decode(&d, kind, error) && check(&d, error) && tell_damage(&d, kind, notes, error) &&
        convert(&d, wish->channels, error) && still_of_frame(image, d.picture, error);
    decoding_close(&d);
    return good;
}
