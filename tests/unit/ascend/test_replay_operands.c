// SPDX-License-Identifier: Apache-2.0
/* Every instruction with random operands, and loops of them: what the replay kernel leaves in memory is what the
 * reference leaves. Programs are recorded from the instructions, so loops, rings and phases are found
 * as in real ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/aicore/access.h"
#include "formats/compiler/program/recorder.h"
#include "tests/unit/ascend/replay_machine.h"

enum {
    L1_BYTES = 256 * 1024,
    RING = 64 * 1024, /* where a ring begins in L1 */
    RING_BYTES = 24 * 1024,
    CONSTANTS = 64 * 1024,
    ZEROS = 2048,
    BUFFERS = 3,
    BUFFER_BYTES = 96 * 1024,
    TURNS = 5,
    BODY = 24,
};

static uint32_t state_of_noise = 1;

static uint32_t below(uint32_t limit)
{
    state_of_noise = state_of_noise * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)state_of_noise * limit >> 32);
}

static void fill_with_noise(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)below(256);
}

/* ---- instructions --------------------------------------------------------------------------- */

static const size_t sizes[AC_SPACES] = {
    [AC_L1] = L1_BYTES,     [AC_L0A] = 64 * 1024,       [AC_L0B] = 64 * 1024,
    [AC_L0C] = 256 * 1024,  [AC_UB] = WORDS_UB,         [AC_CONSTANTS] = CONSTANTS,
    [AC_GM] = BUFFER_BYTES, [AC_GM + 1] = BUFFER_BYTES, [AC_GM + 2] = BUFFER_BYTES,
};

static ac_address any_in(uint32_t space)
{
    const uint32_t unit = space == AC_L0C ? 1024 : space == AC_L0A || space == AC_L0B ? 512 : 32;
    return ac_at((ac_space)space, below((uint32_t)(sizes[space] / unit)) * (uint64_t)unit);
}

static ac_address any_gm(bool write)
{
    return any_in(AC_GM + (write ? 1 + below(2) : below(BUFFERS)));
}

static ac_address any_l1(bool write)
{
    return any_in(write || below(3) ? AC_L1 : AC_CONSTANTS);
}

static ac_vector any_vector(void)
{
    ac_vector v = {.repeat = (uint8_t)(1 + below(8)), .lanes = (uint8_t)(1 + below(128))};
    if (!below(3))
        v.lanes = 128;
    v.dst_block = (uint8_t)(1 + below(3)), v.dst_repeat = (uint8_t)(1 + below(30));
    v.a_block = (uint8_t)below(4), v.a_repeat = (uint8_t)below(30);
    v.b_block = (uint8_t)below(4), v.b_repeat = (uint8_t)below(30);
    return v;
}

static ac_turned any_turned(bool halves)
{
    ac_turned t = {.repeat = (uint8_t)(1 + below(20)), .high = halves && below(2)};
    for (int i = 0; i < AC_FRACTAL; i++)
        t.at[i] = any_in(AC_UB);
    return t;
}

static ac_move any_move(void)
{
    const uint16_t scales[] = {0x3c00, 0x3800, 0x1c03, 0x5a10, 0xbc00};
    return (ac_move){.count = 1 + below(40),
                     .dst_step = 2 * (1 + below(20)),
                     .src_step = 2 * below(20),
                     .dst_type = (mona_type)below(4),
                     .src_type = (mona_type)below(4),
                     .scale = scales[below(5)],
                     .maximum = below(2) ? 255 : 1023};
}

static ac_address any_scalar(bool write)
{
    const uint32_t which = below(3);
    const ac_address at = which == 0 ? any_in(AC_UB) : which == 1 ? any_gm(write) : any_l1(write);
    return at + 2 * below(16);
}

static ac_load3d any_load3d(void)
{
    const uint8_t element = (uint8_t)(1 + below(2));
    return (ac_load3d){.column = (uint16_t)below(40),
                       .columns = (uint16_t)(1 + below(300)),
                       .stride = (uint8_t)(1 + below(4)),
                       .dilation = (uint8_t)(1 + below(3)),
                       .c0 = (uint8_t)((below(2) ? 32 : 8) / element),
                       .element = element,
                       .repeat = (uint8_t)(1 + below(9)),
                       .jump = (uint8_t)(1 + below(4))};
}

static void set_operands(ac_instruction *i)
{
    const uint32_t op = i->opcode;
    const ac_copy copy = {(uint16_t)(1 + below(5)), (uint16_t)(1 + below(6)), (uint16_t)below(9),
                          (uint16_t)below(9)};
    if (ac_is_copy(op)) {
        const uint32_t path = op - AC_OP_COPY;
        i->copy = copy;
        i->dst = path == AC_UB_GM                       ? any_gm(true)
                 : path == AC_GM_L1 || path == AC_UB_L1 ? any_l1(true)
                                                        : any_in(AC_UB);
        i->a = path <= AC_GM_UB ? any_gm(false) : path == AC_L1_UB ? any_l1(false) : any_in(AC_UB);
    } else if (op == AC_OP_LOAD2D) {
        i->fractals = 1 + below(20), i->dst = any_in(AC_L0B), i->a = any_l1(false);
    } else if (op == AC_OP_LOAD3D) {
        i->load3d = any_load3d(), i->dst = any_in(AC_L0A), i->a = any_l1(false);
    } else if (ac_is_mmad(op)) {
        i->product = (ac_product){1 + below(64), 1 + below(96), 1 + below(48), below(2)};
        i->dst = any_in(AC_L0C), i->a = any_in(AC_L0A), i->b = any_in(AC_L0B);
    } else if (op == AC_OP_BIAS_L0C) {
        i->product = (ac_product){.m = 1 + below(below(4) ? 200 : 4096), .n = 1 + below(40)};
        i->dst = below(4) ? any_in(AC_L0C) : ac_at(AC_L0C, 0), i->a = any_in(AC_UB);
    } else if (ac_is_drain(op)) {
        const bool scaled = op == AC_OP_DRAIN + AC_DRAIN_S32_F16_DEQ;
        i->copy = copy, i->relu = below(2);
        i->dst = any_in(AC_UB), i->a = any_in(AC_L0C), i->b = scaled ? any_in(AC_UB) : AC_NOWHERE;
    } else if (ac_is_vector(op)) {
        i->vector = any_vector(), i->value = (uint16_t)below(65536);
        i->scalar = ((float)below(4001) - 2000) / (float)(1 + below(3000));
        i->dst = any_in(AC_UB), i->a = any_in(AC_UB), i->b = any_in(AC_UB);
    } else if (op == AC_OP_MOVE) {
        i->move = any_move(), i->dst = any_scalar(true), i->a = any_scalar(false);
    } else {
        i->fill = (ac_fill){1 + below(50), 1 + below(4), 4 + 2 * below(9), below(1u << 31)};
        i->dst = any_scalar(true);
    }
}

/* Constants lie apart from the row of zeros that follows them. */
static bool in_place(const ac_access *a)
{
    const uint32_t space = ac_space_of(a->at);
    const uint64_t at = ac_offset_of(a->at), end = at + a->extent;
    const bool zeros = at >= CONSTANTS - ZEROS;
    return ac_may_lie_in(a, space) && at % a->align == 0 && end <= sizes[space] &&
           (space != AC_CONSTANTS || (!a->write && (zeros || end <= CONSTANTS - ZEROS)));
}

static bool is_sound(const ac_instruction *i)
{
    ac_fault fault;
    ac_access accesses[AC_ACCESSES];
    if (!ac_legal(i, &fault))
        return false;
    const uint32_t count = ac_accesses_of(&ac_target_ascend310, i, accesses);
    for (uint32_t k = 0; k < count; k++)
        if (!in_place(&accesses[k]))
            return false;
    return true;
}

typedef struct body {
    ac_instruction i[BODY];
    ac_turned turned[BODY][2];
    uint32_t step[BODY][AC_OPERANDS];
} body;

static ac_address moved_by(ac_address at, uint32_t bytes)
{
    const uint64_t offset = ac_offset_of(at);
    if (ac_space_of(at) != AC_L1 || offset < RING || offset >= RING + RING_BYTES)
        return at + bytes;
    return ac_at(AC_L1, RING + (offset - RING + bytes) % RING_BYTES);
}

static ac_instruction in_turn(const body *b, uint32_t k, uint32_t turn)
{
    ac_instruction i = b->i[k];
    const uint32_t operands = ac_operands(i.opcode);
    if (ac_turns(i.opcode))
        return i;
    i.dst = moved_by(i.dst, turn * b->step[k][0]);
    if (operands > 1)
        i.a = moved_by(i.a, turn * b->step[k][1]);
    if (operands > 2 && i.b != AC_NOWHERE)
        i.b = moved_by(i.b, turn * b->step[k][2]);
    return i;
}

/* An instruction of this kind that is sound in every turn. */
static void draw(body *b, uint32_t k, ac_opcode op)
{
    bool sound = false;
    while (!sound) {
        ac_instruction *i = &b->i[k];
        *i = (ac_instruction){.opcode = op, .b = AC_NOWHERE};
        for (int s = 0; s < 2; s++)
            b->turned[k][s] = any_turned(op == AC_OP_TRANSPOSE_B8);
        if (ac_turns(op)) {
            i->turn.to = &b->turned[k][0], i->turn.from = &b->turned[k][1];
            i->turn.repeat = (uint8_t)(1 + below(4));
        } else
            set_operands(i);
        for (int o = 0; o < AC_OPERANDS; o++)
            b->step[k][o] = below(2) ? 0 : 1024 * below(4);
        sound = true;
        for (uint32_t turn = 0; turn < TURNS && sound; turn++) {
            const ac_instruction moved = in_turn(b, k, turn);
            sound = is_sound(&moved);
        }
    }
}

/* ---- both ways ------------------------------------------------------------------------------ */

static uint8_t *record(const body *b, uint32_t count, uint32_t turns, const uint8_t *constants,
                       size_t *bytes)
{
    static const ac_ring ring = {RING, RING_BYTES};
    static ac_buffer buffers[BUFFERS] = {
        {.bytes = BUFFER_BYTES}, {.bytes = BUFFER_BYTES}, {.bytes = BUFFER_BYTES}};
    const ac_segment places = {.rings = 1, .constants = CONSTANTS - ZEROS, .l1_bytes = L1_BYTES};
    const ac_program program = {.header = {.l1_bytes = L1_BYTES,
                                           .constants_bytes = CONSTANTS,
                                           .zero_bytes = ZEROS,
                                           .buffers = BUFFERS,
                                           .inputs = 1},
                                .constants = constants,
                                .buffers = buffers};
    const char *why;
    recorder *r = recorder_new();
    recorder_segment(r, &places, &ring);
    for (uint32_t turn = 0; turn < turns; turn++)
        for (uint32_t k = 0; k < count; k++) {
            const ac_instruction i = in_turn(b, k, turn);
            recorder_take(r, 0, &i);
        }
    uint8_t *made = recorder_finish(r, &program, bytes, &why);
    if (!made)
        fail_msg("%s", why);
    recorder_free(r);
    return made;
}

static void check(const body *b, uint32_t count, uint32_t turns, const char *name)
{
    static uint8_t constants[CONSTANTS];
    size_t bytes;
    ac_program p;
    replay_machine r;
    ac_core core = {.target = &ac_target_ascend310, .take = ac_execute};
    fill_with_noise(constants, CONSTANTS - ZEROS);
    uint8_t *made = record(b, count, turns, constants, &bytes);
    assert_true(ac_program_open(&p, made, bytes));
    replay_open(&r, &p);
    ascend_words_make(&p, 0, r.memory + r.words);
    replay_begin(&r, 0);
    for (int space = 0; space <= AC_GM + BUFFERS - 1; space++) {
        uint8_t *copy = space == AC_CONSTANTS ? constants : malloc(sizes[space]);
        core.memory[space] = (ac_memory){copy, sizes[space], true};
        if (space == AC_CONSTANTS)
            continue;
        fill_with_noise(copy, sizes[space]);
        memcpy(space < AC_GM ? r.machine.core.memory[space].bytes
                             : replay_buffer(&r, (uint32_t)(space - AC_GM)),
               copy, sizes[space]);
    }
    cce_run(&r.machine, REPLAY_DEVICE + r.words, REPLAY_DEVICE + r.addresses);
    if (r.machine.fault)
        fail_msg("%s: %s", name, r.machine.fault);
    ac_program_run(&core, &p, 0, 0, NULL);
    for (int space = 0; space <= AC_GM + BUFFERS - 1; space++) {
        if (space == AC_CONSTANTS)
            continue;
        const uint8_t *made_by_kernel = space < AC_GM
                                            ? r.machine.core.memory[space].bytes
                                            : replay_buffer(&r, (uint32_t)(space - AC_GM));
        for (size_t i = 0; i < sizes[space]; i++)
            if (made_by_kernel[i] != core.memory[space].bytes[i])
                fail_msg("%s: space %d, byte %zu: %02x, expected %02x", name, space, i,
                         made_by_kernel[i], core.memory[space].bytes[i]);
        free(core.memory[space].bytes);
    }
    replay_end(&r);
    replay_close(&r);
    free(made);
}

static void every_instruction_does_what_the_reference_does(void **state)
{
    static body b;
    (void)state;
    for (uint32_t op = AC_OP_COPY; op < AC_OP_WORK; op++)
        for (int round = 0; round < 3; round++) {
            for (uint32_t k = 0; k < BODY; k++)
                draw(&b, k, (ac_opcode)op);
            check(&b, BODY, 1, ac_opcode_names[op]);
        }
}

static void loops_of_them_do_too(void **state)
{
    static body b;
    (void)state;
    for (int round = 0; round < 40; round++) {
        const uint32_t count = 1 + below(BODY);
        for (uint32_t k = 0; k < count; k++)
            draw(&b, k, (ac_opcode)(AC_OP_COPY + below(AC_OP_WORK - AC_OP_COPY)));
        check(&b, count, TURNS, "a loop");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_does_what_the_reference_does),
        cmocka_unit_test(loops_of_them_do_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
