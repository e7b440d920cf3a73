// SPDX-License-Identifier: Apache-2.0
/* The frames of a file as libav decodes them, to look at or to compare: of its first video that is
 * no cover, or of a picture. Nothing is done to them; input.h is what the enhancer reads with, and
 * is judged with this. */
#ifndef MONA_FOOTAGE_H
#define MONA_FOOTAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "pipeline/error.h"
#include "pipeline/image/picture_list.h"

typedef struct footage {
    const char *path;
    AVFormatContext *format;
    AVStream *video;
    picture_list pictures; /* what is read in place of format's packets; count 0: none */
    AVCodecContext *decoder;
    AVPacket *packet;
    AVFrame *frame;  /* the frame footage_next found; reused */
    double time;     /* its place in seconds from the file's beginning */
    double start;    /* frames before it are left out */
    double end;      /* as are those from here on; 0: there is no end */
    double expected; /* frames to come, as far as the file says; 0: it does not */
} footage;

/* Opens a file. Only frames of start <= time < end, in seconds, are wanted; end 0: all from start. Whether it succeeds or not,
 * footage_close releases what there is. */
bool footage_open(footage *f, const char *path, double start, double end, pipeline_error *error);

typedef enum footage_result { FOOTAGE_FRAME, FOOTAGE_END, FOOTAGE_FAILED } footage_result;

/* Decodes the next frame into f->frame. Packets that cannot be decoded are passed over. */
footage_result footage_next(footage *f, pipeline_error *error);

/* A zeroed footage is allowed. */
void footage_close(footage *f);

#endif
