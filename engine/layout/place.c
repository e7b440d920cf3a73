// SPDX-License-Identifier: Apache-2.0
/* Once groups are known, decides which tensors lie in the channel blocks of another.
 *
 * An input of a CONCAT that fills whole channel blocks of the output need not be copied: the
 * operator that computes it writes straight into those blocks, in the same ring or map. A SLICE at
 * block bounds reads from the blocks of its source. Such a CONCAT or SLICE has nothing to do.
 *
 * Tensors that share memory form a tree. Each lies in another, from channel block `block` of it on,
 * up to the *home*, which lies in none. Placing an input moves its whole home into the home of the
 * concat. DenseNets need this, since each of their concats begins with the previous one: its inputs
 * all lie in the home of an earlier concat, which becomes the first blocks of the later one.
 *
 * The memory of a home is either
 *   a ring  if all its tensors are written and read in one group; it is as deep as the most rows
 *           that any of them still needs, or
 *   a map   if not, which the home's `map` says. What a group reads of a map must be there when it
 *           begins (plan_groups.c), so no part of it may be read in or before the group that
 *           writes that part. */
#include "engine/layout/layout.h"

/* ---- where tensors lie ---------------------------------------------------------------------- */

/* Channel blocks [begin, end) of a home. */
typedef struct blocks {
    uint32_t home, begin, end;
} blocks;

static blocks blocks_of(const mona_plan *plan, uint32_t o)
{
    blocks b = {.home = o};
    for (; plan->ops[b.home].home != b.home; b.home = plan->ops[b.home].home)
        b.begin += plan->ops[b.home].home_block;
    b.end = b.begin + (plan->ops[o].bound.output_c0 ? mona_plan_blocks(&plan->ops[o]) : 0);
    return b;
}

static uint32_t all_inputs(const plan_op *op)
{
    return (1u << op->bound.op->input_count) - 1;
}

/* ---- what is allowed ------------------------------------------------------------------------ */

static bool in_one_group(const mona_plan *plan, uint32_t a, uint32_t b)
{
    return plan->ops[a].group_first == plan->ops[b].group_first;
}

/* In the scratch, of each tensor: begin: how often operators of its group read it, but for those
 * that only pass it on in place. end: the operator that writes the last part of it, or a later
 * one; of a home, next: how many of its tensors are read in the group that writes a part of
 * them. */
static bool is_read_early(const mona_plan *plan, const plan_progress *uses, uint32_t o)
{
    return uses[o].begin && in_one_group(plan, o, (uint32_t)uses[o].end);
}

static int64_t last_written(const plan_op *op, const plan_progress *uses, uint32_t o)
{
    int64_t last = 0;
    if (op->bound.placed != all_inputs(op))
        return o;
    for (uint32_t i = 0; i < op->bound.op->input_count; i++)
        last = uses[op->writer[i]].end > last ? uses[op->writer[i]].end : last;
    return last;
}

/* Sets which inputs of operator o, which with them lies in `home`, are in place. */
static void set_placed(mona_plan *plan, plan_progress *uses, uint32_t o, uint32_t home,
                       uint32_t placed)
{
    plan_op *op = &plan->ops[o];
    uses[home].next -= is_read_early(plan, uses, o);
    for (uint32_t i = 0; i < op->bound.op->input_count; i++) {
        const uint32_t w = op->writer[i];
        if (!((op->bound.placed ^ placed) >> i & 1) || !in_one_group(plan, w, o))
            continue;
        uses[home].next -= is_read_early(plan, uses, w);
        uses[w].begin += placed >> i & 1 ? -1 : 1;
        uses[home].next += is_read_early(plan, uses, w);
    }
    op->bound.placed = placed;
    uses[o].end = last_written(op, uses, o);
    uses[home].next += is_read_early(plan, uses, o);
}

/* Whether an operator of its group reads concat or slice o where it lies, and no copy of it. */
static bool is_read_in_place(const mona_plan *plan, uint32_t o)
{
    const uint32_t last = plan->ops[plan->ops[o].group_first].group.last;
    bool found = false;
    for (uint32_t r = o + 1; r < last; r++) {
        const plan_op *op = &plan->ops[r];
        const mona_op_class *class = mona_ops[op->bound.op->kind];
        const bool copies = class->reads_maps && class->reads_maps(op->bound.op);
        for (uint32_t i = 0; i < op->bound.op->input_count; i++)
            found |= op->writer[i] == o && !copies;
    }
    return found;
}

/* AI Cores read maps by copies of them alone. */
static bool is_allowed(const mona_plan *plan, const plan_progress *uses, uint32_t home, uint32_t o)
{
    return !plan->ops[home].map || (!uses[home].next && !(mona_plan_on_ai_core(plan) &&
                                                          (plan->ops[o].bound.run->cuts_channels ||
                                                           is_read_in_place(plan, o))));
}

/* ---- joining -------------------------------------------------------------------------------- */

/* Whether a tensor of `channels` channels, placed from channel `first` of another on, fills whole
 * blocks of it: to the end of its last block, or to the other tensor's last channel. */
static bool fills_blocks(const mona_bound_op *b, uint32_t i, uint32_t first, uint32_t channels,
                         uint32_t of)
{
    const uint32_t c0 = b->output_c0;
    return b->input_c0[i] == c0 && first % c0 == 0 &&
           (channels % c0 == 0 || first + channels == of);
}

/* Puts home `inner` into home `outer`. */
static void put(mona_plan *plan, plan_progress *uses, uint32_t inner, uint32_t outer,
                uint32_t block)
{
    uses[outer].next += uses[inner].next;
    plan->ops[inner].home = outer;
    plan->ops[inner].home_block = block;
    plan->ops[outer].map |= plan->ops[inner].map || !in_one_group(plan, inner, outer);
}

static void take_out(mona_plan *plan, plan_progress *uses, uint32_t inner, uint32_t outer)
{
    uses[outer].next -= uses[inner].next;
    plan->ops[inner].home = inner;
    plan->ops[inner].home_block = 0;
}

/* Makes the home of an operator, and of all that it lies in, one that lies in no other. */
static void flatten(mona_plan *plan, uint32_t o)
{
    const blocks b = blocks_of(plan, o);
    for (uint32_t left = b.begin, next; o != b.home; o = next) {
        plan_op *op = &plan->ops[o];
        const uint32_t block = op->home_block;
        next = op->home;
        op->home = b.home;
        op->home_block = left;
        left -= block;
    }
}

/* The block of concat `o` at which its input i belongs. */
static uint32_t block_in(const plan_op *op, uint32_t i)
{
    return mona_channels_part(&op->bound, i).to / op->bound.output_c0;
}

static bool could_place(const plan_op *op, uint32_t i)
{
    const mona_bound_op *b = &op->bound;
    return fills_blocks(b, i, mona_channels_part(b, i).to, b->input[i].channels,
                        b->output.channels);
}

/* Whether the home of input i can become blocks of concat `o`, itself a home, from `block` on:
 * whether the tensors of that home are the ones that the concat needs there. */
static bool fits(const mona_plan *plan, uint32_t o, uint32_t home, int64_t block)
{
    const plan_op *op = &plan->ops[o];
    const mona_shape *s = &plan->ops[home].bound.output;
    const int64_t end = block + mona_plan_blocks(&plan->ops[home]);
    if (block < 0 || end > mona_plan_blocks(op) ||
        plan->ops[home].bound.output_c0 != op->bound.output_c0 ||
        (s->channels % op->bound.output_c0 &&
         block * op->bound.output_c0 + s->channels != op->bound.output.channels))
        return false;
    for (uint32_t i = 0; i < op->bound.op->input_count; i++) {
        const int64_t at = block_in(op, i);
        const int64_t channels =
            (int64_t)mona_channels_part(&op->bound, i).to + op->bound.input[i].channels;
        const int64_t up_to = (channels + op->bound.output_c0 - 1) / op->bound.output_c0;
        if (at >= end || up_to <= block)
            continue;
        const blocks b =
            could_place(op, i) ? blocks_of(plan, op->writer[i]) : (blocks){.home = MONA_NONE};
        if (b.home != home || b.begin + block != at)
            return false;
    }
    return true;
}

/* Tries to place the inputs `which` of concat `o` in addition to those placed already. Undoes it if
 * it is not allowed. */
static bool place_inputs(mona_plan *plan, plan_progress *uses, uint32_t o, uint32_t which)
{
    plan_op *op = &plan->ops[o];
    const uint32_t before = op->bound.placed;
    const bool map = op->map;
    uint32_t joined[MONA_OP_MAX_INPUTS], count = 0;
    for (uint32_t i = 0; i < op->bound.op->input_count; i++) {
        if (!(which >> i & 1) || !could_place(op, i))
            continue;
        const blocks b = blocks_of(plan, op->writer[i]);
        const int64_t block = (int64_t)block_in(op, i) - b.begin;
        if (b.home != o && fits(plan, o, b.home, block)) {
            put(plan, uses, b.home, o, (uint32_t)block);
            joined[count++] = b.home;
        }
    }
    uint32_t placed = before;
    for (uint32_t i = 0; i < op->bound.op->input_count; i++) {
        const blocks b = blocks_of(plan, op->writer[i]);
        if (could_place(op, i) && b.home == o && b.begin == block_in(op, i))
            placed |= 1u << i;
    }
    set_placed(plan, uses, o, o, placed);
    if (placed == before || is_allowed(plan, uses, o, o))
        return true;
    set_placed(plan, uses, o, o, before);
    for (; count; count--)
        take_out(plan, uses, joined[count - 1], o);
    op->map = map;
    return false;
}

static void place_concat(mona_plan *plan, plan_progress *uses, uint32_t o)
{
    const uint32_t count = plan->ops[o].bound.op->input_count;
    for (uint32_t i = 0; i < count; i++)
        flatten(plan, plan->ops[o].writer[i]);
    if (place_inputs(plan, uses, o, all_inputs(&plan->ops[o])))
        return;
    for (uint32_t i = 0; i < count; i++)
        place_inputs(plan, uses, o, 1u << i);
}

static void place_slice(mona_plan *plan, plan_progress *uses, uint32_t o)
{
    plan_op *op = &plan->ops[o];
    const mona_bound_op *b = &op->bound;
    if (!fills_blocks(b, 0, b->op->channels.first, b->output.channels, b->input[0].channels))
        return;
    flatten(plan, op->writer[0]);
    const blocks source = blocks_of(plan, op->writer[0]);
    const bool map = plan->ops[source.home].map;
    put(plan, uses, o, source.home, source.begin + b->op->channels.first / b->output_c0);
    set_placed(plan, uses, o, source.home, 1);
    if (!is_allowed(plan, uses, source.home, o)) {
        set_placed(plan, uses, o, source.home, 0);
        take_out(plan, uses, o, source.home);
        plan->ops[source.home].map = map;
    }
}

/* ---- public --------------------------------------------------------------------------------- */

/* Homes live as long as everything in them. */
static void settle(mona_plan *plan)
{
    const uint32_t count = plan->model.header->op_count;
    for (uint32_t o = 0; o < count; o++) {
        flatten(plan, o);
        const plan_op *op = &plan->ops[o];
        plan_op *home = &plan->ops[op->home];
        home->last_reader =
            op->last_reader > home->last_reader ? op->last_reader : home->last_reader;
    }
    for (uint32_t o = 0; o < count; o++)
        plan->ops[o].map = plan->ops[plan->ops[o].home].map;
}

void mona_plan_place(mona_plan *plan, plan_progress *uses)
{
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        plan_op *op = &plan->ops[o];
        op->home = o;
        op->home_block = 0;
        op->map = op->leaves;
        uses[o] = (plan_progress){.end = o};
        for (uint32_t i = 0; i < op->bound.op->input_count; i++)
            if (op->writer[i] != MONA_NONE)
                uses[op->writer[i]].begin += in_one_group(plan, op->writer[i], o);
    }
    for (uint32_t o = 0; o < plan->model.header->op_count; o++)
        uses[o].next = is_read_early(plan, uses, o);
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        const mona_bound_op *b = &plan->ops[o].bound;
        if (!mona_plan_copies(&plan->ops[o]) || b->op->channels.copy || plan->copies)
            continue;
        (b->run->joins_channels ? place_concat : place_slice)(plan, uses, o);
    }
    settle(plan);
}
