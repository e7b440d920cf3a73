// SPDX-License-Identifier: Apache-2.0
/* A media file as mona reads it: frames of one video stream, packets of all others, in file order.
 */
#ifndef MONA_INPUT_H
#define MONA_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "pipeline/error.h"
#include "pipeline/fields/fields.h"
#include "pipeline/stages/frame.h"
#include "pipeline/io/packet_queue.h"
#include "pipeline/image/picture_list.h"
#include "pipeline/image/picture_planes.h"
#include "pipeline/io/timestamp_joins.h"

/* Takes a packet of a stream other than the video; timestamps are in that stream's time base. False
 * stops the input. */
typedef bool (*input_copy)(void *context, AVPacket *packet, pipeline_error *error);

typedef enum input_result { INPUT_FRAME, INPUT_END, INPUT_FAILED } input_result;

typedef struct input {
    const char *path; /* for messages */
    const pipeline_notes *notes;
    AVFormatContext *format;
    AVStream *video; /* the stream to enhance */
    AVCodecContext *decoder;
    AVPacket *packet; /* reused */
    AVFrame *frame;   /* the frame input_next found; reused */
    input_copy copy;
    void *copy_context;
    packet_queue held;  /* packets of other streams that are not to be passed on yet */
    bool holding;       /* what is read now goes there */
    bool ends_early;    /* only some frames are wanted: nothing after them is passed on */
    bool ahead;         /* input_first has been called, input_next not yet */
    input_result first; /* what it found */
    timestamp_joins times;
    picture_list pictures;     /* what is read in place of format's packets; count 0: none */
    enum AVPixelFormat planes; /* what frames are made when decoded; AV_PIX_FMT_NONE: they stay */
    fields fields;             /* what the frames pass on their way from the decoder */
    bool stop_on_error;
    int64_t start;    /* AV_TIME_BASE units, in the file's own time; AV_NOPTS_VALUE: all */
    int64_t end;      /* the same; INT64_MAX: there is none */
    int64_t next_pts; /* where a frame without a timestamp belongs */
    int64_t last_pts; /* of the latest frame */
    int64_t reached;  /* where the packets read so far end, AV_TIME_BASE units */
    bool draining;
    uint64_t lost_packets;   /* could not be read or decoded */
    uint64_t damaged_frames; /* decoded with errors */
    uint64_t moved_frames;   /* whose timestamps did not ascend */
} input;

typedef struct input_settings {
    const char *path; /* "-": standard input; must outlive the input */
    const char *raw;  /* "WIDTHxHEIGHT:PIXEL_FORMAT:RATE" of frames without a header; NULL: none */
    const char *rate; /* of numbered pictures, as libav reads one; NULL: 25 */
    picture_chroma chroma; /* what RGB becomes */
    double start;          /* seconds to leave out; 0: none */
    double end;            /* seconds after which everything is left out; 0: there is none */
    unsigned threads;      /* of the decoder; 0: its own choice */
    bool quantisers;       /* frames tell of theirs (quantiser.h) */
    bool low_latency;      /* no frame waits for later ones: of fields only marked ones are seen */
    bool deinterlace;      /* make interlaced frames whole */
    bool ends_early;       /* input_copy_until will be called: pass nothing on before it is known to
                              belong to the frames wanted */
    bool stop_on_error;    /* fail at the first damage, rather than go on and count */
    const pipeline_notes *notes;
} input_settings;

/* Opens a file and its decoder. Refuses pixel formats that neither pixels.h knows nor
 * picture_planes.h makes planes of. Whether it
 * succeeds or not, input_close releases what there is. */
bool input_open(input *in, const input_settings *settings, pipeline_error *error);

/* Says why libav could not open a file. */
bool input_fail_open(const char *path, int code, pipeline_error *error);

/* The stream has a size and a pixel format that mona takes. */
bool input_check_video(const input *in, pipeline_error *error);

/* The format of every frame. */
frame_format input_format(const input *in);

/* Frames per second, for rate control and raw streams; never 0. */
AVRational input_frame_rate(const input *in);

/* Bits a second of the video alone, at least roughly; 0: unknown. */
int64_t input_bit_rate(const input *in);

/* Frames to come, as far as the file says; 0: it does not. */
uint64_t input_frame_estimate(const input *in);

/* Decodes the first frame into in->frame before anything else is asked for; input_next gives it
 * again. Packets of other streams wait until then. */
input_result input_first(input *in, pipeline_error *error);

/* Decodes the next frame into in->frame: pts (ascending, in the video's time base, from 0 at start)
 * and duration are set. Passes packets of other streams to copy on the way. */
input_result input_next(input *in, pipeline_error *error);

/* After the last frame wanted: passes on the other streams' packets up to end (in the video's time
 * base), then stops reading. */
bool input_copy_until(input *in, int64_t end, pipeline_error *error);

/* Told where the reading of the video has come to, in its time base. False stops the input. */
typedef bool (*input_pace)(void *context, int64_t time, pipeline_error *error);

/* Without decoding: passes on the other streams' packets as input_next does while there are frames
 * before end, and after those as input_copy_until does. pace is called for every packet of the
 * video. */
bool input_copy_rest(input *in, int64_t end, input_pace pace, void *pace_context,
                     pipeline_error *error);

void input_close(input *in);

#endif
