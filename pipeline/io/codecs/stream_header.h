// SPDX-License-Identifier: Apache-2.0
/* Sequence headers (SPS) of H.264 and H.265. */
#ifndef MONA_STREAM_HEADER_H
#define MONA_STREAM_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct stream_header {
    const uint8_t *data; /* NULL: none was found */
    size_t bytes;
} stream_header;

/* The first in data of the form of annex B, without its start code. */
stream_header stream_header_find(bool h265, const uint8_t *data, size_t bytes);

/* Whether pictures may be fields (7.3.2.1.1 of H.264), for the profiles Baseline, Main and High. */
bool stream_header_has_fields(stream_header h264);

#endif
