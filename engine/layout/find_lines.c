// SPDX-License-Identifier: Apache-2.0
/* Whether frames can pass line by line, and with which latency.
 *
 * engine/run/lines.c loads a line when it is pushed, into the rings of the LOADs. These rings have
 * room only for the rows that the next strip needs, so one strip must need all of a line. This
 * holds unless one LOAD lags behind another, or is read by windows inside padding alone, for which
 * it has rows that no strip needs. Strips of a line are no larger than the plan's, but end
 * elsewhere; rings that are as deep as the plan's few strips need may be too shallow for them. */
#include "engine/layout/layout.h"

static bool is_load_or_store(const plan_op *op)
{
    return op->bound.run->reads_planes || op->bound.run->writes_planes;
}

/* The most lines for which all planes, and the tensors that LOADs make of them and STOREs make them
 * from, have whole rows. With blocks, these have fewer rows than the planes. */
static uint32_t count_lines(const mona_plan *plan, const plan_group *g)
{
    const mona_file_header *h = plan->model.header;
    uint64_t count = g->grid_height;
    for (uint32_t t = 0; t < h->input_count + h->output_count; t++)
        count = greatest_divisor(count, plan->shapes[t].height);
    for (uint32_t o = g->first; o < g->last; o++)
        if (is_load_or_store(&plan->ops[o]))
            count = greatest_divisor(count, mona_plan_progress_shape(&plan->ops[o])->height);
    return (uint32_t)count;
}

/* Up to which row the strip needs what a LOAD makes. */
static int64_t rows_needed(const plan_progress *load)
{
    return clip_to(load->need, load->begin, load->end);
}

/* Lines of the input that the strip needs, or `arrived` if it needs fewer. UINT32_MAX: they do not
 * arrive at the same time. */
static uint32_t lines_needed(const mona_plan *plan, const plan_group *g, uint32_t count,
                             int64_t arrived, const plan_progress *progress)
{
    int64_t lines = arrived;
    for (uint32_t o = g->first; o < g->last; o++)
        if (plan->ops[o].bound.run->reads_planes && rows_needed(&progress[o]) > progress[o].begin) {
            const int64_t needed =
                ceil_div(rows_needed(&progress[o]), plan->ops[o].bound.output.height / count);
            lines = needed > lines ? needed : lines;
        }
    for (uint32_t o = g->first; o < g->last; o++) {
        const int64_t rows = plan->ops[o].bound.output.height / count;
        if (plan->ops[o].bound.run->reads_planes &&
            clip_to(lines * rows, progress[o].begin, progress[o].end) > rows_needed(&progress[o]))
            return UINT32_MAX;
    }
    return (uint32_t)lines;
}

/* Advances beyond the strip; false if a ring is too shallow for it. */
static bool advance(const mona_plan *plan, const plan_group *g, plan_progress *progress)
{
    mona_schedule_oldest(plan, g, progress);
    mona_schedule_advance(plan, g, progress);
    for (uint32_t o = g->first; o < g->last; o++)
        if (mona_plan_has_ring(plan, o) &&
            progress[o].used_end - progress[o].used_begin > plan->ops[o].depth)
            return false;
    return true;
}

void mona_plan_find_lines(mona_plan *plan, plan_progress *progress)
{
    const plan_group *g = mona_plan_first_group(plan);
    plan->lines = (mona_lines){0};
    if (mona_plan_on_ai_core(plan) || plan->cores > 1 || g->whole_maps || g->tiles > 1 ||
        mona_plan_next_group(plan, g))
        return;
    mona_lines lines = {.count = count_lines(plan, g)};
    const mona_span all = mona_schedule_rows(g, 0);
    const int64_t rows = mona_line_rows(g, lines.count);
    if (rows > plan->strip_rows)
        return;
    mona_schedule_unit(plan, g, all, mona_schedule_columns(plan, g, 0), progress);
    int64_t position = mona_line_start(mona_schedule_start(plan, g, 0, 0, progress), rows);
    while ((position += rows) <= all.end) {
        mona_schedule_strip(plan, g, position, progress);
        const uint32_t arrived = position == all.end ? lines.count : 0;
        const uint32_t needed = lines_needed(plan, g, lines.count, arrived, progress);
        if (needed == UINT32_MAX || !advance(plan, g, progress))
            return;
        if (position > 0 && needed > position / rows + lines.latency)
            lines.latency = needed - (uint32_t)(position / rows);
    }
    plan->lines = lines;
}
