// SPDX-License-Identifier: Apache-2.0
/* Valid instructions with random operands, for programs that test the replay kernel. */
#ifndef MONA_ANY_INSTRUCTION_H
#define MONA_ANY_INSTRUCTION_H

#include "engine/aicore/access.h"
#include "formats/compiler/program/recorder.h"

/* The memory they may use: bytes of the core's buffers, of constants, whose last ANY_ZEROS lie
 * apart, and of this many buffers of global memory, of which the first is only read. */
enum {
    ANY_L1 = 240 * 1024,
    ANY_UB = 240 * 1024,
    ANY_CONSTANTS = 64 * 1024,
    ANY_ZEROS = 2048,
    ANY_GM = 96 * 1024,
};
static uint32_t any_buffers = 3;
static bool any_constants = true;

static uint32_t any_noise = 1;

static inline uint32_t any_below(uint32_t limit)
{
    any_noise = any_noise * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)any_noise * limit >> 32);
}

static inline void any_fill(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)any_below(256);
}

/* ---- instructions --------------------------------------------------------------------------- */

static const size_t any_sizes[AC_SPACES] = {
    [AC_L1] = ANY_L1,      [AC_L0A] = 64 * 1024, [AC_L0B] = 64 * 1024,
    [AC_L0C] = 256 * 1024, [AC_UB] = ANY_UB,     [AC_CONSTANTS] = ANY_CONSTANTS,
    [AC_GM] = ANY_GM,      [AC_GM + 1] = ANY_GM, [AC_GM + 2] = ANY_GM,
};

static inline ac_address any_in(uint32_t space)
{
    const uint32_t unit = space == AC_L0C ? 1024 : space == AC_L0A || space == AC_L0B ? 512 : 32;
    return ac_at((ac_space)space, any_below((uint32_t)(any_sizes[space] / unit)) * (uint64_t)unit);
}

static inline ac_address any_gm(bool write)
{
    return any_in(AC_GM + (write ? 1 + any_below(any_buffers - 1) : any_below(any_buffers)));
}

static inline ac_address any_l1(bool write)
{
    return any_in(write || !any_constants || any_below(3) ? AC_L1 : AC_CONSTANTS);
}

static inline ac_vector any_vector(void)
{
    ac_vector v = {.repeat = (uint8_t)(1 + any_below(8)), .lanes = (uint8_t)(1 + any_below(128))};
    if (!any_below(3))
        v.lanes = 128;
    v.dst_block = (uint8_t)(1 + any_below(3)), v.dst_repeat = (uint8_t)(1 + any_below(30));
    v.a_block = (uint8_t)any_below(4), v.a_repeat = (uint8_t)any_below(30);
    v.b_block = (uint8_t)any_below(4), v.b_repeat = (uint8_t)any_below(30);
    return v;
}

static inline ac_turned any_turned(bool halves)
{
    ac_turned t = {.repeat = (uint8_t)(1 + any_below(20)), .high = halves && any_below(2)};
    for (int i = 0; i < AC_FRACTAL; i++)
        t.at[i] = any_in(AC_UB);
    return t;
}

static inline ac_move any_move(void)
{
    return (ac_move){.count = 1 + any_below(40),
                     .bytes = 1 + any_below(2),
                     .dst_step = 2 * (1 + any_below(20)),
                     .src_step = 2 * any_below(20)};
}

static inline ac_address any_scalar(bool write)
{
    const uint32_t which = any_below(3);
    const ac_address at = which == 0 ? any_in(AC_UB) : which == 1 ? any_gm(write) : any_l1(write);
    return at + 2 * any_below(16);
}

static inline ac_load3d any_load3d_along_k(void)
{
    const uint8_t element = (uint8_t)(1 + any_below(2)), rows = (uint8_t)(1 + any_below(4));
    const uint32_t taps = 1 + any_below(3), dilation = 1 + any_below(3);
    const uint32_t span = (taps - 1) * dilation + 1, column = any_below(40);
    return (ac_load3d){.column = (uint16_t)column,
                       .columns = (uint16_t)(column + span + any_below(40)),
                       .rows = rows,
                       .stride = (uint8_t)(1 + any_below(4)),
                       .dilation = (uint8_t)dilation,
                       .c0 = 32 / element,
                       .element = element,
                       .repeat = (uint8_t)(taps * rows),
                       .jump = (uint8_t)(1 + any_below(4))};
}

static inline ac_load3d any_load3d(void)
{
    const uint8_t element = (uint8_t)(1 + any_below(2));
    if (any_below(3) == 0)
        return any_load3d_along_k();
    return (ac_load3d){.column = (uint16_t)any_below(40),
                       .columns = (uint16_t)(1 + any_below(300)),
                       .stride = (uint8_t)(1 + any_below(4)),
                       .dilation = (uint8_t)(1 + any_below(3)),
                       .c0 = (uint8_t)((any_below(2) ? 32 : 8) / element),
                       .element = element,
                       .repeat = (uint8_t)(1 + any_below(9)),
                       .jump = (uint8_t)(1 + any_below(4))};
}

static inline void any_operands(ac_instruction *i)
{
    const uint32_t op = i->opcode;
    const ac_copy copy = {(uint16_t)(1 + any_below(5)), (uint16_t)(1 + any_below(6)),
                          (uint16_t)any_below(9), (uint16_t)any_below(9)};
    if (ac_is_copy(op)) {
        const uint32_t path = op - AC_OP_COPY;
        i->copy = copy;
        i->dst = path == AC_UB_GM                       ? any_gm(true)
                 : path == AC_GM_L1 || path == AC_UB_L1 ? any_l1(true)
                                                        : any_in(AC_UB);
        i->a = path <= AC_GM_UB ? any_gm(false) : path == AC_L1_UB ? any_l1(false) : any_in(AC_UB);
    } else if (op == AC_OP_LOAD2D) {
        i->fractals = 1 + any_below(20), i->dst = any_in(AC_L0B), i->a = any_l1(false);
    } else if (op == AC_OP_LOAD3D) {
        i->load3d = any_load3d(), i->dst = any_in(AC_L0A), i->a = any_l1(false);
    } else if (ac_is_mmad(op)) {
        i->product =
            (ac_product){1 + any_below(64), 1 + any_below(96), 1 + any_below(48), any_below(2)};
        i->dst = any_in(AC_L0C), i->a = any_in(AC_L0A), i->b = any_in(AC_L0B);
    } else if (op == AC_OP_BIAS_L0C) {
        i->product =
            (ac_product){.m = 1 + any_below(any_below(4) ? 200 : 4096), .n = 1 + any_below(40)};
        i->product.k = any_below((i->product.m < 128 ? i->product.m + 15 : 128) / AC_FRACTAL);
        i->dst = any_below(4) ? any_in(AC_L0C) : ac_at(AC_L0C, 0), i->a = any_in(AC_UB);
    } else if (ac_is_drain(op)) {
        const bool scaled = op == AC_OP_DRAIN + AC_DRAIN_S32_F16_DEQ;
        i->copy = copy, i->relu = any_below(2);
        i->dst = any_in(AC_UB), i->a = any_in(AC_L0C), i->b = scaled ? any_in(AC_UB) : AC_NOWHERE;
    } else if (ac_is_vector(op)) {
        i->vector = any_vector(), i->value = (uint16_t)any_below(65536);
        i->scalar = ((float)any_below(4001) - 2000) / (float)(1 + any_below(3000));
        i->dst = any_in(AC_UB), i->a = any_in(AC_UB), i->b = any_in(AC_UB);
    } else if (op == AC_OP_MOVE) {
        i->move = any_move(), i->dst = any_scalar(true), i->a = any_scalar(false);
    } else {
        i->fill = (ac_fill){1 + any_below(50), 1 + any_below(4), 4 + 2 * any_below(9),
                            any_below(1u << 31)};
        i->dst = any_scalar(true);
    }
}

/* Constants lie apart from the row of zeros that follows them. */
static inline bool any_is_in_place(const ac_access *a)
{
    const uint32_t space = ac_space_of(a->at);
    const uint64_t at = ac_offset_of(a->at), end = at + a->extent;
    const bool zeros = at >= ANY_CONSTANTS - ANY_ZEROS;
    return ac_may_lie_in(a, space) && at % a->align == 0 && end <= any_sizes[space] &&
           (space != AC_CONSTANTS || (!a->write && (zeros || end <= ANY_CONSTANTS - ANY_ZEROS)));
}

static inline bool any_is_sound(const ac_instruction *i)
{
    ac_fault fault;
    ac_access accesses[AC_ACCESSES];
    if (!ac_legal(i, &fault))
        return false;
    const uint32_t count = ac_accesses_of(i, accesses);
    for (uint32_t k = 0; k < count; k++)
        if (!any_is_in_place(&accesses[k]))
            return false;
    return true;
}

/* One that is sound as it is. turned: what a transpose points at. */
static inline ac_instruction any_instruction(ac_opcode op, ac_turned turned[2])
{
    ac_instruction i;
    do {
        i = (ac_instruction){.opcode = op, .b = AC_NOWHERE};
        for (int s = 0; s < 2; s++)
            turned[s] = any_turned(op == AC_OP_TRANSPOSE_B8);
        if (ac_turns(op)) {
            i.turn.to = &turned[0], i.turn.from = &turned[1];
            i.turn.repeat = (uint8_t)(1 + any_below(4));
        } else
            any_operands(&i);
    } while (!any_is_sound(&i));
    return i;
}

#endif
