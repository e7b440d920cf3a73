// SPDX-License-Identifier: Apache-2.0
/* A device: one row of the table in device.c. Private to engine/. */
#ifndef MONA_DEVICE_H
#define MONA_DEVICE_H

#include "engine/aicore/aicore.h"

struct mona_device {
    const char *name, *description;
    const ac_target *target;
    bool unified_memory;
    bool (*answers)(void);
    unsigned (*cores)(void);
    size_t (*cache_bytes)(void); /* see mona_device_properties */
    /* The best instruction table to run kernels with, or the best one not above `highest`. NULL:
     * there is none, or this machine cannot run it. */
    const ac_isa *(*isa)(const char *highest);
};

#endif
