// SPDX-License-Identifier: Apache-2.0
/* Interlaced frames made whole by libavfilter's bwdif: one frame out for each in, at its time. */
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

/* For frames like this one of the file path, whose pts count in time_base. Frames that are not
 * marked as interlaced pass unchanged. Whether it succeeds or not, deinterlace_close releases what
 * there is. */
bool deinterlace_open(deinterlacer *d, const char *path, const AVFrame *like, AVRational time_base,
                      pipeline_error *error);

/* Takes over the frame's data; NULL: there are no more. */
bool deinterlace_put(deinterlacer *d, AVFrame *frame, pipeline_error *error);

/* The next frame: >= 0; AVERROR(EAGAIN): put one more; AVERROR_EOF: that was all. */
int deinterlace_get(deinterlacer *d, AVFrame *frame);

void deinterlace_close(deinterlacer *d);

#endif
