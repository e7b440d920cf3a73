// SPDX-License-Identifier: Apache-2.0
/* The quantiser's step s, in what a coefficient of an orthonormal transform is at 8 bits a sample:
 *
 *     H.264             0.625 * 2^(QP / 6), QP less 6 for each bit beyond 8
 *     MPEG-1, -2, -4    the quantiser as libavutil tells it, that of MPEG-2
 *     VP9               an eighth of a table of its index q: 7 + q up to 95, and from there on
 *                       within 8 % twice as much every 38.4
 *
 * Fine steps leave an error alike everywhere between -s / 2 and s / 2: s / sqrt(12). Of coarse ones
 * ever more coefficients are less than half a step and lost whole, which is less. Measured on 1,440
 * frames of 60 training images seen by a moving camera, through x264 at CRF 0 to 44
 * (models/train/compressed.py prints it; RMS of luma of frames within 1.5 of a QP, originals
 * without noise that is to be removed):
 *
 *     QP                    16   19   22   25   28   31   34   37   40   43   46   49   51
 *     measured             1.0  1.8  2.3  2.7  3.1  3.6  5.0  5.8  6.3  8.6 10.2 12.5 14.3
 *     here                 1.1  1.7  2.1  2.6  3.1  3.8  4.6  5.6  6.8  8.3 10.1 12.3 14.0
 *
 * Frames differ by content: between half of it and half as much again. Of the same step VP9, whose
 * frames copy from finer ones that are never shown, leaves 0.7 times as much, and the MPEGs, which
 * choose with less care and have no filter in the loop, 1.25 times (on three clips of film, three
 * and two quantisers, by libvpx and libavcodec). */
#include "pipeline/io/quantiser.h"

#include <math.h>

#include <libavutil/pixdesc.h>
#include <libavutil/video_enc_params.h>

/* Mean over the frame's area. */
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

float quantiser_error(const AVFrame *frame)
{
    const AVFrameSideData *told = av_frame_get_side_data(frame, AV_FRAME_DATA_VIDEO_ENC_PARAMS);
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    if (!told || !format)
        return 0;
    AVVideoEncParams *p = (AVVideoEncParams *)told->data;
    const double q = mean_quantiser(p);
    if (!(q > 0)) /* without loss */
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
