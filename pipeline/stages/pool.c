// SPDX-License-Identifier: Apache-2.0
/* A pool has a thread for each lane of each chip. A frame waits in the pool from when the entry
 * stream has reached it, so that nothing a lane takes depends on a later frame; lanes take the
 * oldest that waits. */
#include "pipeline/stages/pool.h"

#include <stdlib.h>
#include <string.h>

/* ---- lanes ----------------------------------------------------------------------------------- */

/* Under the lock. The oldest frame that waits, if there are some for the chips that have fewer in
 * work besides; else NULL. */
static pool_frame *find(pool *p, unsigned chip)
{
    pool_frame *oldest = NULL;
    unsigned waiting = 0, others = 0;
    for (unsigned i = 0; i < p->count; i++)
        others += !p->states[i].failed && p->states[i].busy < p->states[chip].busy;
    for (uint64_t n = p->passed; n < p->entered && waiting <= others; n++)
        if (p->frames[n % POOL_SLOTS].state == POOL_WAITS) {
            oldest = oldest ? oldest : &p->frames[n % POOL_SLOTS];
            waiting++;
        }
    return waiting > others ? oldest : NULL;
}

/* NULL: the chip gets no more. */
static pool_frame *take(pool *p, unsigned chip)
{
    pool_frame *f = NULL;
    pthread_mutex_lock(&p->lock);
    while (!p->stop && !p->states[chip].failed && !(f = find(p, chip)))
        pthread_cond_wait(&p->changed, &p->lock);
    if (p->stop || p->states[chip].failed)
        f = NULL;
    if (f) {
        f->state = POOL_TAKEN;
        p->states[chip].busy++;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return f;
}

/* Under the lock. */
static void leave_out(pool *p, unsigned chip, mona_status status)
{
    const mona_device *device = p->chips[chip].device;
    mona_device_properties d;
    if (p->states[chip].failed)
        return;
    p->states[chip].failed = true;
    p->working--;
    p->status = status;
    if (p->working && !mona_device_query(device, &d))
        pipeline_note(&session_binding_rules.notes,
                      "%s:%u is left out of %s, and its frames are computed again elsewhere: %s",
                      d.name, mona_device_number(device), p->name,
                      pipeline_reason_of(device, status));
}

static void give(pool *p, pool_frame *f, unsigned chip, mona_status status)
{
    pthread_mutex_lock(&p->lock);
    p->states[chip].busy--;
    f->state = status ? POOL_WAITS : POOL_DONE;
    if (status)
        leave_out(p, chip, status);
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static void *serve(void *argument)
{
    const pool_lane *l = argument;
    pool *p = l->pool;
    for (pool_frame *f; (f = take(p, l->chip));)
        give(p, f, l->chip, chip_run(&p->chips[l->chip], l->lane, f->inputs, f->outputs));
    return NULL;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool allocate(pool *p, const device_set *devices, const char *name, pipeline_error *error)
{
    *p = (pool){.name = name, .count = devices->count};
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    p->chips = session_binding_allocate(p->count * sizeof *p->chips);
    p->states = calloc(p->count, sizeof *p->states);
    p->lanes = calloc(p->count * CHIP_OM_LANES, sizeof *p->lanes);
    p->working = p->count;
    for (unsigned i = 0; i < POOL_SLOTS; i++)
        p->frames[i].pool = p;
    return (p->chips && p->states && p->lanes) || pipeline_fail(error, "out of memory");
}

static bool start(pool *p, pipeline_error *error)
{
    for (unsigned lane = 0; lane < CHIP_OM_LANES; lane++)
        for (unsigned i = 0; i < p->count; i++)
            if (lane < p->chips[i].lanes)
                p->lanes[p->lane_count++] = (pool_lane){.pool = p, .chip = i, .lane = lane};
    for (; p->started < p->lane_count; p->started++)
        if (pthread_create(&p->lanes[p->started].thread, NULL, serve, &p->lanes[p->started]))
            return pipeline_fail(error, "a thread cannot be started");
    return true;
}

bool pool_open(pool *p, const device_set *devices, const session_binding *first,
               const mona_config *config, const char *name, pipeline_error *error)
{
    if (!allocate(p, devices, name, error))
        return false;
    for (unsigned i = 0; i < p->count; i++) {
        mona_config of_chip = *config;
        of_chip.device = devices->at[i];
        if (!chip_open(&p->chips[i], first, i ? &of_chip : NULL, name, error))
            return false;
    }
    return start(p, error);
}

bool pool_open_om(pool *p, const device_set *devices, const named_model *model, mona_size size,
                  unsigned *scale, pipeline_error *error)
{
    if (!allocate(p, devices, model->name, error))
        return false;
    for (unsigned i = 0; i < p->count; i++)
        if (!chip_open_om(&p->chips[i], devices->at[i], model, size, scale, error))
            return false;
    return start(p, error);
}

bool pool_is_wanted(const device_set *devices, const session_binding *first)
{
    return first->device == devices->at[0] &&
           (devices->count > 1 || (device_is_ascend(first->device) && chip_copies(first)));
}

bool pool_is_open(const pool *p)
{
    return p->lane_count;
}

/* With one more for each of several chips they need not end in order. */
unsigned pool_frames(const pool *p)
{
    return p->lane_count + (p->count > 1 ? p->count : 0);
}

size_t pool_bytes(const pool *p)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < p->count; i++)
        bytes += session_binding_bytes(&p->chips[i].own);
    return bytes;
}

void pool_close(pool *p)
{
    if (!p->count)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->started; i++)
        pthread_join(p->lanes[i].thread, NULL);
    for (unsigned i = 0; p->chips && i < p->count; i++)
        chip_close(&p->chips[i]);
    free(p->chips);
    free(p->states);
    free(p->lanes);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    *p = (pool){0};
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* On the entry stream. */
static void enter(void *argument)
{
    pool_frame *f = argument;
    pool *p = f->pool;
    pthread_mutex_lock(&p->lock);
    f->state = f->wanted && !*f->wanted ? POOL_DONE : POOL_WAITS;
    p->entered = f->number + 1;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

/* On the stage's stream, after the frame entered. */
static mona_status collect(void *argument)
{
    pool_frame *f = argument;
    pool *p = f->pool;
    pthread_mutex_lock(&p->lock);
    while (f->state != POOL_DONE && p->working)
        pthread_cond_wait(&p->changed, &p->lock);
    const mona_status status = f->state == POOL_DONE ? MONA_OK : p->status;
    p->passed = f->number + 1;
    pthread_mutex_unlock(&p->lock);
    return status;
}

mona_status pool_enqueue(pool *p, mona_stream *entry, mona_stream *stream, const bool *wanted,
                         const mona_buffer *inputs, const mona_buffer *outputs)
{
    const uint64_t number = p->enqueued++;
    pool_frame *f = &p->frames[number % POOL_SLOTS];
    f->number = number;
    f->wanted = wanted;
    const chip *c = &p->chips[0];
    memcpy(f->inputs, inputs, c->inputs * sizeof *inputs);
    memcpy(f->outputs, outputs, c->outputs * sizeof *outputs);
    mona_status status = mona_stream_call(entry, enter, f);
    if (!status)
        status = mona_stream_record(entry, &f->entered);
    if (!status)
        status = mona_stream_wait(stream, &f->entered);
    return status ? status : mona_stream_try(stream, collect, f);
}
