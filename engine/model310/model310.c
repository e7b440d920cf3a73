// SPDX-License-Identifier: Apache-2.0
/* The 310's model: time, and the table that checks every instruction, times it and lets
 * ac_isa_instructions execute it. On a core without a model it is only executed. A core's state is
 * in model310_core.c.
 *
 * The scalar unit issues all instructions in program order into unbounded queues; each pipe takes
 * its own in order. */
#include "engine/model310/model310_private.h"

#include "engine/arith.h"
#include "engine/libc.h"
#include "engine/cpu/c/rows.h"

/* ---- time ----------------------------------------------------------------------------------- */

/* Begins an instruction. */
static void begin(ac_model *m, uint32_t opcode, ac_pipe pipe)
{
    m->index++;
    m->opcode = (ac_opcode)opcode;
    m->pipe = pipe;
    m->faulty = m->reported = false;
    m->report.instructions++;
}

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
                                                                ac_opcode_names[m->opcode], start,
                                                                end, m->index, flag_from});
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
            m->clock[p][q] = p == q ? UINT32_MAX : m->index;
    }
}

void ac_model_wait(ac_core *core, double cycles)
{
    ac_model *m = core->model;
    m->idle_from[AC_PIPE_S] = max_f64(m->idle_from[AC_PIPE_S], cycles);
    m->report.cycles = max_f64(m->report.cycles, cycles);
    join_all(m);
}

/* ---- instructions --------------------------------------------------------------------------- */

static bool model_copy(ac_model *m, ac_path path, void *dst, const void *src, ac_copy c)
{
    static const uint8_t pipes[AC_PATH_COUNT] = {
        [AC_GM_L1] = AC_PIPE_MTE2, [AC_GM_UB] = AC_PIPE_MTE2, [AC_L1_UB] = AC_PIPE_MTE1,
        [AC_UB_L1] = AC_PIPE_MTE3, [AC_UB_GM] = AC_PIPE_MTE3,
    };
    const ac_path known = (unsigned)path < AC_PATH_COUNT ? path : AC_GM_L1;
    begin(m, AC_OP_COPY + (uint32_t)known, (ac_pipe)pipes[known]);
    ac_check_copy(m, path, dst, src, c);
    const uint64_t bytes = m->faulty ? 0 : (uint64_t)c.bursts * c.blocks * AC_BLOCK;
    m->report.gm_read += path == AC_GM_L1 || path == AC_GM_UB ? bytes : 0;
    m->report.gm_written += path == AC_UB_GM ? bytes : 0;
    return spend(m, ac_time_copy(m->config.costs, known, c, m->config.cores));
}

static void m_copy(ac_core *core, ac_path path, void *dst, const void *src, ac_copy c)
{
    if (!core->model || model_copy(core->model, path, dst, src, c))
        ac_isa_instructions.copy(core, path, dst, src, c);
}

static void m_load2d(ac_core *core, void *dst, const void *src, uint32_t fractals)
{
    ac_model *m = core->model;
    if (m) {
        begin(m, AC_OP_LOAD2D, AC_PIPE_MTE1);
        ac_check_load2d(m, dst, src, fractals);
    }
    if (!m || spend(m, ac_time_load2d(m->config.costs, fractals)))
        ac_isa_instructions.load2d(core, dst, src, fractals);
}

static void m_load3d(ac_core *core, void *dst, const void *row, const ac_load3d *l)
{
    ac_model *m = core->model;
    if (m) {
        begin(m, AC_OP_LOAD3D, AC_PIPE_MTE1);
        ac_check_load3d(m, dst, row, l);
        issue(m, m->config.costs->load3d_issue);
    }
    if (!m || spend(m, ac_time_load3d(m->config.costs, l->repeat)))
        ac_isa_instructions.load3d(core, dst, row, l);
}

static bool model_mmad(ac_core *core, ac_mad type, const void *const cab[3], const uint32_t mkn[3],
                       bool start_at_zero)
{
    ac_model *m = core->model;
    begin(m, AC_OP_MMAD, AC_PIPE_M);
    ac_check_mmad(m, core->target, type, cab, mkn, start_at_zero);
    if (m->faulty)
        return spend(m, 0);
    const uint32_t fractal_k =
        type == AC_MAD_F32F16F16 ? core->target->fractal_k_f16 : core->target->fractal_k_8bit;
    const uint32_t m1 = (mkn[0] + AC_FRACTAL - 1) / AC_FRACTAL;
    const uint32_t k1 = (mkn[1] + fractal_k - 1) / fractal_k;
    const uint32_t n1 = (mkn[2] + AC_FRACTAL - 1) / AC_FRACTAL;
    m->report.cube_useful += (double)m1 * k1 * n1;
    return spend(m, ac_time_mmad(m->config.costs, m1, k1, n1));
}

static void m_mmad(ac_core *core, ac_mad type, void *c, const void *a, const void *b, uint32_t m,
                   uint32_t k, uint32_t n, bool start_at_zero)
{
    if (!core->model || model_mmad(core, type, (const void *const[]){c, a, b},
                                   (const uint32_t[]){m, k, n}, start_at_zero))
        ac_isa_instructions.mmad(core, type, c, a, b, m, k, n, start_at_zero);
}

/* Takes as long as a drain of as many fractals, whose reverse it is. */
static void m_bias_l0c(ac_core *core, void *c, const void *bias, uint32_t rows, uint32_t n)
{
    ac_model *m = core->model;
    if (m) {
        begin(m, AC_OP_BIAS_L0C, AC_PIPE_V);
        ac_check_bias(m, c, bias, rows, n);
    }
    const uint32_t fractals = (rows + 15) / AC_FRACTAL * ((n + 15) / AC_FRACTAL);
    if (!m || spend(m, ac_time_drain(m->config.costs, fractals)))
        ac_isa_instructions.bias_l0c(core, c, bias, rows, n);
}

static void m_drain(ac_core *core, ac_drain kind, uint16_t *dst, const void *src, ac_copy c,
                    const uint16_t *deq16, bool relu)
{
    ac_model *m = core->model;
    if (m) {
        begin(m, AC_OP_DRAIN, AC_PIPE_V);
        ac_check_drain(m, kind, dst, src, c, deq16);
    }
    if (!m || spend(m, ac_time_drain(m->config.costs, (uint32_t)c.bursts * c.blocks)))
        ac_isa_instructions.drain(core, kind, dst, src, c, deq16, relu);
}

/* What MTE2 copies at launch is there before the program's first instruction. */
void ac_model_launch(ac_core *core, size_t resident_bytes)
{
    ac_model *m = core->model;
    const ac_costs *costs = m->config.costs;
    const uint32_t blocks = (uint32_t)ac_model_blocks(resident_bytes);
    const ac_copy c = {.bursts = 1, .blocks = (uint16_t)blocks};
    ac_model_kernel(core, "launch");
    for (int p = 0; p < AC_PIPES; p++)
        m->idle_from[p] = costs->task_launch * costs->clock_mhz;
    begin(m, AC_OP_COPY + AC_GM_L1, AC_PIPE_MTE2);
    m->report.gm_read += (uint64_t)blocks * AC_BLOCK;
    spend(m, blocks ? ac_time_copy(costs, AC_GM_L1, c, m->config.cores) : 0);
    join_all(m);
}

/* ---- vectors -------------------------------------------------------------------------------- */

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

static bool model_vector(ac_model *m, uint32_t opcode, const ac_stream *streams, uint32_t sources,
                         const ac_vector *v)
{
    begin(m, opcode, AC_PIPE_V);
    ac_check_vector(m, streams, sources, v);
    double spread = 1;
    for (uint32_t i = 0; i <= sources; i++)
        spread = max_f64(spread, spread_of(&streams[i], v->lanes));
    return spend(m, ac_time_vector(m->config.costs, v->repeat, spread));
}

static ac_stream dst_stream(const void *at, uint32_t width, const ac_vector *v)
{
    return (ac_stream){"dst", at, width, v->dst_block, v->dst_repeat};
}

static ac_stream a_stream(const char *name, const void *at, uint32_t width, const ac_vector *v)
{
    return (ac_stream){name, at, width, v->a_block, v->a_repeat};
}

static void m_dup(ac_core *core, uint16_t *dst, uint16_t value, const ac_vector *v)
{
    const ac_stream streams[] = {dst_stream(dst, 2, v)};
    if (!core->model || model_vector(core->model, AC_OP_DUP, streams, 0, v))
        ac_isa_instructions.dup(core, dst, value, v);
}

static void m_vec2(ac_core *core, ac_vec2 op, void *dst, const void *a, const void *b,
                   const ac_vector *v)
{
    const uint32_t width = op == AC_VADD_F32 || op == AC_VMUL_F32 ? 4 : 2;
    const ac_stream streams[] = {dst_stream(dst, width, v),
                                 a_stream("a", a, width, v),
                                 {"b", b, width, v->b_block, v->b_repeat}};
    if (!core->model || model_vector(core->model, AC_OP_VEC2 + (uint32_t)op, streams, 2, v))
        ac_isa_instructions.vec2(core, op, dst, a, b, v);
}

static void m_vecs(ac_core *core, ac_vecs op, void *dst, const void *a, float s, const ac_vector *v)
{
    const uint32_t width = op == AC_VADDS_F32 || op == AC_VMULS_F32 ? 4 : 2;
    const ac_stream streams[] = {dst_stream(dst, width, v), a_stream("a", a, width, v)};
    if (!core->model || model_vector(core->model, AC_OP_VECS + (uint32_t)op, streams, 1, v))
        ac_isa_instructions.vecs(core, op, dst, a, s, v);
}

static void m_vconv(ac_core *core, ac_vconv kind, void *dst, const void *src, const ac_vector *v)
{
    static const uint8_t widths[][2] = {
        [AC_F16_U8] = {1, 2}, [AC_F16_S8] = {1, 2},  [AC_U8_F16] = {2, 1},
        [AC_S8_F16] = {2, 1}, [AC_F16_F32] = {4, 2}, [AC_F32_F16] = {2, 4},
    };
    const ac_stream streams[] = {dst_stream(dst, widths[kind][0], v),
                                 a_stream("src", src, widths[kind][1], v)};
    if (!core->model || model_vector(core->model, AC_OP_VCONV, streams, 1, v))
        ac_isa_instructions.vconv(core, kind, dst, src, v);
}

static bool model_transpose(ac_model *m, uint32_t opcode, const ac_turned *dst,
                            const ac_turned *src, uint8_t repeat)
{
    begin(m, opcode, AC_PIPE_V);
    ac_check_transpose(m, dst, src, repeat);
    return spend(m, ac_time_transpose(m->config.costs, repeat));
}

static void m_transpose(ac_core *core, uint16_t *const dst[16], const uint16_t *const src[16],
                        uint8_t repeat, uint8_t dst_repeat, uint8_t src_repeat)
{
    ac_turned to = {.repeat = dst_repeat, .bytes = AC_BLOCK};
    ac_turned from = {.repeat = src_repeat, .bytes = AC_BLOCK};
    for (uint32_t i = 0; i < AC_FRACTAL; i++)
        to.at[i] = dst[i], from.at[i] = src[i];
    if (!core->model || model_transpose(core->model, AC_OP_TRANSPOSE, &to, &from, repeat))
        ac_isa_instructions.transpose(core, dst, src, repeat, dst_repeat, src_repeat);
}

/* Half a block is no faster than a whole one. */
static void m_transpose_b8(ac_core *core, uint8_t *const dst[16], bool dst_high,
                           const uint8_t *const src[16], bool src_high, uint8_t repeat,
                           uint8_t dst_repeat, uint8_t src_repeat)
{
    enum { HALF = AC_BLOCK / 2 };
    ac_turned to = {.repeat = dst_repeat, .skip = dst_high * HALF, .bytes = HALF};
    ac_turned from = {.repeat = src_repeat, .skip = src_high * HALF, .bytes = HALF};
    for (uint32_t i = 0; i < AC_FRACTAL; i++)
        to.at[i] = dst[i], from.at[i] = src[i];
    if (!core->model || model_transpose(core->model, AC_OP_TRANSPOSE_B8, &to, &from, repeat))
        ac_isa_instructions.transpose_b8(core, dst, dst_high, src, src_high, repeat, dst_repeat,
                                         src_repeat);
}

/* ---- scalar unit and order ------------------------------------------------------------------ */

static void m_scalar(ac_core *core, const void *read, size_t read_bytes, void *write,
                     size_t write_bytes, uint32_t steps)
{
    ac_model *m = core->model;
    if (m) {
        begin(m, AC_OP_SCALAR, AC_PIPE_S);
        ac_check_scalar(m, read, read_bytes, write, write_bytes);
    }
    if (!m || spend(m, steps * m->config.costs->scalar_step))
        ac_isa_instructions.scalar(core, read, read_bytes, write, write_bytes, steps);
}

/* The flag, or NULL and a finding if there is no such flag. */
static ac_flag_state *flag_of(ac_model *m, ac_pipe src, ac_pipe dst, ac_event event)
{
    if ((unsigned)src >= AC_PIPES || (unsigned)dst >= AC_PIPES || src == dst) {
        ac_find(m, AC_FLAG, "pipe", (unsigned)src >= AC_PIPES ? src : dst, AC_PIPES - 1);
        return NULL;
    }
    if ((unsigned)event >= AC_EVENTS) {
        ac_find(m, AC_FLAG, "event", event, AC_EVENTS - 1);
        return NULL;
    }
    return &m->flags[src][dst][event];
}

static void join(uint32_t known[AC_PIPES], const uint32_t more[AC_PIPES])
{
    for (int q = 0; q < AC_PIPES; q++)
        known[q] = more[q] > known[q] ? more[q] : known[q];
}

static void m_set_flag(ac_core *core, ac_pipe src, ac_pipe dst, ac_event event)
{
    ac_model *m = core->model;
    if (!m)
        return;
    begin(m, AC_OP_SET_FLAG, (unsigned)src < AC_PIPES ? src : AC_PIPE_S);
    ac_flag_state *f = flag_of(m, src, dst, event);
    if (f && f->set)
        ac_find_pair(m, AC_FLAG, "event", event, AC_OP_SET_FLAG, (uint32_t)f->index);
    issue(m, m->config.costs->issue);
    const double end = occupy(m, 0, m->config.costs->flag, 0);
    if (!f)
        return;
    *f = (ac_flag_state){.set = true, .time = end, .index = m->index, .kernel = m->kernel};
    memcpy(f->clock, m->clock[src], sizeof f->clock);
    f->clock[src] = m->index;
}

static void m_wait_flag(ac_core *core, ac_pipe src, ac_pipe dst, ac_event event)
{
    ac_model *m = core->model;
    if (!m)
        return;
    begin(m, AC_OP_WAIT_FLAG, (unsigned)dst < AC_PIPES ? dst : AC_PIPE_S);
    ac_flag_state *f = flag_of(m, src, dst, event);
    if (f && !f->set)
        ac_find(m, AC_FLAG, "event", event, 0);
    const bool met = f && f->set;
    issue(m, m->config.costs->issue);
    occupy(m, met ? f->time : 0, m->config.costs->flag, met ? f->index : 0);
    if (!met)
        return;
    join(m->clock[dst], f->clock);
    f->set = false;
}

/* A barrier for one pipe costs only its issue: pipes are in order here anyway. */
static void m_barrier(ac_core *core, ac_pipe pipe)
{
    ac_model *m = core->model;
    if (!m)
        return;
    begin(m, AC_OP_BARRIER, (unsigned)pipe < AC_PIPES ? pipe : AC_PIPE_S);
    if ((unsigned)pipe > AC_PIPE_ALL)
        ac_find(m, AC_ILLEGAL_OPERAND, "pipe", pipe, AC_PIPE_ALL);
    issue(m, m->config.costs->issue);
    if (pipe == AC_PIPE_ALL)
        join_all(m);
    occupy(m, 0, 0, 0);
}

const ac_isa ac_isa_model310 = {
    .name = "model310",
    .copy = m_copy,
    .load2d = m_load2d,
    .load3d = m_load3d,
    .mmad = m_mmad,
    .bias_l0c = m_bias_l0c,
    .drain = m_drain,
    .dup = m_dup,
    .vec2 = m_vec2,
    .vecs = m_vecs,
    .vconv = m_vconv,
    .transpose = m_transpose,
    .transpose_b8 = m_transpose_b8,
    .scalar = m_scalar,
    .set_flag = m_set_flag,
    .wait_flag = m_wait_flag,
    .barrier = m_barrier,
    .pack_row = ac_reference_pack_row,
    .unpack_row = ac_reference_unpack_row,
    .resize_row = ac_c_resize_row,
    .elementwise_row = ac_reference_elementwise_row,
    .luma_row = ac_c_luma_row,
    .chroma_row = ac_c_chroma_row,
};
