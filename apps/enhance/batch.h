// SPDX-License-Identifier: Apache-2.0
/* mona enhance on many files: one process after another, each with the same options. */
#ifndef MONA_BATCH_H
#define MONA_BATCH_H

#include <stdbool.h>

/* Enhances what operands (ending with NULL) stand for: files, the videos and pictures in folders
 * (recursive: and in theirs, which the results' folder then gets too), and patterns. argv is the
 * command's line; each file gets it without those operands and without
 * --out-dir. Results go into folder, with manifest.json, which says of every file how it went.
 * Returns the exit status: 0 only if every file was done. */
int batch_run(int argc, char **argv, const char *const *operands, const char *folder,
              bool recursive);

#endif
