// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/sources/source.h"

#include <sys/stat.h>

#include <libavcodec/avcodec.h>

#include "pipeline/image/picture_planes.h"
#include "pipeline/image/pixels.h"
#include "pipeline/io/sources/input.h"

bool transparency_is_open(const AVCodecParameters *video)
{
    return (video->codec_id == AV_CODEC_ID_GIF && video->format == AV_PIX_FMT_BGRA) ||
           video->format == AV_PIX_FMT_PAL8;
}

typedef struct search {
    source from; /* the same, once more */
    AVCodecContext *decoder;
    AVPacket *packet;
    AVFrame *frame;
} search;

static bool open_decoder(search *s, const AVCodecParameters *video, double max_pixels)
{
    const AVCodec *codec = avcodec_find_decoder(video->codec_id);
    s->decoder = codec ? avcodec_alloc_context3(codec) : NULL;
    s->packet = av_packet_alloc();
    s->frame = av_frame_alloc();
    if (s->decoder && max_pixels > 0)
        s->decoder->max_pixels = pixels_limit_decoder(max_pixels);
    return s->decoder && s->packet && s->frame &&
           avcodec_parameters_to_context(s->decoder, video) >= 0 &&
           avcodec_open2(s->decoder, codec, NULL) >= 0;
}

/* The next packet of the stream; NULL: there are no more. */
static AVPacket *next_packet(search *s, int stream)
{
    int code;
    do {
        av_packet_unref(s->packet);
        code = s->from.kind->next(&s->from, s->packet);
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

bool transparency_find(const source_kind *kind, const input_settings *settings,
                       const AVStream *video)
{
    search s = {0};
    struct stat status;
    const pipeline_notes silent = {0};
    pipeline_error unused = {0};
    const bool again = kind->separate ||
                       (!kind->timed && !stat(settings->path, &status) && S_ISREG(status.st_mode));
    const bool found = again && source_open(&s.from, settings, &silent, &unused) &&
                       open_decoder(&s, video->codecpar, settings->max_pixels) &&
                       look(&s, video->index, kind->separate);
    av_frame_free(&s.frame);
    av_packet_free(&s.packet);
    avcodec_free_context(&s.decoder);
    source_close(&s.from);
    return found;
}
