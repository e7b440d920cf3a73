// SPDX-License-Identifier: Apache-2.0
/* The chip's video decoder (VDEC). A channel has two threads of the host: one calls the library,
 * which may block until the chip is done, and one gets the chip's reports. Channels are static, so
 * that a thread that never returns from the library still finds its channel. */
#include "engine/ascend/acl.h"

#include <stdatomic.h>

#include "engine/libc.h"
#include "engine/mona_ascend.h"
#include "engine/port/library.h"
#include "engine/port/port.h"

/* Frames that the chip holds at most: 16 that others refer to, the one in work, and a few that wait
 * for it. The rest are pictures in the caller's hands. */
enum { IN_FLIGHT = 20, SLOTS = IN_FLIGHT + MONA_VDEC_HELD, CHANNELS = 4 };
enum { MIN_SIDE = 128, MAX_SIDE = 4096, REPORT_MS = 100 };

_Static_assert((int)MONA_VDEC_H265 == (int)ASCEND_H265_MAIN, "the vendor's value");
_Static_assert((int)MONA_VDEC_H264_BASELINE == (int)ASCEND_H264_BASELINE, "the vendor's value");
_Static_assert((int)MONA_VDEC_H264_MAIN == (int)ASCEND_H264_MAIN, "the vendor's value");
_Static_assert((int)MONA_VDEC_H264_HIGH == (int)ASCEND_H264_HIGH, "the vendor's value");

typedef enum slot_state { FREE, SENT, REPORTED, HELD } slot_state;

typedef struct slot {
    mona_vdec *channel;
    slot_state state;
    bool lost;
    uint64_t number;
    void *coded, *picture; /* on the chip; kept from frame to frame */
    size_t room, bytes;    /* of coded */
    struct acldvppStreamDesc *in;
    struct acldvppPicDesc *out;
    mona_size size; /* as the chip reports them; 0: it does not */
    uint32_t stride;
} slot;

typedef struct queue {
    slot *slots[SLOTS];
    unsigned first, count;
} queue;

struct mona_vdec {
    atomic_bool taken, reports_end;
    mona_port_mutex lock; /* of all that follows */
    mona_port_condition changed;
    mona_port_thread sender, reporter;
    uint64_t reporter_id; /* 0: it has not begun */
    mona_vdec_stream stream;
    mona_size size;
    struct aclvdecChannelDesc *desc;
    slot slots[SLOTS];
    queue to_send, reported;
    unsigned in_flight;
    bool open, ending, ended;
    mona_status status; /* of the channel */
    uint64_t moved;     /* when the chip last did something, in milliseconds */
};

static mona_vdec channels[CHANNELS];

static void put(queue *q, slot *s)
{
    q->slots[(q->first + q->count++) % SLOTS] = s;
}

static slot *take(queue *q)
{
    if (!q->count)
        return NULL;
    q->count--;
    return q->slots[q->first++ % SLOTS];
}

/* ---- sizes ------------------------------------------------------------------------------------ */

static uint32_t stride_of(mona_size size)
{
    return (size.width + 15) / 16 * 16;
}

static size_t picture_bytes(mona_size size)
{
    return (size_t)stride_of(size) * size.height * 3 / 2;
}

static mona_status refuse(const char *why)
{
    ASCEND_REPORT(why);
    return MONA_ERR_UNSUPPORTED;
}

static mona_status check_size(mona_size size)
{
    if (size.width < MIN_SIDE || size.height < MIN_SIDE || size.width > MAX_SIDE ||
        size.height > MAX_SIDE)
        return refuse("the chip decodes frames of 128x128 to 4096x4096");
    return size.width % 2 || size.height % 2 ? refuse("the chip decodes frames of even sizes")
                                             : MONA_OK;
}

/* ---- the thread that calls the library -------------------------------------------------------- */

static void forget_descriptions(slot *s)
{
    if (s->in)
        ascend.acldvppDestroyStreamDesc(s->in);
    if (s->out)
        ascend.acldvppDestroyPicDesc(s->out);
    s->in = NULL;
    s->out = NULL;
}

static void report_sent(slot *s, bool lost)
{
    mona_vdec *c = s->channel;
    forget_descriptions(s);
    mona_port_lock(&c->lock);
    if (s->state == SENT) {
        s->state = REPORTED;
        s->lost = lost;
        put(&c->reported, s);
        c->in_flight--;
    }
    c->moved = mona_port_milliseconds();
    mona_port_unlock(&c->lock);
}

/* By the thread of reports, in the order in which frames are shown. */
static void receive(struct acldvppStreamDesc *in, struct acldvppPicDesc *out, void *user)
{
    slot *s = user;
    const bool lost = !out || ascend.acldvppGetPicDescRetCode(out);
    (void)in;
    if (!lost) {
        s->size.width = ascend.acldvppGetPicDescWidth(out);
        s->size.height = ascend.acldvppGetPicDescHeight(out);
        s->stride = ascend.acldvppGetPicDescWidthStride(out);
    }
    report_sent(s, lost);
}

static int create(mona_vdec *c)
{
    c->desc = ascend.aclvdecCreateChannelDesc();
    if (!c->desc)
        return ASCEND_NO_HOST_MEMORY;
    int code = ascend.aclvdecSetChannelDescChannelId(c->desc, (uint32_t)(c - channels));
    if (!code)
        code = ascend.aclvdecSetChannelDescThreadId(c->desc, c->reporter_id);
    if (!code)
        code = ascend.aclvdecSetChannelDescCallback(c->desc, receive);
    if (!code)
        code = ascend.aclvdecSetChannelDescEnType(c->desc, c->stream);
    if (!code)
        code = ascend.aclvdecSetChannelDescOutPicFormat(c->desc, ASCEND_NV12);
    if (!code)
        code = ascend.aclvdecSetChannelDescOutPicWidth(c->desc, c->size.width);
    if (!code)
        code = ascend.aclvdecSetChannelDescOutPicHeight(c->desc, c->size.height);
    if (!code)
        code = ascend.aclvdecCreateChannel(c->desc);
    if (code) {
        ascend.aclvdecDestroyChannelDesc(c->desc);
        c->desc = NULL;
    }
    return code;
}

static int describe(slot *s)
{
    s->in = ascend.acldvppCreateStreamDesc();
    s->out = ascend.acldvppCreatePicDesc();
    if (!s->in || !s->out)
        return ASCEND_NO_HOST_MEMORY;
    int code = ascend.acldvppSetStreamDescData(s->in, s->coded);
    if (!code)
        code = ascend.acldvppSetStreamDescSize(s->in, (uint32_t)s->bytes);
    if (!code)
        code = ascend.acldvppSetStreamDescFormat(s->in, s->channel->stream);
    if (!code)
        code = ascend.acldvppSetStreamDescTimestamp(s->in, s->number);
    if (!code)
        code = ascend.acldvppSetPicDescData(s->out, s->picture);
    if (!code)
        code = ascend.acldvppSetPicDescSize(s->out, (uint32_t)picture_bytes(s->channel->size));
    return code ? code : ascend.acldvppSetPicDescFormat(s->out, ASCEND_NV12);
}

/* A frame that is refused counts as lost. */
static void send(slot *s)
{
    int code = describe(s);
    if (!code)
        code = ascend.aclvdecSendFrame(s->channel->desc, s->in, s->out, NULL, s);
    if (!code)
        return;
    ascend_check(code, "a frame cannot be decoded");
    report_sent(s, true);
}

/* The library returns when all frames have been reported. */
static void finish(mona_vdec *c)
{
    struct acldvppStreamDesc *in = ascend.acldvppCreateStreamDesc();
    int code = in ? ascend.acldvppSetStreamDescEos(in, 1) : ASCEND_NO_HOST_MEMORY;
    if (!code)
        code = ascend.acldvppSetStreamDescFormat(in, c->stream);
    if (!code)
        code = ascend.aclvdecSendFrame(c->desc, in, NULL, NULL, NULL);
    ascend_check(code, "the video decoder cannot end");
    if (in)
        ascend.acldvppDestroyStreamDesc(in);
    ascend.aclvdecDestroyChannel(c->desc);
    ascend.aclvdecDestroyChannelDesc(c->desc);
}

/* Whether there was one before the end. */
static bool send_next(mona_vdec *c)
{
    mona_port_lock(&c->lock);
    while (!c->to_send.count && !c->ending)
        mona_port_wait(&c->changed, &c->lock);
    slot *s = take(&c->to_send);
    mona_port_unlock(&c->lock);
    if (s)
        send(s);
    return s;
}

static void *send_all(void *argument)
{
    mona_vdec *c = argument;
    mona_port_lock(&c->lock);
    while (!c->reporter_id)
        mona_port_wait(&c->changed, &c->lock);
    mona_port_unlock(&c->lock);
    const mona_status status =
        ascend_enter() ? ascend_check(create(c), "the video decoder cannot be opened")
                       : MONA_ERR_DEVICE;
    mona_port_lock(&c->lock);
    c->status = status;
    c->open = true;
    c->moved = mona_port_milliseconds();
    mona_port_unlock(&c->lock);
    while (!status && send_next(c))
        ;
    if (!status)
        finish(c);
    mona_port_lock(&c->lock);
    c->ended = true;
    mona_port_unlock(&c->lock);
    return NULL;
}

static void *report_all(void *argument)
{
    mona_vdec *c = argument;
    ascend_enter();
    mona_port_lock(&c->lock);
    c->reporter_id = mona_port_thread_id();
    mona_port_broadcast(&c->changed);
    mona_port_unlock(&c->lock);
    /* It also fails while there is nothing to report, or no channel yet. */
    while (!c->reports_end)
        if (ascend.aclrtProcessReport(REPORT_MS))
            mona_port_pause(1000);
    return NULL;
}

/* ---- the caller's side ------------------------------------------------------------------------ */

/* Under the lock. False: the chip has done nothing for so long that it is given up. */
static bool is_alive(const mona_vdec *c)
{
    if (ascend_lost())
        return false;
    if (mona_port_milliseconds() - c->moved <= 1000u * ascend_patience())
        return true;
    ascend_check(ASCEND_TIME_OUT, "a frame cannot be decoded");
    return false;
}

/* Leaves the lock for a moment. */
static void pause(mona_vdec *c)
{
    mona_port_unlock(&c->lock);
    mona_port_pause(100);
    mona_port_lock(&c->lock);
}

static mona_vdec *take_channel(void)
{
    for (mona_vdec *c = channels; c < channels + CHANNELS; c++)
        if (!atomic_exchange(&c->taken, true))
            return c;
    return NULL;
}

static bool start(mona_vdec *c)
{
    mona_port_mutex_init(&c->lock);
    mona_port_condition_init(&c->changed);
    if (mona_port_thread_start(&c->reporter, report_all, c)) {
        if (mona_port_thread_start(&c->sender, send_all, c))
            return true;
        c->reports_end = true;
        mona_port_thread_join(&c->reporter);
    }
    mona_port_condition_destroy(&c->changed);
    mona_port_mutex_destroy(&c->lock);
    return false;
}

static void clear(mona_vdec *c, mona_vdec_stream stream, mona_size size)
{
    c->reports_end = false;
    c->reporter_id = 0;
    c->stream = stream;
    c->size = size;
    c->desc = NULL;
    c->to_send = c->reported = (queue){0};
    c->in_flight = 0;
    c->open = c->ending = c->ended = false;
    c->status = MONA_OK;
    c->moved = mona_port_milliseconds();
    for (slot *s = c->slots; s < c->slots + SLOTS; s++)
        *s = (slot){.channel = c};
}

mona_status mona_vdec_open(mona_vdec **opened, mona_vdec_stream stream, mona_size size)
{
    mona_ascend_info info;
    *opened = NULL;
    mona_status status = mona_ascend_query(&info);
    if (!status && info.no_video)
        status = refuse("the libraries of CANN here have no video decoder");
    if (!status)
        status = check_size(size);
    if (status)
        return status;
    mona_vdec *c = take_channel();
    if (!c)
        return refuse("all channels of the chip's video decoder are in use");
    clear(c, stream, size);
    if (!start(c)) {
        c->taken = false;
        return MONA_ERR_LIMIT;
    }
    mona_port_lock(&c->lock);
    while (!c->open && is_alive(c))
        pause(c);
    status = c->open ? c->status : MONA_ERR_DEVICE;
    mona_port_unlock(&c->lock);
    if (status)
        mona_vdec_close(c);
    else
        *opened = c;
    return status;
}

static mona_status make_room(slot *s, size_t bytes)
{
    mona_status status = MONA_OK;
    if (!s->picture)
        status = ascend_allocate_media(picture_bytes(s->channel->size), &s->picture);
    if (status || s->room >= bytes)
        return status;
    ascend_free(s->coded);
    s->room = 0;
    status = ascend_allocate_media(bytes + bytes / 2, &s->coded);
    s->room = status ? 0 : bytes + bytes / 2;
    return status;
}

mona_status mona_vdec_send(mona_vdec *c, const void *coded, size_t bytes, uint64_t number)
{
    slot *s = c->slots;
    if (!bytes || bytes > UINT32_MAX / 2)
        return MONA_ERR_ARGUMENT;
    mona_port_lock(&c->lock);
    while (s < c->slots + SLOTS && s->state != FREE)
        s++;
    mona_port_unlock(&c->lock);
    if (s == c->slots + SLOTS)
        return MONA_ERR_LIMIT;
    mona_status status = make_room(s, bytes);
    if (!status)
        status = ascend_upload(s->coded, coded, (ptrdiff_t)bytes, bytes, 1);
    if (status)
        return status;
    s->bytes = bytes;
    s->number = number;
    mona_port_lock(&c->lock);
    s->state = SENT;
    /* A decoder that had nothing to do was not late. */
    c->moved = c->in_flight++ ? c->moved : mona_port_milliseconds();
    put(&c->to_send, s);
    mona_port_broadcast(&c->changed);
    mona_port_unlock(&c->lock);
    return MONA_OK;
}

void mona_vdec_end(mona_vdec *c)
{
    mona_port_lock(&c->lock);
    c->ending = true;
    c->moved = mona_port_milliseconds();
    mona_port_broadcast(&c->changed);
    mona_port_unlock(&c->lock);
}

/* After the end: what was never reported is lost. */
static slot *take_unreported(mona_vdec *c)
{
    for (slot *s = c->slots; s < c->slots + SLOTS; s++)
        if (s->state == SENT) {
            forget_descriptions(s);
            s->lost = true;
            return s;
        }
    return NULL;
}

static mona_status deliver(const mona_vdec *c, slot *s, mona_vdec_picture *picture)
{
    *picture = (mona_vdec_picture){s->number, s->picture, s->lost, (unsigned)(s - c->slots)};
    s->state = s->lost ? FREE : HELD;
    if (s->lost || ((!s->size.width || s->size.width == c->size.width) &&
                    (!s->size.height || s->size.height == c->size.height) &&
                    (!s->stride || s->stride == stride_of(c->size))))
        return MONA_OK;
    s->state = FREE;
    return refuse("the chip decoded a frame of another size");
}

mona_status mona_vdec_receive(mona_vdec *c, mona_vdec_picture *picture, mona_vdec_result *result)
{
    mona_status status = MONA_OK;
    mona_port_lock(&c->lock);
    for (;;) {
        slot *s = take(&c->reported);
        if (!s && c->ended)
            s = take_unreported(c);
        if (s) {
            *result = MONA_VDEC_PICTURE;
            status = deliver(c, s, picture);
            break;
        }
        *result = c->ended ? MONA_VDEC_END : MONA_VDEC_MORE;
        if (c->ended || (!c->ending && c->in_flight < IN_FLIGHT))
            break;
        if (!is_alive(c)) {
            status = MONA_ERR_DEVICE;
            break;
        }
        pause(c);
    }
    mona_port_unlock(&c->lock);
    return status;
}

mona_status mona_vdec_fetch(const mona_vdec *c, const mona_vdec_picture *picture,
                            uint8_t *const planes[3], const ptrdiff_t strides[3])
{
    const size_t stride = stride_of(c->size), bytes = picture_bytes(c->size);
    ascend_staging *staging;
    mona_status status = ascend_borrow(bytes, &staging);
    if (status)
        return status;
    status = ascend_check(
        ascend.aclrtMemcpy(ascend_staging_memory(staging), bytes, picture->memory, bytes, ASCEND_TO_HOST),
        "a frame cannot be fetched from the chip");
    const uint8_t *row = ascend_staging_memory(staging);
    for (uint32_t y = 0; y < c->size.height && !status; y++, row += stride)
        memcpy(planes[0] + (ptrdiff_t)y * strides[0], row, c->size.width);
    for (uint32_t y = 0; y < c->size.height / 2 && !status; y++, row += stride) {
        uint8_t *u = planes[1] + (ptrdiff_t)y * strides[1];
        uint8_t *v = planes[2] + (ptrdiff_t)y * strides[2];
        for (uint32_t x = 0; x < c->size.width / 2; x++) {
            u[x] = row[2 * x];
            v[x] = row[2 * x + 1];
        }
    }
    ascend_give_back(staging);
    return status;
}

void mona_vdec_release(mona_vdec *c, const mona_vdec_picture *picture)
{
    mona_port_lock(&c->lock);
    if (!picture->lost)
        c->slots[picture->slot].state = FREE;
    mona_port_unlock(&c->lock);
}

void mona_vdec_close(mona_vdec *c)
{
    if (!c)
        return;
    mona_port_lock(&c->lock);
    c->ending = true;
    c->to_send.count = 0;
    c->moved = mona_port_milliseconds();
    mona_port_broadcast(&c->changed);
    while (!c->ended && is_alive(c))
        pause(c);
    const bool ended = c->ended;
    mona_port_unlock(&c->lock);
    if (!ended)
        return; /* its threads are still in the library */
    mona_port_thread_join(&c->sender);
    c->reports_end = true;
    mona_port_thread_join(&c->reporter);
    for (slot *s = c->slots; s < c->slots + SLOTS; s++) {
        forget_descriptions(s);
        ascend_free(s->coded);
        ascend_free(s->picture);
    }
    mona_port_condition_destroy(&c->changed);
    mona_port_mutex_destroy(&c->lock);
    c->taken = false;
}
