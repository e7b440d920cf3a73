// SPDX-License-Identifier: Apache-2.0
/* Proves that a program stays in bounds, without running it.
 *
 * An operand begins at its record's offset, plus steps[d] * turn[d] for each loop d around it. In a
 * ring, the sum is taken modulo the ring. A bound of this range and of the instruction's reach from
 * it is compared with the buffer. */
#include "engine/aicore/access.h"
#include "engine/aicore/program.h"
#include "engine/arith.h"
#include "engine/libc.h"

/* No frame takes as many records, and offsets of so many turns do not overflow. */
enum { MAX_STEPS = 1 << 30, MAX_TRIES = 1 << 22 };

/* Of a core, which flags are set: a bit for each pair of pipes and event, as flags have it. */
typedef struct flag_set {
    uint64_t bits[256 / 64];
} flag_set;

typedef struct prover {
    const ac_program *program;
    const ac_target *target;
    const ac_segment *segment;
    uint32_t operators;
    uint32_t turns[AC_LOOPS], depth;
    uint64_t steps;                  /* records so far, in all turns */
    uint64_t tries;                  /* turns that were looked at one by one */
    ac_proof found;                  /* record: being looked at */
    uint32_t next_record, next_ring; /* those of the next segment */
    flag_set set[AC_PROGRAM_CORES];
} prover;

/* Where an operand may begin: `low` to `high`, both multiples of `unit` apart from `low`. */
typedef struct range {
    int64_t low, high;
    uint64_t unit;
} range;

static uint64_t magnitude(int64_t x)
{
    return (uint64_t)(x < 0 ? -x : x);
}

/* The range that loops [first, end) move operand k in, from 0 on. unit 0: they do not move it. */
static range moved(const prover *p, const ac_motion *motion, uint32_t k, uint32_t first,
                   uint32_t end)
{
    range r = {0};
    for (uint32_t d = first; d < end; d++) {
        const int64_t step = p->turns[d] > 1 ? motion->step[d][k] : 0;
        const int64_t all = step * (int64_t)(p->turns[d] - 1);
        r.low += all < 0 ? all : 0;
        r.high += all > 0 ? all : 0;
        r.unit = greatest_divisor(r.unit, magnitude(step));
    }
    return r;
}

/* ---- where operands begin -------------------------------------------------------------------- */

/* Loops [0, outer) move an operand around its ring, and the others within one of their steps: then
 * it reaches the same places of every piece of `unit` bytes. False: the inner loops leave the
 * piece. */
static bool in_ring(const prover *p, const ac_ring *ring, const ac_motion *motion, uint32_t at,
                    uint32_t k, uint32_t outer, range *r)
{
    const range around = moved(p, motion, k, 0, outer);
    const range within = moved(p, motion, k, outer, p->depth);
    const uint64_t unit = greatest_divisor(ring->bytes, around.unit);
    const int64_t first = outer ? (int64_t)((at - ring->begin) % unit) : at - ring->begin;
    const int64_t room = outer ? (int64_t)unit : ring->bytes;
    if (first + within.low < 0 || first + within.high >= room)
        return false;
    *r = (range){ring->begin + first + within.low,
                 ring->begin + first + within.high + (int64_t)ring->bytes - room,
                 outer ? greatest_divisor(unit, within.unit) : within.unit};
    return true;
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* Bytes of a space; 0: there is none, or it must not be written. */
static uint64_t space_bytes(const prover *p, uint32_t space, bool write)
{
    const ac_program_header *h = &p->program->header;
    const ac_target *t = p->target;
    const uint32_t own[] = {
        [AC_L1] = p->segment->l1_bytes, [AC_L0A] = t->l0a_bytes,
        [AC_L0B] = t->l0b_bytes,        [AC_L0C] = t->l0c_bytes,
        [AC_UB] = t->ub_bytes,          [AC_CONSTANTS] = write ? 0 : h->constants_bytes};
    const uint32_t buffer = space - AC_GM;
    if (space < AC_GM)
        return own[space];
    return buffer < h->buffers && !(write && buffer < h->inputs) ? p->program->buffers[buffer].bytes
                                                                 : 0;
}

/* Whether bytes [begin, end) of the constants lie in L1. */
static bool are_resident(const prover *p, uint64_t begin, uint64_t end)
{
    const ac_program_header *h = &p->program->header;
    const ac_segment *s = p->segment;
    return begin >= h->constants_bytes - h->zero_bytes ||
           (begin >= s->first_constant && end <= (uint64_t)s->first_constant + s->constants);
}

/* Whether an access stays in its buffer if its operand, which begins at `at` in the first turn,
 * begins anywhere in the range. */
static bool stays(const prover *p, const ac_access *a, ac_address at, const range *r)
{
    const int64_t from = (int64_t)(a->at - at); /* of the access, from its operand */
    const uint64_t bytes = space_bytes(p, ac_space_of(at), a->write);
    const int64_t low = r->low + from, high = r->high + from;
    return ac_may_lie_in(a, ac_space_of(at)) && low >= 0 && (uint64_t)high < bytes &&
           a->extent <= bytes - (uint64_t)high && (uint64_t)low % a->align == 0 &&
           r->unit % a->align == 0 &&
           (ac_space_of(at) != AC_CONSTANTS ||
            are_resident(p, (uint64_t)low, (uint64_t)high + a->extent));
}

/* Whether the accesses of operand k stay if it begins anywhere in the range. */
static bool all_stay(const prover *p, uint32_t k, ac_address at, const range *r,
                     const ac_access *accesses, uint32_t count)
{
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++)
        ok = accesses[i].operand != k || stays(p, &accesses[i], at, r);
    return ok;
}

/* The same of an operand in a ring, turn by turn: an access to several rows stays inside only where
 * these are not the ring's last and first ones. */
static bool each_stays(prover *p, const ac_ring *ring, const ac_record *record, uint32_t k,
                       ac_address at, const ac_access *accesses, uint32_t count)
{
    const ac_motion *motion = &p->program->motions[record->motion];
    uint32_t turns[AC_LOOPS] = {1, 1, 1};
    uint64_t all = 1;
    for (uint32_t d = 0; d < p->depth; d++) {
        turns[d] = p->turns[d];
        all = all > MAX_TRIES ? all : all * turns[d];
    }
    if (all > MAX_TRIES - p->tries)
        return false;
    p->tries += all;
    bool ok = true;
    for (uint64_t turn = 0; turn < all && ok; turn++) {
        int64_t to = record->at[k] - ring->begin;
        uint64_t rest = turn;
        for (uint32_t d = 0; d < p->depth; d++, rest /= turns[d - 1])
            to += (int64_t)(rest % turns[d]) * motion->step[d][k];
        to = ring->begin + floor_rest(to, ring->bytes);
        ok = all_stay(p, k, at, &(range){to, to, 0}, accesses, count);
    }
    return ok;
}

static bool operand_ok(prover *p, const ac_record *record, uint32_t k, ac_address at,
                       const ac_access *accesses, uint32_t count)
{
    const ac_motion *motion = &p->program->motions[record->motion];
    const ac_ring *ring = ac_ring_of(p->program->rings, p->segment, ac_space_of(at), record->at[k]);
    bool ok = false;
    for (uint32_t outer = 0; outer <= (ring ? p->depth : 0) && !ok; outer++) {
        range r = moved(p, motion, k, 0, p->depth);
        r.low += record->at[k];
        r.high += record->at[k];
        ok = (!ring || in_ring(p, ring, motion, record->at[k], k, outer, &r)) &&
             all_stay(p, k, at, &r, accesses, count);
    }
    return ok || (ring && each_stays(p, ring, record, k, at, accesses, count));
}

static bool spaces_ok(const ac_program *p, const ac_form *f)
{
    for (uint32_t k = 0; k < AC_OPERANDS; k++)
        if (f->space[k] != AC_NO_SPACE &&
            (f->space[k] >= AC_GM + p->header.buffers || k >= ac_operations[f->opcode].operands))
            return false;
    return true;
}

static bool flags_ok(const ac_form *f)
{
    ac_fault fault;
    if (f->flag_count > AC_FORM_FLAGS || (f->opcode == AC_OP_NONE && !f->flag_count))
        return false;
    for (uint32_t k = 0; k < f->flag_count; k++) {
        const ac_instruction i = ac_flag_instruction(f->flags[k]);
        if (i.opcode > AC_OP_BARRIER || !ac_legal(&i, &fault))
            return false;
    }
    return true;
}

/* Whether a form says no more than its fields, which are what is proved. A chip gets all bits. */
static bool has_fields_only(const ac_program *p, const ac_form *f)
{
    static const ac_address at[AC_OPERANDS] = {0};
    ac_turned turned[2];
    const ac_instruction i = ac_form_instruction(p, f, at, turned);
    const ac_form own = ac_form_of(&i, (uint32_t)f->config[2], (uint32_t)(f->config[2] >> 32));
    return f->relu == own.relu && !memcmp(f->config, own.config, sizeof own.config);
}

static bool form_ok(const ac_program *p, const ac_form *f)
{
    const uint32_t op = f->opcode;
    if (op >= AC_OP_WORK || !flags_ok(f) || !spaces_ok(p, f))
        return false;
    if (ac_turns((ac_opcode)op) &&
        ((uint32_t)f->config[2] >= p->header.patterns || f->config[2] >> 32 >= p->header.patterns))
        return false;
    return op == AC_OP_NONE || has_fields_only(p, f);
}

/* A chip gets blocks of 32 bytes in 16 bits. */
static bool pattern_ok(const ac_pattern *pattern)
{
    for (uint32_t i = 0; i < AC_FRACTAL; i++)
        if (pattern->at[i] % AC_BLOCK ||
            pattern->at[i] / AC_BLOCK != (int16_t)(pattern->at[i] / AC_BLOCK))
            return false;
    return true;
}

static bool instruction_ok(prover *p, const ac_record *record)
{
    const ac_program *q = p->program;
    if (record->form >= q->header.forms || record->motion >= q->header.motions)
        return false;
    const ac_form *f = &q->forms[record->form];
    if (f->opcode == AC_OP_NONE)
        return true;
    ac_address at[AC_OPERANDS];
    ac_turned turned[2];
    ac_access accesses[AC_ACCESSES];
    ac_fault fault;
    for (uint32_t k = 0; k < AC_OPERANDS; k++)
        at[k] =
            f->space[k] == AC_NO_SPACE ? AC_NOWHERE : ac_at((ac_space)f->space[k], record->at[k]);
    const ac_instruction i = ac_form_instruction(q, f, at, turned);
    if (!ac_legal(&i, &fault))
        return false;
    const uint32_t count = ac_accesses_of(&i, accesses);
    for (uint32_t k = 0; k < AC_OPERANDS; k++)
        if (!operand_ok(p, record, k, at[k], accesses, count))
            return false;
    return true;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Whether a core never waits for ever: each wait follows its flag's setting in the stream, and no
 * flag is set twice. Pipes work in the stream's order, so what a wait waits for never depends on
 * what follows it. */
static bool flags_meet(const ac_form *f, flag_set *set)
{
    for (uint32_t k = 0; k < f->flag_count; k++) {
        const uint32_t flag = f->flags[k] & 255, opcode = AC_OP_SET_FLAG + (f->flags[k] >> 8);
        const uint64_t bit = UINT64_C(1) << flag % 64;
        if (opcode != AC_OP_BARRIER && !(set->bits[flag / 64] & bit) != (opcode == AC_OP_SET_FLAG))
            return false;
        set->bits[flag / 64] ^= opcode == AC_OP_BARRIER ? 0 : bit;
    }
    return true;
}

/* Records [first, end), which run `times` times. A loop that leaves the flags as it found them does
 * so in every turn; one that does not has no second turn, as a flag would be set, or waited for,
 * twice. Loops are at most AC_LOOPS deep, and so is the recursion. */
static bool records_ok(prover *p, flag_set *set, uint32_t first, uint32_t end, uint64_t times)
{
    for (uint32_t i = first; i < end; i++) {
        const ac_record *r = &p->program->records[i];
        p->found.record = i;
        p->steps += times;
        if (p->steps > MAX_STEPS)
            return false;
        if (r->form == AC_RECORD_OPERATOR) {
            if (r->at[0] >= p->operators)
                return false;
        } else if (r->form == AC_RECORD_LOOP) {
            const uint32_t turns = r->at[0], body = r->at[1];
            const flag_set before = *set;
            if (p->depth == AC_LOOPS || !turns || turns > MAX_STEPS || !body || body > end - i - 1)
                return false;
            p->turns[p->depth++] = turns;
            if (!records_ok(p, set, i + 1, i + 1 + body, times * turns) ||
                (turns > 1 && memcmp(&before, set, sizeof before)))
                return false;
            p->depth--;
            i += body;
        } else {
            const ac_form *f = instruction_ok(p, r) ? &p->program->forms[r->form] : NULL;
            if (!f || !flags_meet(f, set))
                return false;
            p->found.instructions += times * (f->flag_count + (f->opcode != AC_OP_NONE));
        }
    }
    return true;
}

/* ---- segments -------------------------------------------------------------------------------- */

static bool rings_ok(prover *p, const ac_segment *s)
{
    const ac_program *q = p->program;
    if (s->first_ring != p->next_ring || s->rings > q->header.rings - s->first_ring)
        return false;
    p->next_ring += s->rings;
    uint64_t end = 0;
    for (uint32_t i = 0; i < s->rings; i++) {
        const ac_ring *r = &q->rings[s->first_ring + i];
        if (r->begin < end || !r->bytes || (uint64_t)r->begin + r->bytes > s->l1_bytes)
            return false;
        end = (uint64_t)r->begin + r->bytes;
    }
    return true;
}

static bool constants_ok(const prover *p, const ac_segment *s)
{
    const ac_program_header *h = &p->program->header;
    const uint64_t l1 = (uint64_t)s->l1_bytes + s->constants + h->zero_bytes;
    return s->l1_bytes <= h->l1_bytes && l1 <= p->target->l1_bytes &&
           s->first_constant <= h->constants_bytes &&
           s->constants <= h->constants_bytes - s->first_constant;
}

/* Segments take their rings and records in order, so that none is looked at twice. */
static bool segment_ok(prover *p, const ac_segment *s)
{
    p->segment = s;
    if (s->array && (s->array > p->operators || s->core[0].count || s->core[1].count))
        return false;
    if (!rings_ok(p, s) || !constants_ok(p, s))
        return false;
    for (uint32_t core = 0; core < AC_PROGRAM_CORES; core++) {
        const uint32_t first = s->core[core].first, count = s->core[core].count;
        if (first != p->next_record || count > p->program->header.records - first)
            return false;
        p->next_record += count;
        if (!records_ok(p, &p->set[core], first, first + count, 1))
            return false;
    }
    return true;
}

static bool header_ok(const ac_program *p, const ac_target *target)
{
    const ac_program_header *h = &p->header;
    if (h->version != AC_PROGRAM_VERSION || h->loads != 1 || h->l1_bytes > target->l1_bytes ||
        h->zero_bytes > h->constants_bytes || h->buffers > AC_SPACES - AC_GM ||
        h->inputs > h->buffers)
        return false;
    for (uint32_t i = 0; i < h->forms; i++)
        if (!form_ok(p, &p->forms[i]))
            return false;
    for (uint32_t i = 0; i < h->patterns; i++)
        if (!pattern_ok(&p->patterns[i]))
            return false;
    return true;
}

/* The most instructions of a program. Those of networks run 0.01 to 0.5 for each byte of their
 * frames and constants, and at most a few thousand more. */
static uint64_t budget(const ac_program *p)
{
    enum { OF_A_BYTE = 16, OF_ALL = 1 << 16 };
    uint64_t bytes = p->header.constants_bytes;
    for (uint32_t i = 0; i < p->header.buffers; i++)
        bytes += p->buffers[i].bytes;
    return OF_A_BYTE * bytes + OF_ALL;
}

bool ac_program_prove(const ac_program *program, const ac_target *target, uint32_t operators,
                      ac_proof *found)
{
    static const flag_set none;
    prover p = {.program = program, .target = target, .operators = operators};
    p.found.record = UINT32_MAX;
    bool ok = header_ok(program, target);
    for (uint32_t s = 0; s < program->header.segments && ok; s++)
        ok = segment_ok(&p, &program->segments[s]);
    for (uint32_t core = 0; core < AC_PROGRAM_CORES && ok; core++)
        ok = !memcmp(&p.set[core], &none, sizeof none); /* the next program would set it again */
    if (ok && p.found.instructions > budget(program)) {
        p.found.record = UINT32_MAX;
        ok = false;
    }
    *found = p.found;
    return ok;
}
