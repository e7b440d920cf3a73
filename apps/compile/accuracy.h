// SPDX-License-Identifier: Apache-2.0
/* The accuracy that rounding costs a compiled model. */
#ifndef MONA_ACCURACY_H
#define MONA_ACCURACY_H

#include "apps/compile/calibration.h"

/* Prints a line for each output: how much the model in `bytes`, which was compiled from `model`,
 * differs from it in fp32 over all samples. If that cannot be measured, a line on stderr says why.
 * name: for messages. */
void accuracy_print(const compiler *model, const uint8_t *bytes, size_t size, const char *name,
                    const calibration *samples);

#endif
