// SPDX-License-Identifier: Apache-2.0
/* A media file as mona reads it: frames of one video stream, packets of all others, in the order of
 * the file. */
#ifndef MONA_INPUT_H
#define MONA_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "pipeline/base/error.h"
#include "pipeline/base/words.h"
#include "pipeline/fields/fields.h"
#include "pipeline/stages/frame.h"
#include "pipeline/io/codecs/chip_decoder.h"
#include "pipeline/io/sources/source.h"
#include "pipeline/image/frame_convert.h"
#include "pipeline/image/orientation.h"
#include "pipeline/image/picture_planes.h"

/* Receives a packet of a stream other than the video, with timestamps in that stream's time base.
 * Returning false stops the input. */
typedef bool (*input_copy)(void *context, AVPacket *packet, pipeline_error *error);

typedef struct input_faults {
    uint64_t lost_packets;   /* could not be read or decoded */
    uint64_t damaged_frames; /* decoded with errors */
    uint64_t moved_frames;   /* whose timestamps did not ascend */
} input_faults;

#define ON_ERRORS(FIRST, NEXT) FIRST(ON_ERROR_SKIP, "skip") NEXT(ON_ERROR_STOP, "stop")
typedef enum on_error { WORDS_ENUM(ON_ERRORS) } on_error;

struct input_settings {
    const char *path;        /* "-": standard input; must outlive the input */
    const char *raw;         /* "WIDTHxHEIGHT:PIXEL_FORMAT:RATE" if there is no header; else NULL */
    const char *rate;        /* of numbered pictures, as libav reads one; NULL: 25 */
    const char *list;        /* what list of files it may be, as of media_guard; NULL: none */
    picture_chroma chroma;   /* what RGB is converted to */
    double start;            /* seconds to skip at the beginning; 0: none */
    double end;              /* seconds after which everything is left out; 0: no end */
    bool keep_start;         /* times stay as the file has them; else they count from its start */
    unsigned threads;        /* of the decoder; 0: its own choice */
    const mona_device *chip; /* decodes where it can (chip_decoder.h); NULL: none does */
    bool quantisers;         /* decode with the frames' quantisers (quantiser.c) */
    bool no_grain;           /* leave out the film grain that decoders add to AV1, HEVC or H.264 */
    bool low_latency;        /* no frame waits for later ones; interlaced ones must be marked */
    bool deinterlace;        /* deinterlace interlaced frames */
    fields_mode fields;      /* into how many frames */
    bool no_audio;           /* leave sound out */
    rotation rotate;         /* turn frames; AUTO turns them only if the output has no matrix */
    bool keeps_matrix;       /* the output's container can hold a display matrix */
    bool ends_early;         /* input_copy_until will be called: pass on only what belongs */
    on_error on_error;       /* go on behind damage and count it, or fail at the first */
    /* For viewing and comparing: frames of any format as the decoder makes them, not turned (but
     * for photographs, which are stored as the camera was held), deinterlaced or converted;
     * packets of other streams are dropped. */
    bool as_decoded;
    double max_pixels;           /* of a frame; 0: as many as libav can count */
    double max_streams;          /* of the file; 0: as many as libav takes */
    const char *still_result;    /* the file that a still picture becomes; NULL: it is none */
    bool keep_result;            /* as in outfile_open */
    const live_settings *live;   /* of a live stream; NULL: it is none */
    const pipeline_notes *notes; /* NULL: nowhere */
};

/* What may change in the middle of a film. Stages and the encoder are made for the first frame, so
 * that later ones are converted to its size, format, range and matrix. What the result keeps of the
 * first frame while it changes, such as the shape of pixels, is told. */

typedef struct like_first {
    AVRational pixel; /* the shape of a pixel */
    orientation turn; /* that the frame itself says */
    enum AVColorRange range;
    enum AVColorSpace matrix;
    enum AVColorPrimaries primaries;
    enum AVColorTransferCharacteristic transfer;
    bool converted, told; /* frames were; what is not converted was told */
} like_first;

void like_first_begin(like_first *l, const AVFrame *first);

/* Whether the frame's samples mean what the first one's do, if they have its size and format. What
 * a frame does not name is as in the first one. */
bool like_first_colours(const like_first *l, const AVFrame *frame, enum AVPixelFormat first);

/* Turns the frame into one like the first, whose size and format these are. seconds: its time, for
 * a line. */
bool like_first_convert(like_first *l, AVFrame *frame, const AVCodecParameters *video, int width,
                        int height, double seconds, const char *path, const pipeline_notes *notes,
                        pipeline_error *error);

/* Tells, once, of what is not converted. */
void like_first_tell(like_first *l, const AVFrame *frame, double seconds, const char *path,
                     const pipeline_notes *notes);

typedef struct input {
    input_settings settings;
    source from;
    const char *path; /* for messages */
    struct stat file; /* what it was when it was opened; all 0 where there is none of that name */
    const pipeline_notes *notes;
    AVFormatContext *format; /* describes the streams; the source's */
    AVStream *video;         /* the stream to enhance */
    AVCodecContext *decoder;
    chip_decoder chip; /* decodes, or passes everything on to decoder */
    AVPacket *packet;  /* reused */
    AVFrame *frame;    /* the frame that input_next found; reused */
    input_copy copy;   /* NULL: packets of other streams are dropped */
    void *copy_context;
    packet_queue held;  /* packets of other streams that must not be passed on yet */
    bool holding;       /* packets of other streams go to `held` */
    bool ahead;         /* input_first has been called, but not input_next */
    input_result first; /* the result of input_first */
    timestamp_joins times;
    enum AVPixelFormat planes; /* frames are converted to this; AV_PIX_FMT_NONE: they are not */
    fields fields;             /* passes every frame from the decoder on */
    orientation turn;          /* how frames are turned before they are returned */
    bool widened;       /* frames are converted to the format of the stream, which holds more */
    fields_mode made;   /* what was made of fields, if that changes the number of frames */
    like_first like;    /* what later frames are converted to */
    bool filled;        /* transparent parts of a frame are filled, and that is told */
    bool premultiplied; /* the colours of a TIFF by its alpha */
    int64_t shift;      /* subtracted from all times; in AV_TIME_BASE units, as the next two are */
    int64_t start; /* in the file's own time, what is before it is left out; INT64_MIN: nothing */
    int64_t end;   /* where the file's own time has it; INT64_MAX: no end */
    int64_t next_pts;   /* the time of the next frame if it has no timestamp */
    int64_t last_pts;   /* of the latest frame */
    int64_t reached;    /* where the packets read so far end, in AV_TIME_BASE units */
    int64_t packet_end; /* where the last packet ends in the file, in bytes */
    int64_t entry;      /* where the file was entered, in its own time; INT64_MIN: it was not */
    bool found;         /* its packet lies in `packet` and is the next one */
    bool entering;      /* frames before it are left out, which may be damaged */
    bool draining;
    uint64_t video_packets; /* that came in */
    uint64_t video_bytes;   /* of these */
    uint64_t skipped;       /* of these, not decoded: a live stream that was too late or anew */
    pipeline_error broke;   /* why a live stream ended before its end; empty: it did not */
    input_faults faults;    /* so far */
    uint64_t corrupt;       /* packets that libav marks so */
    uint64_t gap_faults;    /* these, and faults that it found, at the last gap between frames */
    int64_t missing;        /* length of the gaps that followed a new fault */
    bool uneven;            /* there are other gaps, so the rate is not constant */
} input;

/* Opens a file and its decoder. Refuses pixel formats that pixels.h does not accept and that
 * picture_planes.h cannot convert. Whether it succeeds or not, input_close releases what there
 * is. */
bool input_open(input *in, const input_settings *settings, pipeline_error *error);

/* Whether the stream has a size and a pixel format that mona accepts. */
bool input_check_video(const input *in, pipeline_error *error);

/* Frames of input_next are turned; the stream is described as they are. The matrix goes, so that no
 * player turns them again, unless the output holds it. For sources of inputs. */
bool input_choose_turn(input *in, pipeline_error *error);

/* Reads a packet of any stream; returns a code of libav. */
int input_packet(input *in, AVPacket *packet);

/* Bytes of the file; 0: unknown, or there are many. */
int64_t input_bytes(const input *in);

/* Numbered pictures, or a still one; NULL: the input is something else. */
const picture_list *input_pictures(const input *in);
still_input *input_still(input *in);

/* The format of every frame. */
frame_format input_format(const input *in);

/* How players turn the frames. */
orientation input_orientation(const input *in);

/* Frames per second, for rate control and raw streams; never 0. */
AVRational input_frame_rate(const input *in);

/* Bits per second of the video alone, at least roughly; 0: unknown. */
int64_t input_bit_rate(const input *in);

/* Frames to come, according to the file; 0: unknown. */
uint64_t input_frame_estimate(const input *in);

/* Decodes the first frame into in->frame ahead of everything else; input_next returns it again,
 * deinterlaced if need be. Packets of other streams are held until then. */
input_result input_first(input *in, pipeline_error *error);

/* Decodes the next frame into in->frame and sets its duration and its pts, which ascend and count
 * in the video's time base, less in->shift. Passes packets of other streams to copy meanwhile. */
input_result input_next(input *in, pipeline_error *error);

/* Seconds of film that damage has taken away, as far as that can be told; 0: none. */
double input_missing(const input *in);

/* The time of in->frame in seconds from the beginning of the file. */
double input_time(const input *in);

/* Call after the last wanted frame: passes on the other streams' packets up to end (in the video's
 * time base), then stops reading. */
bool input_copy_until(input *in, int64_t end, pipeline_error *error);

/* Gets the time that the reading of the video has reached, in its time base. Returning false stops
 * the input. */
typedef bool (*input_pace)(void *context, int64_t time, pipeline_error *error);

/* Passes on the other streams' packets without decoding: before end as input_next does, after it as
 * input_copy_until does. pace is called for every packet of the video. */
bool input_copy_rest(input *in, int64_t end, input_pace pace, void *pace_context,
                     pipeline_error *error);

/* Gets every packet of the video within the wanted part, without decoding. */
typedef bool (*input_surveyor)(void *context, const AVPacket *packet, pipeline_error *error);
bool input_survey(input *in, input_surveyor take, void *context, pipeline_error *error);

/* Whether that many frames are all that the file's index lists, where it is evidence and all of the
 * file is wanted; else an error that says so. */
bool input_has_frames(const input *in, uint64_t found, pipeline_error *error);

/* Whether a file can be entered at its key frames. Call it after input_survey. */
bool input_is_searchable(const input *in);

/* How many frames decoding takes, from a key frame on, until it knows of fields what it would from
 * the beginning. */
unsigned input_lead(const input *in);

/* Goes to the key frame with this pts, in the file's own time, as if nothing before it had been
 * read, but for what is known of interlaced frames. False: it is not found. */
bool input_enter(input *in, int64_t entry, interlace_known fields);

/* The error of in->frame's compression, as far as it is known. */
float input_compression(const input *in);

/* Of a live stream: when the packet of in->frame came in; how many nanoseconds the frame may
 * wait if it may be late by so many (INFINITY: without a bound); how often the connection was
 * made anew. */
uint64_t input_arrival(const input *in);
double input_patience(const input *in, double max_delay_ns);
uint64_t input_reconnects(const input *in);

void input_close(input *in);

#endif
