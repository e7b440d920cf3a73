// SPDX-License-Identifier: Apache-2.0
/* Where an input comes from: a table of what can be read, and how. A kind is chosen once, by
 * source_open; whoever reads asks its row. */
#ifndef MONA_SOURCE_H
#define MONA_SOURCE_H

#include <libavutil/frame.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "pipeline/base/error.h"
#include "pipeline/io/sources/live.h"
#include "pipeline/io/sources/picture_list.h"
#include "pipeline/image/orientation.h"
#include "pipeline/image/stills.h"
#include "pipeline/stages/frame.h"

/* A still picture as a film of one frame. Its planes are luma and chroma of full range and full
 * resolution, with enough bits that only the result is rounded. Clean pictures pass the denoiser
 * unchanged, so that the result is the same as without it. */

typedef struct still_input {
    const char *path, *result; /* the files; result NULL: there is no picture */
    still_wish wish;
    still image;
    bool keep;  /* as in outfile_open */
    bool given; /* as a frame */
} still_input;

/* Whether the result can hold the picture in this size. */
bool still_input_check(const still_input *p, mona_size size, pipeline_error *error);

frame_format still_input_format(const still_input *p);

/* What the picture takes while it is worked on, as it is and as a frame. */
size_t still_input_bytes(const still_input *p);

/* How viewers turn the picture. */
orientation still_input_orientation(const still_input *p);

/* Writes a frame that was made of the picture's, with its channels and its metadata. jpeg_quality,
 * threads: as in still_output. */
bool still_input_write(still_input *p, const AVFrame *whole, const AVFrame *made,
                       unsigned jpeg_quality, unsigned threads, pipeline_error *error);

typedef enum input_result { INPUT_FRAME, INPUT_END, INPUT_FAILED } input_result;

typedef struct input_settings input_settings;
typedef struct source_kind source_kind;

typedef struct source {
    const source_kind *kind;
    const char *path; /* for messages */
    const pipeline_notes *notes;
    AVFormatContext *format; /* describes the streams */
    double max_streams;      /* of it; 0: as many as libav takes, 1000 */
    double max_pixels;       /* of a frame; 0: as many as libav can count */
    bool faulty;             /* libav found a fault in the description */
    /* What each kind remembers: */
    live live;
    picture_list pictures;
    still_input still;
    /* What a still picture has in place of a file's description; libav never sees it, so nothing of
     * it is opened. */
    struct {
        AVFormatContext format;
        AVStream video, *streams[1];
        AVCodecParameters coded;
    } described;
} source;

struct source_kind {
    bool (*is)(const input_settings *settings);
    /* Sets format. */
    bool (*open)(source *s, const input_settings *settings, pipeline_error *error);
    /* Reads a packet; returns a code of libav, final if it is none of damage. */
    int (*next)(source *s, AVPacket *packet);
    /* Makes a frame, which is not coded, in place of packets; NULL: packets come. */
    input_result (*frame)(source *s, AVFrame *frame, pipeline_error *error);
    /* Goes to a key frame at or before time, in AV_TIME_BASE units; NULL: only forward. */
    void (*seek)(source *s, const AVStream *video, int64_t time);
    /* Whether a packet of the video is left out; NULL: none is. */
    bool (*skips)(source *s, AVPacket *packet, AVRational tick, AVCodecContext *decoder);
    void (*close)(source *s);
    bool timed;    /* packets come when they come, and only once; the last one may be missing */
    bool separate; /* each frame is a file of its own */
};

extern const source_kind source_container, source_raw, source_pictures, source_live, source_still;

/* Whether there is a file of this name that can be read, if the name stands for one. */
bool source_check(const char *path, pipeline_error *error);

/* Whether it succeeds or not, source_close releases what there is. */
bool source_open(source *s, const input_settings *settings, const pipeline_notes *notes,
                 pipeline_error *error);

/* The name of the file that the last packet came from. */
const char *source_file(const source *s, char *name, size_t size);

/* Bytes of the file; 0: unknown, or there are many. */
int64_t source_bytes(const source *s);

void source_close(source *s);

/* ---- for kinds that libav reads -------------------------------------------------------------- */

enum { SOURCE_ADDRESS = 4096 };

/* Checks the file, and writes the address by which libav opens it. */
bool source_address(char address[SOURCE_ADDRESS], const source *s, const input_settings *settings,
                    pipeline_error *error);

/* The reader for a file whose name libav would misunderstand, as that of a playlist that is called
 * otherwise; NULL: libav finds out. */
const AVInputFormat *source_reader(const char *address, const input_settings *settings);

/* Whether an open file has at most so many streams (0: any number). libav's own limit does not do:
 * some readers leave out those beyond without an error. */
bool source_limit_streams(const char *path, const AVFormatContext *format, double most,
                          pipeline_error *error);

/* What an open file holds: libav decodes frames where the file does not say. A libav code. */
int source_describe(AVFormatContext *format, double max_pixels);

/* Opens it. format NULL: libav finds out. list: as of media_guard. */
bool source_open_media(source *s, const char *address, const AVInputFormat *format,
                       const char *list, AVDictionary **options, pipeline_error *error);

bool source_fail_large(const char *path, pipeline_error *error);

/* Converts "1280x720:yuv420p:25" to options of libav's reader of raw frames. */
bool source_describe_raw(const char *raw, AVDictionary **options, pipeline_error *error);

/* Seeks to a place from which all frames after a time can be decoded: a key frame of video at time
 * (AV_TIME_BASE units, the file's own) or earlier. A file that cannot be searched stays where it
 * is. */
void seek_before(source *s, const AVStream *video, int64_t time);

/* Whether a film shows anything behind it. GIFs and palettes always can, but few do. */

/* Whether the format can hold alpha, but does not tell whether there is any. */
bool transparency_is_open(const AVCodecParameters *video);

/* Decodes a file of such a format until a pixel is not opaque, or of numbered pictures the first
 * one. Data that can be read only once counts as opaque. */
bool transparency_find(const source_kind *kind, const input_settings *settings,
                       const AVStream *video);

/* Makes one timeline from clocks that jump, as in broadcasts joined from recordings.
 *
 * In containers whose clock may jump (libav's AVFMT_TS_DISCONT), a new piece begins with a packet
 * that lies more than 0.1 s before the time that its stream had reached, or more than 10 s after
 * it. From there on, every timestamp is shifted so that this packet follows the previous one. */

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

/* Packets held until their container is open, or until it is known that they belong to the
 * result. */

typedef struct packet_queue {
    AVPacket **items;
    size_t bytes;      /* of all packets */
    size_t count;      /* packets held; the items after them are kept for reuse */
    size_t made, room; /* items allocated, and room for pointers to them */
} packet_queue;

/* Takes a copy. */
bool packet_queue_put(packet_queue *held, const AVPacket *packet, pipeline_error *error);

typedef struct packet_queue_sink {
    bool (*due)(void *context, const AVPacket *packet); /* whether to pass it on now */
    bool (*copy)(void *context, AVPacket *packet, pipeline_error *error);
    void *due_context, *copy_context;
} packet_queue_sink;

/* Passes the packets that are due to copy, in order, until it fails; keeps the others. */
bool packet_queue_release(packet_queue *held, const packet_queue_sink *sink, pipeline_error *error);

/* A zeroed queue is allowed. */
void packet_queue_free(packet_queue *held);

#endif
