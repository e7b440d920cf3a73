// SPDX-License-Identifier: Apache-2.0
/* Frames in 256 colours, which are chosen for each frame, with dither. */
#ifndef MONA_PALETTE_H
#define MONA_PALETTE_H

#include <stdbool.h>

#include <libavcodec/avcodec.h>
#include <libavfilter/avfilter.h>

#include "pipeline/error.h"

typedef struct palette {
    AVFilterGraph *graph;
    AVFilterContext *source, *sink;
} palette;

/* For frames of pix_fmt with the encoder's size and time base. Whether it succeeds or not,
 * palette_close releases what there is. */
bool palette_open(palette *p, const AVCodecContext *encoder, enum AVPixelFormat pix_fmt,
                  pipeline_error *error);

/* Takes a frame, NULL at the end. Returns an error of libav, or 0. */
int palette_put(palette *p, AVFrame *frame);

/* Gets a frame in AV_PIX_FMT_PAL8. AVERROR(EAGAIN): there is none yet. */
int palette_get(palette *p, AVFrame *frame);

/* A zeroed one is allowed. */
void palette_close(palette *p);

#endif
