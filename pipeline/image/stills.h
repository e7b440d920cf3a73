// SPDX-License-Identifier: Apache-2.0
/* Still images: PNG and JPEG files and their 8-bit pixels. */
#ifndef MONA_STILLS_H
#define MONA_STILLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/error.h"

typedef struct still {
    uint32_t width, height;
    unsigned channels; /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA */
    uint8_t *pixels;   /* interleaved, rows without gaps; released by still_free */
    uint8_t *metadata; /* APP1 and APP2 segments of a JPEG (EXIF, XMP, colour profile), as they are
                          in the file; NULL: none; released by still_free */
    size_t metadata_bytes;
} still;

/* True when the file begins like a PNG or a JPEG, and its name is not that of Motion JPEG, frames one
 * after another of which the first is a picture like others. */
bool still_is_image(const char *path);

/* True of a PNG that has pictures after the first. */
bool still_is_animated(const char *path);

/* Reads a PNG or JPEG. channels: how many to convert to, 0 for as many as the file has. Files of 16
 * bits a sample are refused. */
bool still_read(still *image, const char *path, unsigned channels, pipeline_error *error);

/* True when the name ends in a suffix still_write knows: .png, .jpg, .jpeg. */
bool still_can_write(const char *path);

/* True when it also takes metadata along: .jpg, .jpeg. */
bool still_takes_metadata(const char *path);

/* Writes by the suffix of path; the file appears under its name only when it is complete. JPEG
 * (quality 95, chroma at full resolution) cannot hold alpha and refuses it;
 * it takes the metadata along, PNG does not. */
bool still_write(const still *image, const char *path, pipeline_error *error);

void still_free(still *image);

#endif
