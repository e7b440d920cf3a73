// SPDX-License-Identifier: Apache-2.0
/* Memory blocks released together, such as all memory of a graph, and lists that grow. */
#ifndef MONA_FORMAT_BLOCKS_H
#define MONA_FORMAT_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

/* Zero-initialise. */
typedef struct blocks {
    struct block *first;
    bool refused; /* some memory was: what was made since may lack a part */
} blocks;

/* Zeroed memory that lives until blocks_free; NULL: out of memory. */
void *blocks_alloc(blocks *b, size_t count, size_t size);
const char *blocks_strdup(blocks *b, const char *text);
void blocks_free(blocks *b);

/* Makes room for one item more; free() releases *items. False: out of memory. */
bool list_grow(void **items, size_t *room, size_t count, size_t item_bytes);

#endif
