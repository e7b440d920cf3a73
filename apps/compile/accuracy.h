// SPDX-License-Identifier: Apache-2.0
/* The accuracy that rounding costs a compiled model, and whether its output is still meaningful. */
#ifndef MONA_ACCURACY_H
#define MONA_ACCURACY_H

#include "apps/compile/calibration.h"
#include "formats/compiler/compiler.h"

/* Prints a line for each output: how much the model in `bytes`, which was compiled from `model`,
 * differs from it in fp32 over all samples. If that cannot be measured, a line on stderr says why.
 * name: for messages. */
void accuracy_print(const compiler *model, const uint8_t *bytes, size_t size, const char *name,
                    const calibration *samples);

/* Runs the model on one calibration image or, if there are none, on noise. Refuses it if an output
 * is not a number, or is flat (two numbers at most) and far from the network's output in fp32,
 * which means that numbers left the range of fp16 on the way. Models of arrays are not checked.
 * False: one line was printed. */
bool sanity_check(const compiler *model, const uint8_t *bytes, size_t size, const char *name,
                  const calibration *images);

#endif
