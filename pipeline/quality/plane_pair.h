// SPDX-License-Identifier: Apache-2.0
/* The same plane of two frames of one size and format. */
#ifndef MONA_PLANE_PAIR_H
#define MONA_PLANE_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>

#include "pipeline/stages/sample.h"

typedef struct plane_pair {
    const uint8_t *a, *b;
    ptrdiff_t a_stride, b_stride;
    uint32_t width, height;
    bool wide; /* samples of 16 bits */
} plane_pair;

static inline plane_pair plane_pair_of(const AVFrame *a, const AVFrame *b, unsigned component)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(a->format);
    const int plane = d->comp[component].plane;
    const bool chroma = !(d->flags & AV_PIX_FMT_FLAG_RGB) && (component == 1 || component == 2);
    const int across = chroma ? d->log2_chroma_w : 0, down = chroma ? d->log2_chroma_h : 0;
    return (plane_pair){.a = a->data[plane],
                        .b = b->data[plane],
                        .a_stride = a->linesize[plane],
                        .b_stride = b->linesize[plane],
                        .width = (uint32_t)AV_CEIL_RSHIFT(a->width, across),
                        .height = (uint32_t)AV_CEIL_RSHIFT(a->height, down),
                        .wide = d->comp[component].depth > 8};
}

#endif
