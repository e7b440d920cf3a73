// SPDX-License-Identifier: Apache-2.0
/* Compares two videos or pictures frame by frame. */
#ifndef MONA_COMPARE_H
#define MONA_COMPARE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "pipeline/base/error.h"
#include "pipeline/quality/flicker.h"
#include "pipeline/io/sources/input.h"
#include "pipeline/quality/quality.h"
#include "pipeline/image/orientation.h"

typedef struct compare_pair {
    uint64_t index;       /* from 0 */
    double time;          /* of b's frame, in seconds */
    const AVFrame *a, *b; /* as decoded; valid during the call */
    quality quality;
} compare_pair;

typedef struct compare_settings {
    const char *a, *b;
    double start;     /* seconds of a to skip at the beginning */
    double end;       /* seconds after which a is left out; 0: no end */
    uint64_t frames;  /* at most this many; 0: all */
    orientation turn; /* how a's frames are turned before; zeroed: not at all */
    bool scale;       /* convert a if its size, format or range differs from b's */
    /* Called for each pair. Returning false stops, with the reason in error. May be NULL. */
    bool (*pair)(void *context, const compare_pair *pair, pipeline_error *error);
    void *context;
} compare_settings;

typedef struct compare_side {
    int width, height, pix_fmt; /* of its first frame */
    char codec[32];
    double rate;        /* frames a second; 0: unknown */
    AVRational aspect;  /* of its pixels */
    orientation turn;   /* how players turn its frames; they are compared unturned */
    int64_t file_bytes; /* 0: unknown */
} compare_side;

/* One row of results, for a plane or for all: figures of all frames together and of the worst
 * frame. PSNR is that of the mean squared error. */
typedef struct compare_row {
    double mse, ssim;
    double worst_mse, worst_ssim;
    uint64_t worst_mse_frame, worst_ssim_frame;
} compare_row;

typedef struct compare_result {
    compare_side a, b;
    int pix_fmt;     /* that was compared; packed RGB is split into planes */
    double expected; /* pairs; 0: unknown */
    uint64_t frames;
    unsigned planes;
    compare_row rows[QUALITY_ROWS];
    flicker flicker; /* where a stands still; empty for a single frame */
} compare_result;

/* Fails if the two cannot be compared, with the reason in error: different sizes, formats, ranges
 * or numbers of frames. result holds what was measured until then. */
bool compare_files(const compare_settings *settings, compare_result *result, pipeline_error *error);

#endif
