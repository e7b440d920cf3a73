#include "encode.h"

#include <stdio.h>
#include <string.h>

#include <libavutil/opt.h>

static bool check_preset(const char *preset, pipeline_error *error)
{
    static const char *const names[] = {"ultrafast", "superfast", "veryfast", "faster",
                                        "fast",      "medium",    "slow",     "slower",
                                        "veryslow",  "placebo"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], preset))
            return true;
    return pipeline_fail(error,
                         "--preset: expected ultrafast, superfast, veryfast, faster, fast, "
                         "medium, slow, slower, veryslow or placebo, found '%s'",
                         preset);
}

static void copy_colour(AVCodecContext *to, const AVCodecParameters *from)
{
    to->color_range = from->format == AV_PIX_FMT_YUVJ420P ? AVCOL_RANGE_JPEG : from->color_range;
    to->color_primaries = from->color_primaries;
    to->color_trc = from->color_trc;
    to->colorspace = from->color_space;
    to->chroma_sample_location = from->chroma_location;
}

bool encoder_open(encoder *e, const encoder_settings *settings, const AVFormatContext *input,
                  const AVStream *video, const AVOutputFormat *format, pipeline_error *error)
{
    const AVCodec *x264 = avcodec_find_encoder_by_name("libx264");
    *e = (encoder){.packet = av_packet_alloc()};
    if (!x264)
        return pipeline_fail(error, "this libavcodec has no libx264 encoder");
    if (!check_preset(settings->preset, error))
        return false;
    e->codec = avcodec_alloc_context3(x264);
    if (!e->codec || !e->packet)
        return pipeline_fail(error, "out of memory");

    AVCodecContext *codec = e->codec;
    codec->width = settings->width;
    codec->height = settings->height;
    codec->pix_fmt = AV_PIX_FMT_YUV420P;
    codec->time_base = video->time_base;
    codec->framerate = settings->rate;
    codec->sample_aspect_ratio =
        av_guess_sample_aspect_ratio((AVFormatContext *)input, (AVStream *)video, NULL);
    copy_colour(codec, video->codecpar);
    if (format->flags & AVFMT_GLOBALHEADER)
        codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    av_opt_set(codec->priv_data, "preset", settings->preset, 0);
    av_opt_set_double(codec->priv_data, "crf", settings->crf, 0);
    int code = avcodec_open2(codec, x264, NULL);
    return code >= 0 || pipeline_fail_av(error, code, "libx264 refuses %dx%d", settings->width,
                                         settings->height);
}

static void remember_duration(encoder *e, const AVFrame *frame)
{
    unsigned slot = e->frames++ % ENCODER_DURATIONS;
    e->durations[slot].pts = frame->pts;
    e->durations[slot].duration = frame->pkt_duration;
}

static int64_t recall_duration(const encoder *e, int64_t pts)
{
    for (uint64_t i = e->frames, oldest = i > ENCODER_DURATIONS ? i - ENCODER_DURATIONS : 0;
         i > oldest; i--)
        if (e->durations[(i - 1) % ENCODER_DURATIONS].pts == pts)
            return e->durations[(i - 1) % ENCODER_DURATIONS].duration;
    return 0;
}

bool encoder_put(encoder *e, const AVFrame *frame, mux *m, pipeline_error *error)
{
    if (frame)
        remember_duration(e, frame);
    int code = avcodec_send_frame(e->codec, frame);
    if (code < 0)
        return pipeline_fail_av(error, code, "libx264 failed at frame %llu",
                                (unsigned long long)e->frames);
    while ((code = avcodec_receive_packet(e->codec, e->packet)) >= 0) {
        e->packets++;
        e->packet->duration = recall_duration(e, e->packet->pts);
        if (!mux_write(m, e->packet, e->codec->time_base, error))
            return false;
    }
    if (code != AVERROR(EAGAIN) && code != AVERROR_EOF)
        return pipeline_fail_av(error, code, "libx264 failed at frame %llu",
                                (unsigned long long)e->frames);
    /* libx264 has copied the picture by now; another encoder might hold on to it. */
    if (frame && av_buffer_get_ref_count(frame->buf[0]) != 1)
        return pipeline_fail(error, "the encoder keeps frame %llu, which mona does not provide for",
                             (unsigned long long)e->frames);
    if (!frame && e->packets != e->frames)
        return pipeline_fail(error, "libx264 was given %llu frames and wrote %llu",
                             (unsigned long long)e->frames, (unsigned long long)e->packets);
    return true;
}

void encoder_close(encoder *e)
{
    avcodec_free_context(&e->codec);
    av_packet_free(&e->packet);
}
