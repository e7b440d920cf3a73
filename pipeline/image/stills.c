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
#define STBI_NO_LINEAR
#define STBI_NO_STDIO
#define STB_IMAGE_IMPLEMENTATION
/* What a damaged file leaves unset is the same in every run. */
#define STBI_MALLOC(size) calloc(1, size)
#define STBI_REALLOC(p, size) realloc(p, size)
#define STBI_FREE(p) free(p)
/* gcc 14 does not see that a PNG's transparent colour is used only if it was read. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <stb/stb_image.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include "pipeline/image/frame_convert.h"
#include "pipeline/image/still_codec.h"
#include "pipeline/image/orientation.h"
#include "pipeline/image/picture_kind.h"
#include "pipeline/image/pixels.h"
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
    struct stat status;
    uint8_t head[PICTURE_HEAD];
    const size_t got = read_begin(path, head);
    const bool regular = !stat(path, &status) && S_ISREG(status.st_mode);
    return got || regular ? picture_kind_unread(path, head, got) : NULL;
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

/* Reads size, channels and depth of a PNG or JPEG. False: of another kind, or it cannot be read. */
static bool read_head(still *image, const uint8_t *file, size_t size, picture_kind kind)
{
    int width, height, channels;
    image->depth = 8;
    if (kind == PICTURE_JPEG)
        return jpeg_read_head(image, file, size);
    if (kind != PICTURE_PNG || !stbi_info_from_memory(file, (int)size, &width, &height, &channels))
        return false;
    image->width = (uint32_t)width;
    image->height = (uint32_t)height;
    image->channels = (unsigned)channels;
    image->depth = stbi_is_16_bit_from_memory(file, (int)size) ? 16 : 8;
    return true;
}

/* Whether every chunk lies in the file: stb_image allocates as much as one says. */
static bool is_whole_png(const uint8_t *file, size_t size)
{
    enum { HEAD = 8, COST = 12 };
    for (size_t at = HEAD; size - at >= COST;) {
        const uint8_t *b = file + at;
        const size_t length = (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
        if (length > size - at - COST)
            return false;
        if (!memcmp(b + 4, "IEND", 4))
            return true;
        at += COST + length;
    }
    return false;
}

/* Decodes what libjpeg and stb_image read. False without an error: libav may be able to read it. */
static bool load(still *image, const char *path, const uint8_t *file, size_t size,
                 picture_kind kind, const still_wish *wish, pipeline_error *error)
{
    const unsigned channels = wish->channels;
    int width, height, found;
    if (!read_head(image, file, size, kind) || image->depth != 8)
        return false;
    if (image->width > MONA_MAX_SIDE || image->height > MONA_MAX_SIDE)
        return pipeline_fail(error, "%s: expected at most %d pixels a side, found %ux%u", path,
                             MONA_MAX_SIDE, image->width, image->height);
    if (!pixels_limit(path, wish->max_pixels, image->width, image->height, error))
        return false;
    if (kind == PICTURE_JPEG)
        return jpeg_decode(image, file, size, channels);
    if (!is_whole_png(file, size))
        return false;
    image->pixels = stbi_load_from_memory(file, (int)size, &width, &height, &found, (int)channels);
    image->channels = channels ? channels : (unsigned)found;
    return image->pixels;
}

static bool read_bytes(still *image, const char *path, const uint8_t *file, size_t size,
                       const still_wish *wish, pipeline_error *error)
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
    if (load(image, path, file, size, kind, wish, error))
        return true;
    return !error->text[0] && picture_decode(image, path, file, size, kind, wish, error);
}

bool still_read_bytes(still *image, const char *path, const uint8_t *file, size_t size,
                      const still_wish *wish, pipeline_error *error)
{
    *image = (still){0};
    const bool good = picture_libraries(error) && read_bytes(image, path, file, size, wish, error);
    if (!good)
        still_free(image);
    return good;
}

bool still_read(still *image, const char *path, const still_wish *wish, pipeline_error *error)
{
    size_t size = 0;
    *image = (still){0};
    uint8_t *file = read_file(path, &size, error);
    const bool good = file && still_read_bytes(image, path, file, size, wish, error);
    free(file);
    return good;
}

bool still_read_head(still *image, const char *path)
{
    size_t size = 0;
    pipeline_error unused = {0};
    *image = (still){0};
    uint8_t *file = read_file(path, &size, &unused);
    const bool good = file && picture_libraries(&unused) &&
                      metadata_read(&image->metadata, file, size) &&
                      read_head(image, file, size, image->metadata.kind);
    free(file);
    if (!good)
        still_free(image);
    return good;
}

bool still_read_metadata(picture_metadata *m, const char *path, pipeline_error *error)
{
    size_t size = 0;
    uint8_t *file = read_file(path, &size, error);
    *m = (picture_metadata){0};
    const bool good =
        file && (metadata_read(m, file, size) || pipeline_fail(error, "out of memory"));
    free(file);
    return good;
}

bool still_is_lossy(const char *path)
{
    size_t size = 0;
    uint8_t *file = read_file(path, &size, &(pipeline_error){0});
    const bool lossy = file && picture_is_lossy(file, size);
    free(file);
    return lossy;
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

/* Of samples: decoders, the one here too, read no more. */
enum { MAX_BYTES = INT_MAX };

enum { WEBP_SIDE = 16383 }; /* at most */

bool still_check(const char *path, const still *image, pipeline_error *error)
{
    const picture_kind kind = still_kind(path);
    const bool jpeg = kind == PICTURE_JPEG;
    const uint32_t width = image->width, height = image->height;
    const uint64_t bytes = ((uint64_t)width * still_pixel_bytes(image) + 1) * height;
    if (kind == PICTURE_NONE)
        return pipeline_fail(error, STILL_NAMES, path);
    if (kind != PICTURE_PNG && image->depth == 16)
        return pipeline_fail(error, "%s: expected samples of 8 bits; .png holds 16", path);
    if (kind == PICTURE_WEBP && (width > WEBP_SIDE || height > WEBP_SIDE))
        return pipeline_fail(error,
                             "%s: WebP holds at most %d pixels a side, found %ux%u; .png would "
                             "hold more",
                             path, WEBP_SIDE, width, height);
    if (jpeg && image->channels % 2 == 0)
        return pipeline_fail(error, "%s: JPEG cannot hold the picture's alpha; use .png", path);
    if (width > MONA_MAX_SIDE || height > MONA_MAX_SIDE || bytes > MAX_BYTES)
        return pipeline_fail(error,
                             "%s: expected at most %d pixels a side and %d MiB of samples for a "
                             "picture, found %ux%u and %" PRIu64
                             " MiB; a smaller --scale would fit",
                             path, MONA_MAX_SIDE, MAX_BYTES >> 20, width, height, bytes >> 20);
    return picture_libraries(error);
}

typedef struct writer {
    FILE *file;
    int reason; /* why the first piece could not be written; 0: all could */
} writer;

static bool put(void *to, const void *bytes, size_t count)
{
    writer *w = to;
    if (count && fwrite(bytes, 1, count, w->file) != count)
        w->reason = errno;
    return !w->reason;
}

void still_encode_rows(const still_encoding *e, uint32_t first, uint32_t count, uint8_t *to)
{
    const size_t row = e->image->width * still_pixel_bytes(e->image);
    if (e->source)
        e->source->rows(e->source->from, e->image, first, count, to);
    else
        memcpy(to, e->image->pixels + first * row, count * row);
}

/* Of 8 bits. */
static AVFrame *frame_of(const still_encoding *e)
{
    static const enum AVPixelFormat formats[] = {AV_PIX_FMT_NONE, AV_PIX_FMT_GRAY8, AV_PIX_FMT_YA8,
                                                 AV_PIX_FMT_RGB24, AV_PIX_FMT_RGBA};
    AVFrame *frame = av_frame_alloc();
    if (!frame)
        return NULL;
    frame->width = (int)e->image->width;
    frame->height = (int)e->image->height;
    frame->color_range = AVCOL_RANGE_JPEG;
    frame->format = formats[e->image->channels];
    if (av_frame_get_buffer(frame, 0) < 0) {
        av_frame_free(&frame);
        return NULL;
    }
    for (uint32_t y = 0; y < e->image->height; y++)
        still_encode_rows(e, y, 1, frame->data[0] + y * (size_t)frame->linesize[0]);
    return frame;
}

/* WebP has its metadata before and behind the pixels. */
static bool webp_encode(const still_encoding *e)
{
    const still *image = e->image;
    const mona_size size = {image->width, image->height};
    pipeline_error unused = {0};
    metadata_bytes whole = {0};
    AVFrame *frame = frame_of(e);
    AVPacket *packet = frame ? frame_convert_encode(frame, PICTURE_WEBP, &unused) : NULL;
    const bool good =
        packet &&
        metadata_write_webp(&whole, &image->metadata, packet->data, (size_t)packet->size, size) &&
        e->write(e->to, whole.data, whole.size);
    metadata_drop(&whole);
    av_packet_free(&packet);
    av_frame_free(&frame);
    return good;
}

static bool encode(still_encoding *e, picture_kind kind)
{
    if (kind == PICTURE_WEBP)
        return webp_encode(e);
    const bool good = metadata_write(&e->metadata, &e->image->metadata, kind) &&
                      (kind == PICTURE_JPEG ? jpeg_encode : png_encode)(e);
    metadata_drop(&e->metadata);
    return good;
}

static bool write_part(still_encoding *e, const outfile *out, pipeline_error *error)
{
    writer w = {.file = fopen(out->part, "wb")};
    if (!w.file)
        return pipeline_fail(error, "%s: cannot be written: %s", out->name, strerror(errno));
    e->write = put;
    e->to = &w;
    const bool encoded = encode(e, still_kind(out->name));
    if (fclose(w.file) && !w.reason)
        w.reason = errno;
    if (w.reason)
        return pipeline_fail(error, "%s: cannot be written: %s", out->name, strerror(w.reason));
    return encoded || pipeline_fail(error, "%s: out of memory while encoding", out->name);
}

bool still_write(const still *image, const still_source *source, const still_output *output,
                 pipeline_error *error)
{
    outfile out;
    still_encoding e = {.image = image,
                        .source = source,
                        .jpeg_quality = output->jpeg_quality ? output->jpeg_quality : JPEG_QUALITY,
                        .threads = output->threads};
    if (!still_check(output->path, image, error) ||
        !outfile_open(&out, output->path, NULL, output->input, output->keep, error))
        return false;
    if (write_part(&e, &out, error))
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
