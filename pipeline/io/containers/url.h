// SPDX-License-Identifier: Apache-2.0
/* Inputs and outputs that are not files: network streams and cameras. A table lists the protocols
 * that may be opened; a stream opens only those in its row, and a file only files. */
#ifndef MONA_URL_H
#define MONA_URL_H

#include <stdbool.h>

#include <libavformat/avformat.h>

#include "pipeline/base/error.h"

typedef struct url {
    const char *scheme;    /* "rtsp" */
    const char *protocols; /* of libav that it may use, for protocol_whitelist */
    const char *container; /* of an output without -f; NULL: there is no such output */
    const char *options;   /* of libav, up to microseconds that a call may wait; NULL: it waits */
    bool camera;           /* a device of this machine */
} url;

/* The row of a name such as rtsp://camera/1 or /dev/video0. NULL: it names a file, or nothing that
 * may be opened. */
const url *url_find(const char *path);

/* Refuses names with a scheme that is in no row. */
bool url_check(const char *path, pipeline_error *error);

/* Whether this is a playlist of HLS: its segments lie beside it and appear one after another. */
bool url_is_playlist(const char *path);

/* Sets libav's options for opening it as an input or an output: what it may use, and that no call
 * waits longer than seconds. False: out of memory. */
__attribute__((warn_unused_result)) bool url_options(const url *u, double seconds,
                                                     AVDictionary **options);

/* The reader of a camera; NULL: libav finds out, or *error is set where there is none. */
const AVInputFormat *url_input_format(const url *u, pipeline_error *error);

#endif
