// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/codecs/encode.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <libavutil/dict.h>
#include <libavutil/pixdesc.h>

#include "pipeline/base/av_compat.h"
#include "pipeline/image/captions.h"
#include "pipeline/io/codecs/hdr.h"
#include "pipeline/io/containers/container.h"
#include "pipeline/image/frame_convert.h"
#include "pipeline/image/pixels.h"
#include "pipeline/image/picture_planes.h"

/* ---- options ------------------------------------------------------------------------------ */

static bool check_preset(const codec *c, const char *preset, pipeline_error *error)
{
    if (codec_takes_preset(c, preset))
        return true;
    if (!c->preset)
        return pipeline_misuse(error, "--preset: %s has no presets", c->name);
    if (c->preset_names)
        return pipeline_misuse(error, "--preset: %s expects one of %s, found '%s'", c->name,
                               c->preset_names, preset);
    return pipeline_misuse(error, "--preset: %s expects a whole number from 0 to %d, found '%s'",
                           c->name, c->preset_max, preset);
}

static bool add_quality(AVDictionary **options, const codec *c, const encoder_choice *choice,
                        pipeline_error *error)
{
    char text[32];
    if (choice->crf >= 0 && !c->quality)
        return pipeline_misuse(error, "--crf: %s has no quality setting", c->name);
    if (choice->crf >= 0 && choice->match_bitrate)
        return pipeline_misuse(error, "--crf and --match-bitrate: expected only one of them");
    if (choice->crf >= 0 && (choice->crf < c->quality_min || choice->crf > c->quality_max ||
                             (c->quality_whole && choice->crf != floor(choice->crf))))
        return pipeline_misuse(error, "--crf: %s expects a %snumber from %g to %g, found %g",
                               c->name, c->quality_whole ? "whole " : "", c->quality_min,
                               c->quality_max, choice->crf);
    if (!c->quality || choice->match_bitrate)
        return true;
    snprintf(text, sizeof text, "%g", choice->crf >= 0 ? choice->crf : c->quality_default);
    return av_dict_set(options, c->quality, text, 0) >= 0 || pipeline_fail(error, "out of memory");
}

/* Adds "key=value" to the options. The value of an option that is itself a list ("x264-params") is
 * appended to it. */
static bool add_option(AVDictionary **options, const char *text, pipeline_error *error)
{
    char key[64];
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof key)
        return pipeline_misuse(error, "-e: expected KEY=VALUE, found '%s'", text);
    snprintf(key, sizeof key, "%.*s", (int)(equals - text), text);
    size_t length = strlen(key);
    bool list =
        length > 7 && !strcmp(key + length - 7, "-params") && av_dict_get(*options, key, NULL, 0);
    const bool added = (!list || av_dict_set(options, key, ":", AV_DICT_APPEND) >= 0) &&
                       av_dict_set(options, key, equals + 1, list ? AV_DICT_APPEND : 0) >= 0;
    return added || pipeline_fail(error, "out of memory");
}

/* All named options of the encoder; the user's own come last and override others. */
static bool collect_options(AVDictionary **options, const codec *c, const encoder_choice *choice,
                            uint32_t width, const AVStream *video, pipeline_error *error)
{
    enum { NARROW = 64 };
    char display[512];
    hdr_option(display, sizeof display, video, c);
    if (c->options && av_dict_parse_string(options, c->options, "=", ":", 0) < 0)
        return pipeline_fail(error, "out of memory");
    if (choice->low_latency && c->low_latency &&
        av_dict_parse_string(options, c->low_latency, "=", ":", 0) < 0)
        return pipeline_fail(error, "out of memory");
    if (choice->preset && !check_preset(c, choice->preset, error))
        return false;
    const char *usual = choice->live ? c->preset_live : c->preset_default;
    if (c->preset &&
        av_dict_set(options, c->preset, choice->preset ? choice->preset : usual, 0) < 0)
        return pipeline_fail(error, "out of memory");
    if (!add_quality(options, c, choice, error) ||
        (*display && !add_option(options, display, error)) ||
        (c->narrow && width < NARROW && !add_option(options, c->narrow, error)))
        return false;
    for (size_t i = 0; i < choice->option_count; i++)
        if (!add_option(options, choice->options[i], error))
            return false;
    return true;
}

/* ---- opening ------------------------------------------------------------------------------ */

/* Where no matrix is named, players assume BT.601 of small frames and BT.709 of large ones, and
 * draw the line at different sizes. What becomes large or small keeps what all of them assumed. */
enum AVColorSpace encoder_matrix(const encoder_settings *to, const AVCodecParameters *from)
{
    enum { SMALL_ROWS = 576, LARGE_COLUMNS = 1280 };
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(to->pix_fmt);
    const bool colours = d->nb_components > 2 && !pixels_are_rgb(to->pix_fmt);
    const bool was_small = from->width < LARGE_COLUMNS && from->height <= SMALL_ROWS;
    const bool is_small = to->width < LARGE_COLUMNS && to->height <= SMALL_ROWS;
    if (!colours || from->color_space != AVCOL_SPC_UNSPECIFIED)
        return from->color_space;
    const enum AVColorSpace was = frame_convert_assumed(from->color_space, from->height);
    const bool shrinks =
        was == AVCOL_SPC_BT709 && frame_convert_assumed(from->color_space, to->height) != was;
    return (was_small && !is_small) || shrinks ? was : AVCOL_SPC_UNSPECIFIED;
}

static void copy_colour(AVCodecContext *to, const encoder_settings *settings,
                        const AVCodecParameters *from)
{
    to->color_range =
        pixels_full_range(from->format, from->color_range) ? AVCOL_RANGE_JPEG : from->color_range;
    to->color_primaries = from->color_primaries;
    to->color_trc = from->color_trc;
    to->colorspace = encoder_matrix(settings, from);
    to->chroma_sample_location = from->chroma_location;
}

/* What -c could say for frames that the codec cannot hold. */
static const char *other_codec(const AVOutputFormat *format, const encoder_settings *s)
{
    const codec *prores = codec_find("prores");
    const enum AVPixelFormat planes = picture_planes_format(s->decoded, prores->chroma);
    if (s->choice.codec->samples)
        return "ffv1 in .mkv";
    if (codec_fits(codec_find("ffv1"), format))
        return "ffv1";
    return codec_fits(prores, format) && planes != AV_PIX_FMT_NONE &&
                   codec_takes(prores, format, planes)
               ? "prores"
               : "ffv1 in .mkv";
}

static bool check_picture(const codec *c, const AVOutputFormat *format, const encoder_settings *s,
                          pipeline_error *error)
{
    const char *name = av_get_pix_fmt_name(s->pix_fmt);
    if (!codec_takes(c, format, s->pix_fmt)) {
        const bool raw = c->samples;
        const bool opaque = pixels_without_alpha(s->pix_fmt) == s->pix_fmt;
        return pipeline_fail(error, "%s %s%s%s cannot hold %s; -c %s would%s", c->name,
                             raw ? "in " : "(", raw ? format->name : c->encoder, raw ? "" : ")",
                             name ? name : "this pixel format", other_codec(format, s),
                             opaque ? "" : ", and --drop-unsupported leaves the alpha out");
    }
    /* libav's FFV1 loses samples at the edges of chroma that is subsampled by 4 if its size is no
     * integer, and its y4m the last byte of each row of chroma if that has half a sample. */
    const frame_format frame = pixels_frame_format(s->pix_fmt, s->width, s->height);
    const bool y4m = container_row_of(format)->frames && frame.bits > 8;
    const uint32_t across = 1u << frame.shift_x, down = y4m ? 1 : 1u << frame.shift_y;
    const bool whole = c->even || y4m || (c->id == AV_CODEC_ID_FFV1 && (across > 2 || down > 2));
    if (whole && (frame.width % across || frame.height % down))
        return pipeline_fail(error,
                             "%s in %s needs a size in multiples of %ux%u, and the result has "
                             "%ux%u; use an even --scale or --size, or %s, which takes any size",
                             y4m ? "y4m" : c->name, name, across, down, frame.width, frame.height,
                             y4m       ? "-c ffv1 in .mkv"
                             : c->even ? "-c ffv1"
                                       : "-c rawvideo");
    return true;
}

enum { KEY_SECONDS = 2 };

static void describe(AVCodecContext *codec, const encoder_settings *settings, const AVStream *video,
                     const AVOutputFormat *format)
{
    codec->width = settings->width;
    codec->height = settings->height;
    codec->pix_fmt = settings->pix_fmt;
    codec->time_base = video->time_base;
    codec->framerate = settings->rate;
    codec->sample_aspect_ratio = settings->aspect;
    copy_colour(codec, settings, video->codecpar);
    if (format->flags & AVFMT_GLOBALHEADER)
        codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    codec->field_order = settings->fields;
    if (settings->fields)
        codec->flags |= AV_CODEC_FLAG_INTERLACED_DCT;
    if (container_row_of(format)->counts)
        codec->max_b_frames = 0;
    if (settings->choice.live)
        codec->gop_size = (int)ceil(KEY_SECONDS * av_q2d(settings->rate));
    if (settings->choice.match_bitrate)
        codec->bit_rate = settings->bit_rate;
    /* libav's own encoders hold on to frames if they work on several at once. */
    codec->thread_count = codec_threads(settings->choice.threads, settings->height);
    if (codec->codec->capabilities & (AV_CODEC_CAP_FRAME_THREADS | AV_CODEC_CAP_SLICE_THREADS))
        codec->thread_type = FF_THREAD_SLICE;
}

/* Frames get 256 colours, which are chosen for each, with dither. Of alpha, a palette has only one
 * transparent colour. */
static bool choose_colours(encoder *e, pipeline_error *error)
{
    AVCodecContext *c = e->codec;
    const bool alpha = pixels_without_alpha(c->pix_fmt) != c->pix_fmt;
    const int code = filter_graph_open(
        &e->colours, true,
        "buffer=video_size=%dx%d:pix_fmt=%d:time_base=%d/%d,split[a][b];"
        "[a]palettegen=stats_mode=single:reserve_transparent=%d[p];"
        "[b][p]paletteuse=new=1,buffersink",
        c->width, c->height, (int)c->pix_fmt, c->time_base.num, c->time_base.den, alpha);
    c->pix_fmt = AV_PIX_FMT_PAL8;
    return code >= 0 || pipeline_fail_av(error, code, "no palette can be made");
}

/* Writes the encoder's name and as many options as fit. */
static void describe_encoder(char text[ENCODER_TEXT], const char *name, const AVDictionary *options)
{
    const AVDictionaryEntry *o = NULL;
    int used = snprintf(text, ENCODER_TEXT, "%s", name);
    while ((o = av_dict_get(options, "", o, AV_DICT_IGNORE_SUFFIX)) && used < ENCODER_TEXT)
        used += snprintf(text + used, (size_t)(ENCODER_TEXT - used), " %s=%s", o->key, o->value);
}

/* Opens the encoder. All options must be used. */
static bool start(encoder *e, const codec *c, AVDictionary **options, pipeline_error *error)
{
    const int code = encoder_start(&e->calls, &e->codec, options, c->hangs);
    if (!e->codec || code == AVERROR(EAGAIN))
        return pipeline_fail(error, "%s does not start: the system refused a thread", c->encoder);
    const AVDictionaryEntry *left = av_dict_get(*options, "", NULL, AV_DICT_IGNORE_SUFFIX);
    if (code >= 0 && left)
        return pipeline_misuse(error, "-e %s=%s: %s has no such option", left->key, left->value,
                               c->encoder);
    return code >= 0 ||
           pipeline_fail_av(error, code, "%s does not accept %dx%d %s with these options",
                            c->encoder, e->codec->width, e->codec->height,
                            av_get_pix_fmt_name(e->codec->pix_fmt));
}

void encoder_tell_quality(const encoder_settings *s, const char *path, const pipeline_notes *notes)
{
    const encoder_choice *c = &s->choice;
    if (c->codec->id == AV_CODEC_ID_H264 && c->crf == 0 &&
        av_pix_fmt_desc_get(s->pix_fmt)->comp[0].depth == 8)
        pipeline_note(notes,
                      "%s: --crf 0 makes h264 lossless, in a profile that many players cannot show "
                      "(High 4:4:4 Predictive); from --crf 1 on it is the usual one",
                      path);
}

bool encoder_open(encoder *e, const encoder_settings *settings, const AVStream *video,
                  const AVOutputFormat *format, pipeline_error *error)
{
    const codec *c = settings->choice.codec;
    const char *name = container_row_of(format)->frames ? "wrapped_avframe" : c->encoder;
    const AVCodec *libav = avcodec_find_encoder_by_name(name);
    *e = (encoder){.name = c->encoder,
                   .packet = av_packet_alloc(),
                   .waits = c->waits,
                   .fields = settings->fields};
    if (c->keeps)
        e->copy = av_frame_alloc();
    if (!libav)
        return pipeline_fail(error, "this libavcodec has no %s encoder", name);
    if (settings->choice.match_bitrate && (!settings->bit_rate || !c->quality))
        return pipeline_misuse(error, "--match-bitrate: %s",
                               c->quality ? "the bit rate of the input's video is unknown"
                                          : "the codec has no bit rate to set");
    e->codec = avcodec_alloc_context3(libav);
    if (!e->codec || !e->packet || (c->keeps && !e->copy))
        return pipeline_fail(error, "out of memory");
    if (!check_picture(c, format, settings, error))
        return false;
    e->inserts = c->captions == CAPTIONS_INSERTED; /* newer encoders would, but not by themselves */
    describe(e->codec, settings, video, format);
    if (c->colours && !choose_colours(e, error))
        return false;

    AVDictionary *options = NULL;
    bool good = collect_options(&options, c, &settings->choice, settings->width, video, error);
    describe_encoder(e->text, name, options);
    good = good && start(e, c, &options, error) &&
           coded_header_open(&e->header, e->codec, settings->rate, format, error);
    av_dict_free(&options);
    return good;
}

static void remember(encoder *e, const AVFrame *frame)
{
    const unsigned slot = e->frames++ % ENCODER_LATEST;
    e->latest[slot].pts = frame->pts;
    e->latest[slot].duration = avframe_duration(frame);
    av_buffer_unref(&e->latest[slot].captions);
    e->latest[slot].captions = e->inserts ? captions_of(frame) : NULL;
}

/* Gives a packet what its frame had. */
static int recall(encoder *e, AVPacket *packet)
{
    packet->duration = 0;
    for (uint64_t i = e->frames, oldest = i > ENCODER_LATEST ? i - ENCODER_LATEST : 0; i > oldest;
         i--) {
        const unsigned slot = (i - 1) % ENCODER_LATEST;
        if (e->latest[slot].pts != packet->pts)
            continue;
        packet->duration = e->latest[slot].duration;
        return e->latest[slot].captions ? captions_insert(packet, e->latest[slot].captions) : 0;
    }
    return 0;
}

/* Makes a copy that the encoder may keep. */
static int copy_frame(encoder *e, const AVFrame *frame)
{
    int code = 0;
    if (e->copy->buf[0]) {
        code = av_frame_make_writable(e->copy);
    } else {
        e->copy->format = frame->format;
        e->copy->width = frame->width;
        e->copy->height = frame->height;
        code = av_frame_get_buffer(e->copy, 0);
    }
    while (e->copy->nb_side_data)
        av_frame_remove_side_data(e->copy, e->copy->side_data[0]->type);
    if (code >= 0)
        code = av_frame_copy(e->copy, frame);
    if (code >= 0)
        code = av_frame_copy_props(e->copy, frame);
    if (!e->fields)
        avframe_set_interlaced(e->copy, false, false);
    return code;
}

static bool fail(const encoder *e, int code, pipeline_error *error)
{
    if (code == AVERROR(ETIMEDOUT) && e->calls)
        return pipeline_fail(
            error,
            "%s waits for ever at frame %llu: the system refused it a thread, or it has a fault",
            e->name, (unsigned long long)e->frames);
    return pipeline_fail_av(error, code, "%s failed at frame %llu", e->name,
                            (unsigned long long)e->frames);
}

/* Sends the frame, NULL at the end, and passes on the packets. */
static bool send(encoder *e, const AVFrame *frame, const packet_sink *sink, pipeline_error *error)
{
    int code = encoder_send(e->calls, e->codec, frame);
    while (code >= 0 && (code = encoder_receive(e->calls, e->codec, e->packet)) >= 0) {
        e->packets++;
        code = coded_header_correct(e->header, e->packet);
        if (code >= 0)
            code = recall(e, e->packet);
        if (code < 0)
            return fail(e, code, error);
        if (!sink->take(sink->context, e->packet, e->codec->time_base, error))
            return false;
    }
    return code == AVERROR(EAGAIN) || code == AVERROR_EOF || fail(e, code, error);
}

/* Sends it in 256 colours. */
static bool send_coloured(encoder *e, AVFrame *frame, const packet_sink *sink,
                          pipeline_error *error)
{
    AVFrame *coloured = av_frame_alloc();
    bool good = coloured || pipeline_fail(error, "out of memory");
    int code = av_buffersrc_add_frame_flags(e->colours.source, frame, AV_BUFFERSRC_FLAG_KEEP_REF);
    while (good && code >= 0 && (code = av_buffersink_get_frame(e->colours.sink, coloured)) >= 0) {
        good = send(e, coloured, sink, error);
        av_frame_unref(coloured);
    }
    av_frame_free(&coloured);
    if (good && code != AVERROR(EAGAIN) && code != AVERROR_EOF)
        return fail(e, code, error);
    return good && (frame || send(e, NULL, sink, error));
}

bool encoder_put(encoder *e, const AVFrame *frame, const packet_sink *sink, pipeline_error *error)
{
    const int code = frame && e->copy ? copy_frame(e, frame) : 0;
    AVFrame *kept = frame ? e->copy : NULL;
    if (frame)
        remember(e, frame);
    if (code < 0)
        return fail(e, code, error);
    if (e->colours.graph ? !send_coloured(e, kept, sink, error)
                         : !send(e, kept ? kept : frame, sink, error))
        return false;
    /* By now every encoder of the table has copied the picture. */
    if (frame && av_buffer_get_ref_count(frame->buf[0]) != 1)
        return pipeline_fail(error,
                             "the encoder holds on to frame %llu, which mona does not support",
                             (unsigned long long)e->frames);
    if (!frame && e->packets != e->frames)
        return pipeline_fail(error, "%s was given %llu frames and wrote %llu", e->name,
                             (unsigned long long)e->frames, (unsigned long long)e->packets);
    return true;
}

/* Sends a frame with any content. False: out of memory. */
static bool send_something(encoder *e)
{
    const AVCodecContext *codec = e->codec;
    AVFrame *frame = av_frame_alloc();
    bool good = frame != NULL;
    if (good) {
        frame->format = codec->pix_fmt;
        frame->width = codec->width;
        frame->height = codec->height;
        frame->pts = 0;
        good = av_frame_get_buffer(frame, 0) >= 0 && encoder_send(e->calls, e->codec, frame) >= 0;
    }
    av_frame_free(&frame);
    return good;
}

void encoder_close(encoder *e)
{
    /* A leak is better than never returning. */
    if (e->waits && !e->frames && e->codec && avcodec_is_open(e->codec) && !send_something(e))
        e->codec = NULL;
    encoder_end(&e->calls, &e->codec);
    av_bsf_free(&e->header);
    av_packet_free(&e->packet);
    av_frame_free(&e->copy);
    for (unsigned i = 0; i < ENCODER_LATEST; i++)
        av_buffer_unref(&e->latest[i].captions);
    filter_graph_close(&e->colours);
}
