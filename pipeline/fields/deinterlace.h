// SPDX-License-Identifier: Apache-2.0
/* Deinterlaces frames with libavfilter's bwdif: one frame out for each frame in, at the same time,
 * or one for each field. Or restores film that 3:2 pull-down has made into fields, with its
 * fieldmatch and decimate: four frames out for five in. */
#ifndef MONA_DEINTERLACE_H
#define MONA_DEINTERLACE_H

#include <stdbool.h>

#include <libavutil/frame.h>

#include "pipeline/base/error.h"
#include "pipeline/base/filter_graph.h"
#include "pipeline/base/words.h"

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

#endif
