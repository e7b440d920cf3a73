// SPDX-License-Identifier: Apache-2.0
/* Finds, from their samples, interlaced frames that are not marked as such.
 *
 * A frame that mixes two moments shows comb teeth where something moves: a row differs from both
 * neighbours and agrees with the rows two away. libavfilter's idet finds the order in which the
 * fields were taken, but it also sees fields in some progressive frames, such as test patterns;
 * there the teeth decide. A frame is judged together with the eight frames before it and the eight
 * after it. */
#ifndef MONA_INTERLACE_DETECT_H
#define MONA_INTERLACE_DETECT_H

#include <stdbool.h>
#include <stdint.h>

#include <libavutil/frame.h>

#include "pipeline/base/error.h"
#include "pipeline/base/filter_graph.h"

/* Finds film at 24 frames a second that became 30 with 3:2 pull-down. Of its frames A, B, C and
 * D it made five: AA BB BC CD DD, where the first letter is the first field. The third repeats
 * the first field of the frame before, the fifth the second. In other video no field is repeated
 * while the other moves. */

enum { PULLDOWN_CYCLE = 5 };

/* Frames are judged in blocks of cycles, as a cut may begin the cycle anew. */
typedef struct pulldown {
    uint32_t frames; /* in this block */
    /* Of them, by their place in the cycle, those that move: which repeat the bottom field,
     * none, and the top one. */
    uint32_t moving[PULLDOWN_CYCLE][3];
    uint32_t top_first, bottom_first, other; /* blocks: film by its fields' order, not film */
} pulldown;

/* Counts the next frame. repeated: 1: it repeats the top field, -1: the bottom one, 0: neither. */
void pulldown_count(pulldown *p, bool moves, int repeated);

/* The order of the fields of a film with pull-down, 1 or -1; 0: it is none so far. */
int pulldown_order(const pulldown *p);

/* Whether further frames would hardly change that. */
bool pulldown_is_decided(const pulldown *p);

enum {
    INTERLACE_DETECT_REACH = 8, /* frames looked at before and after the one judged */
    /* idet is one frame late. */
    INTERLACE_DETECT_SIGHTS = 2 * INTERLACE_DETECT_REACH + 2,
    INTERLACE_DETECT_WAITING = INTERLACE_DETECT_REACH + 2
};

/* What is known of the film that frames are from. */
typedef enum interlace_known {
    INTERLACE_UNKNOWN,
    INTERLACE_FOUND, /* it has fields */
    INTERLACE_NONE   /* it was looked at elsewhere, and none were found */
} interlace_known;

/* Findings in one frame. */
typedef struct interlace_detect_sight {
    int8_t order;            /* of fields: 1 top first, -1 bottom first, 0 progressive, 2 unclear */
    uint32_t moving, combed; /* counts of the samples examined */
    uint32_t moving_top;     /* of the moving ones, those in the top field */
} interlace_detect_sight;

typedef struct interlace_detect {
    bool examines;     /* the frames */
    filter_graph idet; /* open from the first frame on that goes to it */
    /* All frames are allocated once, so that nothing is allocated in steady state. */
    AVFrame *seen, *luma;
    AVFrame *before;                            /* the latest frame put; without data: none yet */
    AVFrame *waiting[INTERLACE_DETECT_WAITING]; /* frame n at n % their number, once put */
    interlace_detect_sight sights[INTERLACE_DETECT_SIGHTS]; /* of frame n at n % their number */
    uint64_t put, judged, taken;                            /* frames so far; judged: by idet */
    uint32_t calm;     /* frames with motion since the last one with teeth */
    bool ended, found; /* found: fields, in any frame so far */
    pulldown pulldown; /* what the frames taken say of it */
} interlace_detect;

/* Opens a detector for frames like `like`. Frames are passed on without delay and not examined
 * unless fields are possible. Neither are frames larger than 1080i, as no interlaced format is
 * larger. Whether it succeeds or not, interlace_detect_close releases what there is. */
bool interlace_detect_open(interlace_detect *c, const AVFrame *like, bool possible,
                           interlace_known known, pipeline_error *error);

/* Takes over the frame's data. NULL: no more frames will come. */
bool interlace_detect_put(interlace_detect *c, AVFrame *frame, pipeline_error *error);

/* Returns the next frame, marked as interlaced if it looks so: >= 0; AVERROR(EAGAIN): put one more
 * first; AVERROR_EOF: there are no more. *found: it was marked here. */
int interlace_detect_get(interlace_detect *c, AVFrame *frame, bool *found);

/* Stops examining frames. */
void interlace_detect_stop(interlace_detect *c);

void interlace_detect_close(interlace_detect *c);

#endif
