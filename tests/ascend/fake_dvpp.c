// SPDX-License-Identifier: Apache-2.0
/* libacl_dvpp.so: the video decoder. Each channel decodes on a thread of its own, by libavcodec,
 * and reports frames in the order in which they are shown, to the thread that the channel names. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>

#include "tests/ascend/fake.h"

enum {
    CHANNELS = 32,
    SIDE_MIN = 128,
    SIDE_MAX = 4096,
    USUAL_WIDTH = 1920,
    USUAL_HEIGHT = 1120,
    REFERENCES = 17, /* later frames after which one that never came out is given up */
    DECODE_FAILED = 0x10003,
    STREAM_FORMATS = 4,
    NV12 = 1,
    NV21 = 2,
};

typedef struct stream_desc {
    uint32_t magic;
    void *data;
    uint32_t size, format;
    uint64_t time;
    uint8_t eos;
} stream_desc;

typedef struct pic_desc {
    uint32_t magic;
    void *data;
    uint32_t size, format, width, height, width_stride, height_stride, code;
} pic_desc;

enum { STREAM_DESC = 0x53444553, PIC_DESC = 0x50444553, CHANNEL_DESC = 0x43444553 };

typedef void callback(stream_desc *input, pic_desc *output, void *user);

typedef struct frame {
    struct frame *next;
    struct channel_desc *channel;
    stream_desc *in;
    pic_desc *out;
    void *user;
    int64_t number;
    bool taken; /* by the decoder */
} frame;

typedef struct channel_desc {
    uint32_t magic, id, format, out_format, width, height;
    uint64_t thread_id;
    callback *done;
    bool open, stop;
    pthread_t thread;
    AVCodecContext *decoder;
    frame *frames, **last; /* sent and not reported, in the order of sending */
    int64_t sent, begun;   /* begun: by the decoder */
    long reporting;        /* reports that are under way */
} channel_desc;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static channel_desc *channels[CHANNELS];
static atomic_long frame_count;

/* ---- memory ---------------------------------------------------------------------------------- */

enum { BLOCKS = 1024 };
static void *blocks[BLOCKS];

int aclrtMalloc(void **at, size_t bytes, uint32_t policy);
int aclrtFree(void *at);

API int acldvppMalloc(void **at, size_t bytes)
{
    const int code = aclrtMalloc(at, bytes, 0);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; !code && i < BLOCKS; i++)
        if (!blocks[i]) {
            blocks[i] = *at;
            break;
        }
    pthread_mutex_unlock(&lock);
    return code;
}

static bool is_media(const void *at)
{
    for (size_t i = 0; i < BLOCKS; i++)
        if (at && blocks[i] == at)
            return true;
    return false;
}

static bool is_in_flight(const void *at)
{
    for (size_t c = 0; c < CHANNELS; c++)
        for (const frame *f = channels[c] ? channels[c]->frames : NULL; f; f = f->next)
            if (f->in->data == at || f->out->data == at)
                return true;
    return false;
}

API int acldvppFree(void *at)
{
    pthread_mutex_lock(&lock);
    const bool known = is_media(at), busy = is_in_flight(at);
    for (size_t i = 0; i < BLOCKS; i++)
        if (at && blocks[i] == at)
            blocks[i] = NULL;
    pthread_mutex_unlock(&lock);
    if (!known || busy)
        fake_complain("acldvppFree of %p, which %s", at,
                      busy ? "a frame in the decoder needs" : "is no block of acldvppMalloc");
    return known ? aclrtFree(at) : BAD_PARAMETER;
}

/* ---- descriptions ---------------------------------------------------------------------------- */

#define OBJECT(type, magic_number, create, destroy)                                                \
    API type *create(void)                                                                         \
    {                                                                                              \
        type *made = calloc(1, sizeof *made);                                                      \
        made->magic = magic_number;                                                                \
        ++fake_held_objects;                                                                       \
        return made;                                                                               \
    }                                                                                              \
    API int destroy(type *desc)                                                                    \
    {                                                                                              \
        if (!desc || desc->magic != magic_number) {                                                \
            fake_complain(#destroy " of what is none");                                            \
            return BAD_PARAMETER;                                                                  \
        }                                                                                          \
        desc->magic = 0;                                                                           \
        --fake_held_objects;                                                                       \
        free(desc);                                                                                \
        return 0;                                                                                  \
    }
#define SET(type, magic_number, name, value_type, field)                                           \
    API int name(type *desc, value_type value)                                                     \
    {                                                                                              \
        if (!desc || desc->magic != magic_number)                                                  \
            return fake_fail(BAD_ARGUMENT, "the description is none");                             \
        desc->field = value;                                                                       \
        return 0;                                                                                  \
    }
#define GET(name, field)                                                                           \
    API uint32_t name(const pic_desc *desc)                                                        \
    {                                                                                              \
        return desc && desc->magic == PIC_DESC ? desc->field : 0;                                  \
    }

OBJECT(stream_desc, STREAM_DESC, acldvppCreateStreamDesc, acldvppDestroyStreamDesc)
SET(stream_desc, STREAM_DESC, acldvppSetStreamDescData, void *, data)
SET(stream_desc, STREAM_DESC, acldvppSetStreamDescSize, uint32_t, size)
SET(stream_desc, STREAM_DESC, acldvppSetStreamDescFormat, uint32_t, format)
SET(stream_desc, STREAM_DESC, acldvppSetStreamDescTimestamp, uint64_t, time)
SET(stream_desc, STREAM_DESC, acldvppSetStreamDescEos, uint8_t, eos)
OBJECT(pic_desc, PIC_DESC, acldvppCreatePicDesc, acldvppDestroyPicDesc)
SET(pic_desc, PIC_DESC, acldvppSetPicDescData, void *, data)
SET(pic_desc, PIC_DESC, acldvppSetPicDescSize, uint32_t, size)
SET(pic_desc, PIC_DESC, acldvppSetPicDescFormat, uint32_t, format)
GET(acldvppGetPicDescWidth, width)
GET(acldvppGetPicDescHeight, height)
GET(acldvppGetPicDescWidthStride, width_stride)
GET(acldvppGetPicDescRetCode, code)
OBJECT(channel_desc, CHANNEL_DESC, aclvdecCreateChannelDesc, aclvdecDestroyChannelDesc)
SET(channel_desc, CHANNEL_DESC, aclvdecSetChannelDescChannelId, uint32_t, id)
SET(channel_desc, CHANNEL_DESC, aclvdecSetChannelDescThreadId, uint64_t, thread_id)
SET(channel_desc, CHANNEL_DESC, aclvdecSetChannelDescCallback, callback *, done)
SET(channel_desc, CHANNEL_DESC, aclvdecSetChannelDescEnType, uint32_t, format)
SET(channel_desc, CHANNEL_DESC, aclvdecSetChannelDescOutPicFormat, uint32_t, out_format)
SET(channel_desc, CHANNEL_DESC, aclvdecSetChannelDescOutPicWidth, uint32_t, width)
SET(channel_desc, CHANNEL_DESC, aclvdecSetChannelDescOutPicHeight, uint32_t, height)

/* ---- reports --------------------------------------------------------------------------------- */

static void deliver(void *argument)
{
    frame *f = argument;
    channel_desc *c = f->channel;
    c->done(f->in, f->out, f->user);
    free(f);
    pthread_mutex_lock(&lock);
    c->reporting--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static void finish(channel_desc *c, frame *f, uint32_t code)
{
    frame **at = &c->frames;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    if (c->last == &f->next)
        c->last = at;
    f->out->code = code;
    if (fake_knob("vdec_silent", -1) == f->number) { /* its report gets lost */
        free(f);
        pthread_cond_broadcast(&changed);
        return;
    }
    c->reporting++;
    fake_report(c->thread_id, deliver, f);
}

static frame *frame_of(const channel_desc *c, int64_t number)
{
    frame *f = c->frames;
    while (f && f->number != number)
        f = f->next;
    return f;
}

/* ---- decoding -------------------------------------------------------------------------------- */

static bool takes(const channel_desc *c, const AVFrame *decoded)
{
    return decoded->width >= SIDE_MIN && decoded->height >= SIDE_MIN &&
           decoded->width <= SIDE_MAX && decoded->height <= SIDE_MAX &&
           (uint32_t)decoded->width <= c->width && (uint32_t)decoded->height <= c->height &&
           (decoded->format == AV_PIX_FMT_YUV420P || decoded->format == AV_PIX_FMT_YUVJ420P) &&
           !decoded->decode_error_flags;
}

/* What lies beyond a row is not defined. */
static void write_picture(const channel_desc *c, const AVFrame *from, pic_desc *out)
{
    const size_t stride = FFMAX(32, FFALIGN(from->width, 16));
    const size_t rows = FFALIGN(from->height, 2);
    uint8_t *to = fake_memory(out->data, stride * rows * 3 / 2);
    const bool u_first = c->out_format == NV12;
    if (!to || stride * rows * 3 / 2 > out->size) {
        fake_complain("the output of %u bytes is too small for %dx%d", out->size, from->width,
                      from->height);
        return;
    }
    memset(to, 0xee, stride * rows * 3 / 2);
    for (int y = 0; y < from->height; y++)
        memcpy(to + (size_t)y * stride, from->data[0] + (ptrdiff_t)y * from->linesize[0],
               (size_t)from->width);
    for (int y = 0; y < from->height / 2; y++)
        for (int x = 0; x < from->width / 2; x++) {
            uint8_t *pair = to + (rows + (size_t)y) * stride + 2 * (size_t)x;
            pair[!u_first] = from->data[1][(ptrdiff_t)y * from->linesize[1] + x];
            pair[u_first] = from->data[2][(ptrdiff_t)y * from->linesize[2] + x];
        }
    out->width = (uint32_t)from->width;
    out->height = (uint32_t)from->height;
    out->width_stride = (uint32_t)stride;
    out->height_stride = (uint32_t)rows;
}

/* Reports what the decoder has, and what it has passed over. */
static void collect(channel_desc *c, bool all)
{
    AVFrame *decoded = av_frame_alloc();
    while (avcodec_receive_frame(c->decoder, decoded) >= 0) {
        const bool good = takes(c, decoded) && fake_knob("vdec_lose", -1) != decoded->pts;
        pthread_mutex_lock(&lock);
        frame *f = frame_of(c, decoded->pts);
        if (f && good)
            write_picture(c, decoded, f->out);
        if (f)
            finish(c, f, good ? 0 : DECODE_FAILED);
        pthread_mutex_unlock(&lock);
        av_frame_unref(decoded);
    }
    av_frame_free(&decoded);
    pthread_mutex_lock(&lock);
    for (frame *f = c->frames, *next; f; f = next) {
        next = f->next;
        if (f->taken && (all || f->number + REFERENCES < c->begun))
            finish(c, f, DECODE_FAILED);
    }
    pthread_mutex_unlock(&lock);
}

static void decode(channel_desc *c, frame *f)
{
    AVPacket *packet = av_packet_alloc();
    const uint8_t *coded = fake_memory(f->in->data, f->in->size);
    const int64_t number = f->number;
    if (!coded || av_new_packet(packet, (int)f->in->size) < 0)
        abort();
    memcpy(packet->data, coded, f->in->size);
    packet->pts = number;
    const uint64_t begin = fake_now();
    fake_delay("vdec_us");
    const int code = avcodec_send_packet(c->decoder, packet);
    fake_trace("decode", "frame", begin);
    av_packet_free(&packet);
    if (code >= 0)
        return;
    pthread_mutex_lock(&lock);
    f = frame_of(c, number);
    if (f)
        finish(c, f, DECODE_FAILED);
    pthread_mutex_unlock(&lock);
}

static void *decode_all(void *argument)
{
    channel_desc *c = argument;
    for (;;) {
        pthread_mutex_lock(&lock);
        frame *f;
        for (;;) {
            for (f = c->frames; f && f->taken;)
                f = f->next;
            if (f ? fake_knob("vdec_hang", -1) != f->number : c->stop)
                break;
            pthread_cond_wait(&changed, &lock);
        }
        if (f) {
            f->taken = true;
            c->begun++;
        }
        pthread_mutex_unlock(&lock);
        if (f) {
            decode(c, f);
            collect(c, false);
            continue;
        }
        avcodec_send_packet(c->decoder, NULL);
        collect(c, true);
        return NULL;
    }
}

/* ---- channels -------------------------------------------------------------------------------- */

API int aclvdecCreateChannel(channel_desc *c)
{
    const int code = fake_ready();
    if (code)
        return code;
    if (fake_knob("vdec_refuse", 0))
        return fake_fail((int)fake_knob("vdec_refuse", 0), "no channel of VDEC is left");
    if (!c || c->magic != CHANNEL_DESC || c->id >= CHANNELS || !c->thread_id || !c->done ||
        c->format >= STREAM_FORMATS || (c->out_format != NV12 && c->out_format != NV21) ||
        c->open || c->width > SIDE_MAX || c->height > SIDE_MAX || (!c->width) != (!c->height))
        return fake_fail(BAD_ARGUMENT, "a value of the channel is missing or wrong");
    const AVCodec *codec = avcodec_find_decoder(c->format ? AV_CODEC_ID_H264 : AV_CODEC_ID_HEVC);
    pthread_mutex_lock(&lock);
    const bool taken = channels[c->id];
    if (!taken)
        channels[c->id] = c;
    pthread_mutex_unlock(&lock);
    if (taken)
        return fake_fail(BAD_PARAMETER, "channel %u is in use", c->id);
    c->width = c->width ? c->width : USUAL_WIDTH;
    c->height = c->height ? c->height : USUAL_HEIGHT;
    c->decoder = avcodec_alloc_context3(codec);
    c->decoder->thread_count = 1;
    c->decoder->log_level_offset = 256; /* the program counts what libav has to say */
    c->last = &c->frames;
    if (avcodec_open2(c->decoder, codec, NULL) < 0)
        abort();
    fake_subscribe(c->thread_id, 1);
    c->open = true;
    if (pthread_create(&c->thread, NULL, decode_all, c))
        abort();
    return 0;
}

static bool has_start_code(const uint8_t *data, uint32_t size)
{
    return size > 4 && !data[0] && !data[1] && (data[2] == 1 || (!data[2] && data[3] == 1));
}

static const char *fault_of(const channel_desc *c, const stream_desc *in, const pic_desc *out)
{
    if (!in || in->magic != STREAM_DESC || in->format != c->format)
        return "the input is no stream of the channel's format";
    if (in->eos)
        return in->data || in->size ? "an end of stream with data" : NULL;
    if (!out || out->magic != PIC_DESC || out->format != c->out_format)
        return "the output is no picture of the channel's format";
    const uint8_t *coded = fake_memory(in->data, in->size);
    if (!in->size || !coded)
        return "the input is empty, or not in the chip's memory";
    if (!has_start_code(coded, in->size))
        return "the input is not in the form of annex B";
    if (!is_media(out->data) || !fake_memory(out->data, out->size))
        return "the output is not in memory of acldvppMalloc";
    return is_in_flight(in->data) || is_in_flight(out->data) ? "memory of a frame in the decoder"
                                                             : NULL;
}

/* Until all that was sent has been reported. */
static void drain(channel_desc *c)
{
    pthread_mutex_lock(&lock);
    const bool first = !c->stop;
    c->stop = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (first)
        pthread_join(c->thread, NULL);
    pthread_mutex_lock(&lock);
    while (c->frames || c->reporting)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void report_end(channel_desc *c, stream_desc *in, void *user)
{
    frame *f = calloc(1, sizeof *f);
    *f = (frame){NULL, c, in, NULL, user, 0, true};
    pthread_mutex_lock(&lock);
    c->reporting++;
    pthread_mutex_unlock(&lock);
    fake_report(c->thread_id, deliver, f);
}

#ifdef FAKE_NO_RUNTIME /* kit operators */
#define aclvdecSendFrame aclvdecSendSkippedFrame
#endif
API int aclvdecSendFrame(channel_desc *c, stream_desc *in, pic_desc *out, void *config, void *user)
{
    const int code = fake_ready();
    if (code)
        return code;
    if (!c || c->magic != CHANNEL_DESC || !c->open || c->stop || config) {
        fake_complain("a frame was sent to a channel that is not open");
        return BAD_PARAMETER;
    }
    pthread_mutex_lock(&lock);
    const char *fault = fault_of(c, in, out);
    pthread_mutex_unlock(&lock);
    if (fault) {
        fake_complain("%s", fault);
        return fake_fail(BAD_ARGUMENT, "%s", fault);
    }
    if (in->eos) {
        drain(c);
        report_end(c, in, user);
        return 0;
    }
    if (fake_knob("vdec_fail", -1) == frame_count++)
        return fake_fail((int)fake_knob("fail_with", INTERNAL), "the frame was refused");
    frame *f = calloc(1, sizeof *f);
    *f = (frame){NULL, c, in, out, user, 0, false};
    pthread_mutex_lock(&lock);
    f->number = c->sent++;
    *c->last = f;
    c->last = &f->next;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return 0;
}

API int aclvdecDestroyChannel(channel_desc *c)
{
    const int code = fake_ready();
    if (code)
        return code;
    if (!c || c->magic != CHANNEL_DESC || !c->open)
        return fake_fail(BAD_PARAMETER, "the channel is not open");
    drain(c);
    fake_subscribe(c->thread_id, -1);
    avcodec_free_context(&c->decoder);
    pthread_mutex_lock(&lock);
    channels[c->id] = NULL;
    pthread_mutex_unlock(&lock);
    c->open = false;
    return 0;
}
