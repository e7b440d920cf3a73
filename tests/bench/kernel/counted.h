// SPDX-License-Identifier: Apache-2.0
/* In place of cce.h: the replay kernel with its intrinsics as instructions that do nothing, to
 * count what the scalar unit executes. UB is at its own addresses, which counted.c maps. */
#ifndef MONA_COUNTED_H
#define MONA_COUNTED_H
#define MONA_CCE_H /* in place of it */

#include <stdbool.h>
#include <stdint.h>

#include "engine/aicore/opcodes.h"

#define __aicore__
#define __gm__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __ubuf__
#define CCE_KERNEL
typedef struct half {
    uint16_t bits;
} half;
typedef enum { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL } pipe_t;
typedef enum { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3 } event_t;
enum { PAD_NONE, CSIZE0 = 0, CSIZE1, inc = 0, VA0 = 0, VA1, VA2, VA3 };
enum { CRMODE_F32toF16_NONE = 1, CRMODE_F32toF16_RELU, CRMODE_S32toF16_DEQSCALE_SPR = 7 };

#define cce_load(T, at) (*(T *)(at))
#define cce_store(T, at, value) (*(T *)(at) = (value))

void counted_copy(uint64_t dst, uint64_t src, uint64_t config);

#define ONE(a) __asm__ volatile("nop" ::"r"(a))
#define TWO(a, b) __asm__ volatile("nop" ::"r"(a), "r"(b))
#define THREE(a, b, c) __asm__ volatile("nop" ::"r"(a), "r"(b), "r"(c))
#define FOUR(a, b, c, d) __asm__ volatile("nop" ::"r"(a), "r"(b), "r"(c), "r"(d))

#define get_block_idx() ((uint64_t)0)
#define pipe_barrier(pipe) __asm__ volatile("nop")
#define set_flag(src, dst, event) ONE(event)
#define wait_flag(src, dst, event) ONE(event)
#define set_fmatrix(config) ONE(config)
#define set_deqscale(config) ONE(config)
#define get_ctrl() ((uint64_t)0)
#define set_ctrl(value) ONE(value)
#define set_vector_mask(high, low) TWO(high, low)
#define set_va_reg_sb(va, list) __asm__ volatile("nop" ::"r"(list) : "memory")
#define copy_gm_to_cbuf(dst, src, config, pad) THREE(dst, src, config)
#define copy_gm_to_ubuf(dst, src, config) counted_copy((uint64_t)(dst), (uint64_t)(src), config)
#define copy_cbuf_to_ubuf(dst, src, config) THREE(dst, src, config)
#define copy_ubuf_to_cbuf(dst, src, config) THREE(dst, src, config)
#define copy_ubuf_to_gm(dst, src, config) THREE(dst, src, config)
#define load_cbuf_to_cb(dst, src, first, repeat, stride, sid, transpose, mode)                     \
    THREE(dst, src, (uint64_t)(repeat))
#define img2col_cbuf_to_ca(dst, src, xm, xt, size) FOUR(dst, src, xm, xt)
#define mad(c, a, b, config) FOUR(c, a, b, config)
#define broadcast_ub_to_cc(dst, src, config) THREE(dst, src, config)
#define copy_matrix_cc_to_ubuf(dst, src, config, mode) THREE(dst, src, config)
/* The fields of a vector instruction in one word, or each by itself. */
#define WHOLE(config) (config)
#define APART(repeat, dst, a, b, dst_repeat, a_repeat, b_repeat)                                   \
    ((uint64_t)(dst) | (uint64_t)(a) << 8 | (uint64_t)(b) << 16 | (uint64_t)(dst_repeat) << 24 |   \
     (uint64_t)(a_repeat) << 32 | (uint64_t)(b_repeat) << 40 | (uint64_t)(repeat) << 56)
#define EIGHTH(a, b, c, d, e, f, g, h, ...) h
#define vadd(dst, a, b, ...)                                                                       \
    FOUR(dst, a, b, EIGHTH(__VA_ARGS__, APART, , , , , , WHOLE, )(__VA_ARGS__))
#define vsub vadd
#define vmul vadd
#define vmax vadd
#define vmin vadd
#define vand vadd
#define vor vadd
#define vadds(dst, src, scalar, config)                                                            \
    do {                                                                                           \
        __typeof__(scalar) held = scalar;                                                          \
        __asm__ volatile("nop" ::"r"(dst), "r"(src), "m"(held), "r"(config));                      \
    } while (0)
#define vmuls vadds
#define vector_dup(dst, value, config)                                                             \
    do {                                                                                           \
        const half held = value;                                                                   \
        THREE(dst, (uint32_t)held.bits, config);                                                   \
    } while (0)
#define vconv_f162u8(dst, src, config) THREE(dst, src, config)
#define vconv_f162s8 vconv_f162u8
#define vconv_u82f16 vconv_f162u8
#define vconv_s82f16 vconv_f162u8
#define vconv_f162f32 vconv_f162u8
#define vconv_f322f16 vconv_f162u8
#define scatter_vnchwconv_b16(dst, src, config) ONE(config)
#define scatter_vnchwconv_b8(dst, src, config, a, b) ONE(config)

#endif
