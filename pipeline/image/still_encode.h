// SPDX-License-Identifier: Apache-2.0
/* Encoders of still pictures. The bytes do not depend on the number of threads. */
#ifndef MONA_STILL_ENCODE_H
#define MONA_STILL_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/image/metadata_bytes.h"
#include "pipeline/image/stills.h"

typedef struct still_encoding {
    const still *image;         /* the picture's shape */
    const still_source *source; /* NULL: the image's pixels */
    metadata_bytes metadata;    /* as the file has it, between its head and its pixels */
    unsigned jpeg_quality, threads;
    bool (*write)(void *to, const void *bytes, size_t size);
    void *to;
} still_encoding;

/* The bytes of count rows from first on, without gaps. */
void still_encode_rows(const still_encoding *e, uint32_t first, uint32_t count, uint8_t *to);

/* False: out of memory, or a write returned false. */
bool png_encode(const still_encoding *e);
bool jpeg_encode(const still_encoding *e);

#endif
