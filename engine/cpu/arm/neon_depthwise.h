// SPDX-License-Identifier: Apache-2.0
/* Depthwise convolutions: a step is 4 neighbouring columns of 16 channels, and ld4 gives
 * the weights of each column. Products of two columns are added in 16 bits: |s * w| <= 128 * 127,
 * twice. FP16 multiplies one column at a time. */
#ifndef MONA_NEON_DEPTHWISE_H
#define MONA_NEON_DEPTHWISE_H

#include "engine/cpu/arm/neon_lanes.h"

enum { DEPTHWISE_PIXELS = 4 };

/* Adds the products of columns t and t + 1 of a pixel. */
INLINE void two_columns(int32x4_t *acc, const uint8_t *p, v16 flip, int8x16x4_t w, const int t)
{
    const int8x16_t a = vreinterpretq_s8_u8(veorq_u8(load16(p + (size_t)t * 16), flip));
    const int8x16_t b = vreinterpretq_s8_u8(veorq_u8(load16(p + (size_t)t * 16 + 16), flip));
    int16x8_t low = vmull_s8(vget_low_s8(a), vget_low_s8(w.val[t]));
    int16x8_t high = vmull_high_s8(a, w.val[t]);
    low = vmlal_s8(low, vget_low_s8(b), vget_low_s8(w.val[t + 1]));
    high = vmlal_high_s8(high, b, w.val[t + 1]);
    acc[0] = vaddw_s16(acc[0], vget_low_s16(low));
    acc[1] = vaddw_high_s16(acc[1], low);
    acc[2] = vaddw_s16(acc[2], vget_low_s16(high));
    acc[3] = vaddw_high_s16(acc[3], high);
}

INLINE void depthwise_int8_block(const job *j, const uint32_t pixels, uint32_t x, int32_t *to)
{
    const uint32_t distance = j->conv->pixel_bytes;
    const v16 flip = sign_flip(j->conv);
    const int8_t *w = (const int8_t *)j->weights;
    int32x4_t acc[DEPTHWISE_PIXELS * 4];
    UNROLL
    for (uint32_t i = 0; i < pixels * 4; i++)
        acc[i] = vld1q_s32((const int32_t *)j->start + i % 4 * QUAD);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)x * distance;
        const uint32_t columns = j->conv->run_elements[j->first_run + r];
        for (uint32_t t = 0; t < columns; t += 4, p += 64, w += 64) {
            const int8x16x4_t weights = vld4q_s8(w);
            UNROLL
            for (uint32_t i = 0; i < pixels; i++) {
                two_columns(acc + (size_t)i * 4, p + (size_t)i * distance, flip, weights, 0);
                if (columns - t > 2)
                    two_columns(acc + (size_t)i * 4, p + (size_t)i * distance, flip, weights, 2);
            }
        }
    }
    UNROLL
    for (uint32_t i = 0; i < pixels * 4; i++)
        vst1q_s32(to + (size_t)i * QUAD, acc[i]);
}

INLINE void depthwise_f16_block(const job *j, const uint32_t pixels, uint32_t x, int32_t *to)
{
    const uint32_t distance = j->conv->pixel_bytes;
    const float *w = (const float *)(const void *)j->weights;
    vf acc[DEPTHWISE_PIXELS];
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        acc[i] = vf_load(j->start);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)x * distance;
        for (uint32_t s = mona_run_steps(j->conv, j->first_run + r); s > 0;
             s--, p += 32, w += LANES) {
            const vf b = vf_load(w);
            UNROLL
            for (uint32_t i = 0; i < pixels; i++) {
                const vf a = vf_f16(p + (size_t)i * distance);
                acc[i].a = vfmaq_f32(acc[i].a, a.a, b.a);
                acc[i].b = vfmaq_f32(acc[i].b, a.b, b.b);
                acc[i].c = vfmaq_f32(acc[i].c, a.c, b.c);
                acc[i].d = vfmaq_f32(acc[i].d, a.d, b.d);
            }
        }
    }
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        vf_store((float *)(void *)(to + (size_t)i * AC_FRACTAL), acc[i]);
}

#include "engine/cpu/c/vector_depthwise.h"

#endif
