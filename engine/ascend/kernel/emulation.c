// SPDX-License-Identifier: Apache-2.0
#include "engine/ascend/kernel/emulation.h"

#include "engine/aicore/access.h"
#include "engine/ascend/kernel/machine.h"
#include "engine/ascend/kernel/words.h"
#include "engine/cpu/c/f16.h"
#include "engine/libc.h"
#include "engine/model310/model310.h"

extern void mona_replay3__kernel0(uint8_t *words, uint8_t *addresses);

static _Thread_local cce_machine *now;

static void fail(const char *why)
{
    now->fault = now->fault ? now->fault : why;
}

static ac_address on_device(uint64_t at)
{
    return ac_at(AC_GM, at - now->device);
}

/* ---- instructions --------------------------------------------------------------------------- */

static bool reaches(const ac_access *a)
{
    const uint32_t space = ac_space_of(a->at);
    const ac_memory *m = &now->core.memory[space];
    const uint64_t at = ac_offset_of(a->at);
    return ac_may_lie_in(a, space) && at < m->size && a->extent <= m->size - at &&
           at % a->align == 0;
}

static void take(const ac_instruction *i)
{
    ac_fault fault;
    ac_access accesses[AC_ACCESSES];
    if (!ac_legal(i, &fault))
        fail(fault.operand);
    const uint32_t count = now->fault ? 0 : ac_accesses_of(i, accesses);
    for (uint32_t k = 0; k < count; k++)
        if (!reaches(&accesses[k]))
            fail(accesses[k].name);
    if (!now->fault)
        now->core.take(&now->core, i);
}

void cce_flag(int opcode, int src, int dst, int event)
{
    take(&(ac_instruction){.opcode = (ac_opcode)opcode,
                           .flag = {(ac_pipe)src, (ac_pipe)dst, (ac_event)event}});
}

/* Lanes that the mask lets a vector instruction write: only the first ones, all in a row. */
static uint8_t lanes_of_mask(void)
{
    uint64_t high = now->registers[CCE_MASK_HIGH], low = now->registers[CCE_MASK_LOW];
    uint8_t lanes = 0;
    for (; low & 1; low >>= 1)
        lanes++;
    for (; lanes >= 64 && high & 1; high >>= 1)
        lanes++;
    if (low || high)
        fail("mask");
    return lanes;
}

/* Fills in what the registers' words say. Those that no instruction of programs packs are a
 * fault. */
static void decode(ac_instruction *i, const uint64_t config[AC_CONFIGS])
{
    uint64_t packed[AC_CONFIGS];
    ac_unpack(i, config);
    ac_pack(packed, i);
    if (memcmp(packed, config, sizeof packed))
        fail(ac_operations[i->opcode].name);
}

/* An operand's address where its pointer leads. */
static ac_address placed(uint32_t op, uint32_t k, uint64_t at)
{
    const uint32_t spaces = ac_operations[op].spaces[k];
    uint32_t space = 0;
    while (spaces && !(spaces >> space & 1))
        space++;
    return space == AC_GM ? on_device(at) : ac_at((ac_space)space, at);
}

static void place_drain(ac_instruction *i, uint32_t mode)
{
    const uint64_t scale = now->registers[CCE_DEQSCALE];
    const bool scaled = i->opcode == AC_OP_DRAIN + AC_DRAIN_S32_F16_DEQ;
    if (scaled ? mode != 7 : mode != 1 && mode != 2)
        fail("ConvRelu_t");
    i->b = scaled ? ac_at(AC_UB, ac_bits(scale, 0, 15) * AC_BLOCK) : AC_NOWHERE;
    i->relu = scaled ? ac_bits(scale, 15, 1) : mode == 2;
}

/* Fractals of a burst take a vector each. */
static ac_product filled_by(uint64_t config)
{
    const uint32_t filled = (uint32_t)ac_bits(config, 8, 8);
    if (!filled || ac_bits(config, 16, 8) || config >> 32)
        fail("bursts");
    return (ac_product){.m = ((uint32_t)ac_bits(config, 24, 8) + filled) * AC_FRACTAL,
                        .k = filled - 1,
                        .n = (uint32_t)ac_bits(config, 0, 8) * AC_FRACTAL};
}

/* ---- other readings (machine.h) ------------------------------------------------------------- */

static void take_with_one_vector(ac_instruction i)
{
    const uint32_t filled = 1 + i.product.k;
    i.product.k = 0;
    for (uint32_t row = 0; row < filled; row++, i.dst += AC_FRACTAL * AC_FRACTAL * sizeof(float))
        take(&i);
}

static void spoil_rows_behind(const ac_instruction *i)
{
    const uint32_t m1 = (i->product.m + AC_FRACTAL - 1) / AC_FRACTAL,
                   left = i->product.m % AC_FRACTAL;
    const size_t row = AC_FRACTAL * sizeof(float);
    uint8_t *sums = now->core.memory[AC_L0C].bytes + ac_offset_of(i->dst);
    for (uint32_t n = 0; left && n < i->product.n; n += AC_FRACTAL, sums += m1 * AC_FRACTAL * row)
        memset(sums + i->product.m * row, 0x4b, (AC_FRACTAL - left) * row);
}

static uint16_t *drained(const ac_instruction *i, uint32_t burst)
{
    const size_t bytes = (size_t)i->copy.blocks * AC_FRACTAL * AC_BLOCK;
    return (uint16_t *)(void *)(now->core.memory[AC_UB].bytes + ac_offset_of(i->dst) +
                                burst * (bytes + (size_t)i->copy.dst_gap * AC_BLOCK));
}

static void take_with_minus_zero(ac_instruction i)
{
    i.relu = false;
    take(&i);
    for (uint32_t burst = 0; burst < i.copy.bursts && !now->fault; burst++) {
        uint16_t *t = drained(&i, burst);
        for (uint32_t k = 0; k < (uint32_t)i.copy.blocks * AC_FRACTAL * AC_FRACTAL; k++)
            t[k] = t[k] > 0x8000 ? 0 : t[k];
    }
}

static void take_as_read(const ac_instruction *i)
{
    if (i->opcode == AC_OP_BIAS_L0C && now->readings & CCE_ONE_VECTOR)
        take_with_one_vector(*i);
    else if (ac_is_drain(i->opcode) && i->relu && now->readings & CCE_MINUS_ZERO)
        take_with_minus_zero(*i);
    else
        take(i);
    if (ac_is_mmad(i->opcode) && now->readings & CCE_ROWS_BEHIND && !now->fault)
        spoil_rows_behind(i);
}

void cce_issue(int opcode, uint64_t dst, uint64_t a, uint64_t b, uint64_t config, uint32_t value)
{
    ac_instruction i = {.opcode = (ac_opcode)opcode,
                        .dst = placed(opcode, 0, dst),
                        .a = placed(opcode, 1, a),
                        .b = placed(opcode, 2, b)};
    const uint32_t op = i.opcode;
    if (op == AC_OP_BIAS_L0C)
        i.product = filled_by(config);
    else
        decode(&i, (const uint64_t[]){config, ac_is_vector(op) ? lanes_of_mask() : 0, 0});
    if (ac_is_drain(op))
        place_drain(&i, value);
    i.value = (uint16_t)value;
    if (ac_is_vecs(op) && ac_operations[op].width[0] == sizeof value)
        memcpy(&i.scalar, &value, sizeof i.scalar);
    else if (ac_is_vecs(op))
        i.scalar = mona_f32_from_f16((uint16_t)value);
    take_as_read(&i);
}

static uint16_t columns_of(uint64_t matrix, uint64_t row, uint64_t column)
{
    const uint64_t all = (now->core.memory[AC_L1].size - row) / column;
    if (!(now->readings & CCE_BEYOND_THE_ROW))
        return (uint16_t)ac_bits(matrix, 0, 16);
    return (uint16_t)(all < INT16_MAX ? all : INT16_MAX);
}

void cce_load3d(uint64_t dst, uint64_t src, uint64_t xm, uint64_t xt, size_t element, bool small)
{
    const uint64_t matrix = now->registers[CCE_FMATRIX];
    const bool misread =
        small && now->readings & CCE_SMALL_BY_CONTROL && !(now->registers[CCE_CONTROL] >> 63);
    ac_instruction i = {.opcode = AC_OP_LOAD3D,
                        .dst = ac_at(AC_L0A, dst),
                        .a = ac_at(AC_L1, misread ? src ^ AC_BLOCK : src)};
    decode(&i,
           (const uint64_t[]){xm, xt, matrix | (uint64_t)element << 32 | (uint64_t)small << 40});
    if (!i.load3d.rows)
        i.load3d.columns = columns_of(matrix, src, (uint64_t)i.load3d.c0 * element);
    take(&i);
}

void cce_transpose(int dst, int src, uint64_t config, size_t element, bool dst_high, bool src_high)
{
    ac_turned to = {.repeat = (uint32_t)ac_bits(config, 0, 16), .high = dst_high};
    ac_turned from = {.repeat = (uint32_t)ac_bits(config, 16, 16), .high = src_high};
    for (int i = 0; i < AC_FRACTAL; i++) {
        to.at[i] = ac_at(AC_UB, now->va[dst + i / 8][i % 8]);
        from.at[i] = ac_at(AC_UB, now->va[src + i / 8][i % 8]);
    }
    take(&(ac_instruction){.opcode = element == 2 ? AC_OP_TRANSPOSE : AC_OP_TRANSPOSE_B8,
                           .turn = {&to, &from, (uint8_t)ac_bits(config, 56, 8)}});
}

/* ---- the scalar unit ------------------------------------------------------------------------ */

uint64_t cce_block(void)
{
    return now->block;
}

void cce_register(int name, uint64_t value)
{
    now->registers[name] = value;
}

uint64_t cce_control(void)
{
    return now->registers[CCE_CONTROL];
}

void cce_va(int va, const uint64_t *addresses)
{
    memcpy(now->va[va], addresses, sizeof now->va[va]);
}

static uint8_t *scalar_at(uint64_t at, size_t bytes)
{
    const ac_memory *m = &now->core.memory[AC_UB];
    if (at >= m->size || bytes > m->size - at || at % bytes)
        fail("scalar");
    return now->fault ? NULL : m->bytes + at;
}

void cce_scalar_load(uint64_t at, void *value, size_t bytes)
{
    const uint8_t *from = scalar_at(at, bytes);
    const uint64_t stop = WORDS_STOP;
    memcpy(value, from ? from : (const uint8_t *)&stop, bytes);
    now->loads++;
}

void cce_scalar_store(uint64_t at, const void *value, size_t bytes)
{
    uint8_t *to = scalar_at(at, bytes);
    if (!to)
        return;
    memcpy(to, value, bytes);
    ac_model_written(&now->core, ac_at(AC_UB, at), bytes);
}

void cce_run(cce_machine *machine, uint64_t words, uint64_t addresses)
{
    now = machine;
    mona_replay3__kernel0((uint8_t *)(uintptr_t)words, (uint8_t *)(uintptr_t)addresses);
    now = NULL;
}
