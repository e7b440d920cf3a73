// SPDX-License-Identifier: Apache-2.0
/* Memory blocks released together, such as all memory of a graph. Zero-initialise. */
#ifndef MONA_FORMAT_BLOCKS_H
#define MONA_FORMAT_BLOCKS_H

#include <stddef.h>

typedef struct blocks {
    struct block *first;
} blocks;

/* Zeroed memory that lives until blocks_free; NULL: out of memory. */
void *blocks_alloc(blocks *b, size_t count, size_t size);
const char *blocks_strdup(blocks *b, const char *text);
void blocks_free(blocks *b);

#endif
