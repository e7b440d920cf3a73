// SPDX-License-Identifier: Apache-2.0
/* When an operator computes which rows: the arithmetic of running a group depth-first.
 *
 * A group's results are its STOREs' outputs and its maps for later groups; nothing in the group
 * reads these maps. Let T be the rows of a result that are needed up to some position. An operator
 * that reads rows [a, b) to compute its rows before r needs its source up to b. Going backwards
 * through the operators, the need of each is the largest such b among its readers. The same
 * backwards walk over ranges gives the rows and columns that a whole unit needs. Windows are
 * monotonic (later rows never need earlier input), so rings only move forward. The rows that a ring
 * must hold are those from the oldest one that a reader has yet to read to the newest one computed.
 *
 * A band does not start at the top, so its first output row needs a whole receptive field at once.
 * Positions therefore start before the band, as if output rows above it were needed, and each
 * operator starts computing when its own first row of the band is reached. Then rings fill at the
 * pace at which they are emptied later, and stay as small as in the steady state. */
#include "engine/run/plan.h"

/* Need of an operator that no operator reads. */
#define NOT_READ INT64_MIN
/* Needs this far above a tensor mean only "nothing yet". Without this bound, strides would multiply
 * them without end. */
#define FARTHEST ((int64_t)1 << 20)

/* On an AI Core rings begin at a multiple of so many columns that column 0 and the tile's first
 * column lie at a multiple of 32 bytes, as copies reach no other place; at a multiple of 32 columns
 * where a program counts in them. */
static int64_t ring_columns(const mona_plan *plan, uint32_t o)
{
    const plan_op *op = &plan->ops[o];
    const uint32_t column = op->bound.output_c0 * (uint32_t)mona_type_size(op->bound.output.type);
    const uint32_t min = op->bound.target->ring_columns;
    const bool blocks =
        op->read_in_blocks || mona_plan_program_of(plan, op->bound.op->kind)->in_blocks;
    return blocks ? AC_BLOCK : min * column < AC_BLOCK ? AC_BLOCK / column : min;
}

static int64_t whole_columns(const mona_plan *plan, uint32_t o, int64_t column)
{
    const int32_t columns = (int32_t)ring_columns(plan, o);
    return (int64_t)floor_div_small((int32_t)column, columns) * columns;
}

static bool is_store(const plan_op *op)
{
    return op->bound.run->writes_planes;
}

static bool is_result(const plan_op *op)
{
    return is_store(op) || op->leaves;
}

/* The operator of the group that computes input i. MONA_NONE: the input comes from outside the
 * group. */
static uint32_t source_of(const plan_group *g, const plan_op *op, uint32_t i)
{
    const uint32_t writer = op->writer[i];
    return writer != MONA_NONE && writer >= g->first ? writer : MONA_NONE;
}

bool mona_plan_is_idle(const mona_plan *plan, uint32_t index)
{
    const plan_op *op = &plan->ops[index];
    if (mona_plan_copies(op))
        return op->bound.placed == (1u << op->bound.op->input_count) - 1;
    return is_store(op) && plan->ops[op->writer[0]].store == index;
}

const mona_shape *mona_plan_progress_shape(const plan_op *op)
{
    return is_store(op) ? &op->bound.input[0] : &op->bound.output;
}

mona_span mona_schedule_rows(const plan_group *g, uint32_t band)
{
    return (mona_span){(int64_t)share_begin(g->grid_height, band, g->parts),
                       (int64_t)share_begin(g->grid_height, band + 1, g->parts)};
}

/* The column at which a tile begins, or at which the last one ends. On the chip all but narrow
 * tiles begin at a whole block of 32 bytes of a plane. */
static int64_t tile_column(const mona_plan *plan, const plan_group *g, uint32_t tile)
{
    const int64_t column = (int64_t)share_begin(g->grid_width, tile, g->tiles);
    const bool blocks = mona_plan_on_ai_core(plan) && g->grid_width / g->tiles >= 2 * AC_BLOCK;
    return blocks && tile < g->tiles ? column / AC_BLOCK * AC_BLOCK : column;
}

mona_span mona_schedule_columns(const mona_plan *plan, const plan_group *g, uint32_t tile)
{
    return (mona_span){tile_column(plan, g, tile), tile_column(plan, g, tile + 1)};
}

mona_span mona_plan_columns_read(const mona_plan *plan, const plan_op *r, uint32_t i,
                                 mona_span made)
{
    const mona_op_program *p = mona_plan_program_of(plan, r->bound.op->kind);
    if (!i && p && p->together)
        made.end = made.begin +
                   (int64_t)round_up((uint64_t)(made.end - made.begin), p->together(&r->bound));
    return r->bound.run->columns(&r->bound, i, made);
}

/* Widens p to cover what reader `r` needs from its input i. A window that lies entirely in padding
 * is widened to the nearest row or column of the tensor. Then every operator that a reader depends
 * on has rows and columns in every unit, and what holds for the rings of one band holds for all. */
static void cover(const mona_plan *plan, const plan_op *r, uint32_t i, const plan_progress *reader,
                  plan_progress *p)
{
    const mona_span made = mona_plan_columns(r, reader);
    const mona_span rows =
        r->bound.run->rows(&r->bound, i, (mona_span){reader->begin, reader->end});
    const mona_span columns = mona_plan_columns_read(plan, r, i, made);
    const int64_t height = r->bound.input[i].height, width = r->bound.input[i].width;
    const int64_t begin = clip_to(rows.begin, 0, height - 1);
    const int64_t end = clip_to(rows.end, begin + 1, height);
    const int64_t left = columns.begin < width ? columns.begin : width - 1;
    const int64_t right = columns.end > 1 ? columns.end : 1;
    const bool first = p->begin >= p->end;
    p->begin = first || begin < p->begin ? begin : p->begin;
    p->end = first || end > p->end ? end : p->end;
    p->x_begin = first || left < p->x_begin ? left : p->x_begin;
    p->x_end = first || right > p->x_end ? right : p->x_end;
}

/* Rows of a ring have the columns that any of its tensors needs. */
static void find_ring_columns(const mona_plan *plan, const plan_group *g, plan_progress *progress)
{
    for (uint32_t o = g->first; o < g->last; o++) {
        const plan_progress *p = &progress[o];
        plan_progress *home = &progress[plan->ops[o].home];
        if (plan->ops[o].map || p->begin >= p->end)
            continue;
        const bool first = home->ring_begin == home->ring_end;
        home->ring_begin = first || p->x_begin < home->ring_begin ? p->x_begin : home->ring_begin;
        home->ring_end = first || p->x_end > home->ring_end ? p->x_end : home->ring_end;
    }
    for (uint32_t o = g->first; o < g->last && mona_plan_on_ai_core(plan); o++) {
        plan_progress *home = &progress[plan->ops[o].home];
        if (!is_result(&plan->ops[o]) && !plan->ops[o].map)
            home->ring_begin = whole_columns(plan, o, home->ring_begin);
    }
}

void mona_schedule_unit(const mona_plan *plan, const plan_group *g, mona_span rows,
                        mona_span columns, plan_progress *progress)
{
    for (uint32_t o = g->first; o < g->last; o++)
        progress[o] = (plan_progress){0};
    for (uint32_t o = g->last; o-- > g->first;) {
        const plan_op *op = &plan->ops[o];
        plan_progress *p = &progress[o];
        if (is_result(op)) {
            const mona_shape *s = mona_plan_progress_shape(op);
            p->begin = scale_position(rows.begin, s->height, g->grid_height);
            p->end = scale_position(rows.end, s->height, g->grid_height);
            p->x_begin = scale_position(columns.begin, s->width, g->grid_width);
            p->x_end = scale_position(columns.end, s->width, g->grid_width);
        } else if (mona_plan_on_ai_core(plan))
            p->x_begin = whole_columns(plan, o, p->x_begin);
        p->next = p->begin;
        if (p->begin < p->end)
            for (uint32_t i = 0; i < op->bound.op->input_count; i++)
                if (source_of(g, op, i) != MONA_NONE)
                    cover(plan, op, i, p, &progress[op->writer[i]]);
    }
    find_ring_columns(plan, g, progress);
}

void mona_schedule_strip(const mona_plan *plan, const plan_group *g, int64_t position,
                         plan_progress *progress)
{
    for (uint32_t o = g->first; o < g->last; o++)
        progress[o].need = NOT_READ;
    for (uint32_t o = g->last; o-- > g->first;) {
        const plan_op *op = &plan->ops[o];
        plan_progress *p = &progress[o];
        if (is_result(op))
            p->need =
                scale_position(position, mona_plan_progress_shape(op)->height, g->grid_height);
        if (p->need == NOT_READ)
            continue;
        p->need = clip_to(p->need, -FARTHEST, p->end);
        for (uint32_t i = 0; i < op->bound.op->input_count; i++) {
            if (source_of(g, op, i) == MONA_NONE)
                continue;
            plan_progress *source = &progress[op->writer[i]];
            const int64_t end =
                op->bound.run->rows(&op->bound, i, (mona_span){p->need - 1, p->need}).end;
            source->need = end > source->need ? end : source->need;
        }
    }
}

/* Whether no operator has anything to do up to `position`. */
static bool idle_until(const mona_plan *plan, const plan_group *g, int64_t position,
                       plan_progress *progress)
{
    mona_schedule_strip(plan, g, position, progress);
    for (uint32_t o = g->first; o < g->last; o++)
        if (progress[o].need > progress[o].begin)
            return false;
    return true;
}

/* The latest start, in whole strips before the unit, at which all operators are idle. Needs only
 * fall with the position, so bisection finds the number of strips. There are no more strips before
 * the band than in the band: a receptive field taller than that gains little from a slower
 * start. */
int64_t mona_schedule_start(const mona_plan *plan, const plan_group *g, uint32_t band,
                            int64_t begin, plan_progress *progress)
{
    const mona_span rows = mona_schedule_rows(g, band);
    const uint32_t strip = mona_plan_strip_rows(plan, g);
    int64_t low = 0;
    int64_t high = ceil_div_u32((uint32_t)(rows.end - rows.begin), strip) +
                   (uint32_t)(begin - rows.begin) / strip;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (idle_until(plan, g, begin - middle * strip, progress))
            high = middle;
        else
            low = middle + 1;
    }
    return begin - low * strip;
}

void mona_schedule_oldest(const mona_plan *plan, const plan_group *g, plan_progress *progress)
{
    for (uint32_t o = g->first; o < g->last; o++) {
        const plan_op *op = &plan->ops[o];
        progress[o].oldest = progress[o].next;
        if (progress[o].next >= progress[o].end)
            continue;
        const mona_span next = {progress[o].next, progress[o].next + 1};
        for (uint32_t i = 0; i < op->bound.op->input_count; i++) {
            if (source_of(g, op, i) == MONA_NONE)
                continue;
            plan_progress *source = &progress[op->writer[i]];
            const int64_t begin = op->bound.run->rows(&op->bound, i, next).begin;
            const int64_t inside = clip_to(begin, source->begin, source->end);
            source->oldest = inside < source->oldest ? inside : source->oldest;
        }
    }
}

void mona_schedule_advance(const mona_plan *plan, const plan_group *g, plan_progress *progress)
{
    for (uint32_t o = g->first; o < g->last; o++)
        progress[o].used_begin = progress[o].used_end = 0;
    for (uint32_t o = g->first; o < g->last; o++) {
        plan_progress *p = &progress[o], *home = &progress[plan->ops[o].home];
        p->next = p->need > p->next ? p->need : p->next;
        if (plan->ops[o].map || p->oldest >= p->next)
            continue;
        const bool first = home->used_begin == home->used_end;
        home->used_begin = first || p->oldest < home->used_begin ? p->oldest : home->used_begin;
        home->used_end = first || p->next > home->used_end ? p->next : home->used_end;
    }
}

mona_span mona_plan_columns(const plan_op *op, const plan_progress *progress)
{
    const int64_t width = mona_plan_progress_shape(op)->width;
    return (mona_span){clip_to(progress->x_begin, 0, width), clip_to(progress->x_end, 0, width)};
}
