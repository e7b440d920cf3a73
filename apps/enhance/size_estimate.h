// SPDX-License-Identifier: Apache-2.0
/* Estimates the bytes of mona enhance's result. */
#ifndef SIZE_ESTIMATE_H
#define SIZE_ESTIMATE_H

#include "apps/enhance/test_run.h"
#include "pipeline/io/sources/input.h"

/* Scales the result of a trial up to `expected` frames: those that depend on no other ones, the
 * others, and the copied streams. The input's bytes say by how much the rest of the film is harder
 * or easier to encode than the beginning, which the trial had. source: just opened; some of it is
 * read. 0: unknown.
 *
 * Measured on eight clips of 60 to 325 frames with trials of 19 to 120: -18 % to +2 % with x264 at
 * its default; on one clip -23 % with FFV1 and x265, -42 % with libvpx, whose trial had 31
 * frames. */
double size_estimate(const test_run *t, input *source, double expected);

/* Writes "3.4 MB", with two digits. */
void size_estimate_text(char *text, size_t size, double bytes);

#endif
