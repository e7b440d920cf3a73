// SPDX-License-Identifier: Apache-2.0
/* .npy files as inputs and outputs of models. Each function prints one line and gives false when it
 * fails. */
#ifndef MONA_ARRAYS_H
#define MONA_ARRAYS_H

#include "formats/npy.h"
#include "apps/compile/planes.h"

typedef struct array_sides {
    uint32_t channels, height, width;
} array_sides;

typedef struct input_array {
    uint8_t *file; /* released with free() */
    npy_array array;
    uint32_t channels, height, width;
} input_array;

/* Reads a file of shape HxW, CxHxW or 1xCxHxW; one for an input that is an array (mona_tensor_info)
 * may have any shape, and is given the sides of that input. sides: NULL, or such an input's. */
bool array_read(input_array *in, const char *path, const array_sides *sides);

/* Floats are real values; integers of the planes' own type are taken as they are. Values that the
 * planes do not hold are clipped, and a line on stderr says how many. path is for messages. */
bool array_to_planes(planes *p, const input_array *in, const char *path);

/* Real values as float32, or, raw, what is stored. */
bool array_write_planes(const planes *p, const char *path, bool raw);
bool array_write_floats(const char *path, uint32_t channels, uint32_t height, uint32_t width,
                        float *data);

#endif
