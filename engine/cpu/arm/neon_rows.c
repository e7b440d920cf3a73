// SPDX-License-Identifier: Apache-2.0
/* Row programs for Advanced SIMD other than convolution. No later extension would make them
 * faster. */
#include "engine/cpu/arm/neon_vector.h"
#include "engine/cpu/arm/neon_words.h"
#include "engine/cpu/c/rows.h"
#include "engine/cpu/c/vector_curves.h"
#include "engine/cpu/c/vector_elementwise.h"
#include "engine/cpu/c/vector_fold.h"
#include "engine/cpu/c/vector_planes.h"
#include "engine/cpu/c/vector_resize.h"

#ifdef __aarch64__
/* tbl looks up 64 entries and gives 0 for larger indices. */
static void apply_table(uint8_t *p, size_t count, const uint8_t *table)
{
    const uint8x16x4_t parts[4] = {vld1q_u8_x4(table), vld1q_u8_x4(table + 64),
                                   vld1q_u8_x4(table + 128), vld1q_u8_x4(table + 192)};
    for (; count >= 16; count -= 16, p += 16) {
        v16 index = load16(p), found = vqtbl4q_u8(parts[0], index);
        UNROLL
        for (int i = 1; i < 4; i++) {
            index = vsubq_u8(index, set16(64));
            found = vorrq_u8(found, vqtbl4q_u8(parts[i], index));
        }
        store16(p, found);
    }
    for (size_t i = 0; i < count; i++)
        p[i] = table[p[i]];
}

#include "engine/cpu/c/vector_attention.h"
#include "engine/cpu/c/vector_functions.h"
#include "engine/cpu/c/vector_normalise.h"
#else
/* On ARMv7-A, vectors of fp32 lose the subnormals whose signs GELU keeps, and its tbl would take 16
 * instructions for 8 bytes: C does it, and normalisation and attention too. */
#define function_row mona_c_function_row
#define normalise_row mona_c_normalise_row
#define attention_row mona_c_attention_row
#endif

MONA_NAMED(neon, pack_row)
MONA_NAMED(neon, unpack_row)
MONA_NAMED(neon, resize_row)
MONA_NAMED(neon, elementwise_row)
MONA_NAMED(neon, function_row)
MONA_NAMED(neon, normalise_row)
MONA_NAMED(neon, attention_row)
MONA_NAMED(neon, fold_row)
MONA_NAMED(neon, luma_row)
MONA_NAMED(neon, chroma_row)
