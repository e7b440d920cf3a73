// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/dry_run.h"

#include <stdio.h>
#include <string.h>

#include "apps/cli/options.h"
#include "pipeline/base/clock.h"

static void note_beginning(void *context, const enhance_report *report)
{
    uint64_t *began = context;
    if (!report->frames)
        *began = clock_ns();
}

/* Messages should show the name of the requested result, not the trial's. */
typedef struct renaming {
    const test_run *t;
    const job *asked;
} renaming;

static void rename_result(const renaming *names, const char *line, char *to, size_t size)
{
    const char *at = strstr(line, names->t->result);
    if (at)
        snprintf(to, size, "%.*s%s%s", (int)(at - line), line, names->asked->output,
                 at + strlen(names->t->result));
    else
        snprintf(to, size, "%s", line);
}

static void note_renamed(void *context, const char *line)
{
    const renaming *names = context;
    const pipeline_notes *notes = &names->asked->notes;
    char text[sizeof(pipeline_error)];
    rename_result(names, line, text, sizeof text);
    if (notes->say)
        notes->say(notes->context, text);
}

bool test_run_make(test_run *t, const job *settings, const char *suffix, uint64_t frames)
{
    pipeline_error error = {0};
    job s = *settings;
    uint64_t began = 0;
    *t = (test_run){0};
    if (!temp_folder_open(&t->folder))
        return false;
    snprintf(t->result, sizeof t->result, "%s/result%s", t->folder.path, suffix);
    s.output = t->result;
    s.frames = frames;
    s.work = (segments_work){0};
    step_clock_open(&t->clock, s.kinds, s.count);
    s.probe = &t->clock.probe;
    s.progress = note_beginning;
    s.progress_context = &began;
    renaming names = {t, settings};
    s.notes = (pipeline_notes){note_renamed, &names};
    const bool good = enhance_run(&s, &t->report, &error);
    t->seconds = 1e-9 * (double)(clock_ns() - began);
    if (good)
        return true;
    char text[sizeof error.text];
    rename_result(&names, error.text, text, sizeof text);
    return cli_fail(0, "%s", text);
}

void test_run_close(test_run *t)
{
    temp_folder_close(&t->folder);
    *t = (test_run){0};
}
