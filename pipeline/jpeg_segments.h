/* The segments before a JPEG's picture that say what it shows: which way up (EXIF), in which
 * colours. */
#ifndef MONA_JPEG_SEGMENTS_H
#define MONA_JPEG_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Reads the APP1 and APP2 segments of a JPEG file, markers and lengths included, one after another.
 * Leaves the file anywhere. NULL: there are none, it is no JPEG, or no memory. The caller frees it.
 */
uint8_t *jpeg_segments_read(FILE *file, size_t *bytes);

/* Where they belong in a file that begins with SOI and a JFIF segment: after those. */
enum { JPEG_SEGMENTS_OFFSET = 20 };

#endif
