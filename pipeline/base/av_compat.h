// SPDX-License-Identifier: Apache-2.0
/* Hides differences between versions of libav: FFmpeg 5.1 (libavcodec 59), 6.1 (60), 7.x (61) and 8
 * (62). Only this file checks versions. */
#ifndef MONA_PIPELINE_IO_AV_COMPAT_H
#define MONA_PIPELINE_IO_AV_COMPAT_H

#include <stdbool.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>

/* ---- frames ------------------------------------------------------------------------------- */

#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
#define AV_COMPAT_DURATION duration
#else
#define AV_COMPAT_DURATION pkt_duration
#endif

static inline int64_t avframe_duration(const AVFrame *frame)
{
    return frame->AV_COMPAT_DURATION;
}

static inline void avframe_set_duration(AVFrame *frame, int64_t duration)
{
    frame->AV_COMPAT_DURATION = duration;
}

#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
static inline bool avframe_is_interlaced(const AVFrame *frame)
{
    return frame->flags & AV_FRAME_FLAG_INTERLACED;
}

static inline bool avframe_top_first(const AVFrame *frame)
{
    return frame->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST;
}

static inline void avframe_set_interlaced(AVFrame *frame, bool interlaced, bool top_first)
{
    frame->flags &= ~(AV_FRAME_FLAG_INTERLACED | AV_FRAME_FLAG_TOP_FIELD_FIRST);
    frame->flags |= interlaced ? AV_FRAME_FLAG_INTERLACED : 0;
    frame->flags |= top_first ? AV_FRAME_FLAG_TOP_FIELD_FIRST : 0;
}

static inline void avframe_clear_key(AVFrame *frame)
{
    frame->flags &= ~AV_FRAME_FLAG_KEY;
}
#else
static inline bool avframe_is_interlaced(const AVFrame *frame)
{
    return frame->interlaced_frame;
}

static inline bool avframe_top_first(const AVFrame *frame)
{
    return frame->top_field_first;
}

static inline void avframe_set_interlaced(AVFrame *frame, bool interlaced, bool top_first)
{
    frame->interlaced_frame = interlaced;
    frame->top_field_first = top_first;
}

static inline void avframe_clear_key(AVFrame *frame)
{
    frame->key_frame = 0;
}
#endif

/* ---- what is known of a whole file -------------------------------------------------------- */

/* Where the file's clock starts, in AV_TIME_BASE units: 0 if it is not known. */
static inline int64_t avformat_origin(const AVFormatContext *format)
{
    return format->start_time == AV_NOPTS_VALUE ? 0 : format->start_time;
}

/* ---- what is known of a whole stream ------------------------------------------------------ */

#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
static inline int avstream_side_data_count(const AVStream *stream)
{
    return stream->codecpar->nb_coded_side_data;
}

static inline const AVPacketSideData *avstream_side_data_at(const AVStream *stream, int i)
{
    return &stream->codecpar->coded_side_data[i];
}

static inline uint8_t *avstream_new_side_data(AVStream *stream, enum AVPacketSideDataType type,
                                              size_t size)
{
    AVCodecParameters *p = stream->codecpar;
    AVPacketSideData *side =
        av_packet_side_data_new(&p->coded_side_data, &p->nb_coded_side_data, type, size, 0);
    return side ? side->data : NULL;
}

static inline void avstream_remove_side_data(AVStream *stream, enum AVPacketSideDataType type)
{
    AVCodecParameters *p = stream->codecpar;
    av_packet_side_data_remove(p->coded_side_data, &p->nb_coded_side_data, type);
}
#else
static inline int avstream_side_data_count(const AVStream *stream)
{
    return stream->nb_side_data;
}

static inline const AVPacketSideData *avstream_side_data_at(const AVStream *stream, int i)
{
    return &stream->side_data[i];
}

static inline uint8_t *avstream_new_side_data(AVStream *stream, enum AVPacketSideDataType type,
                                              size_t size)
{
    return av_stream_new_side_data(stream, type, size);
}

static inline void avstream_remove_side_data(AVStream *stream, enum AVPacketSideDataType type)
{
    for (int i = 0; i < stream->nb_side_data; i++)
        if (stream->side_data[i].type == type) {
            av_freep(&stream->side_data[i].data);
            stream->side_data[i] = stream->side_data[--stream->nb_side_data];
            return;
        }
}
#endif

/* NULL: the stream has no side data of this type. size may be NULL. */
static inline const void *avstream_side_data(const AVStream *stream, enum AVPacketSideDataType type,
                                             size_t *size)
{
    for (int i = 0; i < avstream_side_data_count(stream); i++) {
        const AVPacketSideData *side = avstream_side_data_at(stream, i);
        if (side->type != type)
            continue;
        if (size)
            *size = side->size;
        return side->data;
    }
    return NULL;
}

/* Copies all side data but that of one type. False: out of memory. */
static inline bool avstream_copy_side_data(AVStream *to, const AVStream *from,
                                           enum AVPacketSideDataType except)
{
    for (int i = 0; i < avstream_side_data_count(from); i++) {
        const AVPacketSideData *side = avstream_side_data_at(from, i);
        uint8_t *data =
            side->type == except ? NULL : avstream_new_side_data(to, side->type, side->size);
        if (data)
            memcpy(data, side->data, side->size);
        else if (side->type != except)
            return false;
    }
    return true;
}

/* ---- containers --------------------------------------------------------------------------- */

/* Bytes that a writer is given. */
#if LIBAVFORMAT_VERSION_MAJOR >= 61
typedef const uint8_t avio_bytes;
#else
typedef uint8_t avio_bytes;
#endif

/* Since libavformat 60, Matroska's writer stores what a codec needs before its first sample. */
enum { AVFORMAT_STORES_LEAD = LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 0, 100) };

/* ---- encoders ----------------------------------------------------------------------------- */

/* The pixel formats that an encoder takes, up to AV_PIX_FMT_NONE; NULL: unknown. */
static inline const enum AVPixelFormat *avcodec_formats(const AVCodec *codec)
{
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)
    const void *formats = NULL;
    const int code =
        avcodec_get_supported_config(NULL, codec, AV_CODEC_CONFIG_PIX_FORMAT, 0, &formats, NULL);
    return code < 0 ? NULL : formats;
#else
    return codec->pix_fmts;
#endif
}

#endif
