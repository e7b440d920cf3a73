// SPDX-License-Identifier: Apache-2.0
/* What mona enhance says on stderr while it works: a bar on a terminal, a line every few seconds
 * elsewhere, or JSON lines. */
#ifndef MONA_PROGRESS_H
#define MONA_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/enhance.h"
#include "apps/enhance/step_clock.h"
#include "apps/devices/telemetry_log.h"

typedef enum progress_style { PROGRESS_BAR, PROGRESS_PLAIN, PROGRESS_JSON } progress_style;

typedef struct progress {
    bool quiet; /* say nothing */
    const enhance_settings *settings;
    progress_style style;
    /* Seconds of the monotonic clock; 0: not yet. */
    double started, began, first, shown; /* the command, the video, its first frame's end, a line */
    double ended;                        /* the result */
    step_clock clock;
    /* A while ago: what steps take now is since then. */
    double lasted;
    uint64_t last_frames, last_spent[STEP_CLOCK_STEPS];
    bool drawn;         /* the bar is on the terminal */
    double *latency_ms; /* of each frame; NULL: not kept */
    size_t latency_count, latency_capacity;
    bool keep_latency, stats; /* set by the caller; stats: the end comes with figures */
    telemetry_log sensors;    /* with stats */
} progress;

/* The choices of an option for it, with '|' between. */
#define PROGRESS_STYLES "auto|bar|plain|json"

/* At the command's start. style: one of PROGRESS_STYLES. */
progress progress_begin(bool quiet, const char *style);

/* Has settings, whose stages are known, report to p. Neither may move before progress_close. */
void progress_watch(progress *p, enhance_settings *settings);

/* An enhance_settings.progress callback; context is a progress. */
void progress_show(void *context, const enhance_report *report);

/* A pipeline_notes.say; context is a progress. */
void progress_note(void *context, const char *line);

/* Ends the line, if one is being redrawn. */
void progress_end(progress *p);

/* One line: what was done, how fast, and what it took. */
void progress_summary(progress *p, const char *output, const enhance_report *report);

void progress_close(progress *p);

#endif
