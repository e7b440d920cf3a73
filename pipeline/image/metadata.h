// SPDX-License-Identifier: Apache-2.0
/* The contents of a still picture's file besides pixels: EXIF, XMP, colour profile, comments. */
#ifndef MONA_METADATA_H
#define MONA_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mona.h"
#include "pipeline/base/error.h"
#include "pipeline/image/picture_kind.h"
#include "pipeline/image/tiff_tags.h"

/* Bytes of metadata that grow. */

typedef struct metadata_bytes {
    uint8_t *data; /* NULL: none */
    size_t size;
} metadata_bytes;

/* data NULL: zeros. False: out of memory. */
bool metadata_append(metadata_bytes *to, const void *data, size_t size);

void metadata_drop(metadata_bytes *bytes);

/* How many pixels a printed picture has. */
typedef struct picture_density {
    uint32_t x, y; /* 0: not told */
    bool metres;   /* for each metre; else only their ratio is told */
} picture_density;

void density_of_jfif(picture_density *d, unsigned unit, uint32_t x, uint32_t y);

/* False: it is not told, or not in JFIF's range. */
bool density_to_jfif(unsigned *unit, uint32_t *x, uint32_t *y, const picture_density *d);

typedef struct picture_metadata {
    picture_kind kind; /* of the file */
    metadata_bytes exif, xmp, profile;
    metadata_bytes rest; /* segments or chunks that only files of the same kind hold, unchanged */
    picture_density density; /* beside that of EXIF */
    unsigned pictures;       /* in the file, where it tells that; else 0 */
    bool film;               /* there is one behind the picture */
    bool lost;               /* there is a profile that cannot be read */
} picture_metadata;

/* Reads the metadata of a PNG, JPEG, WebP, BMP or TIFF in memory. False: out of memory. Call
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

enum { METADATA_LEFT = 256 };

/* Names what only files of the same kind hold: comments, texts, IPTC; "": nothing. */
void metadata_left(char list[METADATA_LEFT], const picture_metadata *m);

/* Writes the metadata as chunks that follow the IHDR of a PNG, or as segments that follow SOI and
 * JFIF of a JPEG. False: out of memory. The caller frees to->data, which is NULL if there is no
 * metadata. */
bool metadata_write(metadata_bytes *to, const picture_metadata *m, picture_kind kind);

/* Makes a whole WebP of one as libwebp writes it, with the metadata. False: out of memory. The
 * caller frees to->data. */
bool metadata_write_webp(metadata_bytes *to, const picture_metadata *m, const uint8_t *webp,
                         size_t size, mona_size picture);

void metadata_free(picture_metadata *m);

/* EXIF: what it says about the picture that it belongs to. */

/* 1 to 8. 1: the picture is upright, or there is no orientation. */
unsigned exif_orientation(const metadata_bytes *exif);

void exif_set_upright(metadata_bytes *exif);

/* Corrects the sizes that are stored, if any. */
void exif_set_size(metadata_bytes *exif, mona_size size);

/* Collects what a TIFF says about its picture besides the pixels. False: out of memory. */
bool exif_of_tiff(metadata_bytes *exif, const tiff *file);

#endif
