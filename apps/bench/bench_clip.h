// SPDX-License-Identifier: Apache-2.0
/* A folder for the files that a benchmark of the pipeline reads and writes, and synthetic clips in
 * it. */
#ifndef BENCH_CLIP_H
#define BENCH_CLIP_H

#include <stdbool.h>
#include <stddef.h>

#include "mona.h"
#include "apps/cli/temp_folder.h"

typedef struct bench_clip {
    temp_folder folder;
    char frames[TEMP_FOLDER_PATH], input[TEMP_FOLDER_PATH]; /* input: what to open for reading
                                                               the frames */
    char output[TEMP_FOLDER_PATH];
} bench_clip;

/* False, with a message. Close it in any case. */
bool bench_clip_open(bench_clip *c);

/* Writes `frames` frames of gradients and noise, which are played repeatedly, `plays` frames in
 * all. fps 0: 30. */
bool bench_clip_make(bench_clip *c, mona_size size, long frames, long plays, double fps);

/* Removes everything. */
void bench_clip_close(bench_clip *c);

#endif
