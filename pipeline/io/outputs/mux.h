// SPDX-License-Identifier: Apache-2.0
/* The output container: one enhanced video stream, and everything else unchanged. */
#ifndef MONA_MUX_H
#define MONA_MUX_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "pipeline/base/error.h"
#include "pipeline/base/outfile.h"
#include "pipeline/io/codecs/sound.h"
#include "pipeline/io/codecs/subtitles.h"

/* A stream of the input. */
typedef struct mux_stream {
    AVStream *to;         /* in the output; NULL: it is not copied */
    subtitles *converted; /* NULL, as below: its packets are copied */
    sound *encoded;
    int64_t last_dts, step; /* of the copies, in the time base of `to`; 0: no step yet */
    unsigned form;          /* of AAC's first packet: profile, rate and channels; 0: none yet */
    bool told_form;         /* another packet had others */
} mux_stream;

typedef struct mux {
    const char *name; /* of the output, for messages */
    int descriptor;   /* of the file's part; -1: it is not open */
    int fault;        /* the first error of writing to it, as of libav; 0: none */
    outfile file;     /* a file without a part is standard output */
    const AVFormatContext *input;
    AVFormatContext *format;
    AVStream *video;
    mux_stream *streams; /* as many as the input had when this was opened */
    unsigned stream_count;
    sound_choice sound;
    uint64_t moved;         /* copies whose timestamps did not ascend */
    int loops;              /* of a GIF, as picture_writer.h says */
    int64_t video_duration; /* of the latest frame */
    int64_t video_dts;      /* of the latest frame written, in its stream's time base */
    uint64_t hasty;         /* frames of a GIF that players show longer than it says */
    uint64_t merged;        /* frames that a coarse clock gives the time of the one before */
    const pipeline_notes *notes;
    uint64_t deadline;    /* clock_ns() after which a network is given up */
    bool live;            /* packets are written as they come */
    bool cuts;            /* leave out what an edit cut away: there are no edit lists */
    pthread_mutex_t lock; /* decoder and encoder threads both write packets */
} mux;

typedef struct mux_settings {
    const char *path;             /* "-": standard output */
    const char *part;             /* passed to outfile_open */
    bool keep;                    /* the same */
    const AVOutputFormat *format; /* from mux_format */
    const char *input_path;
    int64_t shift; /* AV_TIME_BASE units that were subtracted from every timestamp of the input */
    int64_t start; /* in the input's time, the same unit; INT64_MIN: nothing was left out */
    int64_t end;   /* in the input's time, AV_TIME_BASE units; INT64_MAX: no end */
    bool drop;     /* leave out what the container cannot hold */
    bool flush;    /* write each packet at once */
    bool live;     /* and none waits for those of other streams; the file is complete at any time */
    sound_choice sound;
    const pipeline_notes *notes;
} mux_settings;

/* Finds the container called name (-f), or the one that the file name stands for. "-" alone stands
 * for y4m, and a pattern for numbered pictures (picture_writer.h), which a mux does not write.
 * NULL: none, or none that holds mona's video in one file. */
const AVOutputFormat *mux_format(const char *path, const char *name, pipeline_error *error);

/* Creates the temporary file and writes the header: streams in the input's order, with their
 * metadata, dispositions, side data and chapters. encoder describes the video that replaces
 * `video`. Whether it succeeds or not, mux_close releases what there is. */
bool mux_open(mux *m, const mux_settings *settings, const AVFormatContext *input,
              const AVStream *video, const AVCodecContext *encoder, pipeline_error *error);

/* Writes a packet of an input stream, with the input's index and timestamps. May be called from any
 * thread. */
bool mux_copy(mux *m, AVPacket *packet, pipeline_error *error);

/* Writes a packet of the encoder; timestamps in time_base. May be called from any thread. */
bool mux_write(mux *m, AVPacket *packet, AVRational time_base, pipeline_error *error);

/* Writes the trailer, flushes the file to disk and gives it its name. */
bool mux_finish(mux *m, pipeline_error *error);

/* Removes the temporary file if mux_finish did not succeed. */
void mux_close(mux *m);

/* Metadata names and marks that containers cannot store.
 *
 * QuickTime's containers store either a fixed set of names that every player knows, or any names
 * but then no cover. */

/* Whether the file's own tags need the second way and there is no cover. */
bool metadata_support_any_name(const AVFormatContext *output);

/* Gives a language the other one of its two codes where the container knows only that: deu, ger. */
bool metadata_support_suit_language(AVDictionary **tags, const AVOutputFormat *format);

/* Reports the tags and dispositions that will be lost when output is written as name: the first one
 * of the file and of each stream. */
void metadata_support_tell_lost(const AVFormatContext *output, const char *name,
                                const pipeline_notes *notes);

/* Edit lists, for containers that have none: all but QuickTime's.
 *
 * QuickTime files hold packets from before the start of the presentation, which is at 0. A decoder
 * needs the last of them to warm up; all others were cut away by an edit. Copied into a container
 * of the same family, they keep this meaning. Other containers would play them, and may hold
 * nothing before 0. For these, packets that were cut away are left out, and everything is delayed
 * by the warm-up time, unless the container can store that time elsewhere. */

/* Whether an edit cut the packet away. Its times are the input's own. */
bool edit_list_cuts(const AVPacket *packet, const AVStream *stream);

/* How many microseconds everything has to move for the streams that format holds, in whole
 * milliseconds, once shift of AV_TIME_BASE units has been subtracted. */
int64_t edit_list_lead(const AVFormatContext *input, const AVStream *video,
                       const AVOutputFormat *format, int64_t shift);

#endif
