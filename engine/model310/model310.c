// SPDX-License-Identifier: Apache-2.0
/* The model of the 310: time, and the table that checks every instruction, times it and lets
 * ac_execute execute it. A core without a model only executes it. model310_core.c has a
 * core's state.
 *
 * The scalar unit issues all instructions in program order into unbounded queues; each pipe takes
 * its own in order. */
#include "engine/model310/model310_private.h"

#include "engine/libc.h"

/* ---- time ----------------------------------------------------------------------------------- */

/* Begins an instruction. */
static void begin(ac_model *m, ac_opcode opcode, ac_pipe pipe)
{
    m->index++;
    m->opcode = opcode;
    m->pipe = pipe;
    m->faulty = m->reported = false;
    m->report.instructions++;
}

void ac_model_issue(ac_model *m, double cycles)
{
    m->idle_from[AC_PIPE_S] += cycles;
    m->report.busy[AC_PIPE_S] += cycles;
    m->report.cycles = max_f64(m->report.cycles, m->idle_from[AC_PIPE_S]);
}

/* Lets the current instruction occupy its pipe from `ready` on at the earliest. Returns when it
 * ends. */
static double occupy(ac_model *m, double ready, double cycles, uint64_t flag_from)
{
    const double issued = max_f64(m->idle_from[AC_PIPE_S], ready);
    const double start = max_f64(issued, m->idle_from[m->pipe]), end = start + cycles;
    m->idle_from[m->pipe] = end;
    m->report.busy[m->pipe] += cycles;
    m->report.cycles = max_f64(m->report.cycles, end);
    if (m->config.observe)
        m->config.observe(m->config.observer, &(ac_model_event){m->config.core, m->pipe, m->kernel,
                                                                ac_operations[m->opcode].name,
                                                                start, end, m->index, flag_from});
    return end;
}

/* Ends an instruction other than a flag. True: it may be executed. An illegal one takes no time, as
 * durations are defined for legal operands only. */
static bool spend(ac_model *m, double cycles)
{
    ac_model_issue(m, m->config.costs->issue);
    occupy(m, 0, m->faulty ? 0 : cycles, 0);
    return !m->faulty;
}

/* Orders everything so far before everything after, on all pipes. */
static void join_all(ac_model *m)
{
    double idle = 0;
    for (int p = 0; p < AC_PIPES; p++)
        idle = max_f64(idle, m->idle_from[p]);
    for (int p = 0; p < AC_PIPES; p++) {
        m->idle_from[p] = idle;
        for (int q = 0; q < AC_PIPES; q++)
            m->clock[p][q] = p == q && p != AC_PIPE_V ? UINT32_MAX : m->index;
    }
}

void ac_model_wait(ac_core *core, double cycles)
{
    ac_model *m = core->model;
    m->idle_from[AC_PIPE_S] = max_f64(m->idle_from[AC_PIPE_S], cycles);
    m->report.cycles = max_f64(m->report.cycles, cycles);
    m->loads = 0;
    join_all(m);
}

/* MTE2's copy is complete before the next instruction. */
void ac_model_launch(ac_core *core, size_t resident_bytes)
{
    ac_model *m = core->model;
    const ac_costs *costs = m->config.costs;
    const uint32_t blocks = (uint32_t)ac_model_blocks(resident_bytes);
    const ac_copy c = {.bursts = 1, .blocks = (uint16_t)blocks};
    for (int p = 0; p < AC_PIPES; p++)
        m->idle_from[p] += costs->task_launch * costs->clock_mhz;
    ac_model_kernel(core, "launch");
    begin(m, AC_OP_COPY + AC_GM_L1, AC_PIPE_MTE2);
    m->report.gm_read += (uint64_t)blocks * AC_BLOCK;
    spend(m, blocks ? ac_time_copy(costs, AC_GM_L1, c, m->config.cores) : 0);
    join_all(m);
}

/* ---- instructions --------------------------------------------------------------------------- */

/* UB has 16 banks of blocks. In one repeat the blocks of one operand fall into 16 / gcd(step, 16)
 * of them, and blocks in the same bank take a cycle each. */
static double spread_of(const ac_stream *s, uint32_t lanes)
{
    const uint32_t blocks = ac_stream_blocks(s, lanes);
    uint32_t share = 1;
    while (share < 16 && !(s->block & share))
        share *= 2;
    const uint32_t banks = 16 / share;
    return s->block && blocks ? (blocks + banks - 1) / banks : 1;
}

static double vector_cycles(const ac_costs *costs, const ac_instruction *i)
{
    const ac_streams s = ac_streams_of(i);
    double spread = 1;
    for (uint32_t k = 0; k < s.count; k++)
        spread = max_f64(spread, spread_of(&s.at[k], i->vector.lanes));
    return ac_time_vector(costs, i->vector.repeat, spread);
}

static double mmad_cycles(ac_model *m, const ac_instruction *i)
{
    const ac_fractals f = ac_fractals_of(i);
    m->report.cube_useful += (double)f.m * f.k * f.n;
    return ac_time_mmad(m->config.costs, f.m, f.k, f.n);
}

static double copy_cycles(ac_model *m, ac_path path, ac_copy c)
{
    const uint64_t bytes = (uint64_t)c.bursts * c.blocks * AC_BLOCK;
    m->report.gm_read += path == AC_GM_L1 || path == AC_GM_UB ? bytes : 0;
    m->report.gm_written += path == AC_UB_GM ? bytes : 0;
    return ac_time_copy(m->config.costs, path, c, m->config.cores);
}

/* How long a legal instruction takes on its pipe. Half a block is no faster to transpose than a
 * whole one. A broadcast to L0C takes as long as a drain of as many fractals, of which it is the
 * reverse. */
static double cycles_of(ac_model *m, const ac_instruction *i)
{
    const ac_costs *costs = m->config.costs;
    const uint32_t op = i->opcode;
    if (ac_is_copy(op))
        return copy_cycles(m, (ac_path)(op - AC_OP_COPY), i->copy);
    if (op == AC_OP_LOAD2D)
        return ac_time_load2d(costs, i->fractals);
    if (op == AC_OP_LOAD3D)
        return ac_time_load3d(costs, i->load3d.repeat);
    if (ac_is_mmad(op))
        return mmad_cycles(m, i);
    if (op == AC_OP_BIAS_L0C)
        return ac_time_drain(costs, (i->product.n + 15) / AC_FRACTAL * (1 + i->product.k));
    if (ac_is_drain(op))
        return ac_time_drain(costs, (uint32_t)i->copy.bursts * i->copy.blocks);
    if (ac_is_vector(op))
        return vector_cycles(costs, i);
    if (ac_turns(i->opcode))
        return ac_time_transpose(costs, i->turn.repeat);
    const uint32_t steps = op == AC_OP_MOVE   ? AC_SCALAR_STEPS * i->move.count
                           : op == AC_OP_FILL ? AC_SCALAR_STEPS * i->fill.count
                                              : i->work.steps;
    return steps * costs->scalar_step;
}

/* ---- order ---------------------------------------------------------------------------------- */

/* The flag, or NULL and a finding if there is no such flag. */
static ac_flag_state *flag_of(ac_model *m, const ac_instruction *i)
{
    ac_fault fault;
    if (ac_legal(i, &fault))
        return &m->flags[i->flag.src][i->flag.dst][i->flag.event];
    ac_find(m, AC_FLAG, fault.operand, fault.found, fault.limit);
    return NULL;
}

static ac_pipe known_pipe(ac_pipe pipe)
{
    return (unsigned)pipe < AC_PIPES ? pipe : AC_PIPE_S;
}

static void join(uint32_t known[AC_PIPES], const uint32_t more[AC_PIPES])
{
    for (int q = 0; q < AC_PIPES; q++)
        known[q] = more[q] > known[q] ? more[q] : known[q];
}

static void set_flag(ac_model *m, const ac_instruction *i)
{
    const ac_pipe src = i->flag.src;
    begin(m, AC_OP_SET_FLAG, known_pipe(src));
    ac_flag_state *f = flag_of(m, i);
    if (f && f->set)
        ac_find_pair(m, AC_FLAG, "event", i->flag.event, AC_OP_SET_FLAG, (uint32_t)f->index);
    ac_model_issue(m, m->config.costs->issue);
    const double end = occupy(m, 0, m->config.costs->flag, 0);
    if (!f)
        return;
    *f = (ac_flag_state){.set = true, .time = end, .index = m->index, .kernel = m->kernel};
    memcpy(f->clock, m->clock[src], sizeof f->clock);
    f->clock[src] = m->index;
}

static void wait_flag(ac_model *m, const ac_instruction *i)
{
    const ac_pipe dst = i->flag.dst;
    begin(m, AC_OP_WAIT_FLAG, known_pipe(dst));
    ac_flag_state *f = flag_of(m, i);
    if (f && !f->set)
        ac_find(m, AC_FLAG, "event", i->flag.event, 0);
    const bool met = f && f->set;
    ac_model_issue(m, m->config.costs->issue);
    occupy(m, met ? f->time : 0, m->config.costs->flag, met ? f->index : 0);
    if (!met)
        return;
    join(m->clock[dst], f->clock);
    f->set = false;
}

/* A barrier for one pipe costs only its issue: pipes are in order here anyway. */
static void barrier(ac_model *m, const ac_instruction *i)
{
    const ac_pipe pipe = i->flag.src;
    ac_fault fault;
    begin(m, AC_OP_BARRIER, known_pipe(pipe));
    if (!ac_legal(i, &fault))
        ac_find(m, AC_ILLEGAL_OPERAND, fault.operand, fault.found, fault.limit);
    ac_model_issue(m, m->config.costs->issue);
    if (pipe == AC_PIPE_ALL)
        join_all(m);
    if (pipe == AC_PIPE_V)
        m->clock[pipe][pipe] = m->index;
    occupy(m, 0, 0, 0);
}

/* ---- one instruction ------------------------------------------------------------------------ */

static void perform(ac_core *core, const ac_instruction *i)
{
    ac_model *m = core->model;
    begin(m, i->opcode, ac_operations[i->opcode].pipe);
    if (i->opcode != AC_OP_WORK)
        ac_model_issue(m, m->config.costs->operands);
    ac_check(m, i);
    if (spend(m, m->faulty ? 0 : cycles_of(m, i)))
        ac_execute(core, i);
}

void ac_model_take(ac_core *core, const ac_instruction *i)
{
    ac_model *m = core->model;
    if (i->opcode == AC_OP_SET_FLAG)
        set_flag(m, i);
    else if (i->opcode == AC_OP_WAIT_FLAG)
        wait_flag(m, i);
    else if (i->opcode == AC_OP_BARRIER)
        barrier(m, i);
    else if (i->opcode == AC_OP_TURN)
        ac_model_issue(m, m->config.costs->turn);
    else if (i->opcode != AC_OP_OPERATOR)
        perform(core, i);
}
