// SPDX-License-Identifier: Apache-2.0
/* The AI Core of dav-m100: its instructions, the place of their operands, and who executes them.
 *
 * An AI Core program is a sequence of instructions. It moves tiles GM -> L1 -> L0A / L0B,
 * multiplies them into L0C, drains L0C into UB, works on fp16 vectors in UB and stores to L1 or GM.
 * There are six pipes: S, V, M, MTE1, MTE2 and MTE3. Each runs its instructions in order; between
 * pipes only flags set an order.
 *
 * Programs in ops/ascend emit their instructions on an ac_core, which passes each to its taker: the
 * reference, which executes it; the model of the 310, which also checks and times it; or a
 * recorder. Operands are addresses, never pointers: only the taker knows what memory lies behind
 * them, if any.
 *
 * fp16 values are uint16_t bit patterns. All fp16 results are rounded to nearest even and saturate
 * to +-65504, as in the 310's saturation mode. Infinities saturate, too, and a NaN becomes 0;
 * finite operands give neither. vmax is a > b ? a : b and vmin a < b ? a : b, which settles the
 * sign of zeros. */
#ifndef AC_AICORE_H
#define AC_AICORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/aicore/opcodes.h"
#include "engine/target.h"

/* ---- addresses ------------------------------------------------------------------------------ */

/* Where operands lie. Constants lie in global memory and, those that instructions read, in L1, to
 * which a copy whose operands both are constants loads them; nothing else writes there. From AC_GM
 * on, every buffer of global memory that a program is given is a space of its own: inputs, outputs,
 * maps. */
typedef enum ac_space {
    AC_L1,
    AC_L0A,
    AC_L0B,
    AC_L0C,
    AC_UB,
    AC_BUFFERS, /* those above are the core's own */
    AC_CONSTANTS = AC_BUFFERS,
    AC_GM,
    AC_SPACES = AC_GM + 2 * MONA_MAX_IO + 1
} ac_space;

/* A space in the upper 16 bits and an offset in bytes, so that sums of an address and bytes are
 * addresses. The offset modulo 32 is the address's. */
typedef uint64_t ac_address;

enum { AC_OFFSET_BITS = 48, AC_OPERANDS = 3, AC_CONFIGS = 3 };
#define AC_NOWHERE UINT64_MAX

static inline ac_address ac_at(ac_space space, uint64_t offset)
{
    return (uint64_t)space << AC_OFFSET_BITS | offset;
}

static inline ac_space ac_space_of(ac_address at)
{
    return (ac_space)(at >> AC_OFFSET_BITS);
}

static inline uint64_t ac_offset_of(ac_address at)
{
    return at & (((uint64_t)1 << AC_OFFSET_BITS) - 1);
}

static inline bool ac_in_gm(ac_address at)
{
    return ac_space_of(at) >= AC_GM;
}

/* ---- operands ------------------------------------------------------------------------------- */

typedef enum ac_event { AC_EVENT0, AC_EVENT1, AC_EVENT2, AC_EVENT3 } ac_event;

enum {
    AC_BLOCK = 32,   /* bytes: the unit of copies and vectors */
    AC_REPEAT = 256, /* bytes that one vector repeat processes */
    AC_MAX_REPEAT = 255,
    AC_MAX_MKN = 4095,
    AC_MAX_BIAS = 255,   /* bursts of BIAS_L0C, one for each column of fractals, and rows in each */
    AC_SCALAR_STEPS = 4, /* of the scalar unit for one element: load, work, store, count */
};

/* Burst copies between buffers; lengths and gaps in 32-byte blocks. */
typedef struct ac_copy {
    uint16_t bursts;           /* 1..4095 */
    uint16_t blocks;           /* in one burst, 1..65535 */
    uint16_t src_gap, dst_gap; /* from the end of a burst to the start of the next */
} ac_copy;

/* load3d. The chip's padding registers are not needed, as rows in L1 contain their zero columns.
 * Fractal r, 0 <= r < repeat, is written at dst + r * jump fractals.
 *
 * rows 0: repeat mode 1, along output pixels, for one input row and one position of the filter. Row
 * m of fractal r belongs to pixel x = 16 r + m of the output row. It takes the elements of a
 * fractal's row from the input row: as many columns of c0 channels each, `dilation` apart, the
 * first being column x * stride + column.
 *
 * Else: repeat mode 0, along K, for 16 pixels. The picture has `rows` rows of `columns` columns,
 * one after another, and a filter of as many rows, whose repeat / rows columns are `dilation`
 * apart. Its positions, row by row, are the fractals. Pixel 0 is at column `column` of row 0 and
 * each next one `stride` columns further on, or at column 0 of the next row if its filter would
 * leave this one. Rows below the picture read as zero. */
typedef struct ac_load3d {
    uint16_t column;  /* input column of output pixel 0 at the first filter position, in the row */
    uint16_t columns; /* columns of the row; those beyond read as zero */
    uint8_t stride;   /* 1..63 */
    uint8_t dilation; /* 1..255 */
    uint8_t c0;       /* elements of a column; along K those of a fractal's row */
    uint8_t element;  /* bytes of an element, 1 or 2 */
    uint8_t repeat;   /* 1..255; along K a multiple of rows */
    uint8_t jump;     /* 1..127, in fractals */
    uint8_t rows;     /* 0..255 */
} ac_load3d;

/* Columns of the filter that load3d walks along K, and those of the picture that it spans. */
static inline uint32_t ac_load3d_taps(const ac_load3d *l)
{
    return l->rows ? l->repeat / l->rows : 1;
}

static inline uint32_t ac_load3d_span(const ac_load3d *l)
{
    return (ac_load3d_taps(l) - 1) * l->dilation + 1;
}

/* Rows of A, elements of K and columns of B of one mmad, each 1..4095. */
typedef struct ac_product {
    uint32_t m, k, n;
    bool from_zero; /* else the product is added to what L0C holds */
} ac_product;

/* A vector instruction works `repeat` times on 8 blocks of 32 bytes: 128 elements of f16 or 64 of
 * f32. A conversion counts in its wider type; the narrower one has half as many blocks. Strides are
 * in blocks of 32 bytes; a stride of 0 uses the same block again and is not allowed for dst. Only
 * the first `lanes` elements of every repeat are written; dst keeps what it held in the others. */
typedef struct ac_vector {
    uint8_t repeat;                         /* 1..255 */
    uint8_t lanes;                          /* 1..128 (f32: 64) */
    uint8_t dst_block, a_block, b_block;    /* from block to block within a repeat */
    uint8_t dst_repeat, a_repeat, b_repeat; /* from repeat to repeat */
} ac_vector;

/* One side of a transpose: 16 blocks, and how many blocks further on the next repeat works. With 8
 * bits a block's lower or upper half. */
typedef struct ac_turned {
    ac_address at[AC_FRACTAL];
    uint32_t repeat;
    bool high;
} ac_turned;

/* The scalar unit, which does not reach global memory, copies `count` elements, one after another:
 * element i lies at a + i * src_step and goes to dst + i * dst_step. */
typedef struct ac_move {
    uint32_t count;
    uint32_t bytes;              /* of an element, 1 or 2 */
    uint32_t dst_step, src_step; /* bytes */
} ac_move;

/* The scalar unit writes the `bytes` low bytes of a value `count` times, `step` bytes apart. */
typedef struct ac_fill {
    uint32_t count, bytes, step, value;
} ac_fill;

/* The scalar unit's cost of work that has no program yet and that the caller does itself: bytes
 * written, and steps. This is an estimate, not an instruction, and cannot be recorded. */
typedef struct ac_work {
    size_t bytes;
    uint32_t steps;
} ac_work;

typedef struct ac_flag {
    ac_pipe src, dst;
    ac_event event;
} ac_flag;

/* ---- instructions --------------------------------------------------------------------------- */

/* Operands that an instruction does not have are unset. */
typedef struct ac_instruction {
    ac_opcode opcode;
    bool relu;      /* DRAIN */
    uint16_t value; /* DUP */
    float scalar;   /* VECS; for f16 it is first rounded to fp16 */
    ac_address dst, a, b;
    union {
        /* COPY. DRAIN: bursts of `blocks` fractals; src_gap is in fractals, dst_gap in blocks. */
        ac_copy copy;
        uint32_t fractals; /* LOAD2D */
        ac_load3d load3d;
        ac_product product; /* MMAD; BIAS_L0C: 1 + k rows of fractals of m x n sums */
        ac_vector vector;
        struct {
            const ac_turned *to, *from;
            uint8_t repeat;
        } turn; /* element j of block i of `to` is element i of block j of `from` */
        ac_move move;
        ac_fill fill;
        ac_work work;
        ac_flag flag; /* BARRIER: src */
        uint32_t op;  /* OPERATOR: of the model */
    };
} ac_instruction;

/* A value of an instruction, which lies at `offset` in ac_instruction, and its bits of the config
 * words, which the chip's registers take. */
typedef struct ac_field {
    const char *name;
    uint16_t offset;
    uint8_t size, word, bit, bits;
    uint32_t low, high; /* the least and the most */
} ac_field;

/* What an instruction is (opcodes.c). */
typedef struct ac_operation {
    const char *name; /* "copy_gm_l1", ... */
    ac_pipe pipe;
    uint8_t operands; /* how many of dst, a and b it has, in this order */
    /* Of each: bits of ac_space that it may lie in, that of AC_GM for all its buffers; and of
     * vectors the bytes of an element. */
    uint8_t spaces[AC_OPERANDS], width[AC_OPERANDS];
    const ac_field *fields;
    uint32_t field_count;
} ac_operation;

extern const ac_operation ac_operations[AC_OPCODES];

/* The config words of an instruction but for patterns (program.h), and back. Fields that it does
 * not use are left as they are. */
void ac_pack(uint64_t config[AC_CONFIGS], const ac_instruction *instruction);
void ac_unpack(ac_instruction *instruction, const uint64_t config[AC_CONFIGS]);

/* Between GM, L1 and UB. */
static inline bool ac_is_copy(ac_opcode op)
{
    return op >= AC_OP_COPY && op < AC_OP_LOAD2D;
}

static inline bool ac_is_mmad(ac_opcode op)
{
    return op >= AC_OP_MMAD && op < AC_OP_BIAS_L0C;
}

static inline bool ac_is_drain(ac_opcode op)
{
    return op >= AC_OP_DRAIN && op < AC_OP_DUP;
}

/* Has an ac_vector. */
static inline bool ac_is_vector(ac_opcode op)
{
    return op >= AC_OP_DUP && op < AC_OP_TRANSPOSE;
}

static inline bool ac_is_vec2(ac_opcode op)
{
    return op >= AC_OP_VEC2 && op < AC_OP_VECS;
}

static inline bool ac_is_vecs(ac_opcode op)
{
    return op >= AC_OP_VECS && op < AC_OP_VCONV;
}

static inline bool ac_turns(ac_opcode op)
{
    return op == AC_OP_TRANSPOSE || op == AC_OP_TRANSPOSE_B8;
}

/* Whether it loads constants to their place in L1. */
static inline bool ac_loads_constants(const ac_instruction *i)
{
    return i->opcode == AC_OP_COPY + AC_GM_L1 && ac_space_of(i->dst) == AC_CONSTANTS;
}

/* ---- a core --------------------------------------------------------------------------------- */

/* The bytes behind a space. */
typedef struct ac_memory {
    uint8_t *bytes;
    size_t size;
    bool writable;
} ac_memory;

typedef struct ac_core ac_core;
struct ac_core {
    const ac_target *target;
    void (*take)(ac_core *, const ac_instruction *);
    ac_memory memory[AC_SPACES];
    struct ac_model *model; /* of the 310, where `take` is ac_model_take (model310.h) */
};

/* Executes an instruction at once, on core->memory. Flags and barriers do nothing. Operands must be
 * legal. */
void ac_execute(ac_core *core, const ac_instruction *instruction);

/* ---- emitting ------------------------------------------------------------------------------- */

static inline void ac_emit(ac_core *core, ac_instruction i)
{
    core->take(core, &i);
}

/* The spaces of the operands say which way. Constants come to L1 from their like. */
static inline void ac_emit_copy(ac_core *core, ac_address dst, ac_address src, ac_copy c)
{
    const bool from_ub = ac_space_of(src) == AC_UB, to_ub = ac_space_of(dst) == AC_UB;
    const ac_path path = from_ub         ? (ac_in_gm(dst) ? AC_UB_GM : AC_UB_L1)
                         : !to_ub        ? AC_GM_L1
                         : ac_in_gm(src) ? AC_GM_UB
                                         : AC_L1_UB;
    ac_emit(core, (ac_instruction){.opcode = AC_OP_COPY + path, .dst = dst, .a = src, .copy = c});
}

/* So many bytes side by side, rounded up to whole blocks. */
static inline void ac_emit_copy_bytes(ac_core *core, ac_address dst, ac_address src, uint64_t bytes)
{
    ac_emit_copy(core, dst, src,
                 (ac_copy){.bursts = 1, .blocks = (uint16_t)((bytes + AC_BLOCK - 1) / AC_BLOCK)});
}

static inline void ac_emit_load2d(ac_core *core, ac_address dst_l0b, ac_address src,
                                  uint32_t fractals)
{
    ac_emit(core, (ac_instruction){
                      .opcode = AC_OP_LOAD2D, .dst = dst_l0b, .a = src, .fractals = fractals});
}

static inline void ac_emit_load3d(ac_core *core, ac_address dst_l0a, ac_address row, ac_load3d l)
{
    ac_emit(core, (ac_instruction){.opcode = AC_OP_LOAD3D, .dst = dst_l0a, .a = row, .load3d = l});
}

static inline void ac_emit_mmad(ac_core *core, ac_mad type, ac_address c, ac_address a,
                                ac_address b, ac_product p)
{
    ac_emit(core,
            (ac_instruction){.opcode = AC_OP_MMAD + type, .dst = c, .a = a, .b = b, .product = p});
}

/* Fills all rows of m x n sums with the vectors of n biases. Several rows of fractals in a burst
 * take a vector each: if each vector of 16 lies in memory `copies` times, one after another, an
 * instruction fills as many rows of 16 columns; if once, one row of all columns. */
static inline void ac_emit_bias_l0c(ac_core *core, ac_address c, ac_address bias, uint32_t copies,
                                    uint32_t m, uint32_t n)
{
    enum { FRACTAL_BYTES = AC_FRACTAL * AC_FRACTAL * 4, VECTOR_BYTES = AC_FRACTAL * 4 };
    const uint32_t rows = (m + AC_FRACTAL - 1) / AC_FRACTAL, columns = copies > 1 ? AC_FRACTAL : n;
    for (uint32_t column = 0; column < n; column += columns)
        for (uint32_t row = 0; row < rows; row += copies) {
            const uint32_t left = rows - row, first = column / AC_FRACTAL;
            ac_emit(core, (ac_instruction){
                              .opcode = AC_OP_BIAS_L0C,
                              .dst = c + ((uint64_t)first * rows + row) * FRACTAL_BYTES,
                              .a = bias + (uint64_t)first * copies * VECTOR_BYTES,
                              .product = {m, (left < copies ? left : copies) - 1, columns, false}});
        }
}

/* deq16: 16 fp16 values in UB */
static inline void ac_emit_drain(ac_core *core, ac_drain kind, ac_address dst_ub,
                                 ac_address src_l0c, ac_copy c, ac_address deq16, bool relu)
{
    ac_emit(core, (ac_instruction){.opcode = AC_OP_DRAIN + kind,
                                   .dst = dst_ub,
                                   .a = src_l0c,
                                   .b = deq16,
                                   .copy = c,
                                   .relu = relu});
}

static inline void ac_emit_dup(ac_core *core, ac_address dst, uint16_t value, ac_vector v)
{
    ac_emit(core, (ac_instruction){.opcode = AC_OP_DUP, .dst = dst, .value = value, .vector = v});
}

static inline void ac_emit_vec2(ac_core *core, ac_vec2 op, ac_address dst, ac_address a,
                                ac_address b, ac_vector v)
{
    ac_emit(core,
            (ac_instruction){.opcode = AC_OP_VEC2 + op, .dst = dst, .a = a, .b = b, .vector = v});
}

static inline void ac_emit_vecs(ac_core *core, ac_vecs op, ac_address dst, ac_address a, float s,
                                ac_vector v)
{
    ac_emit(core, (ac_instruction){
                      .opcode = AC_OP_VECS + op, .dst = dst, .a = a, .scalar = s, .vector = v});
}

static inline void ac_emit_vconv(ac_core *core, ac_vconv kind, ac_address dst, ac_address src,
                                 ac_vector v)
{
    ac_emit(core,
            (ac_instruction){.opcode = AC_OP_VCONV + kind, .dst = dst, .a = src, .vector = v});
}

/* opcode: TRANSPOSE or TRANSPOSE_B8 */
static inline void ac_emit_transpose(ac_core *core, ac_opcode opcode, const ac_turned *to,
                                     const ac_turned *from, uint8_t repeat)
{
    ac_emit(core, (ac_instruction){.opcode = opcode, .turn = {to, from, repeat}});
}

static inline void ac_emit_move(ac_core *core, ac_address dst, ac_address src, ac_move m)
{
    ac_emit(core, (ac_instruction){.opcode = AC_OP_MOVE, .dst = dst, .a = src, .move = m});
}

static inline void ac_emit_fill(ac_core *core, ac_address dst, ac_fill f)
{
    ac_emit(core, (ac_instruction){.opcode = AC_OP_FILL, .dst = dst, .fill = f});
}

/* What follows is of operator `op` of the model. */
static inline void ac_emit_operator(ac_core *core, uint32_t op)
{
    ac_emit(core, (ac_instruction){.opcode = AC_OP_OPERATOR, .op = op});
}

static inline void ac_emit_set_flag(ac_core *core, ac_pipe src, ac_pipe dst, uint32_t event)
{
    ac_emit(core, (ac_instruction){.opcode = AC_OP_SET_FLAG, .flag = {src, dst, (ac_event)event}});
}

static inline void ac_emit_wait_flag(ac_core *core, ac_pipe src, ac_pipe dst, uint32_t event)
{
    ac_emit(core, (ac_instruction){.opcode = AC_OP_WAIT_FLAG, .flag = {src, dst, (ac_event)event}});
}

/* Later work on pipe dst waits for earlier work on pipe src. */
static inline void ac_emit_sync(ac_core *core, ac_pipe src, ac_pipe dst, uint32_t event)
{
    ac_emit_set_flag(core, src, dst, event);
    ac_emit_wait_flag(core, src, dst, event);
}

static inline void ac_emit_barrier(ac_core *core, ac_pipe pipe)
{
    ac_emit(core, (ac_instruction){.opcode = AC_OP_BARRIER, .flag = {.src = pipe}});
}

#endif
