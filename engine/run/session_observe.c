// SPDX-License-Identifier: Apache-2.0
/* A session that is observed. It calls the same functions that compute rows for every session, and
 * reads the caller's clock between them. A session that is not observed never gets here, and a
 * program that observes none is linked without this file. */
#include "engine/run/session.h"

#ifdef MONA_NO_OBSERVER

mona_status mona_session_observe_ops(mona_session *s, const mona_op_observer *observer)
{
    return !s ? MONA_ERR_ARGUMENT : observer ? MONA_ERR_UNSUPPORTED : MONA_OK;
}

#else

/* An operator begins when the one before it ends, so each takes one reading of the clock, and those
 * that have nothing to do take none. */
static void run_strip_observed(worker *w, const plan_group *g, plan_progress *progress)
{
    const mona_op_observer *observer = &w->session->observer;
    mona_op_event event = {.core = w->index, .end = observer->now(observer->context)};
    for (uint32_t o = g->first; o < g->last; o++) {
        const int64_t before = progress[o].next;
        mona_session_run_rows(w, o, progress);
        if (progress[o].next == before)
            continue;
        event.op = o;
        event.rows = (uint32_t)(progress[o].next - before);
        event.begin = event.end;
        event.end = observer->now(observer->context);
        observer->done(observer->context, &event);
    }
}

static void run_map_observed(worker *w, const plan_group *g, uint32_t share)
{
    const mona_op_observer *observer = &w->session->observer;
    const uint32_t height = w->session->plan->ops[g->first].bound.output.height;
    mona_op_event event = {.op = g->first, .core = w->index};
    event.rows = g->by_channels ? height
                                : (uint32_t)((uint64_t)height * (share + 1) / g->parts -
                                             (uint64_t)height * share / g->parts);
    event.begin = observer->now(observer->context);
    mona_session_run_map(w, g, share);
    event.end = observer->now(observer->context);
    observer->done(observer->context, &event);
}

mona_status mona_session_observe_ops(mona_session *s, const mona_op_observer *observer)
{
    if (!s || (observer && (!observer->now || !observer->done)))
        return MONA_ERR_ARGUMENT;
    session_unobserved(s);
    if (observer) {
        s->observer = *observer;
        s->run_strip = run_strip_observed;
        s->run_map = run_map_observed;
    }
    return MONA_OK;
}

#endif
