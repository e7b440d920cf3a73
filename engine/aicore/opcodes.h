// SPDX-License-Identifier: Apache-2.0
/* The pipes and instructions of the AI Core by name. The replay kernel shares this list
 * (engine/ascend/kernel), so it is C++ too. */
#ifndef AC_OPCODES_H
#define AC_OPCODES_H

typedef enum ac_pipe {
    AC_PIPE_S,
    AC_PIPE_V,
    AC_PIPE_M,
    AC_PIPE_MTE1,
    AC_PIPE_MTE2,
    AC_PIPE_MTE3,
    AC_PIPE_ALL
} ac_pipe;

typedef enum ac_path { AC_GM_L1, AC_GM_UB, AC_L1_UB, AC_UB_L1, AC_UB_GM, AC_PATH_COUNT } ac_path;

/* Types of mmad: accumulator, A, B. */
typedef enum ac_mad { AC_MAD_S32U8S8, AC_MAD_S32S8S8, AC_MAD_F32F16F16, AC_MAD_COUNT } ac_mad;

/* Conversions of the L0C -> UB copy. */
typedef enum ac_drain { AC_DRAIN_F32_F16, AC_DRAIN_S32_F16_DEQ, AC_DRAIN_COUNT } ac_drain;

/* Vector instructions: their names, intrinsics and types of elements; half is fp16. Results are
 * rounded once, integers of 32 bits wrap, and conversions to integers round half to even and
 * saturate. APART: those without a form with all fields in one word. */
#define AC_VEC2_ROWS(X, APART)                                                                     \
    X(AC_VADD, "vadd", vadd, half)                                                                 \
    X(AC_VSUB, "vsub", vsub, half)                                                                 \
    X(AC_VMUL, "vmul", vmul, half)                                                                 \
    X(AC_VMAX, "vmax", vmax, half)                                                                 \
    X(AC_VMIN, "vmin", vmin, half)                                                                 \
    X(AC_VAND, "vand", vand, uint16_t)                                                             \
    X(AC_VOR, "vor", vor, uint16_t)                                                                \
    APART(AC_VADD_F32, "vadd_f32", vadd, float)                                                    \
    X(AC_VMUL_F32, "vmul_f32", vmul, float)                                                        \
    X(AC_VSUB_F32, "vsub_f32", vsub, float)                                                        \
    X(AC_VMAX_F32, "vmax_f32", vmax, float)                                                        \
    X(AC_VMIN_F32, "vmin_f32", vmin, float)                                                        \
    X(AC_VADD_S32, "vadd_s32", vadd, int32_t)                                                      \
    X(AC_VSUB_S32, "vsub_s32", vsub, int32_t)                                                      \
    X(AC_VMUL_S32, "vmul_s32", vmul, int32_t)                                                      \
    X(AC_VMAX_S32, "vmax_s32", vmax, int32_t)                                                      \
    X(AC_VMIN_S32, "vmin_s32", vmin, int32_t)
/* a vector and a scalar */
#define AC_VECS_ROWS(X)                                                                            \
    X(AC_VADDS, "vadds", vadds, half)                                                              \
    X(AC_VMULS, "vmuls", vmuls, half)                                                              \
    X(AC_VADDS_F32, "vadds_f32", vadds, float)                                                     \
    X(AC_VMULS_F32, "vmuls_f32", vmuls, float)
/* to the first type */
#define AC_VCONV_ROWS(X)                                                                           \
    X(AC_F16_U8, vconv_f162u8, uint8_t, half)                                                      \
    X(AC_F16_S8, vconv_f162s8, int8_t, half)                                                       \
    X(AC_U8_F16, vconv_u82f16, half, uint8_t)                                                      \
    X(AC_S8_F16, vconv_s82f16, half, int8_t)                                                       \
    X(AC_F16_F32, vconv_f162f32, float, half)                                                      \
    X(AC_F32_F16, vconv_f322f16, half, float)

#define AC_OF_ROW(op, ...) op,
typedef enum ac_vec2 { AC_VEC2_ROWS(AC_OF_ROW, AC_OF_ROW) AC_VEC2_COUNT } ac_vec2;
typedef enum ac_vecs { AC_VECS_ROWS(AC_OF_ROW) AC_VECS_COUNT } ac_vecs;
typedef enum ac_vconv { AC_VCONV_ROWS(AC_OF_ROW) AC_VCONV_COUNT } ac_vconv;

typedef enum ac_opcode {
    AC_OP_NONE,
    AC_OP_COPY,                                     /* + ac_path: copy_gm_to_cbuf, ... */
    AC_OP_LOAD2D = AC_OP_COPY + AC_PATH_COUNT,      /* load_cbuf_to_cb */
    AC_OP_LOAD3D,                                   /* img2col_cbuf_to_ca */
    AC_OP_MMAD,                                     /* + ac_mad: mad */
    AC_OP_BIAS_L0C = AC_OP_MMAD + AC_MAD_COUNT,     /* broadcast_ub_to_cc */
    AC_OP_DRAIN,                                    /* + ac_drain: copy_matrix_cc_to_ubuf */
    AC_OP_DUP = AC_OP_DRAIN + AC_DRAIN_COUNT,       /* vector_dup */
    AC_OP_VEC2,                                     /* + ac_vec2: vadd, ... */
    AC_OP_VECS = AC_OP_VEC2 + AC_VEC2_COUNT,        /* + ac_vecs: vadds, ... */
    AC_OP_VCONV = AC_OP_VECS + AC_VECS_COUNT,       /* + ac_vconv: vconv_f162u8, ... */
    AC_OP_TRANSPOSE = AC_OP_VCONV + AC_VCONV_COUNT, /* scatter_vnchwconv_b16 */
    AC_OP_TRANSPOSE_B8,                             /* scatter_vnchwconv_b8 */
    AC_OP_MOVE,
    AC_OP_FILL,
    AC_OP_WORK,
    AC_OP_SET_FLAG,
    AC_OP_WAIT_FLAG,
    AC_OP_BARRIER, /* pipe_barrier */
    AC_OPCODES,
    /* What a stream of instructions says besides. */
    AC_OP_OPERATOR = AC_OPCODES, /* those that follow are of an operator */
    AC_OP_TURN,                  /* a turn of a loop of a program begins */
} ac_opcode;

#endif
