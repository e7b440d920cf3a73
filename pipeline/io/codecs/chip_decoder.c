// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/codecs/chip_decoder.h"

#include <string.h>

#include "pipeline/base/av_compat.h"
#include "pipeline/io/codecs/codec.h"

/* ---- opening --------------------------------------------------------------------------------- */

static bool describe(chip_decoder *d, const AVCodecParameters *video)
{
    AVFrame *like = av_frame_alloc();
    d->like = like;
    d->coded = av_packet_alloc();
    if (!like || !d->coded)
        return false;
    like->format = video->format;
    like->width = video->width;
    like->height = video->height;
    like->sample_aspect_ratio = video->sample_aspect_ratio;
    like->color_range = video->color_range;
    like->color_primaries = video->color_primaries;
    like->color_trc = video->color_trc;
    like->colorspace = video->color_space;
    like->chroma_location = video->chroma_location;
    for (unsigned i = 0; i < CHIP_DECODER_PACKETS; i++)
        if (!(d->packets[i] = av_packet_alloc()))
            return false;
    return true;
}

static bool open_filter(chip_decoder *d, const chip_decoder_settings *s)
{
    const AVBitStreamFilter *filter = av_bsf_get_by_name(
        s->video->codec_id == AV_CODEC_ID_H264 ? "h264_mp4toannexb" : "hevc_mp4toannexb");
    if (!filter || av_bsf_alloc(filter, &d->annex_b) < 0)
        return false;
    d->annex_b->time_base_in = s->time_base;
    return avcodec_parameters_copy(d->annex_b->par_in, s->video) >= 0 &&
           av_bsf_init(d->annex_b) >= 0;
}

bool chip_decoder_open(chip_decoder *d, AVCodecContext *host, const chip_decoder_settings *s,
                       pipeline_error *error)
{
    *d = (chip_decoder){.path = s->path, .notes = s->notes, .host = host, .chip = s->chip};
    if (!chip_streams_are_asked(s))
        return true;
    const char *reason = chip_streams_refuse(s, &d->stream);
    if (!reason && !describe(d, s->video))
        return pipeline_fail(error, "out of memory");
    if (!reason && !open_filter(d, s)) {
        av_bsf_free(&d->annex_b);
        reason = "this FFmpeg cannot prepare it for the chip";
    }
    if (reason)
        pipeline_note(d->notes, "%s: decoded by the CPU: %s", d->path, reason);
    return true;
}

void chip_decoder_close(chip_decoder *d)
{
    vdec_close(d->vdec);
    av_bsf_free(&d->annex_b);
    av_frame_free(&d->like);
    av_packet_free(&d->coded);
    for (unsigned i = 0; i < CHIP_DECODER_PACKETS; i++)
        av_packet_free(&d->packets[i]);
    *d = (chip_decoder){0};
}

/* ---- failures -------------------------------------------------------------------------------- */

/* Before the first frame libavcodec begins anew with the packets so far: 0. After it the run
 * fails. */
static int give_up(chip_decoder *d, const char *why)
{
    if (d->begun) {
        pipeline_fail(&d->failure, "%s: %s (--device host decodes it)", d->path, why);
        return AVERROR_EXTERNAL;
    }
    pipeline_note(d->notes, "%s: decoded by the CPU: %s", d->path, why);
    vdec_close(d->vdec);
    d->vdec = NULL;
    av_bsf_free(&d->annex_b);
    mona_ascend_forget();
    return 0;
}

/* The chip could make nothing of a frame. */
static int lose(chip_decoder *d)
{
    return d->begun ? AVERROR_INVALIDDATA : give_up(d, "the chip cannot decode its first frames");
}

/* ---- packets --------------------------------------------------------------------------------- */

static AVPacket *packet_at(chip_decoder *d, uint64_t number)
{
    return d->packets[number % CHIP_DECODER_PACKETS];
}

/* Turns a packet into the form that the chip takes, in d->coded. */
static int convert(chip_decoder *d, const AVPacket *packet)
{
    if (av_packet_ref(d->coded, packet) < 0)
        return AVERROR(ENOMEM);
    const int code = av_bsf_send_packet(d->annex_b, d->coded);
    if (code < 0)
        av_packet_unref(d->coded);
    return code < 0 ? code : av_bsf_receive_packet(d->annex_b, d->coded);
}

/* Why the chip cannot decode d->coded, if it has a header that tells; NULL otherwise. */
static const char *check_header(chip_decoder *d)
{
    const bool h265 = d->host->codec_id == AV_CODEC_ID_HEVC;
    if (d->vdec && !(d->coded->flags & AV_PKT_FLAG_KEY))
        return NULL;
    const stream_header h = stream_header_find(h265, d->coded->data, (size_t)d->coded->size);
    const size_t bytes = FFMIN(h.bytes, sizeof d->header);
    if (d->vdec)
        return h.data && (bytes != d->header_bytes || memcmp(d->header, h.data, bytes) != 0)
                   ? "its frames change their size or form"
                   : NULL;
    if (!h.data)
        return "it does not begin with a header";
    memcpy(d->header, h.data, bytes);
    d->header_bytes = bytes;
    return !h265 && stream_header_has_fields(h) ? chip_streams_interlaced : NULL;
}

static int open_vdec(chip_decoder *d, const AVPacket *first)
{
    const mona_size size = {(uint32_t)d->like->width, (uint32_t)d->like->height};
    if (first->pts == AV_NOPTS_VALUE)
        return give_up(d, "its packets do not say when their frames are shown");
    const mona_status status = vdec_open(&d->vdec, d->chip, d->stream, size);
    return status ? give_up(d, pipeline_reason(status)) : 0;
}

/* In d->coded. */
static int send_coded(chip_decoder *d, uint64_t number)
{
    const char *reason = check_header(d);
    if (reason)
        return give_up(d, reason);
    const int code = d->vdec ? 0 : open_vdec(d, packet_at(d, number));
    if (!d->vdec)
        return code;
    const mona_status status = vdec_send(d->vdec, d->coded->data, (size_t)d->coded->size, number);
    return status ? give_up(d, pipeline_reason(status)) : 0;
}

static int send_to_chip(chip_decoder *d, const AVPacket *packet)
{
    AVPacket *kept = packet_at(d, d->sent);
    av_packet_unref(kept);
    if (av_packet_ref(kept, packet) < 0)
        return AVERROR(ENOMEM);
    d->sent++;
    int code = convert(d, kept);
    if (code < 0)
        return code == AVERROR(ENOMEM) ? code : lose(d);
    code = send_coded(d, d->sent - 1);
    av_packet_unref(d->coded);
    return code;
}

int chip_decoder_send(chip_decoder *d, const AVPacket *packet)
{
    if (d->failure.text[0])
        return AVERROR_EXTERNAL;
    if (!d->annex_b)
        return avcodec_send_packet(d->host, packet);
    if (packet)
        return send_to_chip(d, packet);
    d->draining = true;
    if (d->vdec)
        vdec_end(d->vdec);
    return 0;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* First those of the packets that the chip was given. */
static int receive_from_host(chip_decoder *d, AVFrame *frame)
{
    for (;;) {
        const int code = avcodec_receive_frame(d->host, frame);
        if (code != AVERROR(EAGAIN))
            return code;
        if (d->replayed < d->sent) {
            AVPacket *packet = packet_at(d, d->replayed++);
            const int sent = avcodec_send_packet(d->host, packet);
            av_packet_unref(packet);
            if (sent < 0)
                return sent;
        } else if (d->draining) {
            d->draining = false;
            const int sent = avcodec_send_packet(d->host, NULL);
            if (sent < 0)
                return sent;
        } else {
            return code;
        }
    }
}

static int fetch(chip_decoder *d, const AVPacket *packet, AVFrame *frame)
{
    frame->format = d->like->format;
    frame->width = d->like->width;
    frame->height = d->like->height;
    if (av_frame_copy_props(frame, d->like) < 0 || av_frame_get_buffer(frame, 0) < 0)
        return AVERROR(ENOMEM);
    frame->pts = frame->best_effort_timestamp = packet->pts;
    frame->pkt_dts = packet->dts;
    avframe_set_duration(frame, packet->duration);
    const ptrdiff_t strides[] = {frame->linesize[0], frame->linesize[1], frame->linesize[2]};
    const mona_status status = vdec_fetch(d->vdec, frame->data, strides);
    if (!status)
        return 0;
    av_frame_unref(frame);
    return give_up(d, pipeline_reason(status));
}

/* 0: frame is one. AVERROR(EAGAIN): the next one, or libavcodec's, is to be asked for. */
static int take(chip_decoder *d, const vdec_picture *picture, AVFrame *frame)
{
    AVPacket *packet = packet_at(d, picture->number);
    const bool wanted = !(packet->flags & AV_PKT_FLAG_DISCARD);
    const int code = picture->lost ? lose(d) : wanted ? fetch(d, packet, frame) : 0;
    if (!d->annex_b)
        return AVERROR(EAGAIN);
    d->begun = true;
    av_packet_unref(packet);
    return code || wanted ? code : AVERROR(EAGAIN);
}

int chip_decoder_receive(chip_decoder *d, AVFrame *frame)
{
    av_frame_unref(frame);
    if (d->failure.text[0])
        return AVERROR_EXTERNAL;
    while (d->annex_b) {
        vdec_picture picture;
        vdec_result result = d->draining ? VDEC_END : VDEC_MORE;
        const mona_status status = d->vdec ? vdec_receive(d->vdec, &picture, &result) : MONA_OK;
        int code = status ? give_up(d, pipeline_reason(status)) : 0;
        if (code < 0)
            return code;
        if (status)
            break;
        if (result != VDEC_PICTURE)
            return result == VDEC_END ? AVERROR_EOF : AVERROR(EAGAIN);
        code = take(d, &picture, frame);
        if (code != AVERROR(EAGAIN))
            return code;
    }
    return receive_from_host(d, frame);
}
