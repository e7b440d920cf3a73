// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/codecs/sound.h"

#include <stdlib.h>
#include <string.h>

#include <libavutil/channel_layout.h>

#include "pipeline/base/filter_graph.h"
#include "pipeline/io/containers/container.h"

enum {
    CHANNEL_RATE = 96000, /* bits per second of each channel, where there is a loss */
    LAYOUTS = 8
};

/* In order of preference for SOUND_AUTO. */
typedef struct target {
    enum AVCodecID id;
    const char *name, *encoder;
    enum AVSampleFormat format, deep; /* lossless: of samples of up to 16 and up to 24 bits */
    bool lossless;
    int rates[4]; /* 0: all, else in order; others become the first */
    /* Those that its bytes tell in any container, of ever more channels; 0: no more. */
    uint64_t layouts[LAYOUTS];
} target;

/* clang-format off */
static const target targets[] = {
    {AV_CODEC_ID_FLAC, "flac", "flac", AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S32, true,
     .layouts = {AV_CH_LAYOUT_MONO, AV_CH_LAYOUT_STEREO, AV_CH_LAYOUT_SURROUND, AV_CH_LAYOUT_QUAD,
                 AV_CH_LAYOUT_5POINT0_BACK, AV_CH_LAYOUT_5POINT1_BACK, AV_CH_LAYOUT_6POINT1,
                 AV_CH_LAYOUT_7POINT1}},
    {AV_CODEC_ID_ALAC, "alac", "alac", AV_SAMPLE_FMT_S16P, AV_SAMPLE_FMT_S32P, true,
     .layouts = {AV_CH_LAYOUT_MONO, AV_CH_LAYOUT_STEREO, AV_CH_LAYOUT_SURROUND,
                 AV_CH_LAYOUT_4POINT0, AV_CH_LAYOUT_5POINT0_BACK, AV_CH_LAYOUT_5POINT1_BACK,
                 AV_CH_LAYOUT_6POINT1_BACK, AV_CH_LAYOUT_7POINT1_WIDE_BACK}},
    {AV_CODEC_ID_AAC, "aac", "aac", AV_SAMPLE_FMT_FLTP, .rates = {48000, 44100, 32000},
     .layouts = {AV_CH_LAYOUT_MONO, AV_CH_LAYOUT_STEREO, AV_CH_LAYOUT_SURROUND,
                 AV_CH_LAYOUT_4POINT0, AV_CH_LAYOUT_5POINT0_BACK, AV_CH_LAYOUT_5POINT1_BACK,
                 AV_CH_LAYOUT_6POINT1, AV_CH_LAYOUT_7POINT1}},
    {AV_CODEC_ID_OPUS, "opus", "libopus", AV_SAMPLE_FMT_FLT, .rates = {48000},
     .layouts = {AV_CH_LAYOUT_MONO, AV_CH_LAYOUT_STEREO, AV_CH_LAYOUT_SURROUND, AV_CH_LAYOUT_QUAD,
                 AV_CH_LAYOUT_5POINT0_BACK, AV_CH_LAYOUT_5POINT1_BACK, AV_CH_LAYOUT_6POINT1,
                 AV_CH_LAYOUT_7POINT1}},
    {AV_CODEC_ID_MP3, "mp3", "libmp3lame", AV_SAMPLE_FMT_FLTP, .rates = {48000, 44100, 32000},
     .layouts = {AV_CH_LAYOUT_MONO, AV_CH_LAYOUT_STEREO}},
    {AV_CODEC_ID_AC3, "ac3", "ac3", AV_SAMPLE_FMT_FLTP, .rates = {48000, 44100, 32000},
     .layouts = {AV_CH_LAYOUT_MONO, AV_CH_LAYOUT_STEREO, AV_CH_LAYOUT_2POINT1,
                 AV_CH_LAYOUT_SURROUND, AV_CH_LAYOUT_2_2, AV_CH_LAYOUT_4POINT0,
                 AV_CH_LAYOUT_5POINT0, AV_CH_LAYOUT_5POINT1}},
};
/* clang-format on */

enum { TARGETS = sizeof targets / sizeof *targets };

struct sound {
    const target *target;
    AVCodecContext *decoder, *encoder;
    filter_graph filters;
    AVFrame *frame;
    AVPacket *packet;
    AVRational time_base;       /* of the input */
    int64_t end;                /* of the last frame; AV_NOPTS_VALUE: none came */
    int format, rate, channels; /* that the filters are for */
    const pipeline_notes *notes;
    const char *name;
    int stream;
    bool told_damage;
};

/* ---- choosing ------------------------------------------------------------------------------- */

static const target *target_of(enum AVCodecID id)
{
    for (int i = 0; i < TARGETS; i++)
        if (targets[i].id == id)
            return &targets[i];
    return NULL;
}

const char *sound_codecs(void)
{
    return "flac, alac, aac, opus, mp3, ac3";
}

bool sound_choice_read(sound_choice *choice, const char *text)
{
    static const char *const modes[] = {
        [SOUND_COPY] = "copy", [SOUND_AUTO] = "auto", [SOUND_NONE] = "none"};
    *choice = (sound_choice){0};
    for (int i = 0; i <= SOUND_NONE; i++)
        if (!strcmp(text, modes[i])) {
            choice->mode = (sound_mode)i;
            return true;
        }
    for (int i = 0; i < TARGETS; i++)
        if (!strcmp(text, targets[i].name)) {
            *choice = (sound_choice){SOUND_CODEC, targets[i].id};
            return true;
        }
    return false;
}

/* Bits of a sample that loses nothing in a lossless codec; 0: it would lose something. Codecs that
 * have both, as DTS, tell bits of samples that lost nothing. */
static int lossless_bits(const AVCodecParameters *p)
{
    const AVCodecDescriptor *d = avcodec_descriptor_get(p->codec_id);
    const int exact = av_get_exact_bits_per_sample(p->codec_id);
    const int assumed = d && d->props & AV_CODEC_PROP_LOSSY ? 0 : 16;
    const int told = p->bits_per_raw_sample > 0 ? p->bits_per_raw_sample : exact;
    const int bits = told > 0 ? told : assumed;
    return d && d->props & AV_CODEC_PROP_LOSSLESS && bits <= 24 ? bits : 0;
}

/* Two speakers behind are those beside where a layout has only the ones; with one in their middle
 * filters would mix them. */
static uint64_t usual(uint64_t layout)
{
    const uint64_t side = AV_CH_SIDE_LEFT | AV_CH_SIDE_RIGHT,
                   back = AV_CH_BACK_LEFT | AV_CH_BACK_RIGHT;
    return layout == AV_CH_LAYOUT_STEREO_DOWNMIX                  ? AV_CH_LAYOUT_STEREO
           : (layout & (side | back | AV_CH_BACK_CENTER)) == side ? (layout ^ side) | back
                                                                  : layout;
}

/* A channel alone needs no place. */
static bool names_speakers(const AVChannelLayout *l)
{
    return l->order != AV_CHANNEL_ORDER_UNSPEC && l->nb_channels > 1;
}

/* The first layout with all channels of the sound, or with as many if it does not name them; 0:
 * there is none. */
static uint64_t layout_with(const target *t, const AVChannelLayout *from)
{
    for (int i = 0; i < LAYOUTS && t->layouts[i]; i++)
        if (!names_speakers(from) ? av_popcount64(t->layouts[i]) == from->nb_channels
                                  : from->order == AV_CHANNEL_ORDER_NATIVE &&
                                        !(usual(from->u.mask) & ~usual(t->layouts[i])))
            return t->layouts[i];
    return 0;
}

/* The layout that sound is mixed to where there is none with all of its channels. */
static uint64_t layout_below(const target *t, int channels)
{
    uint64_t found = t->layouts[0];
    for (int i = 1; i < LAYOUTS && t->layouts[i] && av_popcount64(t->layouts[i]) <= channels; i++)
        found = t->layouts[i];
    return found;
}

enum AVCodecID sound_target(const AVOutputFormat *format, const AVCodecParameters *from,
                            const sound_choice *choice)
{
    if (from->codec_type != AVMEDIA_TYPE_AUDIO || choice->mode == SOUND_NONE ||
        (choice->mode == SOUND_CODEC ? from->codec_id == choice->codec
                                     : container_holds_id(format, from->codec_id)))
        return AV_CODEC_ID_NONE;
    for (int i = 0; i < TARGETS; i++) {
        const target *t = &targets[i];
        const bool allowed = choice->mode == SOUND_CODEC ? t->id == choice->codec
                             : t->lossless
                                 ? lossless_bits(from) > 0 && layout_with(t, &from->ch_layout)
                                 : choice->mode == SOUND_AUTO;
        if (allowed && container_holds_id(format, t->id) &&
            avcodec_find_encoder_by_name(t->encoder) && avcodec_find_decoder(from->codec_id))
            return t->id;
    }
    return AV_CODEC_ID_NONE;
}

void sound_tell_speakers(const AVStream *from, const AVOutputFormat *format, const char *name,
                         const pipeline_notes *notes)
{
    const AVCodecParameters *p = from->codecpar;
    AVChannelLayout guessed;
    char layout[64] = "";
    av_channel_layout_default(&guessed, p->ch_layout.nb_channels);
    if (p->codec_type != AVMEDIA_TYPE_AUDIO || container_row_of(format)->speakers ||
        !av_get_exact_bits_per_sample(p->codec_id) || !names_speakers(&p->ch_layout) ||
        (p->ch_layout.order == AV_CHANNEL_ORDER_NATIVE &&
         guessed.order == AV_CHANNEL_ORDER_NATIVE &&
         usual(p->ch_layout.u.mask) == usual(guessed.u.mask)))
        return;
    av_channel_layout_describe(&p->ch_layout, layout, sizeof layout);
    pipeline_note(notes,
                  "%s: %s does not name the speakers of stream %d (%s, %s), which players guess by "
                  "their number; --audio flac names them",
                  name, format->name, from->index, avcodec_get_name(p->codec_id), layout);
}

/* ---- opening -------------------------------------------------------------------------------- */

static int rate_for(const target *t, int rate)
{
    for (int i = 0; i < 4 && t->rates[i]; i++)
        if (t->rates[i] == rate)
            return rate;
    return t->rates[0] ? t->rates[0] : rate;
}

static int open_decoder(sound *s, const AVStream *from)
{
    const AVCodec *codec = avcodec_find_decoder(from->codecpar->codec_id);
    s->decoder = avcodec_alloc_context3(codec);
    if (!s->decoder)
        return AVERROR(ENOMEM);
    const int code = avcodec_parameters_to_context(s->decoder, from->codecpar);
    s->decoder->pkt_timebase = from->time_base;
    return code < 0 ? code : avcodec_open2(s->decoder, codec, NULL);
}

static int open_encoder(sound *s, const AVCodecParameters *from, const AVOutputFormat *format)
{
    const target *t = s->target;
    const AVCodec *codec = avcodec_find_encoder_by_name(t->encoder);
    AVCodecContext *e = s->encoder = avcodec_alloc_context3(codec);
    if (!e)
        return AVERROR(ENOMEM);
    const uint64_t layout = layout_with(t, &from->ch_layout);
    const int bits = lossless_bits(from);
    e->sample_fmt = t->lossless && bits > 16 ? t->deep : t->format;
    if (t->lossless && bits > 16)
        e->bits_per_raw_sample = bits;
    e->sample_rate = rate_for(t, from->sample_rate);
    e->time_base = (AVRational){1, e->sample_rate};
    if (av_channel_layout_from_mask(
            &e->ch_layout, layout ? layout : layout_below(t, from->ch_layout.nb_channels)) < 0)
        return AVERROR(EINVAL);
    e->bit_rate = t->lossless ? 0 : (int64_t)CHANNEL_RATE * e->ch_layout.nb_channels;
    e->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
    if (format->flags & AVFMT_GLOBALHEADER)
        e->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    return avcodec_open2(e, codec, NULL);
}

sound *sound_open(AVStream *to, const AVStream *from, enum AVCodecID codec,
                  const AVOutputFormat *format, const char *name, const pipeline_notes *notes,
                  pipeline_error *error)
{
    sound *s = calloc(1, sizeof *s);
    int code = AVERROR(ENOMEM);
    if (s) {
        *s = (sound){.target = target_of(codec),
                     .frame = av_frame_alloc(),
                     .packet = av_packet_alloc(),
                     .time_base = from->time_base,
                     .end = AV_NOPTS_VALUE,
                     .notes = notes,
                     .name = name,
                     .stream = from->index};
        code = s->frame && s->packet ? open_decoder(s, from) : code;
    }
    if (code >= 0)
        code = open_encoder(s, from->codecpar, format);
    if (code >= 0)
        code = avcodec_parameters_from_context(to->codecpar, s->encoder);
    if (code < 0) {
        sound_close(s);
        pipeline_fail_av(error, code, "%s: the sound of stream %d cannot become %s", name,
                         from->index, avcodec_get_name(codec));
        return NULL;
    }
    to->time_base = s->encoder->time_base;
    const bool mixed = !layout_with(s->target, &from->codecpar->ch_layout);
    char layout[64] = "";
    av_channel_layout_describe(&s->encoder->ch_layout, layout, sizeof layout);
    pipeline_note(
        notes, "%s: the sound of stream %d becomes %s%s%s%s", name, from->index, s->target->name,
        s->target->lossless && lossless_bits(from->codecpar) && !mixed ? ", without loss" : "",
        mixed ? " in " : "", mixed ? layout : "");
    return s;
}

/* What a file does not name is taken for what it becomes. */
static int name_speakers(const sound *s, AVChannelLayout *l)
{
    const AVChannelLayout *to = &s->encoder->ch_layout;
    if (names_speakers(l))
        return 0;
    if (l->nb_channels == to->nb_channels)
        return av_channel_layout_copy(l, to);
    av_channel_layout_default(l, l->nb_channels);
    return 0;
}

/* Filters that make frames for the encoder from those like this one, and fill gaps with silence so
 * that sound stays in sync. */
static int open_filters(sound *s, const AVFrame *like)
{
    char from[64], to[64];
    av_channel_layout_describe(&like->ch_layout, from, sizeof from);
    av_channel_layout_describe(&s->encoder->ch_layout, to, sizeof to);
    s->format = like->format;
    s->rate = like->sample_rate;
    s->channels = like->ch_layout.nb_channels;
    const int code = filter_graph_open(
        &s->filters, true,
        "abuffer=time_base=%d/%d:sample_rate=%d:sample_fmt=%s:channel_layout=%s,"
        "aresample=async=1:min_hard_comp=0.1,"
        "aformat=sample_fmts=%s:sample_rates=%d:channel_layouts=%s,abuffersink",
        s->time_base.num, s->time_base.den, like->sample_rate, av_get_sample_fmt_name(like->format),
        from, av_get_sample_fmt_name(s->encoder->sample_fmt), s->encoder->sample_rate, to);
    if (code >= 0 && s->encoder->frame_size)
        av_buffersink_set_frame_size(s->filters.sink, (unsigned)s->encoder->frame_size);
    return code;
}

void sound_close(sound *s)
{
    if (!s)
        return;
    avcodec_free_context(&s->decoder);
    avcodec_free_context(&s->encoder);
    filter_graph_close(&s->filters);
    av_frame_free(&s->frame);
    av_packet_free(&s->packet);
    free(s);
}

/* ---- encoding ------------------------------------------------------------------------------- */

typedef struct passage {
    sound *sound;
    sound_sink sink;
    void *context;
    pipeline_error *error;
} passage;

static bool fail(const passage *p, int code)
{
    return pipeline_fail_av(p->error, code, "%s: the sound of stream %d cannot become %s",
                            p->sound->name, p->sound->stream, p->sound->target->name);
}

static bool encode(const passage *p, const AVFrame *frame)
{
    sound *s = p->sound;
    int code = avcodec_send_frame(s->encoder, frame);
    while (code >= 0 && (code = avcodec_receive_packet(s->encoder, s->packet)) >= 0)
        if (!p->sink(p->context, s->packet, s->encoder->time_base, p->error))
            return false;
    return code == AVERROR(EAGAIN) || code == AVERROR_EOF || fail(p, code);
}

/* Passes a frame, or NULL at the end, through the filters to the encoder. */
static bool convert(const passage *p, AVFrame *frame)
{
    sound *s = p->sound;
    if (!s->filters.graph)
        return true;
    int code = av_buffersrc_add_frame(s->filters.source, frame);
    while (code >= 0 && (code = av_buffersink_get_frame(s->filters.sink, s->frame)) >= 0) {
        s->frame->pts = av_rescale_q(s->frame->pts, av_buffersink_get_time_base(s->filters.sink),
                                     s->encoder->time_base);
        const bool good = encode(p, s->frame);
        av_frame_unref(s->frame);
        if (!good)
            return false;
    }
    return code == AVERROR(EAGAIN) || code == AVERROR_EOF || fail(p, code);
}

static bool is_like(const sound *s, const AVFrame *frame)
{
    return s->format == frame->format && s->rate == frame->sample_rate &&
           s->channels == frame->ch_layout.nb_channels;
}

/* Frames of another kind get filters of their own. */
static bool take(const passage *p, AVFrame *frame)
{
    sound *s = p->sound;
    if (s->filters.graph && !is_like(s, frame)) {
        if (!convert(p, NULL))
            return false;
        filter_graph_close(&s->filters);
    }
    int code = name_speakers(s, &frame->ch_layout);
    if (code >= 0 && !s->filters.graph)
        code = open_filters(s, frame);
    return code >= 0 ? convert(p, frame) : fail(p, code);
}

/* Some decoders, as of WMA, end with sound that has no time: it follows what came before. */
static void time_frame(sound *s, AVFrame *frame)
{
    if (frame->pts == AV_NOPTS_VALUE)
        frame->pts = s->end;
    if (frame->pts != AV_NOPTS_VALUE)
        s->end = frame->pts +
                 av_rescale_q(frame->nb_samples, (AVRational){1, frame->sample_rate}, s->time_base);
}

static void tell_damage(sound *s)
{
    if (!s->told_damage)
        pipeline_note(s->notes, "%s: damaged sound of stream %d is left out", s->name, s->stream);
    s->told_damage = true;
}

bool sound_put(sound *s, const AVPacket *packet, sound_sink sink, void *context,
               pipeline_error *error)
{
    const passage p = {s, sink, context, error};
    AVFrame *frame = av_frame_alloc();
    bool good = frame || pipeline_fail(error, "out of memory");
    int code = avcodec_send_packet(s->decoder, packet);
    if (code < 0 && code != AVERROR_EOF)
        tell_damage(s);
    while (good && (code = avcodec_receive_frame(s->decoder, frame)) >= 0) {
        time_frame(s, frame);
        good = take(&p, frame);
    }
    if (good && code != AVERROR(EAGAIN) && code != AVERROR_EOF)
        tell_damage(s);
    av_frame_free(&frame);
    return good && (packet || (convert(&p, NULL) && encode(&p, NULL)));
}
