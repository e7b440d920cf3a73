// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/containers/container.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/display.h>

#include "pipeline/base/av_compat.h"
#include "pipeline/io/codecs/subtitles.h"

static const struct {
    const char *format, *suffix;
} alternatives[] = {
    {"matroska", ".mkv"}, {"mp4", ".mp4"}, {"mov", ".mov"}, {"mpegts", ".ts"}, {"nut", ".nut"}};

/* Codecs that have a stream type in the MPEG transport stream. Its writer accepts anything else as
 * private data, which nothing can read back. */
static const enum AVCodecID transport_codecs[] = {
    AV_CODEC_ID_H264,         AV_CODEC_ID_HEVC,      AV_CODEC_ID_MPEG1VIDEO,
    AV_CODEC_ID_MPEG2VIDEO,   AV_CODEC_ID_MPEG4,     AV_CODEC_ID_MP2,
    AV_CODEC_ID_MP3,          AV_CODEC_ID_AAC,       AV_CODEC_ID_AAC_LATM,
    AV_CODEC_ID_AC3,          AV_CODEC_ID_EAC3,      AV_CODEC_ID_DTS,
    AV_CODEC_ID_TRUEHD,       AV_CODEC_ID_OPUS,      AV_CODEC_ID_DVB_SUBTITLE,
    AV_CODEC_ID_DVB_TELETEXT, AV_CODEC_ID_SMPTE_KLV, AV_CODEC_ID_TIMED_ID3,
    AV_CODEC_ID_BIN_DATA};

bool container_is(const AVOutputFormat *format, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(format->name, *names))
            return true;
    return false;
}

static bool is_matroska(const AVOutputFormat *format)
{
    return container_is(format, (const char *const[]){"matroska", NULL});
}

bool container_regenerates(const AVFormatContext *input, const AVStream *stream)
{
    const AVCodecParameters *codec = stream->codecpar;
    bool text = codec->codec_type == AVMEDIA_TYPE_DATA &&
                codec->codec_tag == MKTAG('t', 'e', 'x', 't') && input->nb_chapters;
    return codec->codec_tag == MKTAG('t', 'm', 'c', 'd') || text;
}

bool container_leaves_out(const AVStream *stream)
{
    return stream->discard == AVDISCARD_ALL;
}

bool container_is_cover(const AVStream *stream)
{
    return stream->disposition & AV_DISPOSITION_ATTACHED_PIC;
}

bool container_attaches_covers(const AVOutputFormat *format)
{
    return is_matroska(format);
}

static bool holds_cover(const AVOutputFormat *format, enum AVCodecID codec)
{
    if (is_matroska(format))
        return true;
    return container_is(format, (const char *const[]){"mp4", "ipod", NULL}) &&
           (codec == AV_CODEC_ID_PNG || codec == AV_CODEC_ID_MJPEG || codec == AV_CODEC_ID_BMP);
}

static bool holds_in_transport(enum AVCodecID codec)
{
    for (size_t i = 0; i < sizeof transport_codecs / sizeof *transport_codecs; i++)
        if (transport_codecs[i] == codec)
            return true;
    return false;
}

static bool holds_id(const AVOutputFormat *format, enum AVCodecID codec)
{
    if (container_is(format, (const char *const[]){"mpegts", "rtp_mpegts", "hls", "rtsp", NULL}))
        return holds_in_transport(codec);
    /* QuickTime's writer reports these as supported, but refuses them. */
    if (!strcmp(format->name, "mov") && (codec == AV_CODEC_ID_FLAC || codec == AV_CODEC_ID_OPUS))
        return false;
    return avformat_query_codec(format, codec, FF_COMPLIANCE_EXPERIMENTAL) == 1;
}

static bool holds_codec(const AVOutputFormat *format, const AVStream *stream)
{
    const AVCodecParameters *codec = stream->codecpar;
    if (container_is_cover(stream))
        return holds_cover(format, codec->codec_id);
    if (codec->codec_type == AVMEDIA_TYPE_ATTACHMENT)
        return is_matroska(format);
    if (codec->codec_type == AVMEDIA_TYPE_DATA && is_matroska(format))
        return false;
    return holds_id(format, codec->codec_id);
}

bool container_is_quicktime(const AVOutputFormat *format)
{
    static const char *const names[] = {"mov", "mp4", "ipod", "3gp", "3g2", "f4v", "ismv", NULL};
    return container_is(format, names);
}

static bool holds_rotation(const AVOutputFormat *format, const AVStream *stream)
{
    const uint8_t *matrix = avstream_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, NULL);
    int32_t upright[9];
    av_display_rotation_set(upright, 0);
    return !matrix || !memcmp(matrix, upright, sizeof upright) || container_is_quicktime(format);
}

/* Whether it holds nothing but one video. */
static bool is_single(const AVOutputFormat *format)
{
    static const char *const single[] = {"yuv4mpegpipe", "image2", "rawvideo", "h264", "hevc",
                                         "obu",          "ivf",    "framemd5", "md5",  NULL};
    return container_is(format, single);
}

bool container_holds(const AVOutputFormat *format, const AVStream *stream)
{
    return !is_single(format) && holds_codec(format, stream) && holds_rotation(format, stream);
}

/* Menus of a DVD, which are useless without the DVD. */
static bool is_navigation(const AVStream *stream)
{
    return stream->codecpar->codec_id == AV_CODEC_ID_DVD_NAV;
}

enum AVCodecID container_converts(const AVOutputFormat *format, const AVStream *stream,
                                  const sound_choice *choice)
{
    const AVCodecParameters *codec = stream->codecpar;
    if (is_single(format) || container_leaves_out(stream))
        return AV_CODEC_ID_NONE;
    if (codec->codec_type == AVMEDIA_TYPE_AUDIO)
        return sound_target(format, codec, choice, holds_id);
    return container_holds(format, stream) ? AV_CODEC_ID_NONE
                                           : subtitles_target(format, codec->codec_id);
}

/* Whether something of stream i would be lost. */
static bool misfits(const container_contents *c, unsigned i)
{
    const AVStream *stream = c->input->streams[i];
    if (stream == c->video)
        return !holds_rotation(c->format, stream);
    return !container_leaves_out(stream) && !container_regenerates(c->input, stream) &&
           !container_holds(c->format, stream) && !container_converts(c->format, stream, c->sound);
}

static bool holds_all(const container_contents *c)
{
    for (unsigned i = 0; i < c->input->nb_streams; i++)
        if (misfits(c, i) && !is_navigation(c->input->streams[i]))
            return false;
    return true;
}

static bool holds_chapters(const AVOutputFormat *format, const AVFormatContext *input)
{
    static const char *const names[] = {"matroska", "webm", "mov", "mp4", "ipod", "3gp",
                                        "3g2",      "f4v",  "nut", "ogg", "asf",  NULL};
    return !input->nb_chapters || container_is(format, names);
}

static const char *find_alternative(const container_contents *c)
{
    container_contents other = *c;
    for (size_t i = 0; i < sizeof alternatives / sizeof *alternatives; i++) {
        other.format = av_guess_format(alternatives[i].format, NULL, NULL);
        if (other.format && holds_all(&other) && holds_chapters(other.format, c->input))
            return alternatives[i].suffix;
    }
    return NULL;
}

/* Writes "stream 3 (subtitle, subrip)". */
static void describe(char *text, size_t size, const AVStream *stream, const AVStream *video)
{
    const AVCodecParameters *codec = stream->codecpar;
    const char *type = av_get_media_type_string(codec->codec_type);
    bool fits = stream == video;
    snprintf(text, size, "%sstream %d (%s, %s)", fits ? "the rotation of " : "", stream->index,
             container_is_cover(stream) ? "cover picture"
             : type                     ? type
                                        : "unknown",
             avcodec_get_name(codec->codec_id));
}

/* As users call it. */
static const char *container_name(const AVOutputFormat *format)
{
    return !strcmp(format->name, "image2") ? "a row of pictures" : format->name;
}

/* Reports one thing that will be lost: as a note with drop, else as the error. remedy: another one
 * than a container. */
static bool lose(const container_contents *c, const char *what, const char *remedy, bool drop,
                 pipeline_error *error)
{
    if (drop) {
        pipeline_note(c->notes, "%s: %s cannot hold %s; it is left out", c->path,
                      container_name(c->format), what);
        return true;
    }
    const char *suffix = find_alternative(c);
    return pipeline_fail(
        error, "%s: %s cannot hold %s; %s%s%s %s--drop-unsupported to leave it out", c->path,
        container_name(c->format), what,
        suffix ? "use " : "no container that mona writes holds everything; use",
        suffix ? suffix : "", suffix ? ", which holds everything, or" : "", remedy);
}

/* Whether sound that would lose something could be encoded. */
static const char *remedy_for(const container_contents *c, const AVStream *stream)
{
    const sound_choice automatic = {.mode = SOUND_AUTO};
    return stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO &&
                   container_converts(c->format, stream, &automatic)
               ? "--audio auto to encode it, or "
               : "";
}

/* Pictures have no sound, and nobody expects it of them. */
static bool is_mute(const AVOutputFormat *format, const AVStream *stream)
{
    return stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO &&
           container_is(format, (const char *const[]){"image2", "gif", NULL});
}

static bool check_stream(const container_contents *c, unsigned i, pipeline_error *error)
{
    const AVStream *stream = c->input->streams[i];
    const bool wanted = c->sound->mode == SOUND_CODEC && !is_single(c->format) &&
                        stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
    char what[128];
    if (wanted && stream->codecpar->codec_id != c->sound->codec &&
        !container_converts(c->format, stream, c->sound))
        return pipeline_fail(error,
                             "%s: %s cannot hold %s, as --audio says, or FFmpeg has no "
                             "encoder for it; --audio auto chooses another codec",
                             c->path, c->format->name, avcodec_get_name(c->sound->codec));
    if (!misfits(c, i))
        return true;
    describe(what, sizeof what, stream, c->video);
    return lose(c, what, remedy_for(c, stream),
                c->drop || is_navigation(stream) || is_mute(c->format, stream), error);
}

bool container_check(const container_contents *c, pipeline_error *error)
{
    for (unsigned i = 0; i < c->input->nb_streams; i++)
        if (!check_stream(c, i, error))
            return false;
    return holds_chapters(c->format, c->input) || lose(c, "the chapters", "", c->drop, error);
}

/* ---- what is held, but not exactly ---------------------------------------------------------- */

/* Where a stream begins, in seconds; NAN: unknown or irrelevant. */
static double start_of(const AVStream *stream)
{
    const enum AVMediaType type = stream->codecpar->codec_type;
    const bool counts = type == AVMEDIA_TYPE_AUDIO || type == AVMEDIA_TYPE_VIDEO;
    return counts && !container_leaves_out(stream) && !container_is_cover(stream) &&
                   stream->start_time != AV_NOPTS_VALUE
               ? (double)stream->start_time * av_q2d(stream->time_base)
               : NAN;
}

/* AVI counts frames, so all streams begin at the same time; small differences are not noticed. */
bool container_check_starts(const container_contents *c, pipeline_error *error)
{
    const double forgiven = 0.04;
    double first = INFINITY;
    if (strcmp(c->format->name, "avi"))
        return true;
    for (unsigned i = 0; i < c->input->nb_streams; i++)
        first = fmin(first, start_of(c->input->streams[i]));
    for (unsigned i = 0; i < c->input->nb_streams; i++) {
        const double late = start_of(c->input->streams[i]) - first;
        if (!(late > forgiven))
            continue;
        if (!c->drop)
            return pipeline_fail(error,
                                 "%s: avi cannot store that stream %u begins %.3f s after the "
                                 "others; use .mkv, which can, or --drop-unsupported to go on",
                                 c->path, i, late);
        pipeline_note(c->notes,
                      "%s: avi cannot store that stream %u begins %.3f s after the others", c->path,
                      i, late);
    }
    return true;
}

/* Matroska stores the display size of a video in whole pixels. H.264 and others also store the
 * pixel aspect themselves; VP9 and AV1 do not. */
void container_tell_aspect(const container_contents *c, const AVCodecParameters *video)
{
    const AVRational aspect = video->sample_aspect_ratio;
    const bool coded = video->codec_id != AV_CODEC_ID_VP9 && video->codec_id != AV_CODEC_ID_AV1;
    if (!container_is(c->format, (const char *const[]){"matroska", "webm", NULL}) || coded ||
        aspect.num <= 0 || aspect.den <= 0)
        return;
    const int64_t shown = av_rescale(video->width, aspect.num, aspect.den);
    if (shown * aspect.den != (int64_t)video->width * aspect.num)
        pipeline_note(c->notes,
                      "%s: %s stores sizes in whole pixels: the aspect ratio %d:%d becomes %" PRId64
                      " / %d",
                      c->path, c->format->name, aspect.num, aspect.den, shown, video->width);
}
