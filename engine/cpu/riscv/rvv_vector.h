// SPDX-License-Identifier: Apache-2.0
/* The vector types of 16 bytes, `v16`, and of 16 floats, `vf`, on RISC-V's vector extension 1.0,
 * with the operations that vector_rows.h lists.
 *
 * The extension's own types have no size that a compiler knows, so they cannot be elements of
 * arrays and structures, as those of the vocabulary are. These are therefore the compiler's vectors
 * of a fixed size: it sets the vector length to 16 elements and takes as many registers as 128-bit
 * ones need, one for `v16` and four for `vf`. Longer registers are filled in part. So code is the
 * same for each VLEN from 128 on, and so are its results. Only where a kernel needs instructions
 * that the compiler does not find does it use types without size, in local variables (rvv.c).
 *
 * fp16 is converted in integers, as RV64GCV has no fp16. Subnormals of fp32 are kept. */
#ifndef MONA_RVV_VECTOR_H
#define MONA_RVV_VECTOR_H

#include <riscv_vector.h>
#include <stdint.h>

#include "engine/cpu/c/compiler.h"
#include "engine/libc.h"

/* ---- 16 bytes ------------------------------------------------------------------------------- */

typedef uint8_t v16 __attribute__((vector_size(16)));

INLINE v16 load16(const void *p)
{
    v16 v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void store16(void *p, v16 v)
{
    memcpy(p, &v, sizeof v);
}

INLINE v16 set16(uint8_t byte)
{
    return (v16){0} + byte;
}

INLINE v16 even16(const uint8_t *p)
{
    return __builtin_shufflevector(load16(p), load16(p + 16), 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20,
                                   22, 24, 26, 28, 30);
}

INLINE v16 zip8_low(v16 a, v16 b)
{
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

INLINE v16 zip8_high(v16 a, v16 b)
{
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                   31);
}

#define ZIP(bits, part, ...)                                                                       \
    INLINE v16 zip##bits##_##part(v16 a, v16 b)                                                    \
    {                                                                                              \
        typedef uint##bits##_t elements __attribute__((vector_size(16)));                          \
        return (v16)__builtin_shufflevector((elements)a, (elements)b, __VA_ARGS__);                \
    }
ZIP(16, low, 0, 8, 1, 9, 2, 10, 3, 11)
ZIP(16, high, 4, 12, 5, 13, 6, 14, 7, 15)
ZIP(32, low, 0, 4, 1, 5)
ZIP(32, high, 2, 6, 3, 7)
ZIP(64, low, 0, 2)
ZIP(64, high, 1, 3)

typedef float four __attribute__((vector_size(16)));

INLINE v16 add_floats(v16 a, v16 b)
{
    return (v16)((four)a + (four)b);
}

/* ---- 16 floats ------------------------------------------------------------------------------ */

typedef float vf __attribute__((vector_size(64)));
typedef uint32_t words __attribute__((vector_size(64)));
typedef uint16_t halves __attribute__((vector_size(32)));
typedef int8_t signed_bytes __attribute__((vector_size(16)));

INLINE vf vf_set1(float x)
{
    return (vf){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
}

INLINE vf vf_load(const float *p)
{
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void vf_store(float *p, vf v)
{
    memcpy(p, &v, sizeof v);
}

INLINE vf vf_add(vf a, vf b)
{
    return a + b;
}

INLINE vf vf_sub(vf a, vf b)
{
    return a - b;
}

INLINE vf vf_mul(vf a, vf b)
{
    return a * b;
}

INLINE vf vf_div(vf a, vf b)
{
    return a / b;
}

INLINE vf vf_and(vf a, vf b)
{
    return (vf)((words)a & (words)b);
}

/* a + b * c, rounded once; the sign of b changes for the other. */
INLINE vf vf_fmadd(vf b, vf c, vf a)
{
    return __builtin_elementwise_fma(b, c, a);
}

INLINE vf vf_fnmadd(vf b, vf c, vf a)
{
    return __builtin_elementwise_fma(-b, c, a);
}

/* Where mask is all ones, a, and where it is 0, b. The compiler makes one instruction of it, of
 * (a & mask) | (b & ~mask) two if a is a constant. */
INLINE words chosen(words mask, words a, words b)
{
    return b ^ ((a ^ b) & mask);
}

/* Not vfmax and vfmin: these order zeros by their signs, vf_max and vf_min must not. */
INLINE vf vf_max(vf a, vf b)
{
    return (vf)chosen((words)(a > b), (words)a, (words)b);
}

INLINE vf vf_min(vf a, vf b)
{
    return (vf)chosen((words)(a < b), (words)a, (words)b);
}

/* Clamps to [low, high], neither of which is -0, so that vfmax and vfmin do. A NaN becomes low. */
INLINE vf vf_clamp(vf v, float low, float high)
{
    return __builtin_elementwise_min(__builtin_elementwise_max(v, vf_set1(low)), vf_set1(high));
}

INLINE vf vf_from_s32(const int32_t *p)
{
    int32_t v __attribute__((vector_size(64)));
    memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, vf);
}

INLINE vf vf_power2(vf v)
{
    return (vf)(((words)v + 127) << 23);
}

INLINE words magnitude_of(vf v)
{
    return (words)v & 0x7fffffff;
}

/* To round |v| to fp16, a power of two is added and subtracted again, see c_vector.h. From 2^17 on
 * it need not grow, as such values become infinities. */
INLINE vf power_for(words magnitude)
{
    const words least = (words){0} + 0x38800000, most = (words){0} + 0x48000000; /* 2^-14, 2^17 */
    const words from = chosen((words)(magnitude > least), magnitude, least);
    const words to = chosen((words)(from < most), from, most);
    return (vf)((to & 0x7f800000) + (13u << 23));
}

INLINE vf vf_round_finite(vf v)
{
    const vf power = power_for(magnitude_of(v));
    return (vf)((words)((vf)magnitude_of(v) + power - power) | ((words)v & 0x80000000));
}

INLINE vf vf_round(vf v)
{
    const vf power = power_for(magnitude_of(v)), r = (vf)magnitude_of(v) + power - power;
    const words infinity = (words){0} + 0x7f800000;
    return (vf)(chosen((words)(r > vf_set1(65504)), infinity, (words)r) | ((words)v & 0x80000000));
}

#include "engine/cpu/c/fused_rounding.h"

INLINE vf vf_half(vf v)
{
    return vf_round_finite(vf_clamp(v, -65504, 65504));
}

INLINE vf vf_clean(vf v)
{
    return (vf)((words)v & (words)(v == v));
}

INLINE vf vf_first(vf v, uint32_t n)
{
    const words lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return (vf)((words)v & (words)(lanes < n));
}

INLINE v16 vf_sums(vf v)
{
    const four a = __builtin_shufflevector(v, v, 0, 1, 2, 3);
    const four b = __builtin_shufflevector(v, v, 4, 5, 6, 7);
    const four c = __builtin_shufflevector(v, v, 8, 9, 10, 11);
    const four d = __builtin_shufflevector(v, v, 12, 13, 14, 15);
    return (v16)((a + c) + (b + d));
}

/* ---- stored elements ------------------------------------------------------------------------ */

INLINE vf vf_u8(v16 v)
{
    return __builtin_convertvector(v, vf);
}

INLINE vf vf_s8(v16 v)
{
    return __builtin_convertvector((signed_bytes)v, vf);
}

INLINE halves halves_at(const uint8_t *p)
{
    halves h;
    memcpy(&h, p, sizeof h);
    return h;
}

INLINE vf vf_u16(const uint8_t *p)
{
    return __builtin_convertvector(halves_at(p), vf);
}

/* With fp16's exponent in that of fp32, a value is 2^112 times too small. The product is exact,
 * also for subnormals. The exponent of infinities and NaNs is set. */
INLINE vf vf_f16(const uint8_t *p)
{
    const words h = __builtin_convertvector(halves_at(p), words);
    const words magnitude = h & 0x7fff, special = (words)(magnitude >= 0x7c00) & 0x7f800000;
    const vf value = (vf)(magnitude << 13) * vf_set1(0x1p112f);
    return (vf)((words)value | special | (h & 0x8000) << 16);
}

/* Integers of 8 bits, of either sign, rounded half to even. v must lie in the type's range.
 * 1.5 * 2^23 has an ulp of 1, so adding it rounds and leaves the integer in the low bits. */
INLINE v16 vf_to_bytes(vf v)
{
    return __builtin_convertvector((words)(v + vf_set1(0x1.8p23f)), v16);
}

INLINE v16 vf_to_u8(vf v)
{
    return vf_to_bytes(vf_clamp(v, 0, 255));
}

INLINE v16 vf_to_s8(vf v)
{
    return vf_to_bytes(vf_clamp(v, -128, 127));
}

INLINE void store_halves(uint8_t *p, words w)
{
    const halves h = __builtin_convertvector(w, halves);
    memcpy(p, &h, sizeof h);
}

INLINE void vf_to_u16(uint8_t *p, vf v)
{
    store_halves(p, (words)(vf_clamp(v, 0, 65535) + vf_set1(0x1.8p23f)));
}

/* Counts |v| in ulps, as mona_half_of_finite() does. */
INLINE void vf_to_f16(uint8_t *p, vf v)
{
    const vf c = vf_clamp(v, -65504, 65504), power = power_for(magnitude_of(c));
    const words ulps = (words)((vf)magnitude_of(c) + power) - (words)power;
    const words exponent = ((words)power >> 23) - (127 - 14 + 13);
    store_halves(p, ((words)c >> 16 & 0x8000) | (ulps + (exponent << 10)));
}

#endif
