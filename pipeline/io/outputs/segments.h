// SPDX-License-Identifier: Apache-2.0
/* Encoded video that is kept on disk in pieces, so that an interrupted run can go on and several
 * runs can share a film.
 *
 * A folder NAME.resume beside the output holds a file `work`, which says what is done with which
 * film and where it is cut (cuts.h), and one file for each segment that is complete. A segment is
 * made by one run of the encoder and depends on nothing but the work, so it is the same whoever
 * makes it. Each file appears under its name only when it is complete, so runs that make the same
 * one do not disturb each other, and what is done is what is there. */
#ifndef MONA_SEGMENTS_H
#define MONA_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <libavcodec/avcodec.h>

#include "pipeline/base/error.h"
#include "pipeline/io/sources/cuts.h"

enum { SEGMENTS_SUM = 16 }; /* bytes of an MD5 */

/* Which of a film's segments a run makes: those of part `part` of `parts`; parts 0: all of them. */
typedef struct segments_part {
    unsigned part, parts;
} segments_part;

/* The work, as one line each. key: all that the encoded frames depend on. words: the same with the
 * names of files. */
typedef struct segments_work {
    const char *key, *words;
    segments_part part;
} segments_work;

typedef struct segments {
    char *folder;
    int lock; /* of `work`; shared, where a run makes a part only */
    segments_part part;
    uint8_t key[SEGMENTS_SUM]; /* the sum of the work's key */
    cuts cuts;
    unsigned first, end;    /* the segments of this run */
    uint8_t *found;         /* the condition of each segment of this run */
    unsigned parts;         /* that whole ones were made as; 0: none says */
    uint64_t frames;        /* in those of this run that are done */
    unsigned kept, damaged; /* of these, that were there when it began; found unusable */
    struct AVMD5 *sum;      /* of the segment being written or checked */
    FILE *file;             /* the segment being written or read; NULL: none */
    char *writing;          /* its temporary name, until it is complete */
    unsigned reading;       /* the segment being read */
    long read_end;          /* where its packets end */
} segments;

/* Opens or creates the folder for the output called name. If it exists, work must match the one
 * that was begun, and finds what is done. find: how the film is cut, if nobody knows yet. Whether
 * it succeeds or not, segments_close releases what there is. */
typedef bool (*segments_find)(void *context, cuts *c, pipeline_error *error);
bool segments_open(segments *s, const char *name, const segments_work *work, segments_find find,
                   void *context, pipeline_error *error);

/* The words of the work for the output called name, which the caller frees. NULL: failed. */
char *segments_words(const char *name, pipeline_error *error);

/* Whether an earlier run for the output called name left work behind. */
bool segments_exist(const char *name);

/* The path of a file in the folder. The caller frees it. NULL: out of memory. */
char *segments_path(const segments *s, const char *name);

/* Appends a packet to segment `number`; starts it with the first packet. */
bool segments_write(segments *s, unsigned number, const AVPacket *packet, pipeline_error *error);

/* Completes segment `number`, which has this many frames and ends at end. It may have no packet. */
bool segments_seal(segments *s, unsigned number, uint64_t frames, int64_t end,
                   pipeline_error *error);

/* Whether a segment of this run is there, and whole. */
bool segments_has(const segments *s, unsigned number);

/* Whether the whole film was there when it was opened by a run of all parts; if not, says what is
 * missing, damaged or foreign. */
bool segments_check(const segments *s, pipeline_error *error);

/* Reads all packets of all segments in order. 1: one packet; 0: no more; -1: failed. */
int segments_read(segments *s, AVPacket *packet, pipeline_error *error);

/* Where the last frame of all segments ends, in the encoder's time base. */
bool segments_end(segments *s, int64_t *end, pipeline_error *error);

/* Removes the folder and everything in it that segments wrote; a file of somebody else keeps it.
 * False, with errno: it cannot be removed. */
bool segments_remove(segments *s);

void segments_close(segments *s);

#endif
