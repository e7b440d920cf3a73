// SPDX-License-Identifier: Apache-2.0
/* The quantiser's step s, for coefficients of an orthonormal transform of 8-bit samples:
 *
 *     H.264             0.625 * 2^(QP / 6), QP less 6 for each bit beyond 8
 *     MPEG-1, -2, -4    the quantiser as libavutil reports it, in MPEG-2's units
 *     VP9               an eighth of a table entry for its index q: 7 + q up to 95, and from there
 *                       on doubling every 38.4, within 8 %
 *
 * Fine steps leave errors uniformly distributed between -s / 2 and s / 2: s / sqrt(12). With coarse
 * steps, more and more coefficients are below half a step and vanish, which makes the error smaller
 * than that. Measured on 1,440 frames of 60 training images seen by a moving camera, through x264
 * at CRF 0 to 44 (models/train/compressed.py prints it; RMS of luma of frames within 1.5 of a QP,
 * against originals without removable noise):
 *
 *     QP                    16   19   22   25   28   31   34   37   40   43   46   49   51
 *     measured             1.0  1.8  2.3  2.7  3.1  3.6  5.0  5.8  6.3  8.6 10.2 12.5 14.3
 *     here                 1.1  1.7  2.1  2.6  3.1  3.8  4.6  5.6  6.8  8.3 10.1 12.3 14.0
 *
 * Depending on content, frames have 0.5 to 1.5 times this error. With the same step, VP9 has 0.7
 * times the error, since its frames copy from finer ones that are never shown, and the MPEGs have
 * 1.25 times, since their encoders choose less carefully and they have no loop filter (on three
 * clips of film, with three and two quantisers, by libvpx and libavcodec). */
#include "pipeline/io/codecs/codec.h"

#include <math.h>
#include <stdbool.h>

#include <libavcodec/codec_desc.h>
#include <libavutil/pixdesc.h>
#include <libavutil/video_enc_params.h>

/* The mean over the frame's area. */
static double mean_quantiser(AVVideoEncParams *p)
{
    double sum = 0, area = 0;
    for (unsigned i = 0; i < p->nb_blocks; i++) {
        const AVVideoBlockParams *block = av_video_enc_params_block(p, i);
        const double size = (double)block->w * block->h;
        sum += size * block->delta_qp;
        area += size;
    }
    return p->qp + (area > 0 ? sum / area : 0);
}

static double error_of(double step)
{
    return fmin(step / sqrt(12), 0.65 * pow(step, 0.566));
}

static bool predicts_with_loss(enum AVCodecID codec)
{
    const AVCodecDescriptor *d = avcodec_descriptor_get(codec);
    return d && (d->props & AV_CODEC_PROP_LOSSY) && !(d->props & AV_CODEC_PROP_INTRA_ONLY);
}

float quantiser_error(const AVFrame *frame, enum AVCodecID codec)
{
    const AVFrameSideData *told = av_frame_get_side_data(frame, AV_FRAME_DATA_VIDEO_ENC_PARAMS);
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    if (!told || !format)
        return predicts_with_loss(codec) ? -1 : 0;
    AVVideoEncParams *p = (AVVideoEncParams *)told->data;
    const double q = mean_quantiser(p);
    if (!(q > 0)) /* lossless */
        return 0;
    switch (p->type) {
    case AV_VIDEO_ENC_PARAMS_H264:
        return (float)error_of(0.625 * exp2((q - 6 * (format->comp[0].depth - 8)) / 6));
    case AV_VIDEO_ENC_PARAMS_VP9:
        return (float)(0.7 * error_of((q < 95 ? 7 + q : 102 * exp2((q - 95) / 38.4)) / 8));
    case AV_VIDEO_ENC_PARAMS_MPEG2:
        return (float)(1.25 * error_of(q));
    default:
        return 0;
    }
}
