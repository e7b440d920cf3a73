// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/sources/source.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "pipeline/base/clock.h"
#include "pipeline/base/av_compat.h"
#include "pipeline/io/containers/media_file.h"
#include "pipeline/io/sources/input.h"

/* Clocks of cameras drift by less; the base follows one that gains. */
static const double DRIFT = 2e-4;

/* The size may be known only from a key frame on, which cameras send every few seconds. */
enum { ANALYSE_SECONDS = 5 };

/* A packet that lies unread is there within microseconds. */
enum { WAIT_NS = 2000000, CATCH_UP_NS = 1000000000 };

/* ---- waiting -------------------------------------------------------------------------------- */

static bool ended(const live *l)
{
    return l->settings.ends && atomic_load(l->settings.ends);
}

/* libav's callback: whether it shall give up what it waits for. */
static int gives_up(void *context)
{
    const live *l = context;
    return ended(l) || clock_ns() > l->deadline;
}

static void give_time(live *l)
{
    l->deadline = clock_ns() + (uint64_t)(1e9 * l->settings.stall);
}

/* Sleeps, but no longer than to the end. */
static void pause_for(const live *l, double seconds)
{
    const uint64_t until = clock_ns() + (uint64_t)(1e9 * seconds);
    while (!ended(l) && clock_ns() < until)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

/* ---- connecting ----------------------------------------------------------------------------- */

static int connect_to(live *l, const AVInputFormat *format, AVDictionary **options)
{
    l->connection = avformat_alloc_context();
    if (!l->connection)
        return AVERROR(ENOMEM);
    l->connection->interrupt_callback = (AVIOInterruptCB){gives_up, l};
    l->connection->max_analyze_duration = ANALYSE_SECONDS * AV_TIME_BASE;
    if (!media_guard(l->connection, l->settings.url, l->settings.address, l->settings.list,
                     options))
        return AVERROR(ENOMEM);
    l->opened = clock_ns();
    l->has_first = l->caught_up = false;
    give_time(l);
    int code = avformat_open_input(&l->connection, l->settings.address, format, options);
    give_time(l);
    l->deadline += ANALYSE_SECONDS * UINT64_C(1000000000);
    if (code >= 0 && l->settings.url)
        media_opened_remote(l->connection);
    if (code >= 0)
        code = source_describe(l->connection, l->settings.max_pixels);
    l->examined = clock_ns();
    return code == AVERROR_EXIT && !ended(l) ? AVERROR(ETIMEDOUT) : code;
}

static bool copy_stream(AVFormatContext *to, const AVStream *from)
{
    AVStream *stream = avformat_new_stream(to, NULL);
    if (!stream || avcodec_parameters_copy(stream->codecpar, from->codecpar) < 0 ||
        av_dict_copy(&stream->metadata, from->metadata, 0) < 0 ||
        !avstream_copy_side_data(stream, from, AV_PKT_DATA_NB))
        return false;
    stream->id = from->id;
    stream->disposition = from->disposition;
    stream->time_base = from->time_base;
    stream->avg_frame_rate = from->avg_frame_rate;
    stream->r_frame_rate = from->r_frame_rate;
    stream->sample_aspect_ratio = from->sample_aspect_ratio;
    stream->start_time = from->start_time;
    return true;
}

static bool copy_programme(AVFormatContext *to, const AVProgram *from)
{
    AVProgram *made = av_new_program(to, from->id);
    if (!made || av_dict_copy(&made->metadata, from->metadata, 0) < 0)
        return false;
    for (unsigned i = 0; i < from->nb_stream_indexes; i++)
        av_program_add_stream_index(to, from->id, from->stream_index[i]);
    return true;
}

static bool describe(live *l)
{
    const AVFormatContext *from = l->connection;
    AVFormatContext *to = l->described = avformat_alloc_context();
    if (!to)
        return false;
    to->iformat = from->iformat;
    to->start_time = from->start_time;
    to->bit_rate = from->bit_rate;
    for (unsigned i = 0; i < from->nb_streams; i++)
        if (!copy_stream(to, from->streams[i]))
            return false;
    for (unsigned i = 0; i < from->nb_programs; i++)
        if (!copy_programme(to, from->programs[i]))
            return false;
    return av_dict_copy(&to->metadata, from->metadata, 0) >= 0;
}

/* The streams must be those of before; their sizes may differ. */
static bool is_same(const live *l)
{
    const AVFormatContext *a = l->connection, *b = l->described;
    bool same = a->nb_streams >= b->nb_streams;
    for (unsigned i = 0; same && i < b->nb_streams; i++)
        same = a->streams[i]->codecpar->codec_id == b->streams[i]->codecpar->codec_id;
    return same;
}

static bool try_again(live *l)
{
    AVDictionary *options = NULL;
    avformat_close_input(&l->connection);
    const int code = url_options(l->settings.url, l->settings.stall, &options)
                         ? connect_to(l, NULL, &options)
                         : AVERROR(ENOMEM);
    av_dict_free(&options);
    return code >= 0 && (!l->described || is_same(l));
}

/* Tries until the connection stands, at growing distances, or the patience is over. what: happened,
 * by code. */
static bool keep_trying(live *l, const char *what, int code)
{
    const live_settings *s = &l->settings;
    enum { FIRST_MS = 100, LONGEST_MS = 5000 };
    const uint64_t began = clock_ns();
    char reason[AV_ERROR_MAX_STRING_SIZE] = "";
    if (!s->url || s->url->camera || s->patience <= 0 || ended(l))
        return false;
    av_strerror(code, reason, sizeof reason);
    pipeline_note(s->notes, "%s: %s (%s); trying again for %g s", s->path, what, reason,
                  s->patience);
    for (unsigned ms = FIRST_MS; !try_again(l); ms = ms < LONGEST_MS / 2 ? 2 * ms : LONGEST_MS) {
        if (ended(l) || 1e-9 * (double)(clock_ns() - began) + 1e-3 * ms > s->patience)
            return false;
        pause_for(l, 1e-3 * ms);
    }
    return true;
}

static bool reconnect(live *l, int code)
{
    if ((code == AVERROR_EOF && l->bursts) || !keep_trying(l, "the connection broke", code))
        return false;
    const double gap = 1e-9 * (double)(clock_ns() - l->reached_at);
    l->reconnects++;
    l->restarted = l->rebases = true;
    l->has_base = false;
    pipeline_note(l->settings.notes, "%s: connected again after %.1f s", l->settings.path, gap);
    return true;
}

/* A camera may start after us; a name that is wrong does not get better. */
static bool may_come(int code)
{
    return code == AVERROR(ECONNREFUSED) || code == AVERROR(ETIMEDOUT) ||
           code == AVERROR(EHOSTUNREACH) || code == AVERROR(ENETUNREACH);
}

static void live_close(live *l)
{
    avformat_close_input(&l->connection);
    avformat_free_context(l->described);
    *l = (live){0};
}

/* Opens a connection and describes its streams. options: of libav, for this time. Whether it
 * succeeds or not, live_close releases what there is. */
static bool live_open(live *l, const live_settings *settings, const AVInputFormat *format,
                      AVDictionary **options, pipeline_error *error)
{
    *l = (live){.settings = *settings, .restarted = true};
    const int code = connect_to(l, format, options);
    l->settings.address = settings->path;
    if (code < 0 && !settings->url &&
        media_refused(settings->path, settings->address, settings->list, error))
        return false;
    if (code < 0 && !(may_come(code) && keep_trying(l, "no connection yet", code)))
        return pipeline_fail_av(error, code, "%s: cannot be opened", settings->path);
    if (!source_limit_streams(settings->path, l->connection, settings->max_streams, error))
        return false;
    l->bursts = reader_of(l->connection->iformat)->bursts;
    return describe(l) || pipeline_fail(error, "out of memory");
}

/* ---- packets -------------------------------------------------------------------------------- */

/* Puts a packet onto the timeline, which goes on by the time that passed without a connection. */
static void place(live *l, AVPacket *packet)
{
    const AVRational from = l->connection->streams[packet->stream_index]->time_base;
    const AVRational to = l->described->streams[packet->stream_index]->time_base;
    const int64_t time = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts;
    av_packet_rescale_ts(packet, from, to);
    if (time == AV_NOPTS_VALUE)
        return;
    const uint64_t now = clock_ns();
    const int64_t told = av_rescale_q(time, from, AV_TIME_BASE_Q);
    if (l->rebases)
        l->offset = l->reached + (int64_t)((now - l->reached_at) / 1000) - told;
    l->rebases = false;
    l->reached = FFMAX(l->reached, told + l->offset);
    l->first = l->has_first ? l->first : told + l->offset;
    l->has_first = true;
    l->reached_at = now;
    const int64_t offset = av_rescale_q(l->offset, AV_TIME_BASE_Q, to);
    if (packet->pts != AV_NOPTS_VALUE)
        packet->pts += offset;
    if (packet->dts != AV_NOPTS_VALUE)
        packet->dts += offset;
}

/* Reads a packet with the described streams' times and indices; connects again where that is to be
 * done. Returns 0, AVERROR_EOF at the end, or libav's error, which is final. */
static int live_read(live *l, AVPacket *packet)
{
    for (;;) {
        const uint64_t asked = clock_ns();
        give_time(l);
        int code = av_read_frame(l->connection, packet);
        media_pass_lost(l->described, l->connection);
        l->caught_up = l->caught_up || clock_ns() - asked > WAIT_NS;
        if (ended(l)) {
            av_packet_unref(packet);
            return AVERROR_EOF;
        }
        if (code >= 0 && (unsigned)packet->stream_index < l->described->nb_streams) {
            place(l, packet);
            return 0;
        }
        if (code >= 0) {
            av_packet_unref(packet);
            continue;
        }
        if (code == AVERROR(EAGAIN)) {
            pause_for(l, 0.002);
            continue;
        }
        code = code == AVERROR_EXIT ? AVERROR(ETIMEDOUT) : code;
        if (!reconnect(l, code))
            return ended(l) ? AVERROR_EOF : code;
    }
}

/* Whether this packet of the video is the first that can be decoded after a new connection, whose
 * headers it then carries. */
static bool live_restarts(live *l, AVPacket *packet)
{
    const AVCodecParameters *video = l->connection->streams[packet->stream_index]->codecpar;
    if (!l->restarted || !(packet->flags & AV_PKT_FLAG_KEY))
        return false;
    l->restarted = false;
    uint8_t *data = video->extradata_size
                        ? av_packet_new_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA,
                                                  (size_t)video->extradata_size)
                        : NULL;
    if (data)
        memcpy(data, video->extradata, (size_t)video->extradata_size);
    return true;
}

/* ---- times ---------------------------------------------------------------------------------- */

static double in_ns(int64_t time, AVRational time_base)
{
    return 1e9 * (double)time * av_q2d(time_base);
}

/* Remembers when a packet of the video came in. */
static void live_note(live *l, const AVPacket *packet, AVRational time_base)
{
    const uint64_t now = clock_ns();
    const int64_t dts = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts;
    l->marks[l->marked++ % LIVE_MARKS] =
        (live_mark){packet->pts != AV_NOPTS_VALUE ? packet->pts : dts, now};
    if (dts == AV_NOPTS_VALUE)
        return;
    const double early = (double)now - in_ns(dts, time_base);
    if (l->has_base)
        l->base += DRIFT * (double)(now - l->based_at);
    if (!l->has_base || early < l->base)
        l->base = early;
    l->has_base = true;
    l->based_at = now;
}

double live_lag(const live *l, int64_t dts, AVRational time_base)
{
    return l->has_base && !l->bursts && dts != AV_NOPTS_VALUE
               ? (double)clock_ns() - l->base - in_ns(dts, time_base)
               : 0;
}

/* A stream that is ahead of the clock is a file. */
bool live_behind(const live *l)
{
    const uint64_t now = clock_ns();
    return !l->bursts && !l->caught_up && l->has_first && now > l->examined + CATCH_UP_NS &&
           l->reached - l->first < (int64_t)((now - l->opened) / 1000);
}

uint64_t live_arrival(const live *l, int64_t pts)
{
    for (unsigned i = 1; i <= LIVE_MARKS && i <= l->marked; i++) {
        const live_mark *m = &l->marks[(l->marked - i) % LIVE_MARKS];
        if (m->pts == pts)
            return m->arrived;
    }
    return clock_ns();
}

/* ---- as a source ----------------------------------------------------------------------------- */

static bool is_live(const input_settings *settings)
{
    return settings->live;
}

static bool open_source(source *s, const input_settings *settings, pipeline_error *error)
{
    char address[SOURCE_ADDRESS];
    AVDictionary *options = NULL;
    const url *u = url_find(settings->path);
    live_settings live = *settings->live;
    if (!source_address(address, s, settings, error))
        return false;
    if (settings->raw && !source_describe_raw(settings->raw, &options, error))
        return av_dict_free(&options), false;
    if (u && !url_options(u, live.stall, &options))
        pipeline_fail(error, "out of memory");
    const AVInputFormat *format = u               ? url_input_format(u, error)
                                  : settings->raw ? av_find_input_format("rawvideo")
                                                  : source_reader(address, settings);
    live.url = u;
    live.path = s->path;
    live.address = address;
    live.list = settings->list;
    live.notes = s->notes;
    const bool opened = !error->text[0] && live_open(&s->live, &live, format, &options, error);
    s->format = s->live.described;
    av_dict_free(&options);
    return opened;
}

static int read_packet(source *s, AVPacket *packet)
{
    return live_read(&s->live, packet);
}

/* One that comes so late that decoding cannot keep up is left out, with all that follow up to a key
 * frame, and so are those that begin a new connection. */
static bool skips(source *s, AVPacket *packet, AVRational tick, AVCodecContext *decoder)
{
    static const double LATE_NS = 2e9;
    live *l = &s->live;
    live_note(l, packet, tick);
    if (live_restarts(l, packet))
        avcodec_flush_buffers(decoder);
    if (live_lag(l, packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts, tick) > LATE_NS)
        l->skipping = true;
    else if (packet->flags & AV_PKT_FLAG_KEY)
        l->skipping = false;
    return l->skipping || l->restarted;
}

static void close_source(source *s)
{
    s->format = NULL;
    live_close(&s->live);
}

const source_kind source_live = {is_live, open_source,  read_packet, NULL, NULL,
                                 skips,   close_source, true,        false};
