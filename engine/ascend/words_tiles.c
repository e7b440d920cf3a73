// SPDX-License-Identifier: Apache-2.0
#include "engine/ascend/words_maker.h"

/* ---- tiles ---------------------------------------------------------------------------------- */

static bool is_flag(const ac_form *f, uint32_t k, ac_opcode op, ac_pipe src, ac_pipe dst,
                    uint64_t *event)
{
    const ac_instruction i = k < f->flag_count ? ac_flag_instruction(f->flags[k])
                                               : (ac_instruction){.opcode = AC_OP_NONE};
    *event = i.flag.event;
    return i.opcode == op && i.flag.src == src && i.flag.dst == dst;
}

/* Whether a load3d takes the registers of the one before. */
static bool same_registers(const ac_form *f, const ac_form *before)
{
    return before && f->config[1] == before->config[1] && f->config[2] == before->config[2];
}

uint32_t words_put_tile(maker *m, const ac_record *r, const ac_record *end, bool *sets)
{
    const ac_form *first = words_form_of(m, r, end), *f = first, *before = m->load3d;
    uint64_t events[4] = {0};
    uint32_t loads = 0, words = 3;
    if (first->opcode != AC_OP_LOAD3D ||
        !is_flag(first, first->flag_count - 1u, AC_OP_WAIT_FLAG, AC_PIPE_M, AC_PIPE_MTE1, events))
        return 0;
    for (; f && f->opcode == AC_OP_LOAD3D; f = words_form_of(m, r + ++loads, end)) {
        if ((loads && f->flag_count) || words_load3d_type(f) != words_load3d_type(first) ||
            words_phase_of(m, r + loads, 0))
            return 0;
        words += same_registers(f, before) ? 2 : 4;
        before = f;
    }
    const ac_record *product = r + loads;
    const ac_form *behind = words_form_of(m, product + 1, end);
    *sets = behind && is_flag(behind, 0, AC_OP_SET_FLAG, AC_PIPE_M, AC_PIPE_MTE1, &events[3]);
    if (!f || !ac_is_mmad((ac_opcode)f->opcode) || f->flag_count != 2 ||
        !is_flag(f, 0, AC_OP_SET_FLAG, AC_PIPE_MTE1, AC_PIPE_M, &events[1]) ||
        !is_flag(f, 1, AC_OP_WAIT_FLAG, AC_PIPE_MTE1, AC_PIPE_M, &events[2]) ||
        events[1] != events[2] || words + 2 > CHUNK_WORDS)
        return 0;
    uint64_t operands = 0;
    for (uint32_t k = 0; k < 3; k++) {
        if (words_phase_of(m, product, k))
            return 0;
        operands |= (uint64_t)product->at[k] << 20 * k;
    }
    const uint64_t flags = words_begin_flagged(m, words);
    words_put(m, flags | WORDS_TILE | events[0] << 16 | events[1] << 18 | events[3] << 20 |
                     (uint64_t)*sets << 22 | (uint64_t)words_load3d_type(first) << 24 |
                     (uint64_t)(f->opcode - AC_OP_MMAD) << 28);
    for (uint32_t i = 0; i < loads; i++) {
        const place a = words_place_of(m, &r[i], 1);
        const bool there = a.offset == m->loaded.offset && a.phase == m->loaded.phase;
        const ac_form *load = words_form_of(m, &r[i], end);
        const bool same = same_registers(load, m->load3d);
        m->load3d = load;
        m->loaded = a;
        words_put(m, r[i].at[0] | (uint64_t)a.offset << 16 | (uint64_t)a.phase * 24 << 36 |
                         (uint64_t)!same << 48 | (uint64_t)(i + 1 == loads) << 49 |
                         (uint64_t)there << 50);
        words_put(m, load->config[0]);
        if (!same) {
            words_put(m, load->config[1]);
            words_put(m, words_fmatrix_of(load));
        }
    }
    words_put(m, operands);
    words_put(m, f->config[0]);
    return loads + 1;
}

/* ---- drains --------------------------------------------------------------------------------- */

/* Whether a record is a drain like `first`, behind it and without flags. */
static bool drains_too(maker *m, const ac_record *first, const ac_record *r, const ac_record *end)
{
    const ac_form *f = words_form_of(m, r, end), *g = &m->program->forms[first->form];
    return f && f->opcode == g->opcode && !f->flag_count && f->config[0] == g->config[0] &&
           f->relu == g->relu && r->at[2] == first->at[2] && !words_phase_of(m, r, 2) &&
           !words_phase_of(m, r, 0) && !words_phase_of(m, r, 1);
}

uint32_t words_put_drains(maker *m, const ac_record *r, const ac_record *end)
{
    enum { MOST = 64 };
    const ac_form *f = words_form_of(m, r, end);
    const bool scaled = f->opcode == AC_OP_DRAIN + AC_DRAIN_S32_F16_DEQ;
    uint32_t count = 1;
    const place scales = scaled ? words_place_of(m, r, 2) : (place){0};
    const bool moves = words_phase_of(m, r, 0) || words_phase_of(m, r, 1);
    uint64_t scale = 0;
    if (scaled && (moves || scales.phase))
        words_set_scale(m, &scales, f->relu);
    else if (scaled)
        scale = words_scale_of(m, &scales, f->relu);
    if (moves) {
        const place at[2] = {words_place_of(m, r, 0), words_place_of(m, r, 1)};
        words_put_operands(m, f->opcode, !scaled && f->relu, at, 2, 1);
        words_put(m, f->config[0]);
        return 1;
    }
    while (count < MOST && drains_too(m, r, r + count, end))
        count++;
    const uint64_t flags = words_begin_flagged(m, 2 + count);
    words_put(m, WORDS_DRAINS | (uint64_t)(scaled ? 0 : 1 + f->relu) << 16 | scale | flags);
    words_put(m, f->config[0]);
    for (uint32_t i = 0; i < count; i++)
        words_put(m, r[i].at[0] | (uint64_t)r[i].at[1] << 20 | (uint64_t)(i + 1 == count) << 40);
    return count;
}
