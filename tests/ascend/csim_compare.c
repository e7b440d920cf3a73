// SPDX-License-Identifier: Apache-2.0
/* Every instruction of programs, with random operands, by the reference and by the simulator inside
 * AKG (csim.h). First with values whose results are exact, which tells where bytes are read and
 * written; then with any bits. Prints a line for each instruction. Differences that are known are
 * listed with what decides; any other makes it fail, and so does one that is no longer there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/ascend/any_instruction.h"
#include "engine/cpu/c/f16.h"
#include "tests/ascend/csim.h"

enum { TRIES = 60, KINDS = 2 };

/* why: what decides where the simulator differs for exact values, and for any. */
typedef struct row {
    ac_opcode opcode;
    const char *name, *why[KINDS];
} row;

static const char rounds[] =
    "it cuts fp16 results off and saturates none; the vendor's documents of Cast round to nearest "
    "even, those of CTRL saturate";
static const char narrow[] =
    "it leaves a gap behind each half block of the narrower type; the kit's kernels step by 4 "
    "blocks a repeat there (vconv(128, ..., 1, 1, 8, 4)), so it is packed";
static const char fractal[] =
    "its fractals of 8 bits have 16 elements of K; the chip's configuration has 32 (DtypeMKN)";
#define BOTH(why)                                                                                  \
    {                                                                                              \
        why, why                                                                                   \
    }
#define ANY(why)                                                                                   \
    {                                                                                              \
        NULL, why                                                                                  \
    }
#define SAME                                                                                       \
    {                                                                                              \
        NULL, NULL                                                                                 \
    }

static const row rows[] = {
    {AC_OP_COPY + AC_GM_L1, "copy_gm_to_cbuf", SAME},
    {AC_OP_COPY + AC_GM_UB, "copy_gm_to_ubuf", SAME},
    {AC_OP_COPY + AC_L1_UB, "copy_cbuf_to_ubuf", SAME},
    {AC_OP_COPY + AC_UB_L1, "copy_ubuf_to_cbuf", SAME},
    {AC_OP_COPY + AC_UB_GM, "copy_ubuf_to_gm", SAME},
    {AC_OP_LOAD2D, "load_cbuf_to_cb", SAME},
    {AC_OP_LOAD3D, "img2col_cbuf_to_ca", SAME},
    {AC_OP_MMAD + AC_MAD_S32U8S8, "mad of u8 and s8", BOTH(fractal)},
    {AC_OP_MMAD + AC_MAD_S32S8S8, "mad of s8 and s8", BOTH(fractal)},
    {AC_OP_MMAD + AC_MAD_F32F16F16, "mad of f16", SAME},
    {AC_OP_BIAS_L0C, "broadcast_ub_to_cc", SAME},
    {AC_OP_DRAIN + AC_DRAIN_F32_F16, "copy_matrix_cc_to_ubuf of f32", ANY(rounds)},
    {AC_OP_DRAIN + AC_DRAIN_S32_F16_DEQ, "copy_matrix_cc_to_ubuf of s32", SAME},
    {AC_OP_DUP, "vector_dup", SAME},
    {AC_OP_VEC2 + AC_VADD, "vadd", ANY(rounds)},
    {AC_OP_VEC2 + AC_VSUB, "vsub", ANY(rounds)},
    {AC_OP_VEC2 + AC_VMUL, "vmul", ANY(rounds)},
    {AC_OP_VEC2 + AC_VMAX, "vmax", SAME},
    {AC_OP_VEC2 + AC_VMIN, "vmin", SAME},
    {AC_OP_VEC2 + AC_VAND, "vand", SAME},
    {AC_OP_VEC2 + AC_VOR, "vor", SAME},
    {AC_OP_VEC2 + AC_VADD_F32, "vadd of f32", SAME},
    {AC_OP_VEC2 + AC_VMUL_F32, "vmul of f32", SAME},
    {AC_OP_VEC2 + AC_VSUB_F32, "vsub of f32", SAME},
    {AC_OP_VEC2 + AC_VMAX_F32, "vmax of f32", SAME},
    {AC_OP_VEC2 + AC_VMIN_F32, "vmin of f32", SAME},
    {AC_OP_VEC2 + AC_VADD_S32, "vadd of s32", SAME},
    {AC_OP_VEC2 + AC_VSUB_S32, "vsub of s32", SAME},
    {AC_OP_VEC2 + AC_VMUL_S32, "vmul of s32", SAME},
    {AC_OP_VEC2 + AC_VMAX_S32, "vmax of s32", SAME},
    {AC_OP_VEC2 + AC_VMIN_S32, "vmin of s32", SAME},
    {AC_OP_VECS + AC_VADDS, "vadds", ANY(rounds)},
    {AC_OP_VECS + AC_VMULS, "vmuls", ANY(rounds)},
    {AC_OP_VECS + AC_VADDS_F32, "vadds of f32", SAME},
    {AC_OP_VECS + AC_VMULS_F32, "vmuls of f32", SAME},
    {AC_OP_VCONV + AC_F16_U8, "vconv_f162u8", ANY(narrow)},
    {AC_OP_VCONV + AC_F16_S8, "vconv_f162s8", ANY(narrow)},
    {AC_OP_VCONV + AC_U8_F16, "vconv_u82f16", ANY(narrow)},
    {AC_OP_VCONV + AC_S8_F16, "vconv_s82f16", ANY(narrow)},
    {AC_OP_VCONV + AC_F16_F32, "vconv_f162f32", ANY(narrow)},
    {AC_OP_VCONV + AC_F32_F16, "vconv_f322f16", ANY(narrow)},
    {AC_OP_TRANSPOSE, "vtranspose", SAME},
};

/* ---- operands ------------------------------------------------------------------------------- */

static ac_core ours = {.target = &ac_target_ascend310}, theirs = {.target = &ac_target_ascend310};

/* Bytes of an element of the sources: 1, 2 for fp16, 4 for fp32 and integers of 32 bits. */
static uint32_t source_size(ac_opcode op)
{
    if (op == AC_OP_DRAIN + AC_DRAIN_F32_F16 || ac_operations[op].width[1] == 4)
        return 4;
    return ac_is_vector(op) || op == AC_OP_MMAD + AC_MAD_F32F16F16 ? 2 : 1;
}

static void fill_exact(uint8_t *bytes, size_t size, uint32_t element)
{
    for (size_t i = 0; i + element <= size; i += element) {
        const float value = (float)(int)any_below(17) - (element == 2 ? 0 : 8);
        const uint16_t half = mona_f16_from_f32(value);
        memcpy(bytes + i, element == 4 ? (const void *)&value : &half, element);
    }
}

/* No infinity, no NaN, and not 0, whose sign max and min choose. */
static void make_finite(uint8_t *bytes, size_t size, uint32_t element)
{
    for (size_t i = 0; i < size; i += element) {
        bytes[i] |= 1;
        bytes[i + element - 1] &= 0xbf;
    }
}

static void fill(const row *r, bool exact)
{
    const uint32_t element = source_size(r->opcode);
    for (int space = 0; space < AC_GM + 3; space++) {
        uint8_t *bytes = ours.memory[space].bytes;
        const bool sums = space == AC_L0C && r->opcode == AC_OP_MMAD + AC_MAD_F32F16F16;
        if (sums || (exact && element > 1))
            fill_exact(bytes, any_sizes[space], sums ? 4 : element);
        else
            any_fill(bytes, any_sizes[space]);
        if (!exact && element > 1)
            make_finite(bytes, any_sizes[space], element);
        memcpy(theirs.memory[space].bytes, bytes, any_sizes[space]);
    }
}

static uint8_t *their(ac_address at)
{
    return at == AC_NOWHERE ? NULL : theirs.memory[ac_space_of(at)].bytes + ac_offset_of(at);
}

/* The simulator transposes 16 blocks that follow each other. */
static void turn_in_place(ac_instruction *i, ac_turned turned[2])
{
    i->dst = ac_at(AC_UB, 1024 * (1 + any_below(100)));
    i->a = ac_at(AC_UB, 1024 * (1 + any_below(100)) + 512);
    for (uint32_t k = 0; k < AC_FRACTAL; k++) {
        turned[0].at[k] = i->dst + k * AC_BLOCK;
        turned[1].at[k] = i->a + k * AC_BLOCK;
    }
    i->turn.repeat = 1;
}

static csim_instruction as_theirs(const ac_instruction *i, ac_address dst, ac_address a)
{
    csim_instruction t = {.opcode = i->opcode,
                          .dst = their(dst),
                          .a = their(a),
                          .b = their(i->b),
                          .scalar = i->scalar,
                          .half = i->opcode == AC_OP_DUP ? i->value : mona_f16_from_f32(i->scalar)};
    const ac_vector *v = &i->vector;
    const uint32_t copy[] = {i->copy.bursts, i->copy.blocks, i->copy.src_gap, i->copy.dst_gap};
    const uint32_t product[] = {i->product.m, i->product.k, i->product.n, i->product.from_zero};
    const uint32_t vector[] = {v->repeat,     v->dst_block, v->a_block, v->b_block,
                               v->dst_repeat, v->a_repeat,  v->b_repeat};
    const uint32_t unary[] = {v->repeat,     v->dst_block, v->a_block, 0,
                              v->dst_repeat, v->a_repeat,  0};
    if (ac_is_copy(i->opcode) || ac_is_drain(i->opcode))
        memcpy(t.field, copy, sizeof copy);
    else if (i->opcode == AC_OP_LOAD2D)
        t.field[0] = i->fractals;
    else if (ac_is_mmad(i->opcode))
        memcpy(t.field, product, sizeof product);
    else if (ac_is_vector(i->opcode)) {
        t.lanes = v->lanes;
        memcpy(t.field, ac_is_vec2(i->opcode) ? vector : unary, sizeof vector);
    }
    return t;
}

/* Bytes of the wider type of a conversion. */
static uint32_t widest(ac_opcode op)
{
    return op >= AC_OP_VCONV + AC_F16_F32 ? 4 : 2;
}

/* An instruction that both take: the simulator has no ReLU, wants whole fractals of K, and loads
 * fractals from where fractals begin. Exact conversions stay in a block, where both agree. */
static ac_instruction draw(ac_opcode op, bool exact, ac_turned turned[2])
{
    ac_instruction i;
    do {
        i = any_instruction(op, turned);
        i.relu = false;
        if (exact)
            i.scalar = (float)(int)any_below(9) - 4;
        if (exact && op >= AC_OP_VCONV && ac_is_vector(op))
            i.vector.lanes = (uint8_t)(1 + i.vector.lanes % (AC_BLOCK / widest(op)));
        if (op == AC_OP_TRANSPOSE)
            turn_in_place(&i, turned);
        if (op == AC_OP_LOAD2D)
            i.a &= ~(ac_address)511;
        if (ac_is_mmad(op))
            i.product.k = (i.product.k + 31) / 32 * 32;
    } while (!any_is_sound(&i) || (op == AC_OP_LOAD2D && ac_space_of(i.a) == AC_CONSTANTS));
    return i;
}

/* Sums beyond m and n are nobody's. */
static void forget_beyond(const ac_instruction *i)
{
    const uint32_t m1 = (i->product.m + 15) / 16, n1 = (i->product.n + 15) / 16;
    const size_t at = ac_offset_of(i->dst);
    for (uint32_t k = 0; k < n1 * m1 * 256; k++) {
        const uint32_t column = k / (m1 * 256) * 16 + k % 16, line = k % (m1 * 256) / 16;
        if (line >= i->product.m || column >= i->product.n)
            memcpy(theirs.memory[AC_L0C].bytes + at + 4 * k, ours.memory[AC_L0C].bytes + at + 4 * k,
                   4);
    }
}

static bool differ(void)
{
    for (int space = 0; space < AC_GM + 3; space++)
        if (memcmp(ours.memory[space].bytes, theirs.memory[space].bytes, any_sizes[space]))
            return true;
    return false;
}

/* ---- all of them ---------------------------------------------------------------------------- */

typedef struct found {
    uint32_t compared, refused, different;
} found;

static found compare(const row *r, bool exact)
{
    found f = {0};
    ac_turned turned[2];
    for (int k = 0; k < TRIES; k++) {
        fill(r, exact);
        const ac_instruction i = draw(r->opcode, exact, turned);
        const csim_instruction t = as_theirs(&i, i.dst, i.a);
        const csim_answer answer = csim_execute(&t);
        if (answer == CSIM_ABSENT)
            return f;
        f.refused += answer == CSIM_REFUSED;
        if (answer == CSIM_REFUSED)
            continue;
        ac_execute(&ours, &i);
        if (ac_is_mmad(r->opcode))
            forget_beyond(&i);
        f.compared++;
        f.different += differ();
    }
    return f;
}

static uint32_t tell(const row *r, uint32_t *compared)
{
    uint32_t wrong = 0;
    for (int any = 0; any < KINDS; any++) {
        const found f = compare(r, !any);
        const char *why = r->why[any];
        if (!f.compared && !f.refused) {
            printf("%s: the simulator has none\n", r->name);
            return 0;
        }
        *compared += f.compared;
        printf("%s, %s: %u compared, %u refused, %u differ%s%s\n", r->name,
               any ? "any bits" : "exact values", f.compared, f.refused, f.different,
               f.different && why ? ": " : "", f.different && why ? why : "");
        wrong += !f.different != !why || !f.compared;
    }
    return wrong;
}

int main(void)
{
    enum { COUNT = sizeof rows / sizeof *rows };
    uint32_t compared = 0, wrong = 0;
    for (int space = 0; space < AC_GM + 3; space++) {
        ours.memory[space] =
            (ac_memory){aligned_alloc(1024, any_sizes[space]), any_sizes[space], true};
        theirs.memory[space] =
            (ac_memory){aligned_alloc(1024, any_sizes[space]), any_sizes[space], true};
    }
    for (int i = 0; i < COUNT; i++)
        wrong += tell(&rows[i], &compared);
    printf("%u instructions compared, %u kinds of operands other than known\n", compared, wrong);
    return wrong != 0;
}
