// SPDX-License-Identifier: Apache-2.0
/* A job: what is asked of a run, as one struct with one table of its fields. The options of mona
 * enhance and of mona bench, those of libmonavideo, the GStreamer element and the Python package,
 * and the key of a resumed run all come from the table.
 *
 * To add a setting: a field of the struct, a row of the table, and what it does in job.c. */
#ifndef MONA_JOB_H
#define MONA_JOB_H

#include "pipeline/enhance.h"
#include "pipeline/job/limits.h"
#include "pipeline/job/option.h"
#include "pipeline/job/result_size.h"
#include "pipeline/job/stage_models.h"

/* NULL, 0: not given. */
typedef struct job {
    const char *input, *output;
    /* how the input is read, and which part of it */
    const char *raw, *rate, *on_error, *allow, *limit, *deinterlace, *fields, *rotate;
    option_cut cut;
    bool keep_start;
    long frames;
    /* how the output is kept */
    const char *format;
    bool resume, drop_unsupported;
    const char *part;
    long segment_frames;
    /* stages and their models */
    const char *stages, *tier, *content, *sr, *denoise, *colour_model, *temporal;
    double scale;
    result_size size;
    double strength, detail; /* negative: auto */
    double colour;           /* negative: not given */
    /* encoding */
    const char *codec, *preset, *audio;
    double crf; /* negative: not given */
    bool match_bitrate, low_latency;
    option_list encoder;
    long quality;
    /* computing; device NULL: the caller chooses it, and the threads */
    const char *device, *cpu, *threads;
    long strip_rows;
    /* a live stream */
    bool live;
    double max_delay, reconnect, stall;
    limits limits;    /* the caller's, which --limit can only lower */
    option_set given; /* the rows that were used */
} job;

/* Before the first value is read. */
#define JOB_NONE                                                                                   \
    {                                                                                              \
        .crf = -1, .colour = -1, .cut = OPTION_CUT_NONE                                            \
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
    JOB_STRENGTH, JOB_DETAIL, JOB_COLOUR, JOB_COLOUR_MODEL, JOB_TEMPORAL, JOB_DEINTERLACE,
    JOB_FIELDS, JOB_ROTATE,
    JOB_SIZE,
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

/* A job made ready: the settings of a run, and what they point to. It must not move. */
typedef struct job_run {
    enhance_settings settings;
    job asked;
    mona_size shown; /* the size of the input, where there is no file to look into; 0: there is */
    bool delays;     /* as in stage_list_read */
    stage_models models;
    live_settings live;
    char *key, *words; /* of resume_key.h; NULL: nothing is kept */
} job_run;

/* Completes the part of the clip. False: fields contradict each other. */
bool job_complete(job *j, pipeline_error *error);

/* Prepares a job that is complete for a run in these modes, opens its networks and sets all of
 * run->settings but the callbacks and what no field says, which may be set already, as must shown
 * and delays be. What j points to must outlive run. Where the size of the input is known only when
 * it is read, the stages are those of --scale 2 until then. Whether it succeeds or not, job_close
 * releases what there is. */
bool job_open(job_run *run, const job *j, unsigned modes, pipeline_error *error);
void job_close(job_run *run);

/* Whether the output is one picture, by its name. */
bool job_makes_picture(const char *output);

/* Whether the input is one picture, a film of one frame. An animated one is, if the output is
 * one. preview: the output is not the result. */
bool job_takes_picture(const char *input, const char *output, bool preview);

#endif
