// SPDX-License-Identifier: Apache-2.0
/* Tells noise from texture by the previous frame.
 *
 * Texture was somewhere in that frame, and this noise was not. So the flattest blocks, by which
 * noise.h judges, are searched for in the previous frame, and the difference at the best place is
 * noise. The lower quartile of these differences counts, which moving edges hardly ever affect.
 *
 * Coding removes the finest scales of coarse noise and makes the others as uneven as texture, for which
 * noise.h then takes it. Over ten clips without visible noise the difference is at most 0.65 (sigma of
 * one frame, in steps of 8 bits). Noise of sigma 14 made at half the size, and of 20 at a quarter, leaves
 * 5 to 7 after x264 and x265 at CRF 26 to 32, noise of 7 made at half the size 1.3 to 3. The network is
 * told four times as much: on two clips that gains 0.1 to 3.4 dB.
 *
 * A sensor's noise grows with brightness, so the flattest blocks, which are the darkest, have the
 * least of it. Blocks from all over the frame are searched for as well, and if the flattest have
 * confirmed noise, the median of all is its level.
 *
 * Texture that moves and was taken for noise differs by 0.12 of its sigma or less, noise by a third
 * or more. If nothing moves, the comparison says nothing, since coding may have kept the noise as
 * it was. */
#ifndef MONA_NOISE_CHANGE_H
#define MONA_NOISE_CHANGE_H

#include "pipeline/stages/frame.h"
#include "pipeline/stages/noise.h"

/* found: noise_measure's estimate for the luma of `now`, whose blocks are in *work. before: the
 * previous frame. Returns the estimate to use: `found`, unless the frames say more. */
noise_level noise_change(const noise_work *work, noise_level found, const frame *now,
                         const frame *before);

#endif
