// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/stills.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#include "pipeline/image/jpeg_segments.h"
#include "mona.h"
#include "pipeline/io/outfile.h"

enum { JPEG_QUALITY = 95 };

static const uint8_t png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

static bool has_suffix(const char *path, const char *suffix)
{
    size_t length = strlen(path), tail = strlen(suffix);
    return length > tail && !strcasecmp(path + length - tail, suffix);
}

bool still_is_image(const char *path)
{
    static const uint8_t jpeg[3] = {0xff, 0xd8, 0xff};
    uint8_t head[8] = {0};
    if (has_suffix(path, ".mjpeg") || has_suffix(path, ".mjpg"))
        return false;
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    size_t got = fread(head, 1, sizeof head, file);
    fclose(file);
    return (got == sizeof head && !memcmp(head, png, sizeof png)) ||
           (got >= sizeof jpeg && !memcmp(head, jpeg, sizeof jpeg));
}

/* A chunk is its length, big-endian, its type, as many bytes and a checksum of four. acTL, how many
 * pictures there are, stands before the first one's bytes. */
static bool announces_pictures(FILE *file)
{
    uint8_t head[8];
    if (fread(head, 1, sizeof head, file) < sizeof head || memcmp(head, png, sizeof png))
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

static bool read_open_file(still *image, const char *path, FILE *file, unsigned channels,
                           pipeline_error *error)
{
    int width, height, found;
    if (!jpeg_tables_fit(file))
        return pipeline_fail(error, "%s: cannot be decoded: bad Huffman table", path);
    rewind(file);
    if (stbi_is_16_bit_from_file(file))
        return pipeline_fail(error, "%s: expected 8 bits a sample, found 16", path);
    if (!stbi_info_from_file(file, &width, &height, &found))
        return pipeline_fail(error, "%s: expected a PNG or JPEG image, found neither", path);
    if (width > MONA_MAX_SIDE || height > MONA_MAX_SIDE)
        return pipeline_fail(error, "%s: expected at most %d pixels a side, found %dx%d", path,
                             MONA_MAX_SIDE, width, height);
    image->metadata = jpeg_segments_read(file, &image->metadata_bytes);
    rewind(file);
    image->pixels = stbi_load_from_file(file, &width, &height, &found, (int)channels);
    if (!image->pixels)
        return pipeline_fail(error, "%s: cannot be decoded: %s", path, stbi_failure_reason());
    image->width = (uint32_t)width;
    image->height = (uint32_t)height;
    image->channels = channels ? channels : (unsigned)found;
    return true;
}

bool still_read(still *image, const char *path, unsigned channels, pipeline_error *error)
{
    *image = (still){0};
    FILE *file = fopen(path, "rb");
    if (!file)
        return pipeline_fail(error, "%s: cannot be read: %s", path, strerror(errno));
    bool read = read_open_file(image, path, file, channels, error);
    fclose(file);
    return read;
}

bool still_takes_metadata(const char *path)
{
    return has_suffix(path, ".jpg") || has_suffix(path, ".jpeg");
}

bool still_can_write(const char *path)
{
    return has_suffix(path, ".png") || still_takes_metadata(path);
}

typedef struct writer {
    FILE *file;
    size_t written;
    const still *image; /* NULL: no metadata to put in */
} writer;

/* stb hands over pieces of any size; the metadata goes in when its place is reached. */
static void write_bytes(void *context, void *data, int size)
{
    writer *w = context;
    const uint8_t *bytes = data;
    size_t before = 0, count = (size_t)size;
    if (w->image && w->written + count >= JPEG_SEGMENTS_OFFSET) {
        before = JPEG_SEGMENTS_OFFSET - w->written;
        fwrite(bytes, 1, before, w->file);
        fwrite(w->image->metadata, 1, w->image->metadata_bytes, w->file);
        w->image = NULL;
    }
    fwrite(bytes + before, 1, count - before, w->file);
    w->written += count;
}

static bool encode(const still *image, FILE *file, bool jpeg)
{
    int width = (int)image->width, height = (int)image->height, channels = (int)image->channels;
    writer w = {.file = file, .image = jpeg && image->metadata ? image : NULL};
    if (jpeg)
        return stbi_write_jpg_to_func(write_bytes, &w, width, height, channels, image->pixels,
                                      JPEG_QUALITY);
    return stbi_write_png_to_func(write_bytes, &w, width, height, channels, image->pixels,
                                  width * channels);
}

static bool write_part(const still *image, const outfile *out, bool jpeg, pipeline_error *error)
{
    FILE *file = fopen(out->part, "wb");
    if (!file)
        return pipeline_fail(error, "%s: cannot be written: %s", out->name, strerror(errno));
    bool encoded = encode(image, file, jpeg);
    errno = 0;
    bool written = !fflush(file) && !ferror(file);
    int reason = errno ? errno : EIO;
    if (fclose(file) || !written)
        return pipeline_fail(error, "%s: cannot be written: %s", out->name, strerror(reason));
    return encoded || pipeline_fail(error, "%s: out of memory while encoding", out->name);
}

bool still_write(const still *image, const char *path, pipeline_error *error)
{
    bool jpeg = still_takes_metadata(path);
    outfile out;
    if (!still_can_write(path))
        return pipeline_fail(error, "%s: expected a name in .png, .jpg or .jpeg for an image",
                             path);
    if (jpeg && image->channels % 2 == 0)
        return pipeline_fail(error, "%s: JPEG cannot hold the image's alpha; expected .png", path);
    if (!outfile_open(&out, path, NULL, NULL, error))
        return false;
    if (write_part(image, &out, jpeg, error))
        return outfile_commit(&out, error);
    outfile_discard(&out);
    return false;
}

void still_free(still *image)
{
    stbi_image_free(image->pixels);
    free(image->metadata);
    image->pixels = NULL;
    image->metadata = NULL;
}
