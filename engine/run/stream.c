// SPDX-License-Identifier: Apache-2.0
/* Streams and events of any device: checks arguments and passes commands on. */
#include "engine/run/device.h"

#include "engine/libc.h"

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
    s->class = device && device->streams ? device->streams : &mona_thread_streams;
    s->device = device;
    const mona_status status = s->class->open(s);
    if (!status)
        *stream = s;
    return status;
}

mona_status mona_stream_copy(mona_stream *s, void *dst, ptrdiff_t dst_stride, const void *src,
                             ptrdiff_t src_stride, size_t row_bytes, size_t rows)
{
    if (!s || !dst || !src)
        return MONA_ERR_ARGUMENT;
    const mona_copy copy = {MONA_ON_HOST, dst, src, dst_stride, src_stride, row_bytes, rows};
    return s->class->copy(s, &copy);
}

mona_status mona_copy_now(const mona_device *device, const mona_copy *c)
{
    if (c->direction != MONA_ON_HOST && device && device->copy)
        return device->copy(device, c);
    for (size_t y = 0; y < c->rows; y++)
        memcpy(c->dst + (ptrdiff_t)y * c->dst_stride, c->src + (ptrdiff_t)y * c->src_stride,
               c->row_bytes);
    return MONA_OK;
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
        status = s ? s->class->copy(s, &copy) : mona_copy_now(device, &copy);
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

static mona_status enqueue_run(mona_stream *s, mona_run run, const mona_buffer *inputs,
                               const mona_buffer *outputs)
{
    if (!s || !run.session || !inputs || !outputs)
        return MONA_ERR_ARGUMENT;
    unsigned input_count, output_count;
    mona_session_io_count(run.session, &input_count, &output_count);
    memcpy(run.inputs, inputs, input_count * sizeof *inputs);
    memcpy(run.outputs, outputs, output_count * sizeof *outputs);
    return s->class->run(s, &run);
}

mona_status mona_stream_run(mona_stream *s, mona_session *session, const mona_buffer *inputs,
                            const mona_buffer *outputs)
{
    return enqueue_run(s, (mona_run){.session = session}, inputs, outputs);
}

mona_status mona_stream_run_changed(mona_stream *s, mona_session *session,
                                    const mona_buffer *inputs, const mona_buffer *outputs,
                                    const mona_change *change)
{
    return enqueue_run(s, (mona_run){.session = session, .change = change}, inputs, outputs);
}

mona_status mona_stream_run_if(mona_stream *s, const bool *wanted, mona_session *session,
                               const mona_buffer *inputs, const mona_buffer *outputs)
{
    if (!wanted)
        return MONA_ERR_ARGUMENT;
    return enqueue_run(s, (mona_run){.session = session, .wanted = wanted}, inputs, outputs);
}

mona_status mona_stream_call(mona_stream *s, void (*function)(void *), void *argument)
{
    return s && function ? s->class->call(s, function, argument) : MONA_ERR_ARGUMENT;
}

mona_status mona_stream_try(mona_stream *s, mona_status (*function)(void *), void *argument)
{
    if (!s || !function)
        return MONA_ERR_ARGUMENT;
    return s->class->attempt ? s->class->attempt(s, function, argument) : MONA_ERR_UNSUPPORTED;
}

mona_status mona_stream_record(mona_stream *s, mona_event *event)
{
    uint64_t reached;
    if (!s || !event || (event->stream && event->stream != s))
        return MONA_ERR_ARGUMENT;
    const mona_status status = s->class->record(s, &reached);
    if (!status)
        *event = (mona_event){s, reached};
    return status;
}

mona_status mona_stream_wait(mona_stream *s, const mona_event *event)
{
    if (!s || !event)
        return MONA_ERR_ARGUMENT;
    /* An event that was never recorded delays nothing: it is as if it were reached before all. */
    const mona_event never = {s, 0};
    return s->class->wait(s, event->stream ? event : &never);
}

mona_status mona_event_synchronize(const mona_event *event)
{
    if (!event)
        return MONA_ERR_ARGUMENT;
    mona_stream *s = event->stream;
    return s ? s->class->synchronize(s, event->reached) : MONA_OK;
}

mona_status mona_stream_synchronize(mona_stream *s)
{
    return s ? s->class->synchronize(s, UINT64_MAX) : MONA_ERR_ARGUMENT;
}

void mona_stream_close(mona_stream *s)
{
    if (s)
        s->class->close(s);
}
