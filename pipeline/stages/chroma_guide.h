// SPDX-License-Identifier: Apache-2.0
/* Luma as a guide for enlarged chroma.
 *
 * Interpolated chroma is soft where luma, enlarged by a network, has an edge: colours bleed over
 * it. Where chroma follows luma in the small frame, luma shows the detail that interpolation lacks:
 *
 *     chroma = interpolated chroma + a (guide - interpolated guide)
 *
 * The guide is luma at chroma's positions: of the enlarged frame, and of the small one,
 * interpolated like chroma. a is the slope of chroma over luma in 3x3 samples of the small frame,
 * times the square of their correlation. The result stays within the range of those samples' chroma
 * and its interpolation, so that no new colour appears. */
#ifndef MONA_CHROMA_GUIDE_H
#define MONA_CHROMA_GUIDE_H

#include <stdbool.h>

#include "pipeline/base/error.h"
#include "pipeline/stages/chroma_location.h"
#include "pipeline/stages/frame.h"

typedef struct chroma_guide {
    unsigned scale;
    unsigned across[3], down[3]; /* weights of luma around chroma's position, in quarters */
    frame low;                   /* plane 0: the guide of the small frame */
    frame high;                  /* interpolated: the guide, and chroma in planes 1 and 2 */
    struct guide_rows *rows;
    size_t bytes; /* of all its memory; 0: it is not open */
} chroma_guide;

/* Whether frames of this format have chroma that luma can guide, when enlarged so many times. */
bool chroma_guide_helps(const frame_format *format, unsigned scale);

/* Whether it succeeds or not, chroma_guide_close releases what there is. */
bool chroma_guide_open(chroma_guide *g, const frame_format *in, unsigned scale,
                       chroma_location location, pipeline_error *error);

/* Fills g->low from the small frame. */
void chroma_guide_take(const chroma_guide *g, const frame *in);

/* Fills out's chroma, once its luma and g->high are there. */
void chroma_guide_apply(const chroma_guide *g, const frame *in, const frame *out);

/* A zeroed one is allowed. */
void chroma_guide_close(chroma_guide *g);

#endif
