// SPDX-License-Identifier: Apache-2.0
/* Whether the output of a compiled model is still meaningful. */
#ifndef MONA_SANITY_CHECK_H
#define MONA_SANITY_CHECK_H

#include "apps/compile/calibration.h"
#include "formats/compiler/compiler.h"

/* Runs the model on one calibration image or, if there are none, on noise. Refuses it if an output
 * is not a number, or is flat (two numbers at most) and far from the network's output in fp32,
 * which means that numbers left the range of fp16 on the way. Models of arrays are not checked.
 * False: one line was printed. */
bool sanity_check(const compiler *model, const uint8_t *bytes, size_t size, const char *name,
                  const calibration *images);

#endif
