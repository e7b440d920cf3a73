#include "trial.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "pipeline/clock.h"

static void note_beginning(void *context, const enhance_report *report)
{
    uint64_t *began = context;
    if (!report->frames)
        *began = clock_ns();
}

static bool make_folder(trial *t)
{
    const char *root = getenv("TMPDIR");
    const int length =
        snprintf(t->folder, sizeof t->folder, "%s/mona-XXXXXX", root && *root ? root : "/tmp");
    if (length < (int)sizeof t->folder && mkdtemp(t->folder))
        return true;
    cli_fail(EXIT_FAILED, "%s: a temporary folder cannot be made: %s", t->folder, strerror(errno));
    t->folder[0] = 0;
    return false;
}

bool trial_run(trial *t, const enhance_settings *settings, bool image, const char *suffix,
               uint64_t frames)
{
    pipeline_error error = {0};
    enhance_settings s = *settings;
    uint64_t began = 0;
    *t = (trial){0};
    if (!make_folder(t))
        return false;
    snprintf(t->result, sizeof t->result, "%s/result%s", t->folder, suffix);
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

/* The result may be many pictures. */
static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    char name[512];
    while (folder && (entry = readdir(folder)))
        if (snprintf(name, sizeof name, "%s/%s", path, entry->d_name) < (int)sizeof name)
            unlink(name);
    if (folder)
        closedir(folder);
    rmdir(path);
}

void trial_close(trial *t)
{
    if (t->folder[0])
        remove_folder(t->folder);
    *t = (trial){0};
}
