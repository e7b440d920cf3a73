// SPDX-License-Identifier: Apache-2.0
/* Pictures and pages that show the results of mona enhance, before or after a run. */
#ifndef MONA_PREVIEW_H
#define MONA_PREVIEW_H

#include <stdbool.h>

#include <libavutil/frame.h>

#include "apps/enhance/progress.h"
#include "pipeline/base/error.h"
#include "pipeline/enhance.h"

/* Enhances the frame at settings->input.start, or a still picture, as the whole run would,
 * including encoding. Writes the PNG settings->output: the part that changes most, on the left of
 * the input, enlarged by bicubic interpolation, on the right of the result. False: one line was
 * printed. */
bool preview_write(const job *settings);

/* After a run: compares the input, enlarged, with the output, and writes a page about it under
 * path (comparison.h). shown: the progress of the run. */
bool preview_page(const job *settings, const enhance_report *report, const progress *shown,
                  const char *path);

enum { SIDE_MAX = 800, SIDE_LABEL = 32 }; /* pixels: of the part, a side; rows of the labels */

typedef struct picture_part {
    int x, y, width, height;
} picture_part;

/* The part that differs most, at most SIDE_MAX pixels a side. Both are RGB24 of one size. */
picture_part side_most_changed(const AVFrame *before, const AVFrame *after);

/* That part of both, under labels. NULL: out of memory. The caller frees it. */
AVFrame *side_by_side(const AVFrame *before, const AVFrame *after, picture_part part,
                      pipeline_error *error);

#endif
