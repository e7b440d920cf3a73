// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/motion_mask.h"

#include "engine/arith.h"
#include "pipeline/stages/sample.h"
#include "pipeline/stages/vector.h"

mona_size motion_mask_size(const frame_format *format)
{
    const mona_size size = frame_plane_size(format, 0);
    return (mona_size){ceil_div_u32(size.width, MOTION_MASK_BLOCK),
                       ceil_div_u32(size.height, MOTION_MASK_BLOCK)};
}

size_t motion_mask_blocks(const frame_format *format)
{
    const mona_size count = motion_mask_size(format);
    return (size_t)count.width * count.height;
}

/* Adds the squares of a row of sums; column x, width samples from the row's first. Sums of 16
 * differences of 12 bits have squares below 2^32. */
static inline void add_sums(motion_mask_block *blocks, const uint8_t *now, ptrdiff_t now_stride,
                            const uint8_t *before, ptrdiff_t before_stride, uint32_t width,
                            const bool wide)
{
    for (uint32_t x = 0; x + MOTION_MASK_SUM <= width; x += MOTION_MASK_SUM) {
        const uint8_t *n = now, *b = before;
        int64_t q = 0;
        for (int y = 0; y < MOTION_MASK_SUM; y++, n += now_stride, b += before_stride)
            for (uint32_t i = x; i < x + MOTION_MASK_SUM; i++)
                q += plane_sample(n, i, wide) - plane_sample(b, i, wide);
        blocks[x / MOTION_MASK_BLOCK].squares += (uint64_t)(q * q);
        blocks[x / MOTION_MASK_BLOCK].sums++;
    }
}

static mona_size motion_mask_measure_any(motion_mask_block *blocks, const frame *now,
                                         const frame *previous)
{
    const mona_size size = frame_plane_size(&now->format, 0),
                    count = motion_mask_size(&now->format);
    memset(blocks, 0, (size_t)count.width * count.height * sizeof *blocks);
    for (uint32_t y = 0; y + MOTION_MASK_SUM <= size.height; y += MOTION_MASK_SUM) {
        motion_mask_block *row = blocks + (size_t)(y / MOTION_MASK_BLOCK) * count.width;
        const uint8_t *n = frame_row(now, 0, y);
        const uint8_t *p = frame_row(previous, 0, y);
        BY_WIDTH(now->format.bits > 8, add_sums, row, n, now->stride[0], p, previous->stride[0],
                 size.width);
    }
    return count;
}

VECTOR_FUNCTION(mona_size, motion_mask_measure,
                (motion_mask_block * blocks, const frame *now, const frame *previous),
                (blocks, now, previous))

uint64_t motion_mask_limit(const frame_format *format, unsigned sigma, unsigned enlarged)
{
    const uint64_t alike = enlarged < MOTION_MASK_SUM ? enlarged : MOTION_MASK_SUM;
    return 40 * alike * alike * sigma * sigma + (1024u << 2 * (format->bits - 8));
}

motion_mask_area motion_mask_around(mona_size count, uint32_t x, uint32_t y)
{
    const uint32_t around = MOTION_MASK_AROUND;
    return (motion_mask_area){x > around ? x - around : 0, y > around ? y - around : 0,
                              min_u32(x + around + 1, count.width),
                              min_u32(y + around + 1, count.height)};
}

bool motion_mask_is_still(const motion_mask_block *blocks, mona_size count, uint32_t x, uint32_t y,
                          uint64_t limit)
{
    const motion_mask_area a = motion_mask_around(count, x, y);
    motion_mask_block all = {0};
    for (uint32_t v = a.top; v < a.bottom; v++)
        for (uint32_t u = a.left; u < a.right; u++) {
            all.squares += blocks[(size_t)v * count.width + u].squares;
            all.sums += blocks[(size_t)v * count.width + u].sums;
        }
    return all.sums && all.squares <= limit * all.sums;
}
