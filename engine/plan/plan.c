// SPDX-License-Identifier: Apache-2.0
/* Binds a model to frame sizes and a target: plan_bind.c, plan_groups.c, plan_maps.c, plan_rings.c,
 * then every offset of the arena. */
#include "engine/plan/planner.h"

#include "engine/libc.h"
#include "engine/port/port.h"

static bool has_convolution(const mona_plan *plan)
{
    for (uint32_t o = 0; o < plan->model.header->op_count; o++)
        if (plan->model.ops[o].kind == MONA_OP_CONV)
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

/* ---- the arena ------------------------------------------------------------------------------ */

/* Rows of the windows of all inputs for one output row. */
static size_t window_rows_at(const plan_op *op, int64_t y)
{
    const mona_bound_op *b = &op->bound;
    size_t rows = 1; /* one for the output row's own pointer */
    for (uint32_t i = 0; i < b->op->input_count; i++) {
        if (op->writer[i] == MONA_NONE)
            continue;
        const mona_span s = b->run->rows(b, i, (mona_span){y, y + 1});
        rows += (size_t)(s.end - s.begin);
    }
    return rows;
}

/* Row pointers of the largest call. Windows of a RESIZE differ from row to row, so all rows are
 * checked. */
static size_t window_rows(const mona_plan *plan)
{
    size_t max = 1;
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        const plan_op *op = &plan->ops[o];
        const bool varies = op->bound.op->kind == MONA_OP_RESIZE;
        const int64_t rows = varies ? op->bound.output.height : 1;
        for (int64_t y = 0; y < rows; y++) {
            const size_t count = window_rows_at(op, y);
            max = count > max ? count : max;
        }
    }
    return max;
}

static size_t place(size_t *end, size_t bytes)
{
    const size_t offset = *end;
    *end += align_up(bytes);
    return offset;
}

/* Scratch of one operator on one core. */
static size_t scratch_bytes(const plan_op *op)
{
    const mona_op_class *class = mona_ops[op->bound.op->kind];
    if (class->run->array || (op->group.last && op->group.whole_maps))
        return class->map_scratch_bytes ? class->map_scratch_bytes(&op->bound) : 0;
    const uint32_t columns = mona_plan_progress_shape(op)->width;
    return class->scratch_bytes ? class->scratch_bytes(&op->bound, columns) : 0;
}

static mona_status lay_out(mona_plan *plan)
{
    const uint32_t count = plan->model.header->op_count;
    plan->crew = plan->cores > 1 && !mona_plan_on_ai_core(plan) ? &mona_threads : NULL;
    plan->state_bytes = align_up(mona_session_state_bytes(plan));
    size_t end = plan->state_bytes, scratch = 0;
    plan->zero_bytes = AC_ROW_SLACK;
    for (uint32_t o = 0; o < count; o++) {
        plan_op *op = &plan->ops[o];
        op->constants_offset = place(&end, mona_plan_packs(plan) ? op->constants_bytes : 0);
        const size_t bytes = scratch_bytes(op);
        scratch = bytes > scratch ? bytes : scratch;
        /* On an AI Core no operator reads rows outside a map. */
        if (op->row_bytes + AC_ROW_SLACK > plan->zero_bytes &&
            !(op->map && mona_plan_on_ai_core(plan)))
            plan->zero_bytes = op->row_bytes + AC_ROW_SLACK;
        if (end >= PLAN_MAX_BYTES || scratch >= PLAN_MAX_BYTES)
            return MONA_ERR_LIMIT;
    }
    plan->zero_offset = place(&end, plan->zero_bytes);
    plan->maps_offset = place(&end, plan->maps_bytes);
    plan->planes_offset = place(&end, plan->planes_bytes);
    plan->core_offset = end;
    size_t core = align_up(mona_plan_l1_bytes(plan));
    plan->progress_offset = place(&core, count * sizeof(plan_progress));
    const size_t rows = mona_plan_on_ai_core(plan) ? MONA_ROWS_AT_ONCE : 1;
    plan->scratch_bytes = align_up(scratch);
    plan->scratch_offset = place(&core, rows * plan->scratch_bytes);
    plan->window_bytes = align_up(window_rows(plan) * sizeof(uint8_t *));
    plan->window_offset = place(&core, rows * plan->window_bytes);
    plan->device_offset =
        place(&core, mona_plan_on_ai_core(plan) ? plan->ai_core->core_bytes(plan) : 0);
    plan->core_bytes = core;
    if (core >= PLAN_MAX_BYTES / plan->cores || end >= PLAN_MAX_BYTES)
        return MONA_ERR_LIMIT;
    plan->arena_bytes = end + core * plan->cores;
    return MONA_OK;
}

mona_status mona_plan_link(mona_plan *plan)
{
    plan->linked = true;
    return lay_out(plan);
}

/* ---- public --------------------------------------------------------------------------------- */

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
    plan->ai_core = device->ai_core;
    mona_device_properties properties;
    plan->isa = device->open(&properties) ? NULL : device->isa(config->cpu);
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

/* On the chip L1 is a hard limit: rings, the constants of a group and a row of zeros. Between
 * groups only what copies channels reads maps. */
static mona_status check_l1(const mona_plan *plan)
{
    for (const plan_group *g = mona_plan_first_group(plan); g; g = mona_plan_next_group(plan, g))
        if (!mona_plan_may_begin(plan, g->first) || mona_plan_group_l1_bytes(g) +
                                                            mona_plan_group_constants(plan, g) +
                                                            align_up(plan->zero_bytes) >
                                                        plan->target->l1_bytes)
            return MONA_ERR_UNSUPPORTED;
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

mona_status mona_plan_make(mona_plan **out, void *memory, const mona_model *model,
                           const mona_config *config)
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
    plan_progress *progress = (plan_progress *)(void *)((uint8_t *)memory + m.progress);
    plan->shared = config->shared;
    mona_status status = choose_target(plan, config);
    plan->strip_rows = config->strip_rows           ? config->strip_rows
                       : mona_plan_on_ai_core(plan) ? modelled_strip_rows(plan)
                                                    : 1;
    if (!status)
        status = mona_plan_bind(plan, config);
    if (!status && plan->shared)
        status = mona_plan_on_ai_core(plan)               ? MONA_ERR_UNSUPPORTED
                 : mona_session_lends(plan->shared, plan) ? MONA_OK
                                                          : MONA_ERR_ARGUMENT;
    if (!status)
        status = mona_plan_groups(plan, config, progress);
    if (!status && mona_plan_on_ai_core(plan) && !config->strip_rows && !config->tile_columns &&
        !config->cache_bytes && !config->keep_rows && plan->cores == AC_PROGRAM_CORES)
        status = plan->ai_core->plan(plan);
    if (!status)
        status = lay_out(plan);
    if (!status)
        mona_plan_reach(plan, progress);
    if (!status)
        mona_plan_find_lines(plan, progress);
    if (!status && mona_plan_on_ai_core(plan))
        status = check_l1(plan);
    if (!status)
        *out = plan;
    return status;
}
