// SPDX-License-Identifier: Apache-2.0
/* The maps and arrays between groups, and where they lie. */
#include "engine/layout/layout.h"

/* ---- shapes --------------------------------------------------------------------------------- */

/* The part of a map beyond its tensor that readers by rows read. */
typedef struct margins {
    int64_t left, right; /* columns */
    bool rows;           /* rows above or below */
} margins;

static margins margins_of(const mona_plan *plan, uint32_t o)
{
    margins m = {0, 0, false};
    const mona_shape *s = &plan->ops[o].bound.output;
    for (uint32_t g = 0; g < plan->model.header->op_count; g = plan->ops[g].group.last) {
        const plan_group *group = &plan->ops[g].group;
        for (uint32_t r = group->first; r < group->last && !group->whole_maps; r++) {
            const mona_bound_op *b = &plan->ops[r].bound;
            const mona_shape *out = mona_plan_progress_shape(&plan->ops[r]);
            for (uint32_t i = 0; i < b->op->input_count; i++) {
                const uint32_t w = plan->ops[r].writer[i];
                if (w == MONA_NONE || plan->ops[w].home != o)
                    continue;
                const mona_span x = b->run->columns(b, i, (mona_span){0, out->width});
                const mona_span y = b->run->rows(b, i, (mona_span){0, out->height});
                m.left = -x.begin > m.left ? -x.begin : m.left;
                m.right = x.end - s->width > m.right ? x.end - s->width : m.right;
                m.rows |= y.begin < 0 || y.end > s->height;
            }
        }
    }
    return m;
}

/* Rows of a map lie one after another in each channel block, so that a range of rows without
 * margins is one long row of pixels. If a reader also reads rows of zeros, these must have the
 * map's block stride; then blocks lie one after another in each row, as in a ring. */
static size_t shape_map(mona_plan *plan, uint32_t o)
{
    plan_op *op = &plan->ops[o];
    const mona_shape *s = &op->bound.output;
    const margins m = margins_of(plan, o);
    op->map_x_begin = -m.left;
    op->columns = (uint32_t)(s->width + m.left + m.right);
    op->depth = s->height;
    const uint64_t blocks = mona_plan_blocks(op);
    const uint64_t row = (uint64_t)op->columns * op->bound.output_c0 * mona_type_size(s->type);
    /* At most 2^24 x 2^15 x 2^10. With every row aligned, it is no less than either layout
     * takes. */
    if ((row + MONA_ALIGNMENT) * s->height * blocks >= PLAN_MAX_BYTES - 2 * AC_ROW_SLACK)
        return PLAN_MAX_BYTES;
    /* Copies of an AI Core cannot step over whole blocks of a map. */
    const bool apart = m.rows || mona_plan_on_ai_core(plan);
    const size_t rows = apart ? 1 : s->height; /* rows of a block that lie side by side */
    op->block_stride = align_up((size_t)row * rows);
    op->row_bytes = apart ? (size_t)blocks * op->block_stride : (size_t)row;
    return align_up((size_t)blocks * op->block_stride * (s->height / rows) + AC_ROW_SLACK);
}

/* At most 2^30 elements of 8 bytes, which needs 64 bits. */
static size_t array_bytes(const mona_shape *s)
{
    const uint64_t bytes = mona_shape_elements(s) * mona_type_size(s->type);
    return bytes < PLAN_MAX_BYTES - MONA_ALIGNMENT ? align_up((size_t)bytes) : PLAN_MAX_BYTES;
}

/* ---- places --------------------------------------------------------------------------------- */

/* Maps and arrays are placed the largest first, each at the lowest offset where it overlaps none
 * that lives at the same time, so that small ones fill gaps between large ones. Groups run in
 * order, so a map lives from the group that first writes to it to that of its last reader. Those of
 * an AI Core live for ever: nothing clears them, and parts that no program writes stay zero. */

#define NOT_PLACED SIZE_MAX

/* The operators in whose groups a map lives are [begin, end) of its progress, which planning needs
 * for nothing else yet; without a map they are none. */

/* Finds the life of every home. A home may be written later than what is in it. */
static void find_lives(const mona_plan *plan, plan_progress *lives)
{
    const uint32_t count = plan->model.header->op_count;
    for (uint32_t o = 0; o < count; o++)
        lives[o].begin = lives[o].end = 0;
    for (uint32_t o = 0; o < count; o++) {
        const plan_op *op = &plan->ops[o];
        plan_progress *l = &lives[op->home];
        if ((!op->map && !op->array) || l->end)
            continue;
        const bool for_ever = mona_plan_on_ai_core(plan) && op->map;
        l->begin = for_ever ? 0 : mona_plan_group_of(plan, o);
        l->end =
            for_ever
                ? count
                : plan->ops[mona_plan_group_of(plan, plan->ops[op->home].last_reader)].group.last;
    }
}

/* The lowest offset at or above `offset` where map o does not overlap map i. */
static size_t past(const mona_plan *plan, const plan_progress *lives, uint32_t i, uint32_t o,
                   size_t offset)
{
    const plan_op *other = &plan->ops[i];
    const bool together = lives[i].begin < lives[o].end && lives[o].begin < lives[i].end;
    if (!together || other->ring_offset == NOT_PLACED)
        return offset;
    const size_t end = other->ring_offset + other->map_bytes;
    return other->ring_offset < offset + plan->ops[o].map_bytes && offset < end ? end : offset;
}

static void place_map(mona_plan *plan, const plan_progress *lives, uint32_t o)
{
    plan_op *op = &plan->ops[o];
    size_t offset = 0, before;
    do {
        before = offset;
        for (uint32_t i = 0; i < plan->model.header->op_count && offset < PLAN_MAX_BYTES; i++)
            offset = past(plan, lives, i, o, offset);
    } while (offset != before);
    op->ring_offset = offset;
    const size_t end = offset + op->map_bytes;
    plan->maps_bytes = end > plan->maps_bytes ? end : plan->maps_bytes;
}

/* The bytes of the largest map that is smaller than this; 0: there is none. */
static size_t largest_below(const mona_plan *plan, const plan_progress *lives, size_t bytes)
{
    size_t largest = 0;
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        const size_t of = lives[o].end ? plan->ops[o].map_bytes : 0;
        largest = of < bytes && of > largest ? of : largest;
    }
    return largest;
}

mona_status mona_plan_maps(mona_plan *plan, plan_progress *lives)
{
    find_lives(plan, lives);
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        plan_op *op = &plan->ops[o];
        if (!lives[o].end)
            continue;
        op->ring_offset = NOT_PLACED;
        op->map_bytes = op->array ? array_bytes(&op->bound.output) : shape_map(plan, o);
        if (op->map_bytes >= PLAN_MAX_BYTES)
            return MONA_ERR_LIMIT;
    }
    size_t bytes = PLAN_MAX_BYTES;
    while ((bytes = largest_below(plan, lives, bytes)) > 0)
        for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
            if (lives[o].end && plan->ops[o].map_bytes == bytes)
                place_map(plan, lives, o);
            if (plan->maps_bytes >= PLAN_MAX_BYTES)
                return MONA_ERR_LIMIT;
        }
    return MONA_OK;
}
