// SPDX-License-Identifier: Apache-2.0
/* Deinterlaces frames with libavfilter's bwdif: one frame out for each frame in, at the same time, or
 * one for each field. */
#ifndef MONA_DEINTERLACE_H
#define MONA_DEINTERLACE_H

#include <stdbool.h>

#include <libavutil/frame.h>

#include "pipeline/error.h"
#include "pipeline/io/filter_graph.h"

typedef struct deinterlacer {
    filter_graph filters;
    AVRational time_base;
    int64_t last_pts;
} deinterlacer;

/* Opens a deinterlacer for frames like `like`, whose pts count in time_base; path is for messages.
 * each: a frame for each field.
 * Frames that are not marked as interlaced pass unchanged. Whether it succeeds or not,
 * deinterlace_close releases what there is. */
bool deinterlace_open(deinterlacer *d, const char *path, const AVFrame *like, AVRational time_base,
                      bool each, pipeline_error *error);

/* Takes over the frame's data. NULL: no more frames will come. */
bool deinterlace_put(deinterlacer *d, AVFrame *frame, pipeline_error *error);

/* Returns the next frame: >= 0; AVERROR(EAGAIN): put one more first; AVERROR_EOF: there are no
 * more. */
int deinterlace_get(deinterlacer *d, AVFrame *frame);

void deinterlace_close(deinterlacer *d);

#endif
