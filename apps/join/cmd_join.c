// SPDX-License-Identifier: Apache-2.0
/* mona join: one file of the parts that enhance --part has made. */
#include <stdio.h>
#include <stdlib.h>

#include <libavutil/log.h>

#include "apps/cli/commands.h"
#include "apps/cli/confine.h"
#include "apps/enhance/batch.h"
#include "pipeline/enhance.h"
#include "pipeline/io/outputs/segments.h"
#include "pipeline/job/job.h"

typedef struct arguments {
    bool yes, no, quiet;
} arguments;

/* Whose files are those of a job. */
static const command work = {.parts = {{OPTIONS(job_rows)}}};

/* What the parts were made of, and how. *words is the caller's. */
static bool read_job(job *j, const char *output, char **words, pipeline_error *error)
{
    option_defaults(job_rows, JOB_ROWS, j);
    *words = segments_words(output, error);
    if (!*words || !resume_words_read(j, *words, error))
        return false;
    j->output = output;
    return job_complete(j, error);
}

static bool join(const char *output, overwrite answer, bool quiet)
{
    job_run run = {.job = JOB_NONE};
    job *j = &run.job;
    enhance_report report = {0};
    pipeline_error error = {0};
    char *words = NULL;
    j->notes = (pipeline_notes){quiet ? NULL : cli_note, NULL};
    j->join = true;
    bool good = read_job(j, output, &words, &error);
    if (good)
        confine(&work, j, &(const char *const){NULL}, j->allow ? CONFINE_LISTS : 0);
    good = good && job_open(&run, 0, &error);
    if (!good)
        cli_fail_of(&error);
    good = good && overwrite_allowed(answer, output, j->input.path, false, &j->keep_output);
    if (good && !enhance_run(j, &report, &error))
        good = cli_fail_of(&error) == EXIT_SUCCESS;
    if (good && !quiet)
        fprintf(stderr, "%s: %llu frames\n", output, (unsigned long long)report.frames);
    job_close(&run);
    free(words);
    return good;
}

static int run(void *values, const command_line *line)
{
    arguments *a = values;
    overwrite answer;
    if (!overwrite_read(&answer, a->yes, a->no))
        return EXIT_USAGE;
    av_log_set_level(AV_LOG_QUIET);
    return join(line->operands[0], answer, a->quiet) ? EXIT_SUCCESS : EXIT_FAILED;
}

static const option rows[] = {
    OVERWRITE_ROWS(arguments, "Output"),
    {"--quiet", NULL, OPTION_FLAG, KEEPS_BYTES, offsetof(arguments, quiet), NULL, "Other",
     .help = "print only errors"},
};

const command command_join = {
    .name = "join",
    .summary = "put the parts of a video together",
    .run = run,
    .values = &(arguments){0},
    .confined = CONFINED_LATER,
    .usage = "OUT [OPTION]...",
    .description = "Makes OUT of the parts that mona enhance --part has left in OUT.resume, "
                   "without decoding or encoding, and removes them. Sound and everything else is "
                   "copied from the input, which must still be where it was. If a part is missing, "
                   "damaged or of another film, says so and makes nothing.",
    .examples = "mona enhance in.mp4 -o out.mp4 --part 1/2  # on one machine\n"
                "mona enhance in.mp4 -o out.mp4 --part 2/2  # on another one with the same folder\n"
                "mona join out.mp4                          # the same as with --resume alone\n",
    .parts = {{OPTIONS(rows)}},
    .operands_min = 1,
    .operands_max = 1,
};
