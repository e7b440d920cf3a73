// SPDX-License-Identifier: Apache-2.0
/* Interlaced frames, marked or not, on their way from the decoder: found, told of, and made whole.
 */
#ifndef MONA_FIELDS_H
#define MONA_FIELDS_H

#include <stdbool.h>

#include <libavutil/frame.h>

#include "pipeline/fields/interlace_detect.h"
#include "pipeline/fields/deinterlace.h"
#include "pipeline/error.h"

typedef struct fields {
    const char *path; /* for messages */
    const pipeline_notes *notes;
    AVRational time_base; /* of the frames' pts */
    bool possible;        /* unmarked ones are looked for */
    bool wanted;          /* whole frames; else interlaced ones are only told of */
    bool open, told;
    interlace_detect sight;
    deinterlacer whole; /* open from the first interlaced frame on */
} fields;

/* Takes over the frame's data; NULL: there are no more. All frames are alike. */
bool fields_put(fields *f, AVFrame *frame, pipeline_error *error);

/* The next frame: >= 0; AVERROR(EAGAIN): put one more; AVERROR_EOF: that was all; else failed. */
int fields_get(fields *f, AVFrame *frame, pipeline_error *error);

void fields_close(fields *f);

#endif
