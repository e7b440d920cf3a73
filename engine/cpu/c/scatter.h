// SPDX-License-Identifier: Apache-2.0
/* Results of a convolution that do not simply go to channel blocks of 16 in a row: rounded results,
 * [block][pixel][16 channels], are spread over planes or over channel blocks of another size.
 * Shared by all row kernels, each of which gives its own pack_row and unpack_row. */
#ifndef AC_SCATTER_H
#define AC_SCATTER_H

#include "engine/cpu/cpu.h"

enum { AC_MAX_GROUP = 3 };

/* Blocks of 16 outputs that must be spread together: as many as make up whole rows of planes
 * (channel c goes to row c / block, and 16 is no multiple of 3) or a whole channel block (of 32 on
 * the 310). */
static inline uint32_t ac_scatter_group(const ac_conv_row *row)
{
    if (row->planes)
        return row->planes->block == 3 ? 3 : 1;
    return row->output.c0 > AC_FRACTAL ? row->output.c0 / AC_FRACTAL : 1;
}

static inline bool ac_scatter_needed(const ac_conv_row *row)
{
    return row->planes || row->output.c0 != AC_FRACTAL;
}

static inline void ac_scatter_planes(const ac_isa *by, const ac_conv_row *row, const ac_row *tile,
                                     uint32_t first, uint32_t channels, uint32_t x, uint32_t pixels)
{
    uint8_t *rows[AC_FRACTAL];
    ac_unpack_row u = {
        .source = *tile, .channels = channels, .pixels = pixels, .planes = *row->planes};
    const uint32_t block = u.planes.block;
    const size_t column = (size_t)x * block * mona_type_size(u.planes.type);
    for (uint32_t i = 0; i < channels / block; i++)
        rows[i] = row->planes->rows[first / block + i] + column;
    u.planes.rows = rows;
    by->unpack_row(&u);
}

static inline void ac_scatter_columns(const ac_isa *by, const ac_conv_row *row, const ac_row *tile,
                                      uint32_t first, uint32_t channels, uint32_t x,
                                      uint32_t pixels)
{
    const size_t element = mona_type_size(tile->type);
    const uint8_t *source[2 * AC_FRACTAL];
    uint32_t step[2 * AC_FRACTAL];
    float scale[2 * AC_FRACTAL];
    ac_pack_row p = {.channels = channels,
                     .pixels = pixels,
                     .source = source,
                     .step = step,
                     .scale = scale,
                     .source_type = tile->type,
                     .output = row->output};
    for (uint32_t c = 0; c < channels; c++) {
        source[c] = tile->data + c / tile->c0 * tile->block_stride + c % tile->c0 * element;
        step[c] = (uint32_t)(tile->c0 * element);
        scale[c] = 1;
    }
    p.output.data +=
        first / p.output.c0 * p.output.block_stride + (size_t)x * p.output.c0 * element;
    by->pack_row(&p);
}

/* Spreads blocks [n, n + group) of pixels [x, x + pixels). tile: the results, in the output's type;
 * its c0 is 16, or smaller if that holds all channels. */
static inline void ac_scatter(const ac_isa *by, const ac_conv_row *row, const ac_row *tile,
                              uint32_t n, uint32_t x, uint32_t pixels)
{
    const uint32_t first = n * AC_FRACTAL, max = ac_scatter_group(row) * AC_FRACTAL;
    const uint32_t left = row->conv->channels - first, channels = left < max ? left : max;
    if (row->planes)
        ac_scatter_planes(by, row, tile, first, channels, x, pixels);
    else
        ac_scatter_columns(by, row, tile, first, channels, x, pixels);
}

#endif
