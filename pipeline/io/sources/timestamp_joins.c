// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/sources/source.h"

#include <stdlib.h>

enum { FORWARD = 10 * AV_TIME_BASE, BACKWARD = AV_TIME_BASE / 10 };

void timestamp_joins_forget(timestamp_joins *t)
{
    for (unsigned i = 0; i < t->streams; i++)
        t->next[i] = AV_NOPTS_VALUE;
}

bool timestamp_joins_open(timestamp_joins *t, const AVFormatContext *format)
{
    *t = (timestamp_joins){0};
    if (!(format->iformat->flags & AVFMT_TS_DISCONT))
        return true;
    t->next = malloc(format->nb_streams * sizeof *t->next);
    if (!t->next)
        return false;
    t->streams = format->nb_streams;
    timestamp_joins_forget(t);
    return true;
}

static bool keeps_time(const AVStream *stream)
{
    return stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO ||
           stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
}

void timestamp_joins_place(timestamp_joins *t, const AVFormatContext *format, AVPacket *packet)
{
    unsigned index = (unsigned)packet->stream_index;
    if (index >= t->streams)
        return;
    const AVStream *stream = format->streams[index];
    if (keeps_time(stream) && packet->dts != AV_NOPTS_VALUE) {
        int64_t time = av_rescale_q(packet->dts, stream->time_base, AV_TIME_BASE_Q) + t->offset;
        int64_t off = t->next[index] == AV_NOPTS_VALUE ? 0 : time - t->next[index];
        if (off > FORWARD || off < -BACKWARD) {
            t->offset -= off;
            time -= off;
            t->jumps++;
        }
        t->next[index] = time + av_rescale_q(packet->duration, stream->time_base, AV_TIME_BASE_Q);
    }
    int64_t offset = av_rescale_q(t->offset, AV_TIME_BASE_Q, stream->time_base);
    if (packet->pts != AV_NOPTS_VALUE)
        packet->pts += offset;
    if (packet->dts != AV_NOPTS_VALUE)
        packet->dts += offset;
}

void timestamp_joins_close(timestamp_joins *t)
{
    free(t->next);
    *t = (timestamp_joins){0};
}
