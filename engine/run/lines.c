// SPDX-License-Identifier: Apache-2.0
/* Frames that pass line by line: see mona.h, and engine/layout/find_lines.c for when that is
 * possible.
 *
 * The schedule is that of a whole frame in strips of a line. It pauses only when the LOADs lack
 * rows that the next strip needs. A line that is pushed is loaded at once, so it need not be kept;
 * a strip that ends below the top of the frame writes exactly one line of every output.
 *
 * Where padding alone is above the picture, the first strips need no line. They run after the
 * first line all the same, as that begins the frame: no LOAD has read one then, so the rings
 * have room. The last strips may need no more lines; those that remain are pushed when all have
 * been pulled. */
#include "engine/run/session.h"

static bool has_begun(const mona_session *s)
{
    return s->pushed || s->pulled;
}

/* Sets what the operators need for the next strip. */
static void aim(mona_session *s, int64_t position)
{
    const plan_group *g = mona_plan_first_group(s->plan);
    s->line_position = position + mona_line_rows(g, s->plan->lines.count);
    mona_schedule_strip(s->plan, g, s->line_position, mona_session_progress(&s->workers[0]));
}

/* Whether the next strip can run. */
static bool is_ready(const mona_session *s)
{
    const plan_group *g = mona_plan_first_group(s->plan);
    const plan_progress *progress = mona_session_progress(&s->workers[0]);
    if (s->pulled == s->plan->lines.count)
        return false;
    for (uint32_t o = g->first; o < g->last; o++)
        if (s->plan->ops[o].bound.run->reads_planes && progress[o].next < progress[o].need)
            return false;
    return true;
}

static void begin(mona_session *s)
{
    mona_session_drop_lines(s);
    const plan_group *g = mona_plan_first_group(s->plan);
    const int64_t start = mona_session_begin_unit(&s->workers[0], g, 0, mona_schedule_rows(g, 0),
                                                  mona_schedule_columns(s->plan, g, 0));
    aim(s, mona_line_start(start, mona_line_rows(g, s->plan->lines.count)));
}

/* Runs the strips above the top of the frame, which only fill the rings. */
static void fill(mona_session *s)
{
    while (s->line_position <= 0 && is_ready(s)) {
        session_strip(&s->workers[0], mona_plan_first_group(s->plan),
                      mona_session_progress(&s->workers[0]));
        aim(s, s->line_position);
    }
}

/* Buffers of whole frames whose line `line` lies where the given ones do. Rows before it are never
 * touched; they need not exist, so the addresses are computed as integers. */
static const mona_buffer *from_line(const mona_session *s, uint32_t line, const mona_buffer *lines,
                                    uint32_t first_tensor, uint32_t count,
                                    mona_buffer frame[MONA_MAX_IO])
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t rows = s->plan->shapes[first_tensor + i].height / s->plan->lines.count;
        const ptrdiff_t before = (ptrdiff_t)(line * rows) * lines[i].row_stride;
        frame[i] = lines[i];
        frame[i].data = (void *)((uintptr_t)lines[i].data - (uintptr_t)before);
    }
    return frame;
}

/* Loads the rows of the line that was pushed last. */
static void load(mona_session *s)
{
    const mona_plan *plan = s->plan;
    const plan_group *all = mona_plan_first_group(plan);
    plan_progress *progress = mona_session_progress(&s->workers[0]);
    for (uint32_t o = all->first; o < all->last; o++) {
        const plan_group load = {.first = o, .last = o + 1};
        plan_progress *p = &progress[o];
        const int64_t need = p->need, rows = plan->ops[o].bound.output.height / plan->lines.count;
        if (!plan->ops[o].bound.run->reads_planes)
            continue;
        p->need = clip_to(s->pushed * rows, p->begin, p->end);
        session_strip(&s->workers[0], &load, progress);
        p->need = need;
    }
}

/* Ends the frame once all of its lines have passed. */
static void end(mona_session *s)
{
    if (s->pulled == s->plan->lines.count && s->pushed == s->plan->lines.count)
        mona_session_drop_lines(s);
}

mona_status mona_session_push_line(mona_session *s, const mona_buffer *inputs)
{
    mona_buffer frame[MONA_MAX_IO];
    if (!s || !inputs || !mona_session_takes_all(s->plan, inputs, NULL))
        return MONA_ERR_ARGUMENT;
    if (!s->plan->lines.count)
        return MONA_ERR_UNSUPPORTED;
    if (!has_begun(s)) {
        begin(s);
        fill(s);
    } else if (s->pushed == s->plan->lines.count || is_ready(s))
        return MONA_ERR_STATE;
    s->inputs = from_line(s, s->pushed, inputs, 0, s->plan->model.header->input_count, frame);
    s->pushed++;
    load(s);
    fill(s);
    end(s);
    return MONA_OK;
}

mona_status mona_session_pull_line(mona_session *s, const mona_buffer *outputs, bool *ready)
{
    mona_buffer frame[MONA_MAX_IO];
    if (!s || !outputs || !ready || !mona_session_takes_all(s->plan, NULL, outputs))
        return MONA_ERR_ARGUMENT;
    if (!s->plan->lines.count)
        return MONA_ERR_UNSUPPORTED;
    const mona_file_header *h = s->plan->model.header;
    *ready = has_begun(s) && is_ready(s);
    if (!*ready)
        return MONA_OK;
    s->outputs = from_line(s, s->pulled, outputs, h->input_count, h->output_count, frame);
    session_strip(&s->workers[0], mona_plan_first_group(s->plan),
                  mona_session_progress(&s->workers[0]));
    s->pulled++;
    if (s->pulled < s->plan->lines.count)
        aim(s, s->line_position);
    end(s);
    return MONA_OK;
}
