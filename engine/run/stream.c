// SPDX-License-Identifier: Apache-2.0
/* Streams and events.
 *
 * A stream is a ring of commands and one thread that takes them in order. Two counters are its
 * state: `queued` commands were ever enqueued, `done` were ever finished. An event holds the stream
 * and the number of the command that reaches it: the event has happened once the stream has done
 * that many. If the port has no threads, a command runs inside the call that enqueues it. */
#include "mona.h"

#include "engine/run/device.h"
#include "engine/libc.h"
#include "engine/port/port.h"

enum { QUEUE = 64 };

typedef enum command_kind {
    COMMAND_COPY,
    COMMAND_RUN,
    COMMAND_CALL,
    COMMAND_RECORD,
    COMMAND_WAIT
} command_kind;

typedef struct command {
    command_kind kind;
    union {
        struct {
            uint8_t *dst;
            const uint8_t *src;
            ptrdiff_t dst_stride, src_stride;
            size_t row_bytes, rows;
        } copy;
        struct {
            const bool *wanted; /* NULL: always */
            mona_session *session;
            mona_buffer inputs[MONA_MAX_IO], outputs[MONA_MAX_IO];
            const mona_change *change;
        } run;
        struct {
            void (*function)(void *);
            void *argument;
        } call;
        struct {
            mona_stream *stream;
            uint64_t reached; /* value of done of that stream once the event has happened */
        } wait;
    };
} command;

struct mona_stream {
    mona_port_mutex mutex;
    mona_port_condition changed;
    mona_port_thread thread;
    uint64_t queued, done;
    mona_status status; /* of the first command that failed */
    uint64_t failed_at; /* number of that command, counted as `done` is */
    bool stop;
    command queue[QUEUE];
};

size_t mona_stream_bytes(void)
{
    return (sizeof(mona_stream) + MONA_ALIGNMENT - 1) / MONA_ALIGNMENT * MONA_ALIGNMENT;
}

/* Waits until the stream has done `count` commands; returns the first failure among them. */
static mona_status wait_done(mona_stream *s, uint64_t count)
{
    mona_port_lock(&s->mutex);
    while (s->done < count)
        mona_port_wait(&s->changed, &s->mutex);
    const mona_status status = s->failed_at <= count ? s->status : MONA_OK;
    mona_port_unlock(&s->mutex);
    return status;
}

static mona_status execute(const command *c)
{
    switch (c->kind) {
    case COMMAND_COPY:
        for (size_t y = 0; y < c->copy.rows; y++)
            memcpy(c->copy.dst + (ptrdiff_t)y * c->copy.dst_stride,
                   c->copy.src + (ptrdiff_t)y * c->copy.src_stride, c->copy.row_bytes);
        return MONA_OK;
    case COMMAND_RUN:
        if (c->run.wanted && !*c->run.wanted)
            return MONA_OK;
        return mona_session_run_changed(c->run.session, c->run.inputs, c->run.outputs,
                                        c->run.change);
    case COMMAND_CALL:
        c->call.function(c->call.argument);
        return MONA_OK;
    case COMMAND_RECORD:
        return MONA_OK;
    case COMMAND_WAIT:
        /* What a failed stream should have delivered is missing, so the failure is passed on. */
        return wait_done(c->wait.stream, c->wait.reached);
    }
    return MONA_ERR_STATE;
}

static void finish(mona_stream *s, mona_status status)
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
    mona_stream *s = argument;
    mona_port_lock(&s->mutex);
    for (;;) {
        while (s->done == s->queued && !s->stop)
            mona_port_wait(&s->changed, &s->mutex);
        if (s->done == s->queued)
            break;
        const command *c = &s->queue[s->done % QUEUE];
        const bool skip = s->status != MONA_OK;
        mona_port_unlock(&s->mutex);
        finish(s, skip ? MONA_OK : execute(c));
        mona_port_lock(&s->mutex);
    }
    mona_port_unlock(&s->mutex);
    return NULL;
}

mona_status mona_stream_open(mona_stream **stream, const mona_device *device, void *memory,
                             size_t bytes)
{
    if (!stream || !memory)
        return MONA_ERR_ARGUMENT;
    if (bytes < mona_stream_bytes() || (uintptr_t)memory % MONA_ALIGNMENT)
        return MONA_ERR_ARENA;
    if (device && !device->answers())
        return MONA_ERR_DEVICE;
    mona_stream *s = memory;
    memset(s, 0, sizeof *s);
    mona_port_mutex_init(&s->mutex);
    mona_port_condition_init(&s->changed);
    if (mona_port_has_threads() && !mona_port_thread_start(&s->thread, serve, s)) {
        mona_port_condition_destroy(&s->changed);
        mona_port_mutex_destroy(&s->mutex);
        return MONA_ERR_THREADS;
    }
    *stream = s;
    return MONA_OK;
}

/* Appends a command, waiting for a place if necessary. *number: value of the stream's `done` once
 * it has run. */
static mona_status enqueue(mona_stream *s, const command *c, uint64_t *number)
{
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
        finish(s, execute(c));
    return status;
}

mona_status mona_stream_copy(mona_stream *s, void *dst, ptrdiff_t dst_stride, const void *src,
                             ptrdiff_t src_stride, size_t row_bytes, size_t rows)
{
    if (!s || !dst || !src)
        return MONA_ERR_ARGUMENT;
    const command c = {.kind = COMMAND_COPY,
                       .copy = {dst, src, dst_stride, src_stride, row_bytes, rows}};
    return enqueue(s, &c, NULL);
}

static mona_status enqueue_run(mona_stream *s, const bool *wanted, mona_session *session,
                               const mona_buffer *inputs, const mona_buffer *outputs,
                               const mona_change *change)
{
    if (!s || !session || !inputs || !outputs)
        return MONA_ERR_ARGUMENT;
    command c = {.kind = COMMAND_RUN,
                 .run = {.wanted = wanted, .session = session, .change = change}};
    unsigned input_count, output_count;
    mona_session_io_count(session, &input_count, &output_count);
    memcpy(c.run.inputs, inputs, input_count * sizeof *inputs);
    memcpy(c.run.outputs, outputs, output_count * sizeof *outputs);
    return enqueue(s, &c, NULL);
}

mona_status mona_stream_run(mona_stream *s, mona_session *session, const mona_buffer *inputs,
                            const mona_buffer *outputs)
{
    return enqueue_run(s, NULL, session, inputs, outputs, NULL);
}

mona_status mona_stream_run_changed(mona_stream *s, mona_session *session,
                                    const mona_buffer *inputs, const mona_buffer *outputs,
                                    const mona_change *change)
{
    return enqueue_run(s, NULL, session, inputs, outputs, change);
}

mona_status mona_stream_run_if(mona_stream *s, const bool *wanted, mona_session *session,
                               const mona_buffer *inputs, const mona_buffer *outputs)
{
    return wanted ? enqueue_run(s, wanted, session, inputs, outputs, NULL) : MONA_ERR_ARGUMENT;
}

mona_status mona_stream_call(mona_stream *s, void (*function)(void *), void *argument)
{
    if (!s || !function)
        return MONA_ERR_ARGUMENT;
    const command c = {.kind = COMMAND_CALL, .call = {function, argument}};
    return enqueue(s, &c, NULL);
}

mona_status mona_stream_record(mona_stream *s, mona_event *event)
{
    if (!s || !event || (event->stream && event->stream != s))
        return MONA_ERR_ARGUMENT;
    const command c = {.kind = COMMAND_RECORD};
    uint64_t number = 0;
    const mona_status status = enqueue(s, &c, &number);
    if (!status)
        *event = (mona_event){s, number};
    return status;
}

mona_status mona_stream_wait(mona_stream *s, const mona_event *event)
{
    if (!s || !event)
        return MONA_ERR_ARGUMENT;
    /* An event that was never recorded delays nothing: it waits for command 0 of this stream. */
    mona_stream *recorded = event->stream ? event->stream : s;
    const command c = {.kind = COMMAND_WAIT, .wait = {recorded, event->reached}};
    return enqueue(s, &c, NULL);
}

mona_status mona_event_synchronize(const mona_event *event)
{
    if (!event)
        return MONA_ERR_ARGUMENT;
    return event->stream ? wait_done(event->stream, event->reached) : MONA_OK;
}

mona_status mona_stream_synchronize(mona_stream *s)
{
    if (!s)
        return MONA_ERR_ARGUMENT;
    /* Only the thread that feeds the stream changes `queued`, and the caller is that thread. */
    return wait_done(s, s->queued);
}

void mona_stream_close(mona_stream *s)
{
    if (!s)
        return;
    mona_port_lock(&s->mutex);
    s->stop = true;
    mona_port_broadcast(&s->changed);
    mona_port_unlock(&s->mutex);
    if (mona_port_has_threads())
        mona_port_thread_join(&s->thread);
    mona_port_condition_destroy(&s->changed);
    mona_port_mutex_destroy(&s->mutex);
}
