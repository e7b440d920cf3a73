// SPDX-License-Identifier: Apache-2.0
/* Convolution for instructions that multiply one lane of a register with all lanes of another:
 * fp32, and INT8 with dot products, where a lane has the 4 elements of a step.
 *
 * A register of activations holds 4 steps of a pixel: 16 bytes as they lie in memory, or 4 fp16
 * values widened. Lane s times the weights of step s of 4 outputs is added to the register of those
 * outputs. A block of 5 pixels x 16 outputs has 20 accumulators and needs 5 registers for
 * activations and 4 for weights, of the 32 there are; 4 steps are 80 multiplications, 16 loads of
 * weights and 5 of activations. With fewer outputs a block has more pixels. ARMv7-A has half of
 * these registers, and 8 accumulators. */
#ifndef MONA_NEON_LANES_H
#define MONA_NEON_LANES_H

enum { TILE = 40, LAST_TILE = 10, SCATTER_PIXELS = 80 };

#include "engine/cpu/c/vector_conv.h"

_Static_assert(sizeof(scratch) <= MONA_SCRATCH_NEON, "it fits");

/* Computes a register block: the accumulators of `pixels` pixels from x on, for the job's first
 * `quads` registers of outputs, as [pixels][16]. pixel_bytes: bytes from one pixel to the next, as
 * a constant where it is a common one. */
INLINE void block(const job *j, const mona_type type, const uint32_t pixels, const uint32_t quads,
                  const size_t pixel_bytes, uint32_t x, int32_t *to);

/* Computes a tile in blocks of `pixels`, or pixel by pixel if it has fewer. */
INLINE void tile_in_blocks(const job *j, const mona_type type, const uint32_t pixels,
                           const uint32_t quads, uint32_t x, uint32_t count, int32_t *acc)
{
    const uint32_t bytes = j->conv->pixel_bytes, usual = type == MONA_F16 ? 32 : 16;
    for (uint32_t i = 0; i < count && count < pixels; i++)
        block(j, type, 1, quads, bytes, x + i, acc + (size_t)i * AC_FRACTAL);
    for (uint32_t i = 0; i < count && count >= pixels; i += pixels) {
        const uint32_t k = min_u32(i, count - pixels);
        if (bytes == usual)
            block(j, type, pixels, quads, usual, x + k, acc + (size_t)k * AC_FRACTAL);
        else
            block(j, type, pixels, quads, bytes, x + k, acc + (size_t)k * AC_FRACTAL);
    }
}

enum { MAX_PIXELS = 10, MAX_ACC = 20 };

/* Pixels of a block with 32 registers, and with 16. */
#ifdef __aarch64__
#define BLOCK_PIXELS(of_32, of_16) (of_32)
#else
#define BLOCK_PIXELS(of_32, of_16) (of_16)
#endif

static void begin_tiles(const job *j)
{
    (void)j;
}

static void add_sums(int32_t to[AC_FRACTAL], const int32_t start[AC_FRACTAL],
                     const uint8_t *weights, uint32_t steps)
{
    int32x4_t sum[AC_FRACTAL / QUAD];
    for (uint32_t q = 0; q < AC_FRACTAL / QUAD; q++)
        sum[q] = vdupq_n_s32(0);
    for (; steps > 0; steps--, weights += STEP_BYTES)
        for (uint32_t q = 0; q < AC_FRACTAL / QUAD; q++) {
            const int8x16_t four = vreinterpretq_s8_u8(load16(weights + (size_t)q * 16));
            sum[q] = vpadalq_s16(sum[q], vpaddlq_s8(four));
        }
    for (uint32_t q = 0; q < AC_FRACTAL / QUAD; q++)
        vst1q_s32(to + q * QUAD, vaddq_s32(vld1q_s32(start + q * QUAD), vshlq_n_s32(sum[q], 7)));
}

/* The compiler moves nothing across this. Without it gcc loads weights long before they are used,
 * and spills. */
#define KEEP_ORDER() __asm__ volatile("")

/* acc += weights * operand[lane]: fused in fp32, or sums of 4 products of bytes. These are
 * instructions because compilers rewrite intrinsics in a way that needs more registers. */
#ifdef __aarch64__
INLINE int32x4_t multiply(const mona_type type, int32x4_t acc, v16 weights, int32x4_t operand,
                          const int lane)
{
    if (type == MONA_F16)
        __asm__("fmla %0.4s, %1.4s, %2.s[%c3]" : "+w"(acc) : "w"(weights), "w"(operand), "i"(lane));
#ifdef __ARM_FEATURE_DOTPROD
    else
        __asm__("sdot %0.4s, %1.16b, %2.4b[%c3]"
                : "+w"(acc)
                : "w"(weights), "w"(operand), "i"(lane));
#endif
    return acc;
}
#else
/* Products of fp16 values are exact in fp32, so this rounds as often as a fused operation. */
INLINE int32x4_t multiply(const mona_type type, int32x4_t acc, v16 weights, int32x4_t operand,
                          const int lane)
{
    (void)type;
    const float32x4_t all = vreinterpretq_f32_s32(vdupq_laneq_s32(operand, lane));
    return vreinterpretq_s32_f32(
        vmlaq_f32(vreinterpretq_f32_s32(acc), vreinterpretq_f32_u8(weights), all));
}
#endif

/* Loads 4 steps of one pixel. flip: sign_flip(), for INT8. */
INLINE int32x4_t four_steps(const mona_type type, const uint8_t *p, v16 flip)
{
    if (type != MONA_F16)
        return vreinterpretq_s32_u8(veorq_u8(load16(p), flip));
    return vreinterpretq_s32_f32(vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(p))));
}

/* Multiplies 1 to 4 steps of all pixels, those of the first pixel at p. */
INLINE void block_steps(int32x4_t *acc, const mona_type type, const uint32_t pixels,
                        const uint32_t quads, const size_t pixel_bytes, v16 flip, const uint8_t *p,
                        const uint8_t *w, const uint32_t steps)
{
    int32x4_t a[MAX_PIXELS];
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        a[i] = four_steps(type, p + i * pixel_bytes, flip);
    UNROLL
    for (uint32_t s = 0; s < steps; s++) {
        UNROLL
        for (uint32_t q = 0; q < quads; q++) {
            const v16 weights = load16(w + s * STEP_BYTES + (size_t)q * 16);
            UNROLL
            for (uint32_t i = 0; i < pixels; i++) {
                int32x4_t *to = &acc[i * quads + q];
                *to = multiply(type, *to, weights, a[i], (int)s);
            }
        }
        KEEP_ORDER();
    }
}

/* See block(). */
INLINE void block_by_lanes(const job *j, const mona_type type, const uint32_t pixels,
                           const uint32_t quads, const size_t pixel_bytes, uint32_t x, int32_t *to)
{
    const uint32_t step = type == MONA_F16 ? 2 : 4; /* bytes */
    const v16 flip = sign_flip(j->conv);
    const uint8_t *w = j->weights;
    int32x4_t acc[MAX_ACC];
    UNROLL
    for (uint32_t i = 0; i < pixels * quads; i++)
        acc[i] = vld1q_s32((const int32_t *)j->start + i % quads * QUAD);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + x * pixel_bytes;
        const uint32_t steps = mona_run_steps(j->conv, j->first_run + r);
        for (uint32_t s = 4; s <= steps; s += 4, p += 4 * step, w += 4 * STEP_BYTES) {
            FORGET(p);
            block_steps(acc, type, pixels, quads, pixel_bytes, flip, p, w, 4);
        }
        if (steps & 2) {
            block_steps(acc, type, pixels, quads, pixel_bytes, flip, p, w, 2);
            p += 2 * step, w += 2 * STEP_BYTES;
        }
        if (steps & 1) {
            block_steps(acc, type, pixels, quads, pixel_bytes, flip, p, w, 1);
            w += STEP_BYTES;
        }
    }
    UNROLL
    for (uint32_t i = 0; i < pixels * quads; i++)
        vst1q_s32(to + i / quads * AC_FRACTAL + i % quads * QUAD, acc[i]);
}

INLINE void tile_by_lanes(const job *j, const mona_type type, uint32_t x, uint32_t count,
                          int32_t *acc)
{
    switch (j->quads) {
    case 1:
        tile_in_blocks(j, type, BLOCK_PIXELS(10, 8), 1, x, count, acc);
        break;
    case 2:
        tile_in_blocks(j, type, BLOCK_PIXELS(8, 4), 2, x, count, acc);
        break;
    case 3:
        tile_in_blocks(j, type, BLOCK_PIXELS(5, 2), 3, x, count, acc);
        break;
    default:
        tile_in_blocks(j, type, BLOCK_PIXELS(5, 2), 4, x, count, acc);
        break;
    }
}

#endif
