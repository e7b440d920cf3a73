/* The H.264 encoder of the output: libx264, 8-bit 4:2:0. */
#ifndef MONA_ENCODE_H
#define MONA_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "error.h"
#include "mux.h"

enum { ENCODER_DURATIONS = 1024 }; /* more frames than libx264 ever holds back */

typedef struct encoder {
    AVCodecContext *codec;
    AVPacket *packet; /* reused */
    struct {
        int64_t pts, duration;
    } durations[ENCODER_DURATIONS]; /* of the latest frames, which come out in another order */
    uint64_t frames, packets;
} encoder;

typedef struct encoder_settings {
    int width, height;
    AVRational rate; /* for rate control */
    double crf;
    const char *preset; /* one of libx264's names */
} encoder_settings;

/* video: the input stream that is replaced; time base, shape of a sample and colour are its.
 * format: of the container. Whether it succeeds or not, encoder_close releases what there is. */
bool encoder_open(encoder *e, const encoder_settings *settings, const AVFormatContext *input,
                  const AVStream *video, const AVOutputFormat *format, pipeline_error *error);

/* Encodes a frame and writes what comes out; NULL drains the encoder. The frame's pts and
 * pkt_duration count in the input stream's time base. The frame's planes are free again when this
 * returns. */
bool encoder_put(encoder *e, const AVFrame *frame, mux *m, pipeline_error *error);

void encoder_close(encoder *e);

#endif
