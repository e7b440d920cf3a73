// SPDX-License-Identifier: Apache-2.0
/* Encoded video that is kept on disk in pieces, so that an interrupted run can be resumed.
 *
 * A folder NAME.resume beside the output holds one file for each segment, and a journal that is
 * only ever appended to: one line that describes the work, then one for each segment that is
 * complete and flushed to disk. A segment is a fixed number of frames from one run of the encoder,
 * so it is the same whenever it is made. */
#ifndef MONA_SEGMENTS_H
#define MONA_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <libavcodec/avcodec.h>

#include "pipeline/stages/chain.h"
#include "pipeline/base/error.h"

typedef struct segments {
    char *folder;
    int lock; /* the journal's descriptor, locked: only one run at a time */
    FILE *journal;
    struct AVMD5 *sum;   /* of the segment being written or checked, and its line of the journal */
    FILE *file;          /* the segment being written or read; NULL: none */
    unsigned count;      /* complete segments */
    unsigned reading;    /* the segment being read */
    uint64_t frames;     /* in the complete ones */
    int64_t end;         /* where their last frame ends, in the encoder's time base */
    chain_memory memory; /* of the chain after these frames */
} segments;

/* Opens or creates the folder for the output called name. work: one line, which must match the
 * journal's to resume. Whether it succeeds or not, segments_close releases what there is. */
bool segments_open(segments *s, const char *name, const char *work, pipeline_error *error);

/* Whether an earlier run for the output called name left work behind. */
bool segments_exist(const char *name);

/* The path of a file in the folder. The caller frees it. NULL: out of memory. */
char *segments_path(const segments *s, const char *name);

/* Appends a packet to the segment being written; starts one if there is none. */
bool segments_write(segments *s, const AVPacket *packet, pipeline_error *error);

/* Completes the segment, which has this many frames and ends at end; memory is the chain's after
 * it. */
bool segments_seal(segments *s, uint64_t frames, int64_t end, const chain_memory *memory,
                   pipeline_error *error);

/* Reads all packets of all segments in order. 1: one packet; 0: no more; -1: failed. */
int segments_read(segments *s, AVPacket *packet, pipeline_error *error);

/* Removes the folder and everything in it. */
void segments_remove(segments *s);

void segments_close(segments *s);

#endif
