// SPDX-License-Identifier: Apache-2.0
/* NumPy's .npy arrays: versions 1 to 3 of the format, little-endian, C order.
 *
 * A file is the magic "\x93NUMPY", two version bytes, the length of the header (2 bytes, or 4 from
 * version 2 on), the header as a Python dictionary literal
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 24, 24), }
 * and the elements. */
#ifndef MONA_NPY_H
#define MONA_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "formats/element.h"
#include "formats/error.h"

enum { NPY_MAX_RANK = 8 };

typedef struct npy_array {
    element_type type; /* one that NumPy has; BOOL: 0 or 1 */
    unsigned rank;     /* 0: a single number */
    uint64_t shape[NPY_MAX_RANK];
    uint64_t count; /* product of the shape */
    void *data;     /* count elements */
} npy_array;

/* The value of element i. */
double npy_value(const npy_array *array, uint64_t i);

/* Whether bytes[0, size) begin like a .npy file. The first NPY_MAGIC bytes suffice. */
enum { NPY_MAGIC = 6 };
bool npy_begins(const uint8_t *bytes, size_t size);

/* Parses the header at the beginning of a file. bytes[0, size) must contain the whole header:
 * NPY_MAX_HEADER bytes suffice. *begin: the offset of the elements; array->data is NULL. */
enum { NPY_MAX_HEADER = 65536 + 12 };
bool npy_parse_header(npy_array *array, const uint8_t *bytes, size_t size, size_t *begin,
                      format_error *error);

/* Parses the whole file bytes[0, size). array->data points into it, at any alignment. */
bool npy_parse(npy_array *array, const uint8_t *bytes, size_t size, format_error *error);

/* Writes the array as a file in memory; release it with free(). NULL: out of memory. */
uint8_t *npy_format(const npy_array *array, size_t *size);

#endif
