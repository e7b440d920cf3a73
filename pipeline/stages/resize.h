// SPDX-License-Identifier: Apache-2.0
/* The way from the networks' whole factor down to another size: Lanczos with three lobes, stretched
 * by how much smaller a side becomes so that nothing aliases, in the planes. Integers with weights
 * of 14 bits, so that every machine makes the same of it. */
#ifndef MONA_RESIZE_H
#define MONA_RESIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mona.h"
#include "pipeline/error.h"
#include "pipeline/stages/chroma_location.h"
#include "pipeline/stages/frame.h"

/* How many times larger a result is than the input. x 0: as large as the networks make it. */
typedef struct resize_scale {
    double x, y;
} resize_scale;

enum { RESIZE_MAX = 12 }; /* times larger */
#define RESIZE_MIN 0.1

/* The size of the result; a side along which chroma is subsampled has whole groups. */
mona_size resize_target(const frame_format *input, resize_scale scale);

/* Whether a picture of size a keeps its shape in size b, but for rounding. */
bool resize_keeps_shape(mona_size a, mona_size b);

/* What each output along a side is made of: `taps` samples from first on. */
typedef struct resize_axis {
    uint32_t outputs, taps;
    uint32_t *first;
    int16_t *weight;
} resize_axis;

/* The weights for samples of luma: in of them become out, which are no more. shift > 0: of chroma
 * with 1 << shift samples of luma a group, sited so. False: out of memory. */
bool resize_axis_open(resize_axis *axis, uint32_t in, uint32_t out, unsigned shift,
                      chroma_position site);

void resize_axis_close(resize_axis *axis);

enum { RESIZE_LANES = 32 }; /* rows or columns that are worked on at a time */

/* One frame on its way. */
typedef struct resizer_job {
    struct resizer *resizer;
    const frame *in, *out;
} resizer_job;

typedef struct resizer {
    resize_axis across[2], down[2]; /* of luma and alpha, of chroma */
    int16_t *turned;                /* RESIZE_LANES rows on their way, one column after another */
    size_t bytes;
    resizer_job jobs[4];
} resizer;

/* Frames of format in become ones of out, which are no larger. Whether it succeeds or not,
 * resizer_close releases what there is. */
bool resizer_open(resizer *r, const frame_format *in, const frame_format *out,
                  chroma_location location, pipeline_error *error);

/* Makes out of in, padding and all. */
void resizer_run(const resizer *r, const frame *in, const frame *out);

mona_status resizer_enqueue(resizer *r, mona_stream *stream, const frame *in, const frame *out,
                            unsigned slot);

/* A zeroed one is allowed. */
void resizer_close(resizer *r);

#endif
