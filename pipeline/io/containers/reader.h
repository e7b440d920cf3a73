// SPDX-License-Identifier: Apache-2.0
/* What is special about libav's readers. Nothing else knows a reader by its name. */
#ifndef MONA_READER_H
#define MONA_READER_H

#include <stdbool.h>

#include <libavformat/avformat.h>

typedef struct reader {
    const char *name;   /* one of libav's; NULL: those about which nothing is special */
    const char *called; /* in messages, where it reads no media; NULL: as libav says */
    bool list;          /* names other files, */
    bool below;         /* which may be read where the user allows it and they lie in its folder */
    bool pattern;       /* opens all files of a pattern */
    bool bursts;        /* of a stream, packets come in files of seconds */
    bool drops_last;    /* an incomplete last frame is left out without a word */
    bool index;         /* describes the video after its frames, in many files */
    bool unsized;       /* tells no size of animations, which libav cannot decode */
} reader;

const reader *reader_of(const AVInputFormat *format);

#endif
