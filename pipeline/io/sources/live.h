// SPDX-License-Identifier: Apache-2.0
/* Reads live streams, which need more than files: a clock for the lateness of frames, the arrival
 * times of packets, and connections that break and are made again.
 *
 * Streams are described by copies, `described`, which outlive a connection; packets are read from
 * `connection` and get times on one timeline. */
#ifndef MONA_LIVE_H
#define MONA_LIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <libavformat/avformat.h>

#include "pipeline/base/error.h"
#include "pipeline/io/containers/url.h"

enum { LIVE_MARKS = 256 };

typedef struct live_settings {
    const url *url;          /* NULL: a file or a pipe, which is never opened again */
    const char *path;        /* for messages */
    const char *address;     /* for libav; need not outlive live_open */
    double max_streams;      /* 0: as many as libav takes */
    double max_pixels;       /* of a frame; likewise */
    const char *list;        /* of a file: what list of files it may be, as of media_guard */
    double stall;            /* seconds without data after which a connection counts as broken */
    double patience;         /* seconds in which it must come back; 0: it is not tried */
    const atomic_bool *ends; /* gives up waiting; NULL: nothing does */
    const pipeline_notes *notes;
} live_settings;

/* When the packet with a timestamp came in. */
typedef struct live_mark {
    int64_t pts;
    uint64_t arrived;
} live_mark;

typedef struct live {
    live_settings settings;
    AVFormatContext *connection;
    AVFormatContext *described; /* what the rest of the program sees; not opened */
    bool bursts;                /* packets come in files of seconds, so none is late */
    bool restarted;             /* connected, and no key frame has come since */
    bool skipping;              /* packets of the video, up to the next key frame */
    bool rebases;               /* connected again, and no packet has come since */
    uint64_t deadline;          /* clock_ns() after which libav gives up a call */
    int64_t offset;             /* AV_TIME_BASE units from a packet's time to the timeline's */
    int64_t reached;            /* the latest time on it, */
    uint64_t reached_at;        /* and when that was read */
    uint64_t opened, examined;  /* when the connection was begun, and its streams were known */
    int64_t first;              /* the time of its first packet on the timeline */
    bool has_first;
    bool caught_up; /* a packet since then had to be waited for: nothing lies unread */
    double base;    /* ns: the least of arrival minus time, which follows drift */
    bool has_base;
    uint64_t based_at; /* when base was looked at */
    live_mark marks[LIVE_MARKS];
    unsigned marked;
    uint64_t reconnects;
} live;

/* All that follow may be asked of a zeroed one, which is not late, behind or bursting. */

/* How many nanoseconds later than the earliest packets this one would be, if it came now. */
double live_lag(const live *l, int64_t dts, AVRational time_base);

/* Whether packets that came while the streams were examined are still being read, a second later.
 * Until they are, live_lag does not know how late they are. */
bool live_behind(const live *l);

/* When the packet of a frame came in; now, if that is not known. */
uint64_t live_arrival(const live *l, int64_t pts);

#endif
