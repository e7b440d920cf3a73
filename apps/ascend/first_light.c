// SPDX-License-Identifier: Apache-2.0
/* The first run of the replay kernel on a chip:
 *
 *   first_light instructions  every instruction alone against the reference
 *   first_light layers        networks up to their first layer, second and so on, against the host
 *   first_light costs FILE    how long instructions take, for --costs of mona bench */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/ascend/any_instruction.h"
#include "apps/ascend/light.h"
#include "formats/file.h"

/* A program fills the core's buffers with noise, runs instructions, and copies all buffers out. */
enum {
    IN = LIGHT_IN,
    OUT = LIGHT_OUT,
    UB = ANY_UB,
    L1 = ANY_L1,
    TRIES = 5, /* programs of each instruction */
    EACH = 8,  /* instructions in one */
};
_Static_assert((int)L1 == LIGHT_L1, "all of L1 that programs have is copied out");

static void copy_all(ac_address dst, ac_address src, uint32_t bytes)
{
    ac_emit_copy_bytes(&light_recording, dst, src, bytes);
    light_barrier();
}

/* Noise in every buffer. */
static void fill_buffers(void)
{
    const uint32_t from = IN; /* bytes of noise */
    for (uint32_t at = 0; at < UB; at += from)
        copy_all(ac_at(AC_UB, at), ac_at(AC_GM, 0), UB - at < from ? UB - at : from);
    for (uint32_t at = 0; at < L1; at += from)
        copy_all(ac_at(AC_L1, at), ac_at(AC_GM, 0), L1 - at < from ? L1 - at : from);
    ac_emit_load3d(&light_recording, ac_at(AC_L0A, 0), ac_at(AC_L1, 0),
                   (ac_load3d){.columns = 2048,
                               .stride = 1,
                               .dilation = 1,
                               .c0 = 32,
                               .element = 1,
                               .repeat = 128,
                               .jump = 1});
    ac_emit_load2d(&light_recording, ac_at(AC_L0B, 0), ac_at(AC_L1, 0), 128);
    light_barrier();
    ac_emit_bias_l0c(&light_recording, ac_at(AC_L0C, 0), ac_at(AC_UB, 0), 1, 2048, 16);
    light_barrier();
    ac_emit_bias_l0c(&light_recording, ac_at(AC_L0C, 131072), ac_at(AC_UB, 4096), 1, 2048, 16);
    light_barrier();
}

/* UB, most of L1, and most of L0C as halves. products: L0A times L0B first, as there is no other
 * way out. */
static void copy_buffers_out(bool products)
{
    const ac_address zero = ac_at(AC_UB, 0);
    light_barrier();
    copy_all(ac_at(AC_GM + 1, 0), zero, UB);
    copy_all(zero, ac_at(AC_L1, 0), UB);
    copy_all(ac_at(AC_GM + 1, UB), zero, UB);
    if (products)
        ac_emit_mmad(&light_recording, AC_MAD_S32S8S8, ac_at(AC_L0C, 0), ac_at(AC_L0A, 0),
                     ac_at(AC_L0B, 0), (ac_product){64, 1024, 64, true});
    light_barrier();
    copy_all(ac_at(AC_UB, 240000), ac_at(AC_GM, 0), 32);
    ac_emit_drain(&light_recording, products ? AC_DRAIN_S32_F16_DEQ : AC_DRAIN_F32_F16, zero,
                  ac_at(AC_L0C, 0), (ac_copy){1, 240, 0, 0},
                  products ? ac_at(AC_UB, 240000) : AC_NOWHERE, false);
    light_barrier();
    copy_all(ac_at(AC_GM + 1, 2 * UB), zero, OUT - 2 * UB);
}

/* Runs the reference, which fills the output. */
static void run_reference(ac_core *core, light *l, const uint8_t *program, size_t bytes,
                          uint8_t *out)
{
    ac_program p;
    if (!ac_program_open(&p, program, bytes))
        return;
    core->memory[AC_GM] = (ac_memory){l->in, IN, false};
    core->memory[AC_GM + 1] = (ac_memory){out, OUT, true};
    for (uint32_t s = 0; s < p.header.segments; s++)
        ac_program_run(core, &p, s, 0);
}

static const char *place_of(size_t byte)
{
    return byte < UB ? "UB" : byte < 2 * (size_t)UB ? "L1" : "L0C, drained";
}

/* ---- instructions --------------------------------------------------------------------------- */

/* Whether all that an instruction reads is the same on every run, and what it writes is copied
 * out. */
static bool is_visible(const ac_instruction *i, bool written_out)
{
    const uint32_t operands = ac_turns(i->opcode) ? 0 : ac_operations[i->opcode].operands;
    return (operands < 2 || ac_space_of(i->a) <= AC_GM) &&
           (!operands || written_out || ac_space_of(i->dst) < AC_GM);
}

static bool is_small(const ac_instruction *i)
{
    return i->load3d.c0 * i->load3d.element < AC_BLOCK;
}

/* small: of load3d only those of small channels */
static bool check_one(ac_core *core, light *l, ac_opcode op, bool small, uint8_t *expected)
{
    size_t bytes;
    double seconds;
    const bool products = op == AC_OP_LOAD2D || op == AC_OP_LOAD3D;
    const bool written_out = op == AC_OP_COPY + AC_UB_GM;
    ac_turned turned[EACH][2];
    light_begin();
    fill_buffers();
    if (written_out) /* into what is copied out already */
        copy_buffers_out(false);
    for (int k = 0; k < EACH; k++) {
        ac_instruction i;
        do
            i = any_instruction(op, turned[k]);
        while (!is_visible(&i, written_out) || (small && !is_small(&i)));
        light_take(&i);
        light_barrier();
    }
    if (!written_out)
        copy_buffers_out(products);
    uint8_t *program = light_finish(l, &bytes);
    if (!program)
        return false;
    memset(expected, 0, OUT), memset(l->out, 0, OUT);
    run_reference(core, l, program, bytes, expected);
    bool ok = light_run(l, program, bytes, 1, &seconds);
    for (size_t i = 0; i < OUT && ok; i++)
        if (expected[i] != l->out[i]) {
            printf("differs: %s: %s, byte %zu of the output: found %02x, expected %02x\n",
                   ac_operations[op].name, place_of(i), i, l->out[i], expected[i]);
            ok = false;
        }
    free(program);
    return ok;
}

static ac_core reference_core(const light *l)
{
    ac_core core = {.target = &ac_target_ascend310, .take = ac_execute};
    any_buffers = 2;
    any_constants = false;
    for (int s = 0; s < AC_BUFFERS; s++)
        core.memory[s] = (ac_memory){file_alloc(any_sizes[s]), any_sizes[s], true};
    core.memory[AC_CONSTANTS] =
        (ac_memory){(uint8_t *)(uintptr_t)l->base.constants, l->base.header.constants_bytes, false};
    return core;
}

static void free_core(const ac_core *core)
{
    for (int s = 0; s < AC_BUFFERS; s++)
        free(core->memory[s].bytes);
}

/* Documents disagree on whether load3d of small channels needs bit 63 of CTRL. Tries both. */
static bool check_small_channels(light *l)
{
    uint8_t *expected = malloc(OUT);
    ac_core core = reference_core(l);
    bool any = false;
    for (int bit = 0; bit < 2 && expected; bit++) {
        bool ok = true;
        mona_ascend_set_small_channels_bit(bit);
        for (int k = 0; k < TRIES && ok; k++)
            ok = check_one(&core, l, AC_OP_LOAD3D, true, expected);
        printf("small channels, bit 63 of CTRL %s: %s\n", bit ? "set" : "clear",
               ok ? "equal" : "differs");
        any |= ok;
    }
    free_core(&core);
    free(expected);
    return any;
}

static unsigned check_instructions(light *l)
{
    uint8_t *expected = malloc(OUT);
    unsigned wrong = 0;
    ac_core core = reference_core(l);
    for (uint32_t op = AC_OP_COPY; op < AC_OP_WORK && expected; op++) {
        bool ok = true;
        for (int k = 0; k < TRIES && ok; k++)
            ok = check_one(&core, l, (ac_opcode)op, false, expected);
        if (ok)
            printf("equal: %s\n", ac_operations[op].name);
        wrong += !ok;
    }
    printf("%u of %u instructions differ\n", wrong, (unsigned)(AC_OP_WORK - AC_OP_COPY));
    free_core(&core);
    free(expected);
    return wrong;
}

int main(int count, char **argv)
{
    light l;
    const char *what = count > 1 ? argv[1] : "";
    const bool costs = !strcmp(what, "costs");
    const bool small = !strcmp(what, "small-channels");
    const bool layers = !strcmp(what, "layers");
    if ((!layers && count != 2 + costs) ||
        (!layers && !costs && !small && strcmp(what, "instructions"))) {
        fprintf(stderr, "first_light small-channels | instructions | layers [NETWORK]... | "
                        "costs FILE.json\n");
        return 2;
    }
    bool ok = light_open(&l);
    if (ok)
        ok = costs    ? costs_measure(&l, argv[2])
             : small  ? check_small_channels(&l)
             : layers ? !layers_check(argv + 2)
                      : !check_instructions(&l);
    light_close(&l);
    return !ok;
}
