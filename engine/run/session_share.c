// SPDX-License-Identifier: Apache-2.0
/* How cores share the work of a run, group by group.
 *
 * A group is divided into bands of rows, one for each core, and a band into tiles and strips.
 * Strips are numbered over the whole group. A core takes those of its own band one by one; when
 * none are left it takes over a band that nobody has begun, or half of what another core has left,
 * from which it starts as at the start of a band. So a core that comes late, or never, or is
 * interrupted, delays the others by at most a strip and a part not worth dividing. If rows of a
 * tile cannot be computed separately, or there are fewer rows than cores, a tile counts as one
 * strip.
 *
 * Cores hold a pin while they look for strips or compute them, and the last one to release it
 * begins the next group. None can begin or end while any core holds one. */
#include "engine/run/session.h"

enum {
    /* How often a core polls before it sleeps until the others have ended their group: 0.05 ms at
     * 4 GHz, about as long as waking it takes. A transformer of 100 groups takes 0.94 of the time
     * on two cores that it takes with 1 << 14. With 1 << 18 it takes 0.92, but more where other
     * work wants the cores, and four streams take 5 % more time of processors. */
    LOOKS = 1 << 17,
};

/* ---- strips ---------------------------------------------------------------------------------- */

/* Strips [begin, end) that nobody has taken. As a strip is taken only once, a value never recurs
 * while the group lasts. */
static uint32_t left(uint32_t begin, uint32_t end)
{
    return begin < end ? end << 16 | begin : 0;
}

static uint32_t strips_of_tile(const mona_plan *plan, const plan_group *g)
{
    return ceil_div_u32(ceil_div_u32(g->grid_height, g->parts), plan->strip_rows);
}

/* Sets how a group is divided. Taking half of the rest is worth it if it has more rows than
 * starting costs: up to all rows that a row depends on. */
static void divide(mona_session *s, const plan_group *g)
{
    const mona_plan *plan = s->plan;
    const uint32_t tile = strips_of_tile(plan, g);
    uint32_t rows = 1;
    for (uint32_t i = 0; i < plan->model.header->input_count && plan->parts; i++) {
        const plan_reach *r = &plan->reach[i];
        const int64_t depends = (r->above + r->below) * g->grid_height / plan->shapes[i].height;
        rows = depends > rows ? (uint32_t)depends : rows;
    }
    s->group = g;
    s->worth = 2 * ceil_div_u32(rows, plan->strip_rows) + 2;
    s->strips = plan->parts && !s->change && g->parts == plan->cores &&
                        (uint64_t)tile * g->tiles * g->parts < MAX_STRIPS
                    ? tile * g->tiles
                    : 1;
    const uint32_t all = s->strips > 1 ? s->strips * g->parts : mona_session_shares(s, g);
    for (uint32_t i = 0; i < plan->cores; i++)
        atomic_store(&s->workers[i].left, left(ceil_div_u32(all * i, plan->cores),
                                               ceil_div_u32(all * (i + 1), plan->cores)));
}

/* The next of a core's own strips. */
static bool take(worker *w, uint32_t *strip)
{
    uint32_t now = atomic_load(&w->left);
    do
        *strip = now & 0xffff;
    while (now && !atomic_compare_exchange_weak(&w->left, &now, left(*strip + 1, now >> 16)));
    return now;
}

/* Takes strips over from the core that has most left. */
static bool take_over(worker *w)
{
    const mona_session *s = w->session;
    worker *from = w;
    uint32_t most = 0, now = 0;
    for (uint32_t i = 0; i < s->plan->cores; i++) {
        const uint32_t seen = atomic_load(&s->workers[i].left);
        const uint32_t begin = seen & 0xffff, count = (seen >> 16) - begin;
        if (seen && count > most && (begin % s->strips == 0 || count >= s->worth)) {
            from = &s->workers[i];
            most = count;
            now = seen;
        }
    }
    const uint32_t begin = now & 0xffff, end = now >> 16;
    const uint32_t middle = begin % s->strips ? begin + most / 2 : begin;
    if (most && atomic_compare_exchange_strong(&from->left, &now, left(begin, middle)))
        atomic_store(&w->left, left(middle, end));
    return most;
}

/* Computes a core's own strips. */
static void run_strips(worker *w, const plan_group *g)
{
    const mona_plan *plan = w->session->plan;
    const uint32_t strips = w->session->strips, tile = strips / g->tiles;
    int64_t position = 0;
    for (uint32_t strip, next = MAX_STRIPS; take(w, &strip); next = strip + 1) {
        const uint32_t band = strip / strips, in_tile = strip % tile;
        mona_span rows = mona_schedule_rows(g, band);
        rows.begin += (int64_t)in_tile * plan->strip_rows;
        if (rows.begin >= rows.end)
            continue;
        if (strip != next || !in_tile)
            position = mona_session_begin_unit(
                w, g, band, rows, mona_schedule_columns(plan, g, strip % strips / tile));
        const int64_t end = rows.begin + plan->strip_rows;
        mona_session_run_until(w, g, position, end < rows.end ? end : rows.end);
        position = end;
    }
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void run_shares(worker *w, const plan_group *g)
{
    uint32_t share;
    while (take(w, &share))
        mona_session_run_share(w, g, share);
}

static bool pin(mona_session *s)
{
    uint32_t pins = atomic_load(&s->pins);
    while (pins && !atomic_compare_exchange_weak(&s->pins, &pins, pins + 1))
        ;
    return pins;
}

/* The group is open to cores that find it; waiting ones are notified. Outside the lock, as they
 * would only block on it. */
static void announce(mona_session *s, uint32_t turn, bool invites)
{
    atomic_fetch_add(&s->turn, turn);
    mona_port_lock(&s->mutex); /* no core is between its last poll and its sleep */
    mona_port_unlock(&s->mutex);
    mona_port_broadcast(&s->changed);
    if (invites)
        mona_port_pool_invite(&s->job);
}

/* Ends a group and begins the next one. False: there is none. */
static bool begin_next(mona_session *s)
{
    const plan_group *next = mona_plan_next_group(s->plan, s->group);
    if (next)
        divide(s, next);
    else
        s->group = NULL;
    atomic_store(&s->pins, next ? 1 : 0);
    announce(s, next ? 2 : 1, next && mona_session_shares(s, next) > 1);
    return next;
}

/* Computes while there is something to take. The caller has a pin. */
static void work(worker *w)
{
    mona_session *s = w->session;
    do {
        do
            if (s->strips > 1)
                run_strips(w, s->group);
            else
                run_shares(w, s->group);
        while (take_over(w));
    } while (atomic_fetch_sub(&s->pins, 1) == 1 && begin_next(s));
}

/* Waits until a group has ended since `turn`. False: it has not, and threads of the pool may find
 * something better to do. */
static bool wait_for(worker *w, uint32_t turn)
{
    mona_session *s = w->session;
    for (uint32_t i = 0; i < LOOKS; i++)
        if (atomic_load(&s->turn) != turn)
            return true;
    if (w->index)
        return false;
    mona_port_lock(&s->mutex);
    while (atomic_load(&s->turn) == turn)
        mona_port_wait(&s->changed, &s->mutex);
    mona_port_unlock(&s->mutex);
    return true;
}

static void take_part(worker *w)
{
    mona_session *s = w->session;
    for (;;) {
        const uint32_t turn = atomic_load(&s->turn);
        if (!(turn & 1))
            return;
        if (pin(s))
            work(w);
        if (!wait_for(w, turn))
            return;
    }
}

static void visit(mona_port_job *job, unsigned seat)
{
    mona_session *s =
        (mona_session *)(void *)((uint8_t *)(void *)job - offsetof(mona_session, job));
    take_part(&s->workers[seat + 1]);
}

/* ---- a crew ---------------------------------------------------------------------------------- */

static void close_crew(mona_session *s)
{
    mona_port_pool_remove(&s->job);
    mona_port_condition_destroy(&s->changed);
    mona_port_mutex_destroy(&s->mutex);
}

static mona_status open_crew(mona_session *s)
{
    s->job = (mona_port_job){.work = visit, .seats = s->plan->cores - 1};
    if (!mona_port_pool_add(&s->job))
        return MONA_ERR_THREADS;
    mona_port_mutex_init(&s->mutex);
    mona_port_condition_init(&s->changed);
    return MONA_OK;
}

static void run_crew(mona_session *s)
{
    const plan_group *first = mona_plan_first_group(s->plan);
    divide(s, first);
    atomic_store(&s->pins, 1);
    announce(s, 1, mona_session_shares(s, first) > 1);
    work(&s->workers[0]);
    take_part(&s->workers[0]);
}

const mona_crew mona_threads = {open_crew, run_crew, close_crew};
