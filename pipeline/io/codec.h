// SPDX-License-Identifier: Apache-2.0
/* The video codecs mona writes, and what its own options mean to each of them. */
#ifndef MONA_CODEC_H
#define MONA_CODEC_H

#include <stdbool.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

typedef struct codec {
    const char *name;    /* what -c takes */
    const char *encoder; /* libav's name for what writes it */
    enum AVCodecID id;
    /* Of libav's options: the one --crf sets, with its default and largest value; NULL: the codec
     * is lossless or has its quality in a profile. */
    const char *quality;
    double quality_default, quality_max;
    /* The one --preset sets, and its default; NULL: there is none. The names it takes, with
     * commas between; NULL: whole numbers from 0 to preset_max. */
    const char *preset, *preset_default, *preset_names;
    int preset_max;
    const char *options;     /* "key=value:..." that hold unless -e says otherwise; NULL: none */
    const char *low_latency; /* the same, with which no frame waits for later ones */
    bool even;               /* 4:2:0 in even sizes only */
    bool keeps;              /* the encoder holds on to the frame until it gets the next one */
    bool waits;              /* draining or closing it never returns before it has had a frame */
} codec;

/* By its name or the name of an encoder of libav for it. NULL: there is none. */
const codec *codec_find(const char *name);

/* Those there are, in the order in which codec_for looks at them; NULL: i is past the last. */
const codec *codec_at(size_t i);

/* The codec for a container when -c does not say: the first one it holds that holds the pixel
 * format, else (or with AV_PIX_FMT_NONE) the first one it holds; NULL: it holds none. */
const codec *codec_for(const AVOutputFormat *format, enum AVPixelFormat pix_fmt);

/* Whether it holds the pixel format in that container. */
bool codec_takes(const codec *c, const AVOutputFormat *format, enum AVPixelFormat pix_fmt);

bool codec_fits(const codec *c, const AVOutputFormat *format);

#endif
