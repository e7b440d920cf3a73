// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/codecs/vdec.h"

#include "engine/port/library.h"

enum { REPORT_MS = 100 };

_Static_assert((int)VDEC_H265 == (int)ASCEND_H265_MAIN, "the vendor's value");
_Static_assert((int)VDEC_H264_BASELINE == (int)ASCEND_H264_BASELINE, "the vendor's value");
_Static_assert((int)VDEC_H264_MAIN == (int)ASCEND_H264_MAIN, "the vendor's value");
_Static_assert((int)VDEC_H264_HIGH == (int)ASCEND_H264_HIGH, "the vendor's value");

/* ---- reports --------------------------------------------------------------------------------- */

void vdec_forget_descriptions(vdec_slot *s)
{
    if (s->in)
        ascend.acldvppDestroyStreamDesc(s->in);
    if (s->out)
        ascend.acldvppDestroyPicDesc(s->out);
    s->in = NULL;
    s->out = NULL;
}

static void report(vdec_slot *s, bool lost)
{
    vdec *c = s->channel;
    mona_port_lock(&c->lock);
    vdec_forget_descriptions(s);
    if (s->state == VDEC_SENT) {
        s->state = VDEC_REPORTED;
        s->lost = lost;
        vdec_put(&c->reported, s);
        c->in_flight--;
    }
    c->moved = mona_port_milliseconds();
    mona_port_unlock(&c->lock);
}

/* By the thread of reports, in the order in which frames are shown. The end of a stream has no
 * slot. */
static void receive(struct acldvppStreamDesc *in, struct acldvppPicDesc *out, void *user)
{
    vdec_slot *s = user;
    const bool lost = !out || ascend.acldvppGetPicDescRetCode(out);
    (void)in;
    if (!s)
        return;
    if (!lost) {
        s->size.width = ascend.acldvppGetPicDescWidth(out);
        s->size.height = ascend.acldvppGetPicDescHeight(out);
        s->stride = ascend.acldvppGetPicDescWidthStride(out);
    }
    report(s, lost);
}

static void *report_all(void *argument)
{
    vdec *c = argument;
    ascend_enter(c->chip);
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

/* ---- sending --------------------------------------------------------------------------------- */

static int create(vdec *c)
{
    c->desc = ascend.aclvdecCreateChannelDesc();
    if (!c->desc)
        return ASCEND_NO_HOST_MEMORY;
    int code = ascend.aclvdecSetChannelDescChannelId(c->desc, c->id);
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
    if (code)
        ascend.aclvdecDestroyChannelDesc(c->desc);
    return code;
}

static int describe(vdec_slot *s)
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
        code = ascend.acldvppSetPicDescSize(s->out, (uint32_t)vdec_picture_bytes(s->channel->size));
    return code ? code : ascend.acldvppSetPicDescFormat(s->out, ASCEND_NV12);
}

/* A frame that is refused counts as lost. */
static void send(vdec_slot *s)
{
    int code = describe(s);
    if (!code)
        code = ascend.aclvdecSendFrame(s->channel->desc, s->in, s->out, NULL, s);
    if (ascend_check(code, "a frame cannot be decoded"))
        report(s, true);
}

/* Destroying a channel waits for its frames. False: it is still there, and so is all that it
 * uses. */
static bool finish(vdec *c)
{
    static const char ending[] = "the video decoder cannot end";
    struct acldvppStreamDesc *end = ascend.acldvppCreateStreamDesc();
    int code = end ? ascend.acldvppSetStreamDescEos(end, 1) : ASCEND_NO_HOST_MEMORY;
    if (!code)
        code = ascend.acldvppSetStreamDescFormat(end, c->stream);
    if (!code)
        code = ascend.aclvdecSendFrame(c->desc, end, NULL, NULL, NULL);
    const bool sent = !ascend_check(code, ending);
    const bool gone = !ascend_check(ascend.aclvdecDestroyChannel(c->desc), ending);
    if (gone)
        ascend.aclvdecDestroyChannelDesc(c->desc);
    if (end && (gone || !sent))
        ascend.acldvppDestroyStreamDesc(end);
    return gone;
}

/* Whether there was one before the end. */
static bool send_next(vdec *c)
{
    mona_port_lock(&c->lock);
    while (!c->to_send.count && !c->ending)
        mona_port_wait(&c->changed, &c->lock);
    vdec_slot *s = vdec_take(&c->to_send);
    mona_port_unlock(&c->lock);
    if (s)
        send(s);
    return s;
}

static void *send_all(void *argument)
{
    vdec *c = argument;
    mona_port_lock(&c->lock);
    while (!c->reporter_id)
        mona_port_wait(&c->changed, &c->lock);
    mona_port_unlock(&c->lock);
    const mona_status status = ascend_enter(c->chip)
                                   ? ascend_check(create(c), "the video decoder cannot be opened")
                                   : MONA_ERR_DEVICE;
    mona_port_lock(&c->lock);
    c->status = status;
    c->open = true;
    c->moved = mona_port_milliseconds();
    mona_port_unlock(&c->lock);
    while (!status && send_next(c))
        ;
    const bool finished = status || finish(c);
    mona_port_lock(&c->lock);
    c->remains = !finished;
    c->ended = true;
    mona_port_unlock(&c->lock);
    return NULL;
}

/* ---- threads --------------------------------------------------------------------------------- */

bool vdec_channel_start(vdec *c)
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

void vdec_channel_stop(vdec *c)
{
    mona_port_thread_join(&c->sender);
    c->reports_end = true;
    mona_port_thread_join(&c->reporter);
    mona_port_condition_destroy(&c->changed);
    mona_port_mutex_destroy(&c->lock);
}
