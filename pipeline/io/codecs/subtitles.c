// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/codecs/subtitles.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/io/containers/container.h"

enum { TEXT_BYTES = 1 << 20 };

/* Formats in order of preference, and the ASS tags that libav's encoders can write in them. */
static const struct {
    enum AVCodecID id;
    const char *const *kept;
} texts[] = {
    {AV_CODEC_ID_SUBRIP,
     (const char *const[]){"b", "i", "u", "s", "c", "fn", "fs", "an", "r", NULL}},
    {AV_CODEC_ID_MOV_TEXT, (const char *const[]){"b", "i", "u", "c", "fn", "fs", "r", NULL}},
    {AV_CODEC_ID_WEBVTT, (const char *const[]){"b", "i", "u", "r", NULL}},
    {AV_CODEC_ID_ASS, NULL}};

enum { TEXTS = sizeof texts / sizeof *texts };

struct subtitles {
    AVCodecContext *decoder, *encoder;
    const char *name;
    const pipeline_notes *notes;
    const char *const *kept;
    int64_t end; /* of the previous subtitle, in the input's time base */
    int stream;
    bool told_style, told_overlap, told_damage;
    uint8_t text[TEXT_BYTES];
};

enum AVCodecID subtitles_target(const AVOutputFormat *format, enum AVCodecID codec)
{
    bool text = false;
    for (int i = 0; i < TEXTS; i++)
        text |= texts[i].id == codec;
    for (int i = 0; text && container_row_of(format)->text && i < TEXTS; i++)
        if (avformat_query_codec(format, texts[i].id, FF_COMPLIANCE_EXPERIMENTAL) == 1 &&
            avcodec_find_encoder(texts[i].id) && avcodec_find_decoder(codec))
            return texts[i].id;
    return AV_CODEC_ID_NONE;
}

static int open_codecs(subtitles *s, const AVStream *from, enum AVCodecID codec)
{
    const AVCodec *encoder = avcodec_find_encoder(codec);
    s->decoder = avcodec_alloc_context3(avcodec_find_decoder(from->codecpar->codec_id));
    s->encoder = avcodec_alloc_context3(encoder);
    if (!s->decoder || !s->encoder)
        return AVERROR(ENOMEM);
    int code = avcodec_parameters_to_context(s->decoder, from->codecpar);
    s->decoder->pkt_timebase = from->time_base;
    if (code >= 0)
        code = avcodec_open2(s->decoder, NULL, NULL);
    if (code < 0)
        return code;
    const size_t header = (size_t)s->decoder->subtitle_header_size;
    s->encoder->time_base = AV_TIME_BASE_Q;
    s->encoder->subtitle_header = av_mallocz(header + 1);
    if (!s->encoder->subtitle_header)
        return AVERROR(ENOMEM);
    if (header)
        memcpy(s->encoder->subtitle_header, s->decoder->subtitle_header, header);
    s->encoder->subtitle_header_size = (int)header;
    return avcodec_open2(s->encoder, NULL, NULL);
}

subtitles *subtitles_open(AVStream *to, const AVStream *from, enum AVCodecID codec,
                          const char *name, const pipeline_notes *notes, pipeline_error *error)
{
    const bool ass = from->codecpar->codec_id == AV_CODEC_ID_ASS;
    subtitles *s = calloc(1, sizeof *s);
    int code = s ? open_codecs(s, from, codec) : AVERROR(ENOMEM);
    if (code >= 0)
        code = avcodec_parameters_from_context(to->codecpar, s->encoder);
    if (code < 0) {
        subtitles_close(s);
        pipeline_fail_av(error, code, "%s: the subtitles of stream %d cannot become %s", name,
                         from->index, avcodec_get_name(codec));
        return NULL;
    }
    for (int i = 0; i < TEXTS; i++)
        if (texts[i].id == codec)
            s->kept = texts[i].kept;
    s->name = name;
    s->notes = notes;
    s->stream = from->index;
    s->end = INT64_MIN;
    s->told_style = ass;
    to->time_base = from->time_base;
    pipeline_note(notes, "%s: the subtitles of stream %d become %s%s", name, from->index,
                  avcodec_get_name(codec),
                  ass ? "; styles and positions are left out, which .mkv would keep" : "");
    return s;
}

static bool is_kept(const char *tag, const char *const *kept)
{
    for (; *kept; kept++)
        if (!strncmp(tag, *kept, strlen(*kept)))
            return true;
    return false;
}

/* Whether the ASS text has a tag in braces that the target does not support: \1c means \c. */
static bool loses_style(const subtitles *s, const char *ass)
{
    bool inside = false;
    for (; s->kept && *ass; ass++) {
        inside = *ass == '{' || (inside && *ass != '}');
        if (inside && *ass == '\\' && !is_kept(ass + 1 + (ass[1] == '1'), s->kept))
            return true;
    }
    return false;
}

static void tell_lost(subtitles *s, const AVSubtitle *text, const AVPacket *packet)
{
    bool lost = av_packet_get_side_data(packet, AV_PKT_DATA_WEBVTT_SETTINGS, NULL);
    for (unsigned i = 0; i < text->num_rects; i++)
        lost = lost || (text->rects[i]->ass && loses_style(s, text->rects[i]->ass));
    if (lost && !s->told_style)
        pipeline_note(s->notes, "%s: %s has no place for all styles and positions of stream %d",
                      s->name, avcodec_get_name(s->encoder->codec_id), s->stream);
    s->told_style |= lost;
    /* QuickTime shows a sample until the next one. */
    const bool overlap =
        s->encoder->codec_id == AV_CODEC_ID_MOV_TEXT && packet->pts < s->end && !s->told_overlap;
    if (overlap)
        pipeline_note(s->notes,
                      "%s: subtitles of stream %d overlap; mov_text ends each where the next "
                      "begins, .mkv would keep them",
                      s->name, s->stream);
    s->told_overlap |= overlap;
    s->end = packet->pts + packet->duration;
}

/* Returns the number of bytes of text; negative: damaged. */
static int convert(subtitles *s, AVPacket *packet)
{
    AVSubtitle text = {0};
    int got = 0, code = avcodec_decode_subtitle2(s->decoder, &text, &got, packet);
    if (code >= 0)
        code = 0;
    if (got && code >= 0 && text.num_rects) {
        tell_lost(s, &text, packet);
        text.start_display_time = 0; /* the packet has the times */
        code = avcodec_encode_subtitle(s->encoder, s->text, TEXT_BYTES, &text);
    }
    if (got)
        avsubtitle_free(&text);
    return code;
}

bool subtitles_convert(subtitles *s, AVPacket *packet, pipeline_error *error)
{
    AVPacket *made = av_packet_alloc();
    int size = convert(s, packet);
    if (size < 0 && !s->told_damage)
        pipeline_note(s->notes, "%s: a damaged subtitle of stream %d is left out", s->name,
                      s->stream);
    s->told_damage |= size < 0;
    size = size < 0 ? 0 : size;
    const bool good = made && av_new_packet(made, size) >= 0;
    if (good) {
        memcpy(made->data, s->text, (size_t)size);
        made->pts = made->dts = packet->pts;
        made->duration = packet->duration;
        made->stream_index = packet->stream_index;
        made->flags = AV_PKT_FLAG_KEY;
        av_packet_unref(packet);
        av_packet_move_ref(packet, made);
    }
    av_packet_free(&made);
    return good || pipeline_fail(error, "out of memory");
}

void subtitles_close(subtitles *s)
{
    if (!s)
        return;
    avcodec_free_context(&s->decoder);
    avcodec_free_context(&s->encoder);
    free(s);
}
