// SPDX-License-Identifier: Apache-2.0
/* A model bound to frame sizes, together with its memory: plan, arena and session. */
#ifndef MONA_SESSION_BINDING_H
#define MONA_SESSION_BINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/base/error.h"
#include "engine/mona_ascend.h"

/* Whether it is a chip that runs mona's programs. */
static inline bool device_is_ascend(const mona_device *device)
{
    return mona_device_first(device) == &mona_device_ascend;
}

/* A program's choices for all models that it binds, made once, before the first. */
typedef struct session_binding_policy {
    /* Makes a model with an AI Core program for frames of this size, 64-byte aligned, for free().
     * False: *why says why there is none. NULL: only programs in files are run. */
    bool (*compile)(const mona_model *model, mona_size size, uint8_t **bytes, size_t *count,
                    pipeline_error *why);
    pipeline_notes notes;
} session_binding_policy;

extern session_binding_policy session_binding_rules;

typedef struct session_binding {
    const mona_device *device; /* on which the session was opened; NULL: the host */
    void *deep;                /* a copy of the model for samples of more than 8 bits */
    uint8_t *compiled;         /* a copy with a program */
    void *plan_memory;         /* plan_bytes */
    size_t plan_bytes;
    mona_plan *plan;
    void *arena;
    mona_session *session;
} session_binding; /* without an arena and a session, it is only planned */

/* Plans, allocates and opens. name is for messages; config.sizes must be set. Whether it succeeds
 * or not, session_binding_close releases what there is. */
bool session_binding_open(session_binding *bound, const mona_model *model, const char *name,
                          const mona_config *config, pipeline_error *error);

/* The same for planes with this many bits a sample: 8, or more in 16-bit words. or_host: what the
 * chip cannot open is opened on the host, and a note says so. */
bool session_binding_open_deep(session_binding *bound, const mona_model *model, const char *name,
                               unsigned bits, bool or_host, const mona_config *config,
                               pipeline_error *error);

/* The same without an arena and a session: only for the plan. */
bool session_binding_plan(session_binding *bound, const mona_model *model, const char *name,
                          unsigned bits, const mona_config *config, pipeline_error *error);

/* For the name of an instruction set, which made planning fail with MONA_ERR_DEVICE. */
#define SESSION_BINDING_NO_CPU                                                                     \
    "--cpu: expected an instruction set that the device has and mona has code for, found '%s'"

/* A zeroed session_binding is allowed. */
void session_binding_close(session_binding *bound);

/* The bytes of plan and arena. */
size_t session_binding_bytes(const session_binding *bound);

/* Zeroed memory aligned to MONA_ALIGNMENT; NULL: out of memory. Release it with free. */
void *session_binding_allocate(size_t bytes);

#endif
