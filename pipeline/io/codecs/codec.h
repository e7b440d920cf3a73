// SPDX-License-Identifier: Apache-2.0
/* The video codecs that mona writes, and the meaning of mona's options for each. */
#ifndef MONA_CODEC_H
#define MONA_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavcodec/codec_id.h>
#include <libavutil/frame.h>

#include "pipeline/image/picture_planes.h"

/* How a codec carries closed captions. */
typedef enum codec_captions {
    CAPTIONS_LOST,       /* it has no place for them */
    CAPTIONS_BY_ENCODER, /* libav's encoder takes them from frames */
    CAPTIONS_INSERTED    /* captions.h puts them into packets, where libav's encoder does not */
} codec_captions;

/* An encoder's syntax for mastering displays and light levels: chromaticities in steps of
 * 1 / chromaticity, luminances in steps of 1 / luminance. key NULL: it takes none. */
typedef struct codec_display {
    const char *key, *mastering, *light;
    double chromaticity, luminance;
    int digits; /* after the decimal point */
} codec_display;

typedef enum codec_siting { SITING_UNTOLD, SITING_TOPLEFT_TOLD, SITING_TOLD } codec_siting;

typedef struct codec {
    const char *name;    /* what -c takes */
    const char *encoder; /* libav's name of the encoder */
    enum AVCodecID id;
    /* libav's option that --crf sets, with its default and range; NULL: the codec is lossless or
     * its profile determines the quality. */
    const char *quality;
    double quality_default, quality_min, quality_max;
    bool quality_whole; /* the encoder drops fractions */
    /* libav's option that --preset sets, its default, and that for live streams, which have no time
     * to lose; NULL: there is none. preset_names lists the names it takes, separated by commas;
     * NULL: integers from 0 to preset_max. */
    const char *preset, *preset_default, *preset_live, *preset_names;
    int preset_max;
    const char *options;     /* "key=value:...", unless -e overrides them; NULL: none */
    const char *low_latency; /* the same, for output without delay: no frame waits for later ones */
    bool even;               /* 4:2:0 only in even sizes */
    bool keeps;              /* the encoder holds on to a frame until it gets the next one */
    bool waits;              /* draining or closing it never returns before it has had a frame */
    bool hangs;              /* it waits for ever for a thread that the system refuses it */
    bool colours;            /* frames get 256 colours */
    bool samples;            /* raw frames: the samples themselves */
    bool pictures;           /* numbered ones, which picture_writer.h writes */
    bool fields;             /* frames may be marked as interlaced */
    bool modern;             /* an input's, which its result keeps */
    codec_captions captions;
    /* What the coded stream tells, in whatever container: matrix, primaries and transfer; range;
     * which places of chroma beside the usual ones. */
    bool tells_colours, tells_range;
    codec_siting siting;
    bool views; /* the two of 3D, where frames tell them */
    codec_display display;
    picture_chroma chroma; /* to which RGB pictures are converted */
    const char *narrow;    /* an option for frames of fewer than 64 columns */
} codec;

/* Finds a codec by its name or by the name of one of its encoders in libav. NULL: none has it. */
const codec *codec_find(const char *name);

/* All codecs, in the order in which codec_for tries them. NULL: i is past the last one. */
const codec *codec_at(size_t i);

/* Whether --preset takes this name or number with the codec. */
bool codec_takes_preset(const codec *c, const char *preset);

/* The modern codec that a result keeps of its input; NULL: the input has another one. */
const codec *codec_modern(enum AVCodecID id);

/* The usual codec for a container: the first one that the container holds and that holds the
 * pixel format, else (or with AV_PIX_FMT_NONE) the first one that the container holds. NULL: it
 * holds none. */
const codec *codec_for(const AVOutputFormat *format, enum AVPixelFormat pix_fmt);

/* Whether the codec holds the pixel format in that container. */
bool codec_takes(const codec *c, const AVOutputFormat *format, enum AVPixelFormat pix_fmt);

bool codec_fits(const codec *c, const AVOutputFormat *format);

/* Threads of a decoder or encoder for frames of so many rows. wanted 0: one for each core, as far
 * as there are rows for them. Left to choose, libav takes one more than cores and x264 half as many
 * again, each with frames of its own, although the networks keep all cores busy. */
int codec_threads(unsigned wanted, int height);

/* Sequence headers (SPS) of H.264 and H.265. */

typedef struct stream_header {
    const uint8_t *data; /* NULL: none was found */
    size_t bytes;
} stream_header;

/* The first in data of the form of annex B, without its start code. */
stream_header stream_header_find(bool h265, const uint8_t *data, size_t bytes);

/* Whether pictures may be fields (7.3.2.1.1 of H.264), for the profiles Baseline, Main and High. */
bool stream_header_has_fields(stream_header h264);

/* The error that compression left in a frame, from the quantisers that its decoder reports. */

/* The expected RMS error of luma in 8-bit steps, from AV_FRAME_DATA_VIDEO_ENC_PARAMS. Without them,
 * as many decoders report none: negative if the codec is lossy and predicts frames from others,
 * else 0. */
float quantiser_error(const AVFrame *frame, enum AVCodecID codec);

#endif
