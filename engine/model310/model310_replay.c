// SPDX-License-Identifier: Apache-2.0
/* What it takes the scalar unit to read a program and issue its instructions. Derived from what a
 * replay has to execute, not measured.
 *
 * The replay is threaded code in words of 8 bytes. Every instruction, flag and barrier is an entry:
 * a word that names its handler, then operands as registers take them. A handler loads its words
 * and issues the instruction; it ends with the load of the next entry's first word and a jump there.
 *   dispatch   load, jump
 *   word       load
 *   register   move to a special register. One that holds the value already is left alone, which is
 *              known when a program is made
 *   advance    an address in L1 or global memory advances in loops: load its pointer and its step,
 *              add, compare with the end of its ring, select, store the pointer
 *   turn       of a loop: dispatch, count down, jump. Counters and starts of loops are registers
 *   chunk      of a stream: dispatch, wait for the next one, set the flag that frees the last one,
 *              load three operands of the copy of the one after it, issue that
 * In L0 and UB addresses are constants. The last source that advances stays in a register, and is
 * not loaded again. Handlers differ by pipes and event, so that flags have no operands; a flag that
 * is waited for as soon as it is set is one entry. Chunks lie in UB, two of them; the program comes
 * from the L2, which holds it. */
#include "engine/aicore/program.h"
#include "engine/model310/model310_private.h"

enum {
    WORD = 8,
    CHUNK = AC_PROGRAM_UB_BYTES / 2,
    MASK_WORDS = 2,
    VA_WORDS = 8, /* 32 addresses of 16 bits in four registers of two words */
};

/* The next chunk is there before its first entry; the one after it is copied from then on. */
static void read_chunk(ac_model *m)
{
    const ac_costs *costs = m->config.costs;
    double *scalar = &m->idle_from[AC_PIPE_S], *mte2 = &m->idle_from[AC_PIPE_MTE2];
    const double cycles = costs->copy_latency + CHUNK / costs->l2_read_bytes;
    ac_model_issue(m, costs->replay_chunk);
    *scalar = max_f64(*scalar, m->replay.arrival);
    *mte2 = m->replay.arrival = max_f64(*scalar, *mte2) + cycles;
    m->report.busy[AC_PIPE_MTE2] += cycles;
    m->replay.bytes -= CHUNK;
}

/* An entry of `words` operands. */
static void entry(ac_model *m, uint32_t words, double cycles)
{
    const ac_costs *costs = m->config.costs;
    if (!costs->replay_dispatch)
        return;
    ac_model_issue(m, costs->replay_dispatch + words * costs->replay_word + cycles);
    m->replay.bytes += (1 + words) * WORD;
    while (m->replay.bytes >= CHUNK)
        read_chunk(m);
}

/* flags: the cost of letting the vector unit wait for it. */
static void set_register(ac_model *m, uint64_t *held, uint64_t value, uint32_t words, double flags)
{
    if (*held != value)
        entry(m, words, words * m->config.costs->replay_register + flags);
    *held = value;
}

static void set_registers(ac_model *m, const ac_instruction *i)
{
    const ac_costs *costs = m->config.costs;
    const uint32_t op = i->opcode;
    const double flags = 2 * costs->issue;
    if (op == AC_OP_LOAD3D)
        set_register(m, &m->replay.columns, i->load3d.columns, 1, 0);
    else if (op == AC_OP_DRAIN + AC_DRAIN_S32_F16_DEQ)
        set_register(m, &m->replay.scales, i->b << 1 | i->relu, 1, flags);
    else if (ac_is_vector(op))
        set_register(m, &m->replay.mask, i->vector.lanes, MASK_WORDS, 0);
    else if (ac_turns(op))
        entry(m, VA_WORDS, VA_WORDS * costs->replay_register + flags);
}

/* Packed operands of an instruction, and a scalar or value. */
static uint32_t words_of(const ac_instruction *i)
{
    const uint32_t op = i->opcode;
    return op == AC_OP_MOVE                                                              ? 3
           : op == AC_OP_LOAD3D || op == AC_OP_DUP || op == AC_OP_FILL || ac_is_vecs(op) ? 2
                                                                                         : 1;
}

static bool advances(ac_address at)
{
    return ac_space_of(at) == AC_L1 || ac_space_of(at) >= AC_GM;
}

static void read_instruction(ac_model *m, const ac_instruction *i)
{
    const uint32_t op = i->opcode;
    const ac_address at[] = {i->dst, i->a, i->b};
    const uint32_t operands = ac_turns(op) ? 0 : ac_is_drain(op) ? 2 : ac_operands(op);
    uint32_t words = words_of(i), advance = 0;
    for (uint32_t k = 0; k < operands; k++)
        if (!advances(at[k]))
            words++;
        else if (k != 1 || at[k] != m->replay.pointer) {
            words++;
            advance++;
        }
    if (operands > 1 && advances(i->a))
        m->replay.pointer = i->a;
    set_registers(m, i);
    entry(m, words, advance * m->config.costs->replay_advance);
}

void ac_replay(ac_model *m, const ac_instruction *i)
{
    const ac_instruction *last = &m->replay.last;
    const bool joined = i->opcode == AC_OP_WAIT_FLAG && last->opcode == AC_OP_SET_FLAG &&
                        i->flag.src == last->flag.src && i->flag.dst == last->flag.dst &&
                        i->flag.event == last->flag.event;
    m->replay.last = *i;
    if (i->opcode < AC_OP_SET_FLAG)
        read_instruction(m, i);
    else if (!joined)
        entry(m, 0, 0);
}

void ac_model_turn(ac_core *core)
{
    ac_model_issue(core->model, core->model->config.costs->replay_turn);
}
