// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/codecs/chip_decoder.h"

/* profile_idc of H.264 and general_profile_idc of H.265; libav adds the constraints of H.264. */
enum { H264_BASELINE = 66, H264_CONSTRAINED = 512 + 66, H264_MAIN = 77, H264_HIGH = 100 };
enum { H265_MAIN = 1 };
enum { H264_LEVEL_5_1 = 51, H265_LEVEL_5_1 = 153 };

static bool find_stream(const AVCodecParameters *video, vdec_stream *stream)
{
    static const struct {
        enum AVCodecID id;
        int profile, level; /* the highest */
        vdec_stream stream;
    } known[] = {
        {AV_CODEC_ID_H264, H264_BASELINE, H264_LEVEL_5_1, VDEC_H264_BASELINE},
        {AV_CODEC_ID_H264, H264_CONSTRAINED, H264_LEVEL_5_1, VDEC_H264_BASELINE},
        {AV_CODEC_ID_H264, H264_MAIN, H264_LEVEL_5_1, VDEC_H264_MAIN},
        {AV_CODEC_ID_H264, H264_HIGH, H264_LEVEL_5_1, VDEC_H264_HIGH},
        {AV_CODEC_ID_HEVC, H265_MAIN, H265_LEVEL_5_1, VDEC_H265},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].id == video->codec_id && known[i].profile == video->profile &&
            video->level <= known[i].level) {
            *stream = known[i].stream;
            return true;
        }
    return false;
}

const char chip_streams_interlaced[] = "the chip does not say which field of a frame is the first";

const char *chip_streams_refuse(const chip_decoder_settings *s, vdec_stream *stream)
{
    const AVCodecParameters *v = s->video;
    if (v->format != AV_PIX_FMT_YUV420P && v->format != AV_PIX_FMT_YUVJ420P)
        return "the chip decodes 4:2:0 of 8 bits a sample only";
    if (!find_stream(v, stream))
        return "the chip does not decode this profile or level";
    if (v->field_order > AV_FIELD_PROGRESSIVE)
        return chip_streams_interlaced;
    if (s->low_latency)
        return "frames wait for later ones in the chip's decoder";
    return s->quantisers ? "repairing compression needs quantisers, which the chip does not tell"
                         : NULL;
}

bool chip_streams_are_asked(const chip_decoder_settings *s)
{
    const enum AVCodecID id = s->video->codec_id;
    mona_ascend_info info;
    return s->chip && (id == AV_CODEC_ID_H264 || id == AV_CODEC_ID_HEVC) &&
           mona_ascend_query(s->chip, &info) == MONA_OK && !info.no_video;
}
