// SPDX-License-Identifier: Apache-2.0
/* The kinds of still picture files, recognised by their first bytes. */
#ifndef MONA_PICTURE_KIND_H
#define MONA_PICTURE_KIND_H

#include <stddef.h>
#include <stdint.h>

typedef enum picture_kind {
    PICTURE_NONE, /* not a picture, or a moving one */
    PICTURE_PNG,
    PICTURE_JPEG,
    PICTURE_WEBP,
    PICTURE_BMP,
    PICTURE_TIFF,
    PICTURE_PGM, /* binary ones of netpbm */
    PICTURE_PPM,
} picture_kind;

enum { PICTURE_HEAD = 32 }; /* bytes that suffice to recognise the kind */

picture_kind picture_kind_of(const uint8_t *file, size_t size);

#define PICTURE_KINDS "PNG, JPEG, WebP, BMP, TIFF, PGM or PPM"

/* The name of a kind that mona does not read; NULL: unknown. path: TGA has no first bytes. */
const char *picture_kind_unread(const char *path, const uint8_t *file, size_t size);

#endif
