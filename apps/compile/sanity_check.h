// SPDX-License-Identifier: Apache-2.0
/* Whether a compiled model still says anything. */
#ifndef MONA_SANITY_CHECK_H
#define MONA_SANITY_CHECK_H

#include "apps/compile/calibration.h"
#include "formats/compiler/compiler.h"

/* Runs the model on one calibration image or, if there are none, on noise, and refuses it when an
 * output is not a number, or flat (two numbers at most) and far from what the network makes of it
 * in fp32: its numbers left fp16 on the way. Models of arrays are not looked at. False: one line
 * was printed. */
bool sanity_check(const compiler *model, const uint8_t *bytes, size_t size, const char *name,
                  const calibration *images);

#endif
