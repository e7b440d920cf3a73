// SPDX-License-Identifier: Apache-2.0
/* A device as a table of functions. Private to engine/. */
#ifndef MONA_DEVICE_H
#define MONA_DEVICE_H

#include "ops/ops.h"

struct worker;

/* What a device with AI Cores does in place of what a session does on a CPU. */
typedef struct mona_ai_core {
    const mona_op_program *programs; /* by mona_op_kind */
    /* While planning. Sets plan->program if the model has one for these sizes; MONA_ERR_MODEL: it
     * has, but it is not sound. */
    mona_status (*plan)(mona_plan *plan);
    /* Bytes of a core's region of the arena that the device uses. */
    size_t (*core_bytes)(const mona_plan *plan);
    void (*place)(struct worker *w);
    void (*run)(mona_session *session);
} mona_ai_core;

struct mona_device {
    const char *name, *description;
    const ac_target *target;
    bool unified_memory;
    bool (*answers)(void);
    unsigned (*cores)(void);
    size_t (*cache_bytes)(void); /* see mona_device_properties */
    /* The best instruction set to run row kernels with, or the one named `highest`; it returns NULL
     * if there is no such set, or this machine cannot run it. On a device with AI Cores it is for
     * what has no program. */
    const ac_isa *(*isa)(const char *highest);
    const mona_ai_core *ai_core; /* NULL: a CPU */
};

#endif
