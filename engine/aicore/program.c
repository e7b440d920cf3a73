// SPDX-License-Identifier: Apache-2.0
/* Recorded programs: how records and forms become instructions. */
#include "engine/aicore/program.h"

#include "engine/libc.h"

/* ---- forms ---------------------------------------------------------------------------------- */

static uint64_t field(uint64_t value, unsigned at)
{
    return value << at;
}

static uint64_t bits(uint64_t word, unsigned at, unsigned count)
{
    return word >> at & (((uint64_t)1 << count) - 1);
}

static void pack_load3d(uint64_t config[AC_CONFIGS], const ac_load3d *l)
{
    enum { COLUMN = 32 };
    const uint32_t bytes = (uint32_t)l->c0 * l->element, rows = l->rows ? l->rows : 1;
    const uint32_t taps = l->rows ? ac_load3d_taps(l) : bytes ? COLUMN / bytes : 0;
    config[0] = field(l->column, 32);
    config[1] = field(l->stride, 0) | field(1, 6) | field(taps, 12) | field(rows, 20) |
                field(l->dilation, 28) | field(1, 36) | field(l->jump, 44) | field(!l->rows, 52) |
                field(l->repeat, 56);
    config[2] =
        field(l->columns, 0) | field(rows, 16) | field(l->element, 32) | field(bytes < COLUMN, 40);
}

static ac_load3d load3d_of(const uint64_t config[AC_CONFIGS])
{
    const uint32_t element = (uint32_t)bits(config[2], 32, 8),
                   small = (uint32_t)bits(config[2], 40, 1);
    return (ac_load3d){
        .column = (uint16_t)bits(config[0], 32, 16),
        .columns = (uint16_t)bits(config[2], 0, 16),
        .rows = (uint8_t)(bits(config[1], 52, 1) ? 0 : bits(config[1], 20, 8)),
        .stride = (uint8_t)bits(config[1], 0, 6),
        .dilation = (uint8_t)bits(config[1], 28, 8),
        .c0 = (uint8_t)((small ? 8 : 32) / (element ? element : 1)),
        .element = (uint8_t)element,
        .repeat = (uint8_t)bits(config[1], 56, 8),
        .jump = (uint8_t)bits(config[1], 44, 7),
    };
}

static void pack_vector(uint64_t config[AC_CONFIGS], uint32_t op, const ac_vector *v)
{
    config[0] = field(v->repeat, 56);
    config[1] = v->lanes;
    if (ac_is_vec2(op))
        config[0] |= field(v->dst_block, 0) | field(v->a_block, 8) | field(v->b_block, 16) |
                     field(v->dst_repeat, 24) | field(v->a_repeat, 32) | field(v->b_repeat, 40);
    else
        config[0] |= field(v->dst_block, 0) | field(v->dst_repeat, 32);
    if (op >= AC_OP_VECS)
        config[0] |= field(v->a_block, 16) | field(v->a_repeat, 40);
}

static ac_vector vector_of(const uint64_t config[AC_CONFIGS], uint32_t op)
{
    const uint64_t c = config[0];
    ac_vector v = {.repeat = (uint8_t)bits(c, 56, 8), .lanes = (uint8_t)config[1]};
    v.dst_block = (uint8_t)bits(c, 0, 8);
    if (ac_is_vec2(op)) {
        v.a_block = (uint8_t)bits(c, 8, 8);
        v.b_block = (uint8_t)bits(c, 16, 8);
        v.dst_repeat = (uint8_t)bits(c, 24, 8);
        v.a_repeat = (uint8_t)bits(c, 32, 8);
        v.b_repeat = (uint8_t)bits(c, 40, 8);
        return v;
    }
    v.a_block = (uint8_t)bits(c, 16, 8);
    v.dst_repeat = (uint8_t)bits(c, 32, 8);
    v.a_repeat = (uint8_t)bits(c, 40, 8);
    return v;
}

static void pack_operands(ac_form *f, const ac_instruction *i)
{
    const uint32_t op = i->opcode;
    const ac_copy *c = &i->copy;
    uint64_t *config = f->config;
    if (ac_is_copy(op) || ac_is_drain(op))
        config[0] = field(c->bursts, 4) | field(c->blocks, 16) | field(c->src_gap, 32) |
                    field(c->dst_gap, 48);
    else if (op == AC_OP_LOAD2D)
        config[0] = field(i->fractals, 16) | field(1, 24);
    else if (op == AC_OP_LOAD3D)
        pack_load3d(config, &i->load3d);
    else if (ac_is_mmad(op) || op == AC_OP_BIAS_L0C)
        config[0] = field(i->product.m, 0) | field(i->product.k, 12) | field(i->product.n, 24) |
                    field(i->product.from_zero, 63);
    else if (ac_is_vector(op))
        pack_vector(config, op, &i->vector);
    else if (op == AC_OP_MOVE) {
        config[0] = field(i->move.count, 0) | field(i->move.dst_type, 32) |
                    field(i->move.src_type, 40) | field(i->move.scale, 48);
        config[1] = field(i->move.dst_step, 0) | field(i->move.src_step, 32);
        config[2] = i->move.maximum;
    } else if (op == AC_OP_FILL) {
        config[0] = field(i->fill.count, 0) | field(i->fill.bytes, 32);
        config[1] = field(i->fill.step, 0) | field(i->fill.value, 32);
    }
}

static void pack_turned(ac_form *f, const ac_turned *dst, const ac_turned *a, uint8_t repeat,
                        uint32_t to, uint32_t from)
{
    f->config[0] = field(dst->repeat, 0) | field(a->repeat, 16) | field(repeat, 56);
    f->config[1] = field(dst->high, 0) | field(a->high, 1);
    f->config[2] = field(to, 0) | field(from, 32);
}

uint16_t ac_flag_of(const ac_instruction *i)
{
    const ac_flag *f = &i->flag;
    const uint32_t dst = i->opcode == AC_OP_BARRIER ? 0 : f->dst,
                   event = i->opcode == AC_OP_BARRIER ? 0 : f->event;
    return (uint16_t)(f->src | dst << 3 | event << 6 | (i->opcode - AC_OP_SET_FLAG) << 8);
}

ac_instruction ac_flag_instruction(uint16_t flag)
{
    return (ac_instruction){
        .opcode = AC_OP_SET_FLAG + (flag >> 8),
        .flag = {(ac_pipe)bits(flag, 0, 3), (ac_pipe)bits(flag, 3, 3), (ac_event)bits(flag, 6, 2)}};
}

static uint8_t space_of(ac_address at)
{
    return at == AC_NOWHERE ? AC_NO_SPACE : (uint8_t)ac_space_of(at);
}

ac_form ac_form_of(const ac_instruction *i, uint32_t to, uint32_t from)
{
    ac_form f = {.opcode = (uint8_t)i->opcode, .relu = i->relu};
    memset(f.space, AC_NO_SPACE, sizeof f.space);
    if (ac_turns(i->opcode)) {
        f.space[0] = space_of(i->turn.to->at[0]);
        f.space[1] = space_of(i->turn.from->at[0]);
        pack_turned(&f, i->turn.to, i->turn.from, i->turn.repeat, to, from);
        return f;
    }
    const uint32_t operands = ac_operands(i->opcode);
    const ac_address at[AC_OPERANDS] = {i->dst, i->a, i->b};
    for (uint32_t k = 0; k < operands; k++)
        f.space[k] = space_of(at[k]);
    f.value = i->opcode == AC_OP_DUP ? i->value : 0;
    f.scalar = ac_is_vecs(i->opcode) ? i->scalar : 0;
    pack_operands(&f, i);
    return f;
}

static void unpack_operands(ac_instruction *i, const ac_form *f)
{
    const uint32_t op = f->opcode;
    const uint64_t *config = f->config, c = config[0];
    if (ac_is_copy(op) || ac_is_drain(op))
        i->copy = (ac_copy){(uint16_t)bits(c, 4, 12), (uint16_t)bits(c, 16, 16),
                            (uint16_t)bits(c, 32, 16), (uint16_t)bits(c, 48, 16)};
    else if (op == AC_OP_LOAD2D)
        i->fractals = (uint32_t)bits(c, 16, 8);
    else if (op == AC_OP_LOAD3D)
        i->load3d = load3d_of(config);
    else if (ac_is_mmad(op) || op == AC_OP_BIAS_L0C)
        i->product = (ac_product){(uint32_t)bits(c, 0, 12), (uint32_t)bits(c, 12, 12),
                                  (uint32_t)bits(c, 24, 12), c >> 63};
    else if (ac_is_vector(op))
        i->vector = vector_of(config, op);
    else if (op == AC_OP_MOVE)
        i->move = (ac_move){.count = (uint32_t)c,
                            .dst_step = (uint32_t)config[1],
                            .src_step = (uint32_t)(config[1] >> 32),
                            .dst_type = (mona_type)bits(c, 32, 8),
                            .src_type = (mona_type)bits(c, 40, 8),
                            .scale = (uint16_t)(c >> 48),
                            .maximum = (uint32_t)config[2]};
    else if (op == AC_OP_FILL)
        i->fill = (ac_fill){(uint32_t)c, (uint32_t)bits(c, 32, 8), (uint32_t)config[1],
                            (uint32_t)(config[1] >> 32)};
}

static ac_turned turned_of(const ac_pattern *pattern, ac_address at, uint8_t repeat, bool high)
{
    ac_turned t = {.repeat = repeat, .high = high};
    for (uint32_t i = 0; i < AC_FRACTAL; i++)
        t.at[i] = at + (ac_address)(int64_t)pattern->at[i];
    return t;
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
    if (!ac_turns(f->opcode)) {
        unpack_operands(&i, f);
        return i;
    }
    turned[0] = turned_of(&p->patterns[(uint32_t)config[2]], at[0], (uint8_t)config[0],
                          bits(config[1], 0, 1));
    turned[1] = turned_of(&p->patterns[config[2] >> 32], at[1], (uint8_t)bits(config[0], 16, 8),
                          bits(config[1], 1, 1));
    i.dst = i.a = i.b = 0;
    i.turn.to = &turned[0];
    i.turn.from = &turned[1];
    i.turn.repeat = (uint8_t)bits(config[0], 56, 8);
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
    p->constants = next_part(bytes, h->bytes, &at, h->constants_bytes, 1);
    p->buffers = next_part(bytes, h->bytes, &at, h->buffers, sizeof *p->buffers);
    p->forms = next_part(bytes, h->bytes, &at, h->forms, sizeof *p->forms);
    p->patterns = next_part(bytes, h->bytes, &at, h->patterns, sizeof *p->patterns);
    p->motions = next_part(bytes, h->bytes, &at, h->motions, sizeof *p->motions);
    p->rings = next_part(bytes, h->bytes, &at, h->rings, sizeof *p->rings);
    p->segments = next_part(bytes, h->bytes, &at, h->segments, sizeof *p->segments);
    p->records = next_part(bytes, h->bytes, &at, h->records, sizeof *p->records);
    return p->constants && p->buffers && p->forms && p->patterns && p->motions && p->rings &&
           p->segments && p->records && at <= h->bytes;
}

/* ---- running -------------------------------------------------------------------------------- */

typedef struct run {
    ac_core *core;
    const ac_program *program;
    const ac_segment *segment;
    const ac_program_watch *watch;
    uint32_t turn[AC_LOOPS], depth;
} run;

uint32_t ac_ring_of(const ac_ring *rings, uint32_t count, uint32_t at)
{
    uint32_t first = 0;
    while (count) {
        const uint32_t half = count / 2;
        const ac_ring *r = &rings[first + half];
        if (at >= r->begin && at - r->begin < r->bytes)
            return first + half + 1;
        first = at < r->begin ? first : first + half + 1;
        count = at < r->begin ? half : count - half - 1;
    }
    return 0;
}

/* Where an offset in L1 lies after it has advanced: around in its ring, if it lies in one. */
static int64_t wrapped(const run *r, uint32_t at, int64_t advance)
{
    const ac_ring *rings = r->program->rings + r->segment->first_ring;
    const uint32_t found = ac_ring_of(rings, r->segment->rings, at);
    if (!found)
        return at + advance;
    const ac_ring *ring = &rings[found - 1];
    const int64_t bytes = ring->bytes, sum = at - ring->begin + advance;
    return ring->begin + (sum % bytes + bytes) % bytes;
}

static ac_address address_of(const run *r, const ac_record *record, const ac_motion *motion,
                             uint32_t space, uint32_t k)
{
    int64_t advance = 0;
    if (space == AC_NO_SPACE)
        return AC_NOWHERE;
    for (uint32_t d = 0; d < r->depth; d++)
        advance += (int64_t)r->turn[d] * motion->step[d][k];
    const int64_t at = !advance         ? record->at[k]
                       : space == AC_L1 ? wrapped(r, record->at[k], advance)
                                        : record->at[k] + advance;
    return ac_at((ac_space)space, (uint64_t)at);
}

static void issue(const run *r, const ac_record *record)
{
    const ac_form *f = &r->program->forms[record->form];
    const ac_motion *motion = &r->program->motions[record->motion];
    ac_address at[AC_OPERANDS];
    ac_turned turned[2];
    for (uint32_t k = 0; k < f->flag_count; k++) {
        const ac_instruction flag = ac_flag_instruction(f->flags[k]);
        r->core->take(r->core, &flag);
    }
    if (f->opcode == AC_OP_NONE)
        return;
    for (uint32_t k = 0; k < AC_OPERANDS; k++)
        at[k] = address_of(r, record, motion, f->space[k], k);
    const ac_instruction i = ac_form_instruction(r->program, f, at, turned);
    r->core->take(r->core, &i);
}

/* Loops are at most AC_LOOPS deep, and so is the recursion. */
static void run_records(run *r, const ac_record *records, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const ac_record *record = &records[i];
        if (record->form == AC_RECORD_OPERATOR) {
            if (r->watch)
                r->watch->on_operator(r->watch->context, record->at[0]);
        } else if (record->form == AC_RECORD_LOOP) {
            const uint32_t depth = r->depth++;
            for (r->turn[depth] = 0; r->turn[depth] < record->at[0]; r->turn[depth]++) {
                if (r->watch)
                    r->watch->on_turn(r->watch->context);
                run_records(r, record + 1, record->at[1]);
            }
            r->depth = depth;
            i += record->at[1];
        } else
            issue(r, record);
    }
}

void ac_program_run(ac_core *core, const ac_program *p, uint32_t segment, uint32_t core_index,
                    const ac_program_watch *watch)
{
    const ac_segment *s = &p->segments[segment];
    run r = {.core = core, .program = p, .segment = s, .watch = watch};
    run_records(&r, p->records + s->core[core_index].first, s->core[core_index].count);
}
