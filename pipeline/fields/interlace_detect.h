// SPDX-License-Identifier: Apache-2.0
/* Interlaced frames that nobody marked as such, found by what they look like.
 *
 * A frame of two moments has comb teeth where something moves: its rows differ from both neighbours
 * and agree with those two away. libavfilter's idet says in which order the fields were taken, but
 * sees fields in some plain frames too, such as those of test patterns; the teeth decide. What is
 * judged is never one frame but the eight before and the eight after it together with it. */
#ifndef MONA_COMBING_H
#define MONA_COMBING_H

#include <stdbool.h>
#include <stdint.h>

#include <libavfilter/avfilter.h>
#include <libavutil/frame.h>

#include "pipeline/error.h"

enum {
    COMBING_REACH = 8, /* frames looked at before and after the one judged */
    /* idet is one frame late. */
    COMBING_SIGHTS = 2 * COMBING_REACH + 2,
    COMBING_WAITING = COMBING_REACH + 2
};

/* What is seen of one frame. */
typedef struct combing_sight {
    int8_t order; /* of fields: 1 top first, -1 bottom first, 0 of one moment, 2 unclear */
    uint32_t moving, combed; /* of its samples looked at */
} combing_sight;

typedef struct combing {
    AVFilterGraph *graph; /* idet alone; NULL: frames are not looked at */
    AVFilterContext *source, *sink;
    /* All frames live as long as this, so that in steady state nothing is allocated. */
    AVFrame *seen, *luma;
    AVFrame *before;                      /* the latest frame put; without data: there was none */
    AVFrame *waiting[COMBING_WAITING];    /* frame n at n % COMBING_WAITING, from taken to put */
    combing_sight sights[COMBING_SIGHTS]; /* of frame n at n % COMBING_SIGHTS */
    uint64_t put, judged, taken;          /* frames so far; judged: by idet */
    uint32_t calm;                        /* frames that moved, since the last one with teeth */
    bool ended, found;                    /* found: fields, in any frame so far */
} combing;

/* For frames like this one. Unless fields are possible they are not looked at, and none is kept
 * waiting; nor those larger than 1080i, as no format with fields is. Whether it succeeds or not,
 * combing_close releases what there is. */
bool combing_open(combing *c, const AVFrame *like, bool possible, pipeline_error *error);

/* Takes over the frame's data; NULL: there are no more. */
bool combing_put(combing *c, AVFrame *frame, pipeline_error *error);

/* The next frame, marked as interlaced if it looks so: >= 0; AVERROR(EAGAIN): put one more;
 * AVERROR_EOF: that was all. found: that it was marked here. */
int combing_get(combing *c, AVFrame *frame, bool *found);

/* Looks at no further frame. */
void combing_stop(combing *c);

void combing_close(combing *c);

#endif
