// SPDX-License-Identifier: Apache-2.0
/* Where a film is cut into segments that are enhanced each on its own, by whichever run or machine.
 *
 * The cuts follow from the film and from what is asked of the run alone. Before each segment the
 * film is entered anew: at a key frame that lies some frames before, from which decoding, the
 * search for fields and the stages get used to it. Where their length is not given, segments begin
 * no further behind one than that takes. So a segment has the same frames whether
 * the run made the ones before it or not.
 *
 * A film that cannot be searched is read from its beginning instead, and so is one with so few key
 * frames that entering it would cost more: without the times of all frames, with a clock that
 * jumps, or with frames that are counted (--frames, --fields film). */
#ifndef MONA_CUTS_H
#define MONA_CUTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pipeline/base/error.h"
#include "pipeline/io/sources/input.h"

typedef struct cut {
    int64_t begin;   /* pts of its first frame, as of input_next; INT64_MIN: the film's beginning */
    int64_t entry;   /* as of input_enter */
    uint64_t frames; /* packets of the video, about as many frames */
} cut;

typedef struct cuts {
    cut *at;
    unsigned count;         /* at least 1 */
    bool searchable;        /* else the film is read from its beginning */
    interlace_known fields; /* of interlaced frames that are not marked, as far as was looked */
} cuts;

typedef struct cuts_wish {
    uint64_t frames; /* in a segment; more, up to the first place behind a key frame */
    bool exact;      /* no more */
    uint64_t limit;  /* frames of the result; 0: all */
    unsigned lead;   /* frames that the stages need before a segment */
} cuts_wish;

/* Reads through the film. Whether it succeeds or not, cuts_free releases what there is. */
bool cuts_find(cuts *c, const input_settings *film, const cuts_wish *wish, pipeline_error *error);

/* As lines of text, and back. False: that is no such text. */
void cuts_print(const cuts *c, FILE *file);
bool cuts_parse(cuts *c, const char *text);

/* The segment of a frame, searched from `from`, where that of an earlier one lies. */
unsigned cuts_of(const cuts *c, int64_t pts, unsigned from);

void cuts_free(cuts *c);

#endif
