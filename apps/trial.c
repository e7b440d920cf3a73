#include "trial.h"

#include <stdio.h>

#include "options.h"
#include "pipeline/clock.h"

static void note_beginning(void *context, const enhance_report *report)
{
    uint64_t *began = context;
    if (!report->frames)
        *began = clock_ns();
}

bool trial_run(trial *t, const enhance_settings *settings, bool image, const char *suffix,
               uint64_t frames)
{
    pipeline_error error = {0};
    enhance_settings s = *settings;
    uint64_t began = 0;
    *t = (trial){0};
    if (!temp_folder_open(&t->folder))
        return false;
    snprintf(t->result, sizeof t->result, "%s/result%s", t->folder.path, suffix);
    s.output = t->result;
    s.frames = frames;
    s.resume = false;
    step_clock_open(&t->clock, s.kinds, s.count);
    s.probe = &t->clock.probe;
    s.progress = note_beginning;
    s.progress_context = &began;
    const bool good =
        image ? enhance_still(&s, &t->report, &error) : enhance_video(&s, &t->report, &error);
    t->seconds = 1e-9 * (double)(clock_ns() - began);
    return good || !cli_fail(EXIT_FAILED, "%s", error.text);
}

void trial_close(trial *t)
{
    temp_folder_close(&t->folder);
    *t = (trial){0};
}
