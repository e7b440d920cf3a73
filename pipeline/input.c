#include "input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <libavutil/pixdesc.h>

#include "container.h"
#include "pixels.h"

/* What libav would report as "Invalid data" or open as something odd is said plainly here. */
static bool check_file(const char *path, pipeline_error *error)
{
    struct stat status;
    if (stat(path, &status))
        return pipeline_fail(error, "%s: cannot be read: %s", path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return pipeline_fail(error, "%s: expected a video or an image, found a directory", path);
    if (S_ISREG(status.st_mode) && !status.st_size)
        return pipeline_fail(error, "%s: expected a video or an image, found an empty file", path);
    return true;
}

/* "1280x720:yuv420p:25" as options of libav's raw video reader. */
static bool describe_raw(const char *raw, AVDictionary **options, pipeline_error *error)
{
    char size[32], format[32], rate[32], rest;
    if (sscanf(raw, "%31[0-9x]:%31[^:]:%31[0-9./]%c", size, format, rate, &rest) != 3 ||
        av_get_pix_fmt(format) == AV_PIX_FMT_NONE)
        return pipeline_fail(
            error,
            "--raw: expected WIDTHxHEIGHT:PIXEL_FORMAT:RATE as in 1280x720:yuv420p:25, found '%s'",
            raw);
    av_dict_set(options, "video_size", size, 0);
    av_dict_set(options, "pixel_format", format, 0);
    av_dict_set(options, "framerate", rate, 0);
    return true;
}

static bool open_container(input *in, const input_settings *s, pipeline_error *error)
{
    char url[4096];
    AVDictionary *options = NULL;
    bool piped = !strcmp(s->path, "-");
    if (snprintf(url, sizeof url, piped ? "pipe:0" : "file:%s", s->path) >= (int)sizeof url)
        return pipeline_fail(error, "%s: the name is too long", in->path);
    if (s->raw && !describe_raw(s->raw, &options, error)) {
        av_dict_free(&options);
        return false;
    }
    /* A playlist must not reach anything but files. */
    av_dict_set(&options, "protocol_whitelist", piped ? "pipe" : "file", 0);
    int code = avformat_open_input(&in->format, url,
                                   s->raw ? av_find_input_format("rawvideo") : NULL, &options);
    av_dict_free(&options);
    if (code == AVERROR_INVALIDDATA)
        return pipeline_fail(
            error, "%s: expected a video or an image, found data of no known format", in->path);
    if (code < 0)
        return pipeline_fail_av(error, code, "%s: cannot be opened", in->path);
    /* libav renders plain text as a terminal would and calls that a video. */
    if (!strcmp(in->format->iformat->name, "tty"))
        return pipeline_fail(error, "%s: expected a video or an image, found text", in->path);
    code = avformat_find_stream_info(in->format, NULL);
    return code >= 0 || pipeline_fail_av(error, code, "%s: cannot be read", in->path);
}

/* The first that is a video, not a picture of the file. */
static bool find_video(input *in, pipeline_error *error)
{
    for (unsigned i = 0; i < in->format->nb_streams; i++) {
        AVStream *stream = in->format->streams[i];
        if (stream->codecpar->codec_type != AVMEDIA_TYPE_VIDEO || container_is_cover(stream))
            continue;
        if (!in->video)
            in->video = stream;
        else
            pipeline_note(in->notes, "%s: stream %u is a video too; it is copied as it is",
                          in->path, i);
    }
    return in->video ||
           pipeline_fail(error, "%s: expected a video stream, found none among %u streams",
                         in->path, in->format->nb_streams);
}

static bool check_video(const input *in, pipeline_error *error)
{
    const AVCodecParameters *video = in->video->codecpar;
    if (video->width <= 0 || video->height <= 0)
        return pipeline_fail(error, "%s: the video's size is unknown", in->path);
    if (!pixels_check(in->path, video->format, error))
        return false;
    if (video->width > MONA_MAX_SIDE || video->height > MONA_MAX_SIDE)
        return pipeline_fail(error, "%s: expected at most %d pixels a side, found %dx%d", in->path,
                             MONA_MAX_SIDE, video->width, video->height);
    return true;
}

static bool open_decoder(input *in, pipeline_error *error)
{
    const AVCodecParameters *video = in->video->codecpar;
    const AVCodec *codec = avcodec_find_decoder(video->codec_id);
    if (!codec)
        return pipeline_fail(error, "%s: no decoder for %s", in->path,
                             avcodec_get_name(video->codec_id));
    in->decoder = avcodec_alloc_context3(codec);
    if (!in->decoder)
        return pipeline_fail(error, "out of memory");
    int code = avcodec_parameters_to_context(in->decoder, video);
    in->decoder->pkt_timebase = in->video->time_base;
    in->decoder->thread_count = 0;
    if (code >= 0)
        code = avcodec_open2(in->decoder, codec, NULL);
    return code >= 0 ||
           pipeline_fail_av(error, code, "%s: the %s decoder cannot start", in->path, codec->name);
}

/* start in a stream's own time base; 0 when nothing is left out. */
static int64_t start_in(const input *in, AVRational time_base)
{
    return in->start == AV_NOPTS_VALUE ? 0 : av_rescale_q(in->start, AV_TIME_BASE_Q, time_base);
}

/* Moves to the last key frame before start. A file that cannot be searched is read from its
 * beginning; frames before start are dropped either way. */
static void seek(input *in, double start)
{
    int64_t origin = in->format->start_time == AV_NOPTS_VALUE ? 0 : in->format->start_time;
    in->start = origin + (int64_t)(start * AV_TIME_BASE);
    if (in->format->iformat->flags & AVFMT_NOTIMESTAMPS)
        in->next_pts = -start_in(in, in->video->time_base);
    else
        avformat_seek_file(in->format, -1, INT64_MIN, in->start, in->start, 0);
}

bool input_open(input *in, const input_settings *s, pipeline_error *error)
{
    bool piped = !strcmp(s->path, "-");
    *in = (input){.path = piped ? "standard input" : s->path,
                  .notes = s->notes,
                  .start = AV_NOPTS_VALUE,
                  .last_pts = INT64_MIN};
    in->packet = av_packet_alloc();
    in->frame = av_frame_alloc();
    if (!in->packet || !in->frame)
        return pipeline_fail(error, "out of memory");
    if ((!piped && !check_file(s->path, error)) || !open_container(in, s, error) ||
        !find_video(in, error) || !check_video(in, error) || !open_decoder(in, error))
        return false;
    if (s->start > 0)
        seek(in, s->start);
    return true;
}

frame_format input_format(const input *in)
{
    const AVCodecParameters *video = in->video->codecpar;
    return pixels_frame_format(video->format, video->width, video->height);
}

AVRational input_frame_rate(const input *in)
{
    AVRational rate = av_guess_frame_rate(in->format, in->video, NULL);
    return rate.num > 0 && rate.den > 0 ? rate : (AVRational){25, 1};
}

int64_t input_bit_rate(const input *in)
{
    int64_t rate = in->format->bit_rate;
    if (in->video->codecpar->bit_rate > 0)
        return in->video->codecpar->bit_rate;
    for (unsigned i = 0; i < in->format->nb_streams; i++)
        rate -= FFMAX(in->format->streams[i]->codecpar->bit_rate, 0);
    return FFMAX(rate, 0);
}

uint64_t input_frame_estimate(const input *in)
{
    double seconds = 0, skipped = 0;
    if (in->start != AV_NOPTS_VALUE)
        skipped = (double)(in->start - FFMAX(in->format->start_time, 0)) / AV_TIME_BASE;
    if (in->video->nb_frames > 0 && skipped <= 0)
        return (uint64_t)in->video->nb_frames;
    if (in->video->duration > 0)
        seconds = (double)in->video->duration * av_q2d(in->video->time_base);
    else if (in->format->duration > 0 && !(in->format->iformat->flags & AVFMT_NOTIMESTAMPS))
        seconds = (double)in->format->duration / AV_TIME_BASE;
    seconds -= skipped;
    return seconds > 0 ? (uint64_t)(seconds * av_q2d(input_frame_rate(in)) + 0.5) : 0;
}

/* Passes one packet of another stream on, shifted to begin at start. */
static bool copy_packet(input *in, pipeline_error *error)
{
    AVPacket *packet = in->packet;
    AVStream *stream = in->format->streams[packet->stream_index];
    int64_t time = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    int64_t start = start_in(in, stream->time_base);
    if (!container_is_cover(stream)) {
        if (in->start != AV_NOPTS_VALUE && time != AV_NOPTS_VALUE && time < start)
            return true;
        if (packet->pts != AV_NOPTS_VALUE)
            packet->pts -= start;
        if (packet->dts != AV_NOPTS_VALUE)
            packet->dts -= start;
    }
    return in->copy(in->copy_context, packet, error);
}

/* Reads one packet and sends it where it belongs. */
static bool feed(input *in, pipeline_error *error)
{
    int code = av_read_frame(in->format, in->packet);
    if (code == AVERROR_EOF) {
        in->draining = true;
        avcodec_send_packet(in->decoder, NULL);
        return true;
    }
    if (code < 0)
        return pipeline_fail_av(error, code, "%s: reading failed", in->path);

    bool passed = true;
    if (in->packet->stream_index != in->video->index) {
        passed = copy_packet(in, error);
    } else {
        code = avcodec_send_packet(in->decoder, in->packet);
        if (code == AVERROR(ENOMEM))
            passed = pipeline_fail(error, "%s: out of memory while decoding", in->path);
        else if (code < 0)
            in->lost_packets++;
    }
    av_packet_unref(in->packet);
    return passed;
}

/* Gives the frame its final timestamp: its own; or, where there is none, the end of the one before.
 * False: it lies before start. */
static bool place_frame(input *in)
{
    AVFrame *frame = in->frame;
    int64_t start = start_in(in, in->video->time_base);
    int64_t pts = frame->best_effort_timestamp;
    if (frame->pkt_duration <= 0)
        frame->pkt_duration =
            FFMAX(1, av_rescale_q(1, av_inv_q(input_frame_rate(in)), in->video->time_base));
    if (pts == AV_NOPTS_VALUE)
        pts = in->next_pts + start;
    pts -= start;
    if (in->start != AV_NOPTS_VALUE && pts < 0) {
        in->next_pts = pts + frame->pkt_duration;
        return false;
    }
    if (pts <= in->last_pts) {
        pts = in->last_pts + 1;
        in->moved_frames++;
    }
    frame->pts = in->last_pts = pts;
    in->next_pts = pts + frame->pkt_duration;
    return true;
}

static bool check_frame(const input *in, pipeline_error *error)
{
    const AVFrame *frame = in->frame;
    const AVCodecParameters *video = in->video->codecpar;
    if (frame->width == video->width && frame->height == video->height &&
        pixels_plain(frame->format) == pixels_plain(video->format))
        return true;
    return pipeline_fail(error,
                         "%s: expected every frame to be %dx%d %s as the first, found one of %dx%d "
                         "%s",
                         in->path, video->width, video->height, pixels_name(video->format),
                         frame->width, frame->height, pixels_name(frame->format));
}

input_result input_next(input *in, pipeline_error *error)
{
    for (;;) {
        int code = avcodec_receive_frame(in->decoder, in->frame);
        if (code == AVERROR(EAGAIN)) {
            if (!feed(in, error))
                return INPUT_FAILED;
            continue;
        }
        if (code == AVERROR_EOF)
            return INPUT_END;
        if (code < 0) {
            if (in->draining && code != AVERROR_INVALIDDATA) {
                pipeline_fail_av(error, code, "%s: decoding failed", in->path);
                return INPUT_FAILED;
            }
            in->lost_packets++;
            continue;
        }
        if (!check_frame(in, error))
            return INPUT_FAILED;
        if (in->frame->decode_error_flags || (in->frame->flags & AV_FRAME_FLAG_CORRUPT))
            in->damaged_frames++;
        if (place_frame(in))
            return INPUT_FRAME;
    }
}

/* Whether a stream will still have packets before end: subtitles and data come when they like and
 * are not waited for. */
static bool all_audio_past(const input *in, const int64_t *last, int64_t end)
{
    for (unsigned i = 0; i < in->format->nb_streams && i < 64; i++) {
        const AVStream *stream = in->format->streams[i];
        if (stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO &&
            av_compare_ts(last[i], stream->time_base, end, in->video->time_base) < 0)
            return false;
    }
    return true;
}

bool input_copy_until(input *in, int64_t end, pipeline_error *error)
{
    int64_t last[64] = {0}; /* latest timestamp of each stream, shifted as the copies are */

    while (!in->draining && !all_audio_past(in, last, end)) {
        int code = av_read_frame(in->format, in->packet);
        if (code == AVERROR_EOF)
            return true;
        if (code < 0)
            return pipeline_fail_av(error, code, "%s: reading failed", in->path);
        unsigned index = (unsigned)in->packet->stream_index;
        AVRational time_base = in->format->streams[index]->time_base;
        int64_t dts = in->packet->dts;
        if (index < 64 && dts != AV_NOPTS_VALUE)
            last[index] = dts - start_in(in, time_base);
        bool passed = true;
        if (index != (unsigned)in->video->index &&
            (dts == AV_NOPTS_VALUE || av_compare_ts(dts - start_in(in, time_base), time_base, end,
                                                    in->video->time_base) < 0))
            passed = copy_packet(in, error);
        av_packet_unref(in->packet);
        if (!passed)
            return false;
    }
    return true;
}

void input_close(input *in)
{
    avcodec_free_context(&in->decoder);
    avformat_close_input(&in->format);
    av_packet_free(&in->packet);
    av_frame_free(&in->frame);
}
