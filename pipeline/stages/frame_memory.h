// SPDX-License-Identifier: Apache-2.0
/* Memory for frames that the CPU and a device both use: the device's own if the host can use that
 * too, so that frames need no copies. */
#ifndef MONA_FRAME_MEMORY_H
#define MONA_FRAME_MEMORY_H

#include <stdbool.h>

#include "mona.h"

typedef struct frame_memory {
    uint8_t *bytes;            /* zeros at first, aligned to MONA_ALIGNMENT */
    const mona_device *device; /* whose it is; NULL: the host's */
} frame_memory;

/* device NULL: the host. False: there is not enough. */
bool frame_memory_open(frame_memory *memory, const mona_device *device, size_t bytes);
/* Zeroed memory is allowed. */
void frame_memory_close(frame_memory *memory);

#endif
