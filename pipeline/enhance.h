// SPDX-License-Identifier: Apache-2.0
/* The main job: reads a file and writes an enhanced one. */
#ifndef MONA_ENHANCE_H
#define MONA_ENHANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/job/job.h"

typedef struct live_counts {
    uint64_t arrived;    /* frames that came in */
    uint64_t dropped;    /* of these, left out as they were too late */
    uint64_t reconnects; /* new connections */
} live_counts;

/* The progress of a run, and what it takes. */
struct enhance_report {
    uint32_t in_width, in_height, out_width, out_height;
    size_t engine_bytes, frame_bytes; /* sessions; frame pool */
    uint64_t frames, expected;        /* expected 0: unknown */
    orientation turned;               /* how frames were turned before anything else */
    fields_mode made;                 /* how fields have changed the number of frames */
    uint64_t resumed;                 /* of the frames, those that earlier runs finished */
    float noise; /* in the last frame, standard deviation in 8-bit steps; negative: not measured */
    float compression;          /* the last frame's, as far as it counted as noise; 0: none */
    char encoder[ENCODER_TEXT]; /* libav's encoder and its options; "": none, for pictures */
    input_faults faults;        /* of the input so far */
    uint64_t clock_jumps, moved_packets; /* joined; did not ascend; set when done */
    /* Of a live stream: */
    live_counts live;   /* so far */
    uint64_t latency;   /* nanoseconds from the last frame's packet in to its packet out */
    uint64_t undecoded; /* of the frames that came in; set when done */
    double time;        /* of the last frame, in seconds from the beginning */
};

/* A result so many times larger than its input surprises people, so it is mentioned. */
enum { ENHANCE_MANY_TIMES = 4 };

/* File to file; stage.still: a still picture to a PNG, JPEG or WebP. The output appears under its
 * name only when it is complete. */
bool enhance_run(const job *j, enhance_report *report, pipeline_error *error);

#endif
