// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/outputs/contents.h"

#include <inttypes.h>
#include <math.h>

#include "pipeline/io/codecs/subtitles.h"
#include "pipeline/io/containers/container.h"

/* Menus of a DVD, which are useless without the DVD. */
static bool is_navigation(const AVStream *stream)
{
    return stream->codecpar->codec_id == AV_CODEC_ID_DVD_NAV;
}

enum AVCodecID contents_converts(const AVOutputFormat *format, const AVStream *stream,
                                 const sound_choice *choice)
{
    const AVCodecParameters *codec = stream->codecpar;
    if (container_row_of(format)->one || container_leaves_out(stream) ||
        container_is_unheard(stream))
        return AV_CODEC_ID_NONE;
    if (codec->codec_type == AVMEDIA_TYPE_AUDIO)
        return sound_target(format, codec, choice);
    return container_holds(format, stream) ? AV_CODEC_ID_NONE
                                           : subtitles_target(format, codec->codec_id);
}

/* Whether something of stream i would be lost. */
static bool misfits(const contents *c, unsigned i)
{
    const AVStream *stream = c->input->streams[i];
    if (stream == c->video)
        return !container_holds_rotation(c->format, stream);
    return !container_leaves_out(stream) && !container_regenerates(c->input, stream) &&
           !container_holds(c->format, stream) && !contents_converts(c->format, stream, c->sound);
}

static bool holds_all(const contents *c)
{
    for (unsigned i = 0; i < c->input->nb_streams; i++)
        if (misfits(c, i) && !is_navigation(c->input->streams[i]))
            return false;
    return true;
}

static bool holds_chapters(const AVOutputFormat *format, const AVFormatContext *input)
{
    return !input->nb_chapters || container_row_of(format)->chapters;
}

static const char *find_alternative(const contents *c)
{
    contents other = *c;
    for (unsigned i = 0; container_at(i); i++) {
        const container *row = container_at(i);
        other.format = row->suffix ? av_guess_format(row->name, NULL, NULL) : NULL;
        if (other.format && holds_all(&other) && holds_chapters(other.format, c->input))
            return row->suffix;
    }
    return NULL;
}

/* Writes "stream 3 (subtitle, subrip)". */
static void describe(char *text, size_t size, const AVStream *stream, const AVStream *video)
{
    const AVCodecParameters *codec = stream->codecpar;
    const char *type = av_get_media_type_string(codec->codec_type);
    bool fits = stream == video;
    snprintf(text, size, "%sstream %d (%s, %s%s)", fits ? "the rotation of " : "", stream->index,
             container_is_cover(stream) ? "cover picture"
             : type                     ? type
                                        : "unknown",
             avcodec_get_name(codec->codec_id),
             container_is_unheard(stream) ? ", of which nothing was found" : "");
}

/* As users call it. */
static const char *container_name(const AVOutputFormat *format)
{
    const char *called = container_row_of(format)->called;
    return called ? called : format->name;
}

/* Reports one thing that will be lost: as a note with drop, else as the error. remedy: another one
 * than a container. */
static bool lose(const contents *c, const char *what, const char *remedy, bool drop,
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
static const char *remedy_for(const contents *c, const AVStream *stream)
{
    const sound_choice automatic = {.mode = SOUND_AUTO};
    return stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO &&
                   contents_converts(c->format, stream, &automatic)
               ? "--audio auto to encode it, or "
               : "";
}

static bool check_stream(const contents *c, unsigned i, pipeline_error *error)
{
    const AVStream *stream = c->input->streams[i];
    const container *row = container_row_of(c->format);
    const bool sound = stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
    const bool wanted =
        c->sound->mode == SOUND_CODEC && !row->one && sound && !container_is_unheard(stream);
    char what[128];
    if (wanted && stream->codecpar->codec_id != c->sound->codec &&
        !contents_converts(c->format, stream, c->sound))
        return pipeline_fail(error,
                             "%s: %s cannot hold %s, as --audio says, or FFmpeg has no "
                             "encoder for it; --audio auto chooses another codec",
                             c->path, c->format->name, avcodec_get_name(c->sound->codec));
    if (!misfits(c, i))
        return true;
    describe(what, sizeof what, stream, c->video);
    return lose(c, what, remedy_for(c, stream),
                c->drop || is_navigation(stream) || (sound && row->mute), error);
}

bool contents_check(const contents *c, pipeline_error *error)
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

/* Small differences are not noticed. */
bool contents_check_starts(const contents *c, pipeline_error *error)
{
    const double forgiven = 0.04;
    double first = INFINITY;
    if (container_row_of(c->format)->one || container_row_of(c->format)->starts)
        return true;
    for (unsigned i = 0; i < c->input->nb_streams; i++)
        first = fmin(first, start_of(c->input->streams[i]));
    for (unsigned i = 0; i < c->input->nb_streams; i++) {
        const double late = start_of(c->input->streams[i]) - first;
        if (!(late > forgiven))
            continue;
        if (!c->drop)
            return pipeline_fail(error,
                                 "%s: %s cannot store that stream %u begins %.3f s after the "
                                 "others; use .mkv, which can, or --drop-unsupported to go on",
                                 c->path, c->format->name, i, late);
        pipeline_note(c->notes, "%s: %s cannot store that stream %u begins %.3f s after the others",
                      c->path, c->format->name, i, late);
    }
    return true;
}

/* H.264 and others also store the pixel aspect themselves; VP9 and AV1 do not. */
void contents_tell_aspect(const contents *c, const AVCodecParameters *video)
{
    const AVRational aspect = video->sample_aspect_ratio;
    const bool coded = video->codec_id != AV_CODEC_ID_VP9 && video->codec_id != AV_CODEC_ID_AV1;
    if (!container_row_of(c->format)->whole || coded || aspect.num <= 0 || aspect.den <= 0)
        return;
    const int64_t shown = av_rescale(video->width, aspect.num, aspect.den);
    if (shown * aspect.den != (int64_t)video->width * aspect.num)
        pipeline_note(c->notes,
                      "%s: %s stores sizes in whole pixels: the aspect ratio %d:%d becomes %" PRId64
                      " / %d",
                      c->path, c->format->name, aspect.num, aspect.den, shown, video->width);
}
