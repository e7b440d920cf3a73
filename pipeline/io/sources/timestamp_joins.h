// SPDX-License-Identifier: Apache-2.0
/* Makes one timeline from clocks that jump, as in broadcasts joined from recordings.
 *
 * In containers whose clock may jump (libav's AVFMT_TS_DISCONT), a new piece begins with a packet
 * that lies more than 0.1 s before the time that its stream had reached, or more than 10 s after
 * it. From there on, every timestamp is shifted so that this packet follows the previous one. */
#ifndef MONA_TIMESTAMP_JOINS_H
#define MONA_TIMESTAMP_JOINS_H

#include <stdbool.h>
#include <stdint.h>

#include <libavformat/avformat.h>

typedef struct timestamp_joins {
    int64_t *next; /* for each stream, AV_TIME_BASE units; AV_NOPTS_VALUE: no packet yet */
    unsigned streams;
    int64_t offset; /* AV_TIME_BASE units added to every timestamp */
    uint64_t jumps;
} timestamp_joins;

/* False: out of memory. */
bool timestamp_joins_open(timestamp_joins *t, const AVFormatContext *format);

/* Reading begins anew, elsewhere in a file without jumps. */
void timestamp_joins_forget(timestamp_joins *t);

/* Moves the packet onto the timeline. */
void timestamp_joins_place(timestamp_joins *t, const AVFormatContext *format, AVPacket *packet);

void timestamp_joins_close(timestamp_joins *t);

#endif
