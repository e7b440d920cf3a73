// SPDX-License-Identifier: Apache-2.0
/* Frames in slices: see mona.h.
 *
 * The schedule is that of a whole frame on one core, in pieces after each of which it may pause: a
 * row of an operator, a row or a channel block of one that works on whole maps, an item of one on
 * arrays or PIECE_ELEMENTS where elements are the items, or clearing the padding of a unit. What
 * has been reached is in the session (step, line_position) and in the progress of the group's
 * operators. */
#include "engine/run/session.h"

/* The work of an operator is in mona_ops, which would link all of them. */
enum { PIECE_ELEMENTS = 256 };

static void begin_unit(mona_session *s)
{
    const plan_group *g = s->step.group;
    s->line_position = mona_session_begin_unit(&s->workers[0], g, 0, mona_schedule_rows(g, 0),
                                               mona_schedule_columns(s->plan, g, s->step.tile));
    s->step.op = g->last;
}

static void begin_group(mona_session *s, const plan_group *g)
{
    s->step.group = g;
    s->step.tile = s->step.share = 0;
    if (g && !g->whole_maps)
        begin_unit(s);
}

/* Pieces of an operator on whole maps or arrays. */
static uint32_t shares_of(const mona_plan *plan, const plan_group *g)
{
    const plan_op *op = &plan->ops[g->first];
    if (!op->bound.run->array)
        return g->by_channels ? mona_plan_blocks(op) : op->bound.output.height;
    const uint64_t items = mona_array_items(&op->bound);
    const uint64_t shares = op->bound.run->items ? items : items / PIECE_ELEMENTS;
    return (uint32_t)(shares ? shares < UINT32_MAX ? shares : UINT32_MAX : 1);
}

static void run_share(mona_session *s)
{
    plan_group shared = *s->step.group;
    shared.parts = shares_of(s->plan, s->step.group);
    mona_session_run_map(&s->workers[0], &shared, s->step.share++);
    if (s->step.share >= shared.parts)
        begin_group(s, mona_plan_next_group(s->plan, s->step.group));
}

/* The next row of the strip. False: the strip is complete. */
static bool run_row(mona_session *s)
{
    plan_progress *progress = mona_session_progress(&s->workers[0]);
    for (; s->step.op < s->step.group->last; s->step.op++) {
        plan_progress *p = &progress[s->step.op];
        const int64_t need = p->need;
        if (p->next >= need || mona_plan_is_idle(s->plan, s->step.op))
            continue;
        p->need = p->next + 1;
        mona_session_run_rows(&s->workers[0], s->step.op, progress);
        p->need = need;
        return true;
    }
    return false;
}

/* Aims at the next strip, or begins the next tile or group. */
static void next_strip(mona_session *s)
{
    const plan_group *g = s->step.group;
    const int64_t end = mona_schedule_rows(g, 0).end, next = s->line_position + s->plan->strip_rows;
    if (s->line_position < end) {
        s->line_position = next < end ? next : end;
        s->step.op = g->first;
        mona_schedule_strip(s->plan, g, s->line_position, mona_session_progress(&s->workers[0]));
    } else if (++s->step.tile < g->tiles)
        begin_unit(s);
    else
        begin_group(s, mona_plan_next_group(s->plan, g));
}

static void run_piece(mona_session *s)
{
    if (s->step.group->whole_maps)
        run_share(s);
    else if (!run_row(s))
        next_strip(s);
}

mona_status mona_session_step(mona_session *s, const mona_buffer *inputs,
                              const mona_buffer *outputs, const mona_slice *slice, bool *done)
{
    if (!s || !inputs || !outputs || !slice || !slice->now || !done ||
        !mona_session_takes_all(s->plan, inputs, outputs))
        return MONA_ERR_ARGUMENT;
    if (s->plan->crew || mona_plan_on_ai_core(s->plan))
        return MONA_ERR_UNSUPPORTED;
    const uint32_t begin = slice->now(slice->context);
    s->inputs = inputs;
    s->outputs = outputs;
    if (!s->step.group) {
        mona_session_drop_lines(s);
        begin_group(s, mona_plan_first_group(s->plan));
    }
    do
        run_piece(s);
    while (s->step.group && slice->now(slice->context) - begin < slice->budget);
    *done = !s->step.group;
    return MONA_OK;
}
