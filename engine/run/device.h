// SPDX-License-Identifier: Apache-2.0
/* A device: one row of the table in device.c. Private to engine/. */
#ifndef MONA_DEVICE_H
#define MONA_DEVICE_H

#include "engine/cpu/cpu.h"

struct mona_device {
    const char *name, *description;
    const ac_target *target;
    bool unified_memory;
    bool (*answers)(void);
    unsigned (*cores)(void);
    size_t (*cache_bytes)(void); /* see mona_device_properties */
    /* The best instruction set to run row kernels with, or the one named `highest`; it returns NULL if
     * there is no such set, or this machine cannot run it. NULL: the device runs AI Core programs. */
    const ac_isa *(*isa)(const char *highest);
};

#endif
