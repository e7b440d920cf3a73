// SPDX-License-Identifier: Apache-2.0
/* Fourth step of planning: how deep and how wide every ring must be, and into how many tiles a band
 * is cut. */
#include "engine/plan/planner.h"

/* The planner makes tiles no narrower than this: narrower ones recompute more than caches save. */
enum { MIN_TILE_COLUMNS = 128 };

uint32_t mona_plan_shared_tiles(const mona_plan *plan, uint32_t height, uint32_t width)
{
    enum { MIN_SHARED_COLUMNS = 32 };
    const uint32_t wide = width / MIN_SHARED_COLUMNS, cores = plan->cores / height;
    const uint32_t tiles = wide < cores ? wide : cores;
    return tiles && !mona_plan_on_ai_core(plan) ? tiles : 1;
}

/* Deepens the rings that are too shallow for the strip, and notes the row at which it ends. */
static void deepen(mona_plan *plan, const plan_group *g, const plan_progress *progress)
{
    for (uint32_t o = g->first; o < g->last; o++) {
        const plan_progress *p = &progress[o];
        const uint32_t rows = (uint32_t)(p->used_end - p->used_begin);
        if (p->need > p->begin && p->need < p->end)
            plan->ops[o].turned = (uint32_t)p->need;
        if (mona_plan_needs_ring(plan, o) && rows > plan->ops[o].depth)
            plan->ops[o].depth = rows;
    }
}

/* Runs the schedule without kernels over every band, and keeps the largest depth of each ring. */
static void measure_depths(mona_plan *plan, const plan_group *g, plan_progress *progress)
{
    for (uint32_t band = 0; band < g->parts; band++) {
        const mona_span rows = mona_schedule_rows(g, band);
        const int64_t end = rows.end;
        mona_schedule_unit(plan, g, rows, mona_schedule_columns(plan, g, 0), progress);
        for (int64_t position = mona_schedule_start(plan, g, band, rows.begin, progress);
             position < end;) {
            const uint32_t strip = mona_plan_strip_rows(plan, g);
            position = position + strip < end ? position + strip : end;
            mona_schedule_strip(plan, g, position, progress);
            mona_schedule_oldest(plan, g, progress);
            mona_schedule_advance(plan, g, progress);
            deepen(plan, g, progress);
        }
    }
}

/* AI Cores load the rows of a strip by one instruction. They do so in every strip, and the programs
 * of strips are alike, if rings wrap around between strips. */
static void keep_strips_whole(mona_plan *plan, const plan_group *g)
{
    for (uint32_t o = g->first; o < g->last; o++) {
        plan_op *op = &plan->ops[o];
        const uint32_t scale = op->bound.output.height / g->grid_height;
        const uint32_t rows = mona_plan_strip_rows(plan, g) * (scale ? scale : 1);
        const mona_op_program *program = mona_plan_program_of(plan, op->bound.op->kind);
        const bool whole = mona_plan_needs_ring(plan, o) && program && program->loads_strips &&
                           program->loads_strips(&op->bound);
        op->depth = whole ? ceil_div_u32(op->depth, rows) * rows : op->depth;
        op->turned = whole ? (rows - op->turned % rows) % rows : 0;
    }
}

static mona_status choose_tiles(mona_plan *plan, const mona_config *config, plan_group *g,
                                plan_progress *progress)
{
    const size_t room = mona_plan_room(plan, g);
    size_t bytes;
    uint32_t max = g->grid_width / MIN_TILE_COLUMNS;
    g->tiles = mona_plan_shared_tiles(plan, g->grid_height, g->grid_width);
    if (config->tile_columns) {
        g->tiles = (g->grid_width + config->tile_columns - 1) / config->tile_columns;
        max = g->tiles;
    }
    for (;;) {
        bytes = mona_plan_size_rings(plan, g, progress);
        if (bytes <= room || g->tiles >= max)
            break;
        /* Rings of T tiles take a / T + b, where b are margins. If that is over the budget, it also
         * is for every number of tiles below T * bytes / budget. */
        const size_t enough = bytes / (room / g->tiles + 1);
        g->tiles = enough <= g->tiles ? g->tiles + 1 : enough < max ? (uint32_t)enough : max;
    }
    return mona_plan_keep_rings(plan, g, bytes);
}

/* Strips of a small map on an AI Core: as many rows as programs take at once, and all strips alike.
 * Not where the height is open, as times of tall frames follow from those of short ones. */
static uint32_t rows_of_small_map(const mona_plan *plan, const mona_config *config,
                                  const plan_group *g)
{
    enum { SMALL_HEIGHT = 128 };
    const uint32_t rows = ceil_div_u32(g->grid_height, g->parts);
    if (!mona_plan_on_ai_core(plan) || config->strip_rows || !plan->model.tensors[0].height ||
        g->grid_height > SMALL_HEIGHT)
        return 0;
    return ceil_div_u32(rows, ceil_div_u32(rows, MONA_ROWS_AT_ONCE));
}

static mona_status plan_strips(mona_plan *plan, const mona_config *config, plan_group *g,
                               plan_progress *progress)
{
    g->tiles = 1;
    for (uint32_t o = g->first; o < g->last; o++)
        plan->ops[o].depth = mona_plan_needs_ring(plan, o) ? 0 : plan->ops[o].depth;
    measure_depths(plan, g, progress);
    keep_strips_whole(plan, g);
    return choose_tiles(plan, config, g, progress);
}

/* What an operator on arrays takes of L1, where others have rings. */
static size_t array_l1_bytes(const mona_plan *plan, const plan_group *g)
{
    const mona_bound_op *b = &plan->ops[g->first].bound;
    const mona_op_program *program = mona_plan_program_of(plan, b->op->kind);
    return program && program->array_l1_bytes ? program->array_l1_bytes(b) : 0;
}

mona_status mona_plan_rings(mona_plan *plan, const mona_config *config, plan_progress *progress)
{
    mona_status status = MONA_OK;
    for (uint32_t o = 0; o < plan->model.header->op_count && !status; o = plan->ops[o].group.last) {
        plan_group *g = &plan->ops[o].group;
        g->tiles = 1;
        if (g->whole_maps) {
            status = mona_plan_keep_rings(plan, g, array_l1_bytes(plan, g));
            continue;
        }
        const size_t rings = plan->rings_bytes;
        g->strip_rows = rows_of_small_map(plan, config, g);
        status = plan_strips(plan, config, g, progress);
        if (g->strip_rows && (status || g->tiles > 1 || g->rings_bytes > mona_plan_room(plan, g))) {
            plan->rings_bytes = rings;
            g->strip_rows = 0;
            status = plan_strips(plan, config, g, progress);
        }
    }
    mona_plan_share_homes(plan);
    return status;
}
