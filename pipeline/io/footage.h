// SPDX-License-Identifier: Apache-2.0
/* The frames of a file as libav decodes them, for viewing and comparing: of its first video other
 * than a cover, or of a picture. The frames are not processed. The enhancer reads with input.h,
 * which this judges. */
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
    picture_list pictures; /* read instead of format's packets; count 0: none */
    AVCodecContext *decoder;
    AVPacket *packet;
    AVFrame *frame;  /* the frame that footage_next found; reused */
    double time;     /* its time in seconds from the beginning of the file */
    double start;    /* frames before it are left out */
    double end;      /* frames at or after it are left out too; 0: no end */
    double expected; /* frames to come, according to the file; 0: unknown */
} footage;

/* Opens a file. Only frames of start <= time < end, in seconds, are returned; end 0: all from start
 * on. Whether it succeeds or not, footage_close releases what there is. */
bool footage_open(footage *f, const char *path, double start, double end, pipeline_error *error);

typedef enum footage_result { FOOTAGE_FRAME, FOOTAGE_END, FOOTAGE_FAILED } footage_result;

/* Decodes the next frame into f->frame. Packets that cannot be decoded are skipped. */
footage_result footage_next(footage *f, pipeline_error *error);

/* A zeroed footage is allowed. */
void footage_close(footage *f);

#endif
