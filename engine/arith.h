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

static inline uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
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

/* What floor_div() leaves. */
static inline int64_t floor_rest(int64_t a, int64_t b)
{
    return a % b + (a % b < 0 ? b : 0);
}

/* floor_div() in 32 bits: small CPUs divide no more than that, and what runs for every row of a
 * frame must not call a function of the compiler's for it. */
static inline int32_t floor_div_small(int32_t a, int32_t b)
{
    return a / b - (a % b < 0);
}

/* floor(position * to / from) in divisions of 32 bits: a row or column, at most 2^16 of them from
 * the edge of a tensor with `from` <= 2^15, scaled to one with `to`. */
static inline int64_t scale_position(int64_t position, uint32_t to, uint32_t from)
{
    const uint32_t distance = (uint32_t)(position < 0 ? -position : position);
    const uint32_t rest = distance * (to % from);
    const int64_t part = rest / from + (position < 0 && rest % from);
    return position * (to / from) + (position < 0 ? -part : part);
}

/* Where share `index` of `shares` of `count` things begins. */
static inline size_t share_begin(size_t count, uint32_t index, uint32_t shares)
{
    return count / shares * index + count % shares * index / shares;
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
