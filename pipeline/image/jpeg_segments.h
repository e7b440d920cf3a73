// SPDX-License-Identifier: Apache-2.0
/* The segments of a JPEG: those before the picture that say what it shows, which way up (EXIF) and
 * in which colours; and whether its tables can be. */
#ifndef MONA_JPEG_SEGMENTS_H
#define MONA_JPEG_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Reads the APP1 and APP2 segments of a JPEG file, markers and lengths included, one after another.
 * Leaves the file anywhere. NULL: there are none, it is no JPEG, or no memory. The caller frees it.
 */
uint8_t *jpeg_segments_read(FILE *file, size_t *bytes);

/* Whether no Huffman table of a JPEG has more codes than a byte tells apart: stb_image 2.27 writes
 * past its own tables then. Leaves the file anywhere; true of what is no JPEG. */
bool jpeg_tables_fit(FILE *file);

/* Where they belong in a file that begins with SOI and a JFIF segment: after those. */
enum { JPEG_SEGMENTS_OFFSET = 20 };

#endif
