// SPDX-License-Identifier: Apache-2.0
/* Derives a group's layout from where it begins and ends. */
#include "engine/layout/layout.h"

/* A group without results, whose outputs no operator reads, gets a grid as well; nothing is
 * computed for it. */
static void choose_grid(const mona_plan *plan, plan_group *g)
{
    bool any = false;
    g->grid_height = g->grid_width = UINT32_MAX;
    for (uint32_t o = g->first; o < g->last; o++) {
        const plan_op *op = &plan->ops[o];
        if (!op->bound.run->writes_planes && !op->leaves)
            continue;
        any = true;
        const mona_shape *s = mona_plan_progress_shape(op);
        g->grid_height = s->height < g->grid_height ? s->height : g->grid_height;
        g->grid_width = s->width < g->grid_width ? s->width : g->grid_width;
    }
    if (!any)
        g->grid_height = g->grid_width = 1;
}

/* Finds what the operators of group g leave to later groups, and which STOREs run in later ones. */
static void part_group(mona_plan *plan, const plan_group *g)
{
    for (uint32_t o = g->first; o < g->last; o++) {
        plan_op *op = &plan->ops[o];
        if (op->store != MONA_NONE && op->store >= g->last)
            mona_plan_part_store(op);
        op->leaves = op->last_reader >= g->last && !op->array;
    }
}

plan_group *mona_plan_add_group(mona_plan *plan, uint32_t first, uint32_t last, bool whole_maps)
{
    plan_group *g = &plan->ops[first].group;
    *g = (plan_group){.first = first, .last = last, .whole_maps = whole_maps};
    for (uint32_t o = first; o < last; o++) {
        const mona_op_class *class = mona_ops[plan->ops[o].bound.op->kind];
        plan->ops[o].bound.run = whole_maps && !class->run->array ? class->run_map : class->run;
        plan->ops[o].group_first = first;
    }
    part_group(plan, g);
    choose_grid(plan, g);
    return g;
}

size_t mona_plan_constants(const mona_plan *plan, uint32_t first, uint32_t last)
{
    size_t bytes = 0;
    for (uint32_t o = first; o < last; o++)
        bytes += align_up(plan->ops[o].constants_bytes);
    return bytes;
}

size_t mona_plan_group_constants(const mona_plan *plan, const plan_group *g)
{
    return plan->group_constants ? mona_plan_constants(plan, g->first, g->last)
                                 : plan->all_constants;
}
