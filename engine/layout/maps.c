// SPDX-License-Identifier: Apache-2.0
/* The maps and arrays between groups, and where they lie. */
#include "engine/layout/layout.h"

/* Of the scratch for every operator, which planning needs for nothing else yet: the operators in
 * whose groups a map lives are [begin, end), without a map none; the part of it beyond its tensor
 * that readers by rows read is x_begin columns on the left, x_end on the right, and, unless need is
 * 0, rows above or below. Other fields are links of lists. */

/* ---- shapes --------------------------------------------------------------------------------- */

/* Widens the margins of the maps that operator `r` reads by rows. */
static void add_margins(const mona_plan *plan, uint32_t r, plan_progress *lives)
{
    const mona_bound_op *b = &plan->ops[r].bound;
    const mona_shape *out = mona_plan_progress_shape(&plan->ops[r]);
    for (uint32_t i = 0; i < b->op->input_count; i++) {
        const uint32_t w = plan->ops[r].writer[i];
        if (w == MONA_NONE || !plan->ops[w].map)
            continue;
        plan_progress *m = &lives[plan->ops[w].home];
        const mona_shape *s = &plan->ops[plan->ops[w].home].bound.output;
        const mona_span x =
            mona_plan_columns_read(plan, &plan->ops[r], i, (mona_span){0, out->width});
        const mona_span y = b->run->rows(b, i, (mona_span){0, out->height});
        m->x_begin = -x.begin > m->x_begin ? -x.begin : m->x_begin;
        m->x_end = x.end - s->width > m->x_end ? x.end - s->width : m->x_end;
        m->need |= y.begin < 0 || y.end > s->height;
    }
}

static void find_margins(const mona_plan *plan, plan_progress *lives)
{
    for (const plan_group *g = mona_plan_first_group(plan); g; g = mona_plan_next_group(plan, g))
        for (uint32_t r = g->first; r < g->last && !g->whole_maps; r++)
            add_margins(plan, r, lives);
}

/* Rows of a map lie one after another in each channel block, so that a range of rows without
 * margins is one long row of pixels. If a reader also reads rows of zeros, these must have the
 * map's block stride; then blocks lie one after another in each row, as in a ring. */
static size_t shape_map(mona_plan *plan, uint32_t o, const plan_progress *margins)
{
    plan_op *op = &plan->ops[o];
    const mona_shape *s = &op->bound.output;
    op->map_x_begin = -margins->x_begin;
    op->columns = (uint32_t)(s->width + margins->x_begin + margins->x_end);
    op->depth = s->height;
    const uint64_t blocks = mona_plan_blocks(op);
    const uint64_t row = (uint64_t)op->columns * op->bound.output_c0 * mona_type_size(s->type);
    /* At most 2^24 x 2^15 x 2^10. With every row aligned, it is no less than either layout
     * takes. */
    if ((row + MONA_ALIGNMENT) * s->height * blocks >= PLAN_MAX_BYTES - 2 * MONA_ROW_SLACK)
        return PLAN_MAX_BYTES;
    /* Copies of an AI Core cannot step over whole blocks of a map. */
    const bool apart = margins->need || mona_plan_on_ai_core(plan);
    const size_t rows = apart ? 1 : s->height; /* rows of a block that lie side by side */
    op->block_stride = align_up((size_t)row * rows);
    op->row_bytes = apart ? (size_t)blocks * op->block_stride : (size_t)row;
    return align_up((size_t)blocks * op->block_stride * (s->height / rows) + MONA_ROW_SLACK);
}

/* At most 2^30 elements of 8 bytes, which needs 64 bits. An AI Core's copies of whole blocks read
 * beyond the last one. */
static size_t array_bytes(const mona_plan *plan, const mona_shape *s)
{
    const size_t beyond = mona_plan_on_ai_core(plan) ? MONA_ROW_SLACK : 0;
    const uint64_t bytes = mona_shape_elements(s) * mona_type_size(s->type);
    return bytes < PLAN_MAX_BYTES - MONA_ALIGNMENT ? align_up((size_t)bytes + beyond)
                                                   : PLAN_MAX_BYTES;
}

/* ---- lives ---------------------------------------------------------------------------------- */

/* Finds the life of every home. Groups run in order, so a map lives from the group that first
 * writes to it to that of its last reader. Those of an AI Core live for ever: nothing clears them,
 * and parts that no program writes stay zero. A home may be written later than what is in it. */
static void find_lives(const mona_plan *plan, plan_progress *lives)
{
    const uint32_t count = plan->model.header->op_count;
    for (uint32_t o = 0; o < count; o++)
        lives[o] = (plan_progress){0};
    for (uint32_t o = 0; o < count; o++) {
        const plan_op *op = &plan->ops[o];
        plan_progress *l = &lives[op->home];
        if ((!op->map && !op->array) || l->end)
            continue;
        const bool for_ever = mona_plan_on_ai_core(plan) && op->map;
        const plan_op *last = &plan->ops[plan->ops[op->home].last_reader];
        l->begin = for_ever ? 0 : op->group_first;
        l->end = for_ever ? count : plan->ops[last->group_first].group.last;
    }
}

/* ---- the largest first ---------------------------------------------------------------------- */

/* Lists of maps: each has the next one in `next`. */

/* Of maps of one size, those of a come first. */
static uint32_t merge(const mona_plan *plan, plan_progress *lives, uint32_t a, uint32_t b)
{
    int64_t first = MONA_NONE, *end = &first;
    while (a != MONA_NONE && b != MONA_NONE) {
        uint32_t *larger = plan->ops[a].map_bytes >= plan->ops[b].map_bytes ? &a : &b;
        *end = *larger;
        end = &lives[*larger].next;
        *larger = (uint32_t)*end;
    }
    *end = a != MONA_NONE ? a : b;
    return (uint32_t)first;
}

/* All maps, the largest first. */
static uint32_t sort_maps(const mona_plan *plan, plan_progress *lives)
{
    uint32_t lists[32], all = MONA_NONE; /* list k has 2^k maps, or none */
    for (uint32_t k = 0; k < 32; k++)
        lists[k] = MONA_NONE;
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        uint32_t k = 0, list = o;
        if (!lives[o].end)
            continue;
        lives[o].next = MONA_NONE;
        for (; lists[k] != MONA_NONE; lists[k++] = MONA_NONE)
            list = merge(plan, lives, lists[k], list);
        lists[k] = list;
    }
    for (uint32_t k = 0; k < 32; k++)
        all = merge(plan, lives, lists[k], all);
    return all;
}

/* ---- places --------------------------------------------------------------------------------- */

static mona_status put_at(mona_plan *plan, uint32_t o, size_t offset)
{
    const size_t end = offset + plan->ops[o].map_bytes;
    plan->ops[o].ring_offset = offset;
    plan->maps_bytes = end > plan->maps_bytes ? end : plan->maps_bytes;
    return plan->maps_bytes < PLAN_MAX_BYTES ? MONA_OK : MONA_ERR_LIMIT;
}

/* Puts map o at the lowest offset where it overlaps none that lives at the same time, so that small
 * maps fill gaps between large ones. *placed: maps by ascending offset, linked by used_begin. */
static mona_status place_lowest(mona_plan *plan, plan_progress *lives, int64_t *placed, uint32_t o)
{
    const size_t bytes = plan->ops[o].map_bytes;
    size_t offset = 0;
    for (int64_t i = *placed; i != MONA_NONE; i = lives[i].used_begin) {
        const size_t begin = plan->ops[i].ring_offset, end = begin + plan->ops[i].map_bytes;
        if (begin >= offset + bytes)
            break;
        if (offset < end && lives[i].begin < lives[o].end && lives[o].begin < lives[i].end)
            offset = end;
    }
    while (*placed != MONA_NONE && plan->ops[*placed].ring_offset < offset)
        placed = &lives[*placed].used_begin;
    lives[o].used_begin = *placed;
    *placed = o;
    return put_at(plan, o, offset);
}

static mona_status place_all(mona_plan *plan, plan_progress *lives, uint32_t maps)
{
    int64_t placed = MONA_NONE;
    mona_status status = MONA_OK;
    for (uint32_t o = maps; o != MONA_NONE && !status; o = (uint32_t)lives[o].next)
        status = place_lowest(plan, lives, &placed, o);
    return status;
}

/* Lists of maps, linked by `next`: those whose life begins before an operator in its used_begin,
 * those whose life has ended then in its used_end. Of maps of one size, the first's ring_begin has
 * those whose places are free, and the ring_end of each is the first. */
static void link_lives(const mona_plan *plan, plan_progress *lives, uint32_t maps)
{
    uint32_t first = maps, next;
    for (uint32_t o = 0; o < plan->model.header->op_count; o++)
        lives[o].used_begin = lives[o].used_end = lives[o].ring_begin = MONA_NONE;
    for (uint32_t o = maps; o != MONA_NONE; o = next) {
        next = (uint32_t)lives[o].next;
        first = plan->ops[o].map_bytes == plan->ops[first].map_bytes ? first : o;
        lives[o].ring_end = first;
        lives[o].next = lives[lives[o].begin].used_begin;
        lives[lives[o].begin].used_begin = o;
    }
}

/* Puts every map in a place of its size that is free, or else behind all others. */
static mona_status reuse_all(mona_plan *plan, plan_progress *lives, uint32_t maps)
{
    mona_status status = MONA_OK;
    link_lives(plan, lives, maps);
    for (uint32_t now = 0; now < plan->model.header->op_count && !status; now++) {
        for (int64_t o = lives[now].used_end, next; o != MONA_NONE; o = next) {
            int64_t *places = &lives[lives[o].ring_end].ring_begin;
            next = lives[o].next;
            lives[o].next = *places;
            *places = o;
        }
        for (int64_t o = lives[now].used_begin, next; o != MONA_NONE && !status; o = next) {
            int64_t *places = &lives[lives[o].ring_end].ring_begin;
            const int64_t place = *places;
            next = lives[o].next;
            *places = place != MONA_NONE ? lives[place].next : MONA_NONE;
            status = put_at(plan, (uint32_t)o,
                            place != MONA_NONE ? plan->ops[place].ring_offset : plan->maps_bytes);
            if (lives[o].end < plan->model.header->op_count) {
                lives[o].next = lives[lives[o].end].used_end;
                lives[lives[o].end].used_end = o;
            }
        }
    }
    return status;
}

/* The time of fitting grows with the square of the number of maps, that of reusing places with the
 * number itself. */
enum { FITTED_MAPS = 4096 };

mona_status mona_plan_maps(mona_plan *plan, plan_progress *lives)
{
    uint32_t count = 0;
    find_lives(plan, lives);
    find_margins(plan, lives);
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        plan_op *op = &plan->ops[o];
        if (!lives[o].end)
            continue;
        op->map_bytes =
            op->array ? array_bytes(plan, &op->bound.output) : shape_map(plan, o, &lives[o]);
        if (op->map_bytes >= PLAN_MAX_BYTES)
            return MONA_ERR_LIMIT;
        count++;
    }
    return (count <= FITTED_MAPS ? place_all : reuse_all)(plan, lives, sort_maps(plan, lives));
}
