// SPDX-License-Identifier: Apache-2.0
/* Compares two videos or pictures frame by frame. */
#ifndef MONA_COMPARE_H
#define MONA_COMPARE_H

#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "pipeline/base/error.h"
#include "pipeline/io/sources/input.h"
#include "pipeline/quality/quality.h"
#include "pipeline/image/orientation.h"
#include "pipeline/stages/sample.h"

/* The same plane of two frames of one size and format. */

typedef struct plane_pair {
    const uint8_t *a, *b;
    ptrdiff_t a_stride, b_stride;
    uint32_t width, height;
    bool wide; /* samples of 16 bits */
} plane_pair;

static inline plane_pair plane_pair_of(const AVFrame *a, const AVFrame *b, unsigned component)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(a->format);
    const int plane = d->comp[component].plane;
    const bool chroma = !(d->flags & AV_PIX_FMT_FLAG_RGB) && (component == 1 || component == 2);
    const int across = chroma ? d->log2_chroma_w : 0, down = chroma ? d->log2_chroma_h : 0;
    return (plane_pair){.a = a->data[plane],
                        .b = b->data[plane],
                        .a_stride = a->linesize[plane],
                        .b_stride = b->linesize[plane],
                        .width = (uint32_t)AV_CEIL_RSHIFT(a->width, across),
                        .height = (uint32_t)AV_CEIL_RSHIFT(a->height, down),
                        .wide = d->comp[component].depth > 8};
}

/* How much a video changes from frame to frame where its reference does not.
 *
 * Planes are examined in whole blocks of 8x8 samples; the remainder at the right and lower edges is
 * ignored. A block stands still from one frame to the next if the mean absolute difference of its
 * samples in the reference A is at most 2 steps of 8 bits, which the noise of a good camera does
 * not exceed. The flicker of a video is the mean absolute difference between its frames n and n - 1
 * over all samples of all blocks that stand still, in steps of 8 bits:
 *
 *     sum |B[n] - B[n - 1]| / samples
 *
 * A's own flicker, over the same samples, shows how much of it was in the reference. */

enum { FLICKER_BLOCK = 8, FLICKER_STILL = 2 };

/* Sums of a plane, or of all planes; zeroed at first. */
typedef struct flicker_sums {
    uint64_t a, b;       /* absolute differences in steps of the samples, where A stands still */
    uint64_t still, all; /* samples in whole blocks */
} flicker_sums;

typedef struct flicker {
    flicker_sums rows[QUALITY_ROWS];
} flicker;

/* Adds the changes between two successive pairs of frames. All four have the same size and a format
 * that quality_takes accepts. */
void flicker_add(flicker *f, const AVFrame *a_before, const AVFrame *a, const AVFrame *b_before,
                 const AVFrame *b);

/* In steps of 8 bits; NAN if nothing stood still. */
double flicker_of(const flicker_sums *s, uint64_t differences, int pix_fmt);

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
