// SPDX-License-Identifier: Apache-2.0
/* Legality of operands, and the race detector. The limits come from the programming interfaces of
 * dav-m100 (TIK and the instructions' register fields).
 *
 * Each buffer has a shadow with one entry for each 32 bytes. Two accesses by different pipes
 * conflict if one of them writes, and no flag or barrier lets the pipe of the later one know that
 * the earlier one has ended. */
#include "engine/model310/model310_private.h"

#include "engine/libc.h"

enum {
    FRACTAL_BYTES = 512,    /* of A and B */
    C_FRACTAL_BYTES = 1024, /* of 32-bit accumulators */
    C_ROW_BYTES = 64,
    FRACTAL_ROW_BYTES = 32,
    MAX_COLUMNS = 32767,
    MAX_BURSTS = 4095,
    MAX_BLOCKS = 65535,
    IN_L1 = 1 << AC_L1 | 1 << AC_RESIDENT,
    ANYWHERE = (1 << AC_SPACES) - 1,
};

/* ---- findings ------------------------------------------------------------------------------- */

static void find(ac_model *m, ac_finding finding)
{
    if (m->reported)
        return;
    m->reported = true;
    finding.kernel = m->kernel;
    finding.instruction = ac_opcode_names[m->opcode];
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
                         .other = ac_opcode_names[other],
                         .other_index = other_index});
}

static bool within(ac_model *m, const char *operand, int64_t value, int64_t low, int64_t high)
{
    if (value < low || value > high)
        ac_find(m, AC_ILLEGAL_OPERAND, operand, value, value < low ? low : high);
    return value >= low && value <= high;
}

/* ---- places --------------------------------------------------------------------------------- */

typedef struct ac_place {
    const char *name;
    ac_shadow *shadow; /* shadow of its buffer; NULL: nothing to track */
    size_t offset;     /* in the buffer */
    bool stamp;        /* reads are recorded; not needed if the same bytes are written at once */
} ac_place;

typedef struct ac_extent {
    const void *at;
    size_t bytes;    /* from the first byte it touches to the last */
    uint32_t spaces; /* bits of ac_space it may lie in */
    uint32_t align;
    bool write;
} ac_extent;

/* Of the ranges that hold the start of e, the one that reaches furthest. */
static const ac_range *range_of(const ac_ranges *ranges, const ac_extent *e)
{
    const uintptr_t at = (uintptr_t)e->at;
    const ac_range *best = NULL;
    uintptr_t best_end = 0;
    for (uint32_t i = 0; i < ranges->count; i++) {
        const ac_range *r = &ranges->at[i];
        const uintptr_t start = (uintptr_t)r->bytes;
        if (at < start || at - start >= r->size || (e->write && !r->writable))
            continue;
        best = start + r->size > best_end ? r : best;
        best_end = start + r->size > best_end ? start + r->size : best_end;
    }
    return best;
}

/* Alignment counts from the start of a buffer, which is at address 0 of the chip's buffer. */
static ac_place place(ac_model *m, const char *name, ac_extent e)
{
    int64_t room = 0;
    for (uint32_t space = 0; space < AC_SPACES; space++) {
        const ac_range *r = e.spaces >> space & 1 ? range_of(&m->spaces[space], &e) : NULL;
        if (!r)
            continue;
        const size_t offset = (uintptr_t)e.at - (uintptr_t)r->bytes;
        if (offset % e.align) {
            ac_find(m, AC_ILLEGAL_OPERAND, name, (int64_t)offset, e.align);
            return (ac_place){.name = name};
        }
        room = (int64_t)(r->size - offset);
        if (e.bytes <= r->size - offset)
            return (ac_place){name, space < AC_BUFFERS ? m->shadow[space] : NULL, offset, true};
    }
    ac_find(m, AC_OUT_OF_BUFFER, name, (int64_t)e.bytes, room);
    return (ac_place){.name = name};
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

static inline void read_block(ac_model *m, const ac_place *p, size_t block, uint32_t mask)
{
    ac_shadow *s = &p->shadow[block];
    if (s->write_index > m->clock[m->pipe][s->writer])
        ac_find_pair(m, AC_RACE, p->name, (int64_t)(block * AC_BLOCK), s->write_opcode,
                     s->write_index);
    const uint32_t unwritten = mask & ~s->written;
    if (unwritten)
        ac_find(m, AC_UNWRITTEN, p->name, (int64_t)(block * AC_BLOCK + first_bit(unwritten)), 0);
    if (p->stamp) {
        s->read_index[m->pipe] = m->index;
        s->read_opcode[m->pipe] = (uint8_t)m->opcode;
    }
}

static void write_conflict(ac_model *m, const ac_place *p, size_t block)
{
    const ac_shadow *s = &p->shadow[block];
    const uint32_t *known = m->clock[m->pipe];
    const int64_t at = (int64_t)(block * AC_BLOCK);
    if (s->write_index > known[s->writer])
        ac_find_pair(m, AC_RACE, p->name, at, s->write_opcode, s->write_index);
    for (uint32_t q = 0; q < AC_PIPES; q++)
        if (s->read_index[q] > known[q])
            ac_find_pair(m, AC_RACE, p->name, at, s->read_opcode[q], s->read_index[q]);
    if (s->read_index[m->pipe] == m->index && m->opcode != AC_OP_SCALAR)
        ac_find(m, AC_OVERLAP, p->name, at, 0);
}

static inline void write_block(ac_model *m, const ac_place *p, size_t block, uint32_t mask)
{
    ac_shadow *s = &p->shadow[block];
    const uint32_t *known = m->clock[m->pipe];
    uint32_t conflict = s->write_index > known[s->writer];
    conflict |= s->read_index[m->pipe] == m->index;
    for (uint32_t q = 0; q < AC_PIPES; q++)
        conflict |= s->read_index[q] > known[q];
    if (conflict)
        write_conflict(m, p, block);
    s->written |= mask;
    s->write_index = m->index;
    s->writer = (uint8_t)m->pipe;
    s->write_opcode = (uint8_t)m->opcode;
}

/* from: offset in the operand */
static inline void read_bytes(ac_model *m, const ac_place *p, size_t from, size_t bytes)
{
    if (!p->shadow || !bytes)
        return;
    const size_t start = p->offset + from, end = start + bytes;
    for (size_t b = start / AC_BLOCK; b * AC_BLOCK < end; b++)
        read_block(m, p, b,
                   mask_of(b * AC_BLOCK < start ? start % AC_BLOCK : 0, end - b * AC_BLOCK));
}

static inline void write_bytes(ac_model *m, const ac_place *p, size_t from, size_t bytes)
{
    if (!p->shadow || !bytes)
        return;
    const size_t start = p->offset + from, end = start + bytes;
    for (size_t b = start / AC_BLOCK; b * AC_BLOCK < end; b++)
        write_block(m, p, b,
                    mask_of(b * AC_BLOCK < start ? start % AC_BLOCK : 0, end - b * AC_BLOCK));
}

void ac_model_written(ac_core *core, const void *bytes, size_t size)
{
    ac_model *m = core->model;
    if (!m)
        return;
    const ac_extent e = {bytes, size, (1 << AC_BUFFERS) - 1, 1, true};
    for (uint32_t space = 0; space < AC_BUFFERS; space++) {
        const ac_range *r = range_of(&m->spaces[space], &e);
        const size_t start = r ? (uintptr_t)bytes - (uintptr_t)r->bytes : 0;
        const size_t end = r ? (size < r->size - start ? start + size : r->size) : 0;
        for (size_t b = start / AC_BLOCK; b * AC_BLOCK < end; b++)
            m->shadow[space][b].written |=
                mask_of(b * AC_BLOCK < start ? start % AC_BLOCK : 0, end - b * AC_BLOCK);
    }
}

/* ---- copies --------------------------------------------------------------------------------- */

static const struct {
    uint32_t from, to;
    bool from_gm, to_gm;
} paths[AC_PATH_COUNT] = {
    [AC_GM_L1] = {1 << AC_GM, 1 << AC_L1, true, false},
    [AC_GM_UB] = {1 << AC_GM, 1 << AC_UB, true, false},
    [AC_L1_UB] = {IN_L1, 1 << AC_UB, false, false},
    [AC_UB_L1] = {1 << AC_UB, 1 << AC_L1, false, false},
    [AC_UB_GM] = {1 << AC_UB, 1 << AC_GM, false, true},
};

static size_t copy_extent(ac_copy c, size_t gap)
{
    return ((c.bursts - 1) * (c.blocks + gap) + c.blocks) * AC_BLOCK;
}

void ac_check_copy(ac_model *m, ac_path path, const void *dst, const void *src, ac_copy c)
{
    if (!within(m, "path", path, 0, AC_PATH_COUNT - 1) ||
        !within(m, "bursts", c.bursts, 1, MAX_BURSTS) ||
        !within(m, "blocks", c.blocks, 1, MAX_BLOCKS))
        return;
    const size_t burst = (size_t)c.blocks * AC_BLOCK;
    const uint32_t from_align = paths[path].from_gm ? 1 : AC_BLOCK;
    const uint32_t to_align = paths[path].to_gm ? 1 : AC_BLOCK;
    const ac_place from = place(
        m, "src", (ac_extent){src, copy_extent(c, c.src_gap), paths[path].from, from_align, false});
    const ac_place to = place(
        m, "dst", (ac_extent){dst, copy_extent(c, c.dst_gap), paths[path].to, to_align, true});
    for (size_t i = 0; i < c.bursts; i++)
        read_bytes(m, &from, i * (burst + (size_t)c.src_gap * AC_BLOCK), burst);
    for (size_t i = 0; i < c.bursts; i++)
        write_bytes(m, &to, i * (burst + (size_t)c.dst_gap * AC_BLOCK), burst);
}

/* ---- cube ----------------------------------------------------------------------------------- */

void ac_check_load2d(ac_model *m, const void *dst, const void *src, uint32_t fractals)
{
    if (!within(m, "fractals", fractals, 1, AC_MAX_REPEAT))
        return;
    const size_t bytes = (size_t)fractals * FRACTAL_BYTES;
    const ac_place from = place(m, "src", (ac_extent){src, bytes, IN_L1, AC_BLOCK, false});
    const ac_place to = place(m, "dst", (ac_extent){dst, bytes, 1 << AC_L0B, FRACTAL_BYTES, true});
    read_bytes(m, &from, 0, bytes);
    write_bytes(m, &to, 0, bytes);
}

static bool legal_load3d(ac_model *m, const ac_load3d *l)
{
    const bool legal =
        within(m, "stride", l->stride, 1, 63) && within(m, "dilation", l->dilation, 1, 255) &&
        within(m, "element", l->element, 1, 2) &&
        within(m, "repeat", l->repeat, 1, AC_MAX_REPEAT) && within(m, "jump", l->jump, 1, 127) &&
        within(m, "columns", l->columns, 1, MAX_COLUMNS) &&
        within(m, "column", l->column, 0, MAX_COLUMNS);
    const uint32_t whole = FRACTAL_ROW_BYTES / (l->element ? l->element : 1);
    const uint32_t small = l->element == 1 ? 8 : 4; /* small-channel mode */
    if (legal && l->c0 != whole && l->c0 != small)
        ac_find(m, AC_ILLEGAL_OPERAND, "c0", l->c0, whole);
    return legal && (l->c0 == whole || l->c0 == small);
}

/* The columns of the input row that load3d reads, as runs of neighbouring ones. */
typedef struct ac_column_runs {
    uint32_t runs, step;       /* step: from one run to the next */
    uint32_t parts, part_step; /* parts of a run: more than one if the filter is dilated */
    uint32_t width, first, columns;
} ac_column_runs;

static ac_column_runs column_runs(const ac_load3d *l)
{
    const uint32_t pixels = (uint32_t)l->repeat * AC_FRACTAL;
    const uint32_t taps = FRACTAL_ROW_BYTES / ((uint32_t)l->c0 * l->element);
    if (l->dilation > 1 && taps > 1)
        return (ac_column_runs){pixels, l->stride, taps, l->dilation, 1, l->column, l->columns};
    if (l->stride > taps)
        return (ac_column_runs){pixels, l->stride, 1, 0, taps, l->column, l->columns};
    return (ac_column_runs){1, 0, 1, 0, (pixels - 1) * l->stride + taps, l->column, l->columns};
}

static void read_columns(ac_model *m, const ac_place *row, ac_column_runs c, size_t column_bytes)
{
    for (uint32_t i = 0; i < c.runs; i++)
        for (uint32_t j = 0; j < c.parts; j++) {
            const uint32_t at = c.first + i * c.step + j * c.part_step;
            const uint32_t left = at < c.columns ? c.columns - at : 0;
            read_bytes(m, row, at * column_bytes, (left < c.width ? left : c.width) * column_bytes);
        }
}

void ac_check_load3d(ac_model *m, const void *dst, const void *row, const ac_load3d *l)
{
    if (!legal_load3d(m, l))
        return;
    const size_t column_bytes = (size_t)l->c0 * l->element;
    const ac_column_runs c = column_runs(l);
    const uint32_t end = c.first + (c.runs - 1) * c.step + (c.parts - 1) * c.part_step + c.width;
    const size_t row_bytes = (end < l->columns ? end : l->columns) * column_bytes;
    const ac_place from = place(m, "row", (ac_extent){row, row_bytes, IN_L1, AC_BLOCK, false});
    const size_t step = (size_t)l->jump * FRACTAL_BYTES;
    const ac_place to = place(
        m, "dst",
        (ac_extent){dst, (l->repeat - 1) * step + FRACTAL_BYTES, 1 << AC_L0A, FRACTAL_BYTES, true});
    read_columns(m, &from, c, column_bytes);
    for (uint32_t r = 0; r < l->repeat; r++)
        write_bytes(m, &to, r * step, FRACTAL_BYTES);
}

/* In the last fractals of A, rows from m on are not read. */
static void read_a(ac_model *m, const ac_place *a, uint32_t rows, uint32_t k1)
{
    const size_t tile_row = (size_t)k1 * FRACTAL_BYTES, whole = rows / AC_FRACTAL;
    read_bytes(m, a, 0, whole * tile_row);
    for (uint32_t i = 0; i < k1; i++)
        read_bytes(m, a, whole * tile_row + (size_t)i * FRACTAL_BYTES,
                   rows % AC_FRACTAL * FRACTAL_ROW_BYTES);
}

static void accumulate(ac_model *m, const ac_place *c, uint32_t rows, uint32_t n1, bool from_zero)
{
    const size_t column = (rows + AC_FRACTAL - 1) / AC_FRACTAL * (size_t)C_FRACTAL_BYTES;
    for (uint32_t j = 0; j < n1; j++) {
        if (!from_zero)
            read_bytes(m, c, j * column, (size_t)rows * C_ROW_BYTES);
        write_bytes(m, c, j * column, from_zero ? column : (size_t)rows * C_ROW_BYTES);
    }
}

void ac_check_mmad(ac_model *m, const ac_target *target, ac_mad type, const void *const cab[3],
                   const uint32_t mkn[3], bool start_at_zero)
{
    if (!within(m, "type", type, 0, AC_MAD_F32F16F16) || !within(m, "m", mkn[0], 1, AC_MAX_MKN) ||
        !within(m, "k", mkn[1], 1, AC_MAX_MKN) || !within(m, "n", mkn[2], 1, AC_MAX_MKN))
        return;
    const uint32_t fractal_k =
        type == AC_MAD_F32F16F16 ? target->fractal_k_f16 : target->fractal_k_8bit;
    const uint32_t m1 = (mkn[0] + 15) / AC_FRACTAL, n1 = (mkn[2] + 15) / AC_FRACTAL;
    const uint32_t k1 = (mkn[1] + fractal_k - 1) / fractal_k;
    const size_t a_bytes = (size_t)m1 * k1 * FRACTAL_BYTES;
    const size_t b_bytes = (size_t)n1 * k1 * FRACTAL_BYTES;
    const size_t c_bytes = (size_t)m1 * n1 * C_FRACTAL_BYTES;
    const ac_place a =
        place(m, "a", (ac_extent){cab[1], a_bytes, 1 << AC_L0A, FRACTAL_BYTES, false});
    const ac_place b =
        place(m, "b", (ac_extent){cab[2], b_bytes, 1 << AC_L0B, FRACTAL_BYTES, false});
    ac_place c = place(m, "c", (ac_extent){cab[0], c_bytes, 1 << AC_L0C, C_FRACTAL_BYTES, true});
    c.stamp = false;
    read_a(m, &a, mkn[0], k1);
    read_bytes(m, &b, 0, b_bytes);
    accumulate(m, &c, mkn[0], n1, start_at_zero);
}

void ac_check_bias(ac_model *m, const void *c, const void *bias, uint32_t rows, uint32_t n)
{
    if (!within(m, "m", rows, 1, AC_MAX_MKN) || !within(m, "n", n, 1, AC_MAX_MKN))
        return;
    const size_t m1 = (rows + 15) / AC_FRACTAL, n1 = (n + 15) / AC_FRACTAL;
    const size_t c_bytes = m1 * n1 * C_FRACTAL_BYTES, bias_bytes = n1 * C_ROW_BYTES;
    const ac_place from =
        place(m, "bias", (ac_extent){bias, bias_bytes, 1 << AC_UB, AC_BLOCK, false});
    const ac_place to = place(m, "c", (ac_extent){c, c_bytes, 1 << AC_L0C, C_FRACTAL_BYTES, true});
    read_bytes(m, &from, 0, bias_bytes);
    write_bytes(m, &to, 0, c_bytes);
}

void ac_check_drain(ac_model *m, ac_drain kind, const void *dst, const void *src, ac_copy c,
                    const void *deq16)
{
    if (!within(m, "bursts", c.bursts, 1, MAX_BURSTS) ||
        !within(m, "fractals", c.blocks, 1, MAX_BLOCKS))
        return;
    const size_t from_burst = (size_t)c.blocks * C_FRACTAL_BYTES, to_burst = from_burst / 2;
    const size_t from_step = from_burst + (size_t)c.src_gap * C_FRACTAL_BYTES;
    const size_t to_step = to_burst + (size_t)c.dst_gap * AC_BLOCK, last = c.bursts - 1u;
    const ac_place from =
        place(m, "src",
              (ac_extent){src, last * from_step + from_burst, 1 << AC_L0C, C_FRACTAL_BYTES, false});
    const ac_place to =
        place(m, "dst", (ac_extent){dst, last * to_step + to_burst, 1 << AC_UB, AC_BLOCK, true});
    for (size_t i = 0; i < c.bursts; i++)
        read_bytes(m, &from, i * from_step, from_burst);
    if (kind == AC_DRAIN_S32_F16_DEQ) {
        const ac_place scale =
            place(m, "deq16", (ac_extent){deq16, AC_BLOCK, 1 << AC_UB, AC_BLOCK, false});
        read_bytes(m, &scale, 0, AC_BLOCK);
    }
    for (size_t i = 0; i < c.bursts; i++)
        write_bytes(m, &to, i * to_step, to_burst);
}

/* ---- vectors -------------------------------------------------------------------------------- */

uint32_t ac_stream_blocks(const ac_stream *s, uint32_t lanes)
{
    return (lanes * s->width + AC_BLOCK - 1) / AC_BLOCK;
}

static ac_place place_stream(ac_model *m, const ac_stream *s, const ac_vector *v, bool write)
{
    const uint32_t blocks = ac_stream_blocks(s, v->lanes);
    const size_t last = (v->repeat - 1u) * s->repeat + (blocks - 1) * s->block;
    const size_t tail = v->lanes * s->width - (blocks - 1) * AC_BLOCK;
    return place(m, s->name,
                 (ac_extent){s->at, last * AC_BLOCK + tail, 1 << AC_UB, AC_BLOCK, write});
}

typedef void access_bytes(ac_model *, const ac_place *, size_t from, size_t bytes);

static inline void walk(ac_model *m, const ac_stream *s, const ac_place *p, const ac_vector *v,
                        access_bytes *access)
{
    const size_t bytes = (size_t)v->lanes * s->width;
    const uint32_t repeats = s->repeat ? v->repeat : 1;
    for (size_t r = 0; r < repeats; r++)
        if (s->block == 1)
            access(m, p, r * s->repeat * AC_BLOCK, bytes);
        else
            for (size_t i = 0; i * AC_BLOCK < bytes; i++)
                access(m, p, (r * s->repeat + i * s->block) * AC_BLOCK,
                       bytes - i * AC_BLOCK < AC_BLOCK ? bytes - i * AC_BLOCK : AC_BLOCK);
}

static bool same_stream(const ac_stream *a, const ac_stream *b, const ac_vector *v)
{
    return a->at == b->at && a->width == b->width &&
           (a->block == b->block || ac_stream_blocks(a, v->lanes) == 1) &&
           (a->repeat == b->repeat || v->repeat == 1);
}

static bool legal_vector(ac_model *m, const ac_stream *streams, uint32_t sources,
                         const ac_vector *v)
{
    uint32_t widest = streams[0].width;
    for (uint32_t i = 1; i <= sources; i++)
        widest = streams[i].width > widest ? streams[i].width : widest;
    return within(m, "repeat", v->repeat, 1, AC_MAX_REPEAT) &&
           within(m, "lanes", v->lanes, 1, AC_REPEAT / widest) &&
           within(m, "dst_block", v->dst_block, ac_stream_blocks(streams, v->lanes) > 1, 255) &&
           within(m, "dst_repeat", v->dst_repeat, v->repeat > 1, 255);
}

/* If a source is dst itself, its reads are not recorded. A read by this very instruction that dst
 * then meets is an overlap. */
void ac_check_vector(ac_model *m, const ac_stream *streams, uint32_t sources, const ac_vector *v)
{
    if (!legal_vector(m, streams, sources, v))
        return;
    const ac_place to = place_stream(m, &streams[0], v, true);
    for (uint32_t i = 1; i <= sources; i++) {
        ac_place from = place_stream(m, &streams[i], v, false);
        from.stamp = !same_stream(&streams[0], &streams[i], v);
        walk(m, &streams[i], &from, v, read_bytes);
    }
    walk(m, &streams[0], &to, v, write_bytes);
}

static void turned_block(ac_model *m, const char *name, const ac_turned *t, uint32_t i,
                         uint32_t repeat, bool write, bool stamp)
{
    const size_t extent = ((size_t)(repeat - 1) * t->repeat + 1) * AC_BLOCK;
    ac_place p = place(m, name, (ac_extent){t->at[i], extent, 1 << AC_UB, AC_BLOCK, write});
    p.stamp = stamp;
    for (size_t r = 0; r < repeat; r++)
        (write ? write_bytes : read_bytes)(m, &p, r * t->repeat * AC_BLOCK + t->skip, t->bytes);
}

void ac_check_transpose(ac_model *m, const ac_turned *dst, const ac_turned *src, uint32_t repeat)
{
    if (!within(m, "repeat", repeat, 1, AC_MAX_REPEAT) ||
        !within(m, "dst_repeat", dst->repeat, repeat > 1, 255))
        return;
    bool in_place = (dst->repeat == src->repeat || repeat == 1) && dst->skip == src->skip;
    for (uint32_t i = 0; i < AC_FRACTAL; i++)
        in_place &= dst->at[i] == src->at[i];
    for (uint32_t i = 0; i < AC_FRACTAL; i++)
        turned_block(m, "src", src, i, repeat, false, !in_place);
    for (uint32_t i = 0; i < AC_FRACTAL; i++)
        turned_block(m, "dst", dst, i, repeat, true, true);
}

/* ---- scalar unit ---------------------------------------------------------------------------- */

void ac_check_scalar(ac_model *m, const void *read, size_t read_size, const void *write,
                     size_t write_size)
{
    if (read_size) {
        const ac_place from = place(m, "read", (ac_extent){read, read_size, ANYWHERE, 1, false});
        read_bytes(m, &from, 0, read_size);
    }
    if (write_size) {
        const ac_place to = place(m, "write", (ac_extent){write, write_size, ANYWHERE, 1, true});
        write_bytes(m, &to, 0, write_size);
    }
}
