// SPDX-License-Identifier: Apache-2.0
/* A reference that shares nothing with the engine: values are doubles, fp16 rounding works on
 * doubles, and tensors are C x H x W. Also converts such a tensor to the engine's rows and back. */
#ifndef MONA_TESTS_REFERENCE_H
#define MONA_TESTS_REFERENCE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/op/op.h"

/* ---- the reference's own arithmetic --------------------------------------------------------- */

static inline double value_of_half(uint16_t h)
{
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    const double magnitude =
        exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return h & 0x8000 ? -magnitude : magnitude;
}

/* Nearest fp16 value, ties to even, saturating. */
static inline double half(double x)
{
    int exponent;
    frexp(x, &exponent); /* |x| in [2^(exponent - 1), 2^exponent) */
    const int ulp = exponent - 11 < -24 ? -24 : exponent - 11;
    const double rounded = ldexp(nearbyint(ldexp(x, -ulp)), ulp);
    return fmax(-65504, fmin(65504, rounded));
}

static inline uint16_t bits_of_half(double x)
{
    const double magnitude = fabs(x);
    int exponent;
    frexp(magnitude, &exponent);
    const int normal = magnitude >= 0x1p-14;
    const int fraction = (int)ldexp(magnitude, normal ? 11 - exponent : 24);
    const uint16_t bits =
        (uint16_t)((signbit(x) ? 0x8000 : 0) +
                   (normal ? ((exponent + 14) << 10) + fraction - 1024 : fraction));
    if (value_of_half(bits) != x)
        fail_msg("%g is no fp16 value", x);
    return bits;
}

static inline double stored(mona_type type, double t)
{
    if (type == MONA_U8)
        return fmax(0, fmin(255, nearbyint(t)));
    if (type == MONA_S8)
        return fmax(-128, fmin(127, nearbyint(t)));
    return half(t);
}

static inline double activated(int activation, double t, double slope, double low, double high)
{
    switch (activation) {
    case MONA_ACT_RELU:
        return fmax(t, 0);
    case MONA_ACT_PRELU:
        return t > 0 ? t : half(t * slope);
    case MONA_ACT_CLIP:
        return fmin(fmax(t, low), high);
    default:
        return t;
    }
}

/* ---- tensors -------------------------------------------------------------------------------- */

static uint32_t state;

static inline int between(int low, int high)
{
    state = state * 1664525u + 1013904223u;
    return low + (int)((state >> 8) % (uint32_t)(high - low + 1));
}

typedef struct tensor {
    int channels, height, width;
    mona_type type;
    double *v;
} tensor;

static inline double *at(const tensor *t, int c, int y, int x)
{
    return &t->v[((size_t)c * (size_t)t->height + (size_t)y) * (size_t)t->width + (size_t)x];
}

static inline tensor new_tensor(int channels, int height, int width, mona_type type)
{
    const tensor t = {channels, height, width, type,
                      calloc((size_t)channels * (size_t)height * (size_t)width, sizeof(double))};
    assert_non_null(t.v);
    return t;
}

static inline double random_value(mona_type type)
{
    if (type == MONA_U8)
        return between(0, 3) ? between(0, 255) : 255;
    if (type == MONA_S8)
        return between(-128, 127);
    return half(between(-3000, 3000) / 1000.0);
}

static inline tensor random_tensor(int channels, int height, int width, mona_type type)
{
    tensor t = new_tensor(channels, height, width, type);
    for (int i = 0; i < channels * height * width; i++)
        t.v[i] = random_value(type);
    return t;
}

/* A tensor in the engine's form: rows of channel blocks, with `margin` columns and rows of zeros
 * around them. */
typedef struct rows_memory {
    uint8_t *bytes, **row;
    size_t block_stride;
    uint32_t c0;
} rows_memory;

static inline void put(uint8_t *p, mona_type type, double v)
{
    const uint16_t bits = type == MONA_F16 ? bits_of_half(v) : (uint16_t)(int)v;
    if (type == MONA_F16 || type == MONA_U16)
        memcpy(p, &bits, 2);
    else
        *p = (uint8_t)(int)v;
}

static inline double get(const uint8_t *p, mona_type type)
{
    uint16_t bits;
    if (type == MONA_U8)
        return *p;
    if (type == MONA_S8)
        return (int8_t)*p;
    memcpy(&bits, p, 2);
    return type == MONA_U16 ? bits : value_of_half(bits);
}

static inline size_t element_bytes(mona_type type)
{
    return type == MONA_F16 || type == MONA_U16 ? 2 : 1;
}

static inline uint8_t *element(const rows_memory *m, const tensor *t, int margin, int c, int y,
                               int x)
{
    return m->row[y + margin] + (size_t)c / m->c0 * m->block_stride +
           ((size_t)(x + margin) * m->c0 + (size_t)c % m->c0) * element_bytes(t->type);
}

static inline rows_memory to_rows(const tensor *t, int margin)
{
    rows_memory m = {.c0 = ac_target_c0(&ac_target_host, t->type, (uint32_t)t->channels)};
    const size_t rows = (size_t)(t->height + 2 * margin), columns = (size_t)(t->width + 2 * margin);
    const size_t blocks = ((size_t)t->channels + m.c0 - 1) / m.c0;
    m.block_stride = (columns * m.c0 * element_bytes(t->type) + 63) / 64 * 64;
    m.bytes = aligned_alloc(64, rows * blocks * m.block_stride + 64);
    m.row = calloc(rows, sizeof *m.row);
    memset(m.bytes, 0, rows * blocks * m.block_stride + 64);
    for (size_t y = 0; y < rows; y++)
        m.row[y] = m.bytes + y * blocks * m.block_stride;
    for (int c = 0; c < t->channels; c++)
        for (int y = 0; y < t->height; y++)
            for (int x = 0; x < t->width; x++)
                put(element(&m, t, margin, c, y, x), t->type, *at(t, c, y, x));
    return m;
}

static inline void free_rows(rows_memory *m)
{
    free(m->bytes);
    free(m->row);
}

static inline void assert_same(const tensor *expected, const rows_memory *m, const char *isa)
{
    for (int c = 0; c < expected->channels; c++)
        for (int y = 0; y < expected->height; y++)
            for (int x = 0; x < expected->width; x++) {
                const double got = get(element(m, expected, 0, c, y, x), expected->type);
                if (got != *at(expected, c, y, x))
                    fail_msg("%s: channel %d row %d column %d: expected %g, got %g", isa, c, y, x,
                             *at(expected, c, y, x), got);
            }
}

#endif
