// SPDX-License-Identifier: Apache-2.0
/* Pictures that differ by their texture: gratings of five directions and two widths, each with its
 * own phase, colours and contrast, with noise. */
#ifndef MONA_TESTS_TEXTURES_H
#define MONA_TESTS_TEXTURES_H

#include <math.h>
#include <stdint.h>

enum { TEXTURES = 10 };

/* Uniform in [low, high). */
static inline double texture_between(uint32_t *random, double low, double high)
{
    *random = *random * 1664525 + 1013904223;
    return low + (high - low) * (double)(*random >> 8) / (1 << 24);
}

/* Fills [3][side][side] with 8-bit values scaled to 0..1. */
static inline void texture_draw(float *picture, int side, unsigned texture, uint32_t *random)
{
    const double pi = 3.141592653589793;
    const double angle = (texture % 5 + texture_between(random, -0.35, 0.35)) * pi / 5;
    const double cycles = (texture < 5 ? 0.09 : 0.14) + texture_between(random, -0.015, 0.015);
    const double phase = texture_between(random, 0, 2 * pi);
    for (int c = 0; c < 3; c++) {
        const double contrast = texture_between(random, 0.04, 0.1);
        const double hue = 0.25 * cos(2 * pi * (texture / 10.0 + c / 3.0));
        const double mean = 0.5 + hue + texture_between(random, -0.05, 0.05);
        for (int i = 0; i < side * side; i++) {
            const double along = i % side * cos(angle) + i / side * sin(angle);
            const double wave = contrast * sin(2 * pi * cycles * along + phase);
            const double value = mean + wave + texture_between(random, -0.1, 0.1);
            picture[c * side * side + i] = (float)(nearbyint(fmax(0, fmin(value, 1)) * 255) / 255);
        }
    }
}

#endif
