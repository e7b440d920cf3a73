// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/outputs/mux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/opt.h>

#include "pipeline/base/av_library.h"
#include "pipeline/base/clock.h"
#include "pipeline/base/waiting.h"
#include "pipeline/base/av_compat.h"
#include "pipeline/io/codecs/codec.h"
#include "pipeline/io/containers/container.h"
#include "pipeline/io/outputs/contents.h"
#include "pipeline/io/sources/picture_list.h"
#include "pipeline/io/outputs/picture_writer.h"
#include "pipeline/io/containers/url.h"

enum { GIF_LEAST = 2 };      /* ticks: players take less for none given, and show 10 */
enum { WRITE_SECONDS = 10 }; /* without progress; then a connection counts as broken */

static bool is_stdout(const char *path)
{
    return !strcmp(path, "-");
}

static bool is_file(const char *path)
{
    return !is_stdout(path) && !url_find(path) && !url_is_playlist(path);
}

static bool is_folder(const char *path)
{
    struct stat status;
    const size_t length = strlen(path);
    return (length && path[length - 1] == '/') || (!stat(path, &status) && S_ISDIR(status.st_mode));
}

const AVOutputFormat *mux_format(const char *path, const char *name, pipeline_error *error)
{
    if (!name && picture_pattern(path))
        return picture_writer_format();
    const url *u = url_find(path);
    if (!url_check(path, error))
        return NULL;
    const char *wanted = name                    ? name
                         : is_stdout(path)       ? "yuv4mpegpipe"
                         : url_is_playlist(path) ? "hls"
                         : u                     ? u->container
                                                 : NULL;
    if (u && !wanted) {
        pipeline_fail(error, "%s: expected a file or a stream for the output, found a camera",
                      path);
        return NULL;
    }
    /* The file suffix of a muxer is accepted as its name too: mkv, ts, y4m. */
    char file[64];
    const AVOutputFormat *format = av_guess_format(wanted, wanted ? NULL : path, NULL);
    if (!format && wanted && snprintf(file, sizeof file, "x.%s", wanted) < (int)sizeof file)
        format = av_guess_format(NULL, file, NULL);
    if (format && (!(format->flags & AVFMT_NOFILE) || container_row_of(format)->itself) &&
        codec_for(format, AV_PIX_FMT_NONE))
        return format;
    if (is_folder(path))
        pipeline_fail(error,
                      "%s: expected a file for the output, found a folder; name the file in it, or "
                      "use --out-dir for many",
                      path);
    else if (name)
        pipeline_misuse(
            error, "-f: expected a video container such as mp4, matroska or y4m, found '%s'", name);
    else
        pipeline_fail(error,
                      "%s: expected a video name such as .mp4, .mkv or .mov for the output, or -f",
                      path);
    return NULL;
}

/* Track statistics of Matroska writers do not apply to the new track. */
static bool drop_old_statistics(AVDictionary **metadata)
{
    static const char *const names[] = {"encoder", "BPS", "BPS-eng", "NUMBER_OF_BYTES",
                                        "NUMBER_OF_BYTES-eng"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (av_dict_set(metadata, names[i], NULL, 0) < 0)
            return false;
    return true;
}

static bool describe_video(AVStream *to, const AVStream *from, const AVCodecContext *encoder,
                           const AVOutputFormat *format)
{
    if (avcodec_parameters_from_context(to->codecpar, encoder) < 0)
        return false;
    to->time_base = encoder->time_base;
    to->avg_frame_rate = from->avg_frame_rate;
    to->r_frame_rate = from->r_frame_rate;
    to->sample_aspect_ratio = encoder->sample_aspect_ratio;
    /* libav writes the time base into y4m's header in place of the frame rate. */
    if (container_row_of(format)->frames)
        to->time_base = av_inv_q(encoder->framerate);
    /* The parameter sets are in the header, as hvc1 promises; Apple's players refuse hev1. */
    if (encoder->codec_id == AV_CODEC_ID_HEVC && container_row_of(format)->quicktime)
        to->codecpar->codec_tag = MKTAG('h', 'v', 'c', '1');
    return drop_old_statistics(&to->metadata);
}

/* Subtitles of DVDs are pictures at places of a canvas, which is as large as the video unless its
 * size is told, as it is not in a DVD itself. The input's size is told, since the result's
 * differs. */
static bool tell_canvas(AVCodecParameters *p, const AVCodecParameters *video)
{
    const char *const old = (const char *)p->extradata;
    const size_t bytes = (size_t)p->extradata_size;
    if (p->codec_id != AV_CODEC_ID_DVD_SUBTITLE || video->width <= 0 || video->height <= 0 ||
        (old && strstr(old, "size:"))) /* libav ends it with zeros */
        return true;
    char size[48];
    const size_t added =
        (size_t)snprintf(size, sizeof size, "size: %dx%d\n", video->width, video->height);
    uint8_t *whole = av_mallocz(added + bytes + AV_INPUT_BUFFER_PADDING_SIZE);
    if (!whole)
        return false;
    memcpy(whole, size, added);
    if (bytes)
        memcpy(whole + added, old, bytes);
    av_freep(&p->extradata);
    p->extradata = whole;
    p->extradata_size = (int)(added + bytes);
    p->width = video->width;
    p->height = video->height;
    return true;
}

static bool describe_copy(AVStream *to, const AVStream *from, const AVStream *video,
                          const AVOutputFormat *format)
{
    unsigned tag = from->codecpar->codec_tag, unused;
    if (avcodec_parameters_copy(to->codecpar, from->codecpar) < 0)
        return false;
    /* A container's tag has no meaning, or another one, in other containers. */
    bool keep = !format->codec_tag ||
                av_codec_get_id(format->codec_tag, tag) == from->codecpar->codec_id ||
                !av_codec_get_tag2(format->codec_tag, from->codecpar->codec_id, &unused);
    to->codecpar->codec_tag = keep ? tag : 0;
    /* Of an AVI's MP3 and AC-3 it says that all packets were as large. */
    if (from->codecpar->codec_id == AV_CODEC_ID_MP3 || from->codecpar->codec_id == AV_CODEC_ID_AC3)
        to->codecpar->block_align = 0;
    to->time_base = from->time_base;
    to->avg_frame_rate = from->avg_frame_rate;
    to->r_frame_rate = from->r_frame_rate;
    to->sample_aspect_ratio = from->sample_aspect_ratio;
    return tell_canvas(to->codecpar, video->codecpar);
}

/* Matroska stores a cover as an attached file, which is part of the header. */
static bool describe_attached_cover(AVStream *to, const AVStream *from)
{
    static const char *const suffixes[][2] = {{"png", "png"}, {"mjpeg", "jpg"}};
    const AVPacket *picture = &from->attached_pic;
    const char *suffix = avcodec_get_name(from->codecpar->codec_id);
    char name[64];
    to->codecpar->codec_type = AVMEDIA_TYPE_ATTACHMENT;
    to->codecpar->codec_id = from->codecpar->codec_id;
    to->disposition = 0;
    to->codecpar->extradata = av_mallocz((size_t)picture->size + AV_INPUT_BUFFER_PADDING_SIZE);
    if (!to->codecpar->extradata)
        return false;
    memcpy(to->codecpar->extradata, picture->data, (size_t)picture->size);
    to->codecpar->extradata_size = picture->size;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (!strcmp(suffixes[i][0], suffix))
            suffix = suffixes[i][1];
    snprintf(name, sizeof name, "cover.%s", suffix);
    return av_dict_set(&to->metadata, "filename", name, AV_DICT_DONT_OVERWRITE) >= 0;
}

static bool add_stream(mux *m, const AVStream *from, const AVStream *video,
                       const AVCodecContext *encoder, pipeline_error *error)
{
    const AVOutputFormat *format = m->format->oformat;
    AVStream *to = avformat_new_stream(m->format, NULL);
    if (!to)
        return false;
    if (container_row_of(format)->ids)
        to->id = from->id;
    to->disposition = from->disposition;
    if (av_dict_copy(&to->metadata, from->metadata, 0) < 0 ||
        !metadata_support_suit_language(&to->metadata, format))
        return false;
    if (container_is_cover(from) && container_row_of(format)->covers == COVERS_FILES)
        return describe_attached_cover(to, from);
    mux_stream *s = &m->streams[from->index];
    s->to = to;
    if (from == video)
        m->video = to;
    const enum AVCodecID codec =
        from == video ? AV_CODEC_ID_NONE : contents_converts(format, from, &m->sound);
    if (codec && from->codecpar->codec_type == AVMEDIA_TYPE_AUDIO)
        return (s->encoded = sound_open(to, from, codec, format, m->name, m->notes, error));
    if (codec)
        return (s->converted = subtitles_open(to, from, codec, m->name, m->notes, error));
    sound_tell_speakers(from, format, m->name, m->notes);
    /* Side data may be part of the parameters, which describe_video replaces. That of the old
     * video's compression is left out. */
    return from == video ? describe_video(to, from, encoder, format) &&
                               avstream_copy_side_data(to, from, AV_PKT_DATA_CPB_PROPERTIES)
                         : describe_copy(to, from, video, format) &&
                               avstream_copy_side_data(to, from, AV_PKT_DATA_NB);
}

static bool add_streams(mux *m, const AVFormatContext *input, const AVStream *video,
                        const AVCodecContext *encoder, pipeline_error *error)
{
    const AVOutputFormat *format = m->format->oformat;
    m->stream_count = input->nb_streams;
    m->streams = calloc(m->stream_count, sizeof *m->streams);
    if (!m->streams)
        return false;
    for (unsigned i = 0; i < m->stream_count; i++) {
        const AVStream *from = input->streams[i];
        m->streams[i].last_dts = AV_NOPTS_VALUE;
        bool copied = !container_leaves_out(from) && !container_regenerates(input, from) &&
                      (container_holds(format, from) || contents_converts(format, from, &m->sound));
        if ((from == video || copied) && !add_stream(m, from, video, encoder, error))
            return false;
    }
    return av_dict_copy(&m->format->metadata, input->metadata, 0) >= 0;
}

static bool join_programme(mux *m, int id, int stream)
{
    av_program_add_stream_index(m->format, id, (unsigned)stream);
    return av_find_program_from_stream(m->format, NULL, stream);
}

/* Adds a programme with those of its streams that are kept, if there are any. */
static bool add_programme(mux *m, const AVProgram *from)
{
    const AVProgram *to = NULL;
    for (unsigned i = 0; i < from->nb_stream_indexes; i++) {
        const AVStream *kept = m->streams[from->stream_index[i]].to;
        if (kept && !to) {
            AVProgram *made = av_new_program(m->format, from->id);
            if (!made || av_dict_copy(&made->metadata, from->metadata, 0) < 0)
                return false;
            to = made;
        }
        if (kept && !join_programme(m, from->id, kept->index))
            return false;
    }
    return true;
}

/* Programmes of a broadcast, with the stations' names. A stream of none goes with the video.
 * Playlists have some as well, from 0 on, which none is in a broadcast. */
static bool add_programmes(mux *m, AVFormatContext *input, const AVStream *video)
{
    const AVProgram *with = av_find_program_from_stream(input, NULL, video->index);
    if (!with || !with->id)
        return true;
    const bool held = container_row_of(m->format->oformat)->programmes;
    if (!held && input->nb_programs > 1 && m->format->nb_streams > 1)
        pipeline_note(m->notes, "%s: the input's %u programmes become one; .ts would keep them",
                      m->name, input->nb_programs);
    for (unsigned i = 0; held && i < input->nb_programs; i++)
        if (input->programs[i]->id && !add_programme(m, input->programs[i]))
            return false;
    for (int i = 0; held && i < (int)m->format->nb_streams; i++)
        if (!av_find_program_from_stream(m->format, NULL, i) && !join_programme(m, with->id, i))
            return false;
    return true;
}

/* Whether stream i of the output can have its number, which no stream before it has: a Blu-ray
 * disc's TrueHD shares its own with an AC-3. */
static bool number_fits(const mux *m, unsigned i)
{
    const AVFormatContext *f = m->format;
    for (unsigned k = 0; k < i; k++)
        if (f->streams[k]->id == f->streams[i]->id)
            return false;
    return container_takes_number(f->oformat, m->name, f->nb_programs, f->streams[i]->id);
}

/* libav numbers the streams of a transport stream where one of them cannot keep its number. */
static void number_anew(mux *m, const AVFormatContext *input)
{
    unsigned fit = 0;
    while (fit < m->format->nb_streams && number_fits(m, fit))
        fit++;
    if (fit == m->format->nb_streams || !container_row_of(m->format->oformat)->programmes)
        return;
    if (input->nb_programs)
        pipeline_note(m->notes, "%s: the streams get other numbers (PIDs): %d is not free there",
                      m->name, m->format->streams[fit]->id);
    for (unsigned i = 0; i < m->format->nb_streams; i++)
        m->format->streams[i]->id = 0;
}

/* The time in ticks, for a chapter; times beyond all stay so. */
static int64_t ticks_of(int64_t time, AVRational tick)
{
    return time == INT64_MIN || time == INT64_MAX ? time : av_rescale_q(time, AV_TIME_BASE_Q, tick);
}

static bool add_chapters(AVFormatContext *to, const AVFormatContext *from, const mux_settings *s)
{
    for (unsigned i = 0; i < from->nb_chapters; i++) {
        const AVChapter *old = from->chapters[i];
        const int64_t moved = ticks_of(s->shift - to->output_ts_offset, old->time_base);
        const int64_t cut = ticks_of(s->end, old->time_base);
        if (old->end <= ticks_of(s->start, old->time_base) || old->start >= cut)
            continue;
        AVChapter *chapter = av_mallocz(sizeof *chapter);
        if (!chapter)
            return false;
        *chapter = (AVChapter){.id = old->id,
                               .time_base = old->time_base,
                               .start = FFMAX(old->start - moved, FFMIN(old->start, 0)),
                               .end = FFMIN(old->end, cut) - moved};
        int count = (int)to->nb_chapters;
        if (av_dict_copy(&chapter->metadata, old->metadata, 0) < 0 ||
            av_dynarray_add_nofree(&to->chapters, &count, chapter) < 0) {
            av_dict_free(&chapter->metadata);
            av_free(chapter);
            return false;
        }
        to->nb_chapters = (unsigned)count;
    }
    return true;
}

/* QuickTime stores where each stream starts in ticks of one clock. This is a clock that suits all
 * streams, unless it is too fine; 0: the writer's default of milliseconds. */
static int64_t common_clock(const AVFormatContext *format)
{
    int64_t clock = 1000;
    for (unsigned i = 0; i < format->nb_streams && clock <= 100000000; i++) {
        int64_t ticks = format->streams[i]->time_base.den;
        clock = clock / av_gcd(clock, ticks) * ticks;
    }
    return clock <= 100000000 ? clock : 0;
}

/* What the file met first: libav's writers do not look at every result. Else libav's own error. */
static int file_error(const mux *m, int code)
{
    const AVIOContext *file = m->format->pb;
    return m->fault ? m->fault : code >= 0 && file && file->error < 0 ? file->error : code;
}

/* ---- the file that is written --------------------------------------------------------------- */

static int remember(mux *m)
{
    const int code = AVERROR(errno);
    m->fault = m->fault ? m->fault : code;
    return code;
}

static int write_bytes(void *context, avio_bytes *bytes, int size)
{
    mux *m = context;
    for (int done = 0; done < size;) {
        const ssize_t n = write(m->descriptor, bytes + done, (size_t)(size - done));
        if (n < 0 && errno != EINTR)
            return remember(m);
        done += n > 0 ? (int)n : 0;
    }
    return size;
}

static int64_t seek_bytes(void *context, int64_t offset, int whence)
{
    mux *m = context;
    struct stat status;
    if (whence & AVSEEK_SIZE)
        return fstat(m->descriptor, &status) ? remember(m) : status.st_size;
    const int64_t at = lseek(m->descriptor, offset, whence & ~AVSEEK_FORCE);
    return at < 0 ? remember(m) : at;
}

static int open_part(mux *m)
{
    enum { BUFFER = 1 << 18 };
    m->descriptor = open(m->file.part, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (m->descriptor < 0)
        return AVERROR(errno);
    unsigned char *buffer = av_malloc(BUFFER);
    m->format->pb =
        buffer ? avio_alloc_context(buffer, BUFFER, 1, m, NULL, write_bytes, seek_bytes) : NULL;
    if (!m->format->pb)
        av_free(buffer);
    return m->format->pb ? 0 : AVERROR(ENOMEM);
}

/* Writes what is left and closes it. */
static int close_target(mux *m)
{
    AVIOContext *file = m->format->pb;
    if (m->descriptor < 0)
        return avio_closep(&m->format->pb);
    if (file) {
        avio_flush(file);
        av_freep(&file->buffer);
        avio_context_free(&m->format->pb);
    }
    if (close(m->descriptor))
        remember(m);
    m->descriptor = -1;
    return m->fault;
}

static int gives_up(void *context)
{
    const mux *m = context;
    return clock_ns() > m->deadline;
}

/* Opens what is written to. Playlists and RTSP are opened by their writers. */
static int open_target(mux *m, AVDictionary **options)
{
    const url *u = m->file.name ? NULL : url_find(m->name);
    const bool itself = container_row_of(m->format->oformat)->itself;
    /* Segments are named by what follows the last slash of their playlist's address. */
    const char *const here = strchr(m->name, '/') ? "" : "./";
    char *address = m->file.part               ? av_asprintf("file:%s", m->file.part)
                    : u                        ? av_strdup(m->name)
                    : url_is_playlist(m->name) ? av_asprintf("file:%s%s", here, m->name)
                                               : av_strdup("pipe:1");
    m->format->url = address; /* QuickTime's writer reads the file again */
    if (!address)
        return AVERROR(ENOMEM);
    if (m->file.part && !itself)
        return open_part(m);
    if (!u && !itself)
        return avio_open(&m->format->pb, address, AVIO_FLAG_WRITE);
    m->format->interrupt_callback = (AVIOInterruptCB){gives_up, m};
    m->format->protocol_whitelist = av_strdup(u ? u->protocols : "file");
    if (!m->format->protocol_whitelist || (u && !url_options(u, WRITE_SECONDS, options)))
        return AVERROR(ENOMEM);
    int code = av_dict_set(options, "protocol_whitelist", NULL, 0);
    if (itself || code < 0)
        return code;
    AVDictionary *of_protocol = *options; /* not for the container's writer */
    *options = NULL;
    code = avio_open2(&m->format->pb, address, AVIO_FLAG_WRITE, &m->format->interrupt_callback,
                      &of_protocol);
    av_dict_free(&of_protocol);
    return code;
}

static bool write_header(mux *m, pipeline_error *error)
{
    const container *row = container_row_of(m->format->oformat);
    const char *wanted = container_options(m->format->oformat, m->name, m->live);
    if (row->seeks && !m->file.part && !m->live)
        return pipeline_fail(error,
                             "%s: %s cannot be written to a pipe, because its index is filled "
                             "in later; use -f matroska or -f nut",
                             m->name, row->name);
    AVDictionary *options = NULL;
    m->deadline = clock_ns() + (uint64_t)(1e9 * WRITE_SECONDS);
    int code = open_target(m, &options);
    int64_t clock = common_clock(m->format);
    if (code >= 0 && row->quicktime && clock)
        code = av_dict_set_int(&options, "movie_timescale", clock, 0);
    if (code >= 0 && metadata_support_any_name(m->format))
        code = av_dict_parse_string(&options, row->any_option, "=", ":", 0);
    if (code >= 0 && wanted)
        code = av_dict_parse_string(&options, wanted, "=", ":", AV_DICT_APPEND);
    if (code >= 0 && row->loops)
        code = av_dict_set_int(&options, "loop", m->loops, 0);
    if (code >= 0)
        code = avformat_write_header(m->format, &options);
    av_dict_free(&options);
    code = code == AVERROR_EXIT ? AVERROR(ETIMEDOUT) : file_error(m, code);
    return code >= 0 || pipeline_fail_av(error, code, "%s: cannot be written as %s", m->name,
                                         m->format->oformat->name);
}

static void move_later(mux *m, int64_t lead, const mux_settings *s)
{
    m->format->output_ts_offset = lead;
    if (lead)
        pipeline_note(s->notes,
                      "%s: sound begins before 0, which %s cannot store; everything is %g s "
                      "later, in sync",
                      m->name, s->format->name, (double)lead / AV_TIME_BASE);
}

/* libav writes AAC as transport streams have it into whole mp4 files, but not into fragments. */
static bool check_sound(const mux *m, pipeline_error *error)
{
    for (unsigned i = 0;
         m->live && container_row_of(m->format->oformat)->quicktime && i < m->stream_count; i++) {
        const AVCodecParameters *p = m->input->streams[i]->codecpar;
        if (m->streams[i].to && !m->streams[i].encoded && p->codec_id == AV_CODEC_ID_AAC &&
            !p->extradata_size)
            return pipeline_fail(error,
                                 "%s: expected sound that %s can hold in fragments, found AAC of a "
                                 "transport stream; --audio opus or --audio none would do",
                                 m->name, m->format->oformat->name);
    }
    return true;
}

bool mux_open(mux *m, const mux_settings *s, const AVFormatContext *input, const AVStream *video,
              const AVCodecContext *encoder, pipeline_error *error)
{
    *m = (mux){.input = input,
               .notes = s->notes,
               .sound = s->sound,
               .video_dts = AV_NOPTS_VALUE,
               .descriptor = -1,
               .live = s->live,
               .loops = picture_loops(s->input_path, 0),
               .name = is_stdout(s->path) ? "standard output" : s->path};
    pthread_mutex_init(&m->lock, NULL);
    /* A pipe of y4m is for the frames alone. */
    const bool frames = is_stdout(s->path) && container_row_of(s->format)->frames;
    const contents contents = {.format = s->format,
                               .path = m->name,
                               .input = input,
                               .video = video,
                               .sound = &s->sound,
                               .drop = s->drop || frames,
                               .notes = s->notes};
    if (!contents_check(&contents, error) ||
        (s->start == INT64_MIN && !contents_check_starts(&contents, error)) ||
        (is_file(s->path) &&
         !outfile_open(&m->file, s->path, s->part, s->input_path, s->keep, error)))
        return false;
    avformat_alloc_output_context2(&m->format, s->format, NULL, NULL);
    if (!m->format || !add_streams(m, input, video, encoder, error) ||
        !add_programmes(m, (AVFormatContext *)input, video))
        return pipeline_fail(error, "out of memory");
    number_anew(m, input);
    if (s->flush)
        m->format->flags |= AVFMT_FLAG_FLUSH_PACKETS;
    m->cuts = !container_row_of(s->format)->quicktime && s->start == INT64_MIN &&
              !(s->format->flags & AVFMT_TS_NEGATIVE);
    if (m->cuts)
        move_later(m, edit_list_lead(input, video, s->format, s->shift), s);
    if (!add_chapters(m->format, input, s))
        return pipeline_fail(error, "out of memory");
    metadata_support_tell_lost(m->format, m->name, s->notes);
    contents_tell_aspect(&contents, m->video->codecpar);
    for (unsigned i = 0; i < m->stream_count; i++)
        if (m->streams[i].encoded && m->cuts && container_row_of(s->format)->lead)
            m->format->avoid_negative_ts = 0;
    /* Accept what the input stores in a way that is still experimental in its container. */
    m->format->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
    return check_sound(m, error) && write_header(m, error);
}

/* Writes a packet with timestamps of the output stream. libav takes over the packet's data. Returns
 * its error, or >= 0. */
static int put_packet(mux *m, AVPacket *packet)
{
    const waiting began = waiting_begin();
    packet->pos = -1;
    pthread_mutex_lock(&m->lock);
    m->deadline = clock_ns() + (uint64_t)(1e9 * WRITE_SECONDS);
    int code =
        m->live ? av_write_frame(m->format, packet) : av_interleaved_write_frame(m->format, packet);
    av_packet_unref(packet);
    code = code == AVERROR_EXIT ? AVERROR(ETIMEDOUT) : file_error(m, code);
    pthread_mutex_unlock(&m->lock);
    waiting_end(began);
    return code;
}

static bool write_packet(mux *m, AVPacket *packet, pipeline_error *error)
{
    const int code = put_packet(m, packet);
    return code >= 0 || pipeline_fail_av(error, code, "%s: cannot be written", m->name);
}

/* Names the stream of a packet that the container refuses. */
static bool write_copy(mux *m, AVPacket *packet, const AVCodecParameters *from,
                       pipeline_error *error)
{
    const unsigned index = (unsigned)packet->stream_index;
    const char *type = av_get_media_type_string(from->codec_type);
    const uint64_t faults = av_log_errors_count();
    const int code = put_packet(m, packet);
    if (code == AVERROR_INVALIDDATA && av_log_errors_count() > faults)
        return true; /* left out, and told as other faults of the input are */
    if (code != AVERROR(EINVAL))
        return code >= 0 || pipeline_fail_av(error, code, "%s: cannot be written", m->name);
    return pipeline_fail(error,
                         "%s: %s cannot hold a packet of stream %u (%s, %s) as the input has it; "
                         "use .mkv, which holds more",
                         m->name, m->format->oformat->name, index, type ? type : "unknown",
                         avcodec_get_name(from->codec_id));
}

/* Containers take packets only in decoding order. A packet that is too late is moved to the first
 * possible time. */
static void make_ascend(mux *m, mux_stream *s, AVPacket *packet)
{
    int64_t *last = &s->last_dts;
    const int64_t step = m->format->oformat->flags & AVFMT_TS_NONSTRICT ? 0 : 1;
    if (packet->dts == AV_NOPTS_VALUE)
        packet->dts = packet->pts;
    if (packet->dts == AV_NOPTS_VALUE)
        return;
    if (*last != AV_NOPTS_VALUE && packet->dts < *last + step) {
        packet->dts = *last + step;
        if (packet->pts != AV_NOPTS_VALUE)
            packet->pts = FFMAX(packet->pts, packet->dts);
        m->moved++;
    }
    *last = packet->dts;
}

/* A sink for encoded sound. */
typedef struct sound_stream {
    mux *mux;
    mux_stream *stream;
} sound_stream;

/* Encoders begin with up to 30 ms that come before the sound. Where there are no edit lists, libav
 * would move everything for that. Matroska stores it for Opus. */
static bool write_sound(void *context, AVPacket *packet, AVRational time_base,
                        pipeline_error *error)
{
    const sound_stream *s = context;
    /* FLAC ends with a packet of its header alone, which makes no stream of one without sound. */
    if (!packet->size && !s->stream->to->nb_frames)
        return true;
    mux *m = s->mux;
    const AVStream *to = s->stream->to;
    const bool opus = to->codecpar->codec_id == AV_CODEC_ID_OPUS;
    if (packet->pts < 0 && m->cuts && !opus) {
        if (packet->pts + packet->duration / 2 < 0)
            return true;
        packet->pts = packet->dts = 0;
    }
    packet->stream_index = to->index;
    av_packet_rescale_ts(packet, time_base, to->time_base);
    make_ascend(m, s->stream, packet);
    return write_packet(m, packet, error);
}

static bool encode_sound(mux *m, mux_stream *s, const AVPacket *packet, pipeline_error *error)
{
    sound_stream to = {m, s};
    return sound_put(s->encoded, packet, write_sound, &to, error);
}

/* Whether a subtitle is shown until the next one, which some files say by a duration of 32 bits
 * that are all set: weeks, by which players tell how long the film is, and more than mp4 holds. */
static bool is_endless(const AVPacket *packet, const AVStream *from)
{
    return from->codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE &&
           av_compare_ts(packet->duration, from->time_base, UINT32_MAX / 1000,
                         (AVRational){1, 1}) >= 0;
}

/* Matroska may leave out how long a packet of sound is, as of ALAC. The last one would last no time
 * in QuickTime's index, and players would leave it out; it lasts as long as the shortest before. */
static void tell_duration(mux_stream *s, AVPacket *packet)
{
    AVCodecParameters *sound = s->to->codecpar;
    if (sound->codec_type != AVMEDIA_TYPE_AUDIO || packet->duration > 0 ||
        packet->dts == AV_NOPTS_VALUE || av_get_audio_frame_duration2(sound, packet->size) > 0)
        return;
    const int64_t step = s->last_dts == AV_NOPTS_VALUE ? 0 : packet->dts - s->last_dts;
    if (step > 0)
        s->step = s->step ? FFMIN(s->step, step) : step;
    packet->duration = s->step;
}

/* Each packet of AAC in a transport stream begins with its form (ADTS). Most containers hold that
 * of the first alone. */
static void tell_form(const mux *m, mux_stream *s, const AVPacket *packet, const AVStream *from)
{
    enum { ADTS_BYTES = 7, PROFILE_AND_RATE = 0xfd, CHANNELS = 0xc0 };
    const uint8_t *head = packet->data;
    const AVCodecParameters *p = from->codecpar;
    if (p->codec_id != AV_CODEC_ID_AAC || p->extradata_size || packet->size < ADTS_BYTES ||
        head[0] != 0xff || (head[1] & 0xf6) != 0xf0 || packet->pts == AV_NOPTS_VALUE ||
        container_row_of(m->format->oformat)->adts)
        return;
    const unsigned form =
        1u << 16 | (unsigned)(head[2] & PROFILE_AND_RATE) << 8 | (head[3] & CHANNELS);
    s->form = s->form ? s->form : form;
    if (s->form != form && !s->told_form)
        pipeline_note(
            m->notes,
            "%s: from %.2f s on, the sound of stream %d has another rate or other channels, and %s "
            "plays it as the first; .ts would keep it, and --audio flac converts it",
            m->name, (double)packet->pts * av_q2d(from->time_base), from->index,
            m->format->oformat->name);
    s->told_form |= s->form != form;
}

bool mux_copy(mux *m, AVPacket *packet, pipeline_error *error)
{
    const unsigned index = (unsigned)packet->stream_index;
    if (index >= m->stream_count || !m->streams[index].to)
        return true;
    mux_stream *s = &m->streams[index];
    const AVStream *from = m->input->streams[index];
    if (m->cuts && edit_list_cuts(packet, from))
        return true;
    if (s->encoded)
        return encode_sound(m, s, packet, error);
    if (s->converted && !subtitles_convert(s->converted, packet, error))
        return false;
    if (s->converted && !packet->size)
        return true;
    tell_form(m, s, packet, from);
    packet->stream_index = s->to->index;
    if (is_endless(packet, from))
        packet->duration = 0;
    av_packet_rescale_ts(packet, from->time_base, s->to->time_base);
    tell_duration(s, packet);
    make_ascend(m, s, packet);
    return write_copy(m, packet, from->codecpar, error);
}

bool mux_write(mux *m, AVPacket *packet, AVRational time_base, pipeline_error *error)
{
    packet->stream_index = m->video->index;
    av_packet_rescale_ts(packet, time_base, m->video->time_base);
    if (container_row_of(m->format->oformat)->frames)
        packet->pts = packet->dts = m->video_dts == AV_NOPTS_VALUE ? 0 : m->video_dts + 1;
    if (m->video_dts != AV_NOPTS_VALUE && packet->dts <= m->video_dts) {
        if (!(m->format->oformat->flags & AVFMT_TS_NONSTRICT))
            return pipeline_fail(error,
                                 "%s: %s counts in steps of %d/%d s, too coarse for frames so "
                                 "close together; use .mov",
                                 m->name, m->format->oformat->name, m->video->time_base.num,
                                 m->video->time_base.den);
        m->merged++;
    }
    m->hasty += container_row_of(m->format->oformat)->loops && m->video_dts != AV_NOPTS_VALUE &&
                packet->dts - m->video_dts < GIF_LEAST;
    m->video_dts = packet->dts;
    m->video_duration = packet->duration;
    return write_packet(m, packet, error);
}

/* libav's writer of QuickTime leaves out streams without packets, but ends subtitles with one. */
static bool is_empty(const mux *m, const AVStream *stream)
{
    return stream != m->video && !stream->nb_frames &&
           stream->codecpar->codec_id != AV_CODEC_ID_MOV_TEXT;
}

static void tell_empty(const mux *m)
{
    for (unsigned i = 0; i < m->stream_count; i++) {
        const AVStream *to = m->streams[i].to;
        if (to && is_empty(m, to))
            pipeline_note(m->notes, "%s: stream %u (%s, %s) has nothing here and is left out",
                          m->name, i, av_get_media_type_string(to->codecpar->codec_type),
                          avcodec_get_name(to->codecpar->codec_id));
    }
}

/* Whether the video of a file is described as it was written. */
static bool is_indexed(const AVFormatContext *written, const mux *m)
{
    unsigned video = 0, streams = 0;
    for (unsigned i = 0; i < m->format->nb_streams; i++) {
        const AVStream *s = m->format->streams[i];
        streams += !is_empty(m, s);
        video += !is_empty(m, s) && s->index < m->video->index && /* cover pictures come last */
                 !(s->disposition & AV_DISPOSITION_ATTACHED_PIC);
    }
    if (written->nb_streams < streams)
        return false;
    const AVStream *found = written->streams[video];
    /* A still AVIF is a picture without a film's index, whose head libav does not read. */
    const bool still = container_row_of(m->format->oformat)->one && m->video->nb_frames == 1;
    return (found->nb_frames == m->video->nb_frames || !m->video->nb_frames) &&
           (found->codecpar->extradata_size > 0 || m->video->codecpar->extradata_size <= 0 ||
            still);
}

/* libav's writer of QuickTime makes the index at the end, in memory, and where it gets none leaves
 * parts of it out without an error: so it is read again. */
static bool check_index(mux *m, pipeline_error *error)
{
    AVFormatContext *written = NULL;
    if (!container_row_of(m->format->oformat)->quicktime || m->live)
        return true;
    int code = avformat_open_input(&written, m->format->url, NULL, NULL);
    if (code >= 0 && !is_indexed(written, m))
        code = AVERROR(ENOMEM);
    avformat_close_input(&written);
    if (code < 0)
        return pipeline_fail_av(error, code, "%s: its index cannot be written", m->name);
    tell_empty(m);
    return true;
}

bool mux_finish(mux *m, pipeline_error *error)
{
    if (m->merged)
        pipeline_note(m->notes,
                      "%s: %s counts in steps of %d/%d s: %llu frames get the time of the one "
                      "before; .mov would keep them apart",
                      m->name, m->format->oformat->name, m->video->time_base.num,
                      m->video->time_base.den, (unsigned long long)m->merged);
    if (m->hasty)
        pipeline_note(m->notes,
                      "%s: players show frames of a GIF that are shorter than 1/50 s for 1/10 s: "
                      "%llu frames; .mov would keep their times",
                      m->name, (unsigned long long)m->hasty);
    for (unsigned i = 0; i < m->stream_count; i++)
        if (m->streams[i].encoded && !encode_sound(m, &m->streams[i], NULL, error))
            return false;
    if (container_row_of(m->format->oformat)->loops &&
        m->video_duration > 0) /* the others' follow from the next one's time */
        av_opt_set_int(m->format->priv_data, "final_delay", m->video_duration, 0);
    m->deadline = clock_ns() + (uint64_t)(1e9 * WRITE_SECONDS);
    int code = file_error(m, av_write_trailer(m->format));
    const int closed = close_target(m);
    if (code >= 0)
        code = closed;
    if (code < 0)
        return pipeline_fail_av(error, code, "%s: cannot be written", m->name);
    return !m->file.part || (check_index(m, error) && outfile_commit(&m->file, error));
}

void mux_close(mux *m)
{
    if (m->format) {
        close_target(m);
        avformat_free_context(m->format);
    }
    outfile_discard(&m->file);
    for (unsigned i = 0; m->streams && i < m->stream_count; i++) {
        subtitles_close(m->streams[i].converted);
        sound_close(m->streams[i].encoded);
    }
    free(m->streams);
    pthread_mutex_destroy(&m->lock);
    *m = (mux){0};
}
