// SPDX-License-Identifier: Apache-2.0
/* One timeline out of clocks that jump, as broadcasts' do where recordings were joined.
 *
 * In containers whose clock may jump (libav's AVFMT_TS_DISCONT) a packet that lies more than ten
 * seconds off where its stream had come to, or before it, begins a new piece: from there on every
 * timestamp moves by as much as makes that packet follow. */
#ifndef MONA_TIMELINE_H
#define MONA_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include <libavformat/avformat.h>

typedef struct timeline {
    int64_t *next; /* of each stream, AV_TIME_BASE units; AV_NOPTS_VALUE: nothing came yet */
    unsigned streams;
    int64_t offset; /* AV_TIME_BASE units added to every timestamp */
    uint64_t jumps;
} timeline;

/* False: out of memory. */
bool timeline_open(timeline *t, const AVFormatContext *format);

/* Moves the packet onto the timeline. */
void timeline_place(timeline *t, const AVFormatContext *format, AVPacket *packet);

void timeline_close(timeline *t);

#endif
