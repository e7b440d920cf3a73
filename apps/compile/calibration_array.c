// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/calibration.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/compile/arrays.h"

/* A file whose header has been read. */
typedef struct array_file {
    const char *path;
    FILE *stream;
    npy_array array;       /* without elements */
    size_t begin;          /* offset of the elements in the file */
    reference_array sides; /* of one input; no data */
    uint64_t count;        /* number of inputs */
} array_file;

bool calibration_is_array(const char *path)
{
    uint8_t start[NPY_MAGIC];
    FILE *file = fopen(path, "rb");
    const bool is = file && npy_begins(start, fread(start, 1, sizeof start, file));
    if (file)
        fclose(file);
    return is;
}

static bool read_header(array_file *f)
{
    format_error error = {0};
    uint8_t *start = malloc(NPY_MAX_HEADER);
    if (!start)
        return cli_fail(0, "out of memory");
    const size_t size = fread(start, 1, NPY_MAX_HEADER, f->stream);
    const bool ok = npy_parse_header(&f->array, start, size, &f->begin, &error) ||
                    cli_fail(0, "%s: %s", f->path, error.text);
    free(start);
    return ok;
}

static bool is_whole(const array_file *f)
{
    const uint64_t expected = f->begin + f->array.count * element_size(f->array.type);
    const bool sought = !fseeko(f->stream, 0, SEEK_END);
    const off_t found = sought ? ftello(f->stream) : -1;
    return (found >= 0 && (uint64_t)found == expected) ||
           cli_fail(0, "%s: its shape needs %" PRIu64 " bytes, found %" PRId64, f->path, expected,
                    (int64_t)found);
}

/* Whether an input is a list of numbers, which may come in any shape. */
static bool is_list(const compiler_tensor *t)
{
    return t->array || (t->height == 1 && t->width == 1);
}

static bool unsuitable(const array_file *f, const compiler_tensor *t)
{
    char wanted[96], found[NPY_MAX_RANK * 21 + 2] = "";
    if (is_list(t))
        snprintf(wanted, sizeof wanted, "%u numbers", t->channels * t->height * t->width);
    else if (t->height && t->width)
        snprintf(wanted, sizeof wanted, "%ux%ux%u", t->channels, t->height, t->width);
    else
        snprintf(wanted, sizeof wanted, "%u channels of any size", t->channels);
    for (unsigned i = 0, n = 0; i < f->array.rank; i++)
        n += (unsigned)snprintf(found + n, sizeof found - n, "%s%" PRIu64, i ? "x" : "",
                                f->array.shape[i]);
    return cli_fail(0, "%s: input '%s' takes %s, or Nx that for N inputs; found the shape %s",
                    f->path, t->name, wanted, f->array.rank ? found : "of one number");
}

/* The sides of an input are the last three of the shape; missing ones are 1. */
static void take_sides(array_file *f)
{
    const npy_array *a = &f->array;
    uint64_t sides[3] = {1, 1, 1};
    for (unsigned i = 0; i < 3 && i < a->rank; i++)
        sides[2 - i] = a->shape[a->rank - 1 - i] <= MONA_MAX_SIDE ? a->shape[a->rank - 1 - i] : 0;
    f->sides = (reference_array){(uint32_t)sides[0], (uint32_t)sides[1], (uint32_t)sides[2], NULL};
}

/* How the shape is divided into inputs. For maps, the last sides are those of the input; of
 * a list, only the number of elements is known. Several inputs follow one another along the first
 * side. */
static bool divide(array_file *f, const compiler_tensor *t)
{
    const npy_array *a = &f->array;
    take_sides(f);
    const array_sides own = {.channels = t->channels, .height = t->height, .width = t->width};
    const bool shaped = array_ends_in(a, &own);
    if (is_list(t) || shaped)
        f->sides = (reference_array){t->channels, t->height, t->width, NULL};
    const reference_array *s = &f->sides;
    const bool suits = s->channels == t->channels && s->height && s->width &&
                       (!t->height || s->height == t->height) &&
                       (!t->width || s->width == t->width);
    const uint64_t each = (uint64_t)s->channels * s->height * s->width;
    if (!suits || !a->count || a->count % each)
        return unsuitable(f, t);
    f->count = a->count / each;
    return f->count == 1 || (a->shape[0] == f->count && (is_list(t) || shaped || a->rank == 4)) ||
           unsuitable(f, t);
}

static bool open_array(array_file *f, const char *path, const compiler_tensor *t)
{
    *f = (array_file){.path = path};
    f->stream = fopen(path, "rb");
    if (!f->stream)
        return cli_fail(0, "%s: %s", path, strerror(errno));
    return read_header(f) && divide(f, t) && is_whole(f);
}

static void close_array(array_file *f)
{
    if (f->stream)
        fclose(f->stream);
}

bool calibration_array_count(const char *path, const compiler *model, unsigned input,
                             uint64_t *count)
{
    const compiler_tensor t = compiler_input(model, input);
    array_file f;
    const bool ok = open_array(&f, path, &t);
    *count = f.count;
    close_array(&f);
    return ok;
}

/* Reads the elements of one input. */
static bool read_elements(array_file *f, uint64_t place, npy_array *part)
{
    const size_t size = element_size(f->array.type);
    *part = (npy_array){.type = f->array.type, .count = f->array.count / f->count};
    part->data = malloc(part->count * size);
    if (!part->data)
        return cli_fail(0, "out of memory");
    const off_t at = (off_t)(f->begin + place * part->count * size);
    return (place < f->count && !fseeko(f->stream, at, SEEK_SET) &&
            fread(part->data, size, part->count, f->stream) == part->count) ||
           cli_fail(0, "%s: cannot be read any more", f->path);
}

/* Whether an array has the type of the planes, and so what they hold. */
static bool is_stored(const calibration_feed *f, element_type type)
{
    return (f->planes == MONA_S8 && type == ELEMENT_INT8) ||
           (f->planes == MONA_U16 && type == ELEMENT_UINT16);
}

static bool to_input(const calibration *c, const npy_array *part, const compiler_tensor *t,
                     const reference_array *sides, const char *name, reference_array *input)
{
    const bool plain = t->array || t->integers, samples = part->type == ELEMENT_UINT8;
    const bool stored = is_stored(&c->feed, part->type);
    const size_t plane = (size_t)sides->height * sides->width;
    *input = *sides;
    input->data = malloc(part->count * sizeof *input->data);
    if (!input->data)
        return cli_fail(0, "out of memory");
    for (size_t i = 0; i < part->count; i++) {
        const double value = npy_value(part, i);
        const uint32_t channel = t->channels == 3 ? (uint32_t)(i / plane) : 0;
        input->data[i] = plain     ? (float)value
                         : samples ? calibration_fed(&c->feed, channel, value)
                         : stored  ? calibration_fed_stored(&c->feed, channel, value)
                                   : calibration_fed_number(&c->feed, channel, value);
        if (!isfinite(input->data[i]))
            return cli_fail(0, "%s: expected numbers that float32 can hold, found %g", name, value);
    }
    return true;
}

static bool read_input(const calibration *c, const char *path, uint64_t place,
                       const compiler_tensor *t, reference_array *input)
{
    array_file f;
    npy_array part = {0};
    const bool ok = open_array(&f, path, t) && read_elements(&f, place, &part) &&
                    to_input(c, &part, t, &f.sides, path, input);
    free(part.data);
    close_array(&f);
    return ok;
}

bool calibration_array(const calibration *c, size_t index, const compiler *model,
                       reference_array *inputs)
{
    const calibration_image *image = &c->images[index];
    const unsigned count = compiler_input_count(model);
    bool ok = true;
    for (unsigned i = 0; i < count; i++)
        inputs[i] = (reference_array){0};
    for (unsigned i = 0; ok && i < count; i++) {
        const compiler_tensor t = compiler_input(model, i);
        ok = read_input(c, c->named[i] ? c->named[i] : image->name, image->place, &t, &inputs[i]);
    }
    if (!ok)
        reference_arrays_free(inputs, count);
    return ok;
}
