// SPDX-License-Identifier: Apache-2.0
/* Opens an input: its container, its video stream and the decoder. */
#include "pipeline/io/sources/input.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavutil/imgutils.h>
#include <libavutil/parseutils.h>
#include <libavutil/pixdesc.h>

#include "pipeline/image/picture_kind.h"
#include "pipeline/base/av_compat.h"
#include "pipeline/base/av_log_errors.h"
#include "pipeline/io/codecs/codec.h"
#include "pipeline/io/containers/container.h"
#include "pipeline/io/containers/cut_off.h"
#include "pipeline/io/containers/media_file.h"
#include "pipeline/io/containers/reader.h"
#include "pipeline/image/pixels.h"
#include "pipeline/io/sources/seek.h"
#include "pipeline/io/sources/transparency.h"
#include "pipeline/io/containers/url.h"

/* Gives plain errors for files that libav would report as "Invalid data" or open as something
 * unexpected. once: the file is opened only once, so that it can be a pipe. */
static bool check_file(const char *path, bool once, pipeline_error *error)
{
    struct stat status;
    if (picture_pattern(path) || url_find(path))
        return true;
    if (!url_check(path, error))
        return false;
    if (stat(path, &status))
        return pipeline_fail(error, "%s: cannot be read: %s", path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return pipeline_fail(error, "%s: expected a video or an image, found a directory", path);
    if (S_ISFIFO(status.st_mode) && !once)
        return pipeline_fail(error, "%s: expected a file, found a pipe", path);
    if (S_ISREG(status.st_mode) && !status.st_size)
        return pipeline_fail(error, "%s: expected a video or an image, found an empty file", path);
    return true;
}

/* Converts "1280x720:yuv420p:25" to options of libav's raw video reader. */
static bool describe_raw(const char *raw, AVDictionary **options, pipeline_error *error)
{
    char size[32], format[32], rate[32], rest;
    if (sscanf(raw, "%31[0-9x]:%31[^:]:%31[0-9./]%c", size, format, rate, &rest) != 3 ||
        av_get_pix_fmt(format) == AV_PIX_FMT_NONE)
        return pipeline_misuse(
            error,
            "--raw: expected WIDTHxHEIGHT:PIXEL_FORMAT:RATE as in 1280x720:yuv420p:25, found '%s'",
            raw);
    av_dict_set(options, "video_size", size, 0);
    av_dict_set(options, "pixel_format", format, 0);
    av_dict_set(options, "framerate", rate, 0);
    return true;
}

/* For numbered pictures: libav probes the first one, mona reads them all. */
static bool open_pictures(input *in, const input_settings *s, AVDictionary **options,
                          pipeline_error *error)
{
    AVRational rate;
    const char *text = s->rate ? s->rate : "25";
    if (av_parse_video_rate(&rate, text) < 0)
        return pipeline_misuse(error, "--fps: expected a rate such as 25 or 24000/1001, found '%s'",
                               text);
    if (!picture_list_open(&in->pictures, s->path, in->notes, error))
        return false;
    picture_list first = in->pictures;
    const bool good =
        picture_list_read(&first, in->packet) < 0 || input_check_picture(in, &first, error);
    av_packet_unref(in->packet);
    if (!good)
        return false;
    av_dict_set(options, "framerate", text, 0);
    picture_list_options(&in->pictures, options);
    return true;
}

static void describe_pictures(input *in)
{
    in->video->nb_frames = (int64_t)in->pictures.count;
    in->video->duration = picture_list_length(&in->pictures);
    in->format->duration = av_rescale_q(in->video->duration, in->video->time_base, AV_TIME_BASE_Q);
}

/* ProRes has ten bits, and chroma in every row. What has less becomes that before all else. */
static void widen(input *in, AVCodecParameters *video)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(video->format);
    const bool sampled = d->log2_chroma_w <= 1 && d->log2_chroma_h <= d->log2_chroma_w;
    const enum AVPixelFormat wide = d->flags & AV_PIX_FMT_FLAG_ALPHA ? AV_PIX_FMT_YUVA444P10
                                    : d->log2_chroma_w               ? AV_PIX_FMT_YUV422P10
                                                                     : AV_PIX_FMT_YUV444P10;
    if (d->nb_components < 3 || !sampled || d->comp[0].depth > 10 || wide == video->format)
        return;
    pipeline_note(in->notes, "%s: %s becomes %s, which prores holds", in->path,
                  pixels_name(video->format), pixels_name(wide));
    in->widened = true;
    video->format = wide;
    video->color_range = AVCOL_RANGE_MPEG;
}

/* Chooses whether frames are converted to planes, and the stream's resulting format. */
static bool choose_planes(input *in, picture_chroma chroma, pipeline_error *error)
{
    AVCodecParameters *video = in->video->codecpar;
    const bool pictures = in->pictures.count;
    if (!pictures && chroma == PICTURE_422_10 && pixels_has_planes(video->format))
        widen(in, video);
    if (!pictures && pixels_has_planes(video->format))
        return true;
    in->maybe_opaque = transparency_is_open(video);
    const bool shows =
        in->maybe_opaque && !in->live.on && transparency_find(in->path, &in->pictures, in->video);
    in->planes = picture_planes_format(!in->maybe_opaque ? video->format
                                       : shows           ? AV_PIX_FMT_BGRA
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

static const AVInputFormat *wanted_format(const input *in, const input_settings *s,
                                          const char *address)
{
    const char *name = s->raw ? "rawvideo" : in->pictures.count ? "image2" : NULL;
    return name                                      ? av_find_input_format(name)
           : s->list || media_name_misleads(address) ? media_format(address)
                                                     : NULL;
}

/* The URL for standard input: a file there is seekable, which libav's pipes are not. */
static const char *stdin_url(void)
{
    struct stat status;
    const bool whole = !fstat(STDIN_FILENO, &status) && S_ISREG(status.st_mode) &&
                       !lseek(STDIN_FILENO, 0, SEEK_CUR);
    return whole ? "file:/dev/stdin" : "pipe:0";
}

/* libav counts the bytes of a frame in int, with 8 for every pixel. Its Y4M reader adds 6 to that
 * error's code. */
enum { LARGE_Y4M = AVERROR(EINVAL) + 6 };

static bool fail_large(const char *path, pipeline_error *error)
{
    return pipeline_fail(error,
                         "%s: expected frames of at most %d million pixels, which libav can count, "
                         "found larger ones",
                         path, INT_MAX / 8 / 1000000);
}

/* By its name, raw frames. */
static bool looks_raw(const char *path)
{
    const AVInputFormat *raw = av_find_input_format("rawvideo");
    return raw && raw->extensions && av_match_ext(path, raw->extensions);
}

static bool fail_open(const char *path, const char *address, const char *list, int code,
                      pipeline_error *error)
{
    char fault[256];
    if (looks_raw(path))
        return pipeline_fail(error,
                             "%s: expected --raw WIDTHxHEIGHT:FORMAT:RATE, such as --raw "
                             "1280x720:yuv420p:25, because raw frames do not say what they are",
                             path);
    av_log_errors_first(fault, sizeof fault);
    if (media_refused(path, address, list, error))
        return false;
    if (code == AVERROR_INVALIDDATA && cut_off_found(path, error))
        return false;
    if (code == AVERROR_INVALIDDATA)
        return pipeline_fail(
            error, "%s: expected a video or an image, found data of no known format%s%s%s", path,
            fault[0] ? " (" : "", fault, fault[0] ? ")" : "");
    if (code == LARGE_Y4M)
        return fail_large(path, error);
    return pipeline_fail_av(error, code, "%s: cannot be opened", path);
}

/* Seconds after which a stream of a network that gives nothing counts as broken. */
static double stall_of(const input_settings *s)
{
    return s->live ? s->live->stall : 30;
}

/* Opens it as a live stream, which describes itself in in->format. */
static bool open_live(input *in, const input_settings *s, const char *address, const url *u,
                      AVDictionary **options, pipeline_error *error)
{
    live_settings settings = *s->live;
    const AVInputFormat *format = u ? url_input_format(u, error) : wanted_format(in, s, address);
    settings.url = u;
    settings.path = in->path;
    settings.address = address;
    settings.list = s->list;
    settings.notes = s->notes;
    if (error->text[0] || !live_open(&in->live, &settings, format, options, error))
        return false;
    in->format = in->live.described;
    return true;
}

/* Whether libav found no size in a WebP because it is animated. */
static bool is_animated_webp(AVFormatContext *format)
{
    uint8_t head[PICTURE_HEAD];
    if (!reader_of(format->iformat)->unsized || format->streams[0]->codecpar->width ||
        avio_seek(format->pb, 0, SEEK_SET) < 0)
        return false;
    const int got = avio_read(format->pb, head, sizeof head);
    return got > 0 && picture_kind_of(head, (size_t)got) == PICTURE_NONE;
}

static bool open_container(input *in, const input_settings *s, pipeline_error *error)
{
    char address[4096];
    AVDictionary *options = NULL;
    bool piped = !strcmp(s->path, "-");
    const url *u = url_find(s->path);
    if (snprintf(address, sizeof address, piped || u ? "%s" : "file:%s",
                 piped ? stdin_url() : s->path) >= (int)sizeof address)
        return pipeline_fail(error, "%s: the name is too long", in->path);
    const bool numbered = picture_pattern(s->path);
    if (s->rate && !numbered)
        return pipeline_misuse(
            error, "--fps: expected numbered pictures such as in/%%04d.png, found %s", in->path);
    if ((s->raw && !describe_raw(s->raw, &options, error)) ||
        (numbered && !open_pictures(in, s, &options, error))) {
        av_dict_free(&options);
        return false;
    }
    if (u)
        url_options(u, stall_of(s), &options);
    if (s->live) {
        const bool opened = open_live(in, s, address, u, &options, error);
        av_dict_free(&options);
        return opened;
    }
    const AVInputFormat *format = u ? url_input_format(u, error) : wanted_format(in, s, address);
    in->format = avformat_alloc_context();
    if (in->format && !u)
        media_guard(in->format, address, numbered ? "image2" : s->list, &options);
    av_log_errors_listen(); /* for fail_open */
    int code = error->text[0] ? AVERROR(ENOSYS)
                              : avformat_open_input(&in->format, address, format, &options);
    av_dict_free(&options);
    if (code < 0)
        return fail_open(in->path, u ? "" : address, s->list, code, error);
    code = avformat_find_stream_info(in->format, NULL);
    if (in->format->pb && in->format->pb->error < 0 && in->format->pb->error != AVERROR_EOF)
        code = in->format->pb->error;
    if (is_animated_webp(in->format))
        return pipeline_fail(error,
                             "%s: expected a still WebP, found an animated one, which FFmpeg %s "
                             "cannot decode; numbered pictures of it (libwebp's anim_dump writes "
                             "them) can be read",
                             in->path, av_version_info());
    return code >= 0 || pipeline_fail_av(error, code, "%s: cannot be read", in->path);
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
    return av_image_check_size((unsigned)video->width, (unsigned)video->height, 0, NULL) >= 0 ||
           fail_large(in->path, error);
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

/* Makes the decoder export each frame's quantisers (quantiser.h). libavcodec reads them when it
 * returns a frame. With one thread per frame, these codecs may then still be decoding that frame in
 * another thread, so threads share the work on each frame instead, as far as it was coded in
 * slices. */
static void ask_quantisers(AVCodecContext *decoder)
{
    decoder->export_side_data |= AV_CODEC_EXPORT_DATA_VIDEO_ENC_PARAMS;
    if (decoder->codec_id == AV_CODEC_ID_H264 || decoder->codec_id == AV_CODEC_ID_MPEG4)
        decoder->thread_type = FF_THREAD_SLICE;
}

/* coded: the pixel format from the decoder. */
static bool open_decoder(input *in, const input_settings *s, int coded, pipeline_error *error)
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
    in->decoder->pkt_timebase = in->video->time_base;
    in->decoder->thread_count = codec_threads(s->threads, video->height);
    /* Each thread that decodes a frame of its own delays the output by one frame. */
    if (s->low_latency)
        in->decoder->thread_type = FF_THREAD_SLICE;
    if (s->quantisers)
        ask_quantisers(in->decoder);
    if (s->no_grain) /* a decoder that exports grain does not add it */
        in->decoder->export_side_data |= AV_CODEC_EXPORT_DATA_FILM_GRAIN;
    if (code >= 0)
        code = avcodec_open2(in->decoder, codec, NULL);
    if (code < 0)
        return pipeline_fail_av(error, code, "%s: the %s decoder cannot start", in->path,
                                codec->name);
    const chip_decoder_settings chip = {.path = in->path,
                                        .notes = s->notes,
                                        .video = video,
                                        .time_base = in->video->time_base,
                                        .on_chip = s->on_chip,
                                        .low_latency = s->live || s->low_latency,
                                        .quantisers = s->quantisers};
    return chip_decoder_open(&in->chip, in->decoder, &chip, error);
}

/* A file that cannot be searched is read from its beginning; frames before start are dropped in any
 * case. Times begin at 0, wherever those of the file do: broadcasts count for hours, and a clock that
 * is about to return to 0 counts from below, of which mp4 would hide everything before 0. */
static void cut(input *in, const input_settings *s)
{
    const int64_t origin = avformat_origin(in->format);
    const bool live = in->live.on && in->format->start_time != AV_NOPTS_VALUE;
    if (s->end > 0)
        in->end = origin + llround(s->end * AV_TIME_BASE);
    if (s->start > 0 || live) /* it began long before, by its clock */
        in->start = origin + llround(s->start * AV_TIME_BASE);
    if (!s->keep_start)
        in->shift = origin + llround(s->start * AV_TIME_BASE);
    if (s->start <= 0)
        return;
    if (in->format->iformat->flags & AVFMT_NOTIMESTAMPS)
        in->next_pts = -av_rescale_q(in->shift, AV_TIME_BASE_Q, in->video->time_base);
    else if (!in->live.on)
        seek_before(in->format, in->video, in->start);
}

static void turn_aspect(AVRational *aspect)
{
    if (aspect->num > 0)
        *aspect = av_inv_q(*aspect);
}

/* Frames of input_next are turned; the stream is described as they are. The matrix goes, so that no
 * player turns them again. */
static void choose_turn(input *in, const input_settings *s)
{
    AVCodecParameters *video = in->video->codecpar;
    const orientation turn = orientation_wanted(s->rotate, in->video);
    if (s->rotate == ROTATION_AUTO &&
        (s->keeps_matrix || !orientation_changes(turn) || !orientation_takes(video->format, turn)))
        return;
    in->turn = turn;
    avstream_remove_side_data(in->video, AV_PKT_DATA_DISPLAYMATRIX);
    av_dict_set(&in->video->metadata, "rotate", NULL, 0);
    if (!orientation_changes(turn))
        return;
    video->chroma_location = orientation_chroma(video->chroma_location, turn);
    if (orientation_swaps(turn)) {
        FFSWAP(int, video->width, video->height);
        turn_aspect(&video->sample_aspect_ratio);
        turn_aspect(&in->video->sample_aspect_ratio);
    }
    if (s->rotate == ROTATION_AUTO)
        pipeline_note(s->notes,
                      "%s: the frames are turned, because the output cannot hold a rotation",
                      in->path);
}

/* A stream of one frame, and without packets. */
static bool open_photo(input *in, const input_settings *s, pipeline_error *error)
{
    in->draining = true;
    in->format = &in->described.format;
    in->video = &in->described.video;
    *in->format = (AVFormatContext){.start_time = AV_NOPTS_VALUE, .duration = AV_NOPTS_VALUE};
    *in->video = (AVStream){.codecpar = &in->described.coded,
                            .time_base = {1, 90000},
                            .start_time = AV_NOPTS_VALUE,
                            .duration = AV_NOPTS_VALUE,
                            .nb_frames = 1};
    in->described.coded = (AVCodecParameters){.codec_type = AVMEDIA_TYPE_UNKNOWN, .format = -1};
    return photo_open(&in->photo, s->path, s->photo, in->notes, error);
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
    settings.on_chip = settings.quantisers = settings.low_latency = settings.ends_early = false;
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
    if (s->live || !strcmp(s->path, "-") || url_find(s->path))
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

bool input_open(input *in, const input_settings *s, pipeline_error *error)
{
    static const pipeline_notes nowhere;
    bool piped = !strcmp(s->path, "-");
    *in = (input){.path = piped ? "standard input" : s->path,
                  .notes = s->notes ? s->notes : &nowhere,
                  .planes = AV_PIX_FMT_NONE,
                  .as_decoded = s->as_decoded,
                  .ends_early = s->ends_early,
                  .no_audio = s->no_audio,
                  .stop_on_error = s->stop_on_error,
                  .start = INT64_MIN,
                  .end = INT64_MAX,
                  .last_pts = INT64_MIN};
    in->frame = av_frame_alloc();
    if (in->frame && s->photo)
        return open_photo(in, s, error);
    in->packet = in->frame ? av_packet_alloc() : NULL;
    if (!in->packet)
        return pipeline_fail(error, "out of memory");
    if ((!piped && !check_file(s->path, s->as_decoded, error)) || !open_container(in, s, error) ||
        !find_video(in, error))
        return false;
    for (unsigned i = 0; s->no_audio && i < in->format->nb_streams; i++)
        if (in->format->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO)
            in->format->streams[i]->discard = AVDISCARD_ALL;
    const int coded = in->video->codecpar->format;
    if (in->pictures.count)
        describe_pictures(in);
    if ((!s->as_decoded &&
         (!choose_planes(in, s->chroma, error) || !input_check_video(in, error))) ||
        !open_decoder(in, s, coded, error))
        return false;
    if (!s->as_decoded)
        choose_turn(in, s);
    in->fields =
        (fields){.path = in->path,
                 .notes = in->notes,
                 .time_base = in->video->time_base,
                 /* Dithered screen recordings look like combing. */
                 .possible = !s->low_latency && (in->pictures.count || !picture_is_rgb(coded)),
                 .wanted = s->deinterlace,
                 .mode = s->fields,
                 .may_be_film = is_rate_of_film(in)};
    if (!timestamp_joins_open(&in->times, in->format))
        return pipeline_fail(error, "out of memory");
    cut(in, s);
    if (s->fields == FIELDS_FILM && !s->as_decoded && !find_film(in, s, error))
        return false;
    /* Messages from probing the file are not damage. */
    av_log_errors_listen();
    return true;
}
