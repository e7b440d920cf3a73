#include "mux.h"

#include <stdlib.h>
#include <string.h>

#include <libavutil/avstring.h>

#include "container.h"

const AVOutputFormat *mux_format(const char *path)
{
    const AVOutputFormat *format = av_guess_format(NULL, path, NULL);
    bool holds = format && !(format->flags & AVFMT_NOFILE) &&
                 avformat_query_codec(format, AV_CODEC_ID_H264, FF_COMPLIANCE_NORMAL) == 1;
    return holds ? format : NULL;
}

/* Everything but what describes how the old video was compressed. */
static bool copy_side_data(AVStream *to, const AVStream *from, bool encoded_anew)
{
    for (int i = 0; i < from->nb_side_data; i++) {
        const AVPacketSideData *side = &from->side_data[i];
        if (encoded_anew && side->type == AV_PKT_DATA_CPB_PROPERTIES)
            continue;
        uint8_t *data = av_stream_new_side_data(to, side->type, side->size);
        if (!data)
            return false;
        memcpy(data, side->data, side->size);
    }
    return true;
}

/* Statistics that Matroska writers leave about a track no longer hold for the new one. */
static void drop_old_statistics(AVDictionary **metadata)
{
    static const char *const names[] = {"encoder", "BPS", "BPS-eng", "NUMBER_OF_BYTES",
                                        "NUMBER_OF_BYTES-eng"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        av_dict_set(metadata, names[i], NULL, 0);
}

static bool describe_video(AVStream *to, const AVStream *from, const AVCodecContext *encoder)
{
    if (avcodec_parameters_from_context(to->codecpar, encoder) < 0)
        return false;
    to->time_base = encoder->time_base;
    to->avg_frame_rate = from->avg_frame_rate;
    to->r_frame_rate = from->r_frame_rate;
    to->sample_aspect_ratio = encoder->sample_aspect_ratio;
    drop_old_statistics(&to->metadata);
    return true;
}

static bool describe_copy(AVStream *to, const AVStream *from, const AVOutputFormat *format)
{
    unsigned tag = from->codecpar->codec_tag, unused;
    if (avcodec_parameters_copy(to->codecpar, from->codecpar) < 0)
        return false;
    /* A tag of one container means nothing, or something else, in another. */
    bool keep = !format->codec_tag ||
                av_codec_get_id(format->codec_tag, tag) == from->codecpar->codec_id ||
                !av_codec_get_tag2(format->codec_tag, from->codecpar->codec_id, &unused);
    to->codecpar->codec_tag = keep ? tag : 0;
    to->time_base = from->time_base;
    to->avg_frame_rate = from->avg_frame_rate;
    to->r_frame_rate = from->r_frame_rate;
    to->sample_aspect_ratio = from->sample_aspect_ratio;
    return true;
}

static bool add_stream(mux *m, const AVStream *from, const AVStream *video,
                       const AVCodecContext *encoder)
{
    AVStream *to = avformat_new_stream(m->format, NULL);
    if (!to)
        return false;
    m->stream_of[from->index] = to->index;
    to->id = from->id;
    to->disposition = from->disposition;
    if (av_dict_copy(&to->metadata, from->metadata, 0) < 0 ||
        !copy_side_data(to, from, from == video))
        return false;
    if (from != video)
        return describe_copy(to, from, m->format->oformat);
    m->video = to;
    return describe_video(to, from, encoder);
}

static bool add_streams(mux *m, const AVFormatContext *input, const AVStream *video,
                        const AVCodecContext *encoder)
{
    m->input_streams = input->nb_streams;
    m->stream_of = calloc(input->nb_streams, sizeof *m->stream_of);
    m->time_base_of = calloc(input->nb_streams, sizeof *m->time_base_of);
    if (!m->stream_of || !m->time_base_of)
        return false;
    for (unsigned i = 0; i < input->nb_streams; i++) {
        m->stream_of[i] = -1;
        m->time_base_of[i] = input->streams[i]->time_base;
        if (!container_regenerates(input->streams[i]) &&
            !add_stream(m, input->streams[i], video, encoder))
            return false;
    }
    return av_dict_copy(&m->format->metadata, input->metadata, 0) >= 0;
}

static bool add_chapters(AVFormatContext *to, const AVFormatContext *from, int64_t shift)
{
    for (unsigned i = 0; i < from->nb_chapters; i++) {
        const AVChapter *old = from->chapters[i];
        int64_t moved = av_rescale_q(shift, AV_TIME_BASE_Q, old->time_base);
        if (old->end <= moved && shift)
            continue;
        AVChapter *chapter = av_mallocz(sizeof *chapter);
        if (!chapter)
            return false;
        *chapter = (AVChapter){.id = old->id,
                               .time_base = old->time_base,
                               .start = FFMAX(old->start - moved, FFMIN(old->start, 0)),
                               .end = old->end - moved};
        av_dict_copy(&chapter->metadata, old->metadata, 0);
        int count = (int)to->nb_chapters;
        av_dynarray_add(&to->chapters, &count, chapter);
        if (!to->chapters)
            return false;
        to->nb_chapters = (unsigned)count;
    }
    return true;
}

static bool write_header(mux *m, pipeline_error *error)
{
    char *url = av_asprintf("file:%s", m->file.part);
    int code = url ? avio_open(&m->format->pb, url, AVIO_FLAG_WRITE) : AVERROR(ENOMEM);
    av_free(url);
    if (code >= 0)
        code = avformat_write_header(m->format, NULL);
    if (code < 0 && m->format->pb && m->format->pb->error < 0)
        code = m->format->pb->error;
    return code >= 0 || pipeline_fail_av(error, code, "%s: cannot be written as %s", m->file.name,
                                         m->format->oformat->name);
}

bool mux_open(mux *m, const char *path, const AVFormatContext *input, const char *input_path,
              const AVStream *video, const AVCodecContext *encoder, int64_t shift,
              pipeline_error *error)
{
    const AVOutputFormat *format = mux_format(path);
    *m = (mux){0};
    pthread_mutex_init(&m->lock, NULL);
    if (!container_check(format, path, input, video, error) ||
        !outfile_open(&m->file, path, input_path, error))
        return false;
    avformat_alloc_output_context2(&m->format, format, NULL, NULL);
    if (!m->format || !add_streams(m, input, video, encoder) ||
        !add_chapters(m->format, input, shift))
        return pipeline_fail(error, "out of memory");
    return write_header(m, error);
}

/* Writes a packet whose timestamps are in time_base. libav takes over what the packet refers to. */
static bool write_packet(mux *m, AVPacket *packet, AVRational time_base, pipeline_error *error)
{
    av_packet_rescale_ts(packet, time_base, m->format->streams[packet->stream_index]->time_base);
    packet->pos = -1;
    pthread_mutex_lock(&m->lock);
    int code = av_interleaved_write_frame(m->format, packet);
    if (code >= 0 && m->format->pb->error < 0)
        code = m->format->pb->error;
    pthread_mutex_unlock(&m->lock);
    return code >= 0 || pipeline_fail_av(error, code, "%s: cannot be written", m->file.name);
}

bool mux_copy(mux *m, AVPacket *packet, pipeline_error *error)
{
    unsigned from = (unsigned)packet->stream_index;
    if (from >= m->input_streams || m->stream_of[from] < 0)
        return true;
    packet->stream_index = m->stream_of[from];
    return write_packet(m, packet, m->time_base_of[from], error);
}

bool mux_write(mux *m, AVPacket *packet, AVRational time_base, pipeline_error *error)
{
    packet->stream_index = m->video->index;
    return write_packet(m, packet, time_base, error);
}

bool mux_finish(mux *m, pipeline_error *error)
{
    int code = av_write_trailer(m->format);
    if (code >= 0 && m->format->pb->error < 0)
        code = m->format->pb->error;
    int closed = avio_closep(&m->format->pb);
    if (code >= 0)
        code = closed;
    if (code < 0)
        return pipeline_fail_av(error, code, "%s: cannot be written", m->file.name);
    return outfile_commit(&m->file, error);
}

void mux_close(mux *m)
{
    if (m->format) {
        avio_closep(&m->format->pb);
        avformat_free_context(m->format);
    }
    outfile_discard(&m->file);
    free(m->stream_of);
    free(m->time_base_of);
    pthread_mutex_destroy(&m->lock);
    *m = (mux){0};
}
