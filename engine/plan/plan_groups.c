// SPDX-License-Identifier: Apache-2.0
/* Second step of planning: which operators run depth-first together, and which on whole maps.
 *
 * Depth-first, an operator's weights are read again for every row. If all weights of a model stay
 * in a core's cache this costs nothing, and the whole model is one group. Otherwise it is better to
 * run an operator on whole maps if its weights are larger than its rows (heavy_rows rows of its
 * input and output together), since moving the maps then costs less. Such an operator is a group of
 * its own, and the operators between two of them form another group. With 4 rows, ResNet-50 on 224
 * x 224 consists almost only of such operators; on 1920 x 1080 its first half does not.
 *
 * A tensor that a later group reads is a map. If a group read its own maps, two of its bands would
 * both compute the rows under each other's edge and write them twice. So nothing in a group reads
 * its maps: a group ends right after an operator that both it and a later group would read.
 *
 * An operator that reads a whole map for one row, one row for a whole map, or of an only row all
 * columns for one or the same for all, begins a group. Cores share the columns of groups with fewer
 * rows than there are cores, as those of transformers.
 *
 * An operator on arrays is a group of its own, and cores share it by parts of its work. A LOAD
 * reads an array as planes, whole, so it must be in a later group than the STORE that writes it.
 *
 * Whether a few large maps or many rings take less memory differs between networks. With 16 rows
 * instead of 4, ResNet-50 needs 0.6 MB less on one core and takes 1 % longer, but MobileNetV2 needs
 * twice as much. So both are planned, and the smaller plan is taken, unless the kernels are much
 * quicker on whole maps: ResNet-50 takes 0.75 of the time with AMX. With more than 20 rows, layers
 * of 3x3 with 128 channels on 28x28 would be computed in rows, padding too, and take 1.07 times as
 * long. */
#include "engine/plan/planner.h"

/* The values of heavy_rows that are planned. */
enum { FEW_ROWS = 4, MANY_ROWS = 16, NEVER = 0 };

/* ---- groups --------------------------------------------------------------------------------- */

static uint64_t row_bytes(const mona_shape *s)
{
    return (uint64_t)s->width * s->channels * mona_type_size(s->type);
}

/* Whether the weights of an operator are larger than its maps. */
static bool has_large_weights(const plan_op *op)
{
    const mona_shape *in = &op->bound.input[0], *out = &op->bound.output;
    return op->constants_bytes > row_bytes(in) * in->height + row_bytes(out) * out->height;
}

/* Whether cores cannot share an operator by rows, as there are fewer of these, and it is worth
 * sharing by channels: better than by columns if these do not reach for all cores, or weights are
 * larger than maps. */
static bool has_few_rows(const mona_plan *plan, uint32_t o)
{
    enum { WORTH = 1 << 22 /* products */ };
    const mona_bound_op *b = &plan->ops[o].bound;
    const mona_op_class *class = mona_ops[b->op->kind];
    const uint32_t tiles = mona_plan_shared_tiles(plan, b->output.height, b->output.width);
    const bool columns = tiles > 1 && tiles == plan->cores / b->output.height;
    return b->output.height < plan->cores && class->macs && class->macs(b) >= WORTH &&
           (!columns || has_large_weights(&plan->ops[o]));
}

/* heavy_rows NEVER: no operator is. */
static bool is_heavy(const mona_plan *plan, uint32_t o, uint32_t heavy_rows)
{
    const plan_op *op = &plan->ops[o];
    const mona_op_class *class = mona_ops[op->bound.op->kind];
    const uint64_t rows = row_bytes(&op->bound.input[0]) + row_bytes(&op->bound.output);
    const bool rows_first = class->prefers_rows && class->prefers_rows(&op->bound);
    return heavy_rows != NEVER && class->map_possible && class->map_possible(&op->bound) &&
           !rows_first && op->last_reader > o &&
           (op->constants_bytes > heavy_rows * rows || has_few_rows(plan, o));
}

static bool is_on_arrays(const mona_plan *plan, uint32_t o)
{
    return plan->ops[o].bound.run->array;
}

/* Whether operator `o` reads an array that an operator from `first` on writes. */
static bool reads_array_of(const mona_plan *plan, uint32_t o, uint32_t first)
{
    const plan_op *op = &plan->ops[o];
    for (uint32_t i = 0; i < op->bound.op->input_count; i++)
        if (op->array_writer[i] != MONA_NONE && op->array_writer[i] >= first)
            return true;
    return false;
}

static bool covers(mona_span read, uint32_t all)
{
    return all > 1 && read.begin <= 0 && read.end >= all;
}

/* Whether the first and the last of several rows or columns, `top` and `end`, are made of the same
 * ones. */
static bool is_same(mona_span top, mona_span end, uint32_t made)
{
    return made > 1 && top.begin == end.begin && top.end == end.end;
}

/* Whether operator `o`, if it makes several rows, reads the same rows of an operator from `first`
 * on for all of them; or for its only row all rows of one, or all columns or the same for any
 * column of it. In one group with that, every band or tile would compute all of them. */
static bool reads_all_of(const mona_plan *plan, uint32_t o, uint32_t first)
{
    const mona_bound_op *b = &plan->ops[o].bound;
    const int64_t height = b->output.height, width = b->output.width;
    for (uint32_t i = 0; i < b->op->input_count; i++) {
        const uint32_t w = plan->ops[o].writer[i];
        if (w == MONA_NONE || w < first || is_on_arrays(plan, o))
            continue;
        const mona_span top = b->run->rows(b, i, (mona_span){0, 1});
        const mona_span end = b->run->rows(b, i, (mona_span){height - 1, height});
        const mona_span left = b->run->columns(b, i, (mona_span){0, 1});
        const mona_span right = b->run->columns(b, i, (mona_span){width - 1, width});
        const bool whole =
            height == 1 && (covers(top, b->input[i].height) || covers(left, b->input[i].width) ||
                            is_same(left, right, b->output.width));
        if (whole || is_same(top, end, b->output.height))
            return true;
    }
    return false;
}

/* ---- groups of an AI Core ------------------------------------------------------------------- */

/* L1 holds the constants and rings of a group while it runs. If those of a model do not fit, it
 * is cut into several groups. A tensor between groups is a map in global memory. Only some
 * operators read it there (mona_op_class.reads_maps), so a group begins where all others read
 * nothing from earlier groups. (formats/compiler/program/cut.c puts SLICEs where a model may be
 * cut.) */

static void find_beginnings(mona_plan *plan)
{
    uint32_t needed = MONA_NONE; /* the first operator that any from `o` on reads in L1 */
    for (uint32_t o = plan->model.header->op_count; o-- > 0;) {
        plan_op *op = &plan->ops[o];
        const mona_op_class *class = mona_ops[op->bound.op->kind];
        const bool maps = class->reads_maps && class->reads_maps(op->bound.op);
        for (uint32_t i = 0; i < op->bound.op->input_count && !maps; i++)
            needed = op->writer[i] < needed ? op->writer[i] : needed;
        op->may_begin = needed >= o;
        op->begins = op->shared = false;
    }
}

/* Two groups side by side: [first, middle) on core 0, and [middle, end) on core 1. If cores shared
 * them, each would load the constants of both. */
typedef struct pair {
    uint32_t middle, end;
    uint64_t saved; /* cycles, estimated; 0: there is none */
} pair;

/* Constants of a half, and cycles of loading them and of its work. */
typedef struct half {
    size_t constants;
    uint64_t rings, loading, work;
} half;

static void add_op(const mona_plan *plan, uint32_t o, half *h)
{
    enum { LOADED = 38 /* bytes a cycle */, MACS = 1 << 11 /* of fp16 a cycle */ };
    const plan_op *op = &plan->ops[o];
    const mona_op_class *class = mona_ops[op->bound.op->kind];
    const mona_shape *s = &op->bound.output;
    h->constants += align_up(op->constants_bytes);
    h->rings += row_bytes(s) * s->height;
    h->loading = h->constants / LOADED;
    h->work += (class->macs ? class->macs(&op->bound) : 0) / MACS *
               mona_type_size(op->bound.input[0].type) / 2;
}

/* Whether operator o can be in a half that begins at `first`, beside one that begins at `other`. */
static bool may_join(const mona_plan *plan, uint32_t o, uint32_t first, uint32_t other,
                     const half *h)
{
    const plan_op *op = &plan->ops[o];
    bool may = o - first < 64 && !is_on_arrays(plan, o) && !reads_array_of(plan, o, other) &&
               !op->shared && (o == first || !op->begins) &&
               h->constants + align_up(op->constants_bytes) <= plan->group_constants &&
               h->constants + h->rings <= plan->target->l1_bytes;
    for (uint32_t i = 0; i < op->bound.op->input_count; i++)
        may &= op->writer[i] == MONA_NONE || op->writer[i] >= first || op->writer[i] < other;
    return may;
}

static bool may_end(const mona_plan *plan, uint32_t o)
{
    return o == plan->model.header->op_count || plan->ops[o].may_begin;
}

static uint64_t saved_by(const half *a, const half *b)
{
    const uint64_t both = a->loading + b->loading + (a->work + b->work) / 2;
    const uint64_t one = a->loading + a->work, other = b->loading + b->work;
    const uint64_t slower = one > other ? one : other;
    return both > slower ? both - slower : 0;
}

static pair best_pair(const mona_plan *plan, uint32_t first)
{
    const uint32_t count = plan->model.header->op_count;
    half a = {0};
    pair best = {0};
    for (uint32_t m = first; m < count && may_join(plan, m, first, first, &a);) {
        half b = {0};
        add_op(plan, m++, &a);
        for (uint32_t o = m; may_end(plan, m) && o < count && may_join(plan, o, m, first, &b);) {
            add_op(plan, o++, &b);
            if (may_end(plan, o) && saved_by(&a, &b) > best.saved)
                best = (pair){m, o, saved_by(&a, &b)};
        }
    }
    return best;
}

enum { WORTH_A_PAIR = 5000 /* cycles */ };

static bool is_worth_it(const mona_plan *plan, const pair *p)
{
    return plan->cores == AC_PROGRAM_CORES && p->saved > WORTH_A_PAIR;
}

static uint32_t end_of_core_group(const mona_plan *plan, uint32_t first)
{
    const uint32_t count = plan->model.header->op_count;
    uint32_t end = count;
    size_t bytes = 0;
    for (uint32_t o = first; o < count; o++) {
        if (o > first &&
            (is_on_arrays(plan, o) || reads_array_of(plan, o, first) || plan->ops[o].begins))
            return o;
        const pair next = o > first && plan->ops[o].may_begin ? best_pair(plan, o) : (pair){0};
        if (is_worth_it(plan, &next))
            return o;
        bytes += align_up(plan->ops[o].constants_bytes);
        if (bytes > plan->group_constants && end < count)
            return end;
        if (o + 1 < count && plan->ops[o + 1].may_begin)
            end = o + 1;
    }
    return count;
}

size_t mona_plan_room(const mona_plan *plan, const plan_group *g)
{
    if (!mona_plan_on_ai_core(plan))
        return plan->cache_bytes;
    const size_t l1 = plan->target->l1_bytes, constants = mona_plan_group_constants(plan, g);
    const size_t room = constants < l1 ? (l1 - constants) / 16 * plan->sixteenths : 0;
    return room < plan->cache_bytes ? room : plan->cache_bytes;
}

/* Where a group that begins at an operator could end, from one group to the next: at `ends`, the
 * first of which what it reads forbids it to pass. Those behind are ends that would cut a tensor
 * which both the group and a later one read, in descending order, and the last is the end of the
 * group before. They are in the scratch, as are the last readers of every BLOCK operators. */
typedef struct ends {
    plan_progress *scratch; /* need: ends; oldest: last readers */
    uint32_t count;
} ends;

enum { BLOCK = 64 };

static ends begin_ends(const mona_plan *plan, plan_progress *scratch)
{
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        const int64_t last = plan->ops[o].last_reader;
        int64_t *of_block = &scratch[o / BLOCK].oldest;
        *of_block = o % BLOCK && *of_block > last ? *of_block : last;
    }
    return (ends){scratch, 0};
}

/* The first operator from `first` on that is read both before `last` and from there on; `last`:
 * there is none. */
static uint32_t first_cut(const mona_plan *plan, const ends *e, uint32_t first, uint32_t last)
{
    for (uint32_t o = first; o < last;) {
        const plan_op *op = &plan->ops[o];
        if (o % BLOCK == 0 && e->scratch[o / BLOCK].oldest < last)
            o += BLOCK;
        else if (op->last_reader >= last && op->first_reader < last && op->first_reader > o)
            return o;
        else
            o++;
    }
    return last;
}

/* How far what operators read lets a group go that begins at `first`. Later groups may go as far at
 * least, as what forbids to go on is that an operator inside the group is read. */
static uint32_t reach_of(const mona_plan *plan, const ends *e, uint32_t first, uint32_t heavy_rows)
{
    const uint32_t count = plan->model.header->op_count;
    if (plan->group_constants)
        return end_of_core_group(plan, first);
    uint32_t last = first + 1;
    if (e->count && e->scratch[0].need > last)
        last = (uint32_t)e->scratch[0].need;
    while (last < count && !is_on_arrays(plan, last) && !reads_array_of(plan, last, first) &&
           !is_heavy(plan, last, heavy_rows) &&
           (mona_plan_on_ai_core(plan) || !reads_all_of(plan, last, first)))
        last++;
    return last;
}

/* The end of the group that begins at `first`, where the one before it ended. What was inside a
 * group may leave it once its end is cut, so that the end is cut again, until nothing does. Ends
 * that were found for the group before hold for this one, too, as what they cut begins at `first`
 * or later. */
static uint32_t end_of_group(const mona_plan *plan, ends *e, uint32_t first, uint32_t heavy_rows)
{
    if (is_on_arrays(plan, first) || is_heavy(plan, first, heavy_rows)) {
        e->count = 0;
        return first + 1;
    }
    const uint32_t reach = reach_of(plan, e, first, heavy_rows);
    if (e->count < 2 || e->scratch[0].need != reach) {
        e->count = 1;
        e->scratch[0].need = reach;
    } else
        e->count--; /* where the group before ended */
    for (;;) {
        const uint32_t last = (uint32_t)e->scratch[e->count - 1].need;
        const uint32_t cut = first_cut(plan, e, first, last);
        if (cut == last)
            return last;
        e->scratch[e->count++].need = cut + 1;
    }
}

/* Work that is worth another core, in elements read, written and multiplied. */
enum { ARRAY_PART = 1 << 14 };

static uint32_t array_parts(const mona_plan *plan, const plan_op *op)
{
    const uint64_t items = mona_array_items(&op->bound);
    const uint64_t worth = 1 + mona_array_work(&op->bound) / ARRAY_PART;
    const uint64_t max = worth < items ? worth : items;
    return plan->cores < max ? plan->cores : (uint32_t)max;
}

/* A heavy operator is shared among cores by channels if its weights are larger than its maps, so
 * that each core reads its part of the larger of the two, or if it has few rows. */
static void choose_parts(const mona_plan *plan, plan_group *g)
{
    const plan_op *op = &plan->ops[g->first];
    if (is_on_arrays(plan, g->first)) {
        g->parts = array_parts(plan, op);
        return;
    }
    g->by_channels = g->whole_maps && (has_few_rows(plan, g->first) || has_large_weights(op));
    const uint32_t max = g->by_channels ? mona_plan_blocks(op) : g->grid_height;
    g->parts = plan->cores < max ? plan->cores : max;
}

static void add_pair(mona_plan *plan, uint32_t first, const pair *p)
{
    plan_group *sides[] = {mona_plan_add_group(plan, first, p->middle, false),
                           mona_plan_add_group(plan, p->middle, p->end, false)};
    for (uint32_t i = 0; i < AC_PROGRAM_CORES; i++) {
        sides[i]->side = 1 + i;
        sides[i]->parts = 1;
    }
}

/* Weights get half as much as rings may fill, see mona_config.cache_bytes. */
static bool weights_stay_in_cache(const mona_plan *plan)
{
    uint64_t bytes = 0;
    for (uint32_t o = 0; o < plan->model.header->op_count; o++)
        bytes += plan->ops[o].constants_bytes;
    return bytes <= plan->cache_bytes / 2;
}

/* ---- both ways ------------------------------------------------------------------------------ */

/* Plans groups, their maps and their rings. cores: those that may take part. */
static mona_status plan_with(mona_plan *plan, const mona_config *config, plan_progress *progress,
                             uint32_t cores, uint32_t heavy_rows)
{
    const uint32_t count = plan->model.header->op_count;
    uint32_t max_parts = 1;
    plan->cores = cores;
    plan->maps_bytes = plan->rings_bytes = 0;
    mona_plan_readers(plan);
    ends e = begin_ends(plan, progress);
    for (uint32_t first = 0, last; first < count; first = last) {
        const pair p = plan->group_constants ? best_pair(plan, first) : (pair){0};
        if (is_worth_it(plan, &p) && first_cut(plan, &e, first, p.middle) == p.middle &&
            first_cut(plan, &e, p.middle, p.end) == p.end) {
            add_pair(plan, first, &p);
            max_parts = AC_PROGRAM_CORES;
            e.count = 0;
            last = p.end;
            continue;
        }
        last = end_of_group(plan, &e, first, heavy_rows);
        plan_group *g = mona_plan_add_group(
            plan, first, last, is_on_arrays(plan, first) || is_heavy(plan, first, heavy_rows));
        choose_parts(plan, g);
        const uint32_t shares =
            g->parts *
            (g->whole_maps ? 1 : mona_plan_shared_tiles(plan, g->grid_height, g->grid_width));
        max_parts = shares > max_parts ? shares : max_parts;
    }
    plan->cores = max_parts;
    mona_plan_place(plan, progress);
    const mona_status status = mona_plan_maps(plan, progress);
    return status ? status : mona_plan_rings(plan, config, progress);
}

static bool has_placed(const mona_plan *plan)
{
    for (uint32_t o = 0; o < plan->model.header->op_count; o++)
        if (plan->ops[o].bound.placed)
            return true;
    return false;
}

/* Whether the rings of a group are larger than they should be, with any number of tiles. */
static bool is_too_large(const mona_plan *plan, const plan_group *g)
{
    return g->rings_bytes > mona_plan_room(plan, g);
}

/* The number of tiles of all groups. UINT32_MAX or more if the rings do not fit. */
static uint64_t tiles_of(const mona_plan *plan)
{
    uint64_t tiles = 0;
    for (const plan_group *g = mona_plan_first_group(plan); g; g = mona_plan_next_group(plan, g))
        tiles += is_too_large(plan, g) ? UINT32_MAX : g->tiles;
    return tiles;
}

/* Whether bands of any group are cut into tiles for their rings, or would have to be. */
static bool is_cut(const mona_plan *plan)
{
    bool cut = false;
    for (const plan_group *g = mona_plan_first_group(plan); g; g = mona_plan_next_group(plan, g))
        cut |= is_too_large(plan, g) ||
               (!g->whole_maps &&
                g->tiles > mona_plan_shared_tiles(plan, g->grid_height, g->grid_width));
    return cut;
}

/* Tensors that share a ring are all as deep as the one that is needed longest. If that takes more
 * tiles, whose margins are computed twice, copying costs less. */
static mona_status plan_channels(mona_plan *plan, const mona_config *config,
                                 plan_progress *progress, uint32_t cores, uint32_t heavy_rows)
{
    plan->copies = false;
    const mona_status placed = plan_with(plan, config, progress, cores, heavy_rows);
    const uint64_t tiles = tiles_of(plan);
    if (!has_placed(plan) || (!placed && !is_cut(plan)))
        return placed;
    plan->copies = true;
    const mona_status copied = plan_with(plan, config, progress, cores, heavy_rows);
    if (!copied && (placed || tiles_of(plan) < tiles))
        return copied;
    plan->copies = false;
    return plan_with(plan, config, progress, cores, heavy_rows);
}

static uint64_t planned_bytes(const mona_plan *plan)
{
    return plan->maps_bytes + (uint64_t)plan->cores * plan->rings_bytes;
}

static mona_status plan_core(mona_plan *plan, const mona_config *config, plan_progress *progress,
                             uint32_t cores, size_t group_constants)
{
    plan->group_constants = group_constants;
    plan->cache_bytes = config->cache_bytes ? config->cache_bytes : plan->target->l1_bytes;
    const mona_status status = plan_channels(plan, config, progress, cores, NEVER);
    plan->cache_bytes = plan->target->l1_bytes;
    return status;
}

static const plan_group *first_too_large(const mona_plan *plan)
{
    const plan_group *g = mona_plan_first_group(plan);
    const size_t zeros = mona_plan_zero_bytes(plan);
    while (g && !is_too_large(plan, g) && mona_plan_fits_l1(plan, g, zeros))
        g = mona_plan_next_group(plan, g);
    return g;
}

/* Whether groups begin where they may: one that ends so that no tensor is cut may end anywhere. */
static bool all_may_begin(const mona_plan *plan)
{
    bool may = true;
    for (const plan_group *g = mona_plan_first_group(plan); g; g = mona_plan_next_group(plan, g))
        may &= plan->ops[g->first].may_begin;
    return may;
}

/* Lets a group begin inside g: before the last operator for which rings hold all rows of a map,
 * else in the middle. False: none may begin there. */
static bool split(mona_plan *plan, const plan_group *g)
{
    uint32_t before_all = MONA_NONE, middle = MONA_NONE, at = g->first;
    for (uint32_t o = g->first + 1; o < g->last; o++) {
        at = plan->ops[o].may_begin ? o : at;
        if (reads_all_of(plan, o, g->first) && at > g->first)
            before_all = at;
        if (middle == MONA_NONE || at <= (g->first + g->last) / 2)
            middle = at > g->first ? at : middle;
    }
    const uint32_t chosen = before_all != MONA_NONE ? before_all : middle;
    if (chosen != MONA_NONE)
        plan->ops[chosen].begins = true;
    return chosen != MONA_NONE;
}

/* Lets cores share what one of two groups side by side could not hold. False: they do. */
static bool share(mona_plan *plan, const plan_group *g)
{
    for (uint32_t o = g->first; o < g->last && g->side; o++)
        plan->ops[o].shared = true;
    return g->side;
}

/* A single group, if it fits; else groups that are split until they fit. */
static mona_status plan_core_within(mona_plan *plan, const mona_config *config,
                                    plan_progress *progress, uint32_t cores, uint32_t sixteenths)
{
    const size_t most_constants = plan->target->l1_bytes / 8 * 6;
    plan->sixteenths = sixteenths;
    find_beginnings(plan);
    plan->all_constants = mona_plan_constants(plan, 0, plan->model.header->op_count);
    mona_status status = plan_core(plan, config, progress, cores, 0);
    const plan_group *large = status ? NULL : first_too_large(plan);
    while (large && (!plan->group_constants || share(plan, large) || split(plan, large))) {
        status = plan_core(plan, config, progress, cores, most_constants);
        large = status ? NULL : first_too_large(plan);
    }
    return !status && (large || !all_may_begin(plan)) ? MONA_ERR_UNSUPPORTED : status;
}

/* Parts of smaller groups compute fewer rows twice: with WISHED sixteenths of L1 YOLOv8n in INT8
 * takes 10.1 ms, with MOST 10.4. Some groups only fit MOST. */
static mona_status plan_core_groups(mona_plan *plan, const mona_config *config,
                                    plan_progress *progress, uint32_t cores)
{
    enum { WISHED = 14, MOST = 15 };
    const mona_status wished = plan_core_within(plan, config, progress, cores, WISHED);
    return wished ? plan_core_within(plan, config, progress, cores, MOST) : wished;
}

mona_status mona_plan_groups(mona_plan *plan, const mona_config *config, plan_progress *progress)
{
    const uint32_t cores = plan->cores;
    if (mona_plan_on_ai_core(plan))
        return plan_core_groups(plan, config, progress, cores);
    if (weights_stay_in_cache(plan))
        return plan_channels(plan, config, progress, cores, NEVER);
    const mona_status many = plan_channels(plan, config, progress, cores, MANY_ROWS);
    const uint64_t bytes = planned_bytes(plan);
    const mona_status few = plan_channels(plan, config, progress, cores, FEW_ROWS);
    /* Many outputs share the making of operands; tiles are full. */
    const bool quicker = plan->isa->operand_8bit || plan->isa->tiles;
    return many || (!few && (quicker || planned_bytes(plan) <= bytes))
               ? few
               : plan_channels(plan, config, progress, cores, MANY_ROWS);
}
