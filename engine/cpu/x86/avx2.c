// SPDX-License-Identifier: Apache-2.0
/* Row programs for AVX2 with FMA and F16C.
 *
 * vpmaddubsw would take bytes directly, but it saturates: 2 * 255 * 127 does not fit in 16 bits.
 * One could split the elements into 7 bits and 1, split the weights in two, or separate absolute
 * value and sign. Each needs at least two multiplications in place of one, as many as vpmaddwd,
 * which is exact with operands of 16 bits. (In the networks that mona ships 2 to 4 % of all pairs
 * of weights could saturate, and 27 to 53 % of the steps have one.) So elements are widened once
 * for each piece of a row, and weights once for each tile of pixels. An operand is then 2 elements,
 * half a step. Filters with three columns take half as many multiplications: avx2_winograd.h. */
#include "engine/cpu/x86/avx2_vector.h"
#include "engine/cpu/x86/avx2_words.h"
#include "engine/cpu/c/vector_curves.h"
#include "engine/cpu/c/vector_elementwise.h"
#include "engine/cpu/c/vector_fold.h"
#include "engine/cpu/c/vector_attention.h"
#include "engine/cpu/c/vector_functions.h"
#include "engine/cpu/c/vector_normalise.h"
#include "engine/cpu/c/vector_planes.h"
#include "engine/cpu/c/vector_resize.h"
#include "engine/cpu/x86/x86_conv.h"

enum { ELEMENT = 2 };

/* Without this gcc often puts the sum in the register of the product and then copies it back. */
INLINE __m256i dot(__m256i acc, __m256i a, __m256i b)
{
    const __m256i product = _mm256_madd_epi16(a, b);
    __asm__("vpaddd %1, %0, %0" : "+x"(acc) : "x"(product));
    return acc;
}

/* Widens count bytes to 16 bits. Up to 15 more are read and written. */
static void convert_elements(uint8_t *to, const uint8_t *from, uint32_t count, bool is_signed)
{
    for (uint32_t i = 0; i < count; i += 16) {
        const __m128i bytes = load16(from + i);
        store_vector(to + (size_t)i * 2,
                     is_signed ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes));
    }
}

/* Widens weights, from [step][16 outputs][4] bytes to [step][half][16 outputs][2] of 16 bits. */
static const uint8_t *convert_weights(uint8_t *to, const uint8_t *from, uint32_t steps)
{
    for (size_t s = 0; s < steps; s++) {
        UNROLL
        for (uint32_t i = 0; i < 4; i++) /* 8 outputs, then the others; half by half */
            store_vector(to + s * 128 + i * 32, widen_half(from + s * 64 + i % 2 * 32, i / 2));
    }
    return to;
}

#include "engine/cpu/x86/avx2_conv.h"

static const mona_isa scatter_by = {.unpack_row = unpack_row};

static void conv_row(const mona_conv_row *row)
{
    conv_with(row, &scatter_by);
}

MONA_NAMED_ISA(avx2);
