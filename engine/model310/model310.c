// SPDX-License-Identifier: Apache-2.0
/* The model of the 310: a core's state, and what checks every instruction, times it and lets
 * ac_execute execute it. A core without a model only executes it.
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

/* So many cycles of the scalar unit. */
static void issue(ac_model *m, double cycles)
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
    issue(m, m->config.costs->issue);
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
    issue(m, m->config.costs->issue);
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
    issue(m, m->config.costs->issue);
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
    issue(m, m->config.costs->issue);
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
        issue(m, m->config.costs->operands);
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
        issue(m, m->config.costs->turn);
    else if (i->opcode != AC_OP_OPERATOR)
        perform(core, i);
}

const char *ac_pipe_name(ac_pipe pipe)
{
    static const char *const names[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "ALL"};
    return (unsigned)pipe <= AC_PIPE_ALL ? names[pipe] : "?";
}

const char *ac_finding_kind_name(ac_finding_kind kind)
{
    static const char *const names[AC_FINDING_KINDS] = {
        [AC_ILLEGAL_OPERAND] = "illegal operand",
        [AC_OUT_OF_BUFFER] = "out of buffer",
        [AC_OVERLAP] = "overlap",
        [AC_FLAG] = "flag",
        [AC_RACE] = "race",
        [AC_UNWRITTEN] = "unwritten",
    };
    return (unsigned)kind < AC_FINDING_KINDS ? names[kind] : "?";
}

/* ---- a core --------------------------------------------------------------------------------- */

size_t ac_model_bytes(const ac_target *t)
{
    const size_t blocks = ac_model_blocks(t->l1_bytes) + ac_model_blocks(t->l0a_bytes) +
                          ac_model_blocks(t->l0b_bytes) + ac_model_blocks(t->l0c_bytes) +
                          ac_model_blocks(t->ub_bytes);
    return sizeof(ac_model) + blocks * sizeof(ac_shadow);
}

void ac_model_init(ac_core *core, void *memory, const ac_model_config *config)
{
    ac_model *m = core->model = memory;
    memset(m, 0, sizeof *m);
    m->config = *config;
    ac_model_set(core, config->costs, config->observe, config->observer);
    core->take = ac_model_take;
    m->memory = core->memory;
    ac_shadow *next = (ac_shadow *)(void *)(m + 1);
    for (int i = 0; i < AC_BUFFERS; i++) {
        m->shadow[i] = next;
        next += ac_model_blocks(m->memory[i].size);
    }
    m->shadow_bytes = (size_t)((uint8_t *)next - (uint8_t *)(m + 1));
    ac_model_reset(core);
}

void ac_model_reset(ac_core *core)
{
    ac_model *m = core->model;
    memset(m + 1, 0, m->shadow_bytes);
    memset(m->clock, 0, sizeof m->clock);
    memset(m->idle_from, 0, sizeof m->idle_from);
    memset(m->flags, 0, sizeof m->flags);
    memset(&m->report, 0, sizeof m->report);
    m->loads = 0;
    for (int p = 0; p < AC_PIPES; p++)
        m->clock[p][p] = p == AC_PIPE_V ? 0 : UINT32_MAX;
    m->index = 0;
    m->kernel = "";
}

void ac_model_set(ac_core *core, const ac_costs *costs,
                  void (*observe)(void *observer, const ac_model_event *event), void *observer)
{
    ac_model_config *c = &core->model->config;
    c->costs = costs ? costs : &ac_costs_310;
    c->observe = observe;
    c->observer = observer;
}

void ac_model_kernel(ac_core *core, const char *name)
{
    core->model->kernel = name ? name : "";
}

const ac_model_report *ac_model_so_far(const ac_core *core)
{
    return &core->model->report;
}

/* The finding belongs to the instruction that set the flag. */
static void left_set(ac_model *m, ac_flag_state *f, ac_event event)
{
    const char *kernel = m->kernel;
    const uint32_t index = m->index;
    m->kernel = f->kernel;
    m->index = (uint32_t)f->index;
    m->opcode = AC_OP_SET_FLAG;
    m->reported = false;
    ac_find(m, AC_FLAG, "left set", event, 0);
    m->kernel = kernel;
    m->index = index;
    f->set = false;
}

const ac_model_report *ac_model_finish(ac_core *core)
{
    ac_model *m = core->model;
    for (int src = 0; src < AC_PIPES; src++)
        for (int dst = 0; dst < AC_PIPES; dst++)
            for (int event = 0; event < AC_EVENTS; event++)
                if (m->flags[src][dst][event].set)
                    left_set(m, &m->flags[src][dst][event], (ac_event)event);
    return &m->report;
}
