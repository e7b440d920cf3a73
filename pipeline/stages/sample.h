// SPDX-License-Identifier: Apache-2.0
/* Reading and writing samples of planes: of 8 bits or, with `wide`, of 16. These are inlined with a
 * constant `wide`, so that loops over a row become vector code. */
#ifndef MONA_SAMPLE_H
#define MONA_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A function whose last argument is `wide`, with each of its values compiled on its own. */
#define BY_WIDTH(wide, function, ...)                                                              \
    ((wide) ? function(__VA_ARGS__, true) : function(__VA_ARGS__, false))

static inline int plane_sample(const uint8_t *row, ptrdiff_t x, bool wide)
{
    uint16_t value;
    if (!wide)
        return row[x];
    memcpy(&value, row + 2 * x, sizeof value);
    return value;
}

/* The same where a sample looks something up: files hold some above their format's range. */
static inline int plane_sample_within(const uint8_t *row, ptrdiff_t x, int most, bool wide)
{
    const int sample = plane_sample(row, x, wide);
    return sample < most ? sample : most;
}

static inline void put_plane_sample(uint8_t *row, ptrdiff_t x, int sample, bool wide)
{
    const uint16_t value = (uint16_t)sample;
    if (wide)
        memcpy(row + 2 * x, &value, sizeof value);
    else
        row[x] = (uint8_t)sample;
}

#endif
