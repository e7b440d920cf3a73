// SPDX-License-Identifier: Apache-2.0
/* The intrinsics of dav-m100 that the replay kernel uses, for all compilers but the vendor's, which
 * has them built in. Names, arguments and their order are the vendor's; the bodies hand each
 * instruction to an emulated core (emulation.h).
 *
 * With clang, each of a core's buffers has its own address space, as with the vendor's compiler, so
 * code that mixes pointers into them does not compile. Other compilers take the kernel as plain
 * C. */
#ifndef MONA_CCE_H
#define MONA_CCE_H

#ifdef __CCE_AICORE__

#define __aicore__ [aicore]
#define CCE_KERNEL extern "C" __global__ __aicore__
/* The scalar unit's own accesses. */
#define cce_load(T, at) (*(__ubuf__ T *)(at))
#define cce_store(T, at, value) (*(__ubuf__ T *)(at) = (value))

#else

#include <stdbool.h>
#include <stdint.h>

#include "engine/aicore/opcodes.h"
#include "engine/ascend/kernel/emulation.h"

#define __aicore__
#ifdef __cplusplus
#define CCE_KERNEL extern "C"
#else
#define CCE_KERNEL
#endif

typedef struct half {
    uint16_t bits;
} half;

#ifdef __clang__
#define __gm__ __attribute__((address_space(1)))
#define __cbuf__ __attribute__((address_space(2)))
#define __ca__ __attribute__((address_space(3)))
#define __cb__ __attribute__((address_space(4)))
#define __cc__ __attribute__((address_space(5)))
#define __ubuf__ __attribute__((address_space(6)))
#define CCE_NAME(name, T) __attribute__((overloadable)) name
#else
#define __gm__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __ubuf__
#define CCE_NAME(name, T) name##_##T
#endif

typedef enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL } pipe_t;
typedef enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3 } event_t;
typedef enum pad_t { PAD_NONE } pad_t;
typedef enum csize_t { CSIZE0, CSIZE1 } csize_t;
typedef enum addr_cal_mode_t { inc } addr_cal_mode_t;
typedef enum ub_addr8_t { VA0, VA1, VA2, VA3 } ub_addr8_t;
typedef enum ConvRelu_t {
    CRMODE_F32toF16_NONE = 1,
    CRMODE_F32toF16_RELU = 2,
    CRMODE_S32toF16_DEQSCALE_SPR = 7
} ConvRelu_t;

/* ---- the scalar unit ------------------------------------------------------------------------ */

#define CCE_SCALAR(T)                                                                              \
    static inline T cce_load_##T(uint64_t at)                                                      \
    {                                                                                              \
        T value;                                                                                   \
        cce_scalar_load(at, &value, sizeof value);                                                 \
        return value;                                                                              \
    }                                                                                              \
    static inline void cce_store_##T(uint64_t at, T value)                                         \
    {                                                                                              \
        cce_scalar_store(at, &value, sizeof value);                                                \
    }
CCE_SCALAR(uint64_t)
CCE_SCALAR(uint16_t)
CCE_SCALAR(uint8_t)
CCE_SCALAR(float)
CCE_SCALAR(half)
#define cce_load(T, at) cce_load_##T(at)
#define cce_store(T, at, value) cce_store_##T(at, value)

static inline uint64_t get_block_idx(void)
{
    return cce_block();
}

static inline void pipe_barrier(pipe_t pipe)
{
    cce_flag(AC_OP_BARRIER, pipe, PIPE_S, 0);
}

static inline void set_flag(pipe_t src, pipe_t dst, event_t event)
{
    cce_flag(AC_OP_SET_FLAG, src, dst, event);
}

static inline void wait_flag(pipe_t src, pipe_t dst, event_t event)
{
    cce_flag(AC_OP_WAIT_FLAG, src, dst, event);
}

static inline void set_fmatrix(uint64_t config)
{
    cce_register(CCE_FMATRIX, config);
}

static inline uint64_t get_ctrl(void)
{
    return cce_control();
}

static inline void set_ctrl(uint64_t value)
{
    cce_register(CCE_CONTROL, value);
}

static inline void set_deqscale(uint64_t config)
{
    cce_register(CCE_DEQSCALE, config);
}

static inline void set_vector_mask(uint64_t high, uint64_t low)
{
    cce_register(CCE_MASK_HIGH, high);
    cce_register(CCE_MASK_LOW, low);
}

/* 8 addresses in UB. */
static inline void set_va_reg_sb(ub_addr8_t va, uint64_t *addresses)
{
    cce_va(va, addresses);
}

/* ---- copies --------------------------------------------------------------------------------- */

static inline void copy_gm_to_cbuf(__cbuf__ void *dst, __gm__ void *src, uint64_t config, pad_t pad)
{
    (void)pad;
    cce_issue(AC_OP_COPY + AC_GM_L1, (uint64_t)dst, (uint64_t)src, 0, config, 0);
}

static inline void copy_gm_to_ubuf(__ubuf__ void *dst, __gm__ void *src, uint64_t config)
{
    cce_issue(AC_OP_COPY + AC_GM_UB, (uint64_t)dst, (uint64_t)src, 0, config, 0);
}

static inline void copy_cbuf_to_ubuf(__ubuf__ void *dst, __cbuf__ void *src, uint64_t config)
{
    cce_issue(AC_OP_COPY + AC_L1_UB, (uint64_t)dst, (uint64_t)src, 0, config, 0);
}

static inline void copy_ubuf_to_cbuf(__cbuf__ void *dst, __ubuf__ void *src, uint64_t config)
{
    cce_issue(AC_OP_COPY + AC_UB_L1, (uint64_t)dst, (uint64_t)src, 0, config, 0);
}

static inline void copy_ubuf_to_gm(__gm__ void *dst, __ubuf__ void *src, uint64_t config)
{
    cce_issue(AC_OP_COPY + AC_UB_GM, (uint64_t)dst, (uint64_t)src, 0, config, 0);
}

/* ---- the cube ------------------------------------------------------------------------------- */

static inline void load_cbuf_to_cb(__cb__ uint8_t *dst, __cbuf__ uint8_t *src, uint16_t first,
                                   uint8_t repeat, uint16_t stride, uint8_t sid, bool transpose,
                                   addr_cal_mode_t mode)
{
    (void)sid, (void)transpose, (void)mode;
    cce_issue(AC_OP_LOAD2D, (uint64_t)dst, (uint64_t)src, 0,
              first | (uint64_t)repeat << 16 | (uint64_t)stride << 24, 0);
}

#define CCE_LOAD3D(T)                                                                              \
    static inline void CCE_NAME(img2col_cbuf_to_ca, T)(__ca__ T * dst, __cbuf__ T * src,           \
                                                       uint64_t xm, uint64_t xt, csize_t size)     \
    {                                                                                              \
        cce_load3d((uint64_t)dst, (uint64_t)src, xm, xt, sizeof(T), size == CSIZE1);               \
    }
CCE_LOAD3D(uint8_t)
CCE_LOAD3D(half)

#define CCE_MAD(C, A, B, op)                                                                       \
    static inline void CCE_NAME(mad, A)(__cc__ C * c, __ca__ A * a, __cb__ B * b, uint64_t config) \
    {                                                                                              \
        cce_issue(op, (uint64_t)c, (uint64_t)a, (uint64_t)b, config, 0);                           \
    }
CCE_MAD(int32_t, uint8_t, int8_t, AC_OP_MMAD + AC_MAD_S32U8S8)
CCE_MAD(int32_t, int8_t, int8_t, AC_OP_MMAD + AC_MAD_S32S8S8)
CCE_MAD(float, half, half, AC_OP_MMAD + AC_MAD_F32F16F16)

static inline void broadcast_ub_to_cc(__cc__ float *dst, __ubuf__ float *src, uint64_t config)
{
    cce_issue(AC_OP_BIAS_L0C, (uint64_t)dst, (uint64_t)src, 0, config, 0);
}

#define CCE_DRAIN(S, op)                                                                           \
    static inline void CCE_NAME(copy_matrix_cc_to_ubuf, S)(__ubuf__ half * dst, __cc__ S * src,    \
                                                           uint64_t config, ConvRelu_t mode)       \
    {                                                                                              \
        cce_issue(op, (uint64_t)dst, (uint64_t)src, 0, config, mode);                              \
    }
CCE_DRAIN(float, AC_OP_DRAIN + AC_DRAIN_F32_F16)
CCE_DRAIN(int32_t, AC_OP_DRAIN + AC_DRAIN_S32_F16_DEQ)

/* ---- vectors -------------------------------------------------------------------------------- */

#define CCE_VEC2(op, told, name, T)                                                                \
    static inline void CCE_NAME(name, T)(__ubuf__ T * dst, __ubuf__ T * a, __ubuf__ T * b,         \
                                         uint64_t config)                                          \
    {                                                                                              \
        cce_issue(AC_OP_VEC2 + op, (uint64_t)dst, (uint64_t)a, (uint64_t)b, config, 0);            \
    }
#define CCE_APART(op, told, name, T)
AC_VEC2_ROWS(CCE_VEC2, CCE_APART)

static inline void CCE_NAME(vadd, float)(__ubuf__ float *dst, __ubuf__ float *a, __ubuf__ float *b,
                                         uint8_t repeat, uint8_t dst_block, uint8_t a_block,
                                         uint8_t b_block, uint8_t dst_repeat, uint8_t a_repeat,
                                         uint8_t b_repeat)
{
    cce_issue(AC_OP_VEC2 + AC_VADD_F32, (uint64_t)dst, (uint64_t)a, (uint64_t)b,
              dst_block | (uint64_t)a_block << 8 | (uint64_t)b_block << 16 |
                  (uint64_t)dst_repeat << 24 | (uint64_t)a_repeat << 32 | (uint64_t)b_repeat << 40 |
                  (uint64_t)repeat << 56,
              0);
}

/* Scalars are passed as the bits that they have. */
static inline uint32_t cce_bits_half(half value)
{
    return value.bits;
}

static inline uint32_t cce_bits_float(float value)
{
    union {
        float value;
        uint32_t bits;
    } u;
    u.value = value;
    return u.bits;
}

#define CCE_VECS(op, told, name, T)                                                                \
    static inline void CCE_NAME(name, T)(__ubuf__ T * dst, __ubuf__ T * src, T scalar,             \
                                         uint64_t config)                                          \
    {                                                                                              \
        cce_issue(AC_OP_VECS + op, (uint64_t)dst, (uint64_t)src, 0, config, cce_bits_##T(scalar)); \
    }
AC_VECS_ROWS(CCE_VECS)

static inline void vector_dup(__ubuf__ half *dst, half value, uint64_t config)
{
    cce_issue(AC_OP_DUP, (uint64_t)dst, 0, 0, config, value.bits);
}

#define CCE_VCONV(op, name, D, S)                                                                  \
    static inline void name(__ubuf__ D *dst, __ubuf__ S *src, uint64_t config)                     \
    {                                                                                              \
        cce_issue(AC_OP_VCONV + op, (uint64_t)dst, (uint64_t)src, 0, config, 0);                   \
    }
AC_VCONV_ROWS(CCE_VCONV)

static inline void scatter_vnchwconv_b16(ub_addr8_t dst, ub_addr8_t src, uint64_t config)
{
    cce_transpose(dst, src, config, 2, false, false);
}

static inline void scatter_vnchwconv_b8(ub_addr8_t dst, ub_addr8_t src, uint64_t config,
                                        bool dst_high, bool src_high)
{
    cce_transpose(dst, src, config, 1, dst_high, src_high);
}

#ifndef __clang__
#define img2col_cbuf_to_ca(d, s, m, t, c)                                                          \
    _Generic((d), uint8_t *                                                                        \
             : img2col_cbuf_to_ca_uint8_t, half *                                                  \
             : img2col_cbuf_to_ca_half)(d, s, m, t, c)
#define mad(c, a, b, t)                                                                            \
    _Generic((a), uint8_t * : mad_uint8_t, int8_t * : mad_int8_t, half * : mad_half)(c, a, b, t)
#define copy_matrix_cc_to_ubuf(d, s, t, m)                                                         \
    _Generic((s), float *: copy_matrix_cc_to_ubuf_float, int32_t *: copy_matrix_cc_to_ubuf_int32_t)\
    (d, s, t, m)
#define vadd(d, a, b, ...)                                                                         \
    _Generic((d), half * : vadd_half, float * : vadd_float, int32_t * : vadd_int32_t)              \
    (d, a, b, __VA_ARGS__)
#define CCE_OF_THREE(name, d, a, b, t)                                                             \
    _Generic((d), half * : name##_half, float * : name##_float, int32_t * : name##_int32_t)        \
    (d, a, b, t)
#define vmul(d, a, b, t) CCE_OF_THREE(vmul, d, a, b, t)
#define vsub(d, a, b, t) CCE_OF_THREE(vsub, d, a, b, t)
#define vmax(d, a, b, t) CCE_OF_THREE(vmax, d, a, b, t)
#define vmin(d, a, b, t) CCE_OF_THREE(vmin, d, a, b, t)
#define vand(d, a, b, t) vand_uint16_t(d, a, b, t)
#define vor(d, a, b, t) vor_uint16_t(d, a, b, t)
#define vadds(d, a, s, t) _Generic((d), half * : vadds_half, float * : vadds_float)(d, a, s, t)
#define vmuls(d, a, s, t) _Generic((d), half * : vmuls_half, float * : vmuls_float)(d, a, s, t)
#endif

#endif
#endif
