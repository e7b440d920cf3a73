// SPDX-License-Identifier: Apache-2.0
/* Every instruction with random operands, and loops of them: what the replay kernel leaves in
 * memory is what the reference leaves. Programs are recorded from the instructions, so loops, rings
 * and phases are found as in real ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "apps/ascend/any_instruction.h"
#include "tests/unit/ascend/replay_machine.h"

enum {
    RING = 64 * 1024, /* where a ring begins in L1 */
    RING_BYTES = 24 * 1024,
    BUFFERS = 3,
    TURNS = 5,
    BODY = 24,
};

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
    const uint32_t operands = ac_operations[i.opcode].operands;
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
        b->i[k] = any_instruction(op, b->turned[k]);
        for (int o = 0; o < AC_OPERANDS; o++)
            b->step[k][o] = any_below(2) ? 0 : 1024 * any_below(4);
        sound = true;
        for (uint32_t turn = 0; turn < TURNS && sound; turn++) {
            const ac_instruction moved = in_turn(b, k, turn);
            sound = any_is_sound(&moved);
        }
    }
}

/* ---- both ways ------------------------------------------------------------------------------ */

static uint8_t *record(const body *b, uint32_t count, uint32_t turns, const uint8_t *constants,
                       size_t *bytes)
{
    static ac_buffer buffers[BUFFERS] = {{.bytes = ANY_GM}, {.bytes = ANY_GM}, {.bytes = ANY_GM}};
    const ac_segment places = {.constants = ANY_CONSTANTS - ANY_ZEROS, .l1_bytes = ANY_L1};
    const ac_program program = {.header = {.l1_bytes = ANY_L1,
                                           .constants_bytes = ANY_CONSTANTS,
                                           .zero_bytes = ANY_ZEROS,
                                           .buffers = BUFFERS,
                                           .inputs = 1},
                                .constants = constants,
                                .buffers = buffers};
    const char *why;
    recorder *r = recorder_new();
    recorder_segment(r, &places);
    recorder_ring(r, (ac_ring){RING, RING_BYTES});
    const ac_address first = ac_at(AC_CONSTANTS, 0);
    recorder_take(r, 0,
                  &(ac_instruction){.opcode = AC_OP_COPY + AC_GM_L1,
                                    .dst = first,
                                    .a = first,
                                    .copy = {.bursts = 1, .blocks = places.constants / AC_BLOCK}});
    recorder_take(r, 0, &(ac_instruction){.opcode = AC_OP_BARRIER, .flag = {.src = AC_PIPE_ALL}});
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
    static uint8_t constants[ANY_CONSTANTS];
    size_t bytes;
    ac_program p;
    replay_machine r;
    ac_core core = {.target = &ac_target_ascend310, .take = ac_execute};
    any_fill(constants, ANY_CONSTANTS - ANY_ZEROS);
    uint8_t *made = record(b, count, turns, constants, &bytes);
    assert_true(ac_program_open(&p, made, bytes));
    replay_open(&r, &p);
    ascend_words_make(&p, 0, r.memory + r.words);
    replay_begin(&r, 0);
    for (int space = 0; space <= AC_GM + BUFFERS - 1; space++) {
        uint8_t *copy = space == AC_CONSTANTS ? constants : malloc(any_sizes[space]);
        core.memory[space] = (ac_memory){copy, any_sizes[space], true};
        if (space == AC_CONSTANTS)
            continue;
        any_fill(copy, any_sizes[space]);
        memcpy(space < AC_GM ? r.machine.core.memory[space].bytes
                             : replay_buffer(&r, (uint32_t)(space - AC_GM)),
               copy, any_sizes[space]);
    }
    cce_run(&r.machine, REPLAY_DEVICE + r.words, REPLAY_DEVICE + r.addresses);
    if (r.machine.fault)
        fail_msg("%s: %s", name, r.machine.fault);
    ac_program_run(&core, &p, 0, 0);
    for (int space = 0; space <= AC_GM + BUFFERS - 1; space++) {
        if (space == AC_CONSTANTS)
            continue;
        const uint8_t *made_by_kernel = space < AC_GM
                                            ? r.machine.core.memory[space].bytes
                                            : replay_buffer(&r, (uint32_t)(space - AC_GM));
        for (size_t i = 0; i < any_sizes[space]; i++)
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
            check(&b, BODY, 1, ac_operations[op].name);
        }
}

static void loops_of_them_do_too(void **state)
{
    static body b;
    (void)state;
    for (int round = 0; round < 40; round++) {
        const uint32_t count = 1 + any_below(BODY);
        for (uint32_t k = 0; k < count; k++)
            draw(&b, k, (ac_opcode)(AC_OP_COPY + any_below(AC_OP_WORK - AC_OP_COPY)));
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
