// SPDX-License-Identifier: Apache-2.0
/* Last step of planning: which samples of the inputs a cell of the results depends on. Frames that
 * change only in part need this.
 *
 * A cell has a place in an input: its rows and columns, scaled. It depends on samples beyond this
 * place; the reach is the largest such distance over all cells. Windows in padding count as the
 * nearest row or column, which overestimates it. */
#include "engine/plan/planner.h"

static int64_t max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Cell `i` along one axis of the grid. Past the last cell: the last. */
static mona_span cell_at(int64_t i, int64_t cell, int64_t side)
{
    const int64_t begin = (i * cell < side ? i : (side - 1) / cell) * cell;
    return (mona_span){begin, begin + cell < side ? begin + cell : side};
}

/* Widens the reach so that samples `read` of an input are within that of the cell at `at`. */
static void widen(int64_t *before, int64_t *after, mona_span read, mona_span at, int64_t input,
                  int64_t grid)
{
    *before = max_i64(*before, floor_div(at.begin * input, grid) - read.begin);
    *after = max_i64(*after, read.end - ceil_div(at.end * input, grid));
}

static void widen_load(mona_plan *plan, const plan_group *g, const plan_op *op,
                       const plan_progress *p, mona_span rows, mona_span columns)
{
    const mona_span x = mona_plan_columns(op, p);
    for (uint32_t i = 0; i < op->bound.op->input_count && p->begin < p->end; i++) {
        const int64_t block = op->bound.op->load.block[i];
        const mona_shape *s = &op->bound.input[i];
        plan_reach *r = &plan->reach[op->bound.op->inputs[i]];
        widen(&r->above, &r->below, (mona_span){p->begin * block, p->end * block}, rows, s->height,
              g->grid_height);
        widen(&r->left, &r->right, (mona_span){x.begin * block, x.end * block}, columns, s->width,
              g->grid_width);
    }
}

/* Whether every band's rings fill slowly. Then those of every unit do too, as a unit never needs
 * more from them than its band does. */
static bool fills_slowly(const mona_plan *plan, const plan_group *g, plan_progress *progress)
{
    for (uint32_t band = 0; band < g->parts; band++) {
        const mona_span rows = mona_schedule_rows(g, band);
        mona_schedule_unit(plan, g, rows, mona_schedule_columns(plan, g, 0), progress);
        const int64_t start = mona_schedule_start(plan, g, band, rows.begin, progress);
        if (start <= rows.begin - (rows.end - rows.begin))
            return false;
    }
    return true;
}

void mona_plan_reach(mona_plan *plan, plan_progress *progress)
{
    const plan_group *g = mona_plan_first_group(plan);
    plan->parts = !mona_plan_on_ai_core(plan) && !g->whole_maps && !mona_plan_next_group(plan, g) &&
                  fills_slowly(plan, g, progress);
    const int64_t height = g->grid_height, width = g->grid_width;
    for (int64_t i = 0;
         plan->parts && (i * PLAN_CELL_ROWS < height || i * PLAN_CELL_COLUMNS < width); i++) {
        const mona_span rows = cell_at(i, PLAN_CELL_ROWS, height);
        const mona_span columns = cell_at(i, PLAN_CELL_COLUMNS, width);
        mona_schedule_unit(plan, g, rows, columns, progress);
        for (uint32_t o = g->first; o < g->last; o++)
            if (plan->ops[o].bound.run->reads_planes)
                widen_load(plan, g, &plan->ops[o], &progress[o], rows, columns);
    }
}
