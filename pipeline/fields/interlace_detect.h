// SPDX-License-Identifier: Apache-2.0
/* Interlaced frames that nobody marked as such, found by what they look like.
 *
 * A frame of two moments has comb teeth where something moves: its rows differ from both neighbours
 * and agree with those two away. libavfilter's idet says in which order the fields were taken, but
 * sees fields in some plain frames too, such as those of test patterns; the teeth decide. What is
 * judged is never one frame but the eight before and the eight after it together with it. */
#ifndef MONA_INTERLACE_DETECT_H
#define MONA_INTERLACE_DETECT_H

#include <stdbool.h>
#include <stdint.h>

#include <libavfilter/avfilter.h>
#include <libavutil/frame.h>

#include "pipeline/error.h"

enum {
    INTERLACE_DETECT_REACH = 8, /* frames looked at before and after the one judged */
    /* idet is one frame late. */
    INTERLACE_DETECT_SIGHTS = 2 * INTERLACE_DETECT_REACH + 2,
    INTERLACE_DETECT_WAITING = INTERLACE_DETECT_REACH + 2
};

/* What is seen of one frame. */
typedef struct interlace_detect_sight {
    int8_t order; /* of fields: 1 top first, -1 bottom first, 0 of one moment, 2 unclear */
    uint32_t moving, combed; /* of its samples looked at */
} interlace_detect_sight;

typedef struct interlace_detect {
    AVFilterGraph *graph; /* idet alone; NULL: frames are not looked at */
    AVFilterContext *source, *sink;
    /* All frames live as long as this, so that in steady state nothing is allocated. */
    AVFrame *seen, *luma;
    AVFrame *before; /* the latest frame put; without data: there was none */
    AVFrame *waiting[INTERLACE_DETECT_WAITING]; /* frame n at n % their number, from taken to put */
    interlace_detect_sight sights[INTERLACE_DETECT_SIGHTS]; /* of frame n at n % their number */
    uint64_t put, judged, taken;                            /* frames so far; judged: by idet */
    uint32_t calm;     /* frames that moved, since the last one with teeth */
    bool ended, found; /* found: fields, in any frame so far */
} interlace_detect;

/* For frames like this one. Unless fields are possible they are not looked at, and none is kept
 * waiting; nor those larger than 1080i, as no format with fields is. Whether it succeeds or not,
 * interlace_detect_close releases what there is. */
bool interlace_detect_open(interlace_detect *c, const AVFrame *like, bool possible,
                           pipeline_error *error);

/* Takes over the frame's data; NULL: there are no more. */
bool interlace_detect_put(interlace_detect *c, AVFrame *frame, pipeline_error *error);

/* The next frame, marked as interlaced if it looks so: >= 0; AVERROR(EAGAIN): put one more;
 * AVERROR_EOF: that was all. found: that it was marked here. */
int interlace_detect_get(interlace_detect *c, AVFrame *frame, bool *found);

/* Looks at no further frame. */
void combing_stop(interlace_detect *c);

void interlace_detect_close(interlace_detect *c);

#endif
