// SPDX-License-Identifier: Apache-2.0
/* Still images: files of pictures and their 8-bit pixels. */
#ifndef MONA_STILLS_H
#define MONA_STILLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/error.h"
#include "pipeline/image/metadata.h"

typedef struct still {
    uint32_t width, height;
    unsigned channels; /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA */
    uint8_t *pixels;   /* interleaved, rows without gaps; released by still_free */
    float compression; /* RMS error that a JPEG's quantisers leave, about; 0: nothing is known */
    picture_metadata metadata; /* released by still_free */
} still;

/* True when the file begins like a picture that still_read reads, and its name is not that of Motion
 * JPEG, frames one after another of which the first is a picture like others. */
bool still_is_image(const char *path);

/* True of a PNG that has pictures after the first. */
bool still_is_animated(const char *path);

/* Reads a picture (picture_kind.h). channels: 3 to convert to RGB, 0 for as many as the file has.
 * Files of 16 bits a sample are refused; those that are cut off or damaged too, unless there are
 * notes to say so to (picture_decode.h). */
bool still_read(still *image, const char *path, unsigned channels, const pipeline_notes *notes,
                pipeline_error *error);

/* Everything of a PNG or JPEG but its pixels, which stay NULL. False: the file cannot be read, or is
 * none. */
bool still_read_head(still *image, const char *path);

/* True when the name ends in a suffix still_write knows: .png, .jpg, .jpeg. */
bool still_can_write(const char *path);

bool still_is_jpeg(const char *path);

/* Turns the pixels, if there are any, as EXIF says, which then says that they are upright. */
bool still_turn_upright(still *image, pipeline_error *error);

/* Whether still_write can write such a picture under such a name. */
bool still_check(const char *path, uint32_t width, uint32_t height, unsigned channels,
                 pipeline_error *error);

/* Writes by the suffix of path, with the metadata; the file appears under its name only when it is
 * complete. JPEG (quality 95, chroma at full resolution) cannot hold alpha and refuses it. */
bool still_write(const still *image, const char *path, pipeline_error *error);

/* May be called twice, and of what still_read refused. */
void still_free(still *image);

#endif
