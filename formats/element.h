// SPDX-License-Identifier: Apache-2.0
/* The element types of ONNX tensors, numbered as in TensorProto.DataType, and conversion of numbers
 * to them.
 *
 * In memory every element has its own bytes: 2- and 4-bit types take one byte each, and floats of
 * 16 bits or fewer are stored as their bits. */
#ifndef MONA_FORMAT_ELEMENT_H
#define MONA_FORMAT_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mona.h"

typedef enum element_type {
    ELEMENT_UNDEFINED,
    ELEMENT_FLOAT32,
    ELEMENT_UINT8,
    ELEMENT_INT8,
    ELEMENT_UINT16,
    ELEMENT_INT16,
    ELEMENT_INT32,
    ELEMENT_INT64,
    ELEMENT_STRING,
    ELEMENT_BOOL,
    ELEMENT_FLOAT16,
    ELEMENT_DOUBLE,
    ELEMENT_UINT32,
    ELEMENT_UINT64,
    ELEMENT_COMPLEX64,
    ELEMENT_COMPLEX128,
    ELEMENT_BFLOAT16,
    ELEMENT_FLOAT8E4M3FN,
    ELEMENT_FLOAT8E4M3FNUZ,
    ELEMENT_FLOAT8E5M2,
    ELEMENT_FLOAT8E5M2FNUZ,
    ELEMENT_UINT4,
    ELEMENT_INT4,
    ELEMENT_FLOAT4E2M1,
    ELEMENT_FLOAT8E8M0,
    ELEMENT_UINT2,
    ELEMENT_INT2,
    ELEMENT_TYPE_COUNT,
} element_type;

/* That of numbers which the engine stores as its own type. */
element_type element_of(mona_type type);

/* ONNX's name in lower case; "unknown" for other numbers. */
const char *element_name(int64_t type);

/* Bytes of an element in memory; 0: the type is not supported (strings, complex numbers). */
size_t element_size(int64_t type);
/* Bits of an element in a file. */
unsigned element_bits(int64_t type);

bool element_is_float(element_type type);
/* The range of integer types. */
int64_t element_lowest(element_type type);
uint64_t element_highest(element_type type);

/* Conversion of infinities and of finite numbers beyond the range of a float type: to the largest
 * number; or to infinity or, if the type has none, NaN. */
typedef enum element_overflow { ELEMENT_SATURATES, ELEMENT_OVERFLOWS } element_overflow;

/* A float type of 16 bits or fewer: the number of mantissa bits, exponents from `min_exponent` on
 * (below it, numbers are subnormal), the largest number `max`, and whether infinity or NaN follow
 * it. */
typedef struct element_format {
    int mantissa_bits, min_exponent;
    double max, beyond;
} element_format;
element_format element_format_of(element_type type);

/* Stores a number as an element of a float type, rounded to nearest, halves to even. */
void element_store_float(element_type type, void *data, double value, element_overflow overflow);
/* The value of an element. Integers beyond 2^53 are rounded. */
double element_number(element_type type, const void *data);

/* Elements of integer types and BOOL. UINT64 is returned as the same bits. Storing keeps the low
 * bits, as in two's complement. */
int64_t element_int(element_type type, const void *data);
void element_store_int(element_type type, void *data, int64_t value);

/* IEEE binary16 as bits. */

/* Rounds to nearest, halves to even; saturates at 65504, as the engine does; NaN stays NaN. */
uint16_t half_from_double(double value);

/* Exact. */
double half_value(uint16_t bits);

#endif
