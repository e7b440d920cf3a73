// SPDX-License-Identifier: Apache-2.0
/* libmonavideo: what `mona enhance` does, inside other programs.
 *
 * Frames in, frames out:
 *
 *     mona_video *video = mona_video_open();
 *     mona_video_set(video, "scale", "2");
 *     mona_video_start(video, &format, &result);
 *     for each frame:
 *         while (mona_video_push(video, &frame) == MONA_VIDEO_AGAIN)
 *             mona_video_pull(video, &made), use made
 *     while (mona_video_pull(video, &made) == MONA_VIDEO_OK)
 *         use made
 *     mona_video_close(video);
 *
 * File to file: mona_video_run in place of start, push and pull.
 *
 * Every frame that is pushed comes out once, in order. No frame waits for a later one: it can be
 * pulled as soon as it was pushed; the pull waits until it is computed. Up to MONA_VIDEO_FRAMES are
 * in flight at a time.
 *
 * A process that is forked after mona_video_start cannot push to the handle or pull from it
 * (MONA_VIDEO_ERR_STATE), and may close it.
 *
 * Thread safety: any thread may call any function for any handle, several at a time, except
 * mona_video_close, which must be the last call for its handle. One thread may push while another
 * pulls; of two that push, or two that pull, one waits. The library never prints or exits.
 * mona_video_run takes over FFmpeg's log, which is global to the process, and prints none of it but
 * the line with which FFmpeg, where memory is short, may end the process. SVT-AV1 prints unless the
 * environment has SVT_LOG=-1: the library puts it there when it is loaded, unless there is another.
 * Numbers in options and lines have points, whatever the program's locale.
 *
 * Compatibility: programs compiled with this header run with every library of the same soname. */
#ifndef MONAVIDEO_H
#define MONAVIDEO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default) /* all that libmonavideo.so exports */
#endif

typedef enum mona_video_status {
    MONA_VIDEO_OK = 0,
    MONA_VIDEO_AGAIN = 1,         /* push: pull a frame first; pull: push one first */
    MONA_VIDEO_ERR_ARGUMENT = -1, /* an invalid pointer or stride */
    MONA_VIDEO_ERR_STATE = -2,    /* a call out of order */
    MONA_VIDEO_ERR_OPTION = -3,   /* no such option, or not with this value */
    MONA_VIDEO_ERR_FORMAT = -4,   /* frames of this format cannot be enhanced */
    MONA_VIDEO_ERR_FAILED = -5,   /* mona_video_error says what; no more frames come out */
} mona_video_status;

/* One line of English for a status, without a full stop; never NULL. */
const char *mona_video_status_text(mona_video_status status);

/* The version of the library that runs, such as "0.1.0". */
const char *mona_video_version(void);

/* Confines this process, for good, to what mona_video_run and frames need: it opens only the files
 * (or folders, with all below them) in reads, writes only into the folders in writes, runs no
 * program, makes no connection and reaches no other process. Both lists end with NULL. For a
 * process that works for strangers and does nothing else; the library never calls it itself.
 * Threads that run already keep their right to open files, so call it before any is started.
 * Returns what this kernel has for that, as in "Landlock (ABI 6) and seccomp"; "none": nothing is
 * confined. */
const char *mona_video_confine(const char *const *reads, const char *const *writes);

/* The .mona model of a built-in network such as "sr_x2_fast", for libmona: *size bytes, aligned for
 * mona_model_open. NULL: there is none of that name. */
const void *mona_video_model(const char *name, size_t *size);

typedef struct mona_video mona_video;

/* NULL: out of memory. */
mona_video *mona_video_open(void);

/* Waits for the frames in flight and releases everything, including the planes of a pulled frame.
 * NULL is allowed. */
void mona_video_close(mona_video *video);

/* Copies one line that says why the last failed call for this handle failed; "" if none failed. The
 * line is cut to fit bytes with its final 0. Returns the length of the whole line. */
size_t mona_video_error(mona_video *video, char *text, size_t bytes);

/* Sets an option of `mona enhance` by its name without the dashes, as typed there: "scale" "1.5",
 * "stages" "denoise", "tier" "best"; value NULL for options without one. `mona enhance --help`
 * lists them; those under Enhancement, Encoding and Computation are accepted, and format, start,
 * duration, end and frames. Options for encoding and for a part of a clip, and deinterlace, fields
 * and rotate, affect mona_video_run alone. Call it before start or run. */
mona_video_status mona_video_set(mona_video *video, const char *option, const char *value);

typedef enum mona_video_kind {
    MONA_VIDEO_FLAG,   /* takes no value */
    MONA_VIDEO_TEXT,   /* any text, of which the run makes sense */
    MONA_VIDEO_FILE,   /* a path, or the name of a built-in network */
    MONA_VIDEO_CHOICE, /* one of the words in `value`, which separates them by '|' */
    MONA_VIDEO_WHOLE,  /* a whole number from minimum to maximum */
    MONA_VIDEO_NUMBER, /* a number from minimum to maximum */
    MONA_VIDEO_SHARE,  /* a number from 0 to 1, or a word that `initial` or `value` has: "auto" */
    MONA_VIDEO_SIZE,   /* "1920x1080" */
    MONA_VIDEO_TIME,   /* "12.5", "1:30" or "800ms" */
    MONA_VIDEO_LIST,   /* a text; each use adds one */
} mona_video_kind;

/* An option that mona_video_set takes. Later versions take more. */
typedef struct mona_video_option {
    const char *name;    /* "tier" */
    const char *value;   /* what its value is: "N", "on|off"; NULL: it takes none */
    const char *initial; /* the value that stands if none is set; NULL: none, or as help says */
    const char *help;    /* one line */
    mona_video_kind kind;
    double minimum, maximum;
    bool frames; /* it also works for frames; else only for mona_video_run */
} mona_video_option;

/* Fills in option number i. False: there are fewer. */
bool mona_video_option_at(size_t i, mona_video_option *option);

/* ---- frames ------------------------------------------------------------------------------- */

enum { MONA_VIDEO_PLANES = 4, MONA_VIDEO_FRAMES = 3 };

/* Where samples of subsampled chroma lie: as in MPEG-2 to H.265, in JPEG and MPEG-1, and in UHD. */
typedef enum mona_video_chroma {
    MONA_VIDEO_CHROMA_LEFT,
    MONA_VIDEO_CHROMA_CENTRE,
    MONA_VIDEO_CHROMA_TOP_LEFT,
} mona_video_chroma;

/* One plane of luma or grey; with two of chroma, three; with alpha, four. */
typedef struct mona_video_format {
    uint32_t width, height; /* of luma */
    uint32_t planes;
    uint32_t shift_x, shift_y; /* chroma has 1 / 2^shift of the columns and rows, rounded up: 1, 1
                                  is 4:2:0 */
    uint32_t bits;             /* of a sample, 8 to 11; above 8 they lie in the low bits of 16, and
                                  larger samples are refused */
    mona_video_chroma chroma;
    bool full_range; /* samples go from 0 to 2^bits - 1; else studio range */
} mona_video_format;

typedef struct mona_video_frame {
    void *data[MONA_VIDEO_PLANES];       /* the first sample of each plane */
    ptrdiff_t stride[MONA_VIDEO_PLANES]; /* bytes from row to row; may be negative */
    int64_t time;                        /* the caller's; comes out as it went in */
    void *user;                          /* the same */
} mona_video_frame;

/* Opens the stages for frames of this format; *out is the format of the results. */
mona_video_status mona_video_start(mona_video *video, const mona_video_format *in,
                                   mona_video_format *out);

/* Copies a frame in and starts its work. MONA_VIDEO_AGAIN: MONA_VIDEO_FRAMES are in flight or
 * pulled. */
mona_video_status mona_video_push(mona_video *video, const mona_video_frame *frame);

/* Waits for the oldest frame and returns its planes, which belong to the library and stay valid
 * until the next pull or close. MONA_VIDEO_AGAIN: every frame pushed so far has been pulled. */
mona_video_status mona_video_pull(mona_video *video, mona_video_frame *frame);

/* ---- files -------------------------------------------------------------------------------- */

typedef struct mona_video_progress {
    uint32_t in_width, in_height, out_width, out_height;
    uint64_t frames;   /* written so far */
    uint64_t expected; /* according to the input; 0: unknown */
} mona_video_progress;

typedef struct mona_video_callbacks {
    /* Called in the caller's thread before the first frame and after each one. Returning false ends
     * the run: the output is completed with the frames that were read. May be NULL. */
    bool (*progress)(void *context, const mona_video_progress *progress);
    /* Receives lines about what was changed or left out, on any thread. May be NULL. */
    void (*note)(void *context, const char *line);
    void *context;
} mona_video_callbacks;

/* Enhances a file into another, as `mona enhance -y INPUT -o OUTPUT` would: a video, numbered
 * pictures (in/%04d.png) or one picture. OUTPUT appears under its name only when it is complete.
 * callbacks may be NULL. The handle can be used again afterwards, with the same options. */
mona_video_status mona_video_run(mona_video *video, const char *input, const char *output,
                                 const mona_video_callbacks *callbacks);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
