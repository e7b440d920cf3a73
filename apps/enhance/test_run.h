// SPDX-License-Identifier: Apache-2.0
/* A short real run of mona enhance whose result goes to a temporary folder: what a preview shows
 * and a plan measures is what the whole run would do. */
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
    double seconds; /* from the first frame's start until the result was complete */
} test_run;

/* Runs settings on at most frames frames from settings->start on. suffix: of the result, ".mkv".
 * Prints one line and gives false when it cannot. Close it in any case. */
bool test_run_make(test_run *t, const enhance_settings *settings, bool image, const char *suffix,
                   uint64_t frames);

/* Removes the result. A zeroed trial is allowed. */
void test_run_close(test_run *t);

#endif
