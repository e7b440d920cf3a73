// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/frame.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mona_ascend.h"
#include "pipeline/stages/session_binding.h"

/* A device without memory left copies frames from the host's. */
bool frame_memory_open(frame_memory *m, const mona_device *device, size_t bytes)
{
    mona_device_properties p;
    void *memory = NULL;
    *m = (frame_memory){0};
    if (device && !mona_device_query(device, &p) && p.unified_memory &&
        mona_device_allocate(device, bytes, &memory))
        mona_ascend_forget();
    if (!memory) {
        m->bytes = session_binding_allocate(bytes);
        return m->bytes;
    }
    *m = (frame_memory){memset(memory, 0, bytes), device};
    return true;
}

void frame_memory_close(frame_memory *m)
{
    if (m->device)
        mona_device_free(m->device, m->bytes);
    else
        free(m->bytes);
    *m = (frame_memory){0};
}
