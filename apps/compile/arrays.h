// SPDX-License-Identifier: Apache-2.0
/* .npy files as inputs and outputs of models. Each function returns false after printing one line
 * if it fails. */
#ifndef MONA_ARRAYS_H
#define MONA_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/compiler/graph/reference.h"
#include "formats/npy.h"
#include "formats/tensor.h"
#include "mona.h"

/* Planes of a bound tensor in memory, read and written as real values. */

typedef struct planes {
    mona_tensor_info info; /* with its size bound */
    mona_buffer buffer;    /* for mona_session_run; rows and channels without gaps */
    size_t count;          /* elements */
} planes;

/* False: out of memory. A zeroed or opened one is closed by planes_close. */
bool planes_open(planes *p, mona_tensor_info info);
void planes_close(planes *p);
/* Memory for so many images, one after the other, as those of one tensor. False: out of memory. */
bool planes_repeat(planes *p, mona_tensor_info info, size_t images);

/* Element i, counted over channels, rows and columns. Setting it rounds to the nearest number that
 * the planes hold (halves to even) and saturates. maximum: the largest U16 sample. */
double planes_get(const planes *p, size_t i);
void planes_set(planes *p, size_t i, double value);

/* Whether the planes hold this value to within half a step; those of F32 hold every value, all
 * others no NaN. */
bool planes_hold(const planes *p, double value);

/* The lowest and the highest value that planes of this type hold. Not for F32. */
double planes_low(const mona_tensor_info *info);
double planes_high(const mona_tensor_info *info);

/* The planes of all inputs and outputs of a plan. */
typedef struct plan_planes {
    planes in[MONA_MAX_IO], out[MONA_MAX_IO];
} plan_planes;

/* model: the plan's. False: out of memory. Close them in any case; zeroed ones are allowed. */
bool plan_planes_open(plan_planes *p, const mona_model *model, const mona_plan *plan);
void plan_planes_close(plan_planes *p);

/* Runs a session of the plan on them. */
mona_status plan_planes_run(plan_planes *p, mona_session *session);

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
/* The same of this share of the values. */
void array_tell_outside(const char *path, double share, double low, double high, const char *name,
                        const char *hint);

/* Writes real values as float32, or, if raw, what is stored, in the shape (rank and shape only)
 * that is given. */
bool array_write_shaped(const planes *p, npy_array shape, const char *path, bool raw);

/* The same in the shape of an output of an .onnx model, whose first side counts images if there are
 * several (planes_repeat). own NULL, or of another size: as NxCxHxW. */
bool array_write_planes(const planes *p, const tensor *own, const char *path, bool raw);
bool array_write_floats(const char *path, const tensor *own, const reference_array *array);

#endif
