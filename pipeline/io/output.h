// SPDX-License-Identifier: Apache-2.0
/* Where finished frames go: the encoder, the container, and in a run that can be resumed the
 * segments between them.
 *
 * Without segments packets go straight into the container, in step with the copies of the other
 * streams. With segments the encoder starts anew every so many frames, and the container is filled
 * at the end, from the segments and a second reading of the input. */
#ifndef MONA_OUTPUT_H
#define MONA_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/io/encode.h"
#include "pipeline/io/input.h"
#include "pipeline/io/mux.h"
#include "pipeline/image/picture_writer.h"
#include "pipeline/io/segments.h"

typedef struct output_settings {
    encoder_settings encoder;
    mux_settings container;
    input_settings input; /* for the second reading */
    bool segmented;
    uint64_t segment_frames; /* in each; 0: some seconds' worth */
    const char *work;        /* of segments_open */
} output_settings;

typedef struct output {
    const output_settings *settings;
    const input *in;
    encoder codec;
    mux container;
    segments parts;
    picture_writer pictures; /* in place of encoder and container */
    uint64_t length, filled; /* frames of a segment; in the one that is being made */
    int64_t end;             /* where the last frame ends */
    uint64_t frames, uneven; /* given; not where the frame rate alone would put them */
    int64_t first;           /* time of the first */
} output;

/* settings and in must outlive it. Whether it succeeds or not, output_close releases what there is.
 */
bool output_open(output *o, const output_settings *settings, const input *in,
                 pipeline_error *error);

/* Frames that earlier runs have finished; 0 without segments. */
uint64_t output_done(const output *o);

/* The next frame; after: the chain's memory, needed where segments are. */
bool output_put(output *o, const AVFrame *frame, const chain_memory *after, pipeline_error *error);

/* A packet of another stream. Any thread. */
bool output_copy(output *o, AVPacket *packet, pipeline_error *error);

/* Everything is there: the output gets its name. */
bool output_finish(output *o, const chain_memory *after, pipeline_error *error);

void output_close(output *o);

#endif
