// SPDX-License-Identifier: Apache-2.0
/* Reading and writing still images with pixels of 8 or 16 bits a sample. */
#ifndef MONA_STILLS_H
#define MONA_STILLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/base/error.h"
#include "pipeline/image/metadata.h"

#define STILL_NAMES "%s: expected a name that ends in .png, .jpg, .jpeg or .webp for a picture"

typedef struct still {
    uint32_t width, height;
    unsigned channels;         /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA */
    unsigned depth;            /* 16: samples are uint16_t; else they are bytes */
    uint8_t *pixels;           /* interleaved, rows without gaps; released by still_free */
    float compression;         /* approximate RMS error left by a JPEG's quantisers; 0: unknown */
    picture_metadata metadata; /* released by still_free */
} still;

static inline size_t still_pixel_bytes(const still *image)
{
    return image->channels * (image->depth == 16 ? 2u : 1u);
}

/* True if the file begins like a picture that still_read reads, unless its name is that of Motion
 * JPEG, whose first frame looks like a picture. */
bool still_is_image(const char *path);

/* The name of the kind of picture that a file is, if mona does not read it; else NULL. */
const char *still_unread(const char *path);

/* True for a PNG that has more pictures after the first. */
bool still_is_animated(const char *path);

typedef struct still_wish {
    unsigned channels;           /* 3 converts to RGB of 8 bits; 0: as many as the file has */
    double max_pixels;           /* larger pictures are refused before they are decoded; 0: none */
    const pipeline_notes *notes; /* of files that are cut off or damaged; NULL refuses these */
} still_wish;

/* Reads a picture (picture_kind.h). */
bool still_read(still *image, const char *path, const still_wish *wish, pipeline_error *error);

/* The same for a file in memory, which messages call path. */
bool still_read_bytes(still *image, const char *path, const uint8_t *file, size_t size,
                      const still_wish *wish, pipeline_error *error);

/* Reads everything of a PNG or JPEG except the pixels, which stay NULL. False: the file cannot be
 * read, or is of another kind. */
bool still_read_head(still *image, const char *path);

/* Reads what a picture's file has beside the pixels; nothing of kinds that mona does not read. Call
 * metadata_free in any case. */
bool still_read_metadata(picture_metadata *m, const char *path, pipeline_error *error);

/* Whether the picture was compressed so strongly that it should be enlarged as film is
 * (picture_loss.c). False if it cannot be read. */
bool still_is_lossy(const char *path);

/* The kind of picture that still_write writes under this name: .png, .jpg, .jpeg, .webp.
 * PICTURE_NONE: none. */
picture_kind still_kind(const char *path);

static inline bool still_can_write(const char *path)
{
    return still_kind(path) != PICTURE_NONE;
}

/* Turns the pixels, if there are any, as EXIF says, and marks the picture as upright. */
bool still_turn_upright(still *image, pipeline_error *error);

/* Whether still_write can write such a picture under this name. */
bool still_check(const char *path, const still *image, pipeline_error *error);

/* Where the rows of a picture come from that has no pixels: any of them, from several threads. */
typedef struct still_source {
    void (*rows)(const void *from, const still *image, uint32_t first, uint32_t count, uint8_t *to);
    const void *from;
} still_source;

typedef struct still_output {
    const char *path;
    const char *input;     /* a file that it must not be; NULL: there is none */
    unsigned jpeg_quality; /* 1 to 100, with chroma at full resolution above 90; 0 stands for 95 */
    unsigned threads;      /* 0: one for each core */
    bool keep;             /* as in outfile_open */
} still_output;

/* Writes in the format that the path's suffix names, with the metadata. The file appears under
 * its name only when it is complete. WebP is lossless, with 8 bits. JPEG (8 bits) cannot hold
 * alpha. A picture with more than its format holds is refused. source NULL: the image's pixels. */
bool still_write(const still *image, const still_source *source, const still_output *output,
                 pipeline_error *error);

/* Rounds samples of 16 bits, if there are any, to 8. */
void still_make_shallow(still *image);

/* As RGB of 8 bits, with grey behind what is transparent. NULL: out of memory. The caller frees
 * it. */
struct AVFrame *still_as_rgb(const still *image, pipeline_error *error);

/* May be called twice, and for an image that still_read refused. */
void still_free(still *image);

#endif
