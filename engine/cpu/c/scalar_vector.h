// SPDX-License-Identifier: Apache-2.0
/* A vector type of one float, for code written for vectors (functions.h). */
#ifndef MONA_SCALAR_VECTOR_H
#define MONA_SCALAR_VECTOR_H

#include "engine/cpu/c/f16.h"

typedef float vf;

static inline vf vf_set1(float x)
{
    return x;
}

static inline vf vf_add(vf a, vf b)
{
    return a + b;
}

static inline vf vf_sub(vf a, vf b)
{
    return a - b;
}

static inline vf vf_mul(vf a, vf b)
{
    return a * b;
}

static inline vf vf_div(vf a, vf b)
{
    return a / b;
}

static inline vf vf_max(vf a, vf b)
{
    return a > b ? a : b;
}

static inline vf vf_min(vf a, vf b)
{
    return a < b ? a : b;
}

static inline vf vf_power2(vf v)
{
    return mona_float((mona_bits(v) + 127) << 23);
}

#endif
