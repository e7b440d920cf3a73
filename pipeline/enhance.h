// SPDX-License-Identifier: Apache-2.0
/* The main job: reads a file and writes an enhanced one. */
#ifndef MONA_ENHANCE_H
#define MONA_ENHANCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/image/orientation.h"
#include "pipeline/stages/chain.h"
#include "pipeline/io/codecs/encode.h"
#include "pipeline/io/sources/input.h"
#include "pipeline/io/codecs/sound.h"
#include "pipeline/io/outputs/segments.h"
#include "pipeline/base/error.h"
#include "pipeline/stages/probe.h"
#include "pipeline/stages/stage.h"

typedef struct live_counts {
    uint64_t arrived;    /* frames that came in */
    uint64_t dropped;    /* of these, left out as they were too late */
    uint64_t reconnects; /* new connections */
} live_counts;

/* The progress of a run, and what it takes. */
typedef struct enhance_report {
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
} enhance_report;

typedef struct enhance_settings {
    /* The input's name, its part, and how it is read. What follows from the rest of these settings
     * is set by the run: on_chip, quantisers, no_grain, low_latency, no_audio, keeps_matrix,
     * ends_early, chroma, photo and notes. */
    input_settings input;
    const char *output; /* "-": standard output */
    stage_kind kinds[CHAIN_MAX_STAGES];
    unsigned count;
    stage_settings stage;
    uint64_t frames;    /* at most this many; 0: all */
    const char *format; /* container of the output; NULL: from its name */
    /* Keep finished segments on disk, and continue from those found there if they are of the same
     * work. Of a part, they stay there. key NULL: do not. */
    segments_work resume;
    bool join;               /* only put segments together, all of which are there */
    uint64_t segment_frames; /* in each; 0: a few seconds' worth */
    sound_choice sound;
    bool drop_unsupported; /* leave out what the container cannot hold, rather than fail */
    encoder_choice encoder;
    unsigned jpeg_quality; /* of pictures, 1 to 100; 0: as stills.h chooses */
    pipeline_notes notes;
    /* Called in the caller's thread before the first frame and after each one; may be NULL. */
    void (*progress)(void *context, const enhance_report *report);
    void *progress_context;
    /* Called once the size of a video is known, as it is shown; may change the stages of these
     * settings. False: the run ends. May be NULL. */
    bool (*sized)(void *context, uint32_t width, uint32_t height, pipeline_error *error);
    void *sized_context;
    double max_delay; /* of a live stream: seconds that a frame may be late before it is left out */
    /* A trial of few frames: the encoder is then given at most so many again, until it holds as
     * many as it does in a long film, so that it takes the memory that it does there. 0: not a
     * trial. */
    uint64_t fill;
    bool plan;                   /* of a still picture: only report sizes and memory, or refuse */
    const pipeline_probe *probe; /* NULL: none */
    /* Any thread may set it: a video ends after the frames that were read so far, and is complete.
     * NULL: nothing does. */
    const atomic_bool *ends;
} enhance_settings;

/* The name of a stage's network, or of what takes its place. */
static inline const char *enhance_network(const enhance_settings *s, unsigned stage)
{
    const stage_row *row = stage_row_of(s->kinds[stage]);
    return row->network ? row->network(&s->stage, stage) : stage_name(s->kinds[stage]);
}

/* A result so many times larger than its input surprises people, so it is mentioned. */
enum { ENHANCE_MANY_TIMES = 4 };

/* File to file; stage.still: a still picture to a PNG, JPEG or WebP. The output appears under its
 * name only when it is complete. */
bool enhance_run(const enhance_settings *settings, enhance_report *report, pipeline_error *error);

#endif
