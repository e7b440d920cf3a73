// SPDX-License-Identifier: Apache-2.0
/* Opens an input: its container, its video stream and the decoder. */
#include "pipeline/io/sources/input.h"

#include <math.h>
#include <string.h>

#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

#include "pipeline/base/av_compat.h"
#include "pipeline/base/av_library.h"
#include "pipeline/io/codecs/codec.h"
#include "pipeline/io/containers/container.h"
#include "pipeline/io/containers/media_file.h"
#include "pipeline/image/pixels.h"
#include "pipeline/io/sources/source.h"
#include "pipeline/io/containers/url.h"

/* ProRes has ten bits, chroma in every row, and limited range. What has less, or full range,
 * becomes that before all else. */
static void widen(input *in, AVCodecParameters *video)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(video->format);
    const bool full = pixels_full_range(video->format, video->color_range);
    const bool sampled = d->log2_chroma_w <= 1 && d->log2_chroma_h <= d->log2_chroma_w;
    const enum AVPixelFormat wide = !sampled || d->comp[0].depth > 10  ? video->format
                                    : d->flags & AV_PIX_FMT_FLAG_ALPHA ? AV_PIX_FMT_YUVA444P10
                                    : d->log2_chroma_w                 ? AV_PIX_FMT_YUV422P10
                                                                       : AV_PIX_FMT_YUV444P10;
    if (d->nb_components < 3 || (wide == video->format && !full))
        return;
    if (wide != video->format)
        pipeline_note(in->notes, "%s: %s becomes %s, which prores holds", in->path,
                      pixels_name(video->format), pixels_name(wide));
    if (full)
        pipeline_note(in->notes, "%s: full range becomes limited, the only one of prores",
                      in->path);
    in->widened = true;
    video->format = wide;
}

/* Chooses whether frames are converted to planes, and the stream's resulting format. */
static bool choose_planes(input *in, picture_chroma chroma, pipeline_error *error)
{
    AVCodecParameters *video = in->video->codecpar;
    const bool pictures = in->from.kind->separate;
    if (!pictures && chroma == PICTURE_422_10 && pixels_has_planes(video->format))
        widen(in, video);
    if (!pictures && pixels_has_planes(video->format))
        return true;
    const bool open = transparency_is_open(video);
    const bool shows = open && transparency_find(in->from.kind, &in->settings, in->video);
    in->planes = picture_planes_format(!open   ? video->format
                                       : shows ? AV_PIX_FMT_BGRA
                                               : AV_PIX_FMT_BGR0,
                                       chroma);
    if (in->planes == AV_PIX_FMT_NONE)
        return !pictures ||
               pipeline_fail(error, "%s: expected pictures of 8 to %d bits a sample, found %s",
                             in->path, PIXELS_MAX_BITS, pixels_name(video->format));
    if ((int)in->planes != video->format)
        pipeline_note(in->notes, "%s: %s in %s, enhanced as %s", in->path,
                      pictures ? "pictures" : "a video", pixels_name(video->format),
                      pixels_name(in->planes));
    picture_planes_describe(video, in->planes);
    return true;
}

/* Finds the first stream that is a video and not a cover. */
static bool find_video(input *in, pipeline_error *error)
{
    for (unsigned i = 0; i < in->format->nb_streams; i++) {
        AVStream *stream = in->format->streams[i];
        if (stream->codecpar->codec_type != AVMEDIA_TYPE_VIDEO || container_is_cover(stream))
            continue;
        if (!in->video)
            in->video = stream;
        else
            pipeline_note(in->notes, "%s: stream %u is also a video; it is copied unchanged",
                          in->path, i);
    }
    return in->video ||
           pipeline_fail(error, "%s: expected a video stream, found none among %u streams",
                         in->path, in->format->nb_streams);
}

bool input_check_video(const input *in, pipeline_error *error)
{
    const AVCodecParameters *video = in->video->codecpar;
    const bool known = video->width > 0 && video->height > 0;
    const AVIOContext *file = in->format->pb;
    if ((!known || video->format == AV_PIX_FMT_NONE) && reader_of(in->format->iformat)->index &&
        file && !file->seekable)
        return pipeline_fail(
            error,
            "%s: expected a file, found a pipe: this format describes the video after its frames",
            in->path);
    if ((!known || video->format == AV_PIX_FMT_NONE) && cut_off_found(in->path, error))
        return false;
    if (!known)
        return pipeline_fail(error, "%s: the video's size is unknown", in->path);
    if (!pixels_check(in->path, video->format, error))
        return false;
    if (video->width > MONA_MAX_SIDE || video->height > MONA_MAX_SIDE)
        return pipeline_fail(error, "%s: expected at most %d pixels a side, found %dx%d", in->path,
                             MONA_MAX_SIDE, video->width, video->height);
    return (av_image_check_size((unsigned)video->width, (unsigned)video->height, 0, NULL) >= 0 ||
            source_fail_large(in->path, error)) &&
           pixels_limit(in->path, in->settings.max_pixels, (uint32_t)video->width,
                        (uint32_t)video->height, error);
}

/* libav's own decoders of VP8 and VP9 ignore the alpha that Matroska stores separately. */
static const AVCodec *find_decoder(const AVStream *video)
{
    const enum AVCodecID id = video->codecpar->codec_id;
    const AVDictionaryEntry *alpha = av_dict_get(video->metadata, "alpha_mode", NULL, 0);
    const AVCodec *whole = NULL;
    if (alpha && !strcmp(alpha->value, "1"))
        whole = avcodec_find_decoder_by_name(id == AV_CODEC_ID_VP8   ? "libvpx"
                                             : id == AV_CODEC_ID_VP9 ? "libvpx-vp9"
                                                                     : "");
    return whole ? whole : avcodec_find_decoder(id);
}

/* Makes the decoder export each frame's quantisers (quantiser.c). libavcodec reads them when it
 * returns a frame. With one thread per frame, these codecs may then still be decoding that frame in
 * another thread, so threads share the work on each frame instead, as far as it was coded in
 * slices. */
static void ask_quantisers(AVCodecContext *decoder)
{
    decoder->export_side_data |= AV_CODEC_EXPORT_DATA_VIDEO_ENC_PARAMS;
    if (decoder->codec_id == AV_CODEC_ID_H264 || decoder->codec_id == AV_CODEC_ID_MPEG4)
        decoder->thread_type = FF_THREAD_SLICE;
}

/* coded, range: of pixels before planes were chosen. */
static bool open_decoder(input *in, const input_settings *s, int coded, enum AVColorRange range,
                         pipeline_error *error)
{
    const AVCodecParameters *video = in->video->codecpar;
    const AVCodec *codec = find_decoder(in->video);
    if (!codec)
        return pipeline_fail(error, "%s: no decoder for %s", in->path,
                             avcodec_get_name(video->codec_id));
    in->decoder = avcodec_alloc_context3(codec);
    if (!in->decoder)
        return pipeline_fail(error, "out of memory");
    int code = avcodec_parameters_to_context(in->decoder, video);
    in->decoder->pix_fmt = coded;
    in->decoder->color_range = range;
    in->decoder->pkt_timebase = in->video->time_base;
    in->decoder->thread_count = codec_threads(s->threads, video->height);
    /* Each thread that decodes a frame of its own delays the output by one frame. */
    if (s->low_latency)
        in->decoder->thread_type = FF_THREAD_SLICE;
    if (s->quantisers)
        ask_quantisers(in->decoder);
    if (s->max_pixels > 0)
        in->decoder->max_pixels = pixels_limit_decoder(s->max_pixels);
    if (s->no_grain) /* a decoder that exports grain does not add it */
        in->decoder->export_side_data |= AV_CODEC_EXPORT_DATA_FILM_GRAIN;
    if (code >= 0)
        code = avcodec_open2(in->decoder, codec, NULL);
    return code >= 0 ||
           pipeline_fail_av(error, code, "%s: the %s decoder cannot start", in->path, codec->name);
}

static bool open_chip(input *in, const pipeline_notes *notes, pipeline_error *error)
{
    const input_settings *s = &in->settings;
    const chip_decoder_settings chip = {.path = in->path,
                                        .notes = notes,
                                        .video = in->video->codecpar,
                                        .time_base = in->video->time_base,
                                        .chip = s->chip,
                                        .low_latency = in->from.kind->timed || s->low_latency,
                                        .quantisers = s->quantisers};
    return chip_decoder_open(&in->chip, in->decoder, &chip, error);
}

/* Where the video's clock ticks once a frame, as in .avi, sound is shifted by whole ticks like the
 * frames, so that it stays in sync. Finer clocks are left alone: sound would begin before 0. */
static int64_t whole_ticks(int64_t time, AVRational tick)
{
    return av_cmp_q(tick, (AVRational){1, 1000}) > 0
               ? av_rescale_q(av_rescale_q(time, AV_TIME_BASE_Q, tick), tick, AV_TIME_BASE_Q)
               : time;
}

/* A file that cannot be searched is read from its beginning; frames before start are dropped in any
 * case. Times begin at 0, wherever those of the file do: broadcasts count for hours, and a clock
 * that is about to return to 0 counts from below, of which mp4 would hide everything before 0. */
static void cut(input *in, const input_settings *s)
{
    const int64_t origin = avformat_origin(in->format);
    const source_kind *kind = in->from.kind;
    const bool live = kind->timed && in->format->start_time != AV_NOPTS_VALUE;
    if (s->end > 0)
        in->end = origin + llround(s->end * AV_TIME_BASE);
    if (s->start > 0 || live) /* it began long before, by its clock */
        in->start = origin + llround(s->start * AV_TIME_BASE);
    if (!s->keep_start)
        in->shift = whole_ticks(origin + llround(s->start * AV_TIME_BASE), in->video->time_base);
    if (s->start <= 0)
        return;
    in->next_pts = -av_rescale_q(in->shift, AV_TIME_BASE_Q, in->video->time_base);
    if (kind->seek && !(in->format->iformat->flags & AVFMT_NOTIMESTAMPS))
        kind->seek(&in->from, in->video, in->start);
}

static void turn_aspect(AVRational *aspect)
{
    if (aspect->num > 0)
        *aspect = av_inv_q(*aspect);
}

bool input_choose_turn(input *in, pipeline_error *error)
{
    const input_settings *s = &in->settings;
    AVCodecParameters *video = in->video->codecpar;
    const orientation turn = orientation_wanted(s->rotate, in->video);
    if (s->rotate == ROTATION_AUTO &&
        (s->keeps_matrix || !orientation_changes(turn) || !orientation_takes(video->format, turn)))
        return true;
    in->turn = turn;
    avstream_remove_side_data(in->video, AV_PKT_DATA_DISPLAYMATRIX);
    if (av_dict_set(&in->video->metadata, "rotate", NULL, 0) < 0)
        return pipeline_fail(error, "out of memory");
    if (!orientation_changes(turn))
        return true;
    video->chroma_location = orientation_chroma(video->chroma_location, turn);
    if (orientation_swaps(turn)) {
        FFSWAP(int, video->width, video->height);
        turn_aspect(&video->sample_aspect_ratio);
        turn_aspect(&in->video->sample_aspect_ratio);
    }
    if (s->rotate == ROTATION_AUTO)
        pipeline_note(in->notes,
                      "%s: the frames are turned, because the output cannot hold a rotation",
                      in->path);
    return true;
}

/* 24 frames with 3:2 pull-down become 30, a thousandth slower as a rule. */
static bool is_rate_of_film(const input *in)
{
    const double rate = av_q2d(input_frame_rate(in));
    return rate > 29.9 && rate < 30.1;
}

static bool drop(void *context, AVPacket *packet, pipeline_error *error)
{
    (void)context, (void)packet, (void)error;
    return true;
}

/* The order of the fields of a film with pull-down, as of pulldown_order. */
static bool look_for_film(const input_settings *s, int *order, pipeline_error *error)
{
    enum { MOST = 3000 }; /* frames */
    input look;
    input_settings settings = *s;
    settings.fields = FIELDS_SINGLE;
    settings.notes = NULL;
    settings.deinterlace = settings.no_audio = true;
    settings.chip = NULL;
    settings.quantisers = settings.low_latency = settings.ends_early = false;
    input_result result = input_open(&look, &settings, error) ? INPUT_FRAME : INPUT_FAILED;
    const pulldown *p = &look.fields.sight.pulldown;
    look.copy = drop;
    for (unsigned n = 0; n < MOST && result == INPUT_FRAME && !pulldown_is_decided(p); n++)
        result = input_next(&look, error);
    *order = pulldown_order(p);
    input_close(&look);
    return result != INPUT_FAILED;
}

/* Whether it is film with pull-down is decided before the first frame, as the rate of the result
 * follows from that, and many films begin with a still. */
static bool find_film(input *in, const input_settings *s, pipeline_error *error)
{
    int order = 0;
    if (in->from.kind->timed || !strcmp(s->path, "-") || url_find(s->path))
        return pipeline_misuse(
            error, "--fields film: expected a file, which is read twice, found %s", in->path);
    if (is_rate_of_film(in) && !look_for_film(s, &order, error))
        return false;
    in->fields.mode = order ? FIELDS_FILM : FIELDS_SINGLE;
    in->fields.bottom_first = order < 0;
    in->fields.possible = in->fields.possible && !order;
    if (!order)
        pipeline_note(
            in->notes,
            "%s: does not look like film with 3:2 pull-down (24 frames a second made 30); "
            "--fields film leaves its frames as --fields single does",
            in->path);
    return true;
}

/* coded: the format of its pixels before planes were chosen. */
static fields fields_of(const input *in, int coded)
{
    const input_settings *s = &in->settings;
    return (fields){.path = in->path,
                    .notes = in->notes,
                    .time_base = in->video->time_base,
                    /* Dithered screen recordings look like combing. */
                    .possible =
                        !s->low_latency && (in->from.kind->separate || !pixels_are_rgb(coded)),
                    .wanted = s->deinterlace,
                    .mode = s->fields,
                    .may_be_film = is_rate_of_film(in)};
}

static void leave_out_sound(const input *in)
{
    for (unsigned i = 0; i < in->format->nb_streams; i++)
        if (in->format->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO)
            in->format->streams[i]->discard = AVDISCARD_ALL;
}

/* The decoder, and what it says of the film, where libav reads packets. */
static bool open_packets(input *in, const input_settings *s, pipeline_error *error)
{
    in->packet = av_packet_alloc();
    if (!in->packet)
        return pipeline_fail(error, "out of memory");
    if (!find_video(in, error))
        return false;
    if (s->no_audio)
        leave_out_sound(in);
    AVCodecParameters *p = in->video->codecpar;
    p->chroma_location = pixels_picture_location(p->codec_id, p->chroma_location);
    const int coded = p->format;
    const enum AVColorRange range = p->color_range;
    if ((coded == AV_PIX_FMT_NONE || !p->width) &&
        !pixels_limit_kept(in->path, s->max_pixels, error))
        return false;
    if ((!s->as_decoded &&
         (!choose_planes(in, s->chroma, error) || !input_check_video(in, error))) ||
        !open_decoder(in, s, coded, range, error) || !open_chip(in, in->notes, error))
        return false;
    if (in->widened) /* the chip was to know what the film says */
        p->color_range = AVCOL_RANGE_MPEG;
    if (!s->as_decoded && !input_choose_turn(in, error))
        return false;
    in->fields = fields_of(in, coded);
    if (!timestamp_joins_open(&in->times, in->format))
        return pipeline_fail(error, "out of memory");
    cut(in, s);
    if (s->fields == FIELDS_FILM && !s->as_decoded && !find_film(in, s, error))
        return false;
    /* Messages from probing the file are not damage. */
    av_log_errors_listen();
    return true;
}

bool input_open(input *in, const input_settings *s, pipeline_error *error)
{
    static const pipeline_notes nowhere;
    *in = (input){.settings = *s,
                  .notes = s->notes ? s->notes : &nowhere,
                  .planes = AV_PIX_FMT_NONE,
                  .start = INT64_MIN,
                  .end = INT64_MAX,
                  .last_pts = INT64_MIN,
                  .entry = INT64_MIN};
    if (s->path && stat(s->path, &in->file))
        in->file = (struct stat){0};
    in->frame = av_frame_alloc();
    const bool opened = in->frame ? source_open(&in->from, s, in->notes, error)
                                  : pipeline_fail(error, "out of memory");
    in->path = in->from.path;
    in->format = in->from.format;
    if (!opened)
        return false;
    in->draining = in->from.kind->frame; /* there are no packets */
    if (in->draining) {
        in->video = in->format->streams[0];
        return true;
    }
    return open_packets(in, s, error);
}

/* ---- entering ------------------------------------------------------------------------------- */

bool input_is_searchable(const input *in)
{
    return in->from.kind->seek && !(in->format->iformat->flags & AVFMT_NOTIMESTAMPS) &&
           in->fields.mode != FIELDS_FILM && !in->times.jumps;
}

unsigned input_lead(const input *in)
{
    enum { OF_FILTERS = 2 }; /* frames that a deinterlacer sees at a time, less one */
    return OF_FILTERS + (in->fields.possible ? INTERLACE_DETECT_WAITING : 0);
}

/* Reads up to the packet of the entry, which then lies in in->packet. */
static bool find_entry(input *in)
{
    while (input_packet(in, in->packet) >= 0) {
        const AVPacket *p = in->packet;
        const bool video = p->stream_index == in->video->index;
        if (video && p->flags & AV_PKT_FLAG_KEY && p->pts == in->entry)
            return true;
        /* Nothing that is shown later is decoded before it. */
        const bool passed = video && p->dts != AV_NOPTS_VALUE && p->dts > in->entry;
        av_packet_unref(in->packet);
        if (passed)
            return false;
    }
    return false;
}

bool input_enter(input *in, int64_t entry, interlace_known fields)
{
    static const pipeline_notes said;
    pipeline_error error = {0};
    chip_decoder_close(&in->chip);
    avcodec_flush_buffers(in->decoder);
    fields_close(&in->fields);
    in->fields.known = fields;
    timestamp_joins_forget(&in->times);
    packet_queue_free(&in->held);
    av_packet_unref(in->packet);
    av_frame_unref(in->frame);
    in->ahead = in->draining = false;
    in->entry = entry;
    in->last_pts = INT64_MIN;
    in->next_pts = 0;
    if (!open_chip(in, &said, &error))
        return false;
    in->from.kind->seek(&in->from, in->video,
                        av_rescale_q_rnd(entry, in->video->time_base, AV_TIME_BASE_Q, AV_ROUND_UP));
    in->found = in->entering = find_entry(in);
    if (in->entering)
        av_log_errors_pause(true);
    return in->found;
}
