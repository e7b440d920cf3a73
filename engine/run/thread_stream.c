// SPDX-License-Identifier: Apache-2.0
/* A stream as a host thread.
 *
 * A stream is a ring of commands and one thread that takes them in order. Its state is two
 * counters: of commands ever enqueued, `queued`, and ever finished, `done`. An event keeps the
 * number of its record among the commands: it is reached once the stream has done that many. If the
 * port has no threads, a command runs inside the call that enqueues it. */
#include "engine/run/device.h"

#include "engine/port/port.h"

enum { QUEUE = 512 }; /* eight chips have 40 frames in work, each with a dozen commands */

typedef enum command_kind {
    COMMAND_COPY,
    COMMAND_RUN,
    COMMAND_CALL,
    COMMAND_TRY,
    COMMAND_RECORD,
    COMMAND_WAIT
} command_kind;

typedef struct command {
    command_kind kind;
    union {
        mona_copy copy;
        mona_run run;
        struct {
            void (*function)(void *);
            void *argument;
        } call;
        struct {
            mona_status (*function)(void *);
            void *argument;
        } attempt;
        mona_event wait;
    };
} command;

typedef struct thread_stream {
    mona_stream head;
    mona_port_mutex mutex;
    mona_port_condition changed;
    mona_port_thread thread;
    uint64_t queued, done;
    mona_status status; /* of the first command that failed */
    uint64_t failed_at; /* number of that command, counted as `done` is */
    bool stop;
    command queue[QUEUE];
} thread_stream;

/* The head is the first member. */
static thread_stream *of(mona_stream *stream)
{
    return (thread_stream *)(void *)stream;
}

size_t mona_stream_bytes(void)
{
    return (sizeof(thread_stream) + MONA_ALIGNMENT - 1) / MONA_ALIGNMENT * MONA_ALIGNMENT;
}

/* Waits until the stream has done `count` commands, at most all so far. */
static mona_status synchronize(mona_stream *stream, uint64_t count)
{
    thread_stream *s = of(stream);
    mona_port_lock(&s->mutex);
    if (count > s->queued)
        count = s->queued;
    while (s->done < count)
        mona_port_wait(&s->changed, &s->mutex);
    const mona_status status = s->failed_at <= count ? s->status : MONA_OK;
    mona_port_unlock(&s->mutex);
    return status;
}

static mona_status execute(const mona_device *device, const command *c)
{
    const mona_run *run = &c->run;
    switch (c->kind) {
    case COMMAND_COPY:
        return mona_copy_now(device, &c->copy);
    case COMMAND_RUN:
        return run->wanted && !*run->wanted
                   ? MONA_OK
                   : mona_session_run_changed(run->session, run->inputs, run->outputs, run->change);
    case COMMAND_CALL:
        c->call.function(c->call.argument);
        return MONA_OK;
    case COMMAND_TRY:
        return c->attempt.function(c->attempt.argument);
    case COMMAND_RECORD:
        return MONA_OK;
    case COMMAND_WAIT:
        /* A failed stream's results are missing, so the failure is passed on. */
        return mona_event_synchronize(&c->wait);
    }
    return MONA_ERR_STATE;
}

static void finish(thread_stream *s, mona_status status)
{
    mona_port_lock(&s->mutex);
    s->done++;
    if (!s->status && status) {
        s->status = status;
        s->failed_at = s->done;
    }
    mona_port_broadcast(&s->changed);
    mona_port_unlock(&s->mutex);
}

static void *serve(void *argument)
{
    thread_stream *s = argument;
    mona_port_lock(&s->mutex);
    for (;;) {
        while (s->done == s->queued && !s->stop)
            mona_port_wait(&s->changed, &s->mutex);
        if (s->done == s->queued)
            break;
        const command *c = &s->queue[s->done % QUEUE];
        const bool skip = s->status != MONA_OK;
        mona_port_unlock(&s->mutex);
        finish(s, skip ? MONA_OK : execute(s->head.device, c));
        mona_port_lock(&s->mutex);
    }
    mona_port_unlock(&s->mutex);
    return NULL;
}

static mona_status open_stream(mona_stream *stream)
{
    thread_stream *s = of(stream);
    mona_port_mutex_init(&s->mutex);
    mona_port_condition_init(&s->changed);
    if (!mona_port_has_threads() || mona_port_thread_start(&s->thread, serve, s))
        return MONA_OK;
    mona_port_condition_destroy(&s->changed);
    mona_port_mutex_destroy(&s->mutex);
    return MONA_ERR_THREADS;
}

/* Appends a command, waiting for a place if necessary. *number: value of the stream's `done` once
 * it has run. */
static mona_status enqueue(mona_stream *stream, const command *c, uint64_t *number)
{
    thread_stream *s = of(stream);
    mona_port_lock(&s->mutex);
    while (!s->status && s->queued - s->done == QUEUE)
        mona_port_wait(&s->changed, &s->mutex);
    const mona_status status = s->status;
    if (!status) {
        s->queue[s->queued % QUEUE] = *c;
        s->queued++;
        if (number)
            *number = s->queued;
        mona_port_broadcast(&s->changed);
    }
    mona_port_unlock(&s->mutex);
    if (!status && !mona_port_has_threads())
        finish(s, execute(s->head.device, c));
    return status;
}

static mona_status enqueue_copy(mona_stream *s, const mona_copy *copy)
{
    return enqueue(s, &(command){.kind = COMMAND_COPY, .copy = *copy}, NULL);
}

static mona_status enqueue_run(mona_stream *s, const mona_run *run)
{
    return enqueue(s, &(command){.kind = COMMAND_RUN, .run = *run}, NULL);
}

static mona_status enqueue_try(mona_stream *s, mona_status (*function)(void *), void *argument)
{
    return enqueue(s, &(command){.kind = COMMAND_TRY, .attempt = {function, argument}}, NULL);
}

static mona_status enqueue_call(mona_stream *s, void (*function)(void *), void *argument)
{
    return enqueue(s, &(command){.kind = COMMAND_CALL, .call = {function, argument}}, NULL);
}

static mona_status enqueue_record(mona_stream *s, uint64_t *reached)
{
    return enqueue(s, &(command){.kind = COMMAND_RECORD}, reached);
}

static mona_status enqueue_wait(mona_stream *s, const mona_event *event)
{
    return enqueue(s, &(command){.kind = COMMAND_WAIT, .wait = *event}, NULL);
}

static void close_stream(mona_stream *stream)
{
    thread_stream *s = of(stream);
    mona_port_lock(&s->mutex);
    s->stop = true;
    mona_port_broadcast(&s->changed);
    mona_port_unlock(&s->mutex);
    if (mona_port_has_threads())
        mona_port_thread_join(&s->thread);
    mona_port_condition_destroy(&s->changed);
    mona_port_mutex_destroy(&s->mutex);
}

const mona_stream_class mona_thread_streams = {
    .open = open_stream,
    .copy = enqueue_copy,
    .run = enqueue_run,
    .call = enqueue_call,
    .attempt = enqueue_try,
    .record = enqueue_record,
    .wait = enqueue_wait,
    .synchronize = synchronize,
    .close = close_stream,
};
