// SPDX-License-Identifier: Apache-2.0
/* The accuracy that rounding costs a compiled model, and whether its output is still meaningful. */
#ifndef MONA_ACCURACY_H
#define MONA_ACCURACY_H

#include <stdbool.h>
#include <stddef.h>

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

/* How many decisions of a network, the class with the highest score, rounding will change. */

/* The share of decisions that are expected to change on unseen inputs: an upper bound with
 * one-sided confidence 95 %, and at least the share of these inputs for which they do change. Both
 * arrays are [count][classes]: scores without rounding, and the errors that rounding adds to them;
 * count is 1 or more. False: out of memory. */
bool top1_margin_changes(const float *scores, const float *errors, size_t count, size_t classes,
                         double *share);

#endif
