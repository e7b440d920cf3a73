// SPDX-License-Identifier: Apache-2.0
/* A model bound to frame sizes, with its memory: plan, arena and session in one. */
#ifndef MONA_BOUND_H
#define MONA_BOUND_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/error.h"
#include "mona.h"

typedef struct bound_model {
    void *deep; /* the model for samples of more than 8 bits */
    void *plan_memory;
    mona_plan *plan;
    void *arena;
    mona_session *session;
} bound_model; /* arena and session NULL: only planned */

/* Plans, allocates and opens. name is for messages; config.sizes must be set. Whether it succeeds
 * or not, bound_close releases what there is. */
bool bound_open(bound_model *bound, const mona_model *model, const char *name,
                const mona_config *config, pipeline_error *error);

/* The same for planes of so many bits a sample: 8, or more in 16-bit words. */
bool bound_open_deep(bound_model *bound, const mona_model *model, const char *name, unsigned bits,
                     const mona_config *config, pipeline_error *error);

/* The same without an arena and a session: for what the plan tells. */
bool bound_plan(bound_model *bound, const mona_model *model, const char *name, unsigned bits,
                const mona_config *config, pipeline_error *error);

/* A zeroed bound_model is allowed. */
void bound_close(bound_model *bound);

/* Bytes this binding occupies: plan and arena. */
size_t bound_bytes(const bound_model *bound);

/* Zeroed memory aligned to MONA_ALIGNMENT; NULL when there is none. Released with free. */
void *bound_allocate(size_t bytes);

#endif
