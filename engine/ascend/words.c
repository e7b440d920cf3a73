// SPDX-License-Identifier: Apache-2.0
/* A loop whose body fits in a chunk lies within one; other bodies begin and end at a chunk's
 * bounds. */
#include "engine/ascend/words_maker.h"

#include "engine/arith.h"
#include "engine/libc.h"

_Static_assert(WORDS_UB_END <= WORDS_UB + AC_PROGRAM_UB_BYTES, "the replay kernel's part of UB");

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
            for (uint32_t k = 0; k < ac_operations[f->opcode].operands; k++) {
                const uint32_t p = words_phase_of(m, &r[i], k);
                used->bits[p / 64] |= (uint64_t)1 << p % 64;
            }
        }
    }
}

static bool in_set(const phase_set *s, uint32_t p)
{
    return s->bits[p / 64] >> p % 64 & 1;
}

static void start_phases(maker *m)
{
    words_begin(m, 1 + 2 * m->phases);
    words_put(m, WORDS_START | (uint64_t)m->phases << 8);
    for (uint32_t i = 1; i <= m->phases; i++) {
        const ac_ring *ring = m->phase[i].ring;
        words_put(m, ring ? (uint64_t)ring->begin + ring->bytes : UINT64_MAX);
        words_put(m, ring ? ring->bytes : 0);
    }
}

/* Bytes to move a phase, around its ring if it has one. */
static uint64_t move_of(const maker *m, uint32_t i, int64_t bytes)
{
    const ac_ring *ring = m->phase[i].ring;
    const int64_t move = ring ? floor_rest(bytes, ring->bytes) : bytes;
    return i * 24 | (uint64_t)move << 16;
}

/* inside: the word of the chunk at which another turn begins; 0: at the next chunk's. */
static void put_again(maker *m, uint32_t turns, const phase_set *used, uint32_t inside)
{
    const uint32_t level = m->depth - 1;
    uint32_t moves = 0;
    for (uint32_t i = 1; i <= m->phases; i++)
        moves += in_set(used, i) && m->phase[i].step[level];
    words_begin(m, 1 + 2 * moves);
    words_put(m, WORDS_AGAIN | (uint64_t)moves << 8 | (uint64_t)level << 16 |
                     (uint64_t)(inside > 0) << 18 | (uint64_t)inside * 8 << 20);
    for (uint32_t i = 1; i <= m->phases; i++) {
        const int64_t step = m->phase[i].step[level];
        if (!in_set(used, i) || !step)
            continue;
        words_put(m, move_of(m, i, step));
        words_put(m, move_of(m, i, -step * (int64_t)(turns - 1)));
    }
}

static void forget_registers(maker *m)
{
    m->lanes = m->scale = UNKNOWN;
    m->load3d = NULL;
    m->loaded.offset = UNKNOWN;
}

/* A loop in one chunk. */
static void put_inside(maker *m, const ac_record *loop, const phase_set *used)
{
    words_put(m, WORDS_LOOP | (uint64_t)(m->depth - 1) << 8 | (uint64_t)loop->at[0] << 16);
    forget_registers(m); /* a turn before may leave others */
    const uint32_t first = m->words - m->chunk;
    put_records(m, loop + 1, loop->at[1]);
    words_write_flags(m);
    put_again(m, loop->at[0], used, first);
}

static void put_across(maker *m, const ac_record *loop, const phase_set *used)
{
    words_begin(m, 1);
    words_put(m, WORDS_LOOP | (uint64_t)(m->depth - 1) << 8 | (uint64_t)loop->at[0] << 16);
    forget_registers(m);
    words_end_chunk(m);
    const uint64_t first = m->chunk / CHUNK_WORDS;
    put_records(m, loop + 1, loop->at[1]);
    words_write_flags(m);
    put_again(m, loop->at[0], used, 0);
    if (m->out)
        m->out[m->chunk] |= first << 24 | (uint64_t)m->depth << 48;
    words_end_chunk(m);
}

static void put_loop(maker *m, const ac_record *loop)
{
    phase_set used = {{0}};
    words_write_flags(m);
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
    if (m->measuring || (!measured.why && words + 2 <= CHUNK_WORDS)) {
        words_need_room(m, words);
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
        const ac_form *f = words_form_of(m, r, end);
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
            words_add_flag(m, f->flags[k]);
        bool sets = false;
        const uint32_t tile = k < f->flag_count ? words_put_tile(m, r, end, &sets) : 0;
        taken = tile && sets;
        if (tile) {
            r += tile;
            continue;
        }
        if (k < f->flag_count)
            words_add_flag(m, f->flags[k]);
        if (ac_is_drain((ac_opcode)f->opcode)) {
            r += words_put_drains(m, r, end);
            continue;
        }
        if (f->opcode != AC_OP_NONE)
            words_put_instruction(m, r);
        r++;
    }
    words_write_flags(m);
}

/* Copies the row of zeros to L1. */
static void put_zeros(maker *m, const ac_program_header *h)
{
    const uint32_t first = h->constants_bytes - h->zero_bytes;
    const place at[2] = {{words_constant_at(m, first), 0, 0}, {first, 1, 0}};
    if (!h->zero_bytes)
        return;
    words_refuse(m, first % AC_BLOCK, "constants begin inside a block");
    words_put_operands(m, AC_OP_COPY + AC_GM_L1, 0, at, 2, 1);
    words_put(m, 1 << 4 | (uint64_t)(words_rounded(h->zero_bytes) / AC_BLOCK) << 16);
}

static void put_core(maker *m, uint32_t core)
{
    const ac_segment *s = m->segment;
    const ac_instruction barrier = {.opcode = AC_OP_BARRIER, .flag = {.src = AC_PIPE_ALL}};
    m->depth = m->phases = 0;
    forget_registers(m);
    words_new_chunk(m);
    put_zeros(m, &m->program->header);
    words_add_flag(m, ac_flag_of(&barrier));
    put_records(m, m->program->records + s->core[core].first, s->core[core].count);
    words_need_room(m, 1);
    words_put(m, WORDS_STOP);
    if (m->out) /* nothing follows; it is copied once more */
        m->out[m->chunk] = m->chunk / CHUNK_WORDS;
    while (!m->why && m->words % CHUNK_WORDS)
        words_put(m, 0);
}

/* Returns how many words there are. */
static size_t put_segment(const ac_program *p, uint32_t segment, uint64_t *image, const char **why)
{
    maker m = {.program = p};
    words_refuse(&m, p->header.buffers >= WORDS_BASES, "too many buffers");
    m.out = image ? image + WORDS_HEADER / 8 : NULL;
    for (uint32_t core = 0; core < AC_PROGRAM_CORES && !m.why; core++) {
        const bool beside = ac_runs_beside(p->segments, p->header.segments, segment + core);
        const ac_segment *s = m.segment = &p->segments[segment + (core && beside)];
        words_refuse(&m,
                     (uint64_t)words_rounded(s->l1_bytes) + words_rounded(s->constants) +
                             words_rounded(p->header.zero_bytes) >
                         ac_target_ascend310.l1_bytes,
                     "its constants do not fit L1");
        if (image)
            image[core] = m.words / CHUNK_WORDS;
        put_core(&m, core);
    }
    *why = m.why;
    return WORDS_HEADER / 8 + (size_t)m.words;
}

void ascend_own_kernel(const ac_program *program, char name[ASCEND_KERNEL_NAME])
{
    static const char pattern[] = "mona_own3_00000000__kernel0";
    enum { DIGITS = 8, FIRST = 10 };
    const uint32_t crc = ac_program_crc(program);
    memcpy(name, pattern, sizeof pattern);
    for (uint32_t i = 0; i < DIGITS; i++)
        name[FIRST + i] = "0123456789abcdef"[crc >> 4 * (DIGITS - 1 - i) & 15];
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
    ((uint64_t *)image)[WORDS_SEGMENT] = segment;
    put_segment(program, segment, image, &why);
}
