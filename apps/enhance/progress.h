// SPDX-License-Identifier: Apache-2.0
/* Progress of mona enhance on stderr: a bar on a terminal, a line every few seconds elsewhere, or
 * JSON lines. */
#ifndef MONA_PROGRESS_H
#define MONA_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cjson/cJSON.h>

#include "apps/enhance/step_clock.h"
#include "apps/timing/sampling.h"
#include "pipeline/enhance.h"
#include "apps/devices/telemetry.h"

/* Latencies of any number of frames in constant memory, and the metrics of a run as OpenMetrics
 * text. */

/* Latencies from 2^LIVE_LOWEST ns on are counted in steps of 1 / LIVE_STEPS octave, so that
 * percentiles are exact to 2.2 %. */
enum { LIVE_LOWEST = 10, LIVE_OCTAVES = 26, LIVE_STEPS = 32 };

typedef struct live_log {
    uint64_t counts[LIVE_OCTAVES * LIVE_STEPS];
    uint64_t count, max_ns;
    double sum_ns;
} live_log;

void live_log_add(live_log *log, uint64_t ns);

/* In ms; p from 0 to 100. 0 without a frame. */
double live_log_percentile(const live_log *log, double p);

/* Writes FILE, which readers see whole. Every sample has the label camera, so that those of several
 * runs do not collide; camera NULL: it is FILE's name without folder and suffix. sensors: what is
 * unknown is left out. False: errno says why. */
bool live_log_write(const live_log *log, const char *file, const char *camera,
                    const enhance_report *report, const telemetry *sensors);

#define PROGRESS_STYLES(FIRST, NEXT)                                                               \
    FIRST(PROGRESS_AUTO, "auto")                                                                   \
    NEXT(PROGRESS_BAR, "bar") NEXT(PROGRESS_PLAIN, "plain") NEXT(PROGRESS_JSON, "json")
typedef enum progress_style { WORDS_ENUM(PROGRESS_STYLES) } progress_style;

typedef struct progress {
    bool quiet; /* print nothing */
    const job *settings;
    progress_style style;
    /* Seconds of the monotonic clock; 0: not yet. */
    double started, began, first, shown; /* start of the command, start of the video, end of its
                                            first frame, last line */
    double ended;                        /* end of the result */
    step_clock clock;
    /* An earlier moment: the steps' current times are counted from there. */
    double lasted;
    uint64_t last_frames, last_spent[CHAIN_MAX_STEPS];
    bool drawn;                   /* the bar is on the terminal */
    samples latency;              /* of each frame, if it is kept */
    bool keep_latency, stats;     /* set by the caller; stats: figures are printed at the end */
    const char *metrics, *camera; /* the same: a file for live_log_write, NULL: none; its label */
    telemetry_log sensors;        /* with stats or metrics */
    live_log frames;              /* of a live stream, or with metrics */
    double metrics_written;
    bool metrics_failed; /* which was said */
    int notify;          /* of watchdog_open; negative: nobody listens; set by the caller */
    double notified;
} progress;

/* At the command's start. */
progress progress_begin(bool quiet, progress_style style);

/* Lets settings, whose stages are known, report to p. Neither may move before progress_close. */
void progress_watch(progress *p, job *settings);

/* An job.progress callback; context is a progress. */
void progress_show(void *context, const enhance_report *report);

/* A pipeline_notes.say; context is a progress. */
void progress_note(void *context, const char *line);

/* Ends the line, if one is being redrawn. */
void progress_end(progress *p);

/* Prints one line: what was done, how fast, and what it took. */
void progress_summary(progress *p, const char *output, const enhance_report *report);

void progress_close(progress *p);

/* For --stats. "latency": statistics of the times from a frame's decoding until the encoder takes
 * it; "steps": for each, its ms per frame and the share of the time it was working; "telemetry"
 * (telemetry.h). Only this run's frames count, not those of the run that it continues. */
cJSON *enhance_stats(const progress *p, const enhance_report *report);

/* The same as a table. */
void enhance_stats_print(FILE *f, const progress *p, const enhance_report *report);

/* Where a unit of systemd asks with WatchdogSec to be told that frames come out: connects to the
 * socket that the variable NOTIFY_SOCKET names. Call it before the process is confined. Negative:
 * there is none. */
int watchdog_open(void);

/* Says that all is well. notify may be negative. */
void watchdog_tell(int notify);

#endif
