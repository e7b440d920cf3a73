// SPDX-License-Identifier: Apache-2.0
/* A run from file to file (enhance.h), which video_open.c sets up and video.c runs. */
#ifndef MONA_VIDEO_RUN_H
#define MONA_VIDEO_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "pipeline/enhance.h"
#include "pipeline/io/sources/input.h"
#include "pipeline/io/outputs/output.h"
#include "pipeline/stages/channel.h"
#include "pipeline/stages/processor.h"
#include "pipeline/io/codecs/codec.h"

typedef struct frame_job {
    AVFrame *picture; /* the output slot's planes as a frame of libav; made once */
    unsigned segment; /* of the output that it belongs to */
    processor_job work;
    AVFrame *source;      /* a deep frame itself; it is kept until it is through */
    input_faults faults;  /* of the input so far */
    live_counts live;     /* as far as the input knows */
    uint64_t packet_came; /* of a live stream; 0: it is none */
} frame_job;

/* A decoded frame. */
typedef struct decoded {
    AVFrame *frame;
    float error; /* as in processor_job */
} decoded;

enum { VIDEO_WARM_UP = 16 }; /* frames before a segment at most */

typedef struct video {
    const job *settings;
    enhance_report *report;
    input in;
    processor processor;
    output out;
    output_settings out_settings;
    frame_job jobs[STAGE_SLOTS];
    frame_job *first; /* it waits for the second frame; NULL: it does not */
    unsigned warm_up; /* frames that the stages need before a segment; 0: or there are none */
    decoded before[VIDEO_WARM_UP]; /* the latest frame n at n % warm_up */
    uint64_t passed;               /* frames since the input was entered */
    unsigned segment;              /* the one that is made or comes next */
    bool begun;                    /* it is made */
    input_faults known;            /* those before the input was entered */
    bool begins;                   /* the next frame is the first that the stages know of it */
    channel idle, busy;            /* jobs waiting for a frame; jobs in the order of their frames */
    bool ends_early;               /* all frames that are wanted came; the input may have more */
    atomic_bool stop;
    pipeline_error decode_error;
    uint64_t late; /* frames of a live stream that were left out */
} video;

_Static_assert((int)CHANNEL_CAPACITY >= (int)STAGE_SLOTS, "no push of a job waits");

/* A job for each output slot, which limits the number of frames in flight. */
static inline unsigned video_jobs(const video *v)
{
    return v->processor.stages.slots[v->processor.stages.count];
}

/* Whether the result has the input's aspect ratio as it is stored. */
bool video_keeps_shape(const video *v);

bool video_open(video *v, pipeline_error *error);

/* The codec and the pixel format of a result if the user names none. */

/* A modern codec stays, unless --preset is one of another codec. HDR becomes HEVC, which its
 * players expect, and all else what the container usually holds. p: of the input. deep: the frames
 * have more bits than networks see, as many of which are kept as can be. */
const codec *codec_choice(const job *s, const AVCodecParameters *p, bool deep,
                          const AVOutputFormat *format, enum AVPixelFormat pix_fmt);

/* The format in which a codec holds deep frames; pix_fmt if it holds none. */
enum AVPixelFormat codec_choice_depth(const codec *c, const AVOutputFormat *format,
                                      enum AVPixelFormat pix_fmt);

#endif
