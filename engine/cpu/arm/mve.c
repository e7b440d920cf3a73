// SPDX-License-Identifier: Apache-2.0
/* Row programs for ARMv8.1-M with MVE, integer and floating point (Cortex-M55 and later).
 *
 * INT8: vmladava multiplies 16 signed bytes with 16 others and adds all products to a general
 * register. Its operands are 16 elements along K of a pixel and of an output, so both are first
 * laid side by side: weights once a row if all of K fits, elements once for all outputs. 3 pixels
 * and 2 outputs share loads: 5 loads and 6 multiplications for 96 products. If filters have 3
 * columns of 16 channels and stride 1, as nearly all do, the pixels also share elements: 11 loads
 * and 18 multiplications for 288 products.
 *
 * FP16: products of fp16 values are exact in fp32, so vfma rounds as the contract requires. */
#include "engine/cpu/arm/mve_vector.h"

enum {
    TILE = 39, /* see vector_conv.h */
    LAST_TILE = 1,
    SCATTER_PIXELS = 39,
    PIXELS = 3,
    OUTPUTS = 2,
    PART = 80,  /* steps of K at a time, a multiple of VECTOR */
    VECTOR = 4, /* steps in a vector */
    DEPTHWISE_PIXELS = 4,
};

#include "engine/cpu/c/vector_conv.h"
#include "engine/cpu/c/vector_elementwise.h"
#include "engine/cpu/c/vector_fold.h"
#include "engine/cpu/c/vector_planes.h"
#include "engine/cpu/c/vector_resize.h"

enum {
    SHARED_STEPS = 3 * VECTOR,               /* of a run whose elements pixels share */
    SHARED_RUNS = PART / SHARED_STEPS,       /* such runs at a time */
    SHARED_BYTES = (TILE + 2 + PIXELS) * 16, /* of a run, for a tile */
};

/* The rest of mona_conv_row.scratch: a part of K, of some pixels and of all outputs. Elements are
 * signed bytes. */
typedef struct flat {
    union {
        uint8_t elements[PIXELS][PART * 4 + 16]; /* copies write 16 at a time */
        uint8_t shared[SHARED_RUNS][SHARED_BYTES];
    };
    uint8_t weights[AC_FRACTAL / OUTPUTS * PART / VECTOR][OUTPUTS][16]; /* [pair][vector] */
} flat;

_Static_assert(sizeof(scratch) + sizeof(flat) <= MONA_SCRATCH_M, "it fits");

static flat *flat_of(const job *j)
{
    return (flat *)(void *)(j->row->scratch + sizeof(scratch));
}

static uint32_t vectors_of(uint32_t steps)
{
    return (steps + VECTOR - 1) / VECTOR;
}

/* ---- INT8 ----------------------------------------------------------------------------------- */

/* 4 steps of one output, which lie STEP_BYTES apart. Past the last of `steps` steps they are
 * zeros. */
INLINE v16 four_steps(const uint8_t *w, uint32_t steps)
{
    static const uint32_t places[VECTOR] = {0, STEP_BYTES, 2 * STEP_BYTES, 3 * STEP_BYTES};
    const uint32_t *base = (const uint32_t *)(const void *)w;
    return vreinterpretq_u8_u32(
        vldrwq_gather_offset_z_u32(base, vldrwq_u32(places), vctp32q(steps)));
}

static void add_sums(int32_t to[AC_FRACTAL], const int32_t start[AC_FRACTAL],
                     const uint8_t *weights, uint32_t steps)
{
    for (uint32_t o = 0; o < AC_FRACTAL; o++) {
        int32_t sum = 0;
        for (uint32_t s = 0; s < steps; s += VECTOR)
            sum = vaddvaq_s8(sum, vreinterpretq_s8_u8(four_steps(
                                      weights + (size_t)s * STEP_BYTES + o * 4, steps - s)));
        to[o] = start[o] + sum * 128;
    }
}

static void lay_weights(flat *f, const uint8_t *w, uint32_t outputs, uint32_t steps)
{
    uint8_t(*to)[OUTPUTS][16] = f->weights;
    for (uint32_t o = 0; o < outputs; o += OUTPUTS)
        for (uint32_t s = 0; s < steps; s += VECTOR, to++)
            for (uint32_t k = 0; k < OUTPUTS; k++)
                store16((*to)[k], four_steps(w + (size_t)s * STEP_BYTES + (o + k) * 4, steps - s));
}

/* A place in K: a step of a run. */
typedef struct place {
    uint32_t run, step;
} place;

/* Lays the next `steps` steps of a pixel side by side. What is behind them has weights of zero. */
static place lay_elements(const job *j, uint8_t *to, place at, uint32_t steps, size_t pixel)
{
    const v16 flip = sign_flip(j->conv);
    while (steps) {
        const uint32_t run_steps = mona_run_steps(j->conv, j->first_run + at.run);
        const uint32_t count = min_u32(steps, run_steps - at.step);
        const uint8_t *from = j->runs[at.run] + pixel + (size_t)at.step * 4;
        for (uint32_t i = 0; i < count * 4; i += 16)
            store16(to + i, veorq_u8(load16(from + i), flip));
        to += (size_t)count * 4;
        steps -= count;
        at =
            at.step + count < run_steps ? (place){at.run, at.step + count} : (place){at.run + 1, 0};
    }
    return at;
}

/* Adds the products of `vectors` vectors to the sums of 3 pixels and 2 outputs. */
INLINE const uint8_t *multiply(int32_t *to, const int32_t *from, uint32_t pixel, const flat *f,
                               const uint8_t *w, uint32_t vectors)
{
    const uint8_t *a = f->elements[0], *b = f->elements[1], *c = f->elements[2];
    int32_t a0 = from[0], a1 = from[1], b0 = from[pixel], b1 = from[pixel + 1];
    int32_t c0 = from[2 * pixel], c1 = from[2 * pixel + 1];
    __asm__ volatile(
        "dls lr, %[count]\n"
        "1:\n\t"
        "vldrb.8 q3, [%[w]], #16\n\t"
        "vldrb.8 q0, [%[a]], #16\n\t"
        "vmladava.s8 %[a0], q0, q3\n\t"
        "vldrb.8 q1, [%[b]], #16\n\t"
        "vmladava.s8 %[b0], q1, q3\n\t"
        "vldrb.8 q2, [%[c]], #16\n\t"
        "vmladava.s8 %[c0], q2, q3\n\t"
        "vldrb.8 q3, [%[w]], #16\n\t"
        "vmladava.s8 %[a1], q0, q3\n\t"
        "vmladava.s8 %[b1], q1, q3\n\t"
        "vmladava.s8 %[c1], q2, q3\n\t"
        "le lr, 1b"
        : [a0] "+Te"(a0), [a1] "+Te"(a1), [b0] "+Te"(b0), [b1] "+Te"(b1), [c0] "+Te"(c0),
          [c1] "+Te"(c1), [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [w] "+r"(w)
        : [count] "r"(vectors)
        : "q0", "q1", "q2", "q3", "lr", "cc", "memory");
    to[0] = a0, to[1] = a1, to[AC_FRACTAL] = b0, to[AC_FRACTAL + 1] = b1;
    to[2 * AC_FRACTAL] = c0, to[2 * AC_FRACTAL + 1] = c1;
    return w;
}

/* Adds a part of K to the sums of up to 3 pixels; the first part begins with j->start. */
static place three_pixels(const job *j, place at, uint32_t steps, uint32_t x, uint32_t count,
                          int32_t *acc)
{
    flat *f = flat_of(j);
    const bool first = !at.run && !at.step;
    int32_t some[PIXELS * AC_FRACTAL], *to = count < PIXELS ? some : acc;
    const uint8_t *w = f->weights[0][0];
    place next = at;
    for (uint32_t i = 0; i < PIXELS; i++)
        next = lay_elements(j, f->elements[i], at, steps,
                            (size_t)(x + min_u32(i, count - 1)) * j->conv->pixel_bytes);
    if (count < PIXELS)
        memcpy(some, acc, count * AC_FRACTAL * sizeof *acc);
    for (uint32_t o = 0; o < j->quads * QUAD; o += OUTPUTS)
        w = first ? multiply(to + o, (const int32_t *)j->start + o, 0, f, w, vectors_of(steps))
                  : multiply(to + o, to + o, AC_FRACTAL, f, w, vectors_of(steps));
    if (count < PIXELS)
        memcpy(acc, some, count * AC_FRACTAL * sizeof *acc);
    return next;
}

static void tile_in_threes(const job *j, uint32_t x, uint32_t count, int32_t *acc)
{
    flat *f = flat_of(j);
    const uint32_t total = mona_block_steps(j->conv, j->n);
    place at = {0, 0}, next = at;
    for (uint32_t first = 0, steps; first < total; first += steps, at = next) {
        steps = min_u32(PART, total - first);
        if (total > PART)
            lay_weights(f, j->weights + (size_t)first * STEP_BYTES, j->quads * QUAD, steps);
        for (uint32_t i = 0; i < count; i += PIXELS)
            next = three_pixels(j, at, steps, x + i, min_u32(PIXELS, count - i),
                                acc + (size_t)i * AC_FRACTAL);
    }
}

/* ---- INT8, shared elements ------------------------------------------------------------------ */

static bool shares(const job *j)
{
    for (uint32_t r = 0; r < j->run_count; r++)
        if (mona_run_steps(j->conv, j->first_run + r) != SHARED_STEPS)
            return false;
    return j->conv->pixel_bytes == 16;
}

/* Adds the products of `runs` runs to the sums of 3 pixels and 2 outputs. Pixel i has vectors i to
 * i + 2 of a run. */
INLINE const uint8_t *multiply_shared(int32_t *to, const int32_t *from, uint32_t pixel,
                                      const uint8_t *a, const uint8_t *w, uint32_t runs)
{
    int32_t a0 = from[0], a1 = from[1], b0 = from[pixel], b1 = from[pixel + 1];
    int32_t c0 = from[2 * pixel], c1 = from[2 * pixel + 1];
#define SIX(p, q, r)                                                                               \
    "vldrb.8 q5, [%[w]], #16\n\t"                                                                  \
    "vldrb.8 q6, [%[w]], #16\n\t"                                                                  \
    "vmladava.s8 %[a0], " p ", q5\n\t"                                                             \
    "vmladava.s8 %[b0], " q ", q5\n\t"                                                             \
    "vmladava.s8 %[c0], " r ", q5\n\t"                                                             \
    "vmladava.s8 %[a1], " p ", q6\n\t"                                                             \
    "vmladava.s8 %[b1], " q ", q6\n\t"                                                             \
    "vmladava.s8 %[c1], " r ", q6\n\t"
    __asm__ volatile("dls lr, %[runs]\n"
                     "1:\n\t"
                     "vldrb.8 q0, [%[a]]\n\t"
                     "vldrb.8 q1, [%[a], #16]\n\t"
                     "vldrb.8 q2, [%[a], #32]\n\t"
                     "vldrb.8 q3, [%[a], #48]\n\t"
                     "vldrb.8 q4, [%[a], #64]\n\t"
                     "add %[a], %[next]\n\t" SIX("q0", "q1", "q2") SIX("q1", "q2", "q3")
                         SIX("q2", "q3", "q4") "le lr, 1b"
                     : [a0] "+Te"(a0), [a1] "+Te"(a1), [b0] "+Te"(b0), [b1] "+Te"(b1),
                       [c0] "+Te"(c0), [c1] "+Te"(c1), [a] "+r"(a), [w] "+r"(w)
                     : [runs] "r"(runs), [next] "i"(SHARED_BYTES)
                     : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "lr", "cc", "memory");
#undef SIX
    to[0] = a0, to[1] = a1, to[AC_FRACTAL] = b0, to[AC_FRACTAL + 1] = b1;
    to[2 * AC_FRACTAL] = c0, to[2 * AC_FRACTAL + 1] = c1;
    return w;
}

static void lay_shared(const job *j, uint32_t first, uint32_t runs, uint32_t x, uint32_t count)
{
    const v16 flip = sign_flip(j->conv);
    for (uint32_t r = 0; r < runs; r++) {
        const uint8_t *from = j->runs[first + r] + (size_t)x * 16;
        uint8_t *to = flat_of(j)->shared[r];
        for (uint32_t i = 0; i < count + 2; i++, from += 16, to += 16)
            store16(to, veorq_u8(load16(from), flip));
    }
}

/* The last pixels, if they are fewer than 3, are computed with what is behind them. */
static void tile_shared(const job *j, uint32_t x, uint32_t count, int32_t *acc)
{
    flat *f = flat_of(j);
    int32_t some[PIXELS * AC_FRACTAL];
    for (uint32_t r = 0, runs; r < j->run_count; r += runs) {
        runs = min_u32(SHARED_RUNS, j->run_count - r);
        if (j->run_count > SHARED_RUNS)
            lay_weights(f, j->weights + (size_t)r * SHARED_STEPS * STEP_BYTES, j->quads * QUAD,
                        runs * SHARED_STEPS);
        lay_shared(j, r, runs, x, count);
        for (uint32_t i = 0; i < count; i += PIXELS) {
            const uint32_t pixels = min_u32(PIXELS, count - i);
            const uint8_t *a = f->shared[0] + (size_t)i * 16, *w = f->weights[0][0];
            int32_t *there = acc + (size_t)i * AC_FRACTAL, *to = pixels < PIXELS ? some : there;
            if (pixels < PIXELS)
                memcpy(some, there, pixels * AC_FRACTAL * sizeof *acc);
            for (uint32_t o = 0; o < j->quads * QUAD; o += OUTPUTS)
                w = r ? multiply_shared(to + o, to + o, AC_FRACTAL, a, w, runs)
                      : multiply_shared(to + o, (const int32_t *)j->start + o, 0, a, w, runs);
            if (pixels < PIXELS)
                memcpy(there, some, pixels * AC_FRACTAL * sizeof *acc);
        }
    }
}

/* ---- FP16 ----------------------------------------------------------------------------------- */

static void pixel_of_halves(const job *j, uint32_t x, float *to)
{
    const float *w = (const float *)(const void *)j->weights;
    vf acc = vf_load(j->start);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint16_t *p =
            (const uint16_t *)(const void *)(j->runs[r] + (size_t)x * j->conv->pixel_bytes);
        for (uint32_t s = mona_run_steps(j->conv, j->first_run + r); s > 0; s--, w += AC_FRACTAL) {
            const float a = vgetq_lane_f32(from_half(vdupq_n_u32(*p++)), 0);
            acc.a = vfmaq_n_f32(acc.a, vldrwq_f32(w), a);
            acc.b = vfmaq_n_f32(acc.b, vldrwq_f32(w + 4), a);
            acc.c = vfmaq_n_f32(acc.c, vldrwq_f32(w + 8), a);
            acc.d = vfmaq_n_f32(acc.d, vldrwq_f32(w + 12), a);
        }
    }
    vf_store(to, acc);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Lays the weights, if all fit. */
static void begin_tiles(const job *j)
{
    const uint32_t steps = mona_block_steps(j->conv, j->n);
    if (j->conv->source_type != MONA_F16 && steps <= PART)
        lay_weights(flat_of(j), j->weights, j->quads * QUAD, steps);
}

static void conv_tile(const job *j, uint32_t x, uint32_t count, int32_t *acc)
{
    if (j->conv->source_type == MONA_F16)
        for (uint32_t i = 0; i < count; i++)
            pixel_of_halves(j, x + i, (float *)(void *)(acc + (size_t)i * AC_FRACTAL));
    else if (shares(j))
        tile_shared(j, x, count, acc);
    else
        tile_in_threes(j, x, count, acc);
}

/* ---- depthwise ------------------------------------------------------------------------------ */

/* 4 channels from channel c on of some pixels. Integers of 32 bits are multiplied, so elements are
 * what the source holds, and sums begin at the bias. */
INLINE void depthwise_four(const job *j, const bool is_signed, const uint32_t pixels, uint32_t x,
                           uint32_t c, int32_t *to)
{
    static const uint32_t places[QUAD] = {0, 4, 8, 12};
    const uint32_t distance = j->conv->pixel_bytes;
    const uint8_t *weights = j->weights + (size_t)c * 4;
    int32x4_t acc[DEPTHWISE_PIXELS];
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        acc[i] = vldrwq_s32((const int32_t *)j->conv->bias + (size_t)j->n * AC_FRACTAL + c);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)x * distance + c;
        const uint32_t columns = j->conv->run_elements[j->first_run + r];
        for (uint32_t t = 0; t < columns; t++, p += AC_FRACTAL) {
            const uint8_t *w = weights + t / 4 * STEP_BYTES + t % 4;
            const int32x4_t four = vldrbq_gather_offset_s32((const int8_t *)w, vldrwq_u32(places));
            UNROLL
            for (uint32_t i = 0; i < pixels; i++) {
                const uint8_t *at = p + (size_t)i * distance;
                const int32x4_t a = is_signed ? vldrbq_s32((const int8_t *)at)
                                              : vreinterpretq_s32_u32(vldrbq_u32(at));
                acc[i] = vaddq_s32(acc[i], vmulq_s32(a, four));
            }
        }
        weights += (columns + 3) / 4 * STEP_BYTES;
    }
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        vstrwq_s32(to + (size_t)i * AC_FRACTAL + c, acc[i]);
}

INLINE void depthwise_int8_block(const job *j, const uint32_t pixels, uint32_t x, int32_t *to)
{
    for (uint32_t c = 0; c < AC_FRACTAL; c += QUAD)
        if (j->conv->source_type == MONA_S8)
            depthwise_four(j, true, pixels, x, c, to);
        else
            depthwise_four(j, false, pixels, x, c, to);
}

INLINE void depthwise_f16_block(const job *j, const uint32_t pixels, uint32_t x, int32_t *to)
{
    for (uint32_t i = 0; i < pixels; i++, to += AC_FRACTAL) {
        const float *w = (const float *)(const void *)j->weights;
        vf sums = vf_load(j->start);
        for (uint32_t r = 0; r < j->run_count; r++) {
            const uint8_t *p = j->runs[r] + (size_t)(x + i) * j->conv->pixel_bytes;
            for (uint32_t s = mona_run_steps(j->conv, j->first_run + r); s > 0;
                 s--, p += 32, w += LANES)
                sums = vf_add(sums, vf_mul(vf_f16(p), vf_load(w)));
        }
        vf_store((float *)(void *)to, sums);
    }
}

#include "engine/cpu/c/vector_depthwise.h"

/* Few networks have them behind a layer. */
static void function_row(const mona_function_row *f)
{
    mona_c_function_row(f);
}

static void normalise_row(const mona_normalise_row *n)
{
    mona_c_normalise_row(n);
}

static void attention_row(const mona_attention_row *a)
{
    mona_c_attention_row(a);
}

MONA_NAMED(mve, depthwise_row)
MONA_NAMED(mve, function_row)
MONA_NAMED(mve, attention_row)
MONA_NAMED(mve, fold_row)
MONA_NAMED(mve, normalise_row)
MONA_NAMED(mve, pack_row)
MONA_NAMED(mve, unpack_row)
MONA_NAMED(mve, resize_row)
MONA_NAMED(mve, elementwise_row)

static void conv_row(const mona_conv_row *row)
{
    static const mona_isa scatter_by = {.unpack_row = mona_mve_unpack_row};
    conv_any(row, &scatter_by);
}

MONA_NAMED(mve, conv_row)

MONA_TABLE(mve);
