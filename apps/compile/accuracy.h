// SPDX-License-Identifier: Apache-2.0
/* What rounding cost a compiled model. */
#ifndef MONA_ACCURACY_H
#define MONA_ACCURACY_H

#include "apps/compile/calibration.h"

/* Prints a line for each output: by how much bytes, which were compiled from `model`, differ from
 * it in fp32 over all samples, or a line on stderr that says why that cannot be told. name: for
 * messages. */
void accuracy_print(const compiler *model, const uint8_t *bytes, size_t size, const char *name,
                    const calibration *samples);

#endif
