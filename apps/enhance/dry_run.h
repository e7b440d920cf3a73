// SPDX-License-Identifier: Apache-2.0
/* mona enhance --dry-run: shows what would be done, and how fast, without doing it. */
#ifndef MONA_DRY_RUN_H
#define MONA_DRY_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "apps/cli/save.h"
#include "apps/enhance/step_clock.h"
#include "pipeline/enhance.h"
#include "pipeline/io/sources/input.h"
#include "pipeline/job/job.h"

/* Prints the plan of a run on stdout: stages, sizes, memory, streams, and the speed of a short real
 * run, including the encoder. The output is not touched. False: the real run would
 * fail; one line was printed. */
bool dry_run(const job *settings, bool json);

/* The plans of many files as a table: a row for each, but none for what is no plan, and one for all
 * of them. */
void plan_table_print(const cJSON *plans);

/* ---- describe -------------------------------------------------------------------------------- */

/* Adds the settings as the members "networks", "strength", "temporal", "deinterlace" and, for a
 * video, "encoder". report: that of a run that has begun. */
void enhance_describe(cJSON *to, const job *settings, const enhance_report *report);

/* Adds the fields that were given and on which the result's bytes depend, as the member
 * "options". */
void enhance_describe_options(cJSON *to, const job *j);

/* A short real run of mona enhance whose result goes to a temporary folder. Previews and plans use
 * it, so that they show and measure what the whole run would do. */

typedef struct test_run {
    temp_folder folder;
    char result[TEMP_FOLDER_PATH]; /* the file, or the pattern of pictures; "": there is none */
    enhance_report report;
    step_clock clock;
    double seconds; /* from the start of the first frame until the result was complete */
} test_run;

/* Runs settings on at most `frames` frames from settings->input.start on. suffix: that of the
 * result, e.g. ".mkv". False: one line was printed. Close it in any case. */
bool test_run_make(test_run *t, const job *settings, const char *suffix, uint64_t frames);

/* Removes the result. A zeroed one is allowed. */
void test_run_close(test_run *t);

/* Estimates the bytes of the whole run's result. Scales that of a trial up to `expected` frames:
 * those that depend on no other ones, the others, and the copied streams. The input's bytes say by
 * how much the rest of the film is harder or easier to encode than the beginning, which the trial
 * had. source: just opened; some of it is read. 0: unknown.
 *
 * Measured on eight clips of 60 to 325 frames with trials of 19 to 120: -18 % to +2 % with x264 at
 * its default; on one clip -23 % with FFV1 and x265, -42 % with libvpx, whose trial had 31 frames.
 * */
double size_estimate(const test_run *t, input *source, double expected);

/* Writes "3.4 MB", with two digits. */
void size_estimate_text(char *text, size_t size, double bytes);

#endif
