// SPDX-License-Identifier: Apache-2.0
/* Whether operands lie in buffers, and the race detector.
 *
 * Each buffer has a shadow with one entry for each 32 bytes. Two accesses by different pipes
 * conflict if one of them writes, and no flag or barrier lets the pipe of the later one know that
 * the earlier one has ended; so do a vector instruction and an earlier one whose result it reads,
 * if there is no barrier of V between them. */
#include "engine/model310/model310_private.h"

/* ---- findings ------------------------------------------------------------------------------- */

static void find(ac_model *m, ac_finding finding)
{
    if (m->reported)
        return;
    m->reported = true;
    finding.kernel = m->kernel;
    finding.instruction = ac_operations[m->opcode].name;
    finding.index = m->index;
    if (m->report.finding_count < AC_MODEL_FINDINGS)
        m->report.findings[m->report.finding_count] = finding;
    m->report.finding_count++;
}

void ac_find(ac_model *m, ac_finding_kind kind, const char *operand, int64_t found, int64_t limit)
{
    m->faulty |= kind == AC_ILLEGAL_OPERAND || kind == AC_OUT_OF_BUFFER;
    find(m, (ac_finding){.kind = kind, .operand = operand, .found = found, .limit = limit});
}

void ac_find_pair(ac_model *m, ac_finding_kind kind, const char *operand, int64_t found,
                  ac_opcode other, uint32_t other_index)
{
    find(m, (ac_finding){.kind = kind,
                         .operand = operand,
                         .found = found,
                         .other = ac_operations[other].name,
                         .other_index = other_index});
}

/* ---- places --------------------------------------------------------------------------------- */

/* The shadow of the buffer that an access lies in; NULL: there is nothing to track, or a
 * finding. */
static ac_shadow *place(ac_model *m, const ac_access *a)
{
    const ac_space space = ac_space_of(a->at);
    const uint64_t offset = ac_offset_of(a->at);
    const ac_memory *memory = space < AC_SPACES ? &m->memory[space] : NULL;
    const bool there = memory && ac_may_lie_in(a, space) && offset < memory->size &&
                       (memory->writable || !a->write);
    const uint64_t room = there ? memory->size - offset : 0;
    if (there && offset % a->align)
        ac_find(m, AC_ILLEGAL_OPERAND, a->name, (int64_t)offset, a->align);
    else if (!there || a->extent > room)
        ac_find(m, AC_OUT_OF_BUFFER, a->name, (int64_t)a->extent, (int64_t)room);
    else
        return space < AC_BUFFERS ? m->shadow[space] : NULL;
    return NULL;
}

/* ---- accesses ------------------------------------------------------------------------------- */

/* Bits of a block that [from, to) covers; both count from the block's start, from < 32, to > 0. */
static inline uint32_t mask_of(size_t from, size_t to)
{
    const uint32_t below_to = to >= AC_BLOCK ? UINT32_MAX : (1u << to) - 1;
    return below_to & ~((1u << from) - 1);
}

static inline uint32_t first_bit(uint32_t bits)
{
    uint32_t i = 0;
    while (!(bits >> i & 1))
        i++;
    return i;
}

static inline void read_block(ac_model *m, const ac_access *a, ac_shadow *s, size_t block,
                              uint32_t mask)
{
    if (s->write_index > m->clock[m->pipe][s->writer])
        ac_find_pair(m, AC_RACE, a->name, (int64_t)(block * AC_BLOCK), s->write_opcode,
                     s->write_index);
    const uint32_t unwritten = mask & ~s->written;
    if (unwritten)
        ac_find(m, AC_UNWRITTEN, a->name, (int64_t)(block * AC_BLOCK + first_bit(unwritten)), 0);
    if (!a->in_place) {
        s->read_index[m->pipe] = m->index;
        s->read_opcode[m->pipe] = (uint8_t)m->opcode;
    }
}

static inline void write_block(ac_model *m, const ac_access *a, ac_shadow *s, size_t block,
                               uint32_t mask)
{
    const uint32_t *known = m->clock[m->pipe];
    const int64_t at = (int64_t)(block * AC_BLOCK);
    if (s->writer != m->pipe && s->write_index > known[s->writer])
        ac_find_pair(m, AC_RACE, a->name, at, s->write_opcode, s->write_index);
    for (uint32_t q = 0; q < AC_PIPES; q++)
        if (q != m->pipe && s->read_index[q] > known[q])
            ac_find_pair(m, AC_RACE, a->name, at, s->read_opcode[q], s->read_index[q]);
    if (s->read_index[m->pipe] == m->index && m->opcode != AC_OP_MOVE)
        ac_find(m, AC_OVERLAP, a->name, at, 0);
    s->written |= mask;
    s->write_index = m->index;
    s->writer = (uint8_t)m->pipe;
    s->write_opcode = (uint8_t)m->opcode;
}

/* The bytes [begin, end) of a buffer. */
static inline void touch(ac_model *m, const ac_access *a, ac_shadow *shadow, size_t begin,
                         size_t end)
{
    for (size_t b = begin / AC_BLOCK; begin < end && b * AC_BLOCK < end; b++) {
        const uint32_t mask =
            mask_of(b * AC_BLOCK < begin ? begin % AC_BLOCK : 0, end - b * AC_BLOCK);
        (a->write ? write_block : read_block)(m, a, &shadow[b], b, mask);
    }
}

static void touch_all(ac_model *m, const ac_access *a, ac_shadow *shadow)
{
    const size_t offset = (size_t)ac_offset_of(a->at), end = offset + (size_t)a->extent;
    for (size_t i = 0; i < a->count[0]; i++)
        for (size_t j = 0; j < a->count[1]; j++) {
            const size_t begin = offset + (size_t)(a->first + i * a->step[0] + j * a->step[1]);
            const size_t behind = begin + (size_t)a->bytes;
            touch(m, a, shadow, begin, behind < end ? behind : end);
        }
}

/* ---- constants ------------------------------------------------------------------------------ */

static void add_loaded(ac_model *m, ac_address at, uint64_t bytes, uint32_t index)
{
    m->loaded[m->loads++ % AC_LOADS] =
        (ac_loaded){ac_offset_of(at), ac_offset_of(at) + bytes, index};
}

/* The copy that brought a byte; NULL: none did. */
static const ac_loaded *loaded_at(const ac_model *m, uint64_t at)
{
    const uint32_t kept = m->loads < AC_LOADS ? m->loads : AC_LOADS;
    for (uint32_t back = 1; back <= kept; back++) {
        const ac_loaded *l = &m->loaded[(m->loads - back) % AC_LOADS];
        if (at >= l->begin && at < l->end)
            return l;
    }
    return NULL;
}

/* Constants that are read must have been loaded, and the pipe that reads them must know. */
static void check_loaded(ac_model *m, const ac_access *a)
{
    const uint64_t end = ac_offset_of(a->at) + a->extent;
    for (uint64_t at = ac_offset_of(a->at); at < end;) {
        const ac_loaded *l = loaded_at(m, at);
        if (!l)
            ac_find(m, AC_UNWRITTEN, a->name, (int64_t)at, 0);
        else if (l->index > m->clock[m->pipe][AC_PIPE_MTE2])
            ac_find_pair(m, AC_RACE, a->name, (int64_t)at, AC_OP_COPY + AC_GM_L1, l->index);
        at = l ? l->end : end;
    }
}

void ac_model_written(ac_core *core, ac_address at, size_t size)
{
    ac_model *m = core->model;
    const ac_space space = ac_space_of(at);
    if (m && space == AC_CONSTANTS)
        add_loaded(m, at, size, 0);
    if (!m || space >= AC_BUFFERS || ac_offset_of(at) >= m->memory[space].size)
        return;
    const size_t start = (size_t)ac_offset_of(at), room = m->memory[space].size - start;
    const size_t end = start + (size < room ? size : room);
    for (size_t b = start / AC_BLOCK; b * AC_BLOCK < end; b++)
        m->shadow[space][b].written |=
            mask_of(b * AC_BLOCK < start ? start % AC_BLOCK : 0, end - b * AC_BLOCK);
}

/* ---- one instruction ------------------------------------------------------------------------ */

void ac_check(ac_model *m, const ac_instruction *i)
{
    ac_fault fault;
    ac_access accesses[AC_ACCESSES];
    ac_shadow *shadows[AC_ACCESSES];
    if (!ac_legal(i, &fault)) {
        ac_find(m, AC_ILLEGAL_OPERAND, fault.operand, fault.found, fault.limit);
        return;
    }
    const uint32_t count = ac_accesses_of(i, accesses);
    for (uint32_t k = 0; k < count; k++)
        shadows[k] = place(m, &accesses[k]);
    for (uint32_t k = 0; k < count; k++)
        if (shadows[k])
            touch_all(m, &accesses[k], shadows[k]);
        else if (ac_space_of(accesses[k].at) == AC_CONSTANTS && !ac_loads_constants(i))
            check_loaded(m, &accesses[k]);
    if (ac_loads_constants(i))
        add_loaded(m, i->dst, (uint64_t)i->copy.blocks * AC_BLOCK, m->index);
}
