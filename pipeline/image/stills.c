// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/stills.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STB_IMAGE_IMPLEMENTATION
/* What a damaged file leaves unset is the same in every run. */
#define STBI_MALLOC(size) calloc(1, size)
#define STBI_REALLOC(p, size) realloc(p, size)
#define STBI_FREE(p) free(p)
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#include <libavutil/intreadwrite.h>

#include "pipeline/image/frame_convert.h"
#include "pipeline/image/jpeg_segments.h"
#include "pipeline/image/orientation.h"
#include "pipeline/image/picture_decode.h"
#include "mona.h"
#include "pipeline/base/outfile.h"

enum { JPEG_QUALITY = 95 }; /* the default */

static bool has_suffix(const char *path, const char *suffix)
{
    size_t length = strlen(path), tail = strlen(suffix);
    return length > tail && !strcasecmp(path + length - tail, suffix);
}

/* Reads the beginning of a regular file: reading from a pipe would consume it. */
static size_t read_begin(const char *path, uint8_t head[PICTURE_HEAD])
{
    struct stat status;
    FILE *file = stat(path, &status) || !S_ISREG(status.st_mode) ? NULL : fopen(path, "rb");
    if (!file)
        return 0;
    const size_t got = fread(head, 1, PICTURE_HEAD, file);
    fclose(file);
    return got;
}

const char *still_unread(const char *path)
{
    uint8_t head[PICTURE_HEAD];
    const size_t got = read_begin(path, head);
    return picture_kind_unread(path, head, got);
}

bool still_is_image(const char *path)
{
    uint8_t head[PICTURE_HEAD];
    if (has_suffix(path, ".mjpeg") || has_suffix(path, ".mjpg"))
        return false;
    const size_t got = read_begin(path, head);
    return picture_kind_of(head, got) != PICTURE_NONE;
}

/* A chunk is its length (big-endian), its type, its data and a checksum of four bytes. An acTL
 * chunk, which holds the number of pictures, comes before the data of the first one. */
static bool announces_pictures(FILE *file)
{
    uint8_t head[8];
    if (fread(head, 1, sizeof head, file) < sizeof head ||
        picture_kind_of(head, sizeof head) != PICTURE_PNG)
        return false;
    while (fread(head, 1, sizeof head, file) == sizeof head && memcmp(head + 4, "IDAT", 4)) {
        if (!memcmp(head + 4, "acTL", 4))
            return fread(head, 1, 4, file) == 4 && memcmp(head, "\0\0\0\1", 4) > 0;
        const uint32_t length =
            (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 | (uint32_t)head[2] << 8 | head[3];
        if (length > INT32_MAX - 4 || fseek(file, (long)length + 4, SEEK_CUR))
            return false;
    }
    return false;
}

bool still_is_animated(const char *path)
{
    FILE *file = fopen(path, "rb");
    const bool animated = file && announces_pictures(file);
    if (file)
        fclose(file);
    return animated;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Reads a file of at most INT_MAX bytes, since decoders count in int. The caller frees it. */
static uint8_t *read_file(const char *path, size_t *size, pipeline_error *error)
{
    struct stat status;
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    if (!file || fstat(fileno(file), &status))
        pipeline_fail(error, "%s: cannot be read: %s", path, strerror(errno));
    else if (status.st_size > INT_MAX / 2)
        pipeline_fail(error, "%s: expected a picture of less than 1 GiB, found %lld bytes", path,
                      (long long)status.st_size);
    else if (!(bytes = malloc((size_t)status.st_size + 1)))
        pipeline_fail(error, "out of memory");
    else
        *size = fread(bytes, 1, (size_t)status.st_size, file);
    if (bytes && ferror(file)) {
        pipeline_fail(error, "%s: cannot be read: %s", path, strerror(errno));
        free(bytes);
        bytes = NULL;
    }
    if (file)
        fclose(file);
    return bytes;
}

/* Whether the picture that stb_image just decoded is whole. Version 2.30 succeeds with a damaged
 * JPEG too. Only the reason of its last failure shows the damage: without damage, that is that the
 * file is no PNG, which stb_image tries first. */
static bool is_whole(picture_kind kind)
{
    return kind != PICTURE_JPEG || !strcmp(stbi_failure_reason(), "bad png sig");
}

/* Decodes what stb_image reads. False without an error: libav may be
 * able to read it. */
static bool load(still *image, const char *path, const uint8_t *file, size_t size,
                 picture_kind kind, unsigned channels, pipeline_error *error)
{
    int width, height, found;
    if (stbi_is_16_bit_from_memory(file, (int)size) ||
        !stbi_info_from_memory(file, (int)size, &width, &height, &found))
        return false;
    if (width > MONA_MAX_SIDE || height > MONA_MAX_SIDE)
        return pipeline_fail(error, "%s: expected at most %d pixels a side, found %dx%d", path,
                             MONA_MAX_SIDE, width, height);
    if (kind == PICTURE_JPEG && (!jpeg_has_end(file, size) || !jpeg_restarts_fit(file, size)))
        return false;
    image->pixels = stbi_load_from_memory(file, (int)size, &width, &height, &found, (int)channels);
    if (image->pixels && !is_whole(kind)) {
        stbi_image_free(image->pixels);
        image->pixels = NULL;
    }
    image->width = (uint32_t)width;
    image->height = (uint32_t)height;
    image->channels = channels ? channels : (unsigned)found;
    return image->pixels;
}

static bool read_bytes(still *image, const char *path, const uint8_t *file, size_t size,
                       unsigned channels, const pipeline_notes *notes, pipeline_error *error)
{
    if (!metadata_read(&image->metadata, file, size))
        return pipeline_fail(error, "out of memory");
    const picture_kind kind = image->metadata.kind;
    image->compression = jpeg_error(file, size);
    const char *unread = picture_kind_unread(path, file, size);
    if (kind == PICTURE_NONE)
        return pipeline_fail(error, "%s: expected " PICTURE_KINDS ", found %s", path,
                             unread ? unread : "none of them");
    if (!jpeg_check(path, file, size, error))
        return false;
    if (kind == PICTURE_PNG || kind == PICTURE_JPEG) {
        if (load(image, path, file, size, kind, channels, error))
            return true;
        if (error->text[0])
            return false;
    }
    return picture_decode(image, path, file, size, kind, channels, notes, error);
}

bool still_read(still *image, const char *path, unsigned channels, const pipeline_notes *notes,
                pipeline_error *error)
{
    size_t size = 0;
    *image = (still){0};
    uint8_t *file = read_file(path, &size, error);
    const bool good = file && read_bytes(image, path, file, size, channels, notes, error);
    free(file);
    if (!good)
        still_free(image);
    return good;
}

bool still_read_head(still *image, const char *path)
{
    int width, height, channels;
    size_t size = 0;
    pipeline_error unused = {0};
    *image = (still){0};
    uint8_t *file = read_file(path, &size, &unused);
    const bool good = file && jpeg_tables_fit(file, size) &&
                      stbi_info_from_memory(file, (int)size, &width, &height, &channels) &&
                      metadata_read(&image->metadata, file, size);
    const bool deep = good && stbi_is_16_bit_from_memory(file, (int)size);
    free(file);
    if (good) {
        image->width = (uint32_t)width;
        image->height = (uint32_t)height;
        image->channels = (unsigned)channels;
        image->depth = deep ? 16 : 8;
    }
    return good;
}

bool still_turn_upright(still *image, pipeline_error *error)
{
    const orientation turn = orientation_of_exif(metadata_orientation(&image->metadata));
    const bool swaps = orientation_swaps(turn);
    const uint32_t width = image->width, height = image->height;
    const ptrdiff_t pixel = (ptrdiff_t)still_pixel_bytes(image);
    metadata_set_upright(&image->metadata);
    if (!orientation_changes(turn))
        return true;
    if (image->pixels) {
        uint8_t *pixels = malloc((size_t)width * height * (size_t)pixel);
        if (!pixels)
            return pipeline_fail(error, "out of memory");
        orientation_copy((orientation_pixels){pixels, pixel * (swaps ? height : width)},
                         (orientation_pixels){image->pixels, pixel * width}, (int)width,
                         (int)height, (size_t)pixel, turn);
        stbi_image_free(image->pixels);
        image->pixels = pixels;
    }
    image->width = swaps ? height : width;
    image->height = swaps ? width : height;
    return true;
}

void still_make_shallow(still *image)
{
    const size_t count = (size_t)image->width * image->height * image->channels;
    const uint16_t *deep = (const uint16_t *)(const void *)image->pixels;
    if (image->depth != 16)
        return;
    for (size_t i = 0; image->pixels && i < count; i++)
        image->pixels[i] = (uint8_t)((deep[i] * 255u + 32767) / 65535);
    image->depth = 8;
}

/* ---- writing -------------------------------------------------------------------------------- */

picture_kind still_kind(const char *path)
{
    return has_suffix(path, ".png")                                ? PICTURE_PNG
           : has_suffix(path, ".jpg") || has_suffix(path, ".jpeg") ? PICTURE_JPEG
           : has_suffix(path, ".webp")                             ? PICTURE_WEBP
                                                                   : PICTURE_NONE;
}

/* Limit of the samples, since stb_image_write counts in int. For a JPEG, it applies to the samples.
 * For a PNG, it applies to the compressed data, which includes a byte for each row: noise grows by
 * an eighth, into a buffer that doubles until its next size, 3 * 2^30, would overflow. */
static uint64_t max_bytes(bool jpeg)
{
    return jpeg ? INT_MAX : 5u << 28;
}

enum { WEBP_SIDE = 16383 }; /* at most */

bool still_check(const char *path, const still *image, pipeline_error *error)
{
    const picture_kind kind = still_kind(path);
    const bool jpeg = kind == PICTURE_JPEG;
    const uint32_t width = image->width, height = image->height;
    const size_t pixel = jpeg ? image->channels : still_pixel_bytes(image);
    const uint64_t bytes = ((uint64_t)width * pixel + 1) * height;
    if (kind == PICTURE_NONE)
        return pipeline_fail(error, STILL_NAMES, path);
    if (kind == PICTURE_WEBP && (width > WEBP_SIDE || height > WEBP_SIDE))
        return pipeline_fail(error,
                             "%s: WebP holds at most %d pixels a side, found %ux%u; .png would "
                             "hold more",
                             path, WEBP_SIDE, width, height);
    if (jpeg && image->channels % 2 == 0)
        return pipeline_fail(error, "%s: JPEG cannot hold the picture's alpha; use .png", path);
    if (width > MONA_MAX_SIDE || height > MONA_MAX_SIDE || bytes > max_bytes(jpeg))
        return pipeline_fail(error,
                             "%s: expected at most %d pixels a side and %" PRIu64
                             " MiB of samples for a picture, found %ux%u and %" PRIu64
                             " MiB; a smaller --scale would fit",
                             path, MONA_MAX_SIDE, max_bytes(jpeg) >> 20, width, height,
                             bytes >> 20);
    return true;
}

typedef struct writer {
    FILE *file;
    int reason;            /* why the first piece could not be written; 0: all could */
    size_t written, place; /* of the metadata */
    metadata_bytes metadata;
} writer;

static void put(writer *w, const void *bytes, size_t count)
{
    if (count && !w->reason && fwrite(bytes, 1, count, w->file) != count)
        w->reason = errno;
}

/* Pieces come in any size; the metadata is inserted at its place. */
static void write_bytes(writer *w, const uint8_t *bytes, size_t count)
{
    size_t before = 0;
    if (w->written <= w->place && w->written + count >= w->place) {
        before = w->place - w->written;
        put(w, bytes, before);
        put(w, w->metadata.data, w->metadata.size);
        w->place = 0;
    }
    put(w, bytes + before, count - before);
    w->written += count;
}

static void write_of_stb(void *context, void *data, int size)
{
    write_bytes(context, data, (size_t)size);
}

/* Wraps the samples, in the order in which libav stores them. */
static AVFrame *frame_of(const still *image)
{
    const bool deep = image->depth == 16;
    const size_t row = (size_t)image->width * image->channels;
    AVFrame *frame = av_frame_alloc();
    if (!frame)
        return NULL;
    frame->width = (int)image->width;
    frame->height = (int)image->height;
    frame->color_range = AVCOL_RANGE_JPEG;
    frame->format = image->channels == 1   ? deep ? AV_PIX_FMT_GRAY16BE : AV_PIX_FMT_GRAY8
                    : image->channels == 2 ? deep ? AV_PIX_FMT_YA16BE : AV_PIX_FMT_YA8
                    : image->channels == 3 ? deep ? AV_PIX_FMT_RGB48BE : AV_PIX_FMT_RGB24
                    : deep                 ? AV_PIX_FMT_RGBA64BE
                                           : AV_PIX_FMT_RGBA;
    if (av_frame_get_buffer(frame, 0) < 0) {
        av_frame_free(&frame);
        return NULL;
    }
    for (size_t y = 0; y < image->height; y++) {
        uint8_t *to = frame->data[0] + y * (size_t)frame->linesize[0];
        const uint8_t *from = image->pixels + y * row * (deep ? 2 : 1);
        for (size_t i = 0; deep && i < row; i++)
            AV_WB16(to + 2 * i, AV_RN16(from + 2 * i));
        if (!deep)
            memcpy(to, from, row);
    }
    return frame;
}

/* Writes the chunks of a PNG that hold its pixels, without those that libav adds, such as a
 * resolution, which the metadata may have, too. */
static void write_pixels_of_png(writer *w, const uint8_t *png, size_t size)
{
    enum { SIGNATURE = 8, HEAD = 8, CHECKSUM = 4 };
    write_bytes(w, png, SIGNATURE);
    for (size_t at = SIGNATURE; at + HEAD + CHECKSUM <= size;) {
        const size_t chunk = AV_RB32(png + at) + (size_t)HEAD + CHECKSUM;
        if (chunk > size - at)
            return;
        if (!(png[at + 4] & 0x20)) /* a capital letter: decoders need it */
            write_bytes(w, png + at, chunk);
        at += chunk;
    }
}

/* Formats that stb does not write: PNG of 16 bits, and WebP. */
static bool encode_by_libav(const still *image, writer *w, picture_kind kind)
{
    pipeline_error unused = {0};
    AVFrame *frame = frame_of(image);
    AVPacket *packet = frame ? frame_convert_encode(frame, kind, &unused) : NULL;
    metadata_bytes whole = {0};
    bool good = packet;
    if (good && kind == PICTURE_WEBP) {
        good = metadata_write_webp(&whole, &image->metadata, packet->data, (size_t)packet->size,
                                   (mona_size){image->width, image->height});
        if (good)
            write_bytes(w, whole.data, whole.size);
        free(whole.data);
    } else if (good) {
        write_pixels_of_png(w, packet->data, (size_t)packet->size);
    }
    av_packet_free(&packet);
    av_frame_free(&frame);
    return good;
}

static bool encode(const still *image, writer *w, picture_kind kind, unsigned jpeg_quality)
{
    enum { BEHIND_JFIF = 20, BEHIND_IHDR = 33 };
    const bool jpeg = kind == PICTURE_JPEG;
    int width = (int)image->width, height = (int)image->height, channels = (int)image->channels;
    w->place = jpeg ? BEHIND_JFIF : BEHIND_IHDR;
    if (kind == PICTURE_WEBP)
        return encode_by_libav(image, w, PICTURE_WEBP);
    if (!metadata_write(&w->metadata, &image->metadata, kind))
        return false;
    const int good = image->depth == 16 ? encode_by_libav(image, w, PICTURE_PNG)
                     : jpeg ? stbi_write_jpg_to_func(write_of_stb, w, width, height, channels,
                                                     image->pixels, (int)jpeg_quality)
                            : stbi_write_png_to_func(write_of_stb, w, width, height, channels,
                                                     image->pixels, width * channels);
    free(w->metadata.data);
    return good;
}

static bool write_part(const still *image, const outfile *out, picture_kind kind,
                       unsigned jpeg_quality, pipeline_error *error)
{
    writer w = {.file = fopen(out->part, "wb")};
    if (!w.file)
        return pipeline_fail(error, "%s: cannot be written: %s", out->name, strerror(errno));
    const bool encoded = encode(image, &w, kind, jpeg_quality ? jpeg_quality : JPEG_QUALITY);
    if (fclose(w.file) && !w.reason)
        w.reason = errno;
    if (w.reason)
        return pipeline_fail(error, "%s: cannot be written: %s", out->name, strerror(w.reason));
    return encoded || pipeline_fail(error, "%s: out of memory while encoding", out->name);
}

bool still_write(const still *image, const char *path, const char *input, unsigned jpeg_quality,
                 pipeline_error *error)
{
    outfile out;
    if (!still_check(path, image, error) || !outfile_open(&out, path, NULL, input, error))
        return false;
    if (write_part(image, &out, still_kind(path), jpeg_quality, error))
        return outfile_commit(&out, error);
    outfile_discard(&out);
    return false;
}

static uint8_t shallow_sample(const still *image, size_t i)
{
    uint16_t deep;
    if (image->depth != 16)
        return image->pixels[i];
    memcpy(&deep, image->pixels + 2 * i, sizeof deep);
    return (uint8_t)((deep * 255u + 32767) / 65535);
}

AVFrame *still_as_rgb(const still *image, pipeline_error *error)
{
    enum { BEHIND = 128 };
    const size_t channels = image->channels, colours = channels < 3 ? 1 : 3;
    AVFrame *f = av_frame_alloc();
    if (f) {
        f->width = (int)image->width;
        f->height = (int)image->height;
        f->format = AV_PIX_FMT_RGB24;
        f->color_range = AVCOL_RANGE_JPEG;
    }
    if (!f || av_frame_get_buffer(f, 0) < 0) {
        av_frame_free(&f);
        pipeline_fail(error, "out of memory");
        return NULL;
    }
    for (size_t y = 0; y < image->height; y++)
        for (size_t x = 0; x < image->width; x++) {
            const size_t i = (y * image->width + x) * channels;
            const unsigned alpha = channels > colours ? shallow_sample(image, i + colours) : 255;
            for (size_t c = 0; c < 3; c++)
                f->data[0][y * (size_t)f->linesize[0] + 3 * x + c] =
                    (uint8_t)((shallow_sample(image, i + c % colours) * alpha +
                               BEHIND * (255 - alpha) + 127) /
                              255);
        }
    return f;
}

void still_free(still *image)
{
    stbi_image_free(image->pixels);
    metadata_free(&image->metadata);
    image->pixels = NULL;
}
