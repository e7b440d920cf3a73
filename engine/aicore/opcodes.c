// SPDX-License-Identifier: Apache-2.0
/* What each instruction is: the one table that the proof, the reference, the model of the 310, the
 * disassembler, the makers of words and the emulated chip read. */
#include "engine/aicore/access.h"

#include "engine/libc.h"

/* ---- fields --------------------------------------------------------------------------------- */

#define FIELD(name, member, word, bit, bits, low, high)                                            \
    {                                                                                              \
        name, offsetof(ac_instruction, member), sizeof((ac_instruction *)0)->member, word, bit,    \
            bits, low, high                                                                        \
    }
#define COPY_FIELDS(blocks_name)                                                                   \
    FIELD("bursts", copy.bursts, 0, 4, 12, 1, 4095),                                               \
        FIELD(blocks_name, copy.blocks, 0, 16, 16, 1, 65535),                                      \
        FIELD("src_gap", copy.src_gap, 0, 32, 16, 0, 65535),                                       \
        FIELD("dst_gap", copy.dst_gap, 0, 48, 16, 0, 65535)
#define PRODUCT_FIELDS(low_k, high_k, high_n)                                                      \
    FIELD("m", product.m, 0, 0, 12, 1, AC_MAX_MKN),                                                \
        FIELD("k", product.k, 0, 12, 12, low_k, high_k),                                           \
        FIELD("n", product.n, 0, 24, 12, 1, high_n),                                               \
        FIELD("from_zero", product.from_zero, 0, 63, 1, 0, 1)
#define VECTOR_FIELDS(dst_repeat_bit)                                                              \
    FIELD("repeat", vector.repeat, 0, 56, 8, 1, AC_MAX_REPEAT),                                    \
        FIELD("lanes", vector.lanes, 1, 0, 8, 1, 255),                                             \
        FIELD("dst_block", vector.dst_block, 0, 0, 8, 0, 255),                                     \
        FIELD("dst_repeat", vector.dst_repeat, 0, dst_repeat_bit, 8, 0, 255)
#define SOURCE_FIELDS(source, block_bit, repeat_bit)                                               \
    FIELD(#source "_block", vector.source##_block, 0, block_bit, 8, 0, 255),                       \
        FIELD(#source "_repeat", vector.source##_repeat, 0, repeat_bit, 8, 0, 255)

static const ac_field copy[] = {COPY_FIELDS("blocks")}, drain[] = {COPY_FIELDS("fractals")};
static const ac_field load2d[] = {FIELD("fractals", fractals, 0, 16, 8, 1, AC_MAX_REPEAT)};
/* [1] also has the filter: stride of rows 6, columns of a fractal's row 12, rows of it 20, dilation
 * of rows 36, mode 52; [2] rows 16 and, which no register has, small channels 40. */
static const ac_field load3d[] = {FIELD("stride", load3d.stride, 1, 0, 6, 1, 63),
                                  FIELD("dilation", load3d.dilation, 1, 28, 8, 1, 255),
                                  FIELD("element", load3d.element, 2, 32, 8, 1, 2),
                                  FIELD("repeat", load3d.repeat, 1, 56, 8, 1, AC_MAX_REPEAT),
                                  FIELD("jump", load3d.jump, 1, 44, 7, 1, 127),
                                  FIELD("columns", load3d.columns, 2, 0, 16, 1, 32767),
                                  FIELD("column", load3d.column, 0, 32, 16, 0, 32767)};
static const ac_field mmad[] = {PRODUCT_FIELDS(1, AC_MAX_MKN, AC_MAX_MKN)};
static const ac_field bias[] = {PRODUCT_FIELDS(0, AC_MAX_MKN, (AC_MAX_BIAS * AC_FRACTAL))};
static const ac_field vec2[] = {VECTOR_FIELDS(24), SOURCE_FIELDS(a, 8, 32),
                                SOURCE_FIELDS(b, 16, 40)};
static const ac_field vec1[] = {VECTOR_FIELDS(32), SOURCE_FIELDS(a, 16, 40)};
static const ac_field dup[] = {VECTOR_FIELDS(32)};
/* [0] step of dst 0, of a 16; [1] upper halves of dst 0, of a 1; [2] patterns of dst 0, of a 32 */
static const ac_field turn[] = {FIELD("repeat", turn.repeat, 0, 56, 8, 1, AC_MAX_REPEAT)};
static const ac_field move[] = {FIELD("count", move.count, 0, 0, 32, 1, INT32_MAX),
                                FIELD("bytes", move.bytes, 0, 32, 8, 1, 2),
                                FIELD("dst_step", move.dst_step, 1, 0, 32, 0, UINT32_MAX),
                                FIELD("src_step", move.src_step, 1, 32, 32, 0, UINT32_MAX)};
static const ac_field fill[] = {FIELD("count", fill.count, 0, 0, 32, 1, INT32_MAX),
                                FIELD("bytes", fill.bytes, 0, 32, 8, 1, 4),
                                FIELD("step", fill.step, 1, 0, 32, 0, UINT32_MAX),
                                FIELD("value", fill.value, 1, 32, 32, 0, UINT32_MAX)};

/* ---- instructions --------------------------------------------------------------------------- */

enum {
    L1 = 1 << AC_L1 | 1 << AC_CONSTANTS,
    L0A = 1 << AC_L0A,
    L0B = 1 << AC_L0B,
    L0C = 1 << AC_L0C,
    UB = 1 << AC_UB,
    GM = 1 << AC_GM,
    ANYWHERE = (2 << AC_GM) - 1,
    BY_SCALAR = L1 | UB, /* in L1 by way of UB */
};

#define FIELDS(of) of, sizeof of / sizeof *of
#define COPY(path, name, pipe, to, from)                                                           \
    [AC_OP_COPY + path] = {name, AC_PIPE_##pipe, 2, {to, from}, {0}, FIELDS(copy)}
#define MMAD(type) [AC_OP_MMAD + type] = {"mmad", AC_PIPE_M, 3, {L0C, L0A, L0B}, {0}, FIELDS(mmad)}
#define DRAIN(kind)                                                                                \
    [AC_OP_DRAIN + kind] = {"drain", AC_PIPE_V, 3, {UB, L0C, UB}, {0}, FIELDS(drain)}
#define VECTOR(op, name, operands, fields, dst, a, b)                                              \
    [op] = {name, AC_PIPE_V, operands, {UB, UB, UB}, {dst, a, b}, FIELDS(fields)}
#define VEC2(op, name, intrinsic, T) VECTOR(AC_OP_VEC2 + op, name, 3, vec2, OF_##T, OF_##T, OF_##T),
#define VECS(op, name, intrinsic, T) VECTOR(AC_OP_VECS + op, name, 2, vec1, OF_##T, OF_##T, 0),
#define VCONV(op, intrinsic, D, S) VECTOR(AC_OP_VCONV + op, "vconv", 2, vec1, OF_##D, OF_##S, 0),

/* Bytes of an element. */
enum { OF_uint8_t = 1, OF_int8_t = 1, OF_half = 2, OF_uint16_t = 2, OF_float = 4, OF_int32_t = 4 };

const ac_operation ac_operations[AC_OPCODES] = {
    [AC_OP_NONE] = {.name = "nothing"},
    COPY(AC_GM_L1, "copy_gm_l1", MTE2, 1 << AC_L1, GM),
    COPY(AC_GM_UB, "copy_gm_ub", MTE2, UB, GM),
    COPY(AC_L1_UB, "copy_l1_ub", MTE1, UB, L1),
    COPY(AC_UB_L1, "copy_ub_l1", MTE3, 1 << AC_L1, UB),
    COPY(AC_UB_GM, "copy_ub_gm", MTE3, GM, UB),
    [AC_OP_LOAD2D] = {"load2d", AC_PIPE_MTE1, 2, {L0B, L1}, {0}, FIELDS(load2d)},
    [AC_OP_LOAD3D] = {"load3d", AC_PIPE_MTE1, 2, {L0A, L1}, {0}, FIELDS(load3d)},
    MMAD(AC_MAD_S32U8S8),
    MMAD(AC_MAD_S32S8S8),
    MMAD(AC_MAD_F32F16F16),
    [AC_OP_BIAS_L0C] = {"bias_l0c", AC_PIPE_V, 2, {L0C, UB}, {0}, FIELDS(bias)},
    DRAIN(AC_DRAIN_F32_F16),
    DRAIN(AC_DRAIN_S32_F16_DEQ),
    VECTOR(AC_OP_DUP, "dup", 1, dup, 2, 2, 0),
    [AC_OP_TRANSPOSE] = {"transpose", AC_PIPE_V, 2, {UB, UB}, {2, 2}, FIELDS(turn)},
    [AC_OP_TRANSPOSE_B8] = {"transpose_b8", AC_PIPE_V, 2, {UB, UB}, {1, 1}, FIELDS(turn)},
    [AC_OP_MOVE] = {"move", AC_PIPE_S, 2, {BY_SCALAR, BY_SCALAR}, {0}, FIELDS(move)},
    [AC_OP_FILL] = {"fill", AC_PIPE_S, 1, {BY_SCALAR}, {0}, FIELDS(fill)},
    [AC_OP_WORK] = {.name = "scalar", .pipe = AC_PIPE_S, .spaces = {ANYWHERE}},
    [AC_OP_SET_FLAG] = {.name = "set_flag"},
    [AC_OP_WAIT_FLAG] = {.name = "wait_flag"},
    [AC_OP_BARRIER] = {.name = "barrier"},
    AC_VEC2_ROWS(VEC2, VEC2) AC_VECS_ROWS(VECS) AC_VCONV_ROWS(VCONV)};

/* ---- packing -------------------------------------------------------------------------------- */

static uint32_t value_of(const ac_instruction *i, const ac_field *f)
{
    uint32_t value = 0;
    memcpy(&value, (const uint8_t *)i + f->offset, f->size);
    return value;
}

/* load3d's filter is one row of the input, or along K as many rows as the picture has. */
static void pack_filter(uint64_t config[AC_CONFIGS], const ac_load3d *l)
{
    const uint32_t bytes = (uint32_t)l->c0 * l->element;
    const uint64_t rows = l->rows ? l->rows : 1;
    const uint64_t taps = l->rows ? ac_load3d_taps(l) : bytes ? AC_BLOCK / bytes : 0;
    config[1] |=
        UINT64_C(1) << 6 | taps << 12 | rows << 20 | UINT64_C(1) << 36 | (uint64_t)!l->rows << 52;
    config[2] |= rows << 16 | (uint64_t)(bytes < AC_BLOCK) << 40;
}

void ac_pack(uint64_t config[AC_CONFIGS], const ac_instruction *i)
{
    const ac_operation *o = &ac_operations[i->opcode];
    memset(config, 0, AC_CONFIGS * sizeof *config);
    for (uint32_t k = 0; k < o->field_count; k++)
        config[o->fields[k].word] |= (uint64_t)value_of(i, &o->fields[k]) << o->fields[k].bit;
    if (i->opcode == AC_OP_LOAD2D)
        config[0] |= 1 << 24; /* from fractal to fractal */
    if (i->opcode == AC_OP_LOAD3D)
        pack_filter(config, &i->load3d);
}

void ac_unpack(ac_instruction *i, const uint64_t config[AC_CONFIGS])
{
    const ac_operation *o = &ac_operations[i->opcode];
    for (uint32_t k = 0; k < o->field_count; k++) {
        const ac_field *f = &o->fields[k];
        const uint32_t value = (uint32_t)ac_bits(config[f->word], f->bit, f->bits);
        memcpy((uint8_t *)i + f->offset, &value, f->size);
    }
    if (i->opcode != AC_OP_LOAD3D)
        return;
    ac_load3d *l = &i->load3d;
    l->rows = (uint8_t)(ac_bits(config[1], 52, 1) ? 0 : ac_bits(config[1], 20, 8));
    l->c0 = (uint8_t)((ac_bits(config[2], 40, 1) ? 8 : AC_BLOCK) / (l->element ? l->element : 1));
}

bool ac_fields_legal(const ac_instruction *i, ac_fault *fault)
{
    const ac_operation *o = &ac_operations[i->opcode];
    for (uint32_t k = 0; k < o->field_count; k++) {
        const ac_field *f = &o->fields[k];
        const uint32_t value = value_of(i, f);
        if (value >= f->low && value <= f->high)
            continue;
        *fault = (ac_fault){f->name, value, value < f->low ? f->low : f->high};
        return false;
    }
    return true;
}
