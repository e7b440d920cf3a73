// SPDX-License-Identifier: Apache-2.0
/* A short real run of mona enhance whose result goes to a temporary folder. Previews and plans use
 * it, so that they show and measure what the whole run would do. */
#ifndef MONA_TEST_RUN_H
#define MONA_TEST_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/enhance.h"
#include "apps/enhance/step_clock.h"
#include "apps/cli/temp_folder.h"

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

#endif
