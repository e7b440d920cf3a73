// SPDX-License-Identifier: Apache-2.0
/* Finds interlaced frames from the decoder, marked or not, reports them and deinterlaces them, or
 * restores the frames of a film from them. */
#ifndef MONA_FIELDS_H
#define MONA_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include <libavutil/frame.h>

#include "pipeline/base/error.h"
#include "pipeline/base/filter_graph.h"
#include "pipeline/base/words.h"

/* Finds, from their samples, interlaced frames that are not marked as such.
 *
 * A frame that mixes two moments shows comb teeth where something moves: a row differs from both
 * neighbours and agrees with the rows two away. libavfilter's idet finds the order in which the
 * fields were taken, but it also sees fields in some progressive frames, such as test patterns;
 * there the teeth decide. A frame is judged together with the eight frames before it and the eight
 * after it. */

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

/* Deinterlaces frames with libavfilter's bwdif: one frame out for each frame in, at the same time,
 * or one for each field. Or restores film that 3:2 pull-down has made into fields, with its
 * fieldmatch and decimate: four frames out for five in. */

#define FIELDS_WORDS(FIRST, NEXT)                                                                  \
    FIRST(FIELDS_SINGLE, "single") NEXT(FIELDS_DOUBLE, "double") NEXT(FIELDS_FILM, "film")
typedef enum fields_mode { WORDS_ENUM(FIELDS_WORDS) FIELDS_MODES } fields_mode;

typedef struct fields_kind {
    const char *filters; /* libavfilter's, but for the field that comes first */
    AVRational made;     /* frames made of each frame */
    const char *told; /* of a result in which it changed the number of frames; NULL: it does not */
} fields_kind;

extern const fields_kind fields_kinds[FIELDS_MODES];

enum {
    DEINTERLACE_CYCLE = 5, /* frames of film with pull-down, of which one is left out */
    DEINTERLACE_ON_WAY = 4 * DEINTERLACE_CYCLE,
    /* Bytes. At this rate a frame brings at most 20 captions, of 3 bytes, and takes 31. */
    DEINTERLACE_CAPTIONS = 2 * DEINTERLACE_CYCLE * 3 * 31
};

/* What a frame's samples do not tell, while they are in the filters. */
typedef struct deinterlace_frame {
    int64_t pts, duration;
    AVBufferRef *captions; /* NULL: none */
} deinterlace_frame;

typedef struct deinterlacer {
    filter_graph filters;
    fields_mode mode;
    AVRational time_base;
    int64_t last_pts;
    /* Of FIELDS_FILM: */
    uint64_t put, got, told; /* frames; told: those whose captions are in `captions` */
    bool ended;
    deinterlace_frame on_way[DEINTERLACE_ON_WAY]; /* frame n at n % their number, once put */
    uint8_t captions[DEINTERLACE_CAPTIONS];       /* those due and not yet with a frame */
    size_t captions_size;
} deinterlacer;

/* Opens a deinterlacer for frames like `like`, whose pts count in time_base; path is for
 * messages. top_first: of film, whose frames are not marked. Frames that are not marked as
 * interlaced pass unchanged, but in FIELDS_FILM. Whether it succeeds or not, deinterlace_close
 * releases what there is. */
bool deinterlace_open(deinterlacer *d, const char *path, const AVFrame *like, AVRational time_base,
                      fields_mode mode, bool top_first, pipeline_error *error);

/* Takes over the frame's data. NULL: no more frames will come. */
bool deinterlace_put(deinterlacer *d, AVFrame *frame, pipeline_error *error);

/* Returns the next frame: >= 0; AVERROR(EAGAIN): put one more first; AVERROR_EOF: there are no
 * more. */
int deinterlace_get(deinterlacer *d, AVFrame *frame);

void deinterlace_close(deinterlacer *d);

/* Both together. */

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
