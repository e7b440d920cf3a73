// SPDX-License-Identifier: Apache-2.0
/* Bytes of metadata that grow. */
#ifndef MONA_METADATA_BYTES_H
#define MONA_METADATA_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct metadata_bytes {
    uint8_t *data; /* NULL: none */
    size_t size;
} metadata_bytes;

/* data NULL: zeros. False: out of memory. */
bool metadata_append(metadata_bytes *to, const void *data, size_t size);

void metadata_drop(metadata_bytes *bytes);

#endif
