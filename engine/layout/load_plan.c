// SPDX-License-Identifier: Apache-2.0
/* Plans stored in a model: the planner's decisions, for programs linked without it.
 *
 * A record says which operators form groups, how these are shared and tiled, and how many rows each
 * ring holds. Every size and offset is computed from it here, by the functions that the planner
 * calls, so a damaged record may yield wrong samples but no address outside a buffer. */
#include "engine/layout/layout.h"

#include "engine/model/model.h"
#include "engine/libc.h"
#include "engine/port/port.h"

/* ---- which record ---------------------------------------------------------------------------- */

/* Record i of a model as a plan. NULL: it is for another target, or is damaged. */
static const mona_file_plan *record_at(const mona_model *m, uint32_t i)
{
    uint32_t count;
    const mona_file_program *p = mona_model_programs(m, &count) + i;
    const mona_file_plan *f = (const mona_file_plan *)(const void *)(m->file + p->offset);
    const uint64_t bytes = sizeof *f + m->header->op_count * (uint64_t)sizeof(mona_file_plan_op);
    return p->bytes == bytes && f->magic == MONA_PLAN_MAGIC && !f->isa[sizeof f->isa - 1] ? f
                                                                                          : NULL;
}

static bool is_for(const mona_plan *plan, const mona_file_plan *f, unsigned threads)
{
    bool same = mona_names_equal(f->isa, plan->isa->name) && (!threads || threads == f->cores);
    for (uint32_t i = 0; i < plan->model.header->input_count; i++)
        same = same && f->inputs[i].width == plan->shapes[i].width &&
               f->inputs[i].height == plan->shapes[i].height;
    return same;
}

static const mona_file_plan *find(const mona_plan *plan, unsigned threads)
{
    uint32_t count;
    mona_model_programs(&plan->model, &count);
    for (uint32_t i = 0; i < count; i++) {
        const mona_file_plan *f = record_at(&plan->model, i);
        if (f && is_for(plan, f, threads))
            return f;
    }
    return NULL;
}

/* ---- what it says ---------------------------------------------------------------------------- */

/* Whether operators [first, last) may be a group: one on whole maps is one operator that can be,
 * and every operator on arrays is one. */
static bool range_ok(const mona_plan *plan, uint32_t first, uint32_t last, bool whole_maps)
{
    const mona_op_class *class = mona_ops[plan->ops[first].bound.op->kind];
    const bool heavy = class->map_possible && class->map_possible(&plan->ops[first].bound);
    if (last <= first || last > plan->model.header->op_count ||
        (whole_maps && (last != first + 1 || !(class->run->array || heavy))))
        return false;
    for (uint32_t o = first; o < last; o++)
        if (mona_ops[plan->ops[o].bound.op->kind]->run->array && !whole_maps)
            return false;
    return true;
}

/* An operator on whole maps writes one. */
static bool shares_ok(const mona_plan *plan, const plan_group *g)
{
    const plan_op *op = &plan->ops[g->first];
    const bool array = op->bound.run->array, heavy = g->whole_maps && !array;
    const uint32_t most = array            ? MONA_MAX_THREADS
                          : g->by_channels ? mona_plan_blocks(op)
                                           : g->grid_height;
    return (heavy ? op->leaves : !g->by_channels) && g->parts && g->parts <= plan->cores &&
           g->parts <= most && g->tiles <= g->grid_width && (g->whole_maps || g->tiles);
}

static bool take_groups(mona_plan *plan, const mona_file_plan_op *ops)
{
    for (uint32_t first = 0; first < plan->model.header->op_count; first = ops[first].last) {
        const mona_file_plan_op *f = &ops[first];
        const bool whole = f->flags & MONA_PLAN_WHOLE_MAPS;
        if (!range_ok(plan, first, f->last, whole))
            return false;
        plan_group *g = mona_plan_add_group(plan, first, f->last, whole);
        g->parts = f->parts;
        g->tiles = f->tiles;
        g->by_channels = f->flags & MONA_PLAN_BY_CHANNELS;
        if (!shares_ok(plan, g))
            return false;
    }
    return true;
}

/* Nothing inside a group reads its maps or the arrays that it writes. */
static bool order_ok(const mona_plan *plan)
{
    for (const plan_group *g = mona_plan_first_group(plan); g; g = mona_plan_next_group(plan, g))
        for (uint32_t o = g->first; o < g->last; o++) {
            const plan_op *op = &plan->ops[o];
            for (uint32_t i = 0; i < op->bound.op->input_count; i++) {
                const uint32_t w = op->writer[i], a = op->array_writer[i];
                if ((w != MONA_NONE && w >= g->first && plan->ops[w].leaves) ||
                    (a != MONA_NONE && a >= g->first))
                    return false;
            }
        }
    return true;
}

static bool take_depths(mona_plan *plan, const mona_file_plan_op *ops)
{
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        plan_op *op = &plan->ops[o];
        if (!mona_plan_needs_ring(plan, o))
            continue;
        if (!ops[o].depth || ops[o].depth > op->bound.output.height)
            return false;
        op->depth = ops[o].depth;
    }
    return true;
}

/* Reaches are only compared with places in planes. */
static bool take_reach(mona_plan *plan, const mona_file_plan *f)
{
    const plan_group *g = mona_plan_first_group(plan);
    plan->parts = f->parts;
    if (f->parts > 1 || (f->parts && (g->whole_maps || mona_plan_next_group(plan, g))))
        return false;
    for (uint32_t i = 0; i < MONA_MAX_IO; i++) {
        const int32_t *r = f->inputs[i].reach;
        for (int side = 0; side < 4; side++)
            if (r[side] < 0 || r[side] > MONA_MAX_SIDE)
                return false;
        plan->reach[i] = (plan_reach){r[0], r[1], r[2], r[3]};
    }
    return true;
}

static mona_status take(mona_plan *plan, const mona_file_plan *f, plan_progress *progress)
{
    const mona_file_plan_op *ops = (const mona_file_plan_op *)(const void *)(f + 1);
    if (!f->cores || f->cores > MONA_MAX_THREADS || !f->strip_rows ||
        f->strip_rows > MONA_MAX_SIDE || f->copies > 1)
        return MONA_ERR_MODEL;
    plan->cores = f->cores;
    plan->strip_rows = f->strip_rows;
    plan->copies = f->copies;
    if (!take_groups(plan, ops) || !order_ok(plan) || !take_reach(plan, f))
        return MONA_ERR_MODEL;
    mona_plan_place(plan, progress);
    mona_status status = mona_plan_maps(plan, progress);
    if (!status && !take_depths(plan, ops))
        return MONA_ERR_MODEL;
    for (uint32_t o = 0; o < plan->model.header->op_count && !status; o = plan->ops[o].group.last)
        if (!plan->ops[o].group.whole_maps)
            status =
                mona_plan_keep_rings(plan, &plan->ops[o].group,
                                     mona_plan_size_rings(plan, &plan->ops[o].group, progress));
    if (status)
        return status;
    mona_plan_share_homes(plan);
    return mona_plan_lay_out(plan);
}

mona_status mona_plan_load(mona_plan **out, void *memory, const mona_model *model,
                           const mona_config *config)
{
    mona_plan *plan;
    plan_progress *progress;
    mona_status status = mona_plan_begin(out ? &plan : NULL, &progress, memory, model, config);
    if (status)
        return status;
    const mona_file_plan *f = mona_plan_on_ai_core(plan) || config->strip_rows ||
                                      config->tile_columns || config->cache_bytes
                                  ? NULL
                                  : find(plan, config->threads);
    if (!f || (f->cores > 1 && !mona_port_has_threads()))
        return MONA_ERR_UNSUPPORTED;
    status = take(plan, f, progress);
    if (status)
        return status;
    mona_plan_find_lines(plan, progress);
    *out = plan;
    return MONA_OK;
}
