// SPDX-License-Identifier: Apache-2.0
/* Encodes the output video with one of libav's encoders, which a row of the table of codecs
 * describes. */
#ifndef MONA_ENCODE_H
#define MONA_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>

#include "pipeline/base/error.h"
#include "pipeline/base/filter_graph.h"
#include "pipeline/io/codecs/codec.h"

/* Calls of an encoder that return even where the encoder never does: x265 and SVT-AV1 wait for ever
 * where the system refuses them a thread, when they open or with a frame. */

typedef struct encoder_calls encoder_calls; /* NULL: the encoder is called as any other */

/* avcodec_open2 in a thread of its own, which also makes the later calls if hangs, as in codec.
 * AVERROR(ETIMEDOUT) and *encoder == NULL: it waits for a thread, or will: x265 opens without some
 * of its threads, and its frames wait for them. It keeps its memory and its other threads. */
int encoder_start(encoder_calls **calls, AVCodecContext **encoder, AVDictionary **options,
                  bool hangs);

/* avcodec_send_frame and avcodec_receive_packet. AVERROR(ETIMEDOUT): it waits for ever, and keeps
 * what it has; later calls return this at once. */
int encoder_send(encoder_calls *calls, AVCodecContext *encoder, const AVFrame *frame);
int encoder_receive(encoder_calls *calls, AVCodecContext *encoder, AVPacket *packet);

/* avcodec_free_context, where it returns. NULL: the encoder is left as it is. */
void encoder_end(encoder_calls **calls, AVCodecContext **encoder);

enum { ENCODER_LATEST = 1024 }; /* more frames than any encoder holds back */
enum { ENCODER_TEXT = 256 };

typedef struct encoder {
    AVCodecContext *codec;
    encoder_calls *calls;
    const char *name;        /* of libav's encoder, for messages */
    char text[ENCODER_TEXT]; /* name and options: "libx264 preset=medium crf=18" */
    AVBSFContext *header;    /* corrects packets; NULL: it does not */
    AVPacket *packet;        /* reused */
    AVFrame *copy;           /* for an encoder that holds on to frames; else NULL */
    struct {
        int64_t pts, duration;
        AVBufferRef *captions; /* to insert; NULL: none */
    } latest[ENCODER_LATEST];  /* frames; they come out in another order */
    uint64_t frames, packets;
    filter_graph colours; /* for an encoder of few colours; else not open */
    bool waits;           /* as in codec */
    bool inserts;         /* captions, into packets */
    bool fields;          /* frames stay marked as interlaced */
} encoder;

/* The user's options. */
typedef struct encoder_choice {
    const codec *codec;         /* NULL: the first one that the container holds */
    double crf;                 /* negative: the codec's default */
    const char *preset;         /* NULL: the codec's default */
    const char *const *options; /* "key=value", for libav */
    size_t option_count;
    unsigned threads;   /* 0: the encoder's own choice */
    bool low_latency;   /* no frame waits for later ones */
    bool live;          /* viewers may come at any time: key frames every few seconds */
    bool match_bitrate; /* aim at the bit rate of the input's video */
} encoder_choice;

typedef struct encoder_settings {
    encoder_choice choice;
    int width, height;
    enum AVPixelFormat pix_fmt;
    enum AVPixelFormat decoded; /* of the input, which another codec may get as other planes */
    AVRational rate;            /* for rate control */
    AVRational aspect;          /* of a pixel */
    int64_t bit_rate;           /* of the input's video; 0: unknown */
    enum AVFieldOrder fields;   /* of interlaced frames; UNKNOWN: none is marked as interlaced */
} encoder_settings;

/* Reports a quality that is allowed, but has an effect that few expect. path: of the result. */
void encoder_tell_quality(const encoder_settings *s, const char *path, const pipeline_notes *notes);

/* The matrix of the result's colours. UNSPECIFIED: players assume the one of the film. */
enum AVColorSpace encoder_matrix(const encoder_settings *to, const AVCodecParameters *from);

/* video: the input stream that is replaced; it gives the time base and the colours. format: of the
 * container. Whether it succeeds or not, encoder_close releases what there is. */
bool encoder_open(encoder *e, const encoder_settings *settings, const AVStream *video,
                  const AVOutputFormat *format, pipeline_error *error);

/* Receives a packet from the encoder, timestamps in time_base. Returning false stops the
 * encoder. */
typedef struct packet_sink {
    bool (*take)(void *context, AVPacket *packet, AVRational time_base, pipeline_error *error);
    void *context;
} packet_sink;

/* Encodes a frame and passes on the packets; NULL drains the encoder. The frame's pts and duration
 * count in the input stream's time base. The frame's planes may be reused when this returns. */
bool encoder_put(encoder *e, const AVFrame *frame, const packet_sink *sink, pipeline_error *error);

void encoder_close(encoder *e);

/* What the header inside a coded stream says and its encoder gets wrong or leaves out. */

/* Opens a filter for the encoder's packets and corrects its extradata. rate: frames a second, by
 * which frames are played in a format without times. *filter stays NULL where there is nothing to
 * correct in packets; av_bsf_free closes it. */
bool coded_header_open(AVBSFContext **filter, AVCodecContext *encoder, AVRational rate,
                       const AVOutputFormat *format, pipeline_error *error);

/* Corrects a packet, which stays as it is if filter is NULL. Returns an error of libav, or >= 0. */
int coded_header_correct(AVBSFContext *filter, AVPacket *packet);

#endif
