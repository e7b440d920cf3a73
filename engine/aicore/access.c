// SPDX-License-Identifier: Apache-2.0
/* Ranges of operands, and the bytes that an instruction accesses. */
#include "engine/aicore/access.h"

enum {
    C_ROW_BYTES = AC_FRACTAL * 4, /* of 32-bit accumulators */
    C_FRACTAL_BYTES = AC_FRACTAL * C_ROW_BYTES,
};

enum { DST, A, B };

/* ---- ranges --------------------------------------------------------------------------------- */

static bool within(ac_fault *f, const char *operand, int64_t value, int64_t low, int64_t high)
{
    if (value < low || value > high)
        *f = (ac_fault){operand, value, value < low ? low : high};
    return value >= low && value <= high;
}

static bool legal_load3d(const ac_load3d *l, ac_fault *f)
{
    const uint32_t whole = AC_BLOCK / l->element;
    const uint32_t small = l->element == 1 ? 8 : 4; /* small-channel mode */
    if (l->rows)
        return within(f, "c0", l->c0, whole, whole) &&
               within(f, "repeat", l->repeat % l->rows, 0, 0) &&
               within(f, "taps", ac_load3d_taps(l), 1, 255) &&
               within(f, "column", l->column + ac_load3d_span(l), 1, l->columns);
    if (l->c0 != whole && l->c0 != small)
        *f = (ac_fault){"c0", l->c0, whole};
    return l->c0 == whole || l->c0 == small;
}

static bool legal_vector(const ac_instruction *i, ac_fault *f)
{
    const ac_vector *v = &i->vector;
    const ac_streams s = ac_streams_of(i);
    uint32_t widest = 1;
    for (uint32_t k = 0; k < s.count; k++)
        widest = s.at[k].width > widest ? s.at[k].width : widest;
    return within(f, "lanes", v->lanes, 1, AC_REPEAT / widest) &&
           within(f, "dst_block", v->dst_block, ac_stream_blocks(s.at, v->lanes) > 1, 255) &&
           within(f, "dst_repeat", v->dst_repeat, v->repeat > 1, 255);
}

static bool legal_bias(const ac_product *p, ac_fault *f)
{
    const uint32_t rows = (p->m + AC_FRACTAL - 1) / AC_FRACTAL;
    return within(f, "rows", 1 + p->k, 1, rows < AC_MAX_BIAS ? rows : AC_MAX_BIAS);
}

static bool legal_flag(const ac_flag *g, ac_fault *f)
{
    const uint32_t src = g->src, dst = g->dst;
    if (src >= AC_PIPE_ALL || dst >= AC_PIPE_ALL || src == dst) {
        *f = (ac_fault){"pipe", src >= AC_PIPE_ALL ? src : dst, AC_PIPE_ALL - 1};
        return false;
    }
    return within(f, "event", g->event, AC_EVENT0, AC_EVENT3);
}

bool ac_legal(const ac_instruction *i, ac_fault *f)
{
    const uint32_t op = i->opcode;
    if (!ac_fields_legal(i, f))
        return false;
    if (op == AC_OP_LOAD3D)
        return legal_load3d(&i->load3d, f);
    if (op == AC_OP_BIAS_L0C)
        return legal_bias(&i->product, f);
    if (ac_is_vector(op))
        return legal_vector(i, f);
    if (ac_turns(i->opcode))
        return within(f, "dst_repeat", i->turn.to->repeat, i->turn.repeat > 1, 255) &&
               within(f, "src_repeat", i->turn.from->repeat, 0, 255);
    if (op == AC_OP_SET_FLAG || op == AC_OP_WAIT_FLAG)
        return legal_flag(&i->flag, f);
    if (op == AC_OP_BARRIER)
        return within(f, "pipe", i->flag.src, 0, AC_PIPE_ALL);
    return true;
}

/* ---- accesses ------------------------------------------------------------------------------- */

typedef struct list {
    ac_access *at;
    uint32_t count;
    const ac_operation *operation;
} list;

/* What operands in these spaces begin at multiples of. */
static uint32_t align_of(const ac_operation *o, uint32_t spaces)
{
    return o->pipe == AC_PIPE_S || spaces & 1 << AC_GM ? 1
           : spaces & 1 << AC_L0C                      ? C_FRACTAL_BYTES
           : spaces & (1 << AC_L0A | 1 << AC_L0B)      ? AC_FRACTAL_BYTES
                                                       : AC_BLOCK;
}

/* One run of bytes. */
static ac_access *add(list *l, const char *name, uint8_t operand, ac_address at, uint64_t bytes)
{
    const uint32_t spaces = l->operation->spaces[operand];
    ac_access *a = &l->at[l->count++];
    *a = (ac_access){
        .name = name,
        .at = at,
        .operand = operand,
        .write = operand == DST,
        .align = align_of(l->operation, spaces),
        .spaces = spaces,
        .extent = bytes,
        .bytes = bytes,
        .count = {1, 1},
    };
    return a;
}

/* Makes it `count` runs instead of one. */
static void repeat(ac_access *a, uint32_t count, uint64_t step)
{
    a->count[0] = count;
    a->step[0] = step;
    a->extent = (count - 1) * step + a->bytes;
}

static void add_copy(list *l, const ac_instruction *i)
{
    const ac_copy *c = &i->copy;
    const uint64_t burst = (uint64_t)c->blocks * AC_BLOCK;
    repeat(add(l, "src", A, i->a, burst), c->bursts, burst + (uint64_t)c->src_gap * AC_BLOCK);
    repeat(add(l, "dst", DST, i->dst, burst), c->bursts, burst + (uint64_t)c->dst_gap * AC_BLOCK);
    for (uint32_t k = 0; k < 2 && ac_loads_constants(i); k++) {
        l->at[k].spaces = 1 << AC_CONSTANTS;
        l->at[k].align = AC_BLOCK;
        l->at[k].write = false; /* of other bytes than are there */
    }
}

static void add_load2d(list *l, const ac_instruction *i)
{
    const uint64_t bytes = (uint64_t)i->fractals * AC_FRACTAL_BYTES;
    add(l, "src", A, i->a, bytes);
    add(l, "dst", DST, i->dst, bytes);
}

/* The part of the input row that load3d reads: for each output pixel a run of neighbouring columns,
 * or several columns if the filter is dilated; a single run if the pixels' runs meet. */
static void add_columns(list *l, const ac_instruction *i)
{
    const ac_load3d *d = &i->load3d;
    const uint64_t column = (uint64_t)d->c0 * d->element;
    const uint32_t pixels = (uint32_t)d->repeat * AC_FRACTAL;
    const uint32_t taps = AC_BLOCK / (uint32_t)column;
    const bool dilated = d->dilation > 1 && taps > 1, apart = dilated || d->stride > taps;
    const uint32_t width = dilated ? 1 : apart ? taps : (pixels - 1) * d->stride + taps;
    ac_access *a = add(l, "row", A, i->a, width * column);
    a->first = d->column * column;
    a->count[0] = apart ? pixels : 1;
    a->step[0] = d->stride * column;
    a->count[1] = dilated ? taps : 1;
    a->step[1] = d->dilation * column;
    const uint64_t room = d->columns * column, end = a->first + (a->count[0] - 1) * a->step[0] +
                                                     (a->count[1] - 1) * a->step[1] + a->bytes;
    a->extent = end < room ? end : room;
}

/* The columns of each row that 16 filters side by side reach; if some move on to the next row, all
 * columns. */
static void add_picture(list *l, const ac_instruction *i)
{
    const ac_load3d *d = &i->load3d;
    const uint32_t end = d->column + (AC_FRACTAL - 1u) * d->stride + ac_load3d_span(d);
    const bool moves_on = end > d->columns;
    const uint32_t first = moves_on ? 0 : d->column, last = moves_on ? d->columns : end;
    ac_access *a = add(l, "row", A, i->a, (uint64_t)(last - first) * AC_BLOCK);
    repeat(a, d->rows, (uint64_t)d->columns * AC_BLOCK);
    a->first = (uint64_t)first * AC_BLOCK;
    a->extent += a->first;
}

static void add_load3d(list *l, const ac_instruction *i)
{
    (i->load3d.rows ? add_picture : add_columns)(l, i);
    repeat(add(l, "dst", DST, i->dst, AC_FRACTAL_BYTES), i->load3d.repeat,
           (uint64_t)i->load3d.jump * AC_FRACTAL_BYTES);
}

ac_fractals ac_fractals_of(const ac_instruction *i)
{
    const uint32_t k = i->opcode == AC_OP_MMAD + AC_MAD_F32F16F16 ? AC_BLOCK / 2 : AC_BLOCK;
    const ac_product *p = &i->product;
    return (ac_fractals){(p->m + AC_FRACTAL - 1) / AC_FRACTAL, (p->k + k - 1) / k,
                         (p->n + AC_FRACTAL - 1) / AC_FRACTAL};
}

/* In the last fractals of A, rows from m on are not read. */
static void add_a(list *l, const ac_instruction *i, const ac_fractals *f)
{
    const uint32_t whole = i->product.m / AC_FRACTAL, rows = i->product.m % AC_FRACTAL;
    const uint64_t tile_row = (uint64_t)f->k * AC_FRACTAL_BYTES;
    if (whole)
        add(l, "a", A, i->a, whole * tile_row);
    if (!rows)
        return;
    ac_access *last = add(l, "a", A, i->a + whole * tile_row, rows * AC_BLOCK);
    repeat(last, f->k, AC_FRACTAL_BYTES);
    last->extent = tile_row;
}

static void add_mmad(list *l, const ac_instruction *i)
{
    const ac_fractals f = ac_fractals_of(i);
    const uint64_t b_bytes = (uint64_t)f.n * f.k * AC_FRACTAL_BYTES;
    const uint64_t column = (uint64_t)f.m * C_FRACTAL_BYTES;
    const uint64_t used = (uint64_t)i->product.m * C_ROW_BYTES;
    add_a(l, i, &f);
    add(l, "b", B, i->b, b_bytes);
    for (uint32_t write = i->product.from_zero; write <= 1; write++) {
        ac_access *c = add(l, "c", DST, i->dst, i->product.from_zero ? column : used);
        repeat(c, f.n, column);
        c->extent = f.n * column;
        c->write = write;
        c->in_place = !write;
    }
}

static void add_bias(list *l, const ac_instruction *i)
{
    const ac_fractals f = ac_fractals_of(i);
    const uint64_t rows = 1 + i->product.k;
    add(l, "bias", A, i->a, f.n * rows * C_ROW_BYTES);
    repeat(add(l, "c", DST, i->dst, rows * C_FRACTAL_BYTES), f.n, (uint64_t)f.m * C_FRACTAL_BYTES);
}

static void add_drain(list *l, const ac_instruction *i)
{
    const ac_copy *c = &i->copy;
    const uint64_t from = (uint64_t)c->blocks * C_FRACTAL_BYTES;
    repeat(add(l, "src", A, i->a, from), c->bursts, from + (uint64_t)c->src_gap * C_FRACTAL_BYTES);
    if (i->opcode == AC_OP_DRAIN + AC_DRAIN_S32_F16_DEQ)
        add(l, "deq16", B, i->b, AC_BLOCK);
    repeat(add(l, "dst", DST, i->dst, from / 2), c->bursts,
           from / 2 + (uint64_t)c->dst_gap * AC_BLOCK);
}

ac_streams ac_streams_of(const ac_instruction *i)
{
    const ac_operation *o = &ac_operations[i->opcode];
    const ac_vector *v = &i->vector;
    return (ac_streams){
        {{"dst", i->dst, o->width[0], v->dst_block, v->dst_repeat},
         {i->opcode >= AC_OP_VCONV ? "src" : "a", i->a, o->width[1], v->a_block, v->a_repeat},
         {"b", i->b, o->width[2], v->b_block, v->b_repeat}},
        o->operands};
}

static bool same_stream(const ac_stream *a, const ac_stream *b, const ac_vector *v)
{
    return a->at == b->at && a->width == b->width &&
           (a->block == b->block || ac_stream_blocks(a, v->lanes) == 1) &&
           (a->repeat == b->repeat || v->repeat == 1);
}

/* Blocks of a repeat, and repeats. A last block that is not full is an access of its own where
 * blocks do not lie side by side. */
static void add_stream(list *l, const ac_streams *all, uint32_t k, const ac_vector *v)
{
    const ac_stream *s = &all->at[k];
    const bool in_place = k && same_stream(&all->at[0], s, v);
    const uint32_t bytes = v->lanes * s->width, repeats = s->repeat ? v->repeat : 1;
    const bool joined = s->block == 1 || bytes <= AC_BLOCK;
    const uint32_t blocks = joined ? 1 : bytes / AC_BLOCK, tail = joined ? 0 : bytes % AC_BLOCK;
    for (uint32_t part = 0; part <= (tail > 0); part++) {
        const uint64_t from = part ? (uint64_t)blocks * s->block * AC_BLOCK : 0;
        ac_access *a = add(l, s->name, (uint8_t)k, s->at + from,
                           part     ? tail
                           : joined ? bytes
                                    : AC_BLOCK);
        repeat(a, repeats, (uint64_t)s->repeat * AC_BLOCK);
        a->in_place = in_place;
        if (part)
            continue;
        a->count[1] = blocks;
        a->step[1] = (uint64_t)s->block * AC_BLOCK;
        a->extent += (blocks - 1) * a->step[1];
    }
}

static void add_vector(list *l, const ac_instruction *i)
{
    const ac_streams s = ac_streams_of(i);
    for (uint32_t k = s.count; k-- > 0;)
        add_stream(l, &s, k, &i->vector);
}

static void add_transpose(list *l, const ac_instruction *i)
{
    enum { HALF = AC_BLOCK / 2 };
    const ac_turned *to = i->turn.to, *from = i->turn.from;
    const uint32_t bytes = i->opcode == AC_OP_TRANSPOSE ? AC_BLOCK : HALF;
    bool in_place = (to->repeat == from->repeat || i->turn.repeat == 1) && to->high == from->high;
    for (uint32_t k = 0; k < AC_FRACTAL; k++)
        in_place &= to->at[k] == from->at[k];
    for (uint32_t k = 0; k < 2 * AC_FRACTAL; k++) {
        const bool write = k >= AC_FRACTAL;
        const ac_turned *t = write ? to : from;
        ac_access *a = add(l, write ? "dst" : "src", write ? DST : A, t->at[k % AC_FRACTAL], bytes);
        repeat(a, i->turn.repeat, (uint64_t)t->repeat * AC_BLOCK);
        a->first = t->high ? HALF : 0;
        a->extent += a->first;
        a->in_place = in_place && !write;
    }
}

/* `count` elements of so many bytes, `step` bytes apart. */
static void add_elements(list *l, uint8_t operand, ac_address at, uint32_t count, uint32_t step,
                         uint64_t bytes)
{
    const bool joined = step == bytes;
    ac_access *a =
        add(l, operand == DST ? "write" : "read", operand, at, joined ? count * bytes : bytes);
    if (step && !joined)
        repeat(a, count, step);
}

uint32_t ac_accesses_of(const ac_instruction *i, ac_access accesses[AC_ACCESSES])
{
    list l = {accesses, 0, &ac_operations[i->opcode]};
    const uint32_t op = i->opcode;
    if (op == AC_OP_NONE || op >= AC_OP_SET_FLAG)
        return 0;
    if (ac_is_copy(op))
        add_copy(&l, i);
    else if (op == AC_OP_LOAD2D)
        add_load2d(&l, i);
    else if (op == AC_OP_LOAD3D)
        add_load3d(&l, i);
    else if (ac_is_mmad(op))
        add_mmad(&l, i);
    else if (op == AC_OP_BIAS_L0C)
        add_bias(&l, i);
    else if (ac_is_drain(op))
        add_drain(&l, i);
    else if (ac_is_vector(op))
        add_vector(&l, i);
    else if (ac_turns(i->opcode))
        add_transpose(&l, i);
    else if (op == AC_OP_MOVE) {
        add_elements(&l, A, i->a, i->move.count, i->move.src_step, i->move.bytes);
        add_elements(&l, DST, i->dst, i->move.count, i->move.dst_step, i->move.bytes);
    } else if (op == AC_OP_FILL)
        add_elements(&l, DST, i->dst, i->fill.count, i->fill.step, i->fill.bytes);
    else if (i->work.bytes)
        add(&l, "write", DST, i->dst, i->work.bytes);
    return l.count;
}
