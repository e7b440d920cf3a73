// SPDX-License-Identifier: Apache-2.0
/* Words from records. A loop whose body fits a chunk stays in one; other bodies begin and end with a
 * chunk. What is written is measured first, by the same code, which then has nowhere to write. */
#include "engine/ascend/words.h"

#include "engine/arith.h"
#include "engine/cpu/c/f16.h"
#include "engine/libc.h"

enum {
    CHUNK_WORDS = WORDS_CHUNK / 8,
    FLAGS_AT_ONCE = 5,
    FLAGS_PENDING = 16,
    UNKNOWN = 1 << 30, /* what a register holds */
};

/* How operands advance in the loops around them, and in which ring; 0: none. */
typedef struct phase {
    uint32_t ring;
    int32_t step[AC_LOOPS];
} phase;

typedef struct phase_set {
    uint64_t bits[(WORDS_PHASES + 64) / 64];
} phase_set;

typedef struct maker {
    const ac_program *program;
    const ac_segment *segment;
    uint64_t *out;         /* NULL: nowhere to write */
    uint32_t words;        /* so far, behind the image's header */
    uint32_t chunk;        /* of them, before the one that is being written */
    bool measuring;        /* a loop's body, in a chunk that does not end */
    const char *why;       /* the kernel cannot run it; NULL: it can */
    uint32_t depth;        /* of loops */
    uint32_t lanes, scale; /* in registers */
    uint32_t phases;
    phase phase[WORDS_PHASES + 1]; /* from 1 on */
    uint32_t flag[FLAGS_PENDING];  /* of 10 bits each, that are not written yet */
    uint32_t flag_count;
    uint32_t held; /* events from S to V that are set and not waited for yet, a bit each */
} maker;

static void refuse(maker *m, bool when, const char *why)
{
    if (when && !m->why)
        m->why = why;
}

/* ---- chunks --------------------------------------------------------------------------------- */

static void put(maker *m, uint64_t word)
{
    if (m->out)
        m->out[m->words] = word;
    m->words++;
}

static void new_chunk(maker *m)
{
    m->chunk = m->words;
    put(m, m->chunk / CHUNK_WORDS + 1);
}

static void end_chunk(maker *m)
{
    put(m, WORDS_END);
    while ((m->words - m->chunk) % CHUNK_WORDS)
        put(m, 0);
    new_chunk(m);
}

/* The next so many words lie in one chunk. */
static void need_room(maker *m, uint32_t words)
{
    refuse(m, words + 2 > CHUNK_WORDS, "an entry is larger than a chunk");
    if (!m->why && !m->measuring && m->words - m->chunk + words >= CHUNK_WORDS)
        end_chunk(m);
}

/* Writes the first `count` flags. */
static void write_some(maker *m, uint32_t count)
{
    for (uint32_t k = 0; k < count;) {
        uint64_t word = WORDS_FLAGS;
        for (uint32_t i = 0; i < FLAGS_AT_ONCE && k < count; i++, k++)
            word |= (uint64_t)m->flag[k] << (8 + 10 * i);
        need_room(m, 1);
        put(m, word);
    }
    m->flag_count -= count;
    memmove(m->flag, m->flag + count, m->flag_count * sizeof *m->flag);
}

static void write_flags(maker *m)
{
    write_some(m, m->flag_count);
}

/* Begins an entry of so many words. */
static void begin(maker *m, uint32_t words)
{
    write_flags(m);
    need_room(m, words);
}

/* ---- flags ---------------------------------------------------------------------------------- */

static uint32_t pair_of(ac_pipe src, ac_pipe dst)
{
#define PAIR(i, from, to) [i] = AC_PIPE_##from | AC_PIPE_##to << 3,
    static const uint8_t pairs[] = {WORDS_PAIRS_FIRST(PAIR) WORDS_PAIRS_OTHER(PAIR)};
#undef PAIR
    for (uint32_t i = 0; i < sizeof pairs; i++)
        if (pairs[i] == (src | dst << 3))
            return i;
    return UNKNOWN;
}

/* The kernel keeps some events between S and MTE2 for itself. */
static bool is_free(const ac_flag *f)
{
    return f->src == AC_PIPE_S && f->dst == AC_PIPE_MTE2   ? f->event < AC_EVENT3
           : f->src == AC_PIPE_MTE2 && f->dst == AC_PIPE_S ? f->event < AC_EVENT2
                                                           : true;
}

static void track_event(maker *m, const ac_instruction *i)
{
    const uint32_t bit = (uint32_t)1 << i->flag.event;
    if (i->flag.src == AC_PIPE_S && i->flag.dst == AC_PIPE_V)
        m->held = i->opcode == AC_OP_SET_FLAG ? m->held | bit : m->held & ~bit;
}

/* An event from S to V that the kernel may use in between. */
static uint64_t free_event(maker *m)
{
    for (uint32_t event = 0; event < 4; event++)
        if (!(m->held >> event & 1))
            return event;
    refuse(m, true, "all events from S to V are in use");
    return 0;
}

static uint32_t code_of(uint32_t kind, uint32_t pair, uint32_t event)
{
    return kind | pair << 2 | event << 8;
}

static void add_flag(maker *m, uint16_t flag)
{
    const ac_instruction i = ac_flag_instruction(flag);
    uint32_t kind = i.opcode == AC_OP_SET_FLAG ? WORDS_SET : WORDS_WAIT, pair = i.flag.src;
    if (i.opcode == AC_OP_BARRIER)
        kind = WORDS_BARRIER;
    else {
        pair = pair_of(i.flag.src, i.flag.dst);
        track_event(m, &i);
    }
    refuse(m, pair == UNKNOWN || !is_free(&i.flag), "the kernel has no such flag");
    if (m->why || (i.opcode == AC_OP_BARRIER && pair == AC_PIPE_S))
        return;
    uint32_t *last = m->flag_count ? &m->flag[m->flag_count - 1] : NULL;
    if (last && kind == WORDS_WAIT && *last == code_of(WORDS_SET, pair, i.flag.event)) {
        *last |= WORDS_SYNC;
        return;
    }
    if (m->flag_count == FLAGS_PENDING)
        write_flags(m);
    m->flag[m->flag_count++] = code_of(kind, pair, i.flag.event);
}

/* The slot of a flag, below `slot`; -1: there is none. */
static int slot_of(uint32_t flag, int slot)
{
#define SLOT(i, kind, src, dst) {WORDS_##kind, AC_PIPE_##src, AC_PIPE_##dst},
    static const struct {
        uint32_t kind;
        ac_pipe src, dst;
    } slots[] = {WORDS_SLOTS(SLOT)};
#undef SLOT
    while (--slot >= 0) {
        const bool barrier = slots[slot].kind == WORDS_BARRIER;
        const uint32_t pair =
            barrier ? (uint32_t)slots[slot].src : pair_of(slots[slot].src, slots[slot].dst);
        if ((flag & 0xff) == code_of(slots[slot].kind, pair, 0))
            return slot;
    }
    return -1;
}

/* Begins the entry of a tile or an instruction: returns the bits of the last flags, which its first
 * word holds. Those before them are written. */
static uint64_t begin_flagged(maker *m, uint32_t words)
{
    uint64_t bits = 0;
    int slot = 8;
    uint32_t kept = m->flag_count;
    while (kept && (slot = slot_of(m->flag[kept - 1], slot)) >= 0)
        bits |= (uint64_t)(1 | m->flag[--kept] >> 8 << 1) << (40 + 3 * slot);
    write_some(m, kept);
    m->flag_count = 0;
    need_room(m, words);
    return bits;
}

/* Begins an entry that sets a register, ahead of flags that are not written yet, unless they are of S
 * themselves. */
static void begin_register(maker *m, uint32_t words)
{
    for (uint32_t k = 0; k < m->flag_count; k++)
        if ((m->flag[k] & 3) != WORDS_BARRIER &&
            (m->flag[k] >> 2 & 63) >= pair_of(AC_PIPE_S, AC_PIPE_V))
            write_flags(m);
    need_room(m, words);
}

/* ---- operands ------------------------------------------------------------------------------- */

static uint32_t rounded(uint32_t bytes)
{
    return (bytes + AC_BLOCK - 1) / AC_BLOCK * AC_BLOCK;
}

/* Where a byte of the constants lies in L1: behind the rings, and the row of zeros behind that. */
static uint32_t constant_at(const maker *m, uint32_t at)
{
    const ac_program_header *h = &m->program->header;
    const ac_segment *s = m->segment;
    const uint32_t zeros = h->constants_bytes - h->zero_bytes;
    return rounded(s->l1_bytes) +
           (at >= zeros ? rounded(s->constants) + at - zeros : at - s->first_constant);
}

/* The phase of an operand, which is added if it is new; 0: it does not move. */
static uint32_t phase_of(maker *m, const ac_record *r, uint32_t space, uint32_t k)
{
    const ac_motion *motion = &m->program->motions[r->motion];
    phase p = {0};
    bool moves = false;
    for (uint32_t d = 0; d < m->depth; d++) {
        p.step[d] = motion->step[d][k];
        moves |= p.step[d] != 0;
    }
    if (!moves)
        return 0;
    p.ring = space == AC_L1 ? ac_ring_of(m->program->rings + m->segment->first_ring,
                                         m->segment->rings, r->at[k])
                            : 0;
    for (uint32_t i = 1; i <= m->phases; i++)
        if (!memcmp(&m->phase[i], &p, sizeof p))
            return i;
    refuse(m, m->phases == WORDS_PHASES, "too many operands move in one loop");
    if (m->why)
        return 0;
    m->phase[++m->phases] = p;
    return m->phases;
}

typedef struct place {
    uint32_t offset, base, phase;
} place;

static place place_of(maker *m, const ac_record *r, uint32_t k)
{
    const uint32_t space = m->program->forms[r->form].space[k];
    place p = {r->at[k], 0, phase_of(m, r, space, k)};
    if (space == AC_CONSTANTS)
        p.offset = constant_at(m, r->at[k]);
    else if (space >= AC_GM)
        p.base = 1 + space - AC_GM + 1;
    return p;
}

/* Bytes from the first base in UB: that of the core's own buffers takes four. */
static uint64_t base_bytes(uint32_t base)
{
    return base ? 8 * (3 + (uint64_t)base) : 0;
}

/* Begins the entry of an instruction: its first word, its operands, and room for `more` words. */
static void put_operands(maker *m, uint32_t code, uint32_t type, const place *at, uint32_t count,
                         uint32_t more)
{
    bool wide = false;
    for (uint32_t k = 0; k < count; k++)
        wide |= at[k].base || at[k].phase || at[k].offset >> 20;
    const uint64_t flags = begin_flagged(m, 1 + (wide ? count : 1) + more);
    put(m, code | (uint64_t)(wide ? count : 0) << 8 | (uint64_t)type << 16 | flags);
    uint64_t narrow = 0;
    for (uint32_t k = 0; k < count; k++) {
        narrow |= (uint64_t)at[k].offset << 20 * k;
        if (wide)
            put(m, at[k].offset | base_bytes(at[k].base) << 32 | (uint64_t)at[k].phase * 24 << 40);
    }
    if (!wide)
        put(m, narrow);
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
    begin_register(m, 3);
    put(m, WORDS_MASK);
    put(m, lanes > 64 ? UINT64_MAX >> (128 - lanes) : 0);
    put(m, lanes >= 64 ? UINT64_MAX : ((uint64_t)1 << lanes) - 1);
}

static void set_scale(maker *m, const place *b, bool relu)
{
    const uint32_t scale = b->offset | (uint32_t)relu;
    if (m->scale == scale && !b->phase)
        return;
    m->scale = b->phase ? UNKNOWN : scale;
    begin_register(m, 2);
    put(m, WORDS_SCALE | free_event(m) << 8 | (uint64_t)relu << 10);
    put(m, b->offset | (uint64_t)b->phase * 24 << 40);
}

/* One vector for so many fractals, of each of so many columns of them. */
static void put_bias(maker *m, const ac_form *f, const place *at)
{
    place to[2] = {at[0], at[1]};
    const uint32_t columns = ((uint32_t)(f->config[0] >> 24 & 0xfff) + 15) / AC_FRACTAL;
    uint32_t rows = ((uint32_t)(f->config[0] & 0xfff) + 15) / AC_FRACTAL;
    while (rows) { /* more than 255 are all of L0C, and one column */
        const uint32_t now = min_u32(rows, UINT8_MAX);
        put_operands(m, AC_OP_BIAS_L0C, 0, to, 2, 1);
        put(m, columns | now << 8);
        to[0].offset += now * AC_FRACTAL * AC_FRACTAL * 4;
        rows -= now;
    }
}

static void put_pattern(maker *m, uint64_t index)
{
    const ac_pattern *pattern = &m->program->patterns[index];
    for (uint32_t i = 0; i < AC_FRACTAL; i += 4) {
        uint64_t word = 0;
        for (uint32_t k = 0; k < 4; k++)
            word |= (uint64_t)(uint16_t)(pattern->at[i + k] / AC_BLOCK) << 16 * k;
        put(m, word);
    }
}

/* Where the scalar unit finds an operand. */
static uint64_t scalar_place(uint32_t space)
{
    return space >= AC_GM ? WORDS_IN_GM : space == AC_UB ? WORDS_IN_UB : WORDS_IN_L1;
}

static void put_vector(maker *m, const ac_form *f, const place *at, uint32_t operands)
{
    const uint32_t op = f->opcode;
    const bool wide = op == AC_OP_VECS + AC_VADDS_F32 || op == AC_OP_VECS + AC_VMULS_F32;
    const bool valued = op == AC_OP_DUP || ac_is_vecs((ac_opcode)op);
    uint32_t value = op == AC_OP_DUP ? f->value : ac_f16_from_f32(f->scalar);
    if (wide)
        memcpy(&value, &f->scalar, sizeof value);
    set_lanes(m, (uint32_t)f->config[1]);
    put_operands(m, op, 0, at, operands, 1 + valued);
    put(m, f->config[0]);
    if (valued)
        put(m, value);
}

static void put_scalar(maker *m, const ac_form *f, const place *at)
{
    const uint64_t *config = f->config;
    if (f->opcode == AC_OP_MOVE) {
        put_operands(m, AC_OP_MOVE, 0, at, 2, 3);
        put(m, config[0]);
        put(m, config[1]);
        put(m, config[2] | scalar_place(f->space[0]) << 32 | scalar_place(f->space[1]) << 40);
    } else {
        put_operands(m, AC_OP_FILL, 0, at, 1, 2);
        put(m, config[0] | scalar_place(f->space[0]) << 40);
        put(m, config[1]);
    }
}

static void put_instruction(maker *m, const ac_record *r)
{
    const ac_form *f = &m->program->forms[r->form];
    const uint32_t op = f->opcode, operands = ac_operands((ac_opcode)op);
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
        put_operands(m, op, (uint32_t)(config[1] | free_event(m) << 2), at, 2, 9);
        put(m, config[0]);
        put_pattern(m, config[2] & UINT32_MAX);
        put_pattern(m, config[2] >> 32);
    } else if (op == AC_OP_LOAD3D) {
        put_operands(m, op, load3d_type(f), at, 2, 3);
        put(m, fmatrix_of(f));
        put(m, config[0]);
        put(m, config[1]);
    } else {
        put_operands(m, op, 0, at, operands, 1);
        put(m, config[0]);
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

/* Whether a record is an instruction of this kind. */
static const ac_form *form_of(const maker *m, const ac_record *r, const ac_record *end)
{
    return r < end && r->form < AC_RECORD_OPERATOR ? &m->program->forms[r->form] : NULL;
}

/* Whether load3d i of a tile takes the registers of the one before. */
static bool same_registers(const maker *m, const ac_record *r, uint32_t i)
{
    const ac_form *f = &m->program->forms[r[i].form];
    const ac_form *before = i ? &m->program->forms[r[i - 1].form] : NULL;
    return before && f->config[1] == before->config[1] && f->config[2] == before->config[2];
}

/* Writes load3ds and the mad that they are for as a tile. Returns how many records it takes; 0: they
 * are none. *sets: the one behind has one flag less then. */
static uint32_t put_tile(maker *m, const ac_record *r, const ac_record *end, bool *sets)
{
    const ac_form *first = form_of(m, r, end), *f = first;
    uint64_t events[4] = {0};
    uint32_t loads = 0, words = 3;
    if (first->opcode != AC_OP_LOAD3D ||
        !is_flag(first, first->flag_count - 1u, AC_OP_WAIT_FLAG, AC_PIPE_M, AC_PIPE_MTE1, events))
        return 0;
    for (; f && f->opcode == AC_OP_LOAD3D; f = form_of(m, r + ++loads, end))
        if ((loads && f->flag_count) || load3d_type(f) != load3d_type(first) ||
            phase_of(m, r + loads, f->space[0], 0))
            return 0;
        else
            words += same_registers(m, r, loads) ? 2 : 4;
    const ac_record *product = r + loads;
    const ac_form *behind = form_of(m, product + 1, end);
    *sets = behind && is_flag(behind, 0, AC_OP_SET_FLAG, AC_PIPE_M, AC_PIPE_MTE1, &events[3]);
    if (!f || !ac_is_mmad((ac_opcode)f->opcode) || f->flag_count != 2 ||
        !is_flag(f, 0, AC_OP_SET_FLAG, AC_PIPE_MTE1, AC_PIPE_M, &events[1]) ||
        !is_flag(f, 1, AC_OP_WAIT_FLAG, AC_PIPE_MTE1, AC_PIPE_M, &events[2]) ||
        events[1] != events[2] || words + 2 > CHUNK_WORDS || loads > UINT8_MAX)
        return 0;
    uint64_t operands = 0;
    for (uint32_t k = 0; k < 3; k++) {
        if (phase_of(m, product, f->space[k], k))
            return 0;
        operands |= (uint64_t)product->at[k] << 20 * k;
    }
    const uint64_t flags = begin_flagged(m, words);
    put(m, flags | WORDS_TILE | loads << 8 | events[0] << 16 | events[1] << 18 | events[3] << 20 |
               (uint64_t)*sets << 22 | (uint64_t)load3d_type(first) << 24 |
               (uint64_t)(f->opcode - AC_OP_MMAD) << 28);
    for (uint32_t i = 0; i < loads; i++) {
        const place a = place_of(m, &r[i], 1);
        const ac_form *load = form_of(m, &r[i], end);
        const bool same = same_registers(m, r, i);
        put(m, r[i].at[0] | (uint64_t)a.offset << 16 | (uint64_t)a.phase * 24 << 36 |
                   (uint64_t)!same << 48);
        put(m, load->config[0]);
        if (!same) {
            put(m, load->config[1]);
            put(m, fmatrix_of(load));
        }
    }
    put(m, operands);
    put(m, f->config[0]);
    return loads + 1;
}

/* ---- drains --------------------------------------------------------------------------------- */

/* Whether a record is a drain like `first`, behind it and without flags. */
static bool drains_too(maker *m, const ac_record *first, const ac_record *r, const ac_record *end)
{
    const ac_form *f = form_of(m, r, end), *g = &m->program->forms[first->form];
    return f && f->opcode == g->opcode && !f->flag_count && f->config[0] == g->config[0] &&
           f->relu == g->relu && r->at[2] == first->at[2] && !phase_of(m, r, f->space[2], 2) &&
           !phase_of(m, r, f->space[0], 0) && !phase_of(m, r, f->space[1], 1);
}

/* Returns how many records it takes. */
static uint32_t put_drains(maker *m, const ac_record *r, const ac_record *end)
{
    enum { MOST = 64 };
    const ac_form *f = form_of(m, r, end);
    const bool scaled = f->opcode == AC_OP_DRAIN + AC_DRAIN_S32_F16_DEQ;
    uint32_t count = 1;
    if (scaled) {
        const place scales = place_of(m, r, 2);
        set_scale(m, &scales, f->relu);
    }
    if (phase_of(m, r, f->space[0], 0) || phase_of(m, r, f->space[1], 1)) {
        const place at[2] = {place_of(m, r, 0), place_of(m, r, 1)};
        put_operands(m, f->opcode, !scaled && f->relu, at, 2, 1);
        put(m, f->config[0]);
        return 1;
    }
    while (count < MOST && drains_too(m, r, r + count, end))
        count++;
    const uint64_t flags = begin_flagged(m, 2 + count);
    put(m, WORDS_DRAINS | count << 8 | (uint64_t)(scaled ? 0 : 1 + f->relu) << 16 | flags);
    put(m, f->config[0]);
    for (uint32_t i = 0; i < count; i++)
        put(m, r[i].at[0] | (uint64_t)r[i].at[1] << 20);
    return count;
}

/* ---- loops ---------------------------------------------------------------------------------- */

static void put_records(maker *m, const ac_record *r, uint32_t count);

/* The phases that records use, those of the loops in them, too. */
static void find_phases(maker *m, const ac_record *r, uint32_t count, phase_set *used)
{
    for (uint32_t i = 0; i < count; i++) {
        if (r[i].form == AC_RECORD_LOOP) {
            m->depth++;
            find_phases(m, &r[i + 1], r[i].at[1], used);
            m->depth--;
            i += r[i].at[1];
        } else if (r[i].form != AC_RECORD_OPERATOR) {
            const ac_form *f = &m->program->forms[r[i].form];
            for (uint32_t k = 0; k < ac_operands((ac_opcode)f->opcode); k++) {
                const uint32_t p =
                    f->space[k] == AC_NO_SPACE ? 0 : phase_of(m, &r[i], f->space[k], k);
                used->bits[p / 64] |= (uint64_t)1 << p % 64;
            }
        }
    }
}

static bool in_set(const phase_set *s, uint32_t p)
{
    return s->bits[p / 64] >> p % 64 & 1;
}

static uint32_t ring_bytes(const maker *m, const phase *p)
{
    return p->ring ? m->program->rings[m->segment->first_ring + p->ring - 1].bytes : 0;
}

static void start_phases(maker *m)
{
    begin(m, 1 + 2 * m->phases);
    put(m, WORDS_START | (uint64_t)m->phases << 8);
    for (uint32_t i = 1; i <= m->phases; i++) {
        const uint32_t ring = m->phase[i].ring, bytes = ring_bytes(m, &m->phase[i]);
        put(m, ring ? m->program->rings[m->segment->first_ring + ring - 1].begin + (uint64_t)bytes
                    : UINT64_MAX);
        put(m, bytes);
    }
}

/* Bytes to move a phase, around its ring if it has one. */
static uint64_t move_of(const maker *m, uint32_t i, int64_t bytes)
{
    const int64_t ring = ring_bytes(m, &m->phase[i]);
    const int64_t move = ring ? (bytes % ring + ring) % ring : bytes;
    return i * 24 | (uint64_t)move << 16;
}

/* inside: the word of the chunk at which another turn begins; 0: at the next chunk's. */
static void put_again(maker *m, uint32_t turns, const phase_set *used, uint32_t inside)
{
    const uint32_t level = m->depth - 1;
    uint32_t moves = 0;
    for (uint32_t i = 1; i <= m->phases; i++)
        moves += in_set(used, i) && m->phase[i].step[level];
    begin(m, 1 + 2 * moves);
    put(m, WORDS_AGAIN | (uint64_t)moves << 8 | (uint64_t)level << 16 |
               (uint64_t)(inside > 0) << 18 | (uint64_t)inside * 8 << 20);
    for (uint32_t i = 1; i <= m->phases; i++) {
        const int64_t step = m->phase[i].step[level];
        if (!in_set(used, i) || !step)
            continue;
        put(m, move_of(m, i, step));
        put(m, move_of(m, i, -step * (int64_t)(turns - 1)));
    }
}

/* A loop in one chunk. */
static void put_inside(maker *m, const ac_record *loop, const phase_set *used)
{
    put(m, WORDS_LOOP | (uint64_t)(m->depth - 1) << 8 | (uint64_t)loop->at[0] << 16);
    m->lanes = m->scale = UNKNOWN; /* as a turn before may leave them */
    const uint32_t first = m->words - m->chunk;
    put_records(m, loop + 1, loop->at[1]);
    write_flags(m);
    put_again(m, loop->at[0], used, first);
}

static void put_across(maker *m, const ac_record *loop, const phase_set *used)
{
    begin(m, 1);
    put(m, WORDS_LOOP | (uint64_t)(m->depth - 1) << 8 | (uint64_t)loop->at[0] << 16);
    m->lanes = m->scale = UNKNOWN;
    end_chunk(m);
    const uint64_t first = m->chunk / CHUNK_WORDS;
    put_records(m, loop + 1, loop->at[1]);
    write_flags(m);
    put_again(m, loop->at[0], used, 0);
    if (m->out)
        m->out[m->chunk] |= first << 24 | (uint64_t)m->depth << 48;
    end_chunk(m);
}

static void put_loop(maker *m, const ac_record *loop)
{
    phase_set used = {{0}};
    write_flags(m);
    if (!m->depth)
        m->phases = 0;
    m->depth++;
    find_phases(m, loop + 1, loop->at[1], &used);
    if (m->depth == 1)
        start_phases(m);
    maker measured = *m;
    measured.out = NULL;
    measured.measuring = true;
    put_inside(&measured, loop, &used);
    const uint32_t words = measured.words - m->words;
    if (m->measuring)
        put_inside(m, loop, &used);
    else if (!measured.why && words + 2 <= CHUNK_WORDS) {
        need_room(m, words);
        put_inside(m, loop, &used);
    } else
        put_across(m, loop, &used);
    m->depth--;
}

/* ---- a segment ------------------------------------------------------------------------------ */

static void put_records(maker *m, const ac_record *r, uint32_t count)
{
    const ac_record *end = r + count;
    uint32_t taken = 0; /* flags of the next record that a tile has taken */
    while (r < end && !m->why) {
        const ac_form *f = form_of(m, r, end);
        if (r->form == AC_RECORD_LOOP) {
            put_loop(m, r);
            r += 1 + r->at[1];
            continue;
        }
        if (!f) {
            r++;
            continue;
        }
        uint32_t k = taken;
        for (; k + 1 < f->flag_count; k++)
            add_flag(m, f->flags[k]);
        bool sets = false;
        const uint32_t tile = k < f->flag_count ? put_tile(m, r, end, &sets) : 0;
        taken = tile && sets;
        if (tile) {
            r += tile;
            continue;
        }
        if (k < f->flag_count)
            add_flag(m, f->flags[k]);
        if (ac_is_drain((ac_opcode)f->opcode)) {
            r += put_drains(m, r, end);
            continue;
        }
        if (f->opcode != AC_OP_NONE)
            put_instruction(m, r);
        r++;
    }
    write_flags(m);
}

/* Copies bytes of the constants to L1. */
static void put_constants(maker *m, uint32_t first, uint32_t bytes)
{
    const place at[2] = {{constant_at(m, first), 0, 0}, {first, 1, 0}};
    if (!bytes)
        return;
    refuse(m, first % AC_BLOCK, "constants begin inside a block");
    put_operands(m, AC_OP_COPY + AC_GM_L1, 0, at, 2, 1);
    put(m, 1 << 4 | (uint64_t)(rounded(bytes) / AC_BLOCK) << 16);
}

static void put_core(maker *m, uint32_t core)
{
    const ac_program_header *h = &m->program->header;
    const ac_segment *s = m->segment;
    const ac_instruction barrier = {.opcode = AC_OP_BARRIER, .flag = {.src = AC_PIPE_ALL}};
    m->depth = m->phases = 0;
    m->lanes = m->scale = UNKNOWN;
    new_chunk(m);
    put_constants(m, s->first_constant, s->constants);
    put_constants(m, h->constants_bytes - h->zero_bytes, h->zero_bytes);
    add_flag(m, ac_flag_of(&barrier));
    put_records(m, m->program->records + s->core[core].first, s->core[core].count);
    need_room(m, 1);
    put(m, WORDS_STOP);
    if (m->out) /* nothing follows; it is copied once more */
        m->out[m->chunk] = m->chunk / CHUNK_WORDS;
    while (!m->why && m->words % CHUNK_WORDS)
        put(m, 0);
}

/* Returns how many words there are. */
static size_t put_segment(const ac_program *p, uint32_t segment, uint64_t *image, const char **why)
{
    maker m = {.program = p, .segment = &p->segments[segment]};
    const ac_segment *s = m.segment;
    refuse(&m,
           (uint64_t)rounded(s->l1_bytes) + rounded(s->constants) + rounded(p->header.zero_bytes) >
               ac_target_ascend310.l1_bytes,
           "its constants do not fit L1");
    refuse(&m, p->header.buffers >= WORDS_BASES, "too many buffers");
    m.out = image ? image + WORDS_HEADER / 8 : NULL;
    for (uint32_t core = 0; core < AC_PROGRAM_CORES && !m.why; core++) {
        if (image)
            image[core] = m.words / CHUNK_WORDS;
        put_core(&m, core);
    }
    *why = m.why;
    return WORDS_HEADER / 8 + (size_t)m.words;
}

size_t ascend_words_bytes(const ac_program *program, uint32_t segment, const char **why)
{
    const char *unsaid;
    const size_t words = put_segment(program, segment, NULL, why ? why : &unsaid);
    return *(why ? why : &unsaid) ? 0 : 8 * words;
}

void ascend_words_make(const ac_program *program, uint32_t segment, void *image)
{
    const char *why;
    memset(image, 0, WORDS_HEADER);
    ((uint64_t *)image)[AC_PROGRAM_CORES] = segment;
    put_segment(program, segment, image, &why);
}
