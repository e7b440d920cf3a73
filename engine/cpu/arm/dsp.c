// SPDX-License-Identifier: Apache-2.0
/* Row programs for Arm controllers with DSP instructions and single-precision floating point
 * (ARMv7E-M: Cortex-M4, M7; ARMv8-M with the extension: M33).
 *
 * INT8: smlad multiplies two pairs of 16 bits and adds both products to an accumulator. Elements
 * and weights are widened first: of the four in a step, 0 and 2 form one word, 1 and 3 another. Two
 * pixels and two outputs share loads: a step takes 2 instructions that load 4 words each and 8
 * multiplications for 16 products. Weights are widened once a row if all of K fits, elements once
 * for all outputs. */
#include "engine/cpu/cpu.h"

enum {
    TILE = 32,
    PART = 160,
    STAGE = 1024,
    STEPS = 40, /* of K at a time, a multiple of 4 */
};

typedef struct int8_work {
    _Alignas(64) int32_t acc[TILE * AC_FRACTAL];
    uint32_t columns[STEPS][4];                  /* a step of two pixels, 2 words each */
    uint32_t weights[AC_FRACTAL / 2 * STEPS][4]; /* the same of two outputs, [pair][step] */
} int8_work;

#include "engine/cpu/c/c_conv.h"
#include "engine/cpu/c/clamps.h"
#include "engine/cpu/c/compiler.h"

_Static_assert(sizeof(work) <= MONA_SCRATCH_M, "it fits");

/* ---- widening ------------------------------------------------------------------------------- */

/* Two words of a step. from: its 4 bytes. */
INLINE void widen(uint32_t to[2], const uint8_t *from, bool is_signed)
{
    uint32_t four, even, odd;
    memcpy(&four, from, sizeof four);
    if (is_signed)
        __asm__("sxtb16 %0, %2\n\tsxtb16 %1, %2, ror #8" : "=&r"(even), "=r"(odd) : "r"(four));
    else
        __asm__("uxtb16 %0, %2\n\tuxtb16 %1, %2, ror #8" : "=&r"(even), "=r"(odd) : "r"(four));
    to[0] = even, to[1] = odd;
}

static uint32_t whole_steps(uint32_t steps)
{
    return (steps + 3) / 4 * 4;
}

/* Widens weights, [step][16 outputs][4], with zeros up to whole steps. */
static void widen_weights(int8_work *w, const uint8_t *from, uint32_t outputs, uint32_t steps)
{
    for (uint32_t o = 0; o < outputs; o++) {
        uint32_t(*to)[4] = w->weights + o / 2 * whole_steps(steps), s = 0;
        for (; s < steps; s++)
            widen(&to[s][o % 2 * 2], from + (size_t)(s * AC_FRACTAL + o) * 4, true);
        for (; s < whole_steps(steps); s++)
            to[s][o % 2 * 2] = to[s][o % 2 * 2 + 1] = 0;
    }
}

INLINE void widen_run(uint32_t (*to)[4], const uint8_t *p, const uint8_t *q, uint32_t steps,
                      const bool is_signed)
{
    _Pragma("GCC unroll 4") for (uint32_t s = 0; s < steps; s++)
    {
        widen(&to[s][0], p + (size_t)s * 4, is_signed);
        widen(&to[s][2], q + (size_t)s * 4, is_signed);
    }
}

/* Widens the next `steps` steps of pixels x and y, and moves the place on. What is behind them has
 * weights of zero. */
static void widen_columns(const tile *t, place *at, uint32_t steps, uint32_t x, uint32_t y)
{
    uint32_t(*to)[4] = t->work->int8.columns;
    while (steps) {
        const uint32_t run_steps = mona_run_steps(t->conv, t->first_run + at->run);
        const uint32_t count = min_u32(steps, run_steps - at->step);
        const uint8_t *run = t->runs[at->run] + (size_t)at->step * 4;
        const uint8_t *p = run + (size_t)x * t->conv->pixel_bytes;
        const uint8_t *q = run + (size_t)y * t->conv->pixel_bytes;
        if (t->conv->source_type == MONA_S8)
            widen_run(to, p, q, count, true);
        else
            widen_run(to, p, q, count, false);
        to += count;
        steps -= count;
        *at = at->step + count < run_steps ? (place){at->run, at->step + count}
                                           : (place){at->run + 1, 0};
    }
}

/* ---- products ------------------------------------------------------------------------------- */

#define UNUSED __attribute__((unused)) /* by C */

/* A step of two pixels and two outputs: r12 are the columns, lr the weights. */
#define STEP                                                                                       \
    "ldmia r12!, {r4-r7}\n\t"                                                                      \
    "ldmia lr!, {r8-r11}\n\t"                                                                      \
    "smlad r0, r4, r8, r0\n\t"                                                                     \
    "smlad r1, r4, r10, r1\n\t"                                                                    \
    "smlad r2, r6, r8, r2\n\t"                                                                     \
    "smlad r3, r6, r10, r3\n\t"                                                                    \
    "smlad r0, r5, r9, r0\n\t"                                                                     \
    "smlad r1, r5, r11, r1\n\t"                                                                    \
    "smlad r2, r7, r9, r2\n\t"                                                                     \
    "smlad r3, r7, r11, r3\n\t"

/* Operands of multiply_columns(); the offsets are used below. */
typedef struct products {
    int32_t *acc, *acc_end; /* of the first pixel; those of the second lie 64 bytes behind */
    const uint32_t *columns, *columns_end, *weights;
    ptrdiff_t first, second; /* bytes from acc to what the two pixels' accumulators start at */
} products;

/* Computes the accumulators of two pixels for the outputs before acc_end: what they start at, plus
 * the products of the columns, a multiple of 4 steps, and the weights. It needs all registers,
 * which compilers do not give to a part of a function. */
__attribute__((naked, noinline)) static void multiply_columns(UNUSED const products *p)
{
    __asm__ volatile("push {r3-r11, lr}\n\t"
                     "ldmia r0, {r4-r10}\n\t"
                     "sub sp, #32\n\t"
                     "stmia sp, {r4-r10}\n\t"
                     "mov lr, r8\n" /* weights */
                     "1:\n\t"
                     "ldr r4, [sp]\n\t"           /* acc */
                     "ldrd r5, r6, [sp, #20]\n\t" /* first, second */
                     "add r5, r4\n\t"
                     "add r6, r4\n\t"
                     "ldrd r0, r1, [r5]\n\t"
                     "ldrd r2, r3, [r6]\n\t"
                     "ldrd r12, r4, [sp, #8]\n\t" /* columns, columns_end */
                     "sub r5, r4, r12\n\t"
                     "lsls r5, #25\n\t" /* 4 steps, 64 bytes, beside those taken 8 by 8? */
                     "bpl 2f\n\t" STEP STEP STEP STEP "ldr r4, [sp, #12]\n\t"
                     "cmp r12, r4\n\t"
                     "beq 3f\n"
                     "2:\n\t" STEP STEP STEP STEP STEP STEP STEP STEP "ldr r4, [sp, #12]\n\t"
                     "cmp r12, r4\n\t"
                     "bne 2b\n"
                     "3:\n\t"
                     "ldrd r4, r5, [sp]\n\t" /* acc, acc_end */
                     "strd r2, r3, [r4, #64]\n\t"
                     "strd r0, r1, [r4], #8\n\t"
                     "str r4, [sp]\n\t"
                     "cmp r4, r5\n\t"
                     "bne 1b\n\t"
                     "add sp, #32\n\t"
                     "pop {r3-r11, pc}");
}

/* ---- the epilogue --------------------------------------------------------------------------- */

/* Rounds to fp16. Beyond its range it gives infinity. */
INLINE float rounded(float x)
{
    __asm__("vcvtb.f16.f32 %0, %1\n\tvcvtb.f32.f16 %0, %0" : "=t"(x) : "t"(x));
    return x;
}

/* Rounds to nearest, which is FPSCR's default, and saturates. */
INLINE uint8_t byte_of(float x, bool is_signed)
{
    int32_t q;
    __asm__("vcvtr.s32.f32 %0, %0" : "+t"(x));
    memcpy(&q, &x, sizeof q);
    if (is_signed)
        __asm__("ssat %0, #8, %1" : "=r"(q) : "r"(q));
    else
        __asm__("usat %0, #8, %1" : "=r"(q) : "r"(q));
    return (uint8_t)q;
}

/* Applies an epilogue that does no more than saturate, with a result of 8 bits. An infinity
 * saturates as 65504 does, also after a residual, which is below 65504 - 128. */
INLINE void finish_bytes(const tile *t, const bool add, const bool is_signed, uint8_t *out)
{
    const float *scale = t->conv->epilogue.scale + (size_t)t->n * AC_FRACTAL;
    const float residual_scale = t->conv->epilogue.residual_scale;
    const mona_row *r = &t->row->residual;
    const int32_t *acc = t->work->int8.acc;
    const uint8_t *from = add ? r->data + t->n * r->block_stride + (size_t)t->x * AC_FRACTAL : NULL;
    for (uint32_t i = 0; i < t->pixels; i++, acc += AC_FRACTAL, out += AC_FRACTAL)
        _Pragma("GCC unroll 16") for (uint32_t o = 0; o < AC_FRACTAL; o++)
        {
            float v = rounded((float)acc[o] * scale[o]);
            if (add)
                v = rounded(v + rounded((float)from[i * AC_FRACTAL + o] * residual_scale));
            out[o] = byte_of(v, is_signed);
        }
}

static void finish_tile(const tile *t, uint8_t *out)
{
    const mona_epilogue *e = &t->conv->epilogue;
    const mona_row *r = &t->row->residual;
    const bool is_signed = t->row->output.type == MONA_S8;
    const clamp all = {-65504, 65504}, byte = is_signed ? (clamp){-128, 127} : (clamp){0, 255};
    const clamps limits = clamps_of(t->row);
    const bool simple = r->type == MONA_U8 && r->c0 == AC_FRACTAL && !e->broadcast &&
                        e->residual_scale >= -256 && e->residual_scale <= 256 &&
                        same_clamp(limits.stage[0], all);
    if (!limits.possible || t->row->output.type == MONA_F16 || (e->add && !simple) ||
        !same_clamp(limits.stage[e->add], byte)) {
        for (uint32_t i = 0; i < t->pixels * AC_FRACTAL; i++)
            t->work->values[i] = (float)t->work->int8.acc[i];
        finish(t, t->work->values, out);
    } else if (e->add && is_signed)
        finish_bytes(t, true, true, out);
    else if (e->add)
        finish_bytes(t, true, false, out);
    else if (is_signed)
        finish_bytes(t, false, true, out);
    else
        finish_bytes(t, false, false, out);
}

/* ---- tiles ---------------------------------------------------------------------------------- */

static void int8_tile(tile *t, uint8_t *out)
{
    int8_work *w = &t->work->int8;
    const uint8_t *weights = t->conv->weights + t->conv->weights_offset[t->n];
    const uint32_t total = mona_block_steps(t->conv, t->n);
    /* Weights and bias of outputs that do not exist are zero. */
    const uint32_t outputs =
        min_u32(AC_FRACTAL, (t->conv->channels - t->n * AC_FRACTAL + 1) / 2 * 2);
    place at = {0, 0}, next = at;
    products p = {.columns = w->columns[0], .weights = w->weights[0]};
    if (outputs < AC_FRACTAL) /* the others are what they start at, zero */
        fill(w->acc, t->bias, t->pixels + 1);
    for (uint32_t first = 0, steps; first < total; first += steps, at = next) {
        steps = min_u32(STEPS, total - first);
        if (!t->all_turned)
            widen_weights(w, weights + (size_t)first * 64, outputs, steps);
        t->all_turned = steps == total;
        p.columns_end = w->columns[whole_steps(steps)];
        for (uint32_t i = 0; i < t->pixels; i += 2) {
            next = at;
            widen_columns(t, &next, steps, t->x + i, t->x + min_u32(i + 1, t->pixels - 1));
            p.acc = w->acc + (size_t)i * AC_FRACTAL;
            p.acc_end = p.acc + outputs;
            p.first = first ? 0 : (const uint8_t *)t->bias - (const uint8_t *)p.acc;
            p.second = first ? AC_FRACTAL * (ptrdiff_t)sizeof(int32_t) : p.first;
            multiply_columns(&p);
        }
    }
    finish_tile(t, out);
}

/* ---- depthwise ------------------------------------------------------------------------------ */

enum { QUAD = 4, TAP = AC_FRACTAL / 2 /* words of 16 weights */ };

/* Of a block of channels. */
typedef struct taps {
    uint32_t (*weights)[TAP]; /* of each: those of channels 0 and 2, 1 and 3, ... */
    const uint8_t **at;       /* where the first pixel's elements lie */
    uint32_t count;
} taps;

/* Widens the weights, [step][16 channels][4 columns]. */
static void find_taps(taps *to, const tile *t)
{
    const uint8_t *w = t->conv->weights + t->conv->weights_offset[t->n];
    for (uint32_t r = 0; r < t->run_count; r++) {
        const uint32_t columns = t->conv->run_elements[t->first_run + r];
        for (uint32_t k = 0; k < columns; k++, to->count++) {
            to->at[to->count] = t->runs[r] + (size_t)k * AC_FRACTAL;
            for (uint32_t c = 0; c < AC_FRACTAL; c += QUAD) {
                const uint8_t *from = w + (size_t)k / 4 * 64 + (size_t)c * 4 + k % 4;
                const uint8_t four[QUAD] = {from[0], from[4], from[8], from[12]};
                widen(&to->weights[to->count][c / 2], four, true);
            }
        }
        w += (size_t)(columns + 3) / 4 * 64;
    }
}

/* Adds the products of all taps to 4 channels. It needs nearly all registers, which compilers do
 * not give to a loop. */
#define MULTIPLY_TAPS(WIDEN)                                                                       \
    __asm__("1:\n\t"                                                                               \
            "ldr %[odd], [%[at]], #4\n\t"                                                          \
            "ldrd %[v], %[u], [%[w]], #32\n\t"                                                     \
            "ldr %[odd], [%[odd], %[offset]]\n\t" WIDEN " %[even], %[odd]\n\t" WIDEN               \
            " %[odd], %[odd], ror #8\n\t"                                                          \
            "smlabb %[a], %[even], %[v], %[a]\n\t"                                                 \
            "smlabb %[b], %[odd], %[u], %[b]\n\t"                                                  \
            "smlatt %[c], %[even], %[v], %[c]\n\t"                                                 \
            "smlatt %[d], %[odd], %[u], %[d]\n\t"                                                  \
            "cmp %[at], %[end]\n\t"                                                                \
            "bne 1b"                                                                               \
            : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [at] "+r"(at), [w] "+r"(w),      \
              [even] "=&r"(even), [odd] "=&r"(odd), [v] "=&r"(v), [u] "=&r"(u)                     \
            : [end] "r"(all->at + all->count), [offset] "r"(offset)                                \
            : "cc", "memory")

/* 4 channels, `offset` bytes behind the first pixel's first. */
INLINE void depthwise_four(const taps *all, const bool is_signed, size_t offset, uint32_t channel,
                           const int32_t *bias, int32_t *to)
{
    int32_t a = bias[channel], b = bias[channel + 1], c = bias[channel + 2], d = bias[channel + 3];
    const uint8_t *const *at = all->at;
    const uint32_t *w = &all->weights[0][channel / 2];
    uint32_t even, odd, u, v;
    if (is_signed)
        MULTIPLY_TAPS("sxtb16");
    else
        MULTIPLY_TAPS("uxtb16");
    to[channel] = a, to[channel + 1] = b, to[channel + 2] = c, to[channel + 3] = d;
}

static void depthwise_tile(const tile *t, const taps *all)
{
    int32_t *acc = t->work->int8.acc;
    size_t offset = (size_t)t->x * t->conv->pixel_bytes;
    for (uint32_t i = 0; i < t->pixels; i++, acc += AC_FRACTAL, offset += t->conv->pixel_bytes)
        for (uint32_t c = 0; c < AC_FRACTAL; c += QUAD)
            if (t->conv->source_type == MONA_S8)
                depthwise_four(all, true, offset + c, c, t->bias, acc);
            else
                depthwise_four(all, false, offset + c, c, t->bias, acc);
}

static uint32_t tap_count(const mona_conv *c)
{
    uint32_t taps = 0;
    for (uint32_t r = 0; r < c->run_count[0]; r++)
        taps += c->run_elements[c->first_run[0] + r];
    return taps;
}

static void depthwise_row(const mona_depthwise_row *row)
{
    enum { MOST = sizeof((int8_work *)0)->columns / sizeof(const uint8_t *) };
    const size_t pixel = AC_FRACTAL * mona_type_size(row->output.type);
    const uint32_t count = tap_count(row->conv);
    if (row->conv->source_type == MONA_F16 || !count || count > MOST) {
        mona_c_depthwise_row(row);
        return;
    }
    for (uint32_t n = 0; n < row->conv->blocks; n++) {
        tile t = tile_of(row, n);
        uint8_t *out = row->output.data + n * row->output.block_stride;
        taps all = {(void *)t.work->int8.weights, (void *)t.work->int8.columns, 0};
        find_taps(&all, &t);
        for (; t.x < row->pixels; t.x += t.pixels, out += t.pixels * pixel) {
            t.pixels = min_u32(TILE, row->pixels - t.x);
            depthwise_tile(&t, &all);
            finish_tile(&t, out);
        }
    }
}

MONA_NAMED(dsp, conv_row)
MONA_NAMED(dsp, depthwise_row)

MONA_TABLE(dsp);
