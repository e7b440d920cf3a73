// SPDX-License-Identifier: Apache-2.0
/* Each row of the table of containers and each of its traits, beside what libav's writer makes of a
 * tiny film and libav's reader finds in it. */
#include <setjmp.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <libavcodec/avcodec.h>
#include <libavutil/channel_layout.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>

#include "pipeline/base/av_compat.h"
#include "pipeline/io/containers/container.h"

/* ---- what films are made of ------------------------------------------------------------------ */

enum { PACKETS_MAX = 8, WIDTH = 64, HEIGHT = 64 };

typedef struct material {
    enum AVCodecID id;
    const char *encoder; /* NULL: packets are text */
    int format;          /* of pixels or samples */
    const char *text;
    AVCodecParameters *p;
    AVRational time_base;
    AVPacket *packets[PACKETS_MAX];
    unsigned count;
} material;

static const char ass_head[] =
    "[Script Info]\nScriptType: v4.00+\n[V4+ Styles]\nFormat: Name, Fontname, Fontsize\n"
    "Style: Default,Arial,16\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, "
    "MarginV, Effect, Text\n";

#define CODED(name, encoder_, format_)                                                             \
    {                                                                                              \
        .id = AV_CODEC_ID_##name, .encoder = encoder_, .format = format_                           \
    }
#define TEXT(name, text_)                                                                          \
    {                                                                                              \
        .id = AV_CODEC_ID_##name, .text = text_                                                    \
    }
static material materials[] = {
    CODED(H264, "libx264", AV_PIX_FMT_YUV420P),
    CODED(FFV1, "ffv1", AV_PIX_FMT_YUV420P),
    CODED(MPEG4, "mpeg4", AV_PIX_FMT_YUV420P),
    CODED(VP9, "libvpx-vp9", AV_PIX_FMT_YUV420P),
    CODED(HEVC, "libx265", AV_PIX_FMT_YUV420P),
    CODED(AV1, "libsvtav1", AV_PIX_FMT_YUV420P),
    CODED(PRORES, "prores_ks", AV_PIX_FMT_YUV422P10),
    CODED(GIF, "gif", AV_PIX_FMT_RGB8),
    CODED(PNG, "png", AV_PIX_FMT_RGB24),
    CODED(AAC, "aac", AV_SAMPLE_FMT_FLTP),
    CODED(AC3, "ac3", AV_SAMPLE_FMT_FLTP),
    CODED(MP3, "libmp3lame", AV_SAMPLE_FMT_FLTP),
    CODED(MP2, "mp2", AV_SAMPLE_FMT_S16),
    CODED(OPUS, "libopus", AV_SAMPLE_FMT_S16),
    CODED(FLAC, "flac", AV_SAMPLE_FMT_S16),
    CODED(PCM_S16LE, "pcm_s16le", AV_SAMPLE_FMT_S16),
    TEXT(SUBRIP, "Hello"),
    TEXT(ASS, "0,0,Default,,0,0,0,,Hello"),
    TEXT(WEBVTT, "Hello"),
    TEXT(MOV_TEXT, "\0\5Hello"),
};

enum { MATERIALS = sizeof materials / sizeof *materials };

static void keep(material *m, AVCodecContext *c)
{
    AVPacket *packet = av_packet_alloc();
    while (packet && m->count < PACKETS_MAX && !avcodec_receive_packet(c, packet)) {
        packet->duration = FFMAX(packet->duration, 1);
        m->packets[m->count++] = packet;
        packet = av_packet_alloc();
    }
    av_packet_free(&packet);
}

static AVCodecContext *open_encoder(const material *m, const AVCodec *encoder)
{
    AVCodecContext *c = avcodec_alloc_context3(encoder);
    const bool sound = encoder->type == AVMEDIA_TYPE_AUDIO;
    c->width = sound ? 0 : WIDTH;
    c->height = sound ? 0 : HEIGHT;
    c->pix_fmt = sound ? AV_PIX_FMT_NONE : (enum AVPixelFormat)m->format;
    c->sample_fmt = sound ? (enum AVSampleFormat)m->format : AV_SAMPLE_FMT_NONE;
    c->sample_rate = !sound ? 0 : m->id == AV_CODEC_ID_OPUS ? 48000 : 44100;
    if (sound)
        av_channel_layout_default(&c->ch_layout, 1);
    c->time_base = sound ? (AVRational){1, c->sample_rate} : (AVRational){1, 25};
    c->framerate = (AVRational){25, 1};
    c->max_b_frames = 0;
    c->thread_count = 1;
    c->flags |= m->id == AV_CODEC_ID_MPEG4 ? 0 : AV_CODEC_FLAG_GLOBAL_HEADER;
    av_opt_set(c->priv_data, "x265-params", "log-level=none:bframes=0", 0);
    av_opt_set(c->priv_data, "preset", "ultrafast", 0);
    av_opt_set(c->priv_data, "tune", "zerolatency", 0);
    av_opt_set(c->priv_data, "lag-in-frames", "0", 0);
    if (avcodec_open2(c, encoder, NULL) < 0)
        avcodec_free_context(&c);
    return c;
}

static AVFrame *make_frame(const AVCodecContext *c, int64_t pts)
{
    AVFrame *f = av_frame_alloc();
    f->pts = pts;
    f->width = c->width;
    f->height = c->height;
    f->format = c->width ? (int)c->pix_fmt : (int)c->sample_fmt;
    f->nb_samples = c->width ? 0 : c->frame_size ? c->frame_size : 1024;
    f->sample_rate = c->sample_rate;
    if (!c->width)
        av_channel_layout_copy(&f->ch_layout, &c->ch_layout);
    assert_true(av_frame_get_buffer(f, 0) >= 0);
    for (int i = 0; i < AV_NUM_DATA_POINTERS && f->buf[i]; i++)
        memset(f->buf[i]->data, c->width ? 60 + (int)pts : 0, f->buf[i]->size);
    return f;
}

static void encode(material *m, const AVCodec *encoder)
{
    AVCodecContext *c = open_encoder(m, encoder);
    if (!c)
        return;
    m->time_base = c->time_base;
    m->p = avcodec_parameters_alloc();
    avcodec_parameters_from_context(m->p, c);
    for (int64_t i = 0; i < 4; i++) {
        AVFrame *f = make_frame(c, i * (c->width ? 1 : c->frame_size ? c->frame_size : 1024));
        assert_true(avcodec_send_frame(c, f) >= 0);
        av_frame_free(&f);
        keep(m, c);
    }
    avcodec_send_frame(c, NULL);
    keep(m, c);
    avcodec_free_context(&c);
}

static void write_text(material *m)
{
    const size_t bytes = m->id == AV_CODEC_ID_MOV_TEXT ? 7 : strlen(m->text);
    m->time_base = (AVRational){1, 1000};
    m->p = avcodec_parameters_alloc();
    m->p->codec_type = AVMEDIA_TYPE_SUBTITLE;
    m->p->codec_id = m->id;
    if (m->id == AV_CODEC_ID_ASS) {
        m->p->extradata = av_mallocz(sizeof ass_head + AV_INPUT_BUFFER_PADDING_SIZE);
        memcpy(m->p->extradata, ass_head, sizeof ass_head);
        m->p->extradata_size = sizeof ass_head - 1;
    }
    AVPacket *packet = m->packets[m->count++] = av_packet_alloc();
    assert_int_equal(av_new_packet(packet, (int)bytes), 0);
    memcpy(packet->data, m->text, bytes);
    packet->pts = packet->dts = 40;
    packet->duration = 40;
    packet->flags = AV_PKT_FLAG_KEY;
}

static int prepare(void **state)
{
    (void)state;
    av_log_set_level(AV_LOG_QUIET);
    for (int i = 0; i < MATERIALS; i++) {
        const AVCodec *encoder =
            materials[i].encoder ? avcodec_find_encoder_by_name(materials[i].encoder) : NULL;
        if (encoder)
            encode(&materials[i], encoder);
        else if (!materials[i].encoder)
            write_text(&materials[i]);
    }
    return 0;
}

static const material *of(enum AVCodecID id)
{
    for (int i = 0; i < MATERIALS; i++)
        if (materials[i].id == id && materials[i].count)
            return &materials[i];
    return NULL;
}

/* ---- through a file -------------------------------------------------------------------------- */

typedef struct film {
    const material *parts[2];              /* a video, and NULL or something else, */
    double late;                           /* which begins so many seconds after it */
    bool sequential;                       /* nothing can be written twice */
    bool alpha;                            /* packets have some beside them */
    void (*describe)(AVFormatContext *to); /* changes what is written, before its header; or NULL */
    const char *options;                   /* of the writer, instead of the row's; or NULL */
} film;

static int put(AVFormatContext *to, const film *f)
{
    int code = 0;
    for (unsigned n = 0; n < PACKETS_MAX && code >= 0; n++)
        for (int i = 0; i < 2 && f->parts[i] && code >= 0; i++) {
            const material *m = f->parts[i];
            AVPacket *packet = n < m->count ? av_packet_clone(m->packets[n]) : NULL;
            if (!packet)
                continue;
            packet->stream_index = i;
            av_packet_rescale_ts(packet, m->time_base, to->streams[i]->time_base);
            if (i && f->late > 0) {
                packet->pts += llrint(f->late / av_q2d(to->streams[i]->time_base));
                packet->dts += llrint(f->late / av_q2d(to->streams[i]->time_base));
            }
            uint8_t *beside =
                f->alpha ? av_packet_new_side_data(packet, AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL, 12)
                         : NULL;
            if (beside)
                memcpy(beside, (const uint8_t[12]){0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4}, 12);
            code = av_interleaved_write_frame(to, packet);
            av_packet_free(&packet);
        }
    return code;
}

static int write_film(const char *path, const AVOutputFormat *format, const film *f)
{
    AVFormatContext *to = NULL;
    AVDictionary *options = NULL;
    const container *row = container_row_of(format);
    avformat_alloc_output_context2(&to, format, NULL, path);
    to->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
    for (int i = 0; i < 2 && f->parts[i]; i++) {
        AVStream *stream = avformat_new_stream(to, NULL);
        avcodec_parameters_copy(stream->codecpar, f->parts[i]->p);
        stream->codecpar->codec_tag = 0;
        stream->time_base = f->parts[i]->time_base;
        if (stream->codecpar->width)
            stream->avg_frame_rate = (AVRational){25, 1};
    }
    if (f->describe)
        f->describe(to);
    int code = avio_open(&to->pb, path, AVIO_FLAG_WRITE);
    if (f->sequential)
        to->pb->seekable = 0;
    if (f->options || row->options)
        av_dict_parse_string(&options, f->options ? f->options : row->options, "=", ":", 0);
    code = code < 0 ? code : avformat_write_header(to, &options);
    if (code >= 0) {
        code = put(to, f);
        const int end = av_write_trailer(to);
        code = code < 0 ? code : end;
    }
    av_dict_free(&options);
    avio_closep(&to->pb);
    avformat_free_context(to);
    return code;
}

#define VALUE "qxz"
static bool value_is_there; /* in the last file */

/* Whether the bytes of the value are in the file. */
static bool contains(const char *path, const char *value)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "rb");
    const size_t n = file ? fread(text, 1, sizeof text, file) : 0;
    if (file)
        fclose(file);
    return memmem(text, n, value, strlen(value));
}

/* The sound without which a writer takes no video; NULL: it does. */
static const material *companion;

/* What the reader finds in what the writer makes of it. NULL: one of them refuses. */
static AVFormatContext *through(const AVOutputFormat *format, const film *f)
{
    film whole = *f;
    whole.parts[1] = f->parts[1] ? f->parts[1] : companion;
    char path[] = "/tmp/mona_containers_XXXXXX";
    AVFormatContext *from = NULL;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    if (write_film(path, format, &whole) >= 0 &&
        avformat_open_input(&from, path, av_find_input_format(format->name), NULL) >= 0 &&
        avformat_find_stream_info(from, NULL) < 0)
        avformat_close_input(&from);
    value_is_there = contains(path, VALUE);
    unlink(path);
    return from;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Writers of libav 59 are the ones that the table was made for; later ones may hold more. */
enum { EXACT = LIBAVFORMAT_VERSION_MAJOR == 59 };

static const material *sound_of(const AVOutputFormat *format)
{
    for (int i = 0; i < MATERIALS; i++)
        if (materials[i].count && materials[i].p->codec_type == AVMEDIA_TYPE_AUDIO &&
            container_holds_id(format, materials[i].id))
            return &materials[i];
    return NULL;
}

static bool is_read(const AVOutputFormat *format, const material *m)
{
    AVFormatContext *read = through(format, &(film){.parts = {m}});
    const bool known = read && read->nb_streams;
    avformat_close_input(&read);
    return known;
}

/* The material of a row's video; NULL: none that is written can be read as a file. */
static const material *video_of(const AVOutputFormat *format)
{
    const container *row = container_row_of(format);
    for (int with = 0; with <= !row->one; with++) {
        companion = with ? sound_of(format) : NULL;
        for (int i = 0; i < MATERIALS && !row->frames && !row->itself && !row->pictures; i++)
            if (materials[i].count && materials[i].p->width &&
                container_holds_id(format, materials[i].id) && is_read(format, &materials[i]))
                return &materials[i];
    }
    return NULL;
}

typedef void (*row_test)(const container *row, const AVOutputFormat *format, const material *video);

static unsigned faults, looked;

static void expect(const container *row, const char *trait, bool said, bool found)
{
    looked++;
    if (said == found || (found && !EXACT))
        return;
    faults++;
    print_error("%s: %s: the table says %s, the file %s\n", row->name, trait, said ? "yes" : "no",
                found ? "yes" : "no");
}

static void each_row(row_test test)
{
    faults = looked = 0;
    for (unsigned i = 0; container_at(i); i++) {
        const AVOutputFormat *format = av_guess_format(container_at(i)->name, NULL, NULL);
        const material *video = format ? video_of(format) : NULL;
        if (video)
            test(container_at(i), format, video);
        else if (format)
            print_message("[  SKIPPED ] %s: what is written cannot be read\n", format->name);
        companion = NULL;
    }
    assert_int_equal(faults, 0);
    assert_true(looked > 0);
}

/* Readers of mp4 do not tell these apart. */
static enum AVCodecID as_read(enum AVCodecID id)
{
    return id == AV_CODEC_ID_MP2 ? AV_CODEC_ID_MP3 : id;
}

static void look_at_codecs(const container *row, const AVOutputFormat *format,
                           const material *video)
{
    for (int i = 0; i < MATERIALS; i++) {
        const material *m = &materials[i];
        char trait[64];
        if (!m->count || (row->one && !m->p->width))
            continue;
        AVFormatContext *read =
            through(format, m->p->width ? &(film){.parts = {m}} : &(film){.parts = {video, m}});
        bool found = false;
        for (unsigned s = 0; read && s < read->nb_streams; s++)
            found |= as_read(read->streams[s]->codecpar->codec_id) == as_read(m->id);
        avformat_close_input(&read);
        snprintf(trait, sizeof trait, "holds %s", avcodec_get_name(m->id));
        const bool libav = avformat_query_codec(format, m->id, FF_COMPLIANCE_EXPERIMENTAL) == 1;
        if (container_holds_id(format, m->id) || libav || row->only)
            expect(row, trait, container_holds_id(format, m->id), found);
    }
}

static void codecs_are_held_as_the_table_says(void **state)
{
    (void)state;
    each_row(look_at_codecs);
}

static void add_chapters(AVFormatContext *to)
{
    to->chapters = av_calloc(1, sizeof *to->chapters);
    to->chapters[0] = av_mallocz(sizeof **to->chapters);
    *to->chapters[0] = (AVChapter){.id = 1, .time_base = {1, 1000}, .start = 0, .end = 80};
    av_dict_set(&to->chapters[0]->metadata, "title", "One", 0);
    to->nb_chapters = 1;
}

static void turn(AVFormatContext *to)
{
    av_display_rotation_set(
        (int32_t *)avstream_new_side_data(to->streams[0], AV_PKT_DATA_DISPLAYMATRIX, 36), -90);
}

static void colour(AVFormatContext *to)
{
    AVCodecParameters *p = to->streams[0]->codecpar;
    p->color_primaries = AVCOL_PRI_BT2020;
    p->color_trc = AVCOL_TRC_SMPTE2084;
    p->color_space = AVCOL_SPC_BT2020_NCL;
}

static void site(AVFormatContext *to)
{
    to->streams[0]->codecpar->chroma_location = AVCHROMA_LOC_TOP;
}

static void widen(AVFormatContext *to)
{
    to->streams[0]->sample_aspect_ratio = to->streams[0]->codecpar->sample_aspect_ratio =
        (AVRational){10, 9};
}

static void attach(AVFormatContext *to)
{
    AVStream *file = avformat_new_stream(to, NULL);
    file->codecpar->codec_type = AVMEDIA_TYPE_ATTACHMENT;
    file->codecpar->codec_id = AV_CODEC_ID_TTF;
    file->codecpar->extradata = av_mallocz(4 + AV_INPUT_BUFFER_PADDING_SIZE);
    file->codecpar->extradata_size = 4;
    av_dict_set(&file->metadata, "filename", "a.ttf", 0);
    av_dict_set(&file->metadata, "mimetype", "font/ttf", 0);
}

static void make_cover(AVFormatContext *to)
{
    to->streams[1]->disposition = AV_DISPOSITION_ATTACHED_PIC;
}

/* Other speakers than players guess. */
static uint64_t speakers_of(const AVChannelLayout *l)
{
    return l->nb_channels == 1 ? AV_CH_BACK_CENTER : AV_CH_FRONT_CENTER | AV_CH_LOW_FREQUENCY;
}

static void name_speakers(AVFormatContext *to)
{
    AVChannelLayout *l = &to->streams[1]->codecpar->ch_layout;
    av_channel_layout_from_mask(l, speakers_of(l));
}

static bool names_speakers(const AVFormatContext *read)
{
    const AVChannelLayout *l = &read->streams[1]->codecpar->ch_layout;
    return l->order == AV_CHANNEL_ORDER_NATIVE && l->u.mask == speakers_of(l);
}

static void say_alpha(AVFormatContext *to)
{
    av_dict_set(&to->streams[0]->metadata, "alpha_mode", "1", 0);
}

static bool has_alpha(AVFormatContext *read)
{
    AVPacket *packet = av_packet_alloc();
    bool found = false;
    while (read && !found && av_read_frame(read, packet) >= 0) {
        found = av_packet_get_side_data(packet, AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL, NULL);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return found;
}

/* With the codec that says nothing of it itself, if the container holds one. */
static const material *silent(const AVOutputFormat *format)
{
    static const enum AVCodecID ids[] = {AV_CODEC_ID_FFV1, AV_CODEC_ID_VP9, AV_CODEC_ID_MPEG4};
    for (int i = 0; i < 3; i++)
        if (of(ids[i]) && container_holds_id(format, ids[i]))
            return of(ids[i]);
    return NULL;
}

static void look_at_video(const container *row, const AVOutputFormat *format, const material *video)
{
    AVFormatContext *read = through(format, &(film){.parts = {video}, .describe = add_chapters});
    expect(row, "chapters", row->chapters, read && read->nb_chapters);
    avformat_close_input(&read);
    read = through(format, &(film){.parts = {video}, .describe = turn});
    const bool turned =
        read && avstream_side_data(read->streams[0], AV_PKT_DATA_DISPLAYMATRIX, NULL);
    /* Of AVIF, writers before FFmpeg 7 keep it in films alone, and later ones in none. */
    expect(row, "rotation", container_keeps_matrix(format), turned && !row->one);
    avformat_close_input(&read);
    read = through(format, &(film){.parts = {video}, .sequential = true});
    expect(row, "seeks", row->seeks, !read);
    avformat_close_input(&read);
    /* The writer of AVIF crashes where it is given more than it holds. */
    read = row->one ? NULL : through(format, &(film){.parts = {video}, .describe = attach});
    bool found = false;
    for (unsigned i = 0; read && i < read->nb_streams; i++)
        found |= read->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_ATTACHMENT;
    expect(row, "attached files", row->files, found);
    avformat_close_input(&read);
    if (of(AV_CODEC_ID_PNG) && !row->one) {
        read = through(format, &(film){{video, of(AV_CODEC_ID_PNG)}, .describe = make_cover});
        expect(row, "covers", row->covers == COVERS_COMMON,
               read && read->nb_streams == 2 && container_is_cover(read->streams[1]));
        avformat_close_input(&read);
    }
    if (of(AV_CODEC_ID_PCM_S16LE) && container_holds_id(format, AV_CODEC_ID_PCM_S16LE) &&
        !row->one) {
        read =
            through(format, &(film){{video, of(AV_CODEC_ID_PCM_S16LE)}, .describe = name_speakers});
        if (read && read->nb_streams == 2)
            expect(row, "speakers", row->speakers, names_speakers(read));
        avformat_close_input(&read);
    }
    if (!silent(format))
        return;
    read = through(format, &(film){.parts = {silent(format)}, .describe = colour});
    if (read)
        expect(row, "colours", row->colours,
               read->streams[0]->codecpar->color_trc == AVCOL_TRC_SMPTE2084);
    avformat_close_input(&read);
    read = through(format, &(film){.parts = {silent(format)}, .describe = site});
    if (read)
        expect(row, "siting", row->siting,
               read->streams[0]->codecpar->chroma_location == AVCHROMA_LOC_TOP);
    avformat_close_input(&read);
    if (!of(AV_CODEC_ID_VP9) || !container_holds_id(format, AV_CODEC_ID_VP9))
        return;
    read = through(format, &(film){{of(AV_CODEC_ID_VP9)}, .alpha = true, .describe = say_alpha});
    expect(row, "alpha", row->alpha, has_alpha(read));
    avformat_close_input(&read);
    read = through(format, &(film){.parts = {of(AV_CODEC_ID_VP9)}, .describe = widen});
    if (read && read->streams[0]->sample_aspect_ratio.num > 0)
        expect(row, "whole", row->whole,
               av_cmp_q(read->streams[0]->sample_aspect_ratio, (AVRational){10, 9}));
    avformat_close_input(&read);
}

static void a_video_keeps_what_the_table_says(void **state)
{
    (void)state;
    each_row(look_at_video);
}

/* How much later the second stream begins, by the first packets. */
static double lateness(AVFormatContext *read)
{
    double first[2] = {NAN, NAN};
    AVPacket *packet = av_packet_alloc();
    while (av_read_frame(read, packet) >= 0) {
        double *at = &first[packet->stream_index == 1];
        const int64_t time = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
        if (isnan(*at) && time != AV_NOPTS_VALUE)
            *at = (double)time * av_q2d(read->streams[packet->stream_index]->time_base);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return first[1] - first[0];
}

static void look_at_starts(const container *row, const AVOutputFormat *format,
                           const material *video)
{
    const double late = 0.2;
    bool kept = true, any = false;
    for (int i = 0; i < MATERIALS && !row->one; i++) {
        const material *m = &materials[i];
        if (!m->count || m->p->codec_type != AVMEDIA_TYPE_AUDIO ||
            !container_holds_id(format, m->id))
            continue;
        AVFormatContext *read = through(format, &(film){{video, m}, .late = late});
        if (read && read->nb_streams == 2) {
            kept = kept && fabs(lateness(read) - late) < 0.05;
            any = true;
        }
        avformat_close_input(&read);
    }
    if (any)
        expect(row, "starts", row->starts, kept);
}

static void streams_begin_as_the_table_says(void **state)
{
    (void)state;
    each_row(look_at_starts);
}

/* ---- tags ------------------------------------------------------------------------------------ */

static const char *tag_name, *tag_value;
static int mark;

static void tag_file(AVFormatContext *to)
{
    av_dict_set(&to->metadata, tag_name, tag_value, 0);
}

/* Timecodes are of the video, which comes first; a track that is read last. */
static bool is_timecode(const char *name)
{
    return !strcmp(name, "timecode");
}

static void tag_stream(AVFormatContext *to)
{
    const unsigned stream = is_timecode(tag_name) ? 0 : to->nb_streams - 1;
    av_dict_set(&to->streams[stream]->metadata, tag_name, tag_value, 0);
}

static void mark_stream(AVFormatContext *to)
{
    to->streams[to->nb_streams - 1]->disposition = mark;
}

/* Its value, or that of a number, is in the file, or libav reads it. */
static bool keeps_tag(const AVOutputFormat *format, const film *f, const char *name)
{
    bool found = false;
    tag_name = name;
    for (int number = 0; number < 2 && !found; number++) {
        tag_value = number                      ? "1"
                    : !strcmp(name, "language") ? "eng"
                    : is_timecode(name)         ? "01:00:00:00"
                                                : VALUE;
        AVFormatContext *read = through(format, f);
        const AVStream *last = read ? read->streams[read->nb_streams - 1] : NULL;
        found = read && (value_is_there || av_dict_get(read->metadata, name, NULL, 0) ||
                         (!number && av_dict_get(last->metadata, name, NULL, 0)));
        avformat_close_input(&read);
    }
    return found;
}

static void look_at_names(const container *row, const AVOutputFormat *format, const film *f,
                          const char *of, const char *const *names)
{
    char trait[64];
    snprintf(trait, sizeof trait, "any tag of the %s", of);
    expect(row, trait, !names, keeps_tag(format, f, "made_up"));
    for (; names && *names; names++) {
        snprintf(trait, sizeof trait, "tag %s of the %s", *names, of);
        expect(row, trait, true, keeps_tag(format, f, *names));
    }
}

static void look_at_tags(const container *row, const AVOutputFormat *format, const material *video)
{
    const material *sound = sound_of(format);
    if (!row->tags || !sound)
        return;
    look_at_names(row, format, &(film){.parts = {video, sound}, .describe = tag_file}, "file",
                  row->tags->file);
    look_at_names(row, format, &(film){.parts = {video, sound}, .describe = tag_stream}, "stream",
                  row->tags->stream);
    if (row->tags->file)
        expect(row, "any tag, with its option", row->any_option != NULL,
               keeps_tag(format,
                         &(film){.parts = {video, sound},
                                 .describe = tag_file,
                                 .options = "movflags=+use_metadata_tags"},
                         "made_up"));
}

static void tags_are_held_as_the_table_says(void **state)
{
    (void)state;
    each_row(look_at_tags);
}

static bool keeps_mark(const AVOutputFormat *format, const material *video, const material *m)
{
    AVFormatContext *read =
        m ? through(format, &(film){.parts = {video, m}, .describe = mark_stream}) : NULL;
    const bool kept = read && read->nb_streams == 2 && read->streams[1]->disposition & mark;
    avformat_close_input(&read);
    return kept;
}

static const material *text_of(const AVOutputFormat *format)
{
    for (int i = 0; i < MATERIALS; i++)
        if (materials[i].text && container_holds_id(format, materials[i].id))
            return &materials[i];
    return NULL;
}

/* Some marks are for sound, others for text. */
static void look_at_marks(const container *row, const AVOutputFormat *format, const material *video)
{
    const material *sound = sound_of(format), *text = text_of(format);
    char trait[64];
    for (mark = AV_DISPOSITION_DUB; sound && row->tags && mark <= AV_DISPOSITION_DESCRIPTIONS;
         mark *= 2) {
        if (!av_disposition_to_string(mark) || mark == AV_DISPOSITION_ATTACHED_PIC)
            continue;
        snprintf(trait, sizeof trait, "mark %s", av_disposition_to_string(mark));
        expect(row, trait, row->tags->marks & mark,
               keeps_mark(format, video, sound) || keeps_mark(format, video, text));
    }
}

static void marks_are_held_as_the_table_says(void **state)
{
    (void)state;
    each_row(look_at_marks);
}

/* ---- what libav says of its writers ---------------------------------------------------------- */

static void check_options(const AVOutputFormat *format, const char *text)
{
    AVDictionary *options = NULL;
    const AVDictionaryEntry *option = NULL;
    assert_true(!text || av_dict_parse_string(&options, text, "=", ":", 0) >= 0);
    while ((option = av_dict_get(options, "", option, AV_DICT_IGNORE_SUFFIX)))
        assert_non_null(
            av_opt_find((void *)&format->priv_class, option->key, NULL, 0, AV_OPT_SEARCH_FAKE_OBJ));
    av_dict_free(&options);
}

static void writers_are_as_the_table_says(void **state)
{
    (void)state;
    unsigned known = 0;
    faults = 0;
    for (unsigned i = 0; container_at(i); i++) {
        const container *row = container_at(i);
        const AVOutputFormat *format = av_guess_format(row->name, NULL, NULL);
        if (!format || strcmp(format->name, row->name)) {
            print_message("[  SKIPPED ] %s: this FFmpeg has no such writer\n", row->name);
            continue;
        }
        known++;
        assert_ptr_equal(container_row_of(format), row);
        check_options(format, row->options);
        check_options(format, row->live_options);
        check_options(format, row->any_option);
        expect(row, "itself or pictures", row->itself || row->pictures,
               format->flags & AVFMT_NOFILE);
        expect(row, "frames", row->frames, format->video_codec == AV_CODEC_ID_WRAPPED_AVFRAME);
        expect(row, "loops", row->loops,
               format->priv_class && av_opt_find((void *)&format->priv_class, "final_delay", NULL,
                                                 0, AV_OPT_SEARCH_FAKE_OBJ));
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(container_at(j)->name, row->name);
        if (row->suffix) {
            char name[32];
            snprintf(name, sizeof name, "x%s", row->suffix);
            assert_ptr_equal(av_guess_format(NULL, name, NULL), format);
        }
    }
    assert_int_equal(faults, 0);
    assert_true(known > 10);
}

static int finish(void **state)
{
    (void)state;
    for (int i = 0; i < MATERIALS; i++) {
        avcodec_parameters_free(&materials[i].p);
        for (unsigned n = 0; n < materials[i].count; n++)
            av_packet_free(&materials[i].packets[n]);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writers_are_as_the_table_says),
        cmocka_unit_test(codecs_are_held_as_the_table_says),
        cmocka_unit_test(a_video_keeps_what_the_table_says),
        cmocka_unit_test(streams_begin_as_the_table_says),
        cmocka_unit_test(tags_are_held_as_the_table_says),
        cmocka_unit_test(marks_are_held_as_the_table_says),
    };
    return cmocka_run_group_tests_name("containers", tests, prepare, finish);
}
