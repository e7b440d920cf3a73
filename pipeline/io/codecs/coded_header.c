// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/codecs/encode.h"

#include <libavutil/opt.h>

/* x264 takes the clock's step for the time of a frame, by which a stream without a container is
 * played, and which some players believe within one. SVT-AV1 tells no time, which it could only if
 * all frames take the same. x265 tells the frame rate. */
typedef struct row {
    enum AVCodecID codec;
    const char *filter;
    int ticks;         /* in each frame's time, which are two in H.264, one for each field */
    const char *even;  /* the option for a tick a frame, for formats without times alone; or NULL */
    bool says_limited; /* x264 leaves out "limited range" where there is no other colour
                        * information, so players guess; mp4 stores the range nowhere else */
} row;

static const row rows[] = {
    {AV_CODEC_ID_H264, "h264_metadata", 2, NULL, true},
    {AV_CODEC_ID_AV1, "av1_metadata", 1, "num_ticks_per_picture", false},
};

static const row *row_of(enum AVCodecID codec, const AVOutputFormat *format)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].codec == codec && (!rows[i].even || format->flags & AVFMT_NOTIMESTAMPS))
            return &rows[i];
    return NULL;
}

static int open_filter(AVBSFContext **filter, const row *r, const AVCodecContext *c,
                       AVRational rate)
{
    const AVBitStreamFilter *found = av_bsf_get_by_name(r->filter);
    int code = found ? av_bsf_alloc(found, filter) : 0;
    if (code < 0 || !found)
        return code;
    void *const options = (*filter)->priv_data;
    code = avcodec_parameters_from_context((*filter)->par_in, c);
    if (code >= 0)
        code = av_opt_set_q(options, "tick_rate", av_mul_q(rate, (AVRational){r->ticks, 1}), 0);
    if (code >= 0 && r->even)
        code = av_opt_set_int(options, r->even, 1, 0);
    if (code >= 0 && r->says_limited && c->color_range == AVCOL_RANGE_MPEG)
        code = av_opt_set_int(options, "video_full_range_flag", 0, 0);
    return code >= 0 ? av_bsf_init(*filter) : code;
}

bool coded_header_open(AVBSFContext **filter, AVCodecContext *encoder, AVRational rate,
                       const AVOutputFormat *format, pipeline_error *error)
{
    const row *r = row_of(encoder->codec_id, format);
    *filter = NULL;
    if (!r)
        return true;
    const int code = open_filter(filter, r, encoder, rate);
    if (code < 0)
        return pipeline_fail_av(error, code, "the %s header cannot be written",
                                encoder->codec->name);
    if (*filter && encoder->extradata_size) {
        FFSWAP(uint8_t *, encoder->extradata, (*filter)->par_out->extradata);
        FFSWAP(int, encoder->extradata_size, (*filter)->par_out->extradata_size);
    }
    return true;
}

int coded_header_correct(AVBSFContext *filter, AVPacket *packet)
{
    if (!filter)
        return 0;
    const int code = av_bsf_send_packet(filter, packet);
    return code >= 0 ? av_bsf_receive_packet(filter, packet) : code;
}
