// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/outputs/mux.h"

#include "pipeline/io/containers/container.h"
#include "pipeline/io/containers/media_file.h"

/* Of the sound packets before 0 the last one is kept, which ends at 0 or later. */
static bool is_cut(int64_t time, int64_t duration)
{
    return duration > 0 && time + 2 * duration <= 0;
}

bool edit_list_cuts(const AVPacket *packet, const AVStream *stream)
{
    return stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO &&
           (packet->flags & AV_PKT_FLAG_DISCARD) && packet->pts != AV_NOPTS_VALUE &&
           is_cut(packet->pts, packet->duration);
}

/* The time of the first packet that is not cut away, less shift, in the stream's time base; at most
 * 0. earliest: what the index lists before is none. */
static int64_t first_time(AVStream *stream, int64_t shift, int64_t earliest)
{
    const int count = avformat_index_get_entries_count(stream);
    for (int i = 0; i + 1 < count; i++) {
        if (avformat_index_get_entry(stream, i)->timestamp < earliest)
            continue;
        int64_t time = avformat_index_get_entry(stream, i)->timestamp - shift;
        int64_t next = avformat_index_get_entry(stream, i + 1)->timestamp - shift;
        if (time >= 0)
            break;
        if (!is_cut(time, next - time))
            return time;
    }
    return 0;
}

/* By how many microseconds a stream begins before the earliest time that format can store; 0 or
 * less: it does not. The comparison is in the milliseconds to which format rounds. */
static int64_t lead_of(AVStream *stream, const AVOutputFormat *format, int64_t shift,
                       const reader *from)
{
    const int64_t moved = av_rescale_q(shift, AV_TIME_BASE_Q, stream->time_base);
    const int64_t earliest = from->headers ? stream->start_time : INT64_MIN;
    const int64_t first = first_time(stream, moved, earliest);
    const int64_t stored = container_lead(format, stream);
    if (av_rescale_q(first, stream->time_base, (AVRational){1, 1000}) + stored >= 0)
        return 0;
    return -av_rescale_q_rnd(first, stream->time_base, AV_TIME_BASE_Q, AV_ROUND_DOWN) -
           1000 * stored;
}

int64_t edit_list_lead(const AVFormatContext *input, const AVStream *video,
                       const AVOutputFormat *format, int64_t shift)
{
    int64_t lead = 0;
    for (unsigned i = 0; i < input->nb_streams; i++) {
        AVStream *stream = input->streams[i];
        if (stream == video || stream->codecpar->codec_type != AVMEDIA_TYPE_AUDIO ||
            container_leaves_out(stream) || !container_holds(format, stream))
            continue;
        lead = FFMAX(lead, lead_of(stream, format, shift, reader_of(input->iformat)));
    }
    return (lead + 999) / 1000 * 1000;
}
