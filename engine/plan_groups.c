/* Planning, second: which operators run depth-first together, and which on whole maps.
 *
 * Depth-first, an operator's weights are read again for every row. While all weights of a model
 * stay in a core's cache that costs nothing, and the whole model is one group. Otherwise an
 * operator whose weights outweigh its rows (HEAVY_ROWS of its input's and output's together) is
 * better run on whole maps, which are then the smaller thing to move: it is a group of its own, and
 * what lies between two such operators is another group. ResNet-50 on 224 x 224 is nearly all of
 * the first kind, on 1920 x 1080 its first half of the second.
 *
 * What crosses from a group into a later one is a map. Two bands of a group would both make the
 * rows that lie under the other's edge, and write them twice; so nothing in a group reads its maps:
 * a group ends right after an operator that it would read as well as a later group.
 *
 * An operator on arrays is a group of its own, shared among cores by parts of its work. A LOAD
 * reads an array as planes, whole, so it stands in a later group than the STORE that makes it. */
#include "plan.h"

enum { HEAVY_ROWS = 4 };

uint32_t mona_plan_blocks(const plan_op *op)
{
    const uint32_t c0 = op->bound.output_c0;
    return (op->bound.output.channels + c0 - 1) / c0;
}

/* ---- groups --------------------------------------------------------------------------------- */

static uint64_t row_bytes(const mona_shape *s)
{
    return (uint64_t)s->width * s->channels * mona_type_size(s->type);
}

static bool is_heavy(const mona_plan *plan, uint32_t o)
{
    const plan_op *op = &plan->ops[o];
    const mona_op_class *class = mona_ops[op->bound.op->kind];
    const uint64_t rows = row_bytes(&op->bound.input[0]) + row_bytes(&op->bound.output);
    return class->map_possible && class->map_possible(&op->bound) && op->last_reader > o &&
           op->constants_bytes > HEAVY_ROWS * rows;
}

static bool is_on_arrays(const mona_plan *plan, uint32_t o)
{
    return mona_ops[plan->ops[o].bound.op->kind]->array;
}

/* Whether operator `o` reads an array that an operator from `first` on makes. */
static bool reads_array_of(const mona_plan *plan, uint32_t o, uint32_t first)
{
    const plan_op *op = &plan->ops[o];
    for (uint32_t i = 0; i < op->bound.op->input_count; i++)
        if (op->array_writer[i] != MONA_NONE && op->array_writer[i] >= first)
            return true;
    return false;
}

/* Where the group that begins at `first` ends; by_weight: heavy operators are groups of their own.
 */
static uint32_t end_of_group(const mona_plan *plan, uint32_t first, bool by_weight)
{
    const uint32_t count = plan->model.header->op_count;
    if (is_on_arrays(plan, first) || (by_weight && is_heavy(plan, first)))
        return first + 1;
    uint32_t last = first + 1;
    while (last < count && !is_on_arrays(plan, last) && !reads_array_of(plan, last, first) &&
           !(by_weight && is_heavy(plan, last)))
        last++;
    for (uint32_t o = first; o < last;) {
        const plan_op *op = &plan->ops[o];
        const bool cut = op->last_reader >= last && op->first_reader < last && op->first_reader > o;
        last = cut ? o + 1 : last;
        o = cut ? first : o + 1; /* what was inside may cross now */
    }
    return last;
}

/* A group without results, whose operators nobody reads, gets a grid all the same; nothing is made.
 */
static void choose_grid(const mona_plan *plan, plan_group *g)
{
    bool any = false;
    g->grid_height = g->grid_width = UINT32_MAX;
    for (uint32_t o = g->first; o < g->last; o++) {
        const plan_op *op = &plan->ops[o];
        if (op->bound.op->kind != MONA_OP_STORE && !op->leaves)
            continue;
        any = true;
        const mona_shape *s = mona_plan_progress_shape(op);
        g->grid_height = s->height < g->grid_height ? s->height : g->grid_height;
        g->grid_width = s->width < g->grid_width ? s->width : g->grid_width;
    }
    if (!any)
        g->grid_height = g->grid_width = 1;
}

/* Work that is worth another core, in elements read, written and multiplied. */
enum { ARRAY_PART = 1 << 14 };

static uint32_t array_parts(const mona_plan *plan, const plan_op *op)
{
    const uint64_t items = mona_array_items(&op->bound);
    const uint64_t worth = 1 + mona_array_work(&op->bound) / ARRAY_PART;
    const uint64_t most = worth < items ? worth : items;
    return plan->cores < most ? plan->cores : (uint32_t)most;
}

/* A heavy operator is shared among cores by channels if its weights are more than its maps: each
 * core then reads its part of the larger of the two. */
static void choose_parts(const mona_plan *plan, plan_group *g)
{
    const plan_op *op = &plan->ops[g->first];
    const mona_shape *in = &op->bound.input[0], *out = &op->bound.output;
    if (is_on_arrays(plan, g->first)) {
        g->parts = array_parts(plan, op);
        return;
    }
    g->by_channels = g->whole_maps && op->constants_bytes >
                                          row_bytes(in) * in->height + row_bytes(out) * out->height;
    const uint32_t most = g->by_channels ? mona_plan_blocks(op) : g->grid_height;
    g->parts = plan->cores < most ? plan->cores : most;
}

/* Weights get half as much as rings may fill: see mona_config.cache_bytes. */
static bool weights_stay_in_cache(const mona_plan *plan)
{
    uint64_t bytes = 0;
    for (uint32_t o = 0; o < plan->model.header->op_count; o++)
        bytes += plan->ops[o].constants_bytes;
    return bytes <= plan->cache_bytes / 2;
}

/* ---- maps ----------------------------------------------------------------------------------- */

/* What readers by rows see of a map beyond its tensor. */
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
                const mona_op_class *class = mona_ops[b->op->kind];
                const mona_span x = class->columns(b, i, (mona_span){0, out->width});
                const mona_span y = class->rows(b, i, (mona_span){0, out->height});
                m.left = -x.begin > m.left ? -x.begin : m.left;
                m.right = x.end - s->width > m.right ? x.end - s->width : m.right;
                m.rows |= y.begin < 0 || y.end > s->height;
            }
        }
    }
    return m;
}

/* Rows of a map lie one after another in each channel block, so that a range of rows without
 * margins is one long row of pixels; unless a reader also sees rows of zeros, which must have the
 * map's block stride: then blocks lie one after another in each row, as in a ring. */
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
    /* At most 2^24 x 2^15 x 2^10; with every row aligned, no less than either layout takes. */
    if ((row + MONA_ALIGNMENT) * s->height * blocks >= PLAN_MAX_BYTES - 2 * AC_ROW_SLACK)
        return PLAN_MAX_BYTES;
    const size_t rows = m.rows ? 1 : s->height; /* of a block that lie side by side */
    op->block_stride = align_up((size_t)row * rows);
    op->row_bytes = m.rows ? (size_t)blocks * op->block_stride : (size_t)row;
    return align_up((size_t)blocks * op->block_stride * (s->height / rows) + AC_ROW_SLACK);
}

static size_t array_bytes(const mona_shape *s)
{
    return align_up((size_t)mona_shape_elements(s) * mona_type_size(s->type));
}

/* The lowest offset at or above `offset` where a map or array of the group that begins with
 * operator `first` does not meet map i, if that has been placed. Groups run in order, so a map
 * lives until the group of its last reader. */
static size_t past(const mona_plan *plan, uint32_t i, uint32_t first, size_t offset, size_t bytes)
{
    const plan_op *other = &plan->ops[i];
    const size_t end = other->ring_offset + other->map_bytes;
    const bool lives = other->map_bytes && other->last_reader >= first;
    return lives && other->ring_offset < offset + bytes && offset < end ? end : offset;
}

static mona_status place_map(mona_plan *plan, uint32_t o, uint32_t first)
{
    plan_op *op = &plan->ops[o];
    size_t offset = 0;
    const size_t bytes = op->array ? array_bytes(&op->bound.output) : shape_map(plan, o);
    for (uint32_t i = 0; i < plan->model.header->op_count && offset < PLAN_MAX_BYTES;) {
        const size_t moved = past(plan, i, first, offset, bytes);
        i = moved > offset ? 0 : i + 1;
        offset = moved;
    }
    op->ring_offset = offset;
    op->map_bytes = bytes;
    const size_t end = offset + bytes;
    plan->maps_bytes = end > plan->maps_bytes ? end : plan->maps_bytes;
    return plan->maps_bytes < PLAN_MAX_BYTES ? MONA_OK : MONA_ERR_LIMIT;
}

/* Once every group is known; a home has its place before anything is written to it. */
static mona_status place_maps(mona_plan *plan)
{
    mona_status status = MONA_OK;
    for (uint32_t o = 0, first = 0; o < plan->model.header->op_count && !status; o++) {
        first = plan->ops[first].group.last <= o ? o : first;
        const uint32_t home = plan->ops[o].home;
        if ((plan->ops[o].map || plan->ops[o].array) && !plan->ops[home].map_bytes)
            status = place_map(plan, home, first);
    }
    return status;
}

mona_status mona_plan_groups(mona_plan *plan)
{
    const uint32_t count = plan->model.header->op_count;
    const bool single = weights_stay_in_cache(plan);
    uint32_t most_parts = 1;
    for (uint32_t first = 0, last; first < count; first = last) {
        plan_group *g = &plan->ops[first].group;
        last = end_of_group(plan, first, !single);
        *g = (plan_group){.first = first, .last = last};
        g->whole_maps = is_on_arrays(plan, first) || (!single && is_heavy(plan, first));
        for (uint32_t o = first; o < last; o++) {
            plan_op *op = &plan->ops[o];
            if (op->store != MONA_NONE && op->store >= last) {
                op->store = MONA_NONE;
                op->bound.store = NULL;
            }
            op->leaves = op->last_reader >= last && !op->array;
        }
        choose_grid(plan, g);
        choose_parts(plan, g);
        most_parts = g->parts > most_parts ? g->parts : most_parts;
    }
    plan->cores = most_parts;
    mona_plan_place(plan);
    return place_maps(plan);
}
