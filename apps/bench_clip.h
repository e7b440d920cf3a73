/* A folder for what a benchmark of the pipeline reads and writes, and synthetic clips in it. */
#ifndef BENCH_CLIP_H
#define BENCH_CLIP_H

#include <stdbool.h>
#include <stddef.h>

#include "mona.h"

typedef struct bench_clip {
    char folder[64];
    char frames[80], input[80], output[80]; /* input: what to open, made of frames */
} bench_clip;

/* False, with a message. Close it in any case. */
bool bench_clip_open(bench_clip *c);

/* Writes so many frames of gradients and noise and has them played over and over, `plays` frames in
 * all. fps 0: 30. */
bool bench_clip_make(bench_clip *c, mona_size size, long frames, long plays, double fps);

/* Removes everything. */
void bench_clip_close(const bench_clip *c);

#endif
