// SPDX-License-Identifier: Apache-2.0
/* First step of planning: takes the caller's memory, the model's size and the target. */
#include "engine/layout/layout.h"

#include "engine/libc.h"
#include "engine/port/port.h"

/* The caller's memory: the plan, the shapes of its tensors, its operators, and the planner's own
 * scratch. */
typedef struct plan_memory {
    size_t shapes, ops, progress, bytes;
} plan_memory;

static plan_memory memory_for(uint32_t tensors, uint32_t ops)
{
    plan_memory m = {0};
    place(&m.bytes, sizeof(mona_plan));
    m.shapes = place(&m.bytes, tensors * sizeof(mona_shape));
    m.ops = place(&m.bytes, ops * sizeof(plan_op));
    m.progress = place(&m.bytes, ops * sizeof(plan_progress));
    return m;
}

size_t mona_plan_bytes(const mona_model *model)
{
    mona_model m = *model;
    size_t bytes = 0;
    do
        bytes = max_size(bytes, memory_for(m.header->tensor_count, m.header->op_count).bytes);
    while (mona_model_next(&m, &m));
    return bytes;
}

static mona_status choose_target(mona_plan *plan, const mona_config *config)
{
    const mona_device *device = config->device ? config->device : &mona_device_host;
    plan->target = device->target;
    plan->device = device->ai_core ? device : NULL;
    mona_device_properties properties;
    plan->isa = device->open(device, &properties) ? NULL : device->isa(config->cpu);
    if (!plan->isa)
        return MONA_ERR_DEVICE;
    const size_t cache_bytes = properties.cache_bytes;
    if (config->threads > MONA_MAX_THREADS)
        return MONA_ERR_LIMIT;
    plan->cores = config->threads ? config->threads : properties.cores;
    if (plan->cores > MONA_MAX_THREADS)
        plan->cores = MONA_MAX_THREADS;
    if (mona_plan_on_ai_core(plan) && plan->cores > properties.cores)
        plan->cores = properties.cores;
    if (!mona_port_has_threads() && !mona_plan_on_ai_core(plan))
        plan->cores = 1;
    /* Rings get three quarters of a cache; the rest is for weights and for the frame passing
     * through. */
    plan->cache_bytes = config->cache_bytes ? config->cache_bytes
                        : cache_bytes       ? cache_bytes / 4 * 3
                                            : plan->target->l1_bytes;
    return MONA_OK;
}

static bool has_sizes(const mona_model *m, const mona_config *config)
{
    for (uint32_t i = 0; i < m->header->input_count; i++) {
        const mona_file_tensor *t = &m->tensors[i];
        const mona_size asked = config->sizes[i];
        if (t->width && asked.width && (t->width != asked.width || t->height != asked.height))
            return false;
    }
    return true;
}

/* The model for the sizes in config. If there is none, the first one, which then fails to bind. */
static mona_model choose_size(const mona_model *model, const mona_config *config)
{
    mona_model m = *model;
    while (!has_sizes(&m, config))
        if (!mona_model_next(&m, &m))
            return *model;
    return m;
}

static bool has_convolution(const mona_plan *plan)
{
    for (uint32_t o = 0; o < plan->model.header->op_count; o++)
        if (mona_ops[plan->model.ops[o].kind]->has_filter)
            return true;
    return false;
}

/* The chip's pipes run empty when one operator follows another, so a step computes several rows: as
 * many as programs can take at once, or half of that where rings of convolutions have to share
 * L1. */
static uint32_t modelled_strip_rows(const mona_plan *plan)
{
    return has_convolution(plan) ? MONA_ROWS_AT_ONCE / 2 : MONA_ROWS_AT_ONCE;
}

mona_status mona_plan_begin(mona_plan **out, plan_progress **progress, void *memory,
                            const mona_model *model, const mona_config *config)
{
    if (!out || !memory || (uintptr_t)memory % MONA_ALIGNMENT || !model || !model->header ||
        !config || config->strip_rows > MONA_MAX_SIDE || config->tile_columns > MONA_MAX_SIDE)
        return MONA_ERR_ARGUMENT;
    const mona_model chosen = choose_size(model, config);
    const plan_memory m = memory_for(chosen.header->tensor_count, chosen.header->op_count);
    mona_plan *plan = memory;
    memset(plan, 0, m.bytes);
    plan->model = chosen;
    plan->shapes = (mona_shape *)(void *)((uint8_t *)memory + m.shapes);
    plan->ops = (plan_op *)(void *)((uint8_t *)memory + m.ops);
    *progress = (plan_progress *)(void *)((uint8_t *)memory + m.progress);
    plan->shared = config->shared;
    mona_status status = choose_target(plan, config);
    plan->strip_rows = config->strip_rows           ? config->strip_rows
                       : mona_plan_on_ai_core(plan) ? modelled_strip_rows(plan)
                                                    : 1;
    if (!status)
        status = mona_plan_bind(plan, config, *progress);
    if (!status && plan->shared)
        status = mona_plan_on_ai_core(plan)               ? MONA_ERR_UNSUPPORTED
                 : mona_session_lends(plan->shared, plan) ? MONA_OK
                                                          : MONA_ERR_ARGUMENT;
    *out = plan;
    return status;
}
