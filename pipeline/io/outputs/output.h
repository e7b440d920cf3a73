// SPDX-License-Identifier: Apache-2.0
/* Where finished frames go: the encoder, the container and, in a run that can be resumed, the
 * segments in between.
 *
 * Without segments, packets go straight into the container, in step with the copies of the other
 * streams. With segments, the encoder is restarted for each of them, and the container is written
 * at the end, from the segments and a second reading of the input. */
#ifndef MONA_OUTPUT_H
#define MONA_OUTPUT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pipeline/io/codecs/encode.h"
#include "pipeline/io/sources/input.h"
#include "pipeline/io/outputs/mux.h"
#include "pipeline/io/outputs/picture_writer.h"
#include "pipeline/io/outputs/segments.h"

typedef struct output_settings {
    encoder_settings encoder;
    unsigned jpeg_quality;   /* as in job */
    mux_settings container;  /* format NULL: a still picture, into its result */
    input_settings input;    /* for the second reading */
    const atomic_bool *ends; /* as in job */
    uint64_t segment_frames; /* in each; 0: a few seconds' worth */
    uint64_t frames;         /* of the result at most; 0: all */
    unsigned warm_up;        /* frames that the stages need before a segment */
    segments_work work;      /* key NULL: without segments */
    bool join;               /* all segments must be there */
} output_settings;

typedef struct output_kind output_kind; /* a container, numbered pictures or a still one */

typedef struct output {
    const output_kind *kind;
    const output_settings *settings;
    input *in;
    encoder codec;
    mux container;
    segments parts;
    picture_writer pictures; /* used instead of encoder and container */
    unsigned segment;        /* the current one */
    uint64_t filled;         /* frames in it */
    int64_t end;             /* where the last frame ends */
    uint64_t frames, uneven; /* given; at other times than a constant rate's */
    bool told_captions, told_dynamic, told_fields;
    uint64_t bytes;              /* from the encoder */
    int64_t first;               /* time of the first frame */
    pthread_mutex_t lock;        /* of the container, which may be opened again */
    bool waits_for_key;          /* after that */
    uint64_t unsent, reconnects; /* packets of the video that found no connection; new ones */
} output;

/* settings and in must outlive the output. Whether it succeeds or not, output_close releases what
 * there is. */
bool output_open(output *o, const output_settings *settings, input *in, pipeline_error *error);

/* Whether there are segments. */
static inline bool output_cuts(const output *o)
{
    return o->settings->work.key;
}

/* Whether this run makes only a part of the result, which stays in segments. */
static inline bool output_is_part(const output *o)
{
    return o->settings->work.part.parts;
}

/* Takes the next frame, of this segment; 0 without segments. */
bool output_put(output *o, const AVFrame *frame, unsigned segment, pipeline_error *error);

/* Takes a packet of another stream. May be called from any thread. */
bool output_copy(output *o, AVPacket *packet, pipeline_error *error);

/* Call it when everything has been passed on: completes the output and gives it its name. */
bool output_finish(output *o, pipeline_error *error);

/* Fills a new encoder with at most so many copies of a frame, until it holds back as many as it
 * ever does. Changes the frame's time. Call it after output_finish. */
bool output_fill(output *o, AVFrame *frame, uint64_t most, pipeline_error *error);

void output_close(output *o);

#endif
