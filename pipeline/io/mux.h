// SPDX-License-Identifier: Apache-2.0
/* The output container: one enhanced video stream, everything else as it was. */
#ifndef MONA_MUX_H
#define MONA_MUX_H

#include <pthread.h>
#include <stdbool.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "pipeline/error.h"
#include "pipeline/io/outfile.h"
#include "pipeline/io/subtitles.h"

typedef struct mux {
    const char *name; /* of the output, for messages */
    outfile file;     /* without a part: standard output */
    const AVFormatContext *input;
    AVFormatContext *format;
    AVStream *video;
    int *stream_of;           /* output stream of each input stream, -1: not copied */
    AVRational *time_base_of; /* time base of each input stream */
    subtitles **converted;    /* of each input stream; NULL: its packets are copied */
    int64_t *last_dts;        /* of each output stream's copies, in its time base */
    uint64_t moved;           /* copies whose timestamps did not ascend */
    int64_t video_dts;        /* of the latest frame written, in its stream's time base */
    uint64_t merged;          /* frames at the time of the one before: the clock is too coarse */
    const pipeline_notes *notes;
    unsigned input_streams;
    bool cuts;            /* what an edit cut away is left out, as the container has no edits */
    pthread_mutex_t lock; /* decoder and encoder threads both write packets */
} mux;

typedef struct mux_settings {
    const char *path;             /* "-": standard output */
    const char *part;             /* of outfile_open */
    const AVOutputFormat *format; /* of mux_format */
    const char *input_path;
    int64_t shift; /* AV_TIME_BASE units taken off every timestamp of the input */
    int64_t end;   /* in the input's time, AV_TIME_BASE units; INT64_MAX: all is wanted */
    bool drop;     /* leave out what the container cannot hold */
    bool flush;    /* packets are not gathered */
    const pipeline_notes *notes;
} mux_settings;

/* The container called name (-f), or the one a file name stands for; "-" alone stands for y4m, a
 * pattern for numbered pictures (picture_writer.h), which a mux does not write.
 * NULL: none, or none that holds video of mona's in one file. */
const AVOutputFormat *mux_format(const char *path, const char *name, pipeline_error *error);

/* Creates the temporary file and the header: streams in the input's order, with their metadata,
 * dispositions, side data and chapters; encoder describes the video that replaces video. Whether it
 * succeeds or not, mux_close releases what there is. */
bool mux_open(mux *m, const mux_settings *settings, const AVFormatContext *input,
              const AVStream *video, const AVCodecContext *encoder, pipeline_error *error);

/* Writes a packet of an input stream (index and timestamps as in the input). Any thread. */
bool mux_copy(mux *m, AVPacket *packet, pipeline_error *error);

/* Writes a packet of the encoder; timestamps in time_base. Any thread. */
bool mux_write(mux *m, AVPacket *packet, AVRational time_base, pipeline_error *error);

/* Writes the trailer, makes the file durable and gives it its name. */
bool mux_finish(mux *m, pipeline_error *error);

/* Removes the temporary file if mux_finish did not succeed. */
void mux_close(mux *m);

#endif
