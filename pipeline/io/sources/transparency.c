// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/sources/transparency.h"

#include <stdio.h>
#include <sys/stat.h>

#include <libavcodec/avcodec.h>

#include "pipeline/image/alpha.h"
#include "pipeline/io/containers/media_file.h"

bool transparency_is_open(const AVCodecParameters *video)
{
    return (video->codec_id == AV_CODEC_ID_GIF && video->format == AV_PIX_FMT_BGRA) ||
           video->format == AV_PIX_FMT_PAL8;
}

typedef struct search {
    AVFormatContext *format; /* NULL: of numbered pictures */
    picture_list list;
    AVCodecContext *decoder;
    AVPacket *packet;
    AVFrame *frame;
} search;

static bool open_decoder(search *s, const AVCodecParameters *video)
{
    const AVCodec *codec = avcodec_find_decoder(video->codec_id);
    s->decoder = codec ? avcodec_alloc_context3(codec) : NULL;
    s->packet = av_packet_alloc();
    s->frame = av_frame_alloc();
    return s->decoder && s->packet && s->frame &&
           avcodec_parameters_to_context(s->decoder, video) >= 0 &&
           avcodec_open2(s->decoder, codec, NULL) >= 0;
}

static bool open_file(search *s, const char *path)
{
    char address[4096];
    struct stat status;
    AVDictionary *options = NULL;
    if (stat(path, &status) || !S_ISREG(status.st_mode) ||
        snprintf(address, sizeof address, "file:%s", path) >= (int)sizeof address)
        return false;
    s->format = avformat_alloc_context();
    if (s->format)
        media_guard(s->format, address, NULL, &options);
    const bool opened =
        avformat_open_input(&s->format, address, media_format(address), &options) >= 0 &&
        avformat_find_stream_info(s->format, NULL) >= 0;
    av_dict_free(&options);
    return opened;
}

/* The next packet of the stream; NULL: there are no more. */
static AVPacket *next_packet(search *s, int stream)
{
    int code;
    do {
        av_packet_unref(s->packet);
        code = s->format ? av_read_frame(s->format, s->packet)
                         : picture_list_read(&s->list, s->packet);
    } while (code >= 0 && s->packet->stream_index != stream);
    return code >= 0 ? s->packet : NULL;
}

static bool look(search *s, int stream, bool one)
{
    bool found = false, more = true;
    while (!found && more) {
        const AVPacket *packet = next_packet(s, stream);
        more = packet && !one;
        if (avcodec_send_packet(s->decoder, packet) == AVERROR_EOF)
            return false;
        if (one)
            avcodec_send_packet(s->decoder, NULL);
        while (!found && avcodec_receive_frame(s->decoder, s->frame) >= 0)
            found = alpha_shows(s->frame);
    }
    return found;
}

bool transparency_find(const char *path, const picture_list *list, const AVStream *video)
{
    search s = {.list = *list};
    const bool pictures = list->count;
    s.list.next = 0;
    const bool found = (pictures || open_file(&s, path)) && open_decoder(&s, video->codecpar) &&
                       look(&s, pictures ? 0 : video->index, pictures);
    av_frame_free(&s.frame);
    av_packet_free(&s.packet);
    avcodec_free_context(&s.decoder);
    avformat_close_input(&s.format);
    return found;
}
