// SPDX-License-Identifier: Apache-2.0
/* Tells noise of pictures from texture.
 *
 * A denoiser that is told of noise where there is texture removes the texture. What tells them
 * apart is collected as evidence: noise grows with distance as its kind has it, is normally
 * distributed, as likely brighter as darker, alike across and down, alike in the flattest blocks
 * and in usual ones, and a camera's is coloured, which texture hardly ever is. Small networks weigh
 * it. models/train/estimate.py made their weights from photographs under free licences with and
 * without noise of fifteen kinds, compressed by JPEG and not: what it minimises is the loss that an
 * answer causes in what the denoiser makes of them, where the loss of a clean picture counts 40
 * times what a noisy one gains. Where the networks are not all sure, or the evidence is unlike that
 * of any noise, there is none.
 *
 * One more network knows pictures that look like noise to them although nothing in them is: those
 * that were dithered, printed in dots, shown on a screen, or drawn of small things.
 *
 * Of 300 windows of held-out photographs, half of them the roughest to be found, none is taken
 * for noisy; noise.h alone takes one in five. */
#ifndef MONA_NOISE_EVIDENCE_H
#define MONA_NOISE_EVIDENCE_H

#include "pipeline/stages/frame.h"
#include "pipeline/stages/noise.h"

enum { NOISE_EVIDENCE = 34 };

/* What noise_measure found in a plane, and what else tells noise from texture there, for the
 * networks and their training. work->flattest must not be 0. */
void noise_collect(const noise_work *work, const frame *f, unsigned plane,
                   double evidence[NOISE_EVIDENCE]);

/* How sure the evidence of luma makes it that its finest detail is a pattern, as a logarithm of
 * odds. */
double noise_like_pattern(const double evidence[NOISE_EVIDENCE]);

/* How noisy a plane is, after noise_measure with a spacing of 1, by its evidence. Both numbers are
 * 0 unless it is sure. Chroma whose finest detail is that of luma has none. */
noise_level noise_weigh(const noise_work *work, const frame *f, unsigned plane,
                        const double evidence[NOISE_EVIDENCE]);

#endif
