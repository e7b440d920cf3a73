// SPDX-License-Identifier: Apache-2.0
/* Row programs for plain ARMv8-A, and for ARMv7-A with NEON and VFPv4.
 *
 * INT8: smull multiplies 8 signed bytes to 16 bits each, smlal adds 8 more products to them, and
 * sadalp adds neighbouring pairs of these sums to accumulators of 32 bits. That is 3 instructions
 * for 16 products; with activations widened to 16 bits it would be 4 and the widening. It is exact
 * because weights lie in [-127, 127]: |s * w| <= 128 * 127 = 16256, and two of them are 32512 <
 * 2^15.
 *
 * A register of weights holds a step of 4 outputs, 4 elements each. It is multiplied with a
 * register that has the pixel's 4 elements in all lanes, two steps at a time. This leaves 2 sums
 * for each output, which are added at the end, so 16 outputs take 8 accumulators. A block is 2
 * pixels, so accumulators leave half of the registers for operands and products. Two steps are 32
 * multiplications, 16 additions, 8 loads of weights and 4 copies to all lanes. ARMv7-A has half of
 * the registers, and blocks of 1 pixel. */
#include "engine/cpu/arm/neon_vector.h"
#include "engine/cpu/arm/neon_depthwise.h"
#include "engine/cpu/arm/neon_lanes.h"

/* Products of the lower and of the upper halves. They are instructions for the same reason as
 * multiply(). */
#ifdef __aarch64__
INLINE int16x8_t products_low(int8x16_t w, int8x16_t a)
{
    int16x8_t p;
    __asm__("smull %0.8h, %1.8b, %2.8b" : "=w"(p) : "w"(w), "w"(a));
    return p;
}

INLINE int16x8_t products_high(int8x16_t w, int8x16_t a)
{
    int16x8_t p;
    __asm__("smull2 %0.8h, %1.16b, %2.16b" : "=w"(p) : "w"(w), "w"(a));
    return p;
}

INLINE int16x8_t more_low(int16x8_t p, int8x16_t w, int8x16_t a)
{
    __asm__("smlal %0.8h, %1.8b, %2.8b" : "+w"(p) : "w"(w), "w"(a));
    return p;
}

INLINE int16x8_t more_high(int16x8_t p, int8x16_t w, int8x16_t a)
{
    __asm__("smlal2 %0.8h, %1.16b, %2.16b" : "+w"(p) : "w"(w), "w"(a));
    return p;
}

INLINE int32x4_t add_pairs(int32x4_t acc, int16x8_t p)
{
    __asm__("sadalp %0.4s, %1.8h" : "+w"(acc) : "w"(p));
    return acc;
}
#else
INLINE int16x8_t products_low(int8x16_t w, int8x16_t a)
{
    return vmull_s8(vget_low_s8(w), vget_low_s8(a));
}

INLINE int16x8_t products_high(int8x16_t w, int8x16_t a)
{
    return vmull_high_s8(w, a);
}

INLINE int16x8_t more_low(int16x8_t p, int8x16_t w, int8x16_t a)
{
    return vmlal_s8(p, vget_low_s8(w), vget_low_s8(a));
}

INLINE int16x8_t more_high(int16x8_t p, int8x16_t w, int8x16_t a)
{
    return vmlal_high_s8(p, w, a);
}

INLINE int32x4_t add_pairs(int32x4_t acc, int16x8_t p)
{
    return vpadalq_s16(acc, p);
}
#endif

/* Copies lane s to all lanes. */
INLINE int8x16_t spread(int32x4_t a, const uint32_t s)
{
    switch (s) {
    case 0:
        return vreinterpretq_s8_s32(vdupq_laneq_s32(a, 0));
    case 1:
        return vreinterpretq_s8_s32(vdupq_laneq_s32(a, 1));
    case 2:
        return vreinterpretq_s8_s32(vdupq_laneq_s32(a, 2));
    default:
        return vreinterpretq_s8_s32(vdupq_laneq_s32(a, 3));
    }
}

/* Multiplies 1, 2 or 4 steps of all pixels, those of the first pixel at p. */
INLINE void product_steps(int32x4_t *acc, const uint32_t pixels, const uint32_t quads,
                          const size_t pixel_bytes, v16 flip, const uint8_t *p, const uint8_t *w,
                          const uint32_t steps)
{
    int32x4_t a[MAX_PIXELS];
    int8x16_t a0[MAX_PIXELS], a1[MAX_PIXELS];
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        a[i] = four_steps(MONA_U8, p + i * pixel_bytes, flip);
    UNROLL
    for (uint32_t s = 0; s < steps; s += 2, w += 2 * STEP_BYTES) {
        UNROLL
        for (uint32_t i = 0; i < pixels; i++) {
            a0[i] = spread(a[i], s);
            a1[i] = spread(a[i], s + 1);
        }
        UNROLL
        for (uint32_t q = 0; q < quads; q++) {
            const v16 second = s + 1 < steps ? load16(w + STEP_BYTES + (size_t)q * 16) : set16(0);
            const int8x16_t w0 = vreinterpretq_s8_u8(load16(w + (size_t)q * 16)),
                            w1 = vreinterpretq_s8_u8(second);
            int16x8_t low[MAX_PIXELS], high[MAX_PIXELS];
            UNROLL
            for (uint32_t i = 0; i < pixels; i++)
                low[i] = products_low(w0, a0[i]), high[i] = products_high(w0, a0[i]);
            UNROLL
            for (uint32_t i = 0; i < pixels; i++)
                low[i] = more_low(low[i], w1, a1[i]), high[i] = more_high(high[i], w1, a1[i]);
            UNROLL
            for (uint32_t i = 0; i < pixels; i++) {
                int32x4_t *to = &acc[(i * quads + q) * 2];
                to[0] = add_pairs(to[0], low[i]), to[1] = add_pairs(to[1], high[i]);
            }
            KEEP_ORDER();
        }
    }
}

/* See block(). */
INLINE void block_of_products(const job *j, const uint32_t pixels, const uint32_t quads,
                              const size_t pixel_bytes, uint32_t x, int32_t *to)
{
    const v16 flip = sign_flip(j->conv);
    const uint8_t *w = j->weights;
    const int32_t *start = j->start;
    int32x4_t acc[2 * MAX_ACC];
    UNROLL
    for (uint32_t i = 0; i < pixels * quads * 2; i++)
        acc[i] = vdupq_n_s32(0);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + x * pixel_bytes;
        const uint32_t steps = mona_run_steps(j->conv, j->first_run + r);
        for (uint32_t s = 4; s <= steps; s += 4, p += 16, w += 4 * STEP_BYTES) {
            FORGET(p);
            product_steps(acc, pixels, quads, pixel_bytes, flip, p, w, 4);
        }
        if (steps & 2) {
            product_steps(acc, pixels, quads, pixel_bytes, flip, p, w, 2);
            p += 8, w += 2 * STEP_BYTES;
        }
        if (steps & 1) {
            product_steps(acc, pixels, quads, pixel_bytes, flip, p, w, 1);
            w += STEP_BYTES;
        }
    }
    UNROLL
    for (uint32_t i = 0; i < pixels * quads; i++) {
        const int32x4_t sums = vpaddq_s32(acc[i * 2], acc[i * 2 + 1]);
        vst1q_s32(to + i / quads * AC_FRACTAL + i % quads * QUAD,
                  vaddq_s32(vld1q_s32(start + i % quads * QUAD), sums));
    }
}

INLINE void block(const job *j, const mona_type type, const uint32_t pixels, const uint32_t quads,
                  const size_t pixel_bytes, uint32_t x, int32_t *to)
{
    if (type == MONA_F16)
        block_by_lanes(j, type, pixels, quads, pixel_bytes, x, to);
    else
        block_of_products(j, pixels, quads, pixel_bytes, x, to);
}

static void conv_tile(const job *j, uint32_t x, uint32_t count, int32_t *acc)
{
    if (j->conv->source_type == MONA_F16)
        tile_by_lanes(j, MONA_F16, x, count, acc);
    else if (j->quads == 1)
        tile_in_blocks(j, MONA_U8, 4, 1, x, count, acc);
    else if (j->quads == 2)
        tile_in_blocks(j, MONA_U8, 2, 2, x, count, acc);
    else if (j->quads == 3)
        tile_in_blocks(j, MONA_U8, BLOCK_PIXELS(2, 1), 3, x, count, acc);
    else
        tile_in_blocks(j, MONA_U8, BLOCK_PIXELS(2, 1), 4, x, count, acc);
}

static void conv_row(const mona_conv_row *row)
{
    static const mona_isa scatter_by = {.unpack_row = mona_neon_unpack_row};
    conv_any(row, &scatter_by);
}

MONA_NAMED(neon, conv_row)
MONA_NAMED(neon, depthwise_row)

MONA_TABLE(neon);
