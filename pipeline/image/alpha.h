// SPDX-License-Identifier: Apache-2.0
/* Alpha, and the colours of pixels that it hides.
 *
 * What is drawn below transparent pixels is arbitrary, often black. Networks and filters look at
 * neighbours, so it would show through where visible pixels lie beside hidden ones. */
#ifndef MONA_ALPHA_H
#define MONA_ALPHA_H

#include <stdbool.h>

#include <libavutil/frame.h>

#include "pipeline/stages/frame.h"

/* Gives hidden pixels, whose alpha is 0, the colours of the nearest visible ones. False: out of
 * memory. For frames of four planes of one size, with samples of 16 bits. */
bool alpha_spread_planes(const frame *f);

/* The same for libav's packed or planar RGB or grey with alpha, of 8 or 16 bits; others stay. The
 * frame must be writable. */
bool alpha_spread(AVFrame *f);

/* Divides colours by the alpha that they are multiplied with, for such formats. */
void alpha_divide(AVFrame *f);

/* Whether a pixel of packed RGB of 8 bits, or a colour of a palette, is not opaque. */
bool alpha_shows(const AVFrame *f);

#endif
