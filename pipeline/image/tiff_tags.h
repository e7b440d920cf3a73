// SPDX-License-Identifier: Apache-2.0
/* The entries of a TIFF's directories. EXIF is a TIFF, too.
 *
 * A TIFF begins with its byte order and the offset of the first directory: a count, as many entries
 * of 12 bytes, and the offset of the next directory. An entry is a tag, a type, a count, and the
 * values, or their offset where they take more than 4 bytes. */
#ifndef MONA_TIFF_TAGS_H
#define MONA_TIFF_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TIFF_SUBFILE_TYPE = 254,
    TIFF_WIDTH = 256,
    TIFF_HEIGHT = 257,
    TIFF_BITS = 258,
    TIFF_COMPRESSION = 259,
    TIFF_PHOTOMETRIC = 262,
    TIFF_FILL_ORDER = 266,
    TIFF_STRIPS = 273, /* where they begin */
    TIFF_ORIENTATION = 274,
    TIFF_SAMPLES = 277,
    TIFF_STRIP_ROWS = 278,
    TIFF_STRIP_BYTES = 279,
    TIFF_PLANES = 284,
    TIFF_TILE_WIDTH = 322,
    TIFF_INK_SET = 332,
    TIFF_EXTRA_SAMPLES = 338,
    TIFF_SAMPLE_FORMAT = 339,
    TIFF_XMP = 700,
    TIFF_EXIF = 34665, /* the offset of a directory */
    TIFF_PROFILE = 34675,
    TIFF_GPS = 34853, /* the offset of a directory */
    EXIF_WIDTH = 40962,
    EXIF_HEIGHT = 40963
};

typedef struct tiff {
    const uint8_t *data;
    size_t size;
    bool big;       /* endian */
    uint32_t first; /* offset of the first directory */
} tiff;

typedef struct tiff_entry {
    unsigned tag, type;
    uint32_t count;
    size_t at, size; /* where the values lie, in bytes */
} tiff_entry;

/* False: too short for a TIFF. */
bool tiff_open(tiff *t, const uint8_t *data, size_t size);

/* Entries of a directory that lie in the file. */
uint32_t tiff_entries(const tiff *t, uint32_t directory);

/* False: of an unknown type, or its values are not in the file. */
bool tiff_entry_at(const tiff *t, uint32_t directory, uint32_t i, tiff_entry *entry);

/* Whether the file ends before the directory, or before values of it. */
bool tiff_is_cut_off(const tiff *t, uint32_t directory);

bool tiff_find(const tiff *t, uint32_t directory, unsigned tag, tiff_entry *entry);

/* Value i of bytes, or of integers of 16 or 32 bits; 0: there is none. */
uint32_t tiff_number(const tiff *t, const tiff_entry *entry, uint32_t i);

/* The first value of an entry of the directory; `otherwise`: there is no such entry. */
uint32_t tiff_value(const tiff *t, uint32_t directory, unsigned tag, uint32_t otherwise);

/* Changes the first value, in data, which may be written to and is that of t. */
void tiff_put_number(uint8_t *data, const tiff *t, const tiff_entry *entry, uint32_t value);

/* Writes an integer of 16 or 32 bits in the file's byte order. */
void tiff_put16(uint8_t *at, bool big, uint32_t value);
void tiff_put32(uint8_t *at, bool big, uint32_t value);

/* The offset of the directory after this one; 0: there is none. */
uint32_t tiff_next(const tiff *t, uint32_t directory);

#endif
