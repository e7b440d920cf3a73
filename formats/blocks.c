// SPDX-License-Identifier: Apache-2.0
#include "formats/blocks.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct block {
    struct block *next;
    max_align_t data[];
} block;

void *blocks_alloc(blocks *b, size_t count, size_t size)
{
    if (count > (SIZE_MAX - sizeof(block)) / size)
        return b->refused = true, NULL;
    block *made = calloc(1, sizeof *made + count * size);
    b->refused = b->refused || !made;
    if (!made)
        return NULL;
    made->next = b->first;
    b->first = made;
    return made->data;
}

const char *blocks_strdup(blocks *b, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = blocks_alloc(b, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

void blocks_free(blocks *b)
{
    for (block *at = b->first, *next; at; at = next) {
        next = at->next;
        free(at);
    }
    b->first = NULL;
}

bool list_grow(void **items, size_t *room, size_t count, size_t item_bytes)
{
    if (count < *room)
        return true;
    const size_t more = *room ? *room * 2 : 64;
    void *grown = more < SIZE_MAX / item_bytes ? realloc(*items, more * item_bytes) : NULL;
    if (!grown)
        return false;
    *items = grown;
    *room = more;
    return true;
}
