// SPDX-License-Identifier: Apache-2.0
/* Stores a convolution's results elsewhere than in channel blocks of 16 of a row: rounded results,
 * [block][pixel][16 channels], are scattered to planes or to channel blocks of another size. All
 * row kernels share this; each provides its own unpack_row. */
#ifndef MONA_SCATTER_H
#define MONA_SCATTER_H

#include "engine/cpu/cpu.h"
#include "engine/libc.h"

enum { MONA_MAX_GROUP = 3 };

/* Blocks of 16 outputs that must be spread together: as many as make up whole rows of planes
 * (channel c goes to row c / block, and 16 is no multiple of 3) or a whole channel block (of 32 on
 * the 310). */
static inline uint32_t mona_scatter_group(const mona_conv_row *row)
{
    if (row->planes)
        return row->planes->block == 3 ? 3 : 1;
    return row->output.c0 > AC_FRACTAL ? row->output.c0 / AC_FRACTAL : 1;
}

static inline bool mona_scatter_needed(const mona_conv_row *row)
{
    return row->planes || row->output.c0 != AC_FRACTAL;
}

static inline void mona_scatter_planes(const mona_isa *by, const mona_conv_row *row,
                                       const mona_row *tile, uint32_t first, uint32_t channels,
                                       uint32_t x, uint32_t pixels)
{
    uint8_t *rows[AC_FRACTAL];
    mona_unpack_row u = {
        .source = *tile, .channels = channels, .pixels = pixels, .planes = *row->planes};
    const uint32_t block = u.planes.block;
    const size_t column = (size_t)x * block * mona_type_size(u.planes.type);
    for (uint32_t i = 0; i < channels / block; i++)
        rows[i] = row->planes->rows[first / block + i] + column;
    u.planes.rows = rows;
    by->unpack_row(&u);
}

/* Copies `unit` bytes of each pixel. Known sizes become single moves. */
static inline void mona_copy_pixels(uint8_t *to, size_t to_step, const uint8_t *from,
                                    size_t from_step, size_t unit, uint32_t pixels)
{
#define MONA_COPY_PIXELS(size)                                                                     \
    for (uint32_t x = 0; x < pixels; x++)                                                          \
    memcpy(to + x * to_step, from + x * from_step, size)
    switch (unit) {
    case 4:
        MONA_COPY_PIXELS(4);
        break;
    case 8:
        MONA_COPY_PIXELS(8);
        break;
    case 12:
        MONA_COPY_PIXELS(12);
        break;
    case 16:
        MONA_COPY_PIXELS(16);
        break;
    default:
        MONA_COPY_PIXELS(unit);
    }
#undef MONA_COPY_PIXELS
}

/* The channels that fill up the last channel block become 0. */
static inline void mona_scatter_columns(const mona_conv_row *row, const mona_row *tile,
                                        uint32_t first, uint32_t channels, uint32_t x,
                                        uint32_t pixels)
{
    const uint32_t c0 = row->output.c0, unit = c0 < tile->c0 ? c0 : tile->c0;
    const size_t element = mona_type_size(tile->type), step = c0 * element;
    uint8_t *out = row->output.data + first / c0 * row->output.block_stride + x * step;
    for (uint32_t c = 0, count; c < channels; c += count) {
        count = channels - c < unit ? channels - c : unit;
        uint8_t *to = out + c / c0 * row->output.block_stride + c % c0 * element;
        const uint8_t *from =
            tile->data + c / tile->c0 * tile->block_stride + c % tile->c0 * element;
        mona_copy_pixels(to, step, from, tile->c0 * element, count * element, pixels);
    }
    const size_t rest = (c0 - channels % c0) % c0 * element;
    uint8_t *zeros = out + channels / c0 * row->output.block_stride + channels % c0 * element;
    for (size_t k = 0; k < rest; k++) /* pixel by pixel, each would be a call of memset */
        for (uint32_t i = 0; i < pixels; i++)
            zeros[i * step + k] = 0;
}

/* Spreads blocks [n, n + group) of pixels [x, x + pixels). tile: the results, in the output's type;
 * its c0 is 16, or smaller if that holds all channels. */
static inline void mona_scatter(const mona_isa *by, const mona_conv_row *row, const mona_row *tile,
                                uint32_t n, uint32_t x, uint32_t pixels)
{
    const uint32_t first = n * AC_FRACTAL, max = mona_scatter_group(row) * AC_FRACTAL;
    const uint32_t left = row->conv->channels - first, channels = left < max ? left : max;
    if (row->planes)
        mona_scatter_planes(by, row, tile, first, channels, x, pixels);
    else
        mona_scatter_columns(row, tile, first, channels, x, pixels);
}

#endif
