// SPDX-License-Identifier: Apache-2.0
/* Row programs for AVX2 with VNNI in 256-bit registers, for CPUs without AVX-512.
 *
 * vpdpbusd takes 4 unsigned x 4 signed bytes a lane, so a step is an operand as it lies in memory.
 * Only S8 sources are converted: they are offset, s + 128 = s ^ 0x80, and the accumulators start at
 * mona_conv.unsigned_bias. This is exact: s32 arithmetic is modulo 2^32, and the true sum fits. */
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

enum { ELEMENT = 1 };

INLINE __m256i dot(__m256i acc, __m256i a, __m256i b)
{
    return _mm256_dpbusd_avx_epi32(acc, a, b);
}

/* Flips the sign bits of count bytes. Up to 31 more are read and written. */
static void convert_elements(uint8_t *to, const uint8_t *from, uint32_t count, bool is_signed)
{
    const __m256i flip = _mm256_set1_epi8(is_signed ? -128 : 0);
    for (uint32_t i = 0; i < count; i += 32) {
        store_vector(to + i, _mm256_xor_si256(load_vector(from + i), flip));
    }
}

INLINE const uint8_t *convert_weights(uint8_t *to, const uint8_t *from, uint32_t steps)
{
    (void)to, (void)steps;
    return from;
}

#include "engine/cpu/x86/avx2_conv.h"

static const mona_isa scatter_by = {.unpack_row = unpack_row};

static void conv_row(const mona_conv_row *row)
{
    conv_with(row, &scatter_by);
}

MONA_NAMED_ISA(avxvnni);
