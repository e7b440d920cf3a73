// SPDX-License-Identifier: Apache-2.0
/* The chip's video decoder in front of libavcodec's. Streams that the chip cannot decode go to
 * libavcodec, as does one that it cannot begin; a line says so. Once the chip has given a frame,
 * its failure ends the run. */
#ifndef MONA_CHIP_DECODER_H
#define MONA_CHIP_DECODER_H

#include <stdbool.h>
#include <stdint.h>

#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>

#include "pipeline/base/error.h"
#include "pipeline/io/codecs/vdec.h"

enum { CHIP_DECODER_PACKETS = 64 }; /* more than the chip has frames at a time */

typedef struct chip_decoder {
    const char *path; /* for messages */
    const pipeline_notes *notes;
    AVCodecContext *host;
    AVBSFContext *annex_b; /* NULL: the chip does not decode */
    vdec *vdec;            /* open from the first packet on */
    const mona_device *chip;
    vdec_stream stream;
    AVFrame *like; /* what all frames have in common, without samples */
    AVPacket *coded;
    uint8_t header[256]; /* the stream's first, up to here */
    size_t header_bytes;
    /* Number n is at n % CHIP_DECODER_PACKETS, until its frame came. */
    AVPacket *packets[CHIP_DECODER_PACKETS];
    uint64_t sent, replayed;
    bool begun, draining;
    pipeline_error failure; /* once begun; empty: none */
} chip_decoder;

typedef struct chip_decoder_settings {
    const char *path;
    const pipeline_notes *notes;
    const AVCodecParameters *video;
    AVRational time_base;
    const mona_device *chip; /* that is wanted; NULL: none */
    bool low_latency;        /* no frame waits for later ones */
    bool quantisers;         /* frames are wanted with theirs */
} chip_decoder_settings;

/* host: open, and stays the caller's. Whether it succeeds or not, chip_decoder_close releases what
 * there is. */
bool chip_decoder_open(chip_decoder *d, AVCodecContext *host, const chip_decoder_settings *settings,
                       pipeline_error *error);

/* As avcodec_send_packet(), after chip_decoder_receive() returned AVERROR(EAGAIN), and
 * avcodec_receive_frame(). After d->failure is set, they fail. */
int chip_decoder_send(chip_decoder *d, const AVPacket *packet);
int chip_decoder_receive(chip_decoder *d, AVFrame *frame);

void chip_decoder_close(chip_decoder *d);

/* Which streams the chip's video decoder takes. */

/* Whether the chip is wanted, has a decoder and may know the codec. */
bool chip_streams_are_asked(const chip_decoder_settings *settings);

/* Why the chip is not even tried with a stream; NULL: it is, and *stream is the stream's kind. */
const char *chip_streams_refuse(const chip_decoder_settings *settings, vdec_stream *stream);

extern const char chip_streams_interlaced[]; /* why it does not take interlaced video */

#endif
