// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/codecs/vdec.h"

#include "engine/port/library.h"

/* They are static, so that a thread that never returns from the library still finds its channel. */
enum { CHANNELS = 4 };
static vdec channels[CHANNELS];

enum { MIN_SIDE = 128, MAX_SIDE = 4096 };

/* ---- waiting --------------------------------------------------------------------------------- */

bool vdec_has_time(const vdec *c)
{
    if (mona_port_milliseconds() - c->moved <= 1000u * (uint64_t)ascend_patience())
        return true;
    ascend_check(ASCEND_TIME_OUT, "a frame cannot be decoded");
    return false;
}

void vdec_pause(vdec *c)
{
    mona_port_unlock(&c->lock);
    mona_port_pause(100);
    mona_port_lock(&c->lock);
}

/* ---- opening --------------------------------------------------------------------------------- */

mona_status vdec_refuse(const char *why)
{
    ASCEND_REPORT(why);
    return MONA_ERR_UNSUPPORTED;
}

static mona_status check_size(mona_size size)
{
    if (size.width < MIN_SIDE || size.height < MIN_SIDE || size.width > MAX_SIDE ||
        size.height > MAX_SIDE)
        return vdec_refuse("the chip decodes frames of 128x128 to 4096x4096");
    return size.width % 2 || size.height % 2 ? vdec_refuse("the chip decodes frames of even sizes")
                                             : MONA_OK;
}

static vdec *take_channel(void)
{
    for (vdec *c = channels; c < channels + CHANNELS; c++)
        if (!atomic_exchange(&c->taken, true))
            return c;
    return NULL;
}

static void clear(vdec *c, vdec_stream stream, mona_size size)
{
    c->id = (uint32_t)(c - channels);
    c->stream = stream;
    c->size = size;
    c->reports_end = false;
    c->reporter_id = 0;
    c->to_send = c->reported = (vdec_queue){0};
    c->shown = NULL;
    c->in_flight = 0;
    c->open = c->ending = c->ended = c->remains = false;
    c->moved = mona_port_milliseconds();
    for (vdec_slot *s = c->slots; s < c->slots + VDEC_SLOTS; s++)
        *s = (vdec_slot){.channel = c};
}

static mona_status wait_open(vdec *c)
{
    mona_port_lock(&c->lock);
    while (!c->open && vdec_has_time(c))
        vdec_pause(c);
    const mona_status status = c->open ? c->status : MONA_ERR_DEVICE;
    mona_port_unlock(&c->lock);
    return status;
}

mona_status vdec_open(vdec **opened, const mona_device *chip, vdec_stream stream, mona_size size)
{
    mona_ascend_info info;
    *opened = NULL;
    mona_status status = mona_ascend_query(chip, &info);
    if (!status && info.no_video)
        status = vdec_refuse("the libraries of CANN here have no video decoder");
    if (!status)
        status = check_size(size);
    if (status)
        return status;
    vdec *c = take_channel();
    if (!c)
        return vdec_refuse("all channels of the chip's video decoder are in use");
    c->chip = mona_device_number(chip);
    clear(c, stream, size);
    if (!vdec_channel_start(c)) {
        c->taken = false;
        return MONA_ERR_THREADS;
    }
    status = wait_open(c);
    if (status)
        vdec_close(c);
    else
        *opened = c;
    return status;
}

/* ---- sending --------------------------------------------------------------------------------- */

static mona_status reserve(void **memory, size_t bytes)
{
    *memory = NULL;
    return ascend_check(ascend.acldvppMalloc(memory, bytes),
                        "memory for the video decoder cannot be reserved");
}

static void release(void *memory)
{
    if (memory && !ascend_lost())
        ascend.acldvppFree(memory);
}

static mona_status make_room(vdec_slot *s, size_t bytes)
{
    const size_t room = bytes + bytes / 2;
    mona_status status = MONA_OK;
    if (!s->picture)
        status = reserve(&s->picture, vdec_picture_bytes(s->channel->size));
    if (status || s->room >= bytes)
        return status;
    release(s->coded);
    status = reserve(&s->coded, room);
    s->room = status ? 0 : room;
    return status;
}

static vdec_slot *find_free(vdec *c)
{
    vdec_slot *s = c->slots;
    mona_port_lock(&c->lock);
    while (s < c->slots + VDEC_SLOTS && s->state != VDEC_FREE)
        s++;
    mona_port_unlock(&c->lock);
    return s < c->slots + VDEC_SLOTS ? s : NULL;
}

mona_status vdec_send(vdec *c, const void *coded, size_t bytes, uint64_t number)
{
    if (!bytes || bytes > UINT32_MAX / 2)
        return MONA_ERR_ARGUMENT;
    vdec_slot *s = find_free(c);
    if (!s)
        return MONA_ERR_LIMIT;
    if (!ascend_enter(c->chip))
        return MONA_ERR_DEVICE;
    mona_status status = make_room(s, bytes);
    if (!status)
        status = ascend_upload(s->coded, bytes, coded, (ptrdiff_t)bytes, bytes, 1);
    if (status)
        return status;
    s->bytes = bytes;
    s->number = number;
    mona_port_lock(&c->lock);
    s->state = VDEC_SENT;
    /* A decoder that had nothing to do was not late. */
    c->moved = c->in_flight++ ? c->moved : mona_port_milliseconds();
    vdec_put(&c->to_send, s);
    mona_port_broadcast(&c->changed);
    mona_port_unlock(&c->lock);
    return MONA_OK;
}

void vdec_end(vdec *c)
{
    mona_port_lock(&c->lock);
    c->ending = true;
    c->moved = mona_port_milliseconds();
    mona_port_broadcast(&c->changed);
    mona_port_unlock(&c->lock);
}

/* ---- closing --------------------------------------------------------------------------------- */

/* Frames not sent yet are dropped. If the chip does not end in time, its threads stay in the
 * library, and the channel with them; so does memory that a lost chip has not given back. */
void vdec_close(vdec *c)
{
    if (!c)
        return;
    ascend_enter(c->chip);
    mona_port_lock(&c->lock);
    c->ending = true;
    c->to_send.count = 0;
    c->moved = mona_port_milliseconds();
    mona_port_broadcast(&c->changed);
    while (!c->ended && vdec_has_time(c))
        vdec_pause(c);
    const bool ended = c->ended;
    mona_port_unlock(&c->lock);
    if (!ended)
        return;
    vdec_channel_stop(c);
    if (c->remains)
        return;
    for (vdec_slot *s = c->slots; s < c->slots + VDEC_SLOTS; s++) {
        vdec_forget_descriptions(s);
        release(s->coded);
        release(s->picture);
    }
    c->taken = false;
}
