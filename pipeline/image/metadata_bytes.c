// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/metadata.h"

#include <stdlib.h>
#include <string.h>

bool metadata_append(metadata_bytes *to, const void *data, size_t size)
{
    uint8_t *grown = size ? realloc(to->data, to->size + size) : to->data;
    if (!size)
        return true;
    if (!grown)
        return false;
    if (data)
        memcpy(grown + to->size, data, size);
    else
        memset(grown + to->size, 0, size);
    to->data = grown;
    to->size += size;
    return true;
}

void metadata_drop(metadata_bytes *bytes)
{
    free(bytes->data);
    *bytes = (metadata_bytes){0};
}
