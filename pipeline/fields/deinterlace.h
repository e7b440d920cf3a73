// SPDX-License-Identifier: Apache-2.0
/* Deinterlaces frames with libavfilter's bwdif: one frame out for each frame in, at the same
 * time. */
#ifndef MONA_DEINTERLACE_H
#define MONA_DEINTERLACE_H

#include <stdbool.h>

#include <libavfilter/avfilter.h>
#include <libavutil/frame.h>

#include "pipeline/error.h"

typedef struct deinterlacer {
    AVFilterGraph *graph; /* NULL: not open */
    AVFilterContext *source, *sink;
    AVRational time_base;
} deinterlacer;

/* Opens a deinterlacer for frames like `like`, whose pts count in time_base; path is for messages.
 * Frames that are not marked as interlaced pass unchanged. Whether it succeeds or not,
 * deinterlace_close releases what there is. */
bool deinterlace_open(deinterlacer *d, const char *path, const AVFrame *like, AVRational time_base,
                      pipeline_error *error);

/* Takes over the frame's data. NULL: no more frames will come. */
bool deinterlace_put(deinterlacer *d, AVFrame *frame, pipeline_error *error);

/* Returns the next frame: >= 0; AVERROR(EAGAIN): put one more first; AVERROR_EOF: there are no
 * more. */
int deinterlace_get(deinterlacer *d, AVFrame *frame);

void deinterlace_close(deinterlacer *d);

#endif
