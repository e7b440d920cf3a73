// SPDX-License-Identifier: Apache-2.0
/* A job: what is asked of a run, as one struct with one table of its fields. The options of mona
 * enhance and of mona bench, those of libmonavideo, the GStreamer element and the Python package,
 * and the key of a resumed run all come from the table.
 *
 * To add a setting: a field of the struct and a row of the table, which sets the field where it is
 * used; what a text stands for is read in job.c. */
#ifndef MONA_JOB_H
#define MONA_JOB_H

#include <stdatomic.h>

#include "pipeline/io/codecs/encode.h"
#include "pipeline/io/codecs/sound.h"
#include "pipeline/io/outputs/segments.h"
#include "pipeline/io/sources/input.h"
#include "pipeline/job/limits.h"
#include "pipeline/job/option.h"
#include "pipeline/job/stage_models.h"
#include "pipeline/stages/chain.h"
#include "pipeline/stages/resize.h"

/* --width, --height and --size: the scale from the input to a result of that size. */

typedef struct result_size {
    long width, height; /* 0: not given */
    mona_size size;     /* the same */
} result_size;

/* Whether the size of the input is known only when it is read: standard input with a header. shown:
 * the size that it is shown in, where that is known already; else 0. */
bool result_size_is_late(const result_size *asked, mona_size shown, const input_settings *in);

/* image: one picture. *scale stays as it is where no size is given. */
bool result_size_scale(const result_size *asked, mona_size shown, const input_settings *in,
                       bool image, resize_scale *scale, pipeline_error *error);

/* What compressed a picture or film before: the tables of networks have one for each. */
#define JOB_CONTENTS(FIRST, NEXT)                                                                  \
    FIRST(CONTENT_CLEAN, "clean") NEXT(CONTENT_VIDEO, "video") NEXT(CONTENT_ANIME, "anime")
typedef enum job_content { CONTENT_BY_INPUT, WORDS_ENUM(JOB_CONTENTS) } job_content;

typedef struct enhance_report enhance_report; /* pipeline/enhance.h */

/* NULL, 0: not given. job_open sets what follows from the fields that are listed with "set". */
struct job {
    /* The input's name, its part, and how it is read. The run sets what follows from the output:
     * chip, quantisers, no_grain, low_latency, no_audio, keeps_matrix, ends_early, chroma,
     * still_result, keep_result and notes. */
    input_settings input;
    double duration;       /* of the part; negative: not given */
    unsigned allow;        /* 1: a playlist; set: input.list */
    const char *output;    /* "-": standard output */
    bool keep_output;      /* a file that gets this name meanwhile is not replaced */
    const char *format;    /* container of the output; NULL: from its name */
    long frames;           /* at most this many; 0: all */
    bool drop_unsupported; /* leave out what the container cannot hold, rather than fail */
    /* Keep finished segments on disk, and continue from those found there if they are of the same
     * work. Of a part, they stay there. */
    bool resume;
    bool join;           /* only put segments together, all of which are there */
    const char *part;    /* set, with resume: work */
    segments_work work;  /* key NULL: nothing is kept */
    long segment_frames; /* in each; 0: a few seconds' worth */
    /* stages and their models; set: kinds, count and what stage has of networks */
    const char *stages, *sr, *denoise, *colour_model, *kernels;
    network_tier tier;
    job_content content;
    double scale;
    result_size size;
    stage_kind kinds[CHAIN_MAX_STAGES];
    unsigned count;
    stage_settings stage;
    /* encoding; set: codec and options of encoder, and sound */
    const char *codec, *audio;
    option_list encoder_options;
    encoder_choice encoder;
    sound_choice sound;
    long jpeg_quality; /* of pictures, 1 to 100; 0: as stills.h chooses */
    /* computing; set: the device of stage, and the threads. device NULL: the caller chose them. */
    const char *device, *threads;
    /* a live stream; set: input.live */
    bool is_live;
    live_settings live;
    double max_delay; /* seconds that a frame may be late before it is left out */
    const char *limit;
    limits limits;    /* the caller's, which --limit can only lower */
    option_set given; /* the rows that were used */

    /* ---- what no row says ---- */
    pipeline_notes notes;
    /* Called in the caller's thread before the first frame and after each one; may be NULL. */
    void (*progress)(void *context, const enhance_report *report);
    void *progress_context;
    /* Called once the size of a video is known, as it is shown; may change the stages. False: the
     * run ends. May be NULL. */
    bool (*sized)(void *context, uint32_t width, uint32_t height, pipeline_error *error);
    void *sized_context;
    /* A trial of few frames: the encoder is then given at most so many again, until it holds as
     * many as it does in a long film, so that it takes the memory that it does there. 0: not a
     * trial. */
    uint64_t fill;
    bool plan;                   /* of a still picture: only report sizes and memory, or refuse */
    const pipeline_probe *probe; /* NULL: none */
    /* Any thread may set it: a video ends after the frames that were read so far, and is complete.
     * NULL: nothing does. */
    const atomic_bool *ends;
};

/* Before the first value is read. */
#define JOB_NONE                                                                                   \
    {                                                                                              \
        .encoder.crf = -1, .stage.colour_strength = -1, .duration = -1, .input.end = -1            \
    }

/* ---- the table ------------------------------------------------------------------------------ */

/* clang-format off */
typedef enum job_field {
    JOB_INPUT, JOB_OUTPUT,
    JOB_RAW, JOB_FPS, JOB_ON_ERROR, JOB_ALLOW, JOB_LIMIT, JOB_RESUME, JOB_PART, JOB_SEGMENT,
    JOB_DROP_UNSUPPORTED,
    /* from here on also libmonavideo's */
    JOB_FORMAT, JOB_START, JOB_DURATION, JOB_END, JOB_KEEP_START, JOB_FRAMES,
    JOB_STAGES, JOB_SCALE, JOB_HEIGHT, JOB_WIDTH, JOB_TIER, JOB_CONTENT, JOB_SR, JOB_DENOISE,
    JOB_STRENGTH, JOB_DETAIL, JOB_GRAIN, JOB_COLOUR, JOB_COLOUR_MODEL, JOB_TEMPORAL, JOB_DEINTERLACE,
    JOB_FIELDS, JOB_ROTATE,
    JOB_SIZE, JOB_KERNELS,
    JOB_CODEC, JOB_CRF, JOB_MATCH_BITRATE, JOB_PRESET, JOB_LOW_LATENCY, JOB_ENCODER_OPTION,
    JOB_AUDIO,
    JOB_QUALITY,
    JOB_THREADS, JOB_DEVICE, JOB_CPU, JOB_STRIP_ROWS,
    /* up to here */
    JOB_LIVE, JOB_MAX_DELAY, JOB_RECONNECT, JOB_STALL,
    JOB_ROWS,
    JOB_LIBRARY_FIRST = JOB_FORMAT, JOB_LIBRARY_END = JOB_STRIP_ROWS + 1,
    /* those that mona bench has too */
    JOB_WORK_FIRST = JOB_STAGES, JOB_WORK_END = JOB_ROTATE + 1,
    JOB_ENCODING_FIRST = JOB_CODEC, JOB_ENCODING_END = JOB_AUDIO + 1,
} job_field;
/* clang-format on */

#define JOB_CODECS "h264, hevc, av1, vp9, ffv1, prores, gif, rawvideo"

extern const option job_rows[JOB_ROWS];

/* What a run is; the bits of its modes. */
enum {
    JOB_MODE_PICTURE = 1 << 0,      /* one picture into one */
    JOB_MODE_NUMBERED_IN = 1 << 1,  /* numbered pictures */
    JOB_MODE_NUMBERED_OUT = 1 << 2, /* the same, written */
    JOB_MODE_PREVIEW = 1 << 3,
    JOB_MODE_DRY_RUN = 1 << 4,
    JOB_MODE_LIVE = 1 << 5,
    JOB_MODE_BATCH = 1 << 6,  /* each file is a run of its own, which refuses for itself */
    JOB_MODE_FRAMES = 1 << 7, /* of a program's memory: there is no file and no encoder */
};

#define JOB_MODES                                                                                  \
    {                                                                                              \
        "a picture", "numbered pictures as IN", "numbered pictures as OUT", "--preview",           \
            "--dry-run", "--live", "--out-dir", "frames in memory"                                 \
    }

/* Where fields mean nothing. */
enum { JOB_RULES = 29 };
extern const option_rule job_rules[JOB_RULES];

/* ---- running -------------------------------------------------------------------------------- */

/* A job made ready, and what it points to. It must not move. */
typedef struct job_run {
    job job;
    mona_size shown; /* the size of the input, where there is no file to look into; 0: there is */
    bool delays;     /* as in stage_list_read */
    stage_models models;
    char *key, *words; /* of resume_key; NULL: nothing is kept */
} job_run;

/* Completes the part of the clip. False: fields contradict each other. */
bool job_complete(job *j, pipeline_error *error);

/* Prepares run->job, which is complete, for a run in these modes: opens its networks and sets what
 * follows from its fields. What it points to must outlive run. Where the size of the input is known
 * only when it is read, the stages are those of --scale 2 until then. Whether it succeeds or not,
 * job_close releases what there is. */
bool job_open(job_run *run, unsigned modes, pipeline_error *error);
void job_close(job_run *run);

/* The name of a stage's network, or of what takes its place. */
const char *job_network(const job *j, unsigned stage);

/* Whether the output is one picture, by its name. */
bool job_makes_picture(const char *output);

/* Whether the input is one picture, a film of one frame. An animated one is, if the output is
 * one. preview: the output is not the result. */
bool job_takes_picture(const char *input, const char *output, bool preview);

/* Describes a run's work, so that a resumed run can tell whether it is the same. */

/* One line with everything that the encoded frames depend on: the programs and libraries that make
 * them, and each given field whose row says CHANGES_BYTES, as words: " --crf=20". A file that is
 * read, as the input, counts by its bytes: " --input=@..." (picture_list.h). The caller frees it.
 * NULL: *error says why the work could not be told from other work. */
char *resume_key(const job *j, pipeline_error *error);

/* The same fields with the full names of files, so that a later run can do the work from anywhere.
 * The caller frees it. */
char *resume_words(const job *j, pipeline_error *error);

/* Sets the fields of a job with nothing but its defaults. They point to words, which is changed. */
bool resume_words_read(job *j, char *words, pipeline_error *error);

#endif
