// SPDX-License-Identifier: Apache-2.0
/* What the file of a still picture says besides its pixels: EXIF, XMP, colour profile, comments. */
#ifndef MONA_METADATA_H
#define MONA_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/error.h"
#include "pipeline/image/picture_kind.h"

typedef struct metadata_bytes {
    uint8_t *data; /* NULL: none */
    size_t size;
} metadata_bytes;

typedef struct picture_metadata {
    picture_kind kind; /* of the file */
    metadata_bytes exif, xmp, profile;
    metadata_bytes rest; /* segments or chunks that only files of the same kind hold, as they are */
} picture_metadata;

/* Takes what there is of a file in memory. False: no memory. metadata_free in any case. */
bool metadata_read(picture_metadata *m, const uint8_t *file, size_t size);

/* How the picture is to be turned by what EXIF says, 1 to 8; 1: it is upright, or nothing is said. */
unsigned metadata_orientation(const picture_metadata *m);

/* Says that the picture is upright, wherever an orientation is said. */
void metadata_set_upright(picture_metadata *m);

/* Drops what a file of a kind, PNG or JPEG, cannot hold for a picture of so many channels, and says
 * so. */
void metadata_fit(picture_metadata *m, picture_kind kind, unsigned channels, const char *path,
                  const pipeline_notes *notes);

/* As chunks to stand behind the IHDR of a PNG, or as segments to stand behind SOI and JFIF of a
 * JPEG. False: no memory. The caller frees to->data, which is NULL when there is nothing. */
bool metadata_write(metadata_bytes *to, const picture_metadata *m, picture_kind kind);

void metadata_free(picture_metadata *m);

#endif
