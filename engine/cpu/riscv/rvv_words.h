// SPDX-License-Identifier: Apache-2.0
/* The vector type of 16 words on RISC-V's vector extension 1.0, with the operations that
 * vector_curves.h lists. It is one of the extension's own, as kernels have it in local variables
 * only; a table stays in memory, from where a register is loaded. */
#ifndef MONA_RVV_WORDS_H
#define MONA_RVV_WORDS_H

#include "engine/cpu/riscv/rvv_vector.h"

enum { WORDS = 16 };

typedef vint16m2_t vw;
typedef const int16_t *vw_table;

INLINE vw vw_set(int16_t x)
{
    return __riscv_vmv_v_x_i16m2(x, WORDS);
}

/* By bytes, which may lie anywhere. */
INLINE vw vw_load(const uint8_t *p)
{
    return __riscv_vreinterpret_v_i8m2_i16m2(__riscv_vle8_v_i8m2((const int8_t *)p, 2 * WORDS));
}

INLINE void vw_store(uint8_t *p, vw v)
{
    __riscv_vse8_v_i8m2((int8_t *)p, __riscv_vreinterpret_v_i16m2_i8m2(v), 2 * WORDS);
}

INLINE vw vw_load_bytes(const uint8_t *p)
{
    const vuint16m2_t v = __riscv_vzext_vf2_u16m2(__riscv_vle8_v_u8m1(p, WORDS), WORDS);
    return __riscv_vreinterpret_v_u16m2_i16m2(v);
}

INLINE void vw_store_bytes(uint8_t *p, vw v)
{
    __riscv_vse8_v_i8m1((int8_t *)p, __riscv_vnsra_wx_i8m1(v, 0, WORDS), WORDS);
}

#define VW_BINARY(name, operation)                                                                 \
    INLINE vw name(vw a, vw b)                                                                     \
    {                                                                                              \
        return operation(a, b, WORDS);                                                             \
    }
VW_BINARY(vw_add, __riscv_vadd_vv_i16m2)
VW_BINARY(vw_add_saturated, __riscv_vsadd_vv_i16m2)
VW_BINARY(vw_and, __riscv_vand_vv_i16m2)
VW_BINARY(vw_min, __riscv_vmin_vv_i16m2)
VW_BINARY(vw_max, __riscv_vmax_vv_i16m2)

INLINE vw vw_scaled(vw a, vw b)
{
    return __riscv_vsmul_vv_i16m2(a, b, __RISCV_VXRM_RNU, WORDS);
}

INLINE vw vw_left(vw a, uint32_t bits)
{
    return __riscv_vsll_vx_i16m2(a, bits, WORDS);
}

INLINE vw vw_right(vw a, uint32_t bits)
{
    const vuint16m2_t u = __riscv_vreinterpret_v_i16m2_u16m2(a);
    return __riscv_vreinterpret_v_u16m2_i16m2(__riscv_vsrl_vx_u16m2(u, bits, WORDS));
}

INLINE vw vw_right_signed(vw a, uint32_t bits)
{
    return __riscv_vsra_vx_i16m2(a, bits, WORDS);
}

INLINE vw_table vw_table_of(const int16_t *t)
{
    return t;
}

INLINE vw vw_look(vw_table table, vw index)
{
    const vint16m2_t t = __riscv_vle16_v_i16m2(table, WORDS);
    return __riscv_vrgather_vv_i16m2(t, __riscv_vreinterpret_v_i16m2_u16m2(index), WORDS);
}

#endif
