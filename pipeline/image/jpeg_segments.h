// SPDX-License-Identifier: Apache-2.0
/* The segments of a JPEG file in memory. */
#ifndef MONA_JPEG_SEGMENTS_H
#define MONA_JPEG_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JPEG_SOS = 0xda, JPEG_APP0 = 0xe0, JPEG_COM = 0xfe };

typedef struct jpeg_segment {
    int code;            /* the marker's second byte */
    const uint8_t *data; /* behind marker and length */
    size_t size;
} jpeg_segment;

/* The next segment that has a length, from *at on, which is 0 at first and moves behind it; padding
 * and what is coded after a JPEG_SOS are passed over. False: the image ends, the segment is cut
 * off, or this is no JPEG. */
bool jpeg_segment_next(jpeg_segment *segment, const uint8_t *file, size_t size, size_t *at);

/* Whether a JPEG's segments lead to its end of image. */
bool jpeg_has_end(const uint8_t *file, size_t size);

/* Whether the tables of a JPEG fill their segments, the last of which may be cut off, and no
 * Huffman table has more codes than a byte tells apart: stb_image 2.27 writes past its own tables
 * then, and 2.30 may give pixels that it never set. True of what is no JPEG. */
bool jpeg_tables_fit(const uint8_t *file, size_t size);

/* RMS error of luma to be expected of a JPEG's quantisers, in steps; 0: this is none. */
float jpeg_error(const uint8_t *file, size_t size);

#endif
