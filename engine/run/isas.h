// SPDX-License-Identifier: Apache-2.0
/* The instruction sets of this architecture's CPUs that mona has code for. Private to engine/. */
#ifndef MONA_ISAS_H
#define MONA_ISAS_H

#include "engine/cpu/cpu.h"
#include "engine/port/port.h"

/* From worst to best; two may share a name. A CPU can run those whose required features it all
 * has. */
static const struct {
    const mona_isa *isa;
    uint32_t needs;
} mona_isas[] = {
    {&mona_isa_c, 0},
#if defined(__x86_64__)
    {&mona_isa_avx2, MONA_CPU_AVX2},
    {&mona_isa_avxvnni, MONA_CPU_AVXVNNI},
    {&mona_isa_avx512, MONA_CPU_AVX512},
    {&mona_isa_avx512_spare, MONA_CPU_AVX512 | MONA_CPU_SPARE_PORTS},
    {&mona_isa_amx, MONA_CPU_AVX512 | MONA_CPU_AMX},
#elif defined(__aarch64__)
    {&mona_isa_neon, MONA_CPU_NEON},
    {&mona_isa_dotprod, MONA_CPU_DOTPROD},
    {&mona_isa_i8mm, MONA_CPU_I8MM},
#elif defined(__ARM_FEATURE_MVE)
    {&mona_isa_mve, MONA_CPU_MVE},
#elif defined(__ARM_NEON)
    {&mona_isa_neon, MONA_CPU_NEON},
#elif defined(__ARM_FEATURE_DSP)
    {&mona_isa_dsp, MONA_CPU_DSP},
#elif defined(MONA_RVV_ROWS)
    {&mona_isa_rvv, MONA_CPU_RVV},
#endif
};

enum { MONA_ISAS = sizeof mona_isas / sizeof *mona_isas };

#endif
