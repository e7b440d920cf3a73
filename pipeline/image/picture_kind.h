// SPDX-License-Identifier: Apache-2.0
/* The kinds of still picture files, recognised by their first bytes. */
#ifndef MONA_PICTURE_KIND_H
#define MONA_PICTURE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/base/error.h"

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

/* Opens zlib and libjpeg, unless they are open. False: one of them is not there. A process that
 * confines itself calls it before. */
bool picture_libraries(pipeline_error *error);

/* How strongly the coder of a still picture quantised it. */

/* Whether the networks for JPEG suit a picture's file better than those for clean pictures: a JPEG
 * with the tables of quality 91 or less, a WebP of 75 or less. */
bool picture_is_lossy(const uint8_t *file, size_t size);

/* Whether libav decodes a TIFF as other readers do. */

typedef struct tiff_info {
    unsigned pages;     /* pictures in the file, without smaller copies of them */
    bool premultiplied; /* alpha is multiplied into the colours */
    bool ccitt;         /* compressed so that only a decoder sees which rows are there */
} tiff_info;

/* Refuses, by name, what libav takes and gets wrong, such as JPEG compression, tiles, signed
 * samples and floats, and what it does not know. */
bool tiff_check(tiff_info *info, const char *path, const uint8_t *file, size_t size,
                pipeline_error *error);

/* Fails: a strip ends before its last row. */
bool tiff_lacks_rows(const char *path, pipeline_error *error);

/* The segments of a JPEG file in memory. */

enum { MARKER_SOS = 0xda, MARKER_APP0 = 0xe0, MARKER_COM = 0xfe };

typedef struct jpeg_segment {
    int code;            /* the marker's second byte */
    const uint8_t *data; /* after the marker and the length */
    size_t size;
} jpeg_segment;

/* Finds the next segment that has a length, from *at on, and moves *at past it; *at is 0 at
 * first. Padding and the coded data after a MARKER_SOS are skipped. False: the image has ended,
 * the segment is cut off, or this is not a JPEG. */
bool jpeg_segment_next(jpeg_segment *segment, const uint8_t *file, size_t size, size_t *at);

/* The position behind the end-of-image marker to which a JPEG's segments lead; 0: there is none. */
size_t jpeg_end(const uint8_t *file, size_t size);

/* How many pictures the index of a multi-picture file tells, without smaller copies of them; 0: the
 * segment is no such index. */
unsigned jpeg_pictures(const jpeg_segment *segment);

/* Whether a film lies behind the picture, as in phones' motion photos. */
bool jpeg_has_film(const uint8_t *file, size_t size);

/* Refuses a JPEG of which decoders may return what they never set: its tables must fill their
 * segments (the last one may be cut off), no table of codes may have more than a byte can index,
 * and each scan must have the tables that it names, and each component a scan. True for data that
 * is not a JPEG. */
bool jpeg_check(const char *path, const uint8_t *file, size_t size, pipeline_error *error);

/* The RMS error of luma to expect from a JPEG's quantisers, in steps; 0: not a JPEG. */
float jpeg_error(const uint8_t *file, size_t size);

#endif
