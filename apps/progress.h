/* What mona enhance says on stderr while it works. */
#ifndef MONA_PROGRESS_H
#define MONA_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/enhance.h"

typedef struct progress {
    bool quiet;          /* say nothing */
    bool terminal;       /* stderr is one: redraw a line */
    /* Seconds of the monotonic clock; 0: not yet. */
    double started, began, first, shown; /* the command, the video, its first frame's end, a redraw */
} progress;

/* At the command's start. */
progress progress_begin(bool quiet);

/* An enhance_settings.progress callback; context is a progress. */
void progress_show(void *context, const enhance_report *report);

/* A pipeline_notes.say; context is a progress. */
void progress_note(void *context, const char *line);

/* Ends the line, if one is being redrawn. */
void progress_end(progress *p);

/* One line: what was done, how fast, and what it took. */
void progress_summary(progress *p, const char *output, const enhance_report *report);

#endif
