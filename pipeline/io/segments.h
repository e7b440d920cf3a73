// SPDX-License-Identifier: Apache-2.0
/* Encoded video kept on disk in pieces, so that a run that was ended can go on.
 *
 * Beside the output lies a folder NAME.resume with one file for each segment and a journal, which
 * is only ever appended to: a line about what the work is, then a line for each segment that is
 * complete and durable. A segment is what one run of the encoder made of a fixed number of frames;
 * it therefore comes out the same whenever it is made. */
#ifndef MONA_SEGMENTS_H
#define MONA_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <libavcodec/avcodec.h>

#include "pipeline/stages/chain.h"
#include "pipeline/error.h"

typedef struct segments {
    char *folder;
    int lock; /* the journal's descriptor: one run at a time */
    FILE *journal;
    FILE *file;          /* the segment that is written or read; NULL: none */
    unsigned count;      /* complete segments */
    unsigned reading;    /* the one that is read */
    uint64_t frames;     /* in the complete ones */
    int64_t end;         /* where their last frame ends, in the encoder's time base */
    chain_memory memory; /* of the chain after them */
} segments;

/* Opens or makes the folder for the output called name. work: what has to be the same to go on, one
 * line. Whether it succeeds or not, segments_close releases what there is. */
bool segments_open(segments *s, const char *name, const char *work, pipeline_error *error);

/* Whether a run on the result called name has left work behind. */
bool segments_exist(const char *name);

/* A file name in the folder; the caller frees it. NULL: out of memory. */
char *segments_path(const segments *s, const char *name);

/* Appends a packet to the segment that is being written, and begins one if there is none. */
bool segments_write(segments *s, const AVPacket *packet, pipeline_error *error);

/* The segment is complete, with frames that end at end; memory is the chain's after it. */
bool segments_seal(segments *s, uint64_t frames, int64_t end, const chain_memory *memory,
                   pipeline_error *error);

/* Reads all packets of all segments in order. 1: one; 0: that was all; -1: failed. */
int segments_read(segments *s, AVPacket *packet, pipeline_error *error);

/* Removes the folder and everything in it. */
void segments_remove(segments *s);

void segments_close(segments *s);

#endif
