// SPDX-License-Identifier: Apache-2.0
/* .npy files as inputs of a model, for calibration. Each function that fails has printed one line,
 * except calibration_is_array. */
#ifndef MONA_CALIBRATION_ARRAY_H
#define MONA_CALIBRATION_ARRAY_H

#include "apps/compile/calibration.h"

/* Whether the file begins like a .npy file. */
bool calibration_is_array(const char *path);

/* How many inputs of this model the file has, and whether they are real numbers rather than samples
 * of 8 bits. Reads only its header. */
bool calibration_array_count(const char *path, const compiler *model, uint64_t *count,
                             bool *floats);

/* Image `index`, which is of kind CALIBRATION_ARRAY; input->data is released with free(). */
bool calibration_array(const calibration *c, size_t index, const compiler *model,
                       reference_array *input);

#endif
