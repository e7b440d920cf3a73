// SPDX-License-Identifier: Apache-2.0
/* The contents of a still picture's file besides pixels: EXIF, XMP, colour profile, comments. */
#ifndef MONA_METADATA_H
#define MONA_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mona.h"
#include "pipeline/base/error.h"
#include "pipeline/image/metadata_bytes.h"
#include "pipeline/image/picture_kind.h"

typedef struct picture_metadata {
    picture_kind kind; /* of the file */
    metadata_bytes exif, xmp, profile;
    metadata_bytes rest; /* segments or chunks that only files of the same kind hold, unchanged */
} picture_metadata;

/* Reads the metadata of a PNG, JPEG, WebP or TIFF in memory. False: out of memory. Call
 * metadata_free in any case. */
bool metadata_read(picture_metadata *m, const uint8_t *file, size_t size);

/* The EXIF orientation, 1 to 8. 1: the picture is upright, or there is no orientation. */
unsigned metadata_orientation(const picture_metadata *m);

/* Marks the picture as upright wherever an orientation is stored. */
void metadata_set_upright(picture_metadata *m);

/* Corrects the size wherever one is stored. */
void metadata_set_size(picture_metadata *m, mona_size size);

/* Drops what a file of this kind (PNG, JPEG, WebP) cannot hold for a picture with this many
 * channels, and reports it. */
void metadata_fit(picture_metadata *m, picture_kind kind, unsigned channels, const char *path,
                  const pipeline_notes *notes);

/* Writes the metadata as chunks that follow the IHDR of a PNG, or as segments that follow SOI and
 * JFIF of a JPEG. False: out of memory. The caller frees to->data, which is NULL if there is no
 * metadata. */
bool metadata_write(metadata_bytes *to, const picture_metadata *m, picture_kind kind);

/* Makes a whole WebP of one as libwebp writes it, with the metadata. False: out of memory. The
 * caller frees to->data. */
bool metadata_write_webp(metadata_bytes *to, const picture_metadata *m, const uint8_t *webp,
                         size_t size, mona_size picture);

void metadata_free(picture_metadata *m);

#endif
