// SPDX-License-Identifier: Apache-2.0
/* One timeline out of clocks that jump, as broadcasts' do where recordings were joined.
 *
 * In containers whose clock may jump (libav's AVFMT_TS_DISCONT) a packet that lies more than ten
 * seconds off where its stream had come to, or before it, begins a new piece: from there on every
 * timestamp moves by as much as makes that packet follow. */
#ifndef MONA_TIMESTAMP_JOINS_H
#define MONA_TIMESTAMP_JOINS_H

#include <stdbool.h>
#include <stdint.h>

#include <libavformat/avformat.h>

typedef struct timestamp_joins {
    int64_t *next; /* of each stream, AV_TIME_BASE units; AV_NOPTS_VALUE: nothing came yet */
    unsigned streams;
    int64_t offset; /* AV_TIME_BASE units added to every timestamp */
    uint64_t jumps;
} timestamp_joins;

/* False: out of memory. */
bool timestamp_joins_open(timestamp_joins *t, const AVFormatContext *format);

/* Moves the packet onto the timeline. */
void timestamp_joins_place(timestamp_joins *t, const AVFormatContext *format, AVPacket *packet);

void timestamp_joins_close(timestamp_joins *t);

#endif
