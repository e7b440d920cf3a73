// SPDX-License-Identifier: Apache-2.0
/* Weights of convolutions with at most 6 outputs, like the last layer of every network that mona
 * ships, for row kernels that do not have 16 outputs side by side. The numbers of every tap of 16
 * channels, or of every run, come one after another.
 *
 * mona_conv.narrow: [vector][16 channels] of s8, or of 16 bits (mona_isa.narrow_wide), with a
 * vector for each of 1, 4 or 6 outputs; those past the last are zeros. Rotated
 * (mona_isa.narrow_rotated), vector r has output (q + r) % 4 for channels 4 q to 4 q + 3, and
 * vectors 4 and 5 have output 4 + (q + r) % 2.
 *
 * mona_conv.narrow_tiles, of a filter of 2 to 5 columns for 4 pixels at once:
 * [row][pixel][4 outputs][4 channels]. Row r has channels 4 (r % 4) to 4 (r % 4) + 3 of the
 * filter's column r / 4 - pixel, or zeros if there is none.
 *
 * mona_conv.mixed, of a last block of at most 12 outputs: [step][3 rotations][16 outputs][4], where
 * rotation r has outputs 4 r, 4 r + 1 and so on, modulo 12. */
#ifndef MONA_NARROW_H
#define MONA_NARROW_H

#include <stdint.h>

enum {
    MONA_NARROW_OUTPUTS = 6,
    MONA_NARROW_PIXELS = 4,
    MONA_NARROW_COLUMNS = 5,
    MONA_NARROW_TILES =
        20 * 1024, /* most bytes of filters in tiles; larger ones stay in no cache */
    MONA_MIXED_OUTPUTS = 12,
    MONA_MIXED_ROTATIONS = 3,
    MONA_MIXED_BYTES = 6656, /* most of a last block's weights: in three rotations, beside those of
                              the block before it, they stay in a cache */
};

/* Vectors of a tap. */
static inline uint32_t mona_narrow_vectors(uint32_t channels)
{
    return channels > 4 ? MONA_NARROW_OUTPUTS : channels > 1 ? 4 : 1;
}

/* Rows of a run in tiles. */
static inline uint32_t mona_narrow_rows(uint32_t columns)
{
    return (MONA_NARROW_PIXELS + columns - 1) * 4;
}

#endif
