// SPDX-License-Identifier: Apache-2.0
/* How wide the rings of a group are, and where they lie. */
#include "engine/layout/layout.h"

bool mona_plan_needs_ring(const mona_plan *plan, uint32_t o)
{
    const plan_op *op = &plan->ops[o];
    return !op->bound.run->writes_planes && op->store == MONA_NONE && !op->map && op->home == o;
}

/* L1 has room for other rows than that of zeros only while their tensors' group runs, so that they
 * belong to the rings. Readers may need no other row of a tensor. For when columns are known. */
static void find_rows_outside(mona_plan *plan, const plan_group *g)
{
    for (uint32_t o = g->first; o < g->last; o++)
        plan->ops[o].row_outside = false;
    for (uint32_t o = g->first; o < g->last; o++) {
        const plan_op *op = &plan->ops[o];
        plan_op *home = &plan->ops[op->home];
        if (!mona_padding(&op->bound.output) || op->map || !home->columns ||
            !mona_plan_on_ai_core(plan) || !op->read_outside)
            continue;
        home->row_outside = true;
        home->depth = home->depth ? home->depth : 1;
    }
}

/* Groups run one after another, so the rings of each begin at the start of a core's region. */
size_t mona_plan_size_rings(mona_plan *plan, const plan_group *g, plan_progress *progress)
{
    for (uint32_t o = g->first; o < g->last; o++)
        if (mona_plan_needs_ring(plan, o))
            plan->ops[o].columns = 0;
    for (uint32_t tile = 0; tile < g->tiles; tile++) {
        mona_schedule_unit(plan, g, mona_schedule_rows(g, 0), mona_schedule_columns(plan, g, tile),
                           progress);
        for (uint32_t o = g->first; o < g->last; o++) {
            const int64_t columns = progress[o].ring_end - progress[o].ring_begin;
            if (mona_plan_needs_ring(plan, o) && columns > plan->ops[o].columns)
                plan->ops[o].columns = (uint32_t)columns;
        }
    }
    find_rows_outside(plan, g);
    uint64_t total = 0;
    for (uint32_t o = g->first; o < g->last; o++) {
        plan_op *op = &plan->ops[o];
        if (!mona_plan_needs_ring(plan, o))
            continue;
        const mona_shape *s = &op->bound.output;
        /* At most 2^16 columns (a width and its padding) x 2^14 channels x 2 bytes, x 2^15 rows. */
        const uint64_t block =
            align_up((size_t)op->columns * op->bound.output_c0 * mona_type_size(s->type));
        const uint64_t row = mona_plan_blocks(op) * block, rows = op->depth + op->row_outside;
        if (row >= PLAN_MAX_BYTES || row * rows >= PLAN_MAX_BYTES - total)
            return PLAN_MAX_BYTES;
        op->block_stride = (size_t)block;
        op->row_bytes = (size_t)row;
        op->ring_offset = (size_t)total;
        total += row * rows;
    }
    return (size_t)total;
}

mona_status mona_plan_keep_rings(mona_plan *plan, plan_group *g, size_t bytes)
{
    g->rings_bytes = bytes;
    plan->rings_bytes = bytes > plan->rings_bytes ? bytes : plan->rings_bytes;
    return bytes < PLAN_MAX_BYTES ? MONA_OK : MONA_ERR_LIMIT;
}

void mona_plan_share_homes(mona_plan *plan)
{
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        plan_op *op = &plan->ops[o];
        const plan_op *home = &plan->ops[op->home];
        if (home == op)
            continue;
        op->map_x_begin = home->map_x_begin;
        op->depth = home->depth;
        op->turned = home->turned;
        op->row_outside = home->row_outside;
        op->columns = home->columns;
        op->block_stride = home->block_stride;
        op->row_bytes = home->row_bytes;
        op->ring_offset = home->ring_offset + op->home_block * home->block_stride;
    }
}
