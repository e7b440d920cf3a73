// SPDX-License-Identifier: Apache-2.0
#include "engine/ascend/words_maker.h"

#include "engine/cpu/c/f16.h"
#include "engine/libc.h"

/* ---- operands ------------------------------------------------------------------------------- */

uint32_t words_constant_at(const maker *m, uint32_t at)
{
    const ac_program_header *h = &m->program->header;
    const ac_segment *s = m->segment;
    const uint32_t zeros = h->constants_bytes - h->zero_bytes;
    return words_rounded(s->l1_bytes) +
           (at >= zeros ? words_rounded(s->constants) + at - zeros : at - s->first_constant);
}

uint32_t words_phase_of(maker *m, const ac_record *r, uint32_t k)
{
    const uint32_t space = m->program->forms[r->form].space[k];
    const ac_motion *motion = &m->program->motions[r->motion];
    phase p = {0};
    bool moves = false;
    for (uint32_t d = 0; d < m->depth; d++) {
        p.step[d] = motion->step[d][k];
        moves |= p.step[d] != 0;
    }
    if (!moves || space == AC_NO_SPACE)
        return 0;
    p.ring = ac_ring_of(m->program->rings, m->segment, space, r->at[k]);
    for (uint32_t i = 1; i <= m->phases; i++)
        if (!memcmp(&m->phase[i], &p, sizeof p))
            return i;
    words_refuse(m, m->phases == WORDS_PHASES, "too many operands move in one loop");
    if (m->why)
        return 0;
    m->phase[++m->phases] = p;
    return m->phases;
}

static place place_of(maker *m, const ac_record *r, uint32_t k)
{
    const ac_form *f = &m->program->forms[r->form];
    const uint32_t space = f->space[k];
    place p = {r->at[k], 0, words_phase_of(m, r, k)};
    if (space == AC_CONSTANTS && f->opcode == AC_OP_COPY + AC_GM_L1 && k)
        p.base = 1;
    else if (space == AC_CONSTANTS)
        p.offset = words_constant_at(m, r->at[k]);
    else if (space >= AC_GM)
        p.base = 1 + space - AC_GM + 1;
    return p;
}

/* Bytes from the first base in UB: that of the core's own buffers takes four. */
static uint64_t base_bytes(uint32_t base)
{
    return base ? 8 * (3 + (uint64_t)base) : 0;
}

/* How operands are written. */
static uint32_t way_of(const place *at, uint32_t count)
{
    bool wide = false, moves = false;
    for (uint32_t k = 0; k < count; k++) {
        wide |= at[k].base || at[k].offset >> 20 || (k && at[k].phase);
        moves |= at[k].phase != 0;
    }
    return wide || (moves && count > 2) ? WORDS_WIDE : moves ? WORDS_MOVING : WORDS_NARROW;
}

void words_put_operands(maker *m, uint32_t code, uint32_t type, const place *at, uint32_t count,
                        uint32_t more)
{
    const uint32_t way = way_of(at, count), wide = way == WORDS_WIDE ? count : 0;
    const uint64_t flags = words_begin_flagged(m, 1 + (wide ? count : 1) + more);
    words_put(m, code | (uint64_t)way << 8 | (uint64_t)wide << 10 | (uint64_t)type << 16 | flags);
    uint64_t narrow = way == WORDS_MOVING ? (uint64_t)at[0].phase * 24 << 40 : 0;
    for (uint32_t k = 0; k < count; k++) {
        narrow |= (uint64_t)at[k].offset << 20 * k;
        if (wide)
            words_put(m, at[k].offset | base_bytes(at[k].base) << 32 |
                             (uint64_t)at[k].phase * 24 << 40);
    }
    if (!wide)
        words_put(m, narrow);
}

/* ---- instructions --------------------------------------------------------------------------- */

static uint32_t load3d_type(const ac_form *f)
{
    const bool half = (f->config[2] >> 32 & 0xff) == 2, small = f->config[2] >> 40 & 1;
    return (half ? WORDS_F16 : WORDS_B8) + (small ? WORDS_SMALL_B8 : 0);
}

static uint64_t fmatrix_of(const ac_form *f)
{
    return f->config[2] & UINT32_MAX;
}

static void set_lanes(maker *m, uint32_t lanes)
{
    if (m->lanes == lanes)
        return;
    m->lanes = lanes;
    words_begin_register(m, 3);
    words_put(m, WORDS_MASK);
    words_put(m, lanes > 64 ? UINT64_MAX >> (128 - lanes) : 0);
    words_put(m, lanes >= 64 ? UINT64_MAX : ((uint64_t)1 << lanes) - 1);
}

/* Whether the register of scales holds others. It holds these then. */
static bool other_scale(maker *m, const place *b, bool relu)
{
    const uint32_t scale = b->offset | (uint32_t)relu, before = m->scale;
    m->scale = b->phase ? UNKNOWN : scale;
    return b->phase || scale != before;
}

/* The same for scales that do not move, as bits of WORDS_DRAINS. */
static uint64_t scale_of(maker *m, const place *b, bool relu)
{
    if (!other_scale(m, b, relu))
        return 0;
    return 1 << 18 | words_free_event(m) << 19 |
           (uint64_t)(b->offset / AC_BLOCK | (uint32_t)relu << 15) << 24;
}

static void set_scale(maker *m, const place *b, bool relu)
{
    if (!other_scale(m, b, relu))
        return;
    words_begin_register(m, 2);
    words_put(m, WORDS_SCALE | words_free_event(m) << 8 | (uint64_t)relu << 10);
    words_put(m, b->offset | (uint64_t)b->phase * 24 << 40);
}

/* For each column a burst of one fractal. The gap is in fractals. */
static void put_bias(maker *m, const ac_form *f, const place *at)
{
    const uint32_t columns = ((uint32_t)(f->config[0] >> 24 & 0xfff) + 15) / AC_FRACTAL;
    const uint32_t rows = ((uint32_t)(f->config[0] & 0xfff) + 15) / AC_FRACTAL;
    const uint32_t filled = 1 + (uint32_t)(f->config[0] >> 12 & 0xfff);
    words_put_operands(m, AC_OP_BIAS_L0C, 0, at, 2, 1);
    words_put(m, columns | filled << 8 | (uint64_t)(rows - filled) << 24);
}

static void put_pattern(maker *m, uint64_t index)
{
    const ac_pattern *pattern = &m->program->patterns[index];
    for (uint32_t i = 0; i < AC_FRACTAL; i += 4) {
        uint64_t word = 0;
        for (uint32_t k = 0; k < 4; k++)
            word |= (uint64_t)(uint16_t)(pattern->at[i + k] / AC_BLOCK) << 16 * k;
        words_put(m, word);
    }
}

static void put_vector(maker *m, const ac_form *f, const place *at, uint32_t operands)
{
    const uint32_t op = f->opcode;
    const bool valued = op == AC_OP_DUP || ac_is_vecs((ac_opcode)op);
    uint32_t value = op == AC_OP_DUP ? f->value : mona_f16_from_f32(f->scalar);
    if (ac_operations[op].width[0] == sizeof value)
        memcpy(&value, &f->scalar, sizeof value);
    set_lanes(m, (uint32_t)f->config[1]);
    words_put_operands(m, op, 0, at, operands, 1 + valued);
    words_put(m, f->config[0]);
    if (valued)
        words_put(m, value);
}

static void put_scalar(maker *m, const ac_form *f, const place *at)
{
    const uint32_t in_l1 = (f->space[0] != AC_UB) | (f->space[1] != AC_UB) << 1;
    words_put_operands(m, f->opcode, in_l1, at, ac_operations[f->opcode].operands, 2);
    words_put(m, f->config[0]);
    words_put(m, f->config[1]);
}

void words_put_instruction(maker *m, const ac_record *r)
{
    const ac_form *f = &m->program->forms[r->form];
    const uint32_t op = f->opcode, operands = ac_operations[op].operands;
    const uint64_t *config = f->config;
    place at[AC_OPERANDS] = {{0}};
    for (uint32_t k = 0; k < operands; k++)
        if (f->space[k] != AC_NO_SPACE)
            at[k] = place_of(m, r, k);
    if (ac_is_vector((ac_opcode)op))
        put_vector(m, f, at, operands);
    else if (op == AC_OP_MOVE || op == AC_OP_FILL)
        put_scalar(m, f, at);
    else if (op == AC_OP_BIAS_L0C)
        put_bias(m, f, at);
    else if (ac_turns((ac_opcode)op)) {
        words_put_operands(m, op, (uint32_t)(config[1] | words_free_event(m) << 2), at, 2, 9);
        words_put(m, config[0]);
        put_pattern(m, config[2] & UINT32_MAX);
        put_pattern(m, config[2] >> 32);
    } else if (op == AC_OP_LOAD3D) {
        m->load3d = NULL;
        words_put_operands(m, op, load3d_type(f), at, 2, 3);
        words_put(m, fmatrix_of(f));
        words_put(m, config[0]);
        words_put(m, config[1]);
    } else {
        words_put_operands(m, op, 0, at, operands, 1);
        words_put(m, config[0]);
    }
}

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
        if ((loads && f->flag_count) || load3d_type(f) != load3d_type(first) ||
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
                     (uint64_t)*sets << 22 | (uint64_t)load3d_type(first) << 24 |
                     (uint64_t)(f->opcode - AC_OP_MMAD) << 28);
    for (uint32_t i = 0; i < loads; i++) {
        const place a = place_of(m, &r[i], 1);
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
            words_put(m, fmatrix_of(load));
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
    const place scales = scaled ? place_of(m, r, 2) : (place){0};
    const bool moves = words_phase_of(m, r, 0) || words_phase_of(m, r, 1);
    uint64_t scale = 0;
    if (scaled && (moves || scales.phase))
        set_scale(m, &scales, f->relu);
    else if (scaled)
        scale = scale_of(m, &scales, f->relu);
    if (moves) {
        const place at[2] = {place_of(m, r, 0), place_of(m, r, 1)};
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
