// SPDX-License-Identifier: Apache-2.0
/* Tells noise from texture by the previous frame.
 *
 * Texture was somewhere in that frame, and this noise was not. So the flattest blocks, by which
 * noise.h judges, are searched for in the previous frame, and the difference at the best place is
 * noise. The lower quartile of these differences counts, which moving edges hardly ever affect.
 *
 * Coding removes the finest scales of coarse noise and makes the others as uneven as texture, for
 * which noise.h then takes it. A sensor's noise grows with brightness, so the flattest blocks,
 * which are the darkest, have the least of it. So the flattest blocks only confirm that there is
 * noise: over ten clips without visible noise they change by 0.65 at most (sigma of one frame, in
 * steps of 8 bits). Blocks from all over the frame are searched for as well, and the median of
 * their changes says how much noise there is.
 *
 * The strength is a multiple of that, smaller for textured film, of which strong denoising takes
 * more than it gives. The multiples were fitted to 108 cases by denoise_fast_video: six clips with
 * coarse grain, and with a sensor's noise through x264 and x265 at CRF 18 to 28.
 *
 * Coding takes noise out of the flattest blocks first. So of the blocks all over the frame, those
 * are counted in which both the response at the finest scale and the change are a third or more of
 * the response at the third scale, as in noise, and in hardly any texture. (They are a fifth or
 * less of 198 of 204 coded clips without noise, a quarter of the other six.) If there are more,
 * they say how much noise there is: its strength was fitted to 192 clips made of photographs, with
 * a sensor's noise of 4 to 12 through x264 and x265 at CRF 18 to 28, and is 0.1 dB short of the
 * best one for each of the 72 cases of models/train/film_grain.py.
 *
 * Texture that moves and was taken for noise differs by 0.12 of its sigma or less, noise by a third
 * or more. If nothing moves, the comparison says nothing, since coding may have kept the noise as
 * it was.
 *
 * Where light fades or flashes, usual blocks become brighter or darker, which is no noise: then how
 * much brighter each block is does not count.
 *
 * The first frame is compared with the next one instead. Live, where it cannot wait, it stands
 * alone: if noise.h finds noise that is not fine there, the third scale stands for the change. In
 * 24 cases, with the networks before, that was 0.25 dB short of the best strength for that frame,
 * and noise.h's own strength, which is meant for pictures, 1.4 dB. */
#ifndef MONA_NOISE_CHANGE_H
#define MONA_NOISE_CHANGE_H

#include "pipeline/stages/frame.h"
#include "pipeline/stages/noise.h"

/* found: noise_measure's estimate for the luma of `now`, whose blocks are in *work. beside: the
 * frame before it or after it, NULL: neither is known. Returns the estimate to use: `found`, unless
 * the frames say more. */
noise_level noise_change(const noise_work *work, noise_level found, const frame *now,
                         const frame *beside);

#endif
