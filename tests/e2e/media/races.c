// SPDX-License-Identifier: Apache-2.0
/* A film through FFmpeg without mona, for races.sh: races FILM THREADS FILTER ENCODER, of which the
 * last two may be empty. What the sanitiser of threads says of it is none of mona's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>

static AVFormatContext *in;
static AVCodecContext *decoder, *encoder;
static AVFilterGraph *graph;
static unsigned long long sum;

static void must(int code, const char *what)
{
    if (code >= 0)
        return;
    fprintf(stderr, "%s: %s\n", what, av_err2str(code));
    exit(2);
}

static void open_filter(const char *filter)
{
    char text[256];
    AVFilterInOut *inputs = NULL, *outputs = NULL;
    graph = avfilter_graph_alloc();
    graph->nb_threads = 2;
    snprintf(text, sizeof text,
             "buffer@in=video_size=%dx%d:pix_fmt=%d:time_base=1/25,%s,buffersink@out",
             decoder->width, decoder->height, decoder->pix_fmt, filter);
    must(avfilter_graph_parse2(graph, text, &inputs, &outputs), filter);
    must(avfilter_graph_config(graph, NULL), filter);
}

static void open_encoder(const char *name)
{
    encoder = avcodec_alloc_context3(avcodec_find_encoder_by_name(name));
    encoder->width = decoder->width;
    encoder->height = decoder->height;
    encoder->pix_fmt = decoder->pix_fmt;
    encoder->time_base = (AVRational){1, 25};
    encoder->thread_count = 2;
    encoder->thread_type = FF_THREAD_SLICE;
    if (!strcmp(name, "ffv1"))
        encoder->level = 3;
    av_opt_set(encoder->priv_data, "preset", strcmp(name, "libsvtav1") ? "ultrafast" : "12", 0);
    must(avcodec_open2(encoder, NULL, NULL), name);
}

static void encode(const AVFrame *frame)
{
    AVPacket *packet = av_packet_alloc();
    if (encoder)
        must(avcodec_send_frame(encoder, frame), "encoding");
    while (encoder && avcodec_receive_packet(encoder, packet) >= 0)
        sum += packet->data[0];
    av_packet_free(&packet);
}

static void use(AVFrame *frame)
{
    for (int i = 0; i < frame->height; i++)
        sum += frame->data[0][(ptrdiff_t)i * frame->linesize[0] + i];
    frame->pict_type = AV_PICTURE_TYPE_NONE;
    encode(frame);
}

static void filter(AVFrame *frame)
{
    AVFrame *made = av_frame_alloc();
    if (!graph) {
        use(frame);
    } else {
        must(av_buffersrc_add_frame(avfilter_graph_get_filter(graph, "buffer@in"), frame),
             "filter");
        while (av_buffersink_get_frame(avfilter_graph_get_filter(graph, "buffersink@out"), made) >=
               0) {
            use(made);
            av_frame_unref(made);
        }
    }
    av_frame_free(&made);
}

static void decode(const AVPacket *packet, AVFrame *frame)
{
    must(avcodec_send_packet(decoder, packet), "decoding");
    while (avcodec_receive_frame(decoder, frame) >= 0) {
        frame->pts = frame->best_effort_timestamp;
        filter(frame);
        av_frame_unref(frame);
    }
}

int main(int argc, char **argv)
{
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    if (argc != 5)
        return 2;
    must(avformat_open_input(&in, argv[1], NULL, NULL), argv[1]);
    must(avformat_find_stream_info(in, NULL), argv[1]);
    decoder = avcodec_alloc_context3(avcodec_find_decoder(in->streams[0]->codecpar->codec_id));
    must(avcodec_parameters_to_context(decoder, in->streams[0]->codecpar), "decoder");
    decoder->thread_count = atoi(argv[2]);
    must(avcodec_open2(decoder, NULL, NULL), "decoder");
    if (*argv[3])
        open_filter(argv[3]);
    if (*argv[4])
        open_encoder(argv[4]);
    while (av_read_frame(in, packet) >= 0) {
        if (packet->stream_index == 0)
            decode(packet, frame);
        av_packet_unref(packet);
    }
    decode(NULL, frame);
    encode(NULL);
    avcodec_free_context(&encoder);
    avcodec_free_context(&decoder);
    avfilter_graph_free(&graph);
    avformat_close_input(&in);
    av_packet_free(&packet);
    av_frame_free(&frame);
    return sum == 0;
}
