// SPDX-License-Identifier: Apache-2.0
/* .npy files as inputs and outputs of models. Each function returns false after printing one line
 * if it fails. */
#ifndef MONA_ARRAYS_H
#define MONA_ARRAYS_H

#include "formats/npy.h"
#include "apps/compile/planes.h"

/* What an input takes. */
typedef struct array_sides {
    uint32_t channels, height, width; /* 0: any */
    bool array;                       /* as mona_tensor_info */
    const char *name;
    uint32_t rank; /* 0: unknown */
    const uint32_t *dims;
} array_sides;

typedef struct input_array {
    uint8_t *file; /* released with free() */
    npy_array array;
    uint32_t channels, height, width;
} input_array;

/* Reads a file of any shape. in must be zero; in->file is to be released even on failure. */
bool array_open(input_array *in, const char *path);

/* Sets the sides of a file of shape HxW, CxHxW or 1xCxHxW. An input that is an array takes as many
 * numbers in any shape, and one of fixed size also its own shape with other sides of 1. */
bool array_take(input_array *in, const char *path, const array_sides *sides);

/* Refuses an array with the numbers of an input, but in another order of sides, such as channels
 * that come last. Sides may be split or joined; those of another size are told where they are
 * taken. path: of the model. */
bool array_suits(const npy_array *array, const char *path, const char *name, const uint64_t *dims,
                 unsigned rank);

/* How many inputs a file of shape NxCxHxW holds; 1 if it is the input as it stands. batch: those
 * that the network is for, which may come in any shape; 1: unknown. */
size_t array_images(const npy_array *array, const array_sides *sides, size_t batch);
/* The shape of the first of so many. Its elements are at the beginning. */
npy_array array_first_of(const npy_array *array, size_t images, const array_sides *sides);

/* Whether a shape ends in channels, height and width, where sides of 1 do not count: 1x3x50 ends in
 * 3x1x50. */
bool array_ends_in(const npy_array *array, const array_sides *sides);

/* Floats are real values; integers of the planes' own type are stored unchanged. Values outside the
 * planes' range are clipped, and a line on stderr says how many. path is for messages. */
bool array_to_planes(planes *p, const input_array *in, const char *path);

/* The same for an array of any type with as many numbers, without a line: returns how many were
 * clipped. */
size_t array_fill(planes *p, const npy_array *array);
/* That line, if any were; hint ends it. */
void array_tell_clipped(const planes *p, const char *path, size_t clipped, const char *hint);

/* Writes real values as float32, or, if raw, what is stored, as NxCxHxW for planes of N images
 * (planes_repeat) or in the shape (rank and shape only) given. */
bool array_write_planes(const planes *p, const char *path, bool raw);
bool array_write_shaped(const planes *p, npy_array shape, const char *path, bool raw);
bool array_write_floats(const char *path, uint32_t channels, uint32_t height, uint32_t width,
                        float *data);

#endif
