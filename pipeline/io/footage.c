// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/footage.h"

#include <math.h>
#include <stdio.h>

#include "pipeline/image/frame_convert.h"
#include "pipeline/image/orientation.h"
#include "pipeline/io/frame_estimate.h"
#include "pipeline/io/input.h"
#include "pipeline/io/seek.h"

static bool find_pictures(footage *f, AVDictionary **options, pipeline_error *error)
{
    if (!picture_list_open(&f->pictures, f->path, &(const pipeline_notes){0}, error))
        return false;
    picture_list_options(&f->pictures, options);
    return true;
}

static bool open_file(footage *f, pipeline_error *error)
{
    char url[4096];
    AVDictionary *options = NULL;
    const bool numbered = picture_pattern(f->path);
    if (numbered && !find_pictures(f, &options, error))
        return false;
    if (snprintf(url, sizeof url, "file:%s", f->path) >= (int)sizeof url)
        return pipeline_fail(error, "%s: the name is too long", f->path);
    /* A playlist must not access anything but files. */
    av_dict_set(&options, "protocol_whitelist", "file", 0);
    int code = avformat_open_input(&f->format, url,
                                   numbered ? av_find_input_format("image2") : NULL, &options);
    av_dict_free(&options);
    if (code < 0)
        return input_fail_open(f->path, code, error);
    code = avformat_find_stream_info(f->format, NULL);
    return code >= 0 || pipeline_fail_av(error, code, "%s: cannot be read", f->path);
}

static bool find_video(footage *f, pipeline_error *error)
{
    for (unsigned i = 0; i < f->format->nb_streams && !f->video; i++) {
        AVStream *stream = f->format->streams[i];
        if (stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
            !(stream->disposition & AV_DISPOSITION_ATTACHED_PIC))
            f->video = stream;
    }
    return f->video || pipeline_fail(error, "%s: expected a video stream, found none", f->path);
}

static bool open_decoder(footage *f, pipeline_error *error)
{
    const AVCodec *codec = avcodec_find_decoder(f->video->codecpar->codec_id);
    if (!codec)
        return pipeline_fail(error, "%s: no decoder for %s", f->path,
                             avcodec_get_name(f->video->codecpar->codec_id));
    f->decoder = avcodec_alloc_context3(codec);
    if (!f->decoder)
        return pipeline_fail(error, "out of memory");
    int code = avcodec_parameters_to_context(f->decoder, f->video->codecpar);
    f->decoder->pkt_timebase = f->video->time_base;
    f->decoder->thread_count = 0;
    if (code >= 0)
        code = avcodec_open2(f->decoder, codec, NULL);
    return code >= 0 ||
           pipeline_fail_av(error, code, "%s: the %s decoder cannot start", f->path, codec->name);
}

/* Converts a time in seconds from the beginning of the file to the file's own time. */
static int64_t own_time(const footage *f, double time)
{
    return FFMAX(f->format->start_time, 0) + llround(time * AV_TIME_BASE);
}

/* The same in ticks of the video's time base. */
static int64_t own_ticks(const footage *f, double time)
{
    return av_rescale_q(own_time(f, time), AV_TIME_BASE_Q, f->video->time_base);
}

static double estimate(const footage *f)
{
    const AVRational rate = av_guess_frame_rate(f->format, f->video, NULL);
    const double seconds = (double)f->format->duration / AV_TIME_BASE;
    if (f->video->nb_frames > 0 && f->start <= 0 && f->end <= 0)
        return (double)f->video->nb_frames;
    return rate.num > 0 && rate.den > 0 ? frame_estimate(seconds, f->start, f->end, av_q2d(rate))
                                        : 0;
}

bool footage_open(footage *f, const char *path, double start, double end, pipeline_error *error)
{
    *f = (footage){.path = path, .start = start, .end = end};
    f->packet = av_packet_alloc();
    f->frame = av_frame_alloc();
    if (!f->packet || !f->frame)
        return pipeline_fail(error, "out of memory");
    if (!open_file(f, error) || !find_video(f, error) || !open_decoder(f, error))
        return false;
    /* Seeks to the key frame before; a file that cannot be searched is read from its beginning. */
    if (start > 0)
        seek_before(f->format, f->video, own_time(f, start));
    f->expected = estimate(f);
    return true;
}

/* Sends the next packet of the video, or its end, to the decoder. */
static bool feed(footage *f, pipeline_error *error)
{
    for (;;) {
        const int code = f->pictures.count ? picture_list_read(&f->pictures, f->packet)
                                           : av_read_frame(f->format, f->packet);
        if (code == AVERROR_EOF)
            return avcodec_send_packet(f->decoder, NULL), true;
        if (code < 0)
            return pipeline_fail_av(error, code, "%s: reading failed", f->path);
        const bool ours = f->packet->stream_index == f->video->index;
        if (ours)
            avcodec_send_packet(f->decoder, f->packet);
        av_packet_unref(f->packet);
        if (ours)
            return true;
    }
}

/* A photograph is stored as the camera was held, and EXIF tells how. Videos are turned by their
 * players. */
static bool turn_photo(footage *f, pipeline_error *error)
{
    const orientation turn = orientation_of_photo(f->frame);
    if (f->decoder->codec_id != AV_CODEC_ID_MJPEG || !orientation_changes(turn) ||
        orientation_changes(orientation_of(f->video)))
        return true;
    AVFrame *rgb =
        frame_convert(f->frame, f->frame->width, f->frame->height, AV_PIX_FMT_RGB24, error);
    const bool good = rgb && orientation_turn(rgb, turn, error);
    if (good) {
        av_frame_unref(f->frame);
        av_frame_move_ref(f->frame, rgb);
    }
    av_frame_free(&rgb);
    return good;
}

/* In a row, without a packet in between: a decoder reports at most one for each of its threads. */
enum { MAX_DECODER_ERRORS = 1024 };

footage_result footage_next(footage *f, pipeline_error *error)
{
    for (int errors = 0;; errors++) {
        const int code = avcodec_receive_frame(f->decoder, f->frame);
        if (code == AVERROR_EOF)
            return FOOTAGE_END;
        if (code < 0 && errors == MAX_DECODER_ERRORS) {
            pipeline_fail_av(error, code, "%s: decoding failed", f->path);
            return FOOTAGE_FAILED;
        }
        if (code == AVERROR(EAGAIN)) {
            errors = 0;
            if (!feed(f, error))
                return FOOTAGE_FAILED;
        } else if (code >= 0) {
            const int64_t pts = f->frame->best_effort_timestamp;
            if (pts != AV_NOPTS_VALUE) {
                f->time = (double)(pts - own_ticks(f, 0)) * av_q2d(f->video->time_base);
                if (f->end > 0 && pts >= own_ticks(f, f->end))
                    return FOOTAGE_END;
                if (f->start > 0 && pts < own_ticks(f, f->start))
                    continue;
            }
            return turn_photo(f, error) ? FOOTAGE_FRAME : FOOTAGE_FAILED;
        }
    }
}

void footage_close(footage *f)
{
    avcodec_free_context(&f->decoder);
    avformat_close_input(&f->format);
    picture_list_close(&f->pictures);
    av_packet_free(&f->packet);
    av_frame_free(&f->frame);
}
