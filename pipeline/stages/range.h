// SPDX-License-Identifier: Apache-2.0
/* Samples of full range on their way to the stages and back.
 *
 * The networks were trained on studio range, where luma of 8 bits goes from 16 to 235 and chroma
 * from 16 to 240, so that is what every stage works on. Full range is brought into it with
 * RANGE_BITS: full range of up to 10 bits has fewer values than studio range of 11, and a sample
 * that no stage changes comes back as it was. Alpha has no range. */
#ifndef MONA_RANGE_H
#define MONA_RANGE_H

#include "pipeline/stages/frame.h"

enum { RANGE_BITS = MONA_MAX_DEPTH };

/* What a step of the samples outside is in steps of the stages'. */
static inline float range_step(bool full_range)
{
    return full_range ? 219.0f / 255 : 1;
}

/* Fills a plane from samples of full range, of so many bits, as frame_fill_plane does. Strides are
 * in bytes. */
void range_enter(frame *to, unsigned plane, const uint8_t *source, ptrdiff_t stride, unsigned bits);

/* The reverse, of what is shown. */
void range_leave(uint8_t *to, ptrdiff_t stride, const frame *from, unsigned plane, unsigned bits);

#endif
