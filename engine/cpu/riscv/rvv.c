// SPDX-License-Identifier: Apache-2.0
/* Row programs for RISC-V with the vector extension 1.0 (RV64GCV), for every VLEN from 128 on.
 *
 * INT8: the extension has no dot products, and sums of 16 bits would overflow after one product.
 * vwmacc.vx adds the products of a general register and 16 elements of 16 bits to 16 sums of 32
 * bits. The general register has one element of a pixel, loaded with its own sign; the vector, the
 * weights of 16 outputs. vlseg4e8 takes the four elements of a step apart, and each is widened once
 * for all pixels of a block. The sums of a pixel take four registers of 128 bits. A block is 6
 * pixels, so weights have 8 registers: for 384 products, 24 loads of bytes, 24 multiplications and
 * 5 instructions for weights. Only 16 elements are multiplied at a time, so longer registers need
 * as many instructions.
 *
 * FP16: products of fp16 values are exact in fp32, so vfmacc rounds as the contract requires.
 * Elements are converted first, a part of K at a time. */
#include "engine/cpu/cpu.h"

#ifdef MONA_RVV_ROWS
#include "engine/cpu/riscv/rvv_vector.h"
#include "engine/cpu/riscv/rvv_words.h"

enum {
    TILE = 36, /* see vector_conv.h */
    LAST_TILE = 6,
    SCATTER_PIXELS = 72,
    PIXELS = 6,
    PART = 64, /* elements of K that are converted at a time */
    DEPTHWISE_PIXELS = 4,
};
#define BYTES_AS_THEY_ARE

#include "engine/cpu/c/rows.h"
#include "engine/cpu/c/vector_attention.h"
#include "engine/cpu/c/vector_conv.h"
#include "engine/cpu/c/vector_curves.h"
#include "engine/cpu/c/vector_elementwise.h"
#include "engine/cpu/c/vector_fold.h"
#include "engine/cpu/c/vector_normalise.h"
#include "engine/cpu/c/vector_planes.h"
#include "engine/cpu/c/vector_resize.h"

/* The rest of mona_conv_row.scratch. */
typedef struct widened {
    float elements[PIXELS][PART];
} widened;

_Static_assert(sizeof(scratch) + sizeof(widened) <= MONA_SCRATCH_M, "it fits");

static void begin_tiles(const job *j)
{
    (void)j;
}

/* ---- INT8 ----------------------------------------------------------------------------------- */

#define SUMS_OF(p) __riscv_vle32_v_i32m4(p, LANES)
#define STORE_SUMS(p, sums) __riscv_vse32_v_i32m4(p, sums, LANES)
#define WEIGHTS_OF(four, k) __riscv_vsext_vf2_i16m2(__riscv_vget_v_i8m1x4_i8m1(four, k), LANES)

INLINE int16_t element_of(const uint8_t *p, bool is_signed)
{
    return is_signed ? (int16_t)(int8_t)*p : (int16_t)*p;
}

INLINE vint32m4_t multiply(vint32m4_t sums, const uint8_t *p, vint16m2_t weights, bool is_signed)
{
    return __riscv_vwmacc_vx_i32m4(sums, element_of(p, is_signed), weights, LANES);
}

/* Computes the accumulators of pixels x to x + 5. */
INLINE void six_pixels(const job *j, const bool is_signed, const size_t pixel, uint32_t x,
                       int32_t *to)
{
    const int8_t *w = (const int8_t *)j->weights;
    vint32m4_t a = SUMS_OF(j->start), b = a, c = a, d = a, e = a, f = a;
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + x * pixel;
        for (uint32_t s = mona_run_steps(j->conv, j->first_run + r); s > 0;
             s--, p += 4, w += STEP_BYTES) {
            const vint8m1x4_t four = __riscv_vlseg4e8_v_i8m1x4(w, LANES);
#define ELEMENT(k)                                                                                 \
    do {                                                                                           \
        const vint16m2_t weights = WEIGHTS_OF(four, k);                                            \
        a = multiply(a, p + (k), weights, is_signed);                                              \
        b = multiply(b, p + pixel + (k), weights, is_signed);                                      \
        c = multiply(c, p + 2 * pixel + (k), weights, is_signed);                                  \
        d = multiply(d, p + 3 * pixel + (k), weights, is_signed);                                  \
        e = multiply(e, p + 4 * pixel + (k), weights, is_signed);                                  \
        f = multiply(f, p + 5 * pixel + (k), weights, is_signed);                                  \
    } while (0)
            ELEMENT(0);
            ELEMENT(1);
            ELEMENT(2);
            ELEMENT(3);
#undef ELEMENT
        }
    }
    STORE_SUMS(to, a);
    STORE_SUMS(to + AC_FRACTAL, b);
    STORE_SUMS(to + 2 * AC_FRACTAL, c);
    STORE_SUMS(to + 3 * AC_FRACTAL, d);
    STORE_SUMS(to + 4 * AC_FRACTAL, e);
    STORE_SUMS(to + 5 * AC_FRACTAL, f);
}

INLINE void one_pixel(const job *j, const bool is_signed, uint32_t x, int32_t *to)
{
    const int8_t *w = (const int8_t *)j->weights;
    vint32m4_t sums = SUMS_OF(j->start);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)x * j->conv->pixel_bytes;
        for (uint32_t s = mona_run_steps(j->conv, j->first_run + r); s > 0;
             s--, p += 4, w += STEP_BYTES) {
            const vint8m1x4_t four = __riscv_vlseg4e8_v_i8m1x4(w, LANES);
            sums = multiply(sums, p, WEIGHTS_OF(four, 0), is_signed);
            sums = multiply(sums, p + 1, WEIGHTS_OF(four, 1), is_signed);
            sums = multiply(sums, p + 2, WEIGHTS_OF(four, 2), is_signed);
            sums = multiply(sums, p + 3, WEIGHTS_OF(four, 3), is_signed);
        }
    }
    STORE_SUMS(to, sums);
}

/* `count` is 1 or PIXELS. */
INLINE void int8_block(const job *j, const bool is_signed, uint32_t count, uint32_t x, int32_t *to)
{
    if (count == 1)
        one_pixel(j, is_signed, x, to);
    else if (j->conv->pixel_bytes == AC_FRACTAL)
        six_pixels(j, is_signed, AC_FRACTAL, x, to);
    else
        six_pixels(j, is_signed, j->conv->pixel_bytes, x, to);
}

/* ---- FP16 ----------------------------------------------------------------------------------- */

static void widen(const job *j, const uint8_t *p, uint32_t steps, uint32_t pixels)
{
    widened *to = (widened *)(void *)(j->row->scratch + sizeof(scratch));
    for (uint32_t i = 0; i < pixels; i++, p += j->conv->pixel_bytes)
        for (uint32_t s = 0; s < steps; s += LANES)
            vf_store(to->elements[i] + s, vf_f16(p + (size_t)s * 2));
}

/* Adds the products of `steps` elements of each pixel, the widened ones, to the sums at `to`. */
INLINE void add_products(const job *j, const float *w, uint32_t steps, const uint32_t pixels,
                         float *to)
{
    const widened *from = (const widened *)(const void *)(j->row->scratch + sizeof(scratch));
    vf sums[PIXELS];
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        sums[i] = vf_load(to + (size_t)i * AC_FRACTAL);
    for (uint32_t s = 0; s < steps; s++, w += AC_FRACTAL) {
        const vf weights = vf_load(w);
        UNROLL
        for (uint32_t i = 0; i < pixels; i++)
            sums[i] = vf_fmadd(vf_set1(from->elements[i][s]), weights, sums[i]);
    }
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        vf_store(to + (size_t)i * AC_FRACTAL, sums[i]);
}

/* `count` is 1 or PIXELS. */
static void f16_block(const job *j, uint32_t count, uint32_t x, float *to)
{
    const float *w = (const float *)(const void *)j->weights;
    for (uint32_t i = 0; i < count; i++)
        memcpy(to + (size_t)i * AC_FRACTAL, j->start, AC_FRACTAL * sizeof *to);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)x * j->conv->pixel_bytes;
        uint32_t left = mona_run_steps(j->conv, j->first_run + r);
        for (uint32_t steps; left > 0; left -= steps, p += (size_t)steps * 2) {
            steps = min_u32(left, PART);
            widen(j, p, steps, count);
            if (count == 1)
                add_products(j, w, steps, 1, to);
            else
                add_products(j, w, steps, PIXELS, to);
            w += (size_t)steps * AC_FRACTAL;
        }
    }
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void conv_tile(const job *j, uint32_t x, uint32_t count, int32_t *acc)
{
    const uint32_t pixels = count < PIXELS ? 1 : PIXELS;
    for (uint32_t i = 0; i < count; i += pixels) {
        const uint32_t k = min_u32(i, count - pixels);
        int32_t *to = acc + (size_t)k * AC_FRACTAL;
        if (j->conv->source_type == MONA_F16)
            f16_block(j, pixels, x + k, (float *)(void *)to);
        else if (j->conv->source_type == MONA_S8)
            int8_block(j, true, pixels, x + k, to);
        else
            int8_block(j, false, pixels, x + k, to);
    }
}

/* A step is 4 neighbouring columns of 16 channels. */
INLINE void depthwise_int8_block(const job *j, const uint32_t pixels, uint32_t x, int32_t *to)
{
    const bool is_signed = j->conv->source_type == MONA_S8;
    for (uint32_t i = 0; i < pixels; i++, to += AC_FRACTAL) {
        const int8_t *w = (const int8_t *)j->weights;
        vint32m4_t sums = SUMS_OF(j->start);
        for (uint32_t r = 0; r < j->run_count; r++) {
            const uint8_t *p = j->runs[r] + (size_t)(x + i) * j->conv->pixel_bytes;
            const uint32_t columns = j->conv->run_elements[j->first_run + r];
            for (uint32_t t = 0; t < columns; t += 4, p += 4 * LANES, w += STEP_BYTES) {
                const vint8m1x4_t four = __riscv_vlseg4e8_v_i8m1x4(w, LANES);
#define COLUMN(k)                                                                                  \
    do {                                                                                           \
        const uint8_t *column = p + (size_t)(k)*LANES;                                             \
        const vint16m2_t elements =                                                                \
            is_signed ? __riscv_vsext_vf2_i16m2(                                                   \
                            __riscv_vle8_v_i8m1((const int8_t *)column, LANES), LANES)             \
                      : __riscv_vreinterpret_v_u16m2_i16m2(                                        \
                            __riscv_vzext_vf2_u16m2(__riscv_vle8_v_u8m1(column, LANES), LANES));   \
        sums = __riscv_vwmacc_vv_i32m4(sums, elements, WEIGHTS_OF(four, k), LANES);                \
    } while (0)
                COLUMN(0);
                if (columns - t > 1)
                    COLUMN(1);
                if (columns - t > 2)
                    COLUMN(2);
                if (columns - t > 3)
                    COLUMN(3);
#undef COLUMN
            }
        }
        STORE_SUMS(to, sums);
    }
}

INLINE void depthwise_f16_block(const job *j, const uint32_t pixels, uint32_t x, int32_t *to)
{
    const uint32_t distance = j->conv->pixel_bytes;
    const float *w = (const float *)(const void *)j->weights;
    vf sums[DEPTHWISE_PIXELS];
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        sums[i] = vf_load(j->start);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)x * distance;
        for (uint32_t s = mona_run_steps(j->conv, j->first_run + r); s > 0;
             s--, p += 32, w += LANES) {
            const vf weights = vf_load(w);
            UNROLL
            for (uint32_t i = 0; i < pixels; i++)
                sums[i] = vf_fmadd(vf_f16(p + (size_t)i * distance), weights, sums[i]);
        }
    }
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        vf_store((float *)(void *)(to + (size_t)i * AC_FRACTAL), sums[i]);
}

#include "engine/cpu/c/vector_depthwise.h"

static void apply_table(uint8_t *p, size_t count, const uint8_t *table)
{
    while (count > 0) {
        const size_t n = __riscv_vsetvl_e8m1(count);
        const vuint8m1_t index = __riscv_vle8_v_u8m1(p, n);
        __riscv_vse8_v_u8m1(p, __riscv_vluxei8_v_u8m1(table, index, n), n);
        p += n, count -= n;
    }
}

#include "engine/cpu/c/vector_functions.h"

MONA_NAMED(rvv, depthwise_row)
MONA_NAMED(rvv, function_row)
MONA_NAMED(rvv, attention_row)
MONA_NAMED(rvv, fold_row)
MONA_NAMED(rvv, normalise_row)
MONA_NAMED(rvv, pack_row)
MONA_NAMED(rvv, unpack_row)
MONA_NAMED(rvv, resize_row)
MONA_NAMED(rvv, elementwise_row)
MONA_NAMED(rvv, luma_row)
MONA_NAMED(rvv, chroma_row)

static void conv_row(const mona_conv_row *row)
{
    static const mona_isa scatter_by = {.unpack_row = mona_rvv_unpack_row};
    conv_any(row, &scatter_by);
}

MONA_NAMED(rvv, conv_row)

MONA_TABLE(rvv);
#endif
