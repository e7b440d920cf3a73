// SPDX-License-Identifier: Apache-2.0
/* Whose row kernels the table of each instruction set has. The tables themselves are made from this
 * (rows.h), and so are those that mona compile writes as C for a CPU that is not this one
 * (formats/compiler/program/cpu_target.c). */
#ifndef MONA_ISA_TABLE_H
#define MONA_ISA_TABLE_H

#include "engine/cpu/cpu.h"

/* Convolutions are its own. MONA_ISA_<isa> lists whose are depthwise convolutions, whose all other
 * rows, and whose curves; then what else mona_isa says of it. */
#define MONA_ISA_c c, c, c, .conv_scratch = MONA_SCRATCH
#define MONA_ISA_avx2                                                                              \
    avx2, avx2, avx2, .conv_scratch = MONA_SCRATCH_WINOGRAD, .winograd = true, .narrow_taps = 25,  \
                      .narrow_wide = true, .operand_8bit = 2, .operand_f16 = 4
#define MONA_ISA_avxvnni                                                                           \
    avxvnni, avxvnni, avxvnni, .conv_scratch = MONA_SCRATCH_TILES, .unsigned_bias = true,          \
                               .narrow_taps = 25, .operand_f16 = 4
#define MONA_ISA_avx512_OR_amx                                                                     \
    avx512, avx512, avx512, .conv_scratch = MONA_SCRATCH_TILES, .unsigned_bias = true,             \
                            .narrow_taps = 32, .narrow_rotated = true, .operand_f16 = 4,           \
                            .halves = true
#define MONA_ISA_avx512 MONA_ISA_avx512_OR_amx, .edges = true
#define MONA_ISA_amx MONA_ISA_avx512_OR_amx, .tiles = true
#define MONA_ISA_neon neon, neon, neon, .conv_scratch = MONA_SCRATCH_NEON
#define MONA_ISA_dotprod dotprod, neon, neon, .conv_scratch = MONA_SCRATCH_NEON
#define MONA_ISA_i8mm dotprod, neon, neon, .conv_scratch = MONA_SCRATCH_NEON, .step_8bit = 8
#define MONA_ISA_dsp dsp, c, c, .conv_scratch = MONA_SCRATCH_M
#define MONA_ISA_mve mve, mve, c, .conv_scratch = MONA_SCRATCH_M
#define MONA_ISA_rvv rvv, rvv, rvv, .conv_scratch = MONA_SCRATCH_M

/* KERNEL(row, whose) for every kernel that C for another CPU may name. */
#define MONA_ISA_KERNELS(KERNEL, conv, depthwise, rows)                                            \
    KERNEL(conv_row, conv)                                                                         \
    KERNEL(depthwise_row, depthwise)                                                               \
    KERNEL(pack_row, rows)                                                                         \
    KERNEL(unpack_row, rows)                                                                       \
    KERNEL(resize_row, rows)                                                                       \
    KERNEL(elementwise_row, rows)                                                                  \
    KERNEL(function_row, rows)                                                                     \
    KERNEL(normalise_row, rows)                                                                    \
    KERNEL(attention_row, rows)                                                                    \
    KERNEL(fold_row, rows)

/* Declares the row kernels of an instruction set. */
#define MONA_DECLARE(row, isa) void mona_##isa##_##row(const mona_##row *r);
#define MONA_DECLARE_ISA(isa)                                                                      \
    MONA_ISA_KERNELS(MONA_DECLARE, isa, isa, isa)                                                  \
    MONA_DECLARE(luma_row, isa)                                                                    \
    MONA_DECLARE(chroma_row, isa)

/* MONA_KERNEL(conv_row) is the bit of that kernel in a set of them. */
#define MONA_KERNEL_NUMBER(row, whose) MONA_NUMBER_##row,
enum { MONA_ISA_KERNELS(MONA_KERNEL_NUMBER, , , ) };
#define MONA_KERNEL(row) (1u << MONA_NUMBER_##row)

#endif
