// SPDX-License-Identifier: Apache-2.0
/* Row programs that AMX shares with AVX-512. Private to engine/cpu. */
#ifndef MONA_AVX512_H
#define MONA_AVX512_H

#include "engine/cpu/isa_table.h"

MONA_DECLARE_ISA(avx512)

#endif
