// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/sources/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavutil/imgutils.h>
#include <libavutil/parseutils.h>
#include <libavutil/pixdesc.h>

#include "pipeline/base/av_library.h"
#include "pipeline/image/picture_kind.h"
#include "pipeline/image/pixels.h"
#include "pipeline/io/containers/media_file.h"
#include "pipeline/io/containers/url.h"
#include "pipeline/io/sources/input.h"

static bool is_piped(const input_settings *settings)
{
    return !strcmp(settings->path, "-");
}

bool source_open(source *s, const input_settings *settings, const pipeline_notes *notes,
                 pipeline_error *error)
{
    static const source_kind *const kinds[] = {&source_still, &source_live, &source_pictures,
                                               &source_raw, &source_container};
    *s = (source){.path = is_piped(settings) ? "standard input" : settings->path,
                  .notes = notes,
                  .max_streams = settings->max_streams,
                  .max_pixels = settings->max_pixels};
    for (size_t i = 0; !s->kind; i++)
        s->kind = kinds[i]->is(settings) ? kinds[i] : NULL;
    return s->kind->open(s, settings, error);
}

const char *source_file(const source *s, char *name, size_t size)
{
    const picture_list *list = &s->pictures;
    return list->next && picture_name(name, size, list->pattern, list->numbers[list->next - 1])
               ? name
               : s->path;
}

int64_t source_bytes(const source *s)
{
    return s->format->pb ? FFMAX(avio_size(s->format->pb), 0) : 0;
}

void source_close(source *s)
{
    if (s->kind)
        s->kind->close(s);
    *s = (source){0};
}

/* ---- files that libav reads ------------------------------------------------------------------ */

bool source_check(const char *path, pipeline_error *error)
{
    struct stat status;
    if (!strcmp(path, "-") || picture_pattern(path) || url_find(path))
        return true;
    if (!url_check(path, error))
        return false;
    if (access(path, R_OK) || stat(path, &status))
        return pipeline_fail(error, "%s: cannot be read: %s", path, strerror(errno));
    return !S_ISDIR(status.st_mode) ||
           pipeline_fail(error, "%s: expected a video or an image, found a directory", path);
}

/* Gives plain errors for files that libav would report as "Invalid data" or open as something
 * unexpected. once: the file is opened only once, so that it can be a pipe. */
static bool check_file(const char *path, bool once, pipeline_error *error)
{
    struct stat status;
    if (!source_check(path, error))
        return false;
    if (url_find(path) || stat(path, &status))
        return true;
    if (S_ISFIFO(status.st_mode) && !once)
        return pipeline_fail(error, "%s: expected a file, found a pipe", path);
    if (S_ISREG(status.st_mode) && !status.st_size)
        return pipeline_fail(error, "%s: expected a video or an image, found an empty file", path);
    return true;
}

/* The URL for standard input: a file there is seekable, which libav's pipes are not. */
static const char *stdin_url(void)
{
    struct stat status;
    const bool whole = !fstat(STDIN_FILENO, &status) && S_ISREG(status.st_mode) &&
                       !lseek(STDIN_FILENO, 0, SEEK_CUR);
    return whole ? "file:/dev/stdin" : "pipe:0";
}

bool source_address(char address[SOURCE_ADDRESS], const source *s, const input_settings *settings,
                    pipeline_error *error)
{
    const bool piped = is_piped(settings);
    if (!piped && !check_file(settings->path, settings->as_decoded, error))
        return false;
    if (snprintf(address, SOURCE_ADDRESS, piped || url_find(settings->path) ? "%s" : "file:%s",
                 piped ? stdin_url() : settings->path) >= SOURCE_ADDRESS)
        return pipeline_fail(error, "%s: the name is too long", s->path);
    return !settings->rate ||
           pipeline_misuse(
               error, "--fps: expected numbered pictures such as in/%%04d.png, found %s", s->path);
}

const AVInputFormat *source_reader(const char *address, const input_settings *settings)
{
    return settings->list || media_name_misleads(address) ? media_format(address) : NULL;
}

/* libav counts the bytes of a frame in int, with 8 for every pixel. Its Y4M reader adds 6 to that
 * error's code. */
enum { LARGE_Y4M = AVERROR(EINVAL) + 6 };

bool source_fail_large(const char *path, pipeline_error *error)
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

bool source_limit_streams(const char *path, const AVFormatContext *format, double most,
                          pipeline_error *error)
{
    return most <= 0 || format->nb_streams <= most ||
           pipeline_fail(error, "%s: found more streams than --limit streams allows, %u", path,
                         format->nb_streams);
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
    if (strstr(fault, "max_streams")) /* as libav's line calls it */
        return pipeline_fail(
            error, "%s: found more than 1000 streams, which is all that libav reads", path);
    if (media_refused(path, address, list, error))
        return false;
    if (code == AVERROR_INVALIDDATA && cut_off_found(path, error))
        return false;
    if (code == AVERROR_INVALIDDATA)
        return pipeline_fail(
            error, "%s: expected a video or an image, found data of no known format%s%s%s", path,
            fault[0] ? " (" : "", fault, fault[0] ? ")" : "");
    if (code == LARGE_Y4M)
        return source_fail_large(path, error);
    return pipeline_fail_av(error, code, "%s: cannot be opened", path);
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

int source_describe(AVFormatContext *format, double max_pixels)
{
    const unsigned count = max_pixels > 0 ? format->nb_streams : 0;
    AVDictionary **options = count ? av_calloc(count, sizeof *options) : NULL;
    int code = count && !options ? AVERROR(ENOMEM) : 0;
    for (unsigned i = 0; i < count && code >= 0; i++)
        code = av_dict_set_int(&options[i], "max_pixels", pixels_limit_decoder(max_pixels), 0);
    if (code >= 0)
        code = avformat_find_stream_info(format, options);
    for (unsigned i = 0; options && i < count; i++)
        av_dict_free(&options[i]);
    av_free(options);
    return code;
}

bool source_open_media(source *s, const char *address, const AVInputFormat *format,
                       const char *list, AVDictionary **options, pipeline_error *error)
{
    const bool remote = url_find(s->path);
    s->format = avformat_alloc_context();
    if (!s->format || !media_guard(s->format, remote, address, list, options))
        return pipeline_fail(error, "out of memory");
    if (list && !remote)
        media_end_lists(s->format);
    av_log_errors_listen(); /* for fail_open, and faulty */
    int code = error->text[0] ? AVERROR(ENOSYS)
                              : avformat_open_input(&s->format, address, format, options);
    if (code < 0)
        return fail_open(s->path, remote ? "" : address, list, code, error);
    s->faulty = av_log_errors_count() > 0;
    if (remote)
        media_opened_remote(s->format);
    if (media_list_ended(s->format))
        pipeline_note(s->notes,
                      "%s: the playlist has no end (#EXT-X-ENDLIST); what it names now is read, "
                      "and --live follows one that grows",
                      s->path);
    code = source_describe(s->format, s->max_pixels);
    if (s->format->pb && s->format->pb->error < 0 && s->format->pb->error != AVERROR_EOF)
        code = s->format->pb->error;
    if (is_animated_webp(s->format))
        return pipeline_fail(error,
                             "%s: expected a still WebP, found an animated one, which FFmpeg %s "
                             "cannot decode; numbered pictures of it (libwebp's anim_dump writes "
                             "them) can be read",
                             s->path, av_version_info());
    return code >= 0 ? source_limit_streams(s->path, s->format, s->max_streams, error)
                     : pipeline_fail_av(error, code, "%s: cannot be read", s->path);
}

/* Converts "1280x720:yuv420p:25" to options of libav's raw video reader. */
bool source_describe_raw(const char *raw, AVDictionary **options, pipeline_error *error)
{
    char size[32], format[32], rate[32], rest;
    int width, height;
    AVRational pace;
    if (sscanf(raw, "%31[0-9x]:%31[^:]:%31[0-9./]%c", size, format, rate, &rest) != 3 ||
        av_parse_video_size(&width, &height, size) < 0 || av_parse_video_rate(&pace, rate) < 0 ||
        av_image_get_buffer_size(av_get_pix_fmt(format), width, height, 1) <= 0)
        return pipeline_misuse(
            error,
            "--raw: expected WIDTHxHEIGHT:PIXEL_FORMAT:RATE as in 1280x720:yuv420p:25, found '%s'",
            raw);
    return (av_dict_set(options, "video_size", size, 0) >= 0 &&
            av_dict_set(options, "pixel_format", format, 0) >= 0 &&
            av_dict_set(options, "framerate", rate, 0) >= 0) ||
           pipeline_fail(error, "out of memory");
}

/* ---- containers, and raw frames -------------------------------------------------------------- */

static bool is_other(const input_settings *settings)
{
    (void)settings;
    return true;
}

static bool is_raw(const input_settings *settings)
{
    return settings->raw;
}

static bool open_container(source *s, const input_settings *settings, pipeline_error *error)
{
    enum { STALL_SECONDS = 30 }; /* without data; then a connection counts as broken */
    char address[SOURCE_ADDRESS];
    AVDictionary *options = NULL;
    const url *u = url_find(settings->path);
    if (!source_address(address, s, settings, error))
        return false;
    const AVInputFormat *format = u ? url_input_format(u, error) : source_reader(address, settings);
    const bool opened = ((!u || url_options(u, STALL_SECONDS, &options)) ||
                         pipeline_fail(error, "out of memory")) &&
                        source_open_media(s, address, format, settings->list, &options, error);
    av_dict_free(&options);
    return opened;
}

static bool open_raw(source *s, const input_settings *settings, pipeline_error *error)
{
    char address[SOURCE_ADDRESS];
    AVDictionary *options = NULL;
    const bool opened = source_address(address, s, settings, error) &&
                        source_describe_raw(settings->raw, &options, error) &&
                        source_open_media(s, address, av_find_input_format("rawvideo"),
                                          settings->list, &options, error);
    av_dict_free(&options);
    return opened;
}

static int read_packet(source *s, AVPacket *packet)
{
    return av_read_frame(s->format, packet);
}

static void close_media(source *s)
{
    avformat_close_input(&s->format);
}

const source_kind source_container = {is_other, open_container, read_packet, NULL, seek_before,
                                      NULL,     close_media,    false,       false};

const source_kind source_raw = {is_raw, open_raw,    read_packet, NULL, seek_before,
                                NULL,   close_media, false,       false};
