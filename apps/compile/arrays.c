// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/arrays.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/file.h"
#include "apps/cli/options.h"
#include "apps/cli/save.h"

/* The largest input file. */
#define NPY_LIMIT ((size_t)4 << 30)

static bool read_shape(input_array *in, const char *path)
{
    const unsigned rank = in->array.rank;
    const uint64_t *shape = in->array.shape;
    const bool batch = rank == 4 && shape[0] == 1;
    if (rank < 2 || rank > 4 || (rank == 4 && !batch))
        return cli_fail(0, "%s: expected the shape HxW, CxHxW or 1xCxHxW, found %u dimensions%s",
                        path, rank, rank == 4 ? " and a batch" : "");
    const uint64_t channels = rank == 2 ? 1 : shape[rank - 3];
    const uint64_t height = shape[rank - 2], width = shape[rank - 1];
    if (!channels || channels > MONA_MAX_CHANNELS || !height || height > MONA_MAX_SIDE || !width ||
        width > MONA_MAX_SIDE)
        return cli_fail(0, "%s: %" PRIu64 " channels of %" PRIu64 "x%" PRIu64 " are not a frame",
                        path, channels, width, height);
    in->channels = (uint32_t)channels;
    in->height = (uint32_t)height;
    in->width = (uint32_t)width;
    return true;
}

/* Takes as many numbers as the sides hold, in any shape. */
static bool take_sides(input_array *in, const char *path, const array_sides *sides)
{
    const uint64_t count = (uint64_t)sides->channels * sides->height * sides->width;
    in->channels = sides->channels;
    in->height = sides->height;
    in->width = sides->width;
    return in->array.count == count ||
           cli_fail(0, "%s: expected %" PRIu64 " numbers, found %" PRIu64, path, count,
                    in->array.count);
}

bool array_open(input_array *in, const char *path)
{
    format_error error = {0};
    size_t size;
    if (!file_read(path, "a .npy array", NPY_LIMIT, &in->file, &size, &error))
        return cli_fail(0, "%s", error.text);
    return npy_parse(&in->array, in->file, size, &error) || cli_fail(0, "%s: %s", path, error.text);
}

bool array_ends_in(const npy_array *array, const array_sides *sides)
{
    const uint32_t wanted[] = {sides->channels, sides->height, sides->width};
    unsigned rank = array->rank;
    for (unsigned i = 3; i-- > 0;) {
        while (wanted[i] != 1 && rank && array->shape[rank - 1] == 1)
            rank--;
        if (wanted[i] != 1 && (!wanted[i] || !rank || array->shape[--rank] != wanted[i]))
            return false;
    }
    return true;
}

/* Whether every side of a is one of b, or adjacent ones joined. Both hold as many numbers, none
 * 0. */
static bool joins(const uint64_t *a, unsigned rank_a, const uint64_t *b, unsigned rank_b)
{
    uint64_t of_a = 1, of_b = 1;
    while (rank_a--) {
        of_a *= a[rank_a];
        while (rank_b && of_b < of_a)
            of_b *= b[--rank_b];
        if (of_b != of_a)
            return false;
    }
    return true;
}

/* Room for a shape such as 1x3x50. */
enum { SHAPE_TEXT = NPY_MAX_RANK * 21 + 1 };

static const char *shape_text(char text[SHAPE_TEXT], const uint64_t *shape, unsigned rank)
{
    *text = 0;
    for (unsigned i = 0, n = 0; i < rank; i++)
        n += (unsigned)snprintf(text + n, SHAPE_TEXT - n, "%s%" PRIu64, i ? "x" : "", shape[i]);
    return text;
}

bool array_suits(const npy_array *array, const char *path, const char *name, const uint64_t *dims,
                 unsigned rank)
{
    char wanted[SHAPE_TEXT], found[SHAPE_TEXT];
    uint64_t left = array->count;
    for (unsigned i = 0; left && i < rank; left /= dims[i++])
        if (!dims[i] || left % dims[i])
            return true;
    return left != 1 || joins(dims, rank, array->shape, array->rank) ||
           joins(array->shape, array->rank, dims, rank) ||
           cli_fail(0, "%s: input '%s' has the shape %s, found an array of %s", path, name,
                    shape_text(wanted, dims, rank), shape_text(found, array->shape, array->rank));
}

bool array_take(input_array *in, const char *path, const array_sides *sides)
{
    const uint64_t count = (uint64_t)sides->channels * sides->height * sides->width;
    const bool same = in->array.count == count && array_ends_in(&in->array, sides);
    return sides->array || same ? take_sides(in, path, sides) : read_shape(in, path);
}

size_t array_images(const npy_array *array, const array_sides *sides, size_t batch)
{
    const uint64_t own = (uint64_t)sides->channels * sides->height * sides->width;
    if (batch > 1 && own && array->count == batch * own)
        return batch;
    const bool several = array->rank == 4 && array->shape[0] > 1 && array->count &&
                         array->count != own && (!own || array->count / array->shape[0] == own);
    return several ? (size_t)array->shape[0] : 1;
}

npy_array array_first_of(const npy_array *array, size_t images, const array_sides *sides)
{
    npy_array first = *array;
    if (images == 1)
        return first;
    first.count /= images;
    if (array->rank == 4 && array->shape[0] == images) {
        first.shape[0] = 1;
    } else {
        const uint64_t shape[] = {1, sides->channels, sides->height, sides->width};
        first.rank = 4;
        memcpy(first.shape, shape, sizeof shape);
    }
    return first;
}

void array_tell_outside(const char *path, double share, double low, double high, const char *name,
                        const char *hint)
{
    fprintf(stderr,
            "warning: %s: %.3g %% of the values lie outside %g to %g, the range of input '%s', and "
            "were clipped%s\n",
            path, 100.0 * share, low, high, name, hint);
}

void array_tell_clipped(const planes *p, const char *path, size_t clipped, const char *hint)
{
    if (clipped)
        array_tell_outside(path, (double)clipped / (double)p->count, planes_low(&p->info),
                           planes_high(&p->info), p->info.name, hint);
}

size_t array_fill(planes *p, const npy_array *array)
{
    size_t clipped = 0;
    if (array->type == element_of(p->info.type)) {
        memcpy(p->buffer.data, array->data, p->count * element_size(array->type));
        return 0;
    }
    for (size_t i = 0; i < p->count; i++) {
        const double value = npy_value(array, i);
        clipped += !planes_hold(p, value);
        planes_set(p, i, value);
    }
    return clipped;
}

bool array_to_planes(planes *p, const input_array *in, const char *path)
{
    const element_type stored = element_of(p->info.type), found = in->array.type;
    const bool real = element_is_float(found),
               whole = p->info.type != MONA_F16 && p->info.type != MONA_F32;
    if (in->channels != p->info.channels)
        return cli_fail(0, "%s: input '%s' has %u channels, found %u", path, p->info.name,
                        p->info.channels, in->channels);
    if (whole && found != stored && found != ELEMENT_BOOL && !real)
        return cli_fail(0, "%s: input '%s' takes %s or floats, found %s", path, p->info.name,
                        element_name(stored), element_name(found));
    array_tell_clipped(p, path, array_fill(p, &in->array),
                       p->info.type == MONA_F16 ? ", as fp16 holds no others"
                       : p->info.array
                           ? ""
                           : "; compile the model with --input-type f16, the default, or for the "
                             "range that it takes");
    return true;
}

/* ---- arrays out --------------------------------------------------------------------------- */

static bool write_array(const char *path, const npy_array *array)
{
    size_t size;
    uint8_t *bytes = npy_format(array, &size);
    if (!bytes)
        return cli_fail(0, "out of memory");
    const bool ok = save_file(path, bytes, size);
    free(bytes);
    return ok;
}

/* Rank and shape of so many numbers. */
static npy_array shape_of(const tensor *own, uint32_t channels, uint32_t height, uint32_t width,
                          uint64_t count)
{
    const uint64_t frame = (uint64_t)channels * height * width;
    npy_array shape = {.rank = 4, .shape = {frame ? count / frame : 1, channels, height, width}};
    const uint64_t images = own && own->count ? count / own->count : 0;
    if (!images || images * own->count != count ||
        (images > 1 && (!own->rank || own->dims[0] != 1)))
        return shape;
    shape.rank = own->rank;
    for (uint32_t i = 0; i < own->rank; i++)
        shape.shape[i] = (uint64_t)own->dims[i];
    if (images > 1)
        shape.shape[0] = images;
    return shape;
}

bool array_write_floats(const char *path, const tensor *own, const reference_array *a)
{
    npy_array array = shape_of(own, a->channels, a->height, a->width, reference_count(a));
    array.type = ELEMENT_FLOAT32;
    array.count = reference_count(a);
    array.data = a->data;
    return write_array(path, &array);
}

bool array_write_shaped(const planes *p, npy_array array, const char *path, bool raw)
{
    array.count = p->count;
    if (raw) {
        array.type = element_of(p->info.type);
        array.data = p->buffer.data;
        return write_array(path, &array);
    }
    float *data = malloc(p->count * sizeof *data);
    if (!data)
        return cli_fail(0, "out of memory");
    for (size_t i = 0; i < p->count; i++)
        data[i] = (float)planes_get(p, i);
    array.type = ELEMENT_FLOAT32;
    array.data = data;
    const bool ok = write_array(path, &array);
    free(data);
    return ok;
}

/* Warns where an output reaches the end of fp16, since larger numbers are clipped to it. */
static void tell_largest(const planes *p, const char *path)
{
    size_t largest = 0;
    for (size_t i = 0; i < p->count && p->info.type == MONA_F16; i++)
        largest += fabs(planes_get(p, i)) >= planes_high(&p->info);
    if (largest)
        fprintf(stderr,
                "warning: %s: %.3g %% of the values of output '%s' are as large as fp16 holds, %g: "
                "in the network they may be larger\n",
                path, 100.0 * (double)largest / (double)p->count, p->info.name,
                planes_high(&p->info));
}

/* Warns where an output has integers of which float32 holds only some. */
static void tell_rounded(const planes *p, const char *path)
{
    const bool whole = p->info.type != MONA_F16 && p->info.type != MONA_F32;
    size_t large = 0;
    for (size_t i = 0; i < p->count && whole; i++)
        large += fabs(planes_get(p, i)) > 0x1p24;
    if (large)
        fprintf(stderr,
                "warning: %s: %.3g %% of the values of output '%s' lie beyond 16777216, where "
                "float32 does not hold every integer; --raw keeps them as they are\n",
                path, 100.0 * (double)large / (double)p->count, p->info.name);
}

bool array_write_planes(const planes *p, const tensor *own, const char *path, bool raw)
{
    tell_largest(p, path);
    if (!raw)
        tell_rounded(p, path);
    const mona_tensor_info *t = &p->info;
    return array_write_shaped(p, shape_of(own, t->channels, t->height, t->width, p->count), path,
                              raw);
}
