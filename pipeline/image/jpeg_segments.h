// SPDX-License-Identifier: Apache-2.0
/* The segments of a JPEG file in memory. */
#ifndef MONA_JPEG_SEGMENTS_H
#define MONA_JPEG_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/base/error.h"

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

/* Whether a JPEG's segments lead to its end-of-image marker. */
bool jpeg_has_end(const uint8_t *file, size_t size);

/* Refuses a JPEG of which decoders may return what they never set: its tables must fill their
 * segments (the last one may be cut off), no table of codes may have more than a byte can index,
 * and each scan must have the tables that it names, and each component a scan. True for data that
 * is not a JPEG. */
bool jpeg_check(const char *path, const uint8_t *file, size_t size, pipeline_error *error);

/* The RMS error of luma to expect from a JPEG's quantisers, in steps; 0: not a JPEG. */
float jpeg_error(const uint8_t *file, size_t size);

#endif
