// SPDX-License-Identifier: Apache-2.0
/* Rows of depthwise convolutions: everything around the arithmetic. Included after vector_conv.h,
 * DEPTHWISE_PIXELS, and depthwise_int8_block() and depthwise_f16_block(), which compute the
 * accumulators of some pixels from x on as [pixels][16]. */
#ifndef MONA_VECTOR_DEPTHWISE_H
#define MONA_VECTOR_DEPTHWISE_H

INLINE void depthwise_pixels(const job *j, const uint32_t pixels, uint32_t x, uint32_t count,
                             int32_t *acc)
{
    for (uint32_t i = 0; i < count; i += pixels) {
        const uint32_t k = min_u32(i, count - pixels);
        if (j->conv->source_type == MONA_F16)
            depthwise_f16_block(j, pixels, x + k, acc + (size_t)k * AC_FRACTAL);
        else
            depthwise_int8_block(j, pixels, x + k, acc + (size_t)k * AC_FRACTAL);
    }
}

static void depthwise_row(const mona_depthwise_row *row)
{
    int32_t start[AC_FRACTAL], *acc = ((scratch *)(void *)row->scratch)->acc;
    const clamps limits = clamps_of(row);
    for (uint32_t n = 0; n < row->conv->blocks; n++) {
        uint8_t *out = row->output.data + n * row->output.block_stride;
        const job j = job_of(row, &limits, n, start, out);
        for (uint32_t x = 0, count; x < row->pixels; x += count) {
            count = min_u32(TILE, row->pixels - x);
            if (count < DEPTHWISE_PIXELS)
                depthwise_pixels(&j, 1, x, count, acc);
            else
                depthwise_pixels(&j, DEPTHWISE_PIXELS, x, count, acc);
            finish_tile(&j, x, count, acc, out + x * j.pixel_size);
        }
    }
}

#endif
