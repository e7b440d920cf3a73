// SPDX-License-Identifier: Apache-2.0
/* What orders the pipes of a core between the operators of a unit.
 *
 * An operator reads rows that another has just written, and lays out UB anew. So the pipes are
 * emptied before and after it, with these exceptions:
 *   a LOAD            begins while rows of STOREs are still being written: it reads no rows, and
 *                     they use different parts of UB
 *   a program that ends in V (mona_op_program.ends_in_v) and is followed by another one
 *   a copy of a map   to a ring, which MTE2 makes alone. It waits until MTE1 has read the rows that
 *                     it overwrites, and MTE1 waits for it where it reads them, so that the rows of
 *                     a strip come while the one before is computed. Events of the pair of MTE1 and
 *                     MTE2, of which each of the unit's first such copies has one. */
#include "engine/model310/session_modelled.h"

static bool is_program_of(const plan_op *op, mona_op_kind kind)
{
    return op->bound.op->kind == kind && op->bound.program;
}

static bool ends_in_v(const plan_op *op)
{
    return op->bound.program && op->bound.program->ends_in_v;
}

static void empty(worker *w, mona_unit_order *order)
{
    if (order->left != MONA_LEFT_NOTHING)
        ac_emit_barrier(&w->core, AC_PIPE_ALL);
    order->left = MONA_LEFT_NOTHING;
}

/* ---- copies of maps -------------------------------------------------------------------------- */

static bool is_brought(const mona_plan *plan, uint32_t o)
{
    const plan_op *op = &plan->ops[o];
    bool maps = op->bound.program && op->bound.program->brings_maps &&
                op->bound.program->brings_maps(&op->bound) && mona_plan_has_ring(plan, o) &&
                !op->bound.placed && op->first_reader > o;
    for (uint32_t i = 0; i < op->bound.op->input_count; i++)
        maps = maps && op->writer[i] != MONA_NONE && plan->ops[op->writer[i]].map;
    return maps;
}

/* Event 0 is that of operators themselves. */
static uint32_t event_of(uint32_t i)
{
    return 1 + i;
}

static void rows_are_free(worker *w, mona_brought *b, uint32_t event, bool free)
{
    if (b->free != free)
        (free ? ac_emit_set_flag : ac_emit_wait_flag)(&w->core, AC_PIPE_MTE1, AC_PIPE_MTE2, event);
    b->free = free;
}

static void rows_are_there(worker *w, mona_brought *b, uint32_t event, bool there)
{
    if (b->there != there)
        (there ? ac_emit_set_flag : ac_emit_wait_flag)(&w->core, AC_PIPE_MTE2, AC_PIPE_MTE1, event);
    b->there = there;
}

static bool reads(const plan_op *op, uint32_t o)
{
    bool found = false;
    for (uint32_t i = 0; i < op->bound.op->input_count; i++)
        found |= op->writer[i] == o;
    return found;
}

/* Whether operator o is a copy that has an event; its number among them. */
static bool has_event(const mona_unit_order *order, uint32_t o, uint32_t *i)
{
    for (*i = 0; *i < order->count; ++*i)
        if (order->brought[*i].op == o)
            return true;
    return false;
}

/* ---- operators ------------------------------------------------------------------------------- */

void mona_order_begin(const worker *w, const plan_group *g, mona_unit_order *order)
{
    *order = (mona_unit_order){.left = MONA_LEFT_NOTHING};
    for (uint32_t o = g->first; o < g->last && order->count < MONA_BROUGHT; o++)
        if (is_brought(w->session->plan, o))
            order->brought[order->count++].op = o;
}

void mona_order_end(worker *w, mona_unit_order *order)
{
    for (uint32_t i = 0; i < order->count; i++) {
        rows_are_there(w, &order->brought[i], event_of(i), false);
        rows_are_free(w, &order->brought[i], event_of(i), false);
    }
    empty(w, order);
}

void mona_order_before(worker *w, uint32_t index, mona_unit_order *order)
{
    const plan_op *op = &w->session->plan->ops[index];
    uint32_t i;
    if (has_event(order, index, &i)) {
        mona_brought *b = &order->brought[i];
        rows_are_there(w, b, event_of(i), false);
        rows_are_free(w, b, event_of(i), true);
        rows_are_free(w, b, event_of(i), false);
        if (b->read_again) {
            order->left = MONA_LEFT_ANY;
            empty(w, order);
        }
        b->read_again = false;
        return;
    }
    for (i = 0; i < order->count; i++)
        if (reads(op, order->brought[i].op))
            rows_are_there(w, &order->brought[i], event_of(i), false);
    if (!(is_program_of(op, MONA_OP_LOAD) && order->left == MONA_LEFT_STORES) &&
        !(ends_in_v(op) && order->left == MONA_LEFT_V))
        empty(w, order);
}

void mona_order_after(worker *w, uint32_t index, mona_unit_order *order)
{
    const mona_plan *plan = w->session->plan;
    const plan_op *op = &plan->ops[index];
    uint32_t i;
    if (has_event(order, index, &i)) {
        rows_are_there(w, &order->brought[i], event_of(i), true);
        return;
    }
    for (i = 0; i < order->count; i++)
        if (plan->ops[order->brought[i].op].last_reader == index) {
            order->brought[i].read_again |= order->brought[i].free;
            rows_are_free(w, &order->brought[i], event_of(i), true);
        }
    order->left = is_program_of(op, MONA_OP_STORE) ? MONA_LEFT_STORES
                  : ends_in_v(op)                  ? MONA_LEFT_V
                                                   : MONA_LEFT_ANY;
    if (order->left == MONA_LEFT_ANY)
        empty(w, order);
}
