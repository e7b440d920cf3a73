// SPDX-License-Identifier: Apache-2.0
/* Recorded programs: how records and forms become instructions. */
#include "engine/aicore/program.h"

#include "engine/aicore/access.h"
#include "engine/arith.h"
#include "engine/libc.h"
#include "engine/model_format.h"

/* ---- forms ---------------------------------------------------------------------------------- */

uint16_t ac_flag_of(const ac_instruction *i)
{
    const ac_flag *f = &i->flag;
    const uint32_t dst = i->opcode == AC_OP_BARRIER ? 0 : f->dst,
                   event = i->opcode == AC_OP_BARRIER ? 0 : f->event;
    return (uint16_t)(f->src | dst << 3 | event << 6 | (i->opcode - AC_OP_SET_FLAG) << 8);
}

ac_instruction ac_flag_instruction(uint16_t flag)
{
    return (ac_instruction){.opcode = AC_OP_SET_FLAG + (flag >> 8),
                            .flag = {(ac_pipe)ac_bits(flag, 0, 3), (ac_pipe)ac_bits(flag, 3, 3),
                                     (ac_event)ac_bits(flag, 6, 2)}};
}

static uint8_t space_of(ac_address at)
{
    return at == AC_NOWHERE ? AC_NO_SPACE : (uint8_t)ac_space_of(at);
}

ac_form ac_form_of(const ac_instruction *i, uint32_t to, uint32_t from)
{
    ac_form f = {.opcode = (uint8_t)i->opcode, .relu = i->relu};
    memset(f.space, AC_NO_SPACE, sizeof f.space);
    ac_pack(f.config, i);
    if (ac_turns(i->opcode)) {
        f.space[0] = space_of(i->turn.to->at[0]);
        f.space[1] = space_of(i->turn.from->at[0]);
        f.config[0] |= i->turn.to->repeat | (uint64_t)i->turn.from->repeat << 16;
        f.config[1] = i->turn.to->high | (uint64_t)i->turn.from->high << 1;
        f.config[2] = to | (uint64_t)from << 32;
        return f;
    }
    const ac_address at[AC_OPERANDS] = {i->dst, i->a, i->b};
    for (uint32_t k = 0; k < ac_operations[i->opcode].operands; k++)
        f.space[k] = space_of(at[k]);
    f.value = i->opcode == AC_OP_DUP ? i->value : 0;
    f.scalar = ac_is_vecs(i->opcode) ? i->scalar : 0;
    return f;
}

ac_instruction ac_form_instruction(const ac_program *p, const ac_form *f,
                                   const ac_address at[AC_OPERANDS], ac_turned turned[2])
{
    const uint64_t *config = f->config;
    ac_instruction i = {.opcode = (ac_opcode)f->opcode,
                        .relu = f->relu,
                        .value = f->value,
                        .scalar = f->scalar,
                        .dst = at[0],
                        .a = at[1],
                        .b = at[2]};
    ac_unpack(&i, config);
    if (!ac_turns(f->opcode))
        return i;
    for (uint32_t side = 0; side < 2; side++) {
        const ac_pattern *pattern = &p->patterns[(uint32_t)(config[2] >> 32 * side)];
        turned[side].repeat = (uint32_t)ac_bits(config[0], 16 * side, 16);
        turned[side].high = ac_bits(config[1], side, 1);
        for (uint32_t k = 0; k < AC_FRACTAL; k++)
            turned[side].at[k] = at[side] + (ac_address)(int64_t)pattern->at[k];
    }
    i.dst = i.a = i.b = 0;
    i.turn.to = &turned[0];
    i.turn.from = &turned[1];
    return i;
}

/* ---- a program in memory -------------------------------------------------------------------- */

/* The next `count` parts of so many bytes, from *at on. NULL: they are not all there. */
static const void *next_part(const uint8_t *bytes, size_t size, size_t *at, uint32_t count,
                             size_t part)
{
    if (*at > size || count > (size - *at) / part)
        return NULL;
    const void *found = bytes + *at;
    *at += (count * part + 7) / 8 * 8;
    return found;
}

bool ac_program_open(ac_program *p, const void *memory, size_t size)
{
    const uint8_t *bytes = memory;
    size_t at = sizeof p->header;
    *p = (ac_program){0};
    if (size < sizeof p->header)
        return false;
    memcpy(&p->header, bytes, sizeof p->header);
    const ac_program_header *h = &p->header;
    if (h->bytes > size || h->bytes % 64)
        return false;
    bool there = true;
#define OPEN(part, counted, type)                                                                  \
    p->part = next_part(bytes, h->bytes, &at, h->counted, sizeof(type));                           \
    there &= p->part != NULL;
    AC_PROGRAM_PARTS(OPEN)
    return there && at <= h->bytes;
}

uint32_t ac_program_crc(const ac_program *p)
{
    return mona_crc32(0, p->constants - sizeof p->header, p->header.bytes);
}

/* ---- running -------------------------------------------------------------------------------- */

typedef struct run {
    ac_core *core;
    const ac_program *program;
    const ac_segment *segment;
    uint32_t turn[AC_LOOPS], depth;
} run;

const ac_ring *ac_ring_of(const ac_ring *rings, const ac_segment *s, uint32_t space, uint32_t at)
{
    uint32_t first = s->first_ring, count = space == AC_L1 ? s->rings : 0;
    while (count) {
        const uint32_t half = count / 2;
        const ac_ring *r = &rings[first + half];
        if (at >= r->begin && at - r->begin < r->bytes)
            return r;
        first = at < r->begin ? first : first + half + 1;
        count = at < r->begin ? half : count - half - 1;
    }
    return NULL;
}

/* Where an operand lies after it has advanced: around in its ring, if it lies in one. */
static ac_address address_of(const run *r, const ac_record *record, uint32_t space, uint32_t k)
{
    const ac_motion *motion = &r->program->motions[record->motion];
    int64_t at = record->at[k], advance = 0;
    if (space == AC_NO_SPACE)
        return AC_NOWHERE;
    for (uint32_t d = 0; d < r->depth; d++)
        advance += (int64_t)r->turn[d] * motion->step[d][k];
    const ac_ring *ring =
        advance ? ac_ring_of(r->program->rings, r->segment, space, record->at[k]) : NULL;
    at += advance;
    if (ring)
        at = ring->begin + floor_rest(at - ring->begin, ring->bytes);
    return ac_at((ac_space)space, (uint64_t)at);
}

static void issue(const run *r, const ac_record *record)
{
    const ac_form *f = &r->program->forms[record->form];
    ac_address at[AC_OPERANDS];
    ac_turned turned[2];
    for (uint32_t k = 0; k < f->flag_count; k++) {
        const ac_instruction flag = ac_flag_instruction(f->flags[k]);
        r->core->take(r->core, &flag);
    }
    if (f->opcode == AC_OP_NONE)
        return;
    for (uint32_t k = 0; k < AC_OPERANDS; k++)
        at[k] = address_of(r, record, f->space[k], k);
    const ac_instruction i = ac_form_instruction(r->program, f, at, turned);
    r->core->take(r->core, &i);
}

/* Loops are at most AC_LOOPS deep, and so is the recursion. */
static void run_records(run *r, const ac_record *records, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const ac_record *record = &records[i];
        if (record->form == AC_RECORD_OPERATOR) {
            ac_emit_operator(r->core, record->at[0]);
        } else if (record->form == AC_RECORD_LOOP) {
            const uint32_t depth = r->depth++;
            for (r->turn[depth] = 0; r->turn[depth] < record->at[0]; r->turn[depth]++) {
                ac_emit(r->core, (ac_instruction){.opcode = AC_OP_TURN});
                run_records(r, record + 1, record->at[1]);
            }
            r->depth = depth;
            i += record->at[1];
        } else
            issue(r, record);
    }
}

void ac_program_run(ac_core *core, const ac_program *p, uint32_t segment, uint32_t core_index)
{
    const ac_segment *s = &p->segments[segment];
    run r = {.core = core, .program = p, .segment = s};
    run_records(&r, p->records + s->core[core_index].first, s->core[core_index].count);
}
