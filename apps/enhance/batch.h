// SPDX-License-Identifier: Apache-2.0
/* mona enhance on many files: one process after another, each with the same options. */
#ifndef MONA_BATCH_H
#define MONA_BATCH_H

#include <stdbool.h>

#include "apps/enhance/overwrite.h"

typedef struct batch_request {
    int argc;
    char **argv; /* the command's arguments */
    const char *const *operands;
    const char *folder;
    bool recursive, quiet;
    overwrite answer;
} batch_request;

/* Enhances what operands (ending with NULL) stand for: files, patterns, and the videos and pictures
 * in folders. recursive: also in folders below, which are recreated in the results' folder. Each
 * file gets argv without those operands and without --out-dir. Results go into folder, together
 * with manifest.json, which has the outcome for every file. A result that exists and is not older
 * than its input is kept, unless the answer is yes; if it is no, older ones are kept too. Returns
 * the exit status: 0 only if every file was done or kept. */
int batch_run(const batch_request *request);

#endif
