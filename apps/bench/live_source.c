// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/live_source.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "apps/cli/options.h"
#include "pipeline/base/clock.h"
#include "pipeline/base/av_compat.h"
#include "pipeline/io/containers/media_file.h"

/* NUT says with each packet how long it is, so nobody waits for the next to know. */
static const char CONTAINER[] = "nut";

/* GATE_SECONDS: how long it may take until all streams have a frame out. */
enum { BUFFER = 1 << 16, GATE_SECONDS = 300 };

typedef struct sending {
    live_source *source;
    AVFormatContext *in, *out;
    int video, connection;
    size_t packets; /* sent */
    int64_t first;  /* the first frame's time, in frames */
    live_clock clock;
} sending;

static bool fail(live_source *s, const char *what, int code)
{
    char why[AV_ERROR_MAX_STRING_SIZE] = "";
    av_strerror(code, why, sizeof why);
    snprintf(s->failure, sizeof s->failure, "%s: %s: %s", s->clip, what, why);
    return false;
}

/* ---- waiting -------------------------------------------------------------------------------- */

static bool is_over(const live_source *s)
{
    return atomic_load(&s->ends) || (s->gate && atomic_load(&s->gate->broken));
}

static void wait_until(const live_source *s, uint64_t ns)
{
    while (!is_over(s) && clock_ns() < ns) {
        const uint64_t left = ns - clock_ns(), piece = left < 20000000 ? left : 20000000;
        nanosleep(&(struct timespec){.tv_nsec = (long)piece}, NULL);
    }
}

/* Whether another frame is sent. Those of a stream among others begin to warm up when all have a
 * frame out. */
static bool goes_on(const sending *s)
{
    live_source *source = s->source;
    live_gate *g = source->gate;
    if (g && atomic_load(&source->first) == SIZE_MAX && atomic_load(&g->there) == g->cameras)
        atomic_store(&source->first, s->packets + source->warm_up);
    const size_t first = atomic_load(&source->first);
    return !is_over(source) && s->packets < source->capacity &&
           (first == SIZE_MAX || s->packets < first + source->frames);
}

/* ---- sending -------------------------------------------------------------------------------- */

static int send_all(void *opaque, avio_bytes *bytes, int size)
{
    const sending *s = opaque;
    for (int done = 0; done < size;) {
        const ssize_t n = send(s->connection, bytes + done, (size_t)(size - done), MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return AVERROR(errno);
        done += n > 0 ? (int)n : 0;
    }
    return size;
}

static int open_clip(sending *s)
{
    AVDictionary *options = NULL;
    s->in = avformat_alloc_context();
    int code = s->in && media_guard(s->in, false, s->source->clip, NULL, &options)
                   ? avformat_open_input(&s->in, s->source->clip, NULL, &options)
                   : AVERROR(ENOMEM);
    av_dict_free(&options);
    if (code >= 0)
        code = avformat_find_stream_info(s->in, NULL);
    if (code >= 0)
        code = s->video = av_find_best_stream(s->in, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
    return code;
}

/* Times of the stream are counted in frames. */
static int open_stream(sending *s)
{
    const AVStream *from = s->in->streams[s->video];
    int code = avformat_alloc_output_context2(&s->out, NULL, CONTAINER, NULL);
    AVStream *to = code >= 0 ? avformat_new_stream(s->out, NULL) : NULL;
    unsigned char *buffer = to ? av_malloc(BUFFER) : NULL;
    if (!buffer || avcodec_parameters_copy(to->codecpar, from->codecpar) < 0)
        return AVERROR(ENOMEM);
    /* Tags of other containers are not NUT's, and raw samples have nothing else to say what they
     * are. */
    to->codecpar->codec_tag = from->codecpar->codec_id == AV_CODEC_ID_RAWVIDEO
                                  ? avcodec_pix_fmt_to_codec_tag(from->codecpar->format)
                                  : 0;
    to->time_base = av_inv_q(av_d2q(s->source->pace.fps, 1 << 20));
    to->avg_frame_rate = av_inv_q(to->time_base);
    s->out->pb = avio_alloc_context(buffer, BUFFER, 1, s, NULL, send_all, NULL);
    if (!s->out->pb)
        return AVERROR(ENOMEM);
    s->out->flags |= AVFMT_FLAG_FLUSH_PACKETS;
    code = avformat_write_header(s->out, NULL);
    avio_flush(s->out->pb);
    return code;
}

/* Reads the clip's next packet of video; after its last one, the first again. */
static int read_packet(sending *s, AVPacket *packet)
{
    bool again = false;
    for (;;) {
        const int code = av_read_frame(s->in, packet);
        if (code >= 0 && packet->stream_index == s->video)
            return 0;
        if (code >= 0)
            av_packet_unref(packet);
        else if (code != AVERROR_EOF || again ||
                 av_seek_frame(s->in, -1, 0, AVSEEK_FLAG_BACKWARD) < 0)
            return code;
        again = code < 0 || again;
    }
}

/* Gives a packet the time of the camera, and notes when its frame was due. */
static void place(sending *s, AVPacket *packet)
{
    const AVStream *from = s->in->streams[s->video], *to = s->out->streams[0];
    const AVRational rate = from->avg_frame_rate.num ? from->avg_frame_rate : (AVRational){25, 1};
    const bool ordered = packet->pts != AV_NOPTS_VALUE && packet->dts != AV_NOPTS_VALUE;
    const int64_t ahead =
        ordered ? av_rescale_q(packet->pts - packet->dts, from->time_base, av_inv_q(rate)) : 0;
    const int64_t time = (int64_t)s->packets + ahead;
    const AVRational frame = av_inv_q(av_d2q(s->source->pace.fps, 1 << 20));
    s->first = s->packets ? s->first : time;
    if (time >= s->first && (size_t)(time - s->first) < s->source->capacity)
        atomic_store(&s->source->sent_at[time - s->first], s->clock.last);
    packet->pts = time;
    packet->dts = (int64_t)s->packets;
    packet->duration = 1;
    packet->stream_index = 0;
    packet->pos = -1;
    av_packet_rescale_ts(packet, frame, to->time_base);
}

static int send_clip(sending *s)
{
    AVPacket *packet = av_packet_alloc();
    int code = packet ? 0 : AVERROR(ENOMEM);
    s->clock = live_clock_of(&s->source->pace, s->source->camera, clock_ns());
    for (; code >= 0 && goes_on(s); s->packets++) {
        if ((code = read_packet(s, packet)) < 0)
            break;
        wait_until(s->source, live_clock_next(&s->clock));
        if (is_over(s->source))
            break;
        place(s, packet);
        code = av_write_frame(s->out, packet);
        avio_flush(s->out->pb);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return code;
}

static bool wait_for_client(sending *s)
{
    struct pollfd ready = {.fd = s->source->listener, .events = POLLIN};
    while (!atomic_load(&s->source->ends) && poll(&ready, 1, 20) == 0)
        ;
    s->connection = accept(s->source->listener, NULL, NULL);
    setsockopt(s->connection, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    return s->connection >= 0;
}

static void *serve(void *argument)
{
    live_source *source = argument;
    sending s = {.source = source, .connection = -1};
    int code = open_clip(&s);
    if (code < 0) {
        fail(source, "cannot be read", code);
        shutdown(source->listener, SHUT_RDWR);
    } else if (wait_for_client(&s)) {
        code = open_stream(&s);
        if (code >= 0)
            code = send_clip(&s);
        if (code < 0 && !is_over(source))
            fail(source, "cannot be sent", code);
        if (s.out && s.out->pb)
            av_write_trailer(s.out);
    }
    if (s.connection >= 0)
        close(s.connection);
    if (s.out && s.out->pb) {
        av_freep(&s.out->pb->buffer);
        avio_context_free(&s.out->pb);
    }
    avformat_free_context(s.out);
    avformat_close_input(&s.in);
    return NULL;
}

/* ---- opening -------------------------------------------------------------------------------- */

static bool listen_somewhere(live_source *s)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof here;
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&here, sizeof here) ||
        listen(s->listener, 1) || getsockname(s->listener, (struct sockaddr *)&here, &size))
        return cli_fail(0, "no port on the loopback: %s", strerror(errno));
    snprintf(s->address, sizeof s->address, "tcp://127.0.0.1:%d", ntohs(here.sin_port));
    return true;
}

bool live_source_open(live_source *s)
{
    s->capacity = s->warm_up + s->frames + (s->gate ? (size_t)(GATE_SECONDS * s->pace.fps) : 0);
    s->first = s->gate ? SIZE_MAX : s->warm_up;
    s->sent_at = calloc(s->capacity, sizeof *s->sent_at);
    if (!s->sent_at)
        return cli_fail(0, "out of memory");
    if (!listen_somewhere(s))
        return false;
    s->runs = !pthread_create(&s->thread, NULL, serve, s);
    return s->runs || cli_fail(0, "a thread cannot be started");
}

void live_source_close(live_source *s)
{
    atomic_store(&s->ends, true);
    if (s->listener >= 0)
        shutdown(s->listener, SHUT_RDWR);
    if (s->runs)
        pthread_join(s->thread, NULL);
    if (s->listener >= 0)
        close(s->listener);
    s->runs = false;
    s->listener = -1;
}

void live_source_free(live_source *s)
{
    free(s->sent_at);
    s->sent_at = NULL;
}
