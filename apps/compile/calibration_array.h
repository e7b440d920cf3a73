// SPDX-License-Identifier: Apache-2.0
/* .npy files as inputs of a model, for calibration. Each function that fails has printed one line,
 * except calibration_is_array. */
#ifndef MONA_CALIBRATION_ARRAY_H
#define MONA_CALIBRATION_ARRAY_H

#include "apps/compile/calibration.h"

/* Whether the file begins like a .npy file. */
bool calibration_is_array(const char *path);

/* How often this input of the model is in the file. Reads only its header. */
bool calibration_array_count(const char *path, const compiler *model, unsigned input,
                             uint64_t *count);

/* Image `index`, which is of kind CALIBRATION_ARRAY; each inputs[i].data is released with
 * free(). */
bool calibration_array(const calibration *c, size_t index, const compiler *model,
                       reference_array *inputs);

#endif
