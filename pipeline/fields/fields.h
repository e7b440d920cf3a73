// SPDX-License-Identifier: Apache-2.0
/* Finds interlaced frames from the decoder, marked or not, reports them and deinterlaces them, or
 * restores the frames of a film from them. */
#ifndef MONA_FIELDS_H
#define MONA_FIELDS_H

#include <stdbool.h>

#include <libavutil/frame.h>

#include "pipeline/fields/interlace_detect.h"
#include "pipeline/fields/deinterlace.h"
#include "pipeline/base/error.h"

typedef struct fields {
    const char *path; /* for messages */
    const pipeline_notes *notes;
    AVRational time_base;  /* of the frames' pts */
    bool possible;         /* look for interlaced frames that are not marked */
    bool wanted;           /* deinterlace; else interlaced frames are only reported */
    fields_mode mode;      /* what is made of interlaced frames; of FIELDS_FILM, all are */
    bool bottom_first;     /* the fields of that film */
    bool may_be_film;      /* the rate is that of film with 3:2 pull-down */
    interlace_known known; /* of interlaced frames that are not marked */
    bool open, told, told_film;
    interlace_detect sight;
    deinterlacer whole; /* open from the first interlaced frame on */
} fields;

/* Takes over the frame's data. NULL: no more frames will come. All frames have the same format. */
bool fields_put(fields *f, AVFrame *frame, pipeline_error *error);

/* Returns the next frame: >= 0; AVERROR(EAGAIN): put one more first; AVERROR_EOF: there are no
 * more; any other value: an error. */
int fields_get(fields *f, AVFrame *frame, pipeline_error *error);

void fields_close(fields *f);

#endif
