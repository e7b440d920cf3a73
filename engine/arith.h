// SPDX-License-Identifier: Apache-2.0
/* Integer arithmetic that planning, operators and stages share. */
#ifndef MONA_ARITH_H
#define MONA_ARITH_H

#include <stddef.h>
#include <stdint.h>

#include "mona.h"

static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static inline double min_f64(double a, double b)
{
    return a < b ? a : b;
}

static inline double max_f64(double a, double b)
{
    return a > b ? a : b;
}

/* a + b - 1 must fit; b > 0. */
static inline uint32_t ceil_div_u32(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

static inline uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static inline size_t round_up(size_t value, size_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

static inline size_t align_up(size_t bytes)
{
    return round_up(bytes, MONA_ALIGNMENT);
}

/* Rounds towards minus infinity; b > 0. */
static inline int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Rounds towards plus infinity; b > 0. */
static inline int64_t ceil_div(int64_t a, int64_t b)
{
    return -floor_div(-a, b);
}

static inline int64_t clip_to(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

#endif
