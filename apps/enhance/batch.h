// SPDX-License-Identifier: Apache-2.0
/* mona enhance on many files: one process after another, each with the same options. */
#ifndef MONA_BATCH_H
#define MONA_BATCH_H

#include <stdbool.h>

#include "apps/cli/options.h"
#include "apps/enhance/progress.h"

/* -y and -n: whether an output that exists may be replaced. */

typedef enum overwrite { OVERWRITE_ASK, OVERWRITE_YES, OVERWRITE_NO } overwrite;

/* The rows of both, of a command whose values have `bool yes, no`. */
#define OVERWRITE_ROWS(values, group)                                                              \
    {"--overwrite",                                                                                \
     "-y",                                                                                         \
     OPTION_FLAG,                                                                                  \
     KEEPS_BYTES,                                                                                  \
     offsetof(values, yes),                                                                        \
     NULL,                                                                                         \
     group,                                                                                        \
     .help =                                                                                       \
         "overwrite OUT if it exists; without -y, mona asks on a terminal and refuses elsewhere"}, \
    {                                                                                              \
        "--no-overwrite", "-n", OPTION_FLAG, KEEPS_BYTES, offsetof(values, no), NULL, group,       \
            .help = "never overwrite OUT, and never ask"                                           \
    }

/* What they say together. False: one line was printed. */
bool overwrite_read(overwrite *answer, bool yes, bool no);

/* Asks on a terminal, unless the input comes from there; refuses elsewhere. resume: an interrupted
 * run is continued, for which the question was answered when it began. keep: nothing is there to
 * overwrite, and nothing may be later either. False: one line was printed. */
bool overwrite_allowed(overwrite answer, const char *output, const char *input, bool resume,
                       bool *keep);

typedef struct batch_request {
    const command_line *line;
    const char *folder;
    const char *format; /* of videos, as -f has it; NULL: that of the input's name */
    progress_style progress;
    bool recursive, quiet, dry_run, json;
    overwrite answer;
} batch_request;

/* Enhances what the line's operands stand for: files, patterns, and the videos and pictures in
 * folders. recursive: also in folders below, which are recreated in the results' folder. Each file
 * gets the line without those operands and without --out-dir. Results go into folder, together with
 * manifest.json, which has the outcome for every file. A result that exists and is not older
 * than its input is kept, unless the answer is yes; if it is no, older ones are kept too. Returns
 * the exit status: 0 only if every file was done or kept. dry_run: nothing is written; prints what
 * each file and all of them would take, or the plans as JSON. */
int batch_run(const batch_request *request);

/* FOLDER/NAME, with the suffix .png or .mkv if mona does not write the kind of file that name has
 * or input is, and of a video with that of format, if it is not NULL. The caller frees it. */
char *batch_output(const char *folder, const char *input, const char *name, const char *format);

#endif
