// SPDX-License-Identifier: Apache-2.0
/* Reduces enlarged frames to sizes that are not a whole multiple of the input's: a Lanczos filter
 * with three lobes, stretched by the ratio of the sizes so that nothing aliases, in luma and
 * chroma. It computes with integers and weights of 14 bits, so all machines produce the same bytes.
 * The enlargement of frames of more than 11 bits (processor.h) uses it with other kernels. */
#ifndef MONA_RESIZE_H
#define MONA_RESIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mona.h"
#include "pipeline/base/error.h"
#include "pipeline/stages/chroma_location.h"
#include "pipeline/stages/frame.h"

/* How many times larger than the input the result is. x == 0: as large as the networks make it. */
typedef struct resize_scale {
    double x, y;
} resize_scale;

enum { RESIZE_MAX = 12 }; /* times larger */
#define RESIZE_MIN 0.1

/* The size of the result. Where chroma is subsampled, it is rounded to whole chroma samples. */
mona_size resize_target(const frame_format *input, resize_scale scale);

/* Whether the sizes have the same aspect ratio, except for rounding. */
bool resize_keeps_shape(mona_size a, mona_size b);

/* Lanczos with three lobes, Keys's cubic with a = -1/2, or the nearest sample. */
typedef enum resize_kernel { RESIZE_LANCZOS, RESIZE_CUBIC, RESIZE_NEAREST } resize_kernel;

typedef struct resize_kernels {
    resize_kernel luma, others;
} resize_kernels;

/* The filter along one dimension: output i is the weighted sum of `taps` samples from first[i]
 * on. */
typedef struct resize_axis {
    uint32_t outputs, taps;
    uint32_t *first;
    int16_t *weight;
} resize_axis;

enum {
    RESIZE_LANES = 32, /* rows or columns that are filtered at a time */
    RESIZE_AXES = 3    /* of luma, of chroma, of alpha */
};

typedef struct resizer {
    resize_axis across[RESIZE_AXES], down[RESIZE_AXES];
    int16_t *turned; /* RESIZE_LANES rows between the passes, column by column */
    int32_t *sums;   /* a row between the passes, where samples have more than 11 bits */
    size_t bytes;
} resizer;

/* Prepares to make frames of format out from those of format in. Whether it succeeds or not,
 * resizer_close releases what there is. */
bool resizer_open(resizer *r, const frame_format *in, const frame_format *out,
                  chroma_location location, const resize_kernels *kernels, pipeline_error *error);

/* Fills out, including its padding. */
void resizer_run(const resizer *r, const frame *in, const frame *out);

/* A zeroed one is allowed. */
void resizer_close(resizer *r);

#endif
