// SPDX-License-Identifier: Apache-2.0
/* Winograd's F(4, 3): four results of a filter with three taps from six products instead of twelve.
 *
 * With samples d[0..5] and weights g[0..2], result i is the sum of g[t] d[i + t]. Let B d, G g and
 * A be, with the rational matrix G times 24,
 *
 *   B d = 4 d0 - 5 d2 + d4              24 G g = 6 g0
 *         -4 d1 - 4 d2 + d3 + d4                 -4 (g0 + g1 + g2)
 *          4 d1 - 4 d2 - d3 + d4                 -4 (g0 - g1 + g2)
 *         -2 d1 - d2 + 2 d3 + d4                 g0 + 2 g1 + 4 g2
 *          2 d1 - d2 - 2 d3 + d4                 g0 - 2 g1 + 4 g2
 *          4 d1 - 5 d3 + d5                      24 g2
 *
 * and m the products, position by position. Then 24 times the results are
 *
 *   m0 + m1 + m2 +    m3 +   m4
 *        m1 - m2 + 2 (m3 -   m4)
 *        m1 + m2 + 4 (m3 +   m4)
 *        m1 - m2 + 8 (m3 -   m4) + m5
 *
 * (Lavin and Gray, "Fast algorithms for convolutional neural networks".) The transform is linear,
 * so products of all rows and channels are summed first. With integers this is exact: arithmetic is
 * modulo 2^32, where only the results times 24 have to fit. Division by 24 is a shift by 3 and a
 * multiplication by the inverse of 3 modulo 2^32. For bytes, |B d| <= 2040 and |24 G g| <= 3048. */
#ifndef AC_WINOGRAD_H
#define AC_WINOGRAD_H

#include <stdint.h>

enum {
    WINOGRAD_TAPS = 3,
    WINOGRAD_PIXELS = 4,
    WINOGRAD_POSITIONS = 6,
    WINOGRAD_ROW_WEIGHTS = 16 * 16, /* of a row, a channel block and a block of outputs */
};

#define WINOGRAD_THIRD 0xaaaaaaabu /* times 3 is 1 modulo 2^32 */

static inline void winograd_weights(int16_t to[WINOGRAD_POSITIONS], const int16_t g[WINOGRAD_TAPS])
{
    to[0] = (int16_t)(6 * g[0]);
    to[1] = (int16_t)(-4 * (g[0] + g[1] + g[2]));
    to[2] = (int16_t)(-4 * (g[0] - g[1] + g[2]));
    to[3] = (int16_t)(g[0] + 2 * g[1] + 4 * g[2]);
    to[4] = (int16_t)(g[0] - 2 * g[1] + 4 * g[2]);
    to[5] = (int16_t)(24 * g[2]);
}

#endif
