#include "bound.h"

#include <stdlib.h>
#include <string.h>

void *bound_allocate(size_t bytes)
{
    if (bytes > SIZE_MAX - MONA_ALIGNMENT)
        return NULL;
    size_t whole = (bytes + MONA_ALIGNMENT - 1) / MONA_ALIGNMENT * MONA_ALIGNMENT;
    void *memory = aligned_alloc(MONA_ALIGNMENT, whole ? whole : MONA_ALIGNMENT);
    if (memory)
        memset(memory, 0, whole);
    return memory;
}

bool bound_open(bound_model *bound, const mona_model *model, const char *name,
                const mona_config *config, pipeline_error *error)
{
    *bound = (bound_model){.plan_memory = bound_allocate(mona_plan_bytes())};
    if (!bound->plan_memory)
        return pipeline_fail(error, "out of memory");

    mona_status status = mona_plan_make(&bound->plan, bound->plan_memory, model, config);
    if (status == MONA_ERR_DEVICE && config->cpu)
        return pipeline_fail(error,
                             "--cpu: expected an instruction set that the device has and "
                             "mona has code for, found '%s'",
                             config->cpu);
    if (status)
        return pipeline_fail(error, "model %s cannot be used at %ux%u: %s", name,
                             config->sizes[0].width, config->sizes[0].height,
                             mona_status_text(status));
    size_t bytes = mona_plan_arena_bytes(bound->plan);
    bound->arena = bound_allocate(bytes);
    if (!bound->arena)
        return pipeline_fail(error, "model %s needs %zu bytes of memory, more than there are", name,
                             bytes);
    status = mona_session_open(&bound->session, bound->plan, bound->arena, bytes);
    if (status)
        return pipeline_fail(error, "model %s cannot start: %s", name, mona_status_text(status));
    return true;
}

void bound_close(bound_model *bound)
{
    mona_session_close(bound->session);
    free(bound->arena);
    free(bound->plan_memory);
    *bound = (bound_model){0};
}

size_t bound_bytes(const bound_model *bound)
{
    return bound->arena ? mona_plan_bytes() + mona_plan_arena_bytes(bound->plan) : 0;
}
