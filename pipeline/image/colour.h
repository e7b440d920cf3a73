// SPDX-License-Identifier: Apache-2.0
/* Conversion between RGB pixels and luma and chroma planes, for still images. */
#ifndef MONA_COLOUR_H
#define MONA_COLOUR_H

#include "pipeline/stages/frame.h"
#include "pipeline/image/stills.h"

/* Splits an image into a frame's planes: BT.601, full range, as in JPEG. It uses all bits of the
 * frame's samples, which are more than 8. Grey images fill plane 0 and set the chroma of the frame,
 * if any, to neutral; alpha goes to plane 3. Chroma of a 4:2:0 frame is the mean of 2x2 pixels.
 * Padding repeats the last row and column. */
void colour_split(frame *to, const still *from);

/* The reverse, for a 4:4:4 or grey frame. The image's number of channels decides which planes are
 * used. */
void colour_join(still *to, const frame *from);

#endif
