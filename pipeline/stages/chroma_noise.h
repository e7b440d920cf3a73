// SPDX-License-Identifier: Apache-2.0
/* Takes out of chroma what a denoiser leaves of its noise: coloured blotches where luma is flat.
 *
 * A network that is told one strength for a frame is told luma's, and chroma of 4:2:0 often has as
 * much noise in half the samples. So each sample becomes a mean of 13 within 9x9 around it, as far
 * as they look alike: in luma and, over 3x3 samples, in both planes of chroma. What differs in
 * luma, or by more than noise in colour, does not mix.
 *
 * How much noise there is the flattest blocks say (noise.h, third scale). Where usual blocks
 * have much more, that is colour of the picture, and the plane stays as it is. */
#ifndef MONA_CHROMA_NOISE_H
#define MONA_CHROMA_NOISE_H

#include "pipeline/stages/frame.h"
#include "pipeline/stages/noise.h"

/* Scratch; zeroed: not open. */
typedef struct chroma_noise {
    int16_t *memory;
    uint32_t width, height, stride; /* of a plane of chroma; of its copies, with a margin */
    int32_t *sums;
    noise_work *work;
} chroma_noise;

/* False: out of memory. format: 4:2:0. */
bool chroma_noise_open(chroma_noise *c, const frame_format *format);
void chroma_noise_close(chroma_noise *c);
size_t chroma_noise_bytes(const chroma_noise *c);

void chroma_noise_clean(const chroma_noise *c, const frame *f);

#endif
