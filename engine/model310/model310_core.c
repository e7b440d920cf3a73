// SPDX-License-Identifier: Apache-2.0
/* A core of the 310's model: its names, its memory, the memory it may access, and its report. */
#include "engine/model310/model310_private.h"

#include "engine/libc.h"

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
    if (!m->config.costs)
        m->config.costs = &ac_costs_310;
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

void ac_model_observe(ac_core *core, void (*observe)(void *observer, const ac_model_event *event),
                      void *observer)
{
    core->model->config.observe = observe;
    core->model->config.observer = observer;
}

void ac_model_set_costs(ac_core *core, const ac_costs *costs)
{
    core->model->config.costs = costs ? costs : &ac_costs_310;
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
