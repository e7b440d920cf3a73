// SPDX-License-Identifier: Apache-2.0
/* Writes frames as numbered pictures: "frames/%04d.png". Each appears under its name when it is
 * complete, and stays even if the run fails later. */
#ifndef MONA_PICTURE_WRITER_H
#define MONA_PICTURE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include <libavformat/avformat.h>

#include "pipeline/base/error.h"

typedef struct picture_writer {
    const char *pattern; /* NULL: not open */
    const char *input; /* which must not be overwritten, and gives each picture what lies beside its
                          * pixels; NULL: it is not a pattern */
    uint32_t next, first;
    unsigned jpeg_quality, threads; /* as in still_output */
    bool by_time;                   /* numbers follow the frames' pts */
    bool keep;                      /* as in outfile_open */
    bool upright;                   /* frames of any kind of picture were turned */
    const pipeline_notes *notes;    /* of what a picture cannot hold; NULL: that was told */
} picture_writer;

/* The output format that stands for numbered pictures. */
const AVOutputFormat *picture_writer_format(void);

/* Refuses frames in pix_fmt that pictures with such a name cannot hold. */
bool picture_writer_check(const char *pattern, int pix_fmt, pipeline_error *error);

bool picture_writer_put(picture_writer *w, const AVFrame *frame, pipeline_error *error);

/* How often a GIF or an animated PNG is shown. */

/* Repeats after the first time, as libav's GIF writer counts: -1: none, 0: without end.
 * `otherwise`: the file is neither, or cannot be read twice. */
int picture_loops(const char *path, int otherwise);

#endif
