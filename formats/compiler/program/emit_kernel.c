// SPDX-License-Identifier: Apache-2.0
/* Turns every entry of a program's words (engine/ascend/kernel/words.h) into the statements that
 * the replay kernel would execute for it, and phases into variables. */
#include "formats/compiler/program/programs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/aicore/access.h"
#include "engine/ascend/words.h"

enum { CHUNK_WORDS = WORDS_CHUNK / 8 };

typedef struct printer {
    FILE *out;
    const uint64_t *words; /* behind the header */
    size_t at, chunk;
    uint32_t depth;
    uint64_t xt;                                             /* of the last tile */
    uint64_t end[WORDS_PHASES + 1], bytes[WORDS_PHASES + 1]; /* of the rings of phases */
} printer;

static uint64_t next(printer *p)
{
    return p->words[p->at++];
}

static void constant(const printer *p, uint64_t value)
{
    fprintf(p->out, value < 4096 ? "%" PRIu64 : "UINT64_C(0x%" PRIx64 ")", value);
}

/* An address, plus that of a base, moved by a phase; these two in bytes from the first. */
static void operand(const printer *p, uint64_t offset, uint64_t base, uint64_t phase)
{
    const uint64_t i = phase / 24;
    fprintf(p->out, phase && p->bytes[i] ? "in_ring(" : "(");
    constant(p, offset);
    if (base)
        fprintf(p->out, " + cce_load(uint64_t, WORDS_UB_BASES + %" PRIu64 ")", base);
    if (phase)
        fprintf(p->out, " + p%" PRIu64, i);
    if (phase && p->bytes[i]) {
        fprintf(p->out, ", ");
        constant(p, p->end[i]);
        fprintf(p->out, ", ");
        constant(p, p->bytes[i]);
    }
    fprintf(p->out, ")");
}

static void wide_operand(const printer *p, uint64_t word)
{
    operand(p, ac_bits(word, 0, 32), ac_bits(word, 32, 8), word >> 40);
}

/* The first operands of an instruction, as so many more arguments. */
static void operands(printer *p, uint64_t word, uint32_t count)
{
    const uint64_t way = ac_bits(word, 8, 2), wide = ac_bits(word, 10, 2);
    const uint64_t all = wide ? 0 : next(p), phase = way == WORDS_MOVING ? all >> 40 : 0;
    for (uint32_t k = 0; k < count; k++) {
        fprintf(p->out, ", ");
        if (k < wide)
            wide_operand(p, next(p));
        else
            operand(p, phase && k == 2 ? 0 : ac_bits(all, 20 * k, 20), 0, k ? 0 : phase);
    }
}

/* Words that helpers read from UB. */
static void store(printer *p, const uint64_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        fprintf(p->out, "    cce_store(uint64_t, WORDS_UB + %u, UINT64_C(0x%" PRIx64 "));\n", 8 * i,
                words[i]);
}

static void call(printer *p, const char *name, uint64_t word, const char *behind)
{
    fprintf(p->out, "    %s(UINT64_C(0x%" PRIx64 ")%s", name, word, behind);
}

static void print_instruction(printer *p, uint64_t word)
{
    const uint32_t code = (uint32_t)ac_bits(word, 0, 8), wide = (uint32_t)ac_bits(word, 10, 2);
    const uint64_t *behind = p->words + p->at + (wide ? wide : 1);
    const ac_opcode op = (ac_opcode)code;
    const uint32_t config = code < AC_OP_TRANSPOSE;
    const uint32_t stored = config ? op == AC_OP_DUP || ac_is_vecs(op)
                            : op == AC_OP_MOVE || op == AC_OP_FILL ? 2
                                                                   : 9;
    call(p, "flags_before", word, ");\n");
    if (op == AC_OP_LOAD3D) {
        call(p, "set_fmatrix", behind[0], ");\n");
        fprintf(p->out, "    load3d(%" PRIu64, ac_bits(word, 16, 4));
        operands(p, word, 2);
        fprintf(p->out, ", UINT64_C(0x%" PRIx64 "), UINT64_C(0x%" PRIx64 "));\n", behind[1],
                behind[2]);
        p->at += 3;
        return;
    }
    store(p, behind + config, stored);
    call(p, config ? "perform" : ac_turns(op) ? "transpose" : ac_operations[op].name, word, "");
    operands(p, word, config ? 3 : ac_operations[op].operands);
    if (config)
        fprintf(p->out, ", UINT64_C(0x%" PRIx64 ")", behind[0]);
    fprintf(p->out, ", WORDS_UB);\n");
    p->at += config + stored;
}

static void print_tile(printer *p, uint64_t word)
{
    uint64_t to;
    call(p, "flags_before", word, ");\n");
    fprintf(p->out, "    wait_flag(PIPE_M, PIPE_MTE1, (event_t)%" PRIu64 ");\n",
            ac_bits(word, 16, 2));
    do {
        to = next(p);
        const uint64_t xm = next(p);
        if (ac_bits(to, 48, 1)) {
            p->xt = next(p);
            call(p, "set_fmatrix", next(p), ");\n");
        }
        fprintf(p->out, "    load3d(%" PRIu64 " + 0, %" PRIu64 ", ", ac_bits(word, 24, 4),
                ac_bits(to, 0, 16));
        operand(p, ac_bits(to, 16, 20), 0, ac_bits(to, 36, 12));
        fprintf(p->out, ", UINT64_C(0x%" PRIx64 "), UINT64_C(0x%" PRIx64 "));\n", xm, p->xt);
    } while (!ac_bits(to, 49, 1));
    to = next(p);
    fprintf(p->out,
            "    set_flag(PIPE_MTE1, PIPE_M, (event_t)%" PRIu64
            ");\n    wait_flag(PIPE_MTE1, PIPE_M, (event_t)%" PRIu64 ");\n    multiply(%" PRIu64
            ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", UINT64_C(0x%" PRIx64 "));\n",
            ac_bits(word, 18, 2), ac_bits(word, 18, 2), ac_bits(word, 28, 4), ac_bits(to, 0, 20),
            ac_bits(to, 20, 20), to >> 40, next(p));
    if (ac_bits(word, 22, 1))
        fprintf(p->out, "    set_flag(PIPE_M, PIPE_MTE1, (event_t)%" PRIu64 ");\n",
                ac_bits(word, 20, 2));
}

static void print_drains(printer *p, uint64_t word)
{
    static const char *const type[] = {"int32_t", "float", "float"};
    static const char *const mode[] = {"S32toF16_DEQSCALE_SPR", "F32toF16_NONE", "F32toF16_RELU"};
    const uint64_t config = next(p), kind = ac_bits(word, 16, 2);
    if (ac_bits(word, 18, 1))
        fprintf(p->out, "    set_scale(%" PRIu64 ", (event_t)%" PRIu64 ");\n",
                ac_bits(word, 24, 16), ac_bits(word, 19, 2));
    call(p, "flags_before", word, ");\n");
    uint64_t to;
    do {
        to = next(p);
        fprintf(p->out,
                "    copy_matrix_cc_to_ubuf((__ubuf__ half *)(uint64_t)%" PRIu64
                ", (__cc__ %s *)(uint64_t)%" PRIu64 ", UINT64_C(0x%" PRIx64 "), CRMODE_%s);\n",
                ac_bits(to, 0, 20), type[kind], ac_bits(to, 20, 20), config, mode[kind]);
    } while (!ac_bits(to, 40, 1));
}

/* ---- loops ---------------------------------------------------------------------------------- */

static void print_move(const printer *p, uint64_t move)
{
    const uint64_t i = ac_bits(move, 0, 16) / 24, bytes = (uint64_t)((int64_t)move >> 16);
    fprintf(p->out, "        p%" PRIu64 " = ", i);
    if (p->bytes[i])
        fprintf(p->out, "in_ring(p%" PRIu64 " + %" PRIu64 ", %" PRIu64 ", %" PRIu64 ");\n", i,
                bytes, p->bytes[i], p->bytes[i]);
    else
        fprintf(p->out, "p%" PRIu64 " + UINT64_C(0x%" PRIx64 ");\n", i, bytes);
}

static void print_again(printer *p, uint64_t word)
{
    const uint64_t moves = ac_bits(word, 8, 8);
    const uint32_t depth = --p->depth;
    for (uint32_t last = 0; last < 2 && moves; last++) {
        fprintf(p->out, last ? "    } else {\n" : "    if (turns%u > 1) {\n", depth);
        for (uint64_t i = 0; i < moves; i++)
            print_move(p, p->words[p->at + 2 * i + last]);
    }
    fprintf(p->out, moves ? "    }\n    }\n" : "    }\n");
    p->at += 2 * moves;
}

static void print_start(printer *p, uint64_t count)
{
    for (uint64_t i = 1; i <= count; i++) {
        p->end[i] = next(p);
        p->bytes[i] = next(p);
        fprintf(p->out, "    p%" PRIu64 " = 0;\n", i);
    }
}

/* Prints an entry. False: it is the last one. */
static bool print_entry(printer *p)
{
    const uint64_t word = next(p);
    const uint32_t code = (uint32_t)ac_bits(word, 0, 8);
    if (code < AC_OPCODES)
        print_instruction(p, word);
    else if (code == WORDS_TILE)
        print_tile(p, word);
    else if (code == WORDS_DRAINS)
        print_drains(p, word);
    else if (code == WORDS_FLAGS)
        for (uint64_t list = word >> 8; list; list >>= 10)
            fprintf(p->out, "    flag(%" PRIu64 ");\n", ac_bits(list, 0, 10));
    else if (code == WORDS_SCALE) {
        fprintf(p->out, "    set_scale(");
        wide_operand(p, next(p));
        fprintf(p->out, " >> 5 | %" PRIu64 ", (event_t)%" PRIu64 ");\n", ac_bits(word, 10, 1) << 15,
                ac_bits(word, 8, 2));
    } else if (code == WORDS_MASK) {
        const uint64_t high = next(p);
        fprintf(p->out, "    set_vector_mask(UINT64_C(0x%" PRIx64 "), UINT64_C(0x%" PRIx64 "));\n",
                high, next(p));
    } else if (code == WORDS_LOOP) {
        fprintf(p->out, "    for (uint64_t turns%u = %" PRIu64 "; turns%u; turns%u--) {\n",
                p->depth, word >> 16, p->depth, p->depth);
        p->depth++;
    } else if (code == WORDS_AGAIN)
        print_again(p, word);
    else if (code == WORDS_START)
        print_start(p, word >> 8);
    else if (code == WORDS_END) {
        p->chunk += CHUNK_WORDS;
        p->at = p->chunk + 1;
    } else
        return false;
    return true;
}

/* ---- a kernel ------------------------------------------------------------------------------- */

static void print_core(FILE *out, const uint64_t *image, uint32_t segment, uint32_t core)
{
    const size_t first = (size_t)image[core] * CHUNK_WORDS;
    printer p = {.out = out, .words = image + WORDS_HEADER / 8, .at = first + 1, .chunk = first};
    fprintf(out, "static __aicore__ void segment_%u_core_%u(void)\n{\n", segment, core);
    for (uint32_t i = 1; i <= WORDS_PHASES; i++)
        fprintf(out, "%s p%u = 0%s", i == 1 ? "    uint64_t" : "", i,
                i == WORDS_PHASES ? ";\n" : ",");
    while (print_entry(&p))
        ;
    for (uint32_t i = 1; i <= WORDS_PHASES; i++)
        fprintf(out, "    (void)p%u;\n", i);
    fprintf(out, "}\n\n");
}

static bool print_segments(FILE *out, const ac_program *program, format_error *error)
{
    for (uint32_t s = 0; s < program->header.segments; s++) {
        const char *why;
        const size_t bytes = ascend_words_bytes(program, s, &why);
        uint64_t *image = bytes ? malloc(bytes) : NULL;
        if (!image)
            return format_fail(error, "segment %u: %s", s, bytes ? "out of memory" : why);
        ascend_words_make(program, s, image);
        for (uint32_t core = 0; core < AC_PROGRAM_CORES; core++)
            print_core(out, image, s, core);
        free(image);
    }
    return true;
}

bool emit_kernel(const ac_program *program, char **source, format_error *error)
{
    char name[ASCEND_KERNEL_NAME];
    size_t size;
    FILE *out = open_memstream(source, &size);
    if (!out)
        return format_fail(error, "out of memory");
    fprintf(out, "// SPDX-License-Identifier: Apache-2.0\n/* Written by mona for one program. */\n"
                 "#define MONA_SPECIALISED\n#include \"engine/ascend/kernel/replay.cce\"\n\n");
    bool ok = print_segments(out, program, error);
    ascend_own_kernel(program, name);
    fprintf(out, "#ifndef MONA_KERNEL\n#define MONA_KERNEL %s\n#endif\n", name);
    fprintf(out,
            "CCE_KERNEL void MONA_KERNEL(__gm__ uint8_t *words, __gm__ uint8_t *addresses)\n{\n"
            "    launch(words, addresses);\n"
            "    switch (cce_load(uint64_t, WORDS_UB_HEADER + 16) * 2 + get_block_idx()) {\n");
    for (uint32_t i = 0; i < AC_PROGRAM_CORES * program->header.segments; i++)
        fprintf(out, "    case %u:\n        segment_%u_core_%u();\n        break;\n", i,
                i / AC_PROGRAM_CORES, i % AC_PROGRAM_CORES);
    fprintf(out, "    }\n    pipe_barrier(PIPE_ALL);\n}\n");
    if (fclose(out))
        ok = format_fail(error, "out of memory");
    if (!ok)
        free(*source);
    return ok;
}
