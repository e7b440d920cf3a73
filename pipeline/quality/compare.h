// SPDX-License-Identifier: Apache-2.0
/* Two videos or pictures, frame by frame. */
#ifndef MONA_COMPARE_H
#define MONA_COMPARE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "pipeline/error.h"
#include "pipeline/quality/flicker.h"
#include "pipeline/io/footage.h"
#include "pipeline/quality/quality.h"
#include "pipeline/image/orientation.h"

typedef struct compare_pair {
    uint64_t index;       /* from 0 */
    double time;          /* of b's frame, in seconds */
    const AVFrame *a, *b; /* as decoded; they last as long as the call */
    quality quality;
} compare_pair;

typedef struct compare_settings {
    const char *a, *b;
    double start;    /* seconds left out at the beginning of a */
    double end;      /* seconds after which a is left out; 0: there is no end */
    uint64_t frames; /* at most; 0: all */
    bool scale;      /* where size or format of a is not b's, convert it */
    /* Called for each pair; false stops, error says why. NULL: not. */
    bool (*pair)(void *context, const compare_pair *pair, pipeline_error *error);
    void *context;
} compare_settings;

typedef struct compare_side {
    int width, height, pix_fmt; /* of its first frame */
    char codec[32];
    double rate;        /* frames a second; 0: unknown */
    AVRational aspect;  /* of its pixels */
    orientation turn;   /* how players turn its frames; the frames compared are not turned */
    int64_t file_bytes; /* 0: unknown */
} compare_side;

/* What a row of results holds, of one plane or all: figures of all frames together, and those of
 * the worst frame. PSNR is that of the mean squared error. */
typedef struct compare_row {
    double mse, ssim;
    double worst_mse, worst_ssim;
    uint64_t worst_mse_frame, worst_ssim_frame;
} compare_row;

typedef struct compare_result {
    compare_side a, b;
    int pix_fmt;     /* compared in; packed RGB is taken apart */
    double expected; /* pairs; 0: unknown */
    uint64_t frames;
    unsigned planes;
    compare_row rows[QUALITY_ROWS];
    flicker flicker; /* where a stands still; nothing of a single frame */
} compare_result;

/* Fails with one line when the two are not comparable: different sizes, formats, ranges, numbers of
 * frames. result is filled as far as it got. */
bool compare_files(const compare_settings *settings, compare_result *result, pipeline_error *error);

#endif
