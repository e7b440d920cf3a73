// SPDX-License-Identifier: Apache-2.0
#include "engine/ascend/words_maker.h"

#include "engine/libc.h"

enum { FLAGS_AT_ONCE = 5 };

void words_refuse(maker *m, bool when, const char *why)
{
    if (when && !m->why)
        m->why = why;
}

/* ---- chunks --------------------------------------------------------------------------------- */

void words_put(maker *m, uint64_t word)
{
    if (m->out)
        m->out[m->words] = word;
    m->words++;
}

void words_new_chunk(maker *m)
{
    m->chunk = m->words;
    words_put(m, m->chunk / CHUNK_WORDS + 1);
}

void words_end_chunk(maker *m)
{
    words_put(m, WORDS_END);
    while ((m->words - m->chunk) % CHUNK_WORDS)
        words_put(m, 0);
    words_new_chunk(m);
}

void words_need_room(maker *m, uint32_t words)
{
    words_refuse(m, words + 2 > CHUNK_WORDS, "an entry is larger than a chunk");
    if (!m->why && !m->measuring && m->words - m->chunk + words >= CHUNK_WORDS)
        words_end_chunk(m);
}

/* Writes the first `count` flags. */
static void write_some(maker *m, uint32_t count)
{
    for (uint32_t k = 0; k < count;) {
        uint64_t word = WORDS_FLAGS;
        for (uint32_t i = 0; i < FLAGS_AT_ONCE && k < count; i++, k++)
            word |= (uint64_t)m->flag[k] << (8 + 10 * i);
        words_need_room(m, 1);
        words_put(m, word);
    }
    m->flag_count -= count;
    memmove(m->flag, m->flag + count, m->flag_count * sizeof *m->flag);
}

void words_write_flags(maker *m)
{
    write_some(m, m->flag_count);
}

void words_begin(maker *m, uint32_t words)
{
    words_write_flags(m);
    words_need_room(m, words);
}

/* ---- flags ---------------------------------------------------------------------------------- */

/* Whether the kernel has it: it keeps some events between S and MTE2 for itself. */
static bool is_there(const ac_flag *f)
{
#define PAIR(src, dst) | UINT64_C(1) << (AC_PIPE_##src | AC_PIPE_##dst << 3)
#define ROW(of, s, v, m, mte1, mte2, mte3) s v m mte1 mte2 mte3
    static const uint64_t pairs = 0 WORDS_PAIRS(ROW, PAIR);
#undef ROW
#undef PAIR
    if (!(pairs >> (f->src | f->dst << 3) & 1))
        return false;
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

uint64_t words_free_event(maker *m)
{
    for (uint32_t event = 0; event < 4; event++)
        if (!(m->held >> event & 1))
            return event;
    words_refuse(m, true, "all events from S to V are in use");
    return 0;
}

void words_add_flag(maker *m, uint16_t flag)
{
    const ac_instruction i = ac_flag_instruction(flag);
    if (i.opcode != AC_OP_BARRIER) {
        track_event(m, &i);
        words_refuse(m, !is_there(&i.flag), "the kernel has no such flag");
    }
    if (m->why || (i.opcode == AC_OP_BARRIER && i.flag.src == AC_PIPE_S))
        return;
    uint16_t *last = m->flag_count ? &m->flag[m->flag_count - 1] : NULL;
    if (last && i.opcode == AC_OP_WAIT_FLAG && *last == (flag & 0xff)) {
        *last |= WORDS_SYNC << 8;
        return;
    }
    if (m->flag_count == FLAGS_PENDING)
        words_write_flags(m);
    m->flag[m->flag_count++] = flag;
}

/* The slot of a flag, below `slot`; -1: there is none. */
static int slot_of(uint32_t flag, int slot)
{
#define SLOT(i, kind, src, dst) AC_PIPE_##src | AC_PIPE_##dst << 3 | WORDS_##kind << 8,
    static const uint16_t slots[] = {WORDS_SLOTS(SLOT)};
#undef SLOT
    while (--slot >= 0 && slots[slot] != (flag & ~(3u << 6)))
        ;
    return slot;
}

uint64_t words_begin_flagged(maker *m, uint32_t words)
{
    uint64_t bits = 0;
    int slot = 8;
    uint32_t kept = m->flag_count;
    while (kept && (slot = slot_of(m->flag[kept - 1], slot)) >= 0)
        bits |= (uint64_t)(1 | (m->flag[--kept] >> 6 & 3) << 1) << (40 + 3 * slot);
    write_some(m, kept);
    m->flag_count = 0;
    words_need_room(m, words);
    return bits;
}

void words_begin_register(maker *m, uint32_t words)
{
    for (uint32_t k = 0; k < m->flag_count; k++)
        if (m->flag[k] >> 8 != WORDS_BARRIER && (!(m->flag[k] & 7) || !(m->flag[k] >> 3 & 7)))
            words_write_flags(m);
    words_need_room(m, words);
}
