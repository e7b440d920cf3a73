// SPDX-License-Identifier: Apache-2.0
/* Streams and events of any device.
 *
 * A stream is a ring of commands and one thread that takes them in order. Its state is two
 * counters: of commands ever enqueued, `queued`, and ever finished, `done`. An event keeps the
 * number of its record among the commands: it is reached once the stream has done that many. If the
 * port has no threads, a command runs inside the call that enqueues it. */
#include "engine/run/device.h"

#include "engine/libc.h"
#include "engine/port/port.h"

enum { QUEUE = 512 }; /* eight chips have 40 frames in work, each with a dozen commands */

/* wanted: NULL or read, as *change is, when the run begins. */
typedef struct run {
    mona_session *session;
    const bool *wanted;
    const mona_change *change;
    mona_buffer inputs[MONA_MAX_IO], outputs[MONA_MAX_IO];
} run;

typedef struct command {
    enum {
        COMMAND_COPY,
        COMMAND_RUN,
        COMMAND_CALL,
        COMMAND_TRY,
        COMMAND_RECORD,
        COMMAND_WAIT
    } kind;
    union {
        mona_copy copy;
        run run;
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

struct mona_stream {
    const mona_device *device; /* NULL: the host */
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

/* ---- its thread ------------------------------------------------------------------------------ */

/* Waits until the stream has done `count` commands, at most all so far. */
static mona_status synchronize(mona_stream *s, uint64_t count)
{
    mona_port_lock(&s->mutex);
    if (count > s->queued)
        count = s->queued;
    while (s->done < count)
        mona_port_wait(&s->changed, &s->mutex);
    const mona_status status = s->failed_at <= count ? s->status : MONA_OK;
    mona_port_unlock(&s->mutex);
    return status;
}

/* Copies in the caller's thread. device NULL: the host. */
static mona_status copy_now(const mona_device *device, const mona_copy *c)
{
    if (c->direction != MONA_ON_HOST && device && device->copy)
        return device->copy(device, c);
    for (size_t y = 0; y < c->rows; y++)
        memcpy(c->dst + (ptrdiff_t)y * c->dst_stride, c->src + (ptrdiff_t)y * c->src_stride,
               c->row_bytes);
    return MONA_OK;
}

static mona_status execute(const mona_device *device, const command *c)
{
    const run *run = &c->run;
    switch (c->kind) {
    case COMMAND_COPY:
        return copy_now(device, &c->copy);
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
        finish(s, skip ? MONA_OK : execute(s->device, c));
        mona_port_lock(&s->mutex);
    }
    mona_port_unlock(&s->mutex);
    return NULL;
}

mona_status mona_stream_open(mona_stream **stream, const mona_device *device, void *memory,
                             size_t bytes)
{
    mona_device_properties properties;
    if (!stream || !memory)
        return MONA_ERR_ARGUMENT;
    if (bytes < mona_stream_bytes() || (uintptr_t)memory % MONA_ALIGNMENT)
        return MONA_ERR_ARENA;
    if (device && device->open(device, &properties))
        return MONA_ERR_DEVICE;
    mona_stream *s = memset(memory, 0, mona_stream_bytes());
    s->device = device;
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
        finish(s, execute(s->device, c));
    return status;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static mona_status enqueue_copy(mona_stream *s, const mona_copy *copy)
{
    return enqueue(s, &(command){.kind = COMMAND_COPY, .copy = *copy}, NULL);
}

mona_status mona_stream_copy(mona_stream *s, void *dst, ptrdiff_t dst_stride, const void *src,
                             ptrdiff_t src_stride, size_t row_bytes, size_t rows)
{
    if (!s || !dst || !src)
        return MONA_ERR_ARGUMENT;
    const mona_copy copy = {MONA_ON_HOST, dst, src, dst_stride, src_stride, row_bytes, rows};
    return enqueue_copy(s, &copy);
}

/* By the stream, or at once if it is NULL. One copy for each plane, or for all if there are no gaps
 * between them. */
static mona_status transfer(mona_stream *s, const mona_device *device, mona_direction direction,
                            const mona_buffer *to, const mona_buffer *from,
                            const mona_tensor_info *info)
{
    if (!to || !from || !info || !to->data || !from->data)
        return MONA_ERR_ARGUMENT;
    if (to->data == from->data)
        return MONA_OK;
    const ptrdiff_t height = (ptrdiff_t)info->height;
    const bool together =
        info->channels == 1 || (to->channel_stride == height * to->row_stride &&
                                from->channel_stride == height * from->row_stride);
    const uint32_t copies = together ? 1 : info->channels;
    mona_status status = MONA_OK;
    for (uint32_t i = 0; i < copies && !status; i++) {
        const mona_copy copy = {
            .direction = direction,
            .dst = (uint8_t *)to->data + (ptrdiff_t)i * to->channel_stride,
            .src = (const uint8_t *)from->data + (ptrdiff_t)i * from->channel_stride,
            .dst_stride = to->row_stride,
            .src_stride = from->row_stride,
            .row_bytes = info->width * mona_type_size(info->type),
            .rows = (size_t)info->height * info->channels / copies,
        };
        status = s ? enqueue_copy(s, &copy) : copy_now(device, &copy);
    }
    return status;
}

mona_status mona_stream_upload(mona_stream *s, const mona_buffer *to, const mona_buffer *from,
                               const mona_tensor_info *info)
{
    return s ? transfer(s, NULL, MONA_UPLOAD, to, from, info) : MONA_ERR_ARGUMENT;
}

mona_status mona_stream_download(mona_stream *s, const mona_buffer *to, const mona_buffer *from,
                                 const mona_tensor_info *info)
{
    return s ? transfer(s, NULL, MONA_DOWNLOAD, to, from, info) : MONA_ERR_ARGUMENT;
}

mona_status mona_device_upload(const mona_device *device, const mona_buffer *to,
                               const mona_buffer *from, const mona_tensor_info *info)
{
    return transfer(NULL, device, MONA_UPLOAD, to, from, info);
}

mona_status mona_device_download(const mona_device *device, const mona_buffer *to,
                                 const mona_buffer *from, const mona_tensor_info *info)
{
    return transfer(NULL, device, MONA_DOWNLOAD, to, from, info);
}

/* ---- other commands -------------------------------------------------------------------------- */

static mona_status enqueue_run(mona_stream *s, run run, const mona_buffer *inputs,
                               const mona_buffer *outputs)
{
    if (!s || !run.session || !inputs || !outputs)
        return MONA_ERR_ARGUMENT;
    unsigned input_count, output_count;
    mona_session_io_count(run.session, &input_count, &output_count);
    memcpy(run.inputs, inputs, input_count * sizeof *inputs);
    memcpy(run.outputs, outputs, output_count * sizeof *outputs);
    return enqueue(s, &(command){.kind = COMMAND_RUN, .run = run}, NULL);
}

mona_status mona_stream_run(mona_stream *s, mona_session *session, const mona_buffer *inputs,
                            const mona_buffer *outputs)
{
    return enqueue_run(s, (run){.session = session}, inputs, outputs);
}

mona_status mona_stream_run_changed(mona_stream *s, mona_session *session,
                                    const mona_buffer *inputs, const mona_buffer *outputs,
                                    const mona_change *change)
{
    return enqueue_run(s, (run){.session = session, .change = change}, inputs, outputs);
}

mona_status mona_stream_run_if(mona_stream *s, const bool *wanted, mona_session *session,
                               const mona_buffer *inputs, const mona_buffer *outputs)
{
    if (!wanted)
        return MONA_ERR_ARGUMENT;
    return enqueue_run(s, (run){.session = session, .wanted = wanted}, inputs, outputs);
}

mona_status mona_stream_call(mona_stream *s, void (*function)(void *), void *argument)
{
    return s && function
               ? enqueue(s, &(command){.kind = COMMAND_CALL, .call = {function, argument}}, NULL)
               : MONA_ERR_ARGUMENT;
}

mona_status mona_stream_try(mona_stream *s, mona_status (*function)(void *), void *argument)
{
    return s && function
               ? enqueue(s, &(command){.kind = COMMAND_TRY, .attempt = {function, argument}}, NULL)
               : MONA_ERR_ARGUMENT;
}

mona_status mona_stream_record(mona_stream *s, mona_event *event)
{
    uint64_t reached;
    if (!s || !event || (event->stream && event->stream != s))
        return MONA_ERR_ARGUMENT;
    const mona_status status = enqueue(s, &(command){.kind = COMMAND_RECORD}, &reached);
    if (!status)
        *event = (mona_event){s, reached};
    return status;
}

mona_status mona_stream_wait(mona_stream *s, const mona_event *event)
{
    return s && event ? enqueue(s, &(command){.kind = COMMAND_WAIT, .wait = *event}, NULL)
                      : MONA_ERR_ARGUMENT;
}

/* An event that was never recorded is as if it were reached before all. */
mona_status mona_event_synchronize(const mona_event *event)
{
    if (!event)
        return MONA_ERR_ARGUMENT;
    return event->stream ? synchronize(event->stream, event->reached) : MONA_OK;
}

mona_status mona_stream_synchronize(mona_stream *s)
{
    return s ? synchronize(s, UINT64_MAX) : MONA_ERR_ARGUMENT;
}
