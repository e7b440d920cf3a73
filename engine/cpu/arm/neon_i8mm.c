// SPDX-License-Identifier: Apache-2.0
/* Convolution for ARMv8-A with products of matrices of bytes (FEAT_I8MM), dot products and
 * arithmetic in fp16.
 *
 * smmla and usmmla multiply 2 pixels x 8 elements with 8 elements x 2 outputs, so a step has 8
 * elements (mona_isa.step_8bit), and a register of weights those of 2 outputs. Bytes of a source
 * are multiplied as they are, since usmmla takes unsigned ones. An accumulator holds [2
 * pixels][2 outputs]. A block of 6 pixels x 16 outputs has 24 of the 32 registers, and needs 6
 * for activations and 2 for weights. 16 elements are 48 multiplications, 8 loads of two
 * registers of weights, 6 of activations, and 6 zips that put the halves of two pixels side by
 * side.
 *
 * Where the epilogue is no more than scaling and rounding, results are made in the accumulators'
 * order and stored from registers. Others go through memory as everywhere. */
#include "engine/cpu/arm/neon_vector.h"

#define BYTES_AS_THEY_ARE
#define TILES_FINISH
enum { TILE = 30, LAST_TILE = 6, SCATTER_PIXELS = 60 };

#include "engine/cpu/c/vector_conv.h"

MONA_DECLARE(conv_row, dotprod)
MONA_DECLARE(depthwise_row, dotprod)

enum { PAIRS = AC_FRACTAL / 2, MAX_PAIRS = 3 };

/* What a block of outputs begins and ends with, in the order of accumulators. In scratch, after
 * what all have. */
typedef struct ends {
    _Alignas(64) int32_t start[PAIRS * 4];
    float scale[PAIRS * 4];
} ends;

_Static_assert(sizeof(scratch) + sizeof(ends) <= MONA_SCRATCH_NEON, "it fits");

static ends *ends_of(const job *j)
{
    return (ends *)(void *)(j->row->scratch + sizeof(scratch));
}

static void begin_tiles(const job *j)
{
    ends *e = ends_of(j);
    const uint32_t *start = j->start;
    const float *scale = j->conv->epilogue.scale + (size_t)j->n * AC_FRACTAL;
    for (uint32_t i = 0; i < PAIRS * 4; i++) {
        memcpy(&e->start[i], &start[i / 4 * 2 + i % 2], sizeof *start);
        e->scale[i] = scale[i / 4 * 2 + i % 2];
    }
}

/* An instruction, because compilers rewrite intrinsics in a way that needs more registers. */
INLINE int32x4_t multiply(const mona_type type, int32x4_t acc, v16 a, v16 weights)
{
    if (type == MONA_U8)
        __asm__("usmmla %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(a), "w"(weights));
    else
        __asm__("smmla %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(a), "w"(weights));
    return acc;
}

/* The compiler moves nothing across this, or it would load weights long before they are used,
 * and spill. */
#define KEEP_ORDER() __asm__ volatile("")

/* Multiplies 1 or 2 steps of 8 elements of all pairs of pixels. */
INLINE void block_steps(int32x4_t *acc, const mona_type type, const uint32_t pairs,
                        const uint32_t quads, const size_t pixel_bytes, const uint8_t *p,
                        const uint8_t *w, const uint32_t steps)
{
    v16 a[2][MAX_PAIRS];
    UNROLL
    for (uint32_t i = 0; i < pairs; i++) {
        const v16 even = load16(p + 2 * i * pixel_bytes),
                  odd = load16(p + (2 * i + 1) * pixel_bytes);
        a[0][i] = zip64_low(even, odd);
        a[1][i] = zip64_high(even, odd);
    }
    KEEP_ORDER();
    UNROLL
    for (uint32_t s = 0; s < steps; s++) {
        UNROLL
        for (uint32_t q = 0; q < 2 * quads; q += 2) {
            const uint8_t *at = w + s * 2 * STEP_BYTES + (size_t)q * 16;
            const v16 w0 = load16(at), w1 = load16(at + 16);
            UNROLL
            for (uint32_t i = 0; i < pairs; i++) {
                int32x4_t *to = &acc[i * PAIRS + q];
                to[0] = multiply(type, to[0], a[s][i], w0);
                to[1] = multiply(type, to[1], a[s][i], w1);
            }
            KEEP_ORDER();
        }
    }
}

/* How a block ends: with sums in memory, or with results. */
typedef enum ending { SUMS, U8_RESULTS, S8_RESULTS } ending;

/* Narrows 16 words to bytes. */
INLINE uint16x8_t to_bytes(const ending how, int16x8_t a, int16x8_t b)
{
    if (how == U8_RESULTS)
        return vreinterpretq_u16_u8(vqmovun_high_s16(vqmovun_s16(a), b));
    return vreinterpretq_u16_s8(vqmovn_high_s16(vqmovn_s16(a), b));
}

/* Makes 16 results of two pixels from their accumulators. */
INLINE void finish_pair(const ends *e, const ending how, const int32x4_t *acc, uint8_t *out)
{
    int16x8_t words[4];
    UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        const float *scale = e->scale + (size_t)i * 8;
        const float32x4_t low = vmulq_f32(vcvtq_f32_s32(acc[2 * i]), vld1q_f32(scale));
        const float32x4_t high = vmulq_f32(vcvtq_f32_s32(acc[2 * i + 1]), vld1q_f32(scale + 4));
        words[i] = vcvtnq_s16_f16(to_half(low, high));
    }
    /* Two bytes of one pixel and two of the other alternate. */
    const uint16x8_t a = to_bytes(how, words[0], words[1]), b = to_bytes(how, words[2], words[3]);
    store16(out, vreinterpretq_u8_u16(vuzp1q_u16(a, b)));
    store16(out + AC_FRACTAL, vreinterpretq_u8_u16(vuzp2q_u16(a, b)));
}

/* Stores two pixels' accumulators as [2][16]. */
INLINE void store_pair(const int32x4_t *acc, int32_t *to)
{
    UNROLL
    for (uint32_t q = 0; q < PAIRS; q += 2) {
        const v16 a = vreinterpretq_u8_s32(acc[q]), b = vreinterpretq_u8_s32(acc[q + 1]);
        store16(to + (size_t)q * 2, zip64_low(a, b));
        store16(to + AC_FRACTAL + (size_t)q * 2, zip64_high(a, b));
    }
}

/* Where the sums of a tile go, or its results. */
typedef struct target {
    ending how;
    int32_t *acc;
    uint8_t *out;
} target;

INLINE void finish_block(const ends *e, const ending how, const uint32_t pairs,
                         const int32x4_t *acc, uint8_t *out)
{
    UNROLL
    for (uint32_t k = 0; k < pairs; k++)
        finish_pair(e, how, acc + (size_t)k * PAIRS, out + (size_t)k * 2 * AC_FRACTAL);
}

/* Computes a register block: `pairs` pairs of pixels from x on, pixel i of the tile on, for the
 * job's first `quads` registers of outputs. pixel_bytes: from one pixel to the next, as a
 * constant where it is a common one. */
INLINE void block(const job *j, const mona_type type, const uint32_t pairs, const uint32_t quads,
                  const size_t pixel_bytes, uint32_t x, uint32_t i, const target *to)
{
    const ends *e = ends_of(j);
    const uint8_t *w = j->weights;
    FORGET(e);
    int32x4_t acc[MAX_PAIRS * PAIRS];
    UNROLL
    for (uint32_t k = 0; k < pairs; k++) {
        UNROLL
        for (uint32_t q = 0; q < 2 * quads; q++)
            acc[k * PAIRS + q] = vld1q_s32(e->start + (size_t)q * 4);
    }
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)(x + i) * j->conv->pixel_bytes;
        const uint32_t steps = (j->conv->run_elements[j->first_run + r] + 7u) / 8;
        for (uint32_t s = steps / 2; s > 0; s--, w += 4 * STEP_BYTES) {
            block_steps(acc, type, pairs, quads, pixel_bytes, p, w, 2);
            p += 16;
            FORGET(p);
        }
        if (steps & 1) {
            block_steps(acc, type, pairs, quads, pixel_bytes, p, w, 1);
            w += 2 * STEP_BYTES;
        }
    }
    UNROLL
    for (uint32_t k = 0; k < pairs; k++) {
        UNROLL
        for (uint32_t q = 2 * quads; q < PAIRS; q++)
            acc[k * PAIRS + q] = vld1q_s32(e->start + (size_t)q * 4);
    }
    uint8_t *out = to->out + (size_t)i * AC_FRACTAL;
    switch (to->how) {
    case SUMS:
        UNROLL
        for (uint32_t k = 0; k < pairs; k++)
            store_pair(acc + (size_t)k * PAIRS, to->acc + (size_t)(i + 2 * k) * AC_FRACTAL);
        break;
    case U8_RESULTS:
        finish_block(e, U8_RESULTS, pairs, acc, out);
        break;
    case S8_RESULTS:
        finish_block(e, S8_RESULTS, pairs, acc, out);
        break;
    }
}

/* Computes a tile in blocks of so many pairs of pixels, or by pairs if it has fewer. */
INLINE void tile_in_blocks(const job *j, const mona_type type, const uint32_t pairs,
                           const uint32_t quads, uint32_t x, uint32_t count, const target *to)
{
    const uint32_t bytes = j->conv->pixel_bytes;
    if (count == 1)
        block(j, type, 1, 4, 0, x, 0, to);
    for (uint32_t i = 0; i < count && count > 1 && count < 2 * pairs; i += 2)
        block(j, type, 1, 4, bytes, x, min_u32(i, count - 2), to);
    for (uint32_t i = 0; i < count && count >= 2 * pairs; i += 2 * pairs) {
        const uint32_t k = min_u32(i, count - 2 * pairs);
        if (bytes == 16)
            block(j, type, pairs, quads, 16, x, k, to);
        else
            block(j, type, pairs, quads, bytes, x, k, to);
    }
}

INLINE void tile_of_type(const job *j, const mona_type type, uint32_t x, uint32_t count,
                         const target *to)
{
    if (j->quads <= 2)
        tile_in_blocks(j, type, 3, 2, x, count, to);
    else
        tile_in_blocks(j, type, 3, 4, x, count, to);
}

/* Results whose clamps are the type's limits are made in registers: rounding is monotonic, so
 * saturating may follow it. */
static ending ending_of(const job *j)
{
    const mona_type type = j->row->output.type;
    const clamp limits = j->limits->stage[0];
    if (!j->limits->possible || j->limits->add || type == MONA_F16)
        return SUMS;
    if (type == MONA_U8)
        return limits.low == 0 && limits.high == 255 ? U8_RESULTS : SUMS;
    return limits.low == -128 && limits.high == 127 ? S8_RESULTS : SUMS;
}

static bool tile_finished(const job *j, uint32_t x, uint32_t count, int32_t *acc, uint8_t *out)
{
    const target to = {count > 1 ? ending_of(j) : SUMS, acc, out};
    if (j->conv->source_type == MONA_U8)
        tile_of_type(j, MONA_U8, x, count, &to);
    else
        tile_of_type(j, MONA_S8, x, count, &to);
    return to.how != SUMS;
}

static void conv_row(const mona_conv_row *row)
{
    static const mona_isa scatter_by = {.unpack_row = mona_neon_unpack_row};
    if (row->conv->source_type == MONA_F16)
        mona_dotprod_conv_row(row);
    else
        conv_any(row, &scatter_by);
}

MONA_NAMED(i8mm, conv_row)

MONA_TABLE(i8mm);
