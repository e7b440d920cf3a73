// SPDX-License-Identifier: Apache-2.0
/* Integer arithmetic that planning and operators share. Private to engine/ and ops/. */
#ifndef MONA_ARITH_H
#define MONA_ARITH_H

#include <stddef.h>
#include <stdint.h>

#include "mona.h"

static inline size_t align_up(size_t bytes)
{
    return (bytes + MONA_ALIGNMENT - 1) / MONA_ALIGNMENT * MONA_ALIGNMENT;
}

/* Rounds towards minus infinity; b > 0. */
static inline int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static inline int64_t clip_to(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

#endif
