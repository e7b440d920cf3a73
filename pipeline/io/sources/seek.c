// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/sources/source.h"

#include <stdbool.h>

#include "pipeline/base/av_compat.h"
#include "pipeline/io/containers/media_file.h"

enum { MAX_PACKETS = 4096 }; /* to read in search of a key frame */

static bool seek(AVFormatContext *format, int64_t time)
{
    return avformat_seek_file(format, -1, INT64_MIN, time, time, 0) >= 0;
}

/* Reads on to the next key frame of the video. Returns whether it lies at time or earlier. */
static bool key_comes_before(AVFormatContext *format, const AVStream *video, int64_t time)
{
    AVPacket *packet = av_packet_alloc();
    bool key = false;
    int64_t found = AV_NOPTS_VALUE;
    for (int i = 0; packet && i < MAX_PACKETS && !key && av_read_frame(format, packet) >= 0; i++) {
        key = packet->stream_index == video->index && packet->flags & AV_PKT_FLAG_KEY;
        found = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return key && (found == AV_NOPTS_VALUE ||
                   av_compare_ts(found, video->time_base, time, AV_TIME_BASE_Q) <= 0);
}

/* By bytes, where that is possible: the decoding time of the first frame is before the file's first
 * time. Elsewhere libav goes to the first place of the index. */
static void seek_begin(AVFormatContext *format)
{
    if (reader_of(format->iformat)->nested || format->iformat->flags & AVFMT_NO_BYTE_SEEK ||
        av_seek_frame(format, -1, 0, AVSEEK_FLAG_BYTE) < 0)
        seek(format, avformat_origin(format));
}

/* In a container without an index, such as a transport stream, libav seeks by decoding time and to
 * any frame. Then the search starts further ahead. */
void seek_before(source *s, const AVStream *video, int64_t time)
{
    AVFormatContext *format = s->format;
    const int64_t first = avformat_origin(format);
    if (!format->pb || !(format->pb->seekable & AVIO_SEEKABLE_NORMAL))
        return;
    int64_t ahead = 0, place = time;
    if (!seek(format, time)) { /* libav may have looked for it up to the file's end */
        seek_begin(format);
        return;
    }
    while (!key_comes_before(format, video, time)) {
        if (place <= first) {
            seek_begin(format);
            return;
        }
        ahead = ahead ? 4 * ahead : AV_TIME_BASE;
        place = FFMAX(first, time - ahead);
        seek(format, place);
    }
    seek(format, place);
}
