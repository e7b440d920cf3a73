// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/session_binding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/arith.h"

enum { HUGE_PAGE = 2 << 20 };

/* The first touch of a usual page costs far more than its 4 KB of work where the system is itself a
 * guest, so memory of frames is asked for in huge pages. Its end is not, as that would take up to
 * 2 MB more than mona says it needs. */
void *session_binding_allocate(size_t bytes)
{
    const size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : MONA_ALIGNMENT;
    if (bytes > SIZE_MAX - alignment)
        return NULL;
    const size_t whole = align_up(bytes + !bytes);
    void *memory;
    if (posix_memalign(&memory, alignment, whole))
        return NULL;
#ifdef MADV_HUGEPAGE
    madvise(memory, whole / HUGE_PAGE * HUGE_PAGE,
            MADV_HUGEPAGE); /* refused: usual pages will do */
#endif
    return memset(memory, 0, whole);
}

static bool deepen(session_binding *bound, mona_model *deep, const mona_model *model,
                   const char *name, unsigned bits, pipeline_error *error)
{
    const size_t bytes = mona_model_deep_bytes(model);
    bound->deep = session_binding_allocate(bytes);
    if (!bound->deep)
        return pipeline_fail(error, "out of memory");
    const mona_status status = mona_model_deepen(deep, bound->deep, bytes, model, bits);
    return !status || pipeline_fail(error, "model %s cannot be used with %u bits a sample: %s",
                                    name, bits, pipeline_reason(status));
}

session_binding_policy session_binding_rules;

/* Plans once more, with a program that is made now. */
static mona_status plan_compiled(session_binding *bound, const mona_model *model,
                                 const mona_config *config, pipeline_error *error)
{
    mona_model compiled;
    size_t count;
    if (!session_binding_rules.compile(model, config->sizes[0], &bound->compiled, &count, error))
        return MONA_ERR_UNSUPPORTED;
    mona_status status = mona_model_open(&compiled, bound->compiled, count);
    if (status)
        return status;
    free(bound->plan_memory);
    bound->plan_bytes = mona_plan_bytes(&compiled);
    bound->plan_memory = session_binding_allocate(bound->plan_bytes);
    if (!bound->plan_memory)
        return MONA_ERR_ARENA;
    status = mona_plan_make(&bound->plan, bound->plan_memory, &compiled, config);
    return status;
}

/* Names the first input whose size is not the one in config, if there is one. */
static void tell_size(const mona_model *model, const char *name, const mona_config *config,
                      pipeline_error *error)
{
    for (unsigned i = 0; i < mona_model_input_count(model); i++) {
        const mona_tensor_info t = mona_model_input(model, i);
        const mona_size found = config->sizes[i];
        char sizes[256];
        size_t used = 0;
        if (!t.width || !found.width || (t.width == found.width && t.height == found.height))
            continue;
        mona_model m = *model;
        do {
            const mona_tensor_info one = mona_model_input(&m, i);
            used += (size_t)snprintf(sizes + used, sizeof sizes - used, "%s%ux%u",
                                     used ? " or " : "", one.width, one.height);
        } while (used < sizeof sizes && mona_model_next(&m, &m));
        pipeline_fail(error, "model %s: input '%s' takes frames of %s, found %ux%u", name, t.name,
                      sizes, found.width, found.height);
    }
}

bool session_binding_plan(session_binding *bound, const mona_model *model, const char *name,
                          unsigned bits, const mona_config *config, pipeline_error *error)
{
    mona_model deep;
    *bound = (session_binding){.device = config->device};
    if (bits > 8 && !deepen(bound, &deep, model, name, bits, error))
        return false;
    model = bits > 8 ? &deep : model;
    bound->plan_bytes = mona_plan_bytes(model);
    bound->plan_memory = session_binding_allocate(bound->plan_bytes);
    if (!bound->plan_memory)
        return pipeline_fail(error, "out of memory");

    pipeline_error why = {0};
    mona_status status = mona_plan_make(&bound->plan, bound->plan_memory, model, config);
    if (status == MONA_ERR_UNSUPPORTED && device_is_ascend(config->device) && bits <= 8 &&
        session_binding_rules.compile)
        status = plan_compiled(bound, model, config, &why);
    if (status == MONA_ERR_DEVICE && config->cpu)
        return pipeline_misuse(error, SESSION_BINDING_NO_CPU, config->cpu);
    if (status == MONA_ERR_SHAPE)
        tell_size(model, name, config, error);
    if (status == MONA_ERR_UNSUPPORTED && config->device == &mona_device_model310)
        pipeline_fail(&why, "not supported on this device without a program, which mona compile "
                            "--target ascend310 makes");
    const mona_tensor_info first = mona_model_input(model, 0);
    const mona_size given = config->sizes[0];
    return !status || pipeline_fail(error, "model %s cannot be used at %ux%u: %s", name,
                                    given.width ? given.width : first.width,
                                    given.height ? given.height : first.height,
                                    why.text[0] ? why.text : pipeline_reason(status));
}

bool session_binding_open(session_binding *bound, const mona_model *model, const char *name,
                          const mona_config *config, pipeline_error *error)
{
    return session_binding_open_deep(bound, model, name, 8, false, config, error);
}

static bool open_on_device(session_binding *bound, const mona_model *model, const char *name,
                           unsigned bits, const mona_config *config, pipeline_error *error)
{
    if (!session_binding_plan(bound, model, name, bits, config, error))
        return false;
    const size_t bytes = mona_plan_arena_bytes(bound->plan);
    bound->arena = session_binding_allocate(bytes);
    if (!bound->arena)
        return pipeline_fail(error, "model %s needs %zu bytes of memory, more than there is", name,
                             bytes);
    const mona_status status = mona_session_open(&bound->session, bound->plan, bound->arena, bytes);
    return !status ||
           pipeline_fail(error, "model %s cannot start: %s", name, pipeline_reason(status));
}

bool session_binding_open_deep(session_binding *bound, const mona_model *model, const char *name,
                               unsigned bits, bool or_host, const mona_config *config,
                               pipeline_error *error)
{
    pipeline_error why = {0};
    if (!or_host || !device_is_ascend(config->device))
        return open_on_device(bound, model, name, bits, config, error);
    if (open_on_device(bound, model, name, bits, config, &why))
        return true;
    session_binding_close(bound);
    mona_config host = *config;
    host.device = &mona_device_host;
    if (!open_on_device(bound, model, name, bits, &host, error))
        return false;
    pipeline_note(&session_binding_rules.notes, "%s; the CPU runs it", why.text);
    return true;
}

void session_binding_close(session_binding *bound)
{
    mona_session_close(bound->session);
    free(bound->arena);
    free(bound->plan_memory);
    free(bound->deep);
    free(bound->compiled);
    *bound = (session_binding){0};
}

size_t session_binding_bytes(const session_binding *bound)
{
    return bound->arena ? bound->plan_bytes + mona_plan_arena_bytes(bound->plan) : 0;
}
