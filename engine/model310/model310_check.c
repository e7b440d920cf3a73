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
    IN_L1 = 1 << AC_L1 | 1 << AC_CONSTANTS,
    ANYWHERE = (2 << AC_GM) - 1,
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
    ac_address at;
    size_t bytes;    /* from the first byte it touches to the last */
    uint32_t spaces; /* bits of ac_space it may lie in; that of AC_GM stands for all its buffers */
    uint32_t align;
    bool write;
} ac_extent;

static ac_place place(ac_model *m, const char *name, ac_extent e)
{
    const ac_space space = ac_space_of(e.at);
    const uint64_t offset = ac_offset_of(e.at);
    const ac_memory *memory = space < AC_SPACES ? &m->memory[space] : NULL;
    const bool there = memory && e.spaces >> (space < AC_GM ? space : AC_GM) & 1 &&
                       offset < memory->size && (memory->writable || !e.write);
    if (there && offset % e.align) {
        ac_find(m, AC_ILLEGAL_OPERAND, name, (int64_t)offset, e.align);
        return (ac_place){.name = name};
    }
    const uint64_t room = there ? memory->size - offset : 0;
    if (there && e.bytes <= room)
        return (ac_place){name, space < AC_BUFFERS ? m->shadow[space] : NULL, (size_t)offset, true};
    ac_find(m, AC_OUT_OF_BUFFER, name, (int64_t)e.bytes, (int64_t)room);
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
    if (s->read_index[m->pipe] == m->index && m->opcode != AC_OP_MOVE)
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

void ac_model_written(ac_core *core, ac_address at, size_t size)
{
    ac_model *m = core->model;
    const ac_space space = ac_space_of(at);
    if (!m || space >= AC_BUFFERS || ac_offset_of(at) >= m->memory[space].size)
        return;
    const size_t start = (size_t)ac_offset_of(at), room = m->memory[space].size - start;
    const size_t end = start + (size < room ? size : room);
    for (size_t b = start / AC_BLOCK; b * AC_BLOCK < end; b++)
        m->shadow[space][b].written |=
            mask_of(b * AC_BLOCK < start ? start % AC_BLOCK : 0, end - b * AC_BLOCK);
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

static void check_copy(ac_model *m, ac_path path, ac_address dst, ac_address src, ac_copy c)
{
    if (!within(m, "bursts", c.bursts, 1, MAX_BURSTS) ||
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

static void check_load2d(ac_model *m, ac_address dst, ac_address src, uint32_t fractals)
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

static void check_load3d(ac_model *m, ac_address dst, ac_address row, const ac_load3d *l)
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

static void check_mmad(ac_model *m, const ac_target *target, const ac_instruction *i)
{
    const ac_product *p = &i->product;
    if (!within(m, "m", p->m, 1, AC_MAX_MKN) || !within(m, "k", p->k, 1, AC_MAX_MKN) ||
        !within(m, "n", p->n, 1, AC_MAX_MKN))
        return;
    const uint32_t fractal_k =
        i->opcode == AC_OP_MMAD + AC_MAD_F32F16F16 ? target->fractal_k_f16 : target->fractal_k_8bit;
    const uint32_t m1 = (p->m + 15) / AC_FRACTAL, n1 = (p->n + 15) / AC_FRACTAL;
    const uint32_t k1 = (p->k + fractal_k - 1) / fractal_k;
    const size_t a_bytes = (size_t)m1 * k1 * FRACTAL_BYTES;
    const size_t b_bytes = (size_t)n1 * k1 * FRACTAL_BYTES;
    const size_t c_bytes = (size_t)m1 * n1 * C_FRACTAL_BYTES;
    const ac_place a = place(m, "a", (ac_extent){i->a, a_bytes, 1 << AC_L0A, FRACTAL_BYTES, false});
    const ac_place b = place(m, "b", (ac_extent){i->b, b_bytes, 1 << AC_L0B, FRACTAL_BYTES, false});
    ac_place c = place(m, "c", (ac_extent){i->dst, c_bytes, 1 << AC_L0C, C_FRACTAL_BYTES, true});
    c.stamp = false;
    read_a(m, &a, p->m, k1);
    read_bytes(m, &b, 0, b_bytes);
    accumulate(m, &c, p->m, n1, p->from_zero);
}

static void check_bias(ac_model *m, ac_address c, ac_address bias, uint32_t rows, uint32_t n)
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

static void check_drain(ac_model *m, const ac_instruction *i)
{
    const ac_copy c = i->copy;
    if (!within(m, "bursts", c.bursts, 1, MAX_BURSTS) ||
        !within(m, "fractals", c.blocks, 1, MAX_BLOCKS))
        return;
    const size_t from_burst = (size_t)c.blocks * C_FRACTAL_BYTES, to_burst = from_burst / 2;
    const size_t from_step = from_burst + (size_t)c.src_gap * C_FRACTAL_BYTES;
    const size_t to_step = to_burst + (size_t)c.dst_gap * AC_BLOCK, last = c.bursts - 1u;
    const ac_place from = place(
        m, "src",
        (ac_extent){i->a, last * from_step + from_burst, 1 << AC_L0C, C_FRACTAL_BYTES, false});
    const ac_place to =
        place(m, "dst", (ac_extent){i->dst, last * to_step + to_burst, 1 << AC_UB, AC_BLOCK, true});
    for (size_t burst = 0; burst < c.bursts; burst++)
        read_bytes(m, &from, burst * from_step, from_burst);
    if (i->opcode == AC_OP_DRAIN + AC_DRAIN_S32_F16_DEQ) {
        const ac_place scale =
            place(m, "deq16", (ac_extent){i->b, AC_BLOCK, 1 << AC_UB, AC_BLOCK, false});
        read_bytes(m, &scale, 0, AC_BLOCK);
    }
    for (size_t burst = 0; burst < c.bursts; burst++)
        write_bytes(m, &to, burst * to_step, to_burst);
}

/* ---- vectors -------------------------------------------------------------------------------- */

ac_streams ac_streams_of(const ac_instruction *i)
{
    static const uint8_t converted[AC_VCONV_COUNT][2] = {
        [AC_F16_U8] = {1, 2}, [AC_F16_S8] = {1, 2},  [AC_U8_F16] = {2, 1},
        [AC_S8_F16] = {2, 1}, [AC_F16_F32] = {4, 2}, [AC_F32_F16] = {2, 4},
    };
    const uint32_t op = i->opcode;
    const ac_vector *v = &i->vector;
    const bool conv = op >= AC_OP_VCONV, two = op >= AC_OP_VEC2 && op < AC_OP_VECS;
    const bool wide = op == AC_OP_VEC2 + AC_VADD_F32 || op == AC_OP_VEC2 + AC_VMUL_F32 ||
                      op == AC_OP_VECS + AC_VADDS_F32 || op == AC_OP_VECS + AC_VMULS_F32;
    const uint32_t width = wide ? 4 : 2;
    const uint32_t to = conv ? converted[op - AC_OP_VCONV][0] : width;
    const uint32_t from = conv ? converted[op - AC_OP_VCONV][1] : width;
    return (ac_streams){{{"dst", i->dst, to, v->dst_block, v->dst_repeat},
                         {conv ? "src" : "a", i->a, from, v->a_block, v->a_repeat},
                         {"b", i->b, width, v->b_block, v->b_repeat}},
                        op == AC_OP_DUP ? 1
                        : two           ? 3
                                        : 2};
}

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

static bool legal_vector(ac_model *m, const ac_streams *s, const ac_vector *v)
{
    const ac_stream *streams = s->at;
    uint32_t widest = 0;
    for (uint32_t i = 0; i < s->count; i++)
        widest = streams[i].width > widest ? streams[i].width : widest;
    return within(m, "repeat", v->repeat, 1, AC_MAX_REPEAT) &&
           within(m, "lanes", v->lanes, 1, AC_REPEAT / widest) &&
           within(m, "dst_block", v->dst_block, ac_stream_blocks(streams, v->lanes) > 1, 255) &&
           within(m, "dst_repeat", v->dst_repeat, v->repeat > 1, 255);
}

/* If a source is dst itself, its reads are not recorded. A read by this very instruction that dst
 * then meets is an overlap. */
static void check_vector(ac_model *m, const ac_instruction *instruction)
{
    const ac_streams all = ac_streams_of(instruction);
    const ac_stream *streams = all.at;
    const ac_vector *v = &instruction->vector;
    if (!legal_vector(m, &all, v))
        return;
    const ac_place to = place_stream(m, &streams[0], v, true);
    for (uint32_t i = 1; i < all.count; i++) {
        ac_place from = place_stream(m, &streams[i], v, false);
        from.stamp = !same_stream(&streams[0], &streams[i], v);
        walk(m, &streams[i], &from, v, read_bytes);
    }
    walk(m, &streams[0], &to, v, write_bytes);
}

static void turned_block(ac_model *m, const char *name, const ac_turned *t, uint32_t i,
                         const ac_instruction *of, bool write, bool stamp)
{
    enum { HALF = AC_BLOCK / 2 };
    const uint32_t repeat = of->turn.repeat;
    const size_t bytes = of->opcode == AC_OP_TRANSPOSE ? AC_BLOCK : HALF;
    const size_t extent = ((size_t)(repeat - 1) * t->repeat + 1) * AC_BLOCK;
    ac_place p = place(m, name, (ac_extent){t->at[i], extent, 1 << AC_UB, AC_BLOCK, write});
    p.stamp = stamp;
    for (size_t r = 0; r < repeat; r++)
        (write ? write_bytes : read_bytes)(m, &p, r * t->repeat * AC_BLOCK + (t->high ? HALF : 0),
                                           bytes);
}

static void check_transpose(ac_model *m, const ac_instruction *i)
{
    const ac_turned *dst = i->turn.to, *src = i->turn.from;
    const uint32_t repeat = i->turn.repeat;
    if (!within(m, "repeat", repeat, 1, AC_MAX_REPEAT) ||
        !within(m, "dst_repeat", dst->repeat, repeat > 1, 255))
        return;
    bool in_place = (dst->repeat == src->repeat || repeat == 1) && dst->high == src->high;
    for (uint32_t k = 0; k < AC_FRACTAL; k++)
        in_place &= dst->at[k] == src->at[k];
    for (uint32_t k = 0; k < AC_FRACTAL; k++)
        turned_block(m, "src", src, k, i, false, !in_place);
    for (uint32_t k = 0; k < AC_FRACTAL; k++)
        turned_block(m, "dst", dst, k, i, true, true);
}

/* ---- scalar unit ---------------------------------------------------------------------------- */

/* `count` elements of so many bytes, `step` bytes apart. */
static void touch_elements(ac_model *m, const char *name, ac_address at, uint32_t count,
                           uint32_t step, size_t bytes, bool write)
{
    const size_t extent = (size_t)(count - 1) * step + bytes;
    const ac_place p = place(m, name, (ac_extent){at, extent, ANYWHERE, 1, write});
    if (step == bytes) {
        (write ? write_bytes : read_bytes)(m, &p, 0, extent);
        return;
    }
    for (size_t i = 0; i < (step ? count : 1); i++)
        (write ? write_bytes : read_bytes)(m, &p, i * step, bytes);
}

static void check_scalar(ac_model *m, const ac_instruction *i)
{
    const ac_move *v = &i->move;
    const ac_fill *f = &i->fill;
    if (i->opcode == AC_OP_MOVE && within(m, "count", v->count, 1, INT32_MAX)) {
        touch_elements(m, "read", i->a, v->count, v->src_step, mona_type_size(v->src_type), false);
        touch_elements(m, "write", i->dst, v->count, v->dst_step, mona_type_size(v->dst_type),
                       true);
    } else if (i->opcode == AC_OP_FILL && within(m, "count", f->count, 1, INT32_MAX) &&
               within(m, "bytes", f->bytes, 1, 4)) {
        touch_elements(m, "write", i->dst, f->count, f->step, f->bytes, true);
    } else if (i->opcode == AC_OP_WORK && i->work.bytes) {
        touch_elements(m, "write", i->dst, 1, 0, i->work.bytes, true);
    }
}

/* ---- one instruction ------------------------------------------------------------------------ */

void ac_check(ac_model *m, const ac_target *target, const ac_instruction *i)
{
    const uint32_t op = i->opcode;
    if (op < AC_OP_LOAD2D)
        check_copy(m, (ac_path)(op - AC_OP_COPY), i->dst, i->a, i->copy);
    else if (op == AC_OP_LOAD2D)
        check_load2d(m, i->dst, i->a, i->fractals);
    else if (op == AC_OP_LOAD3D)
        check_load3d(m, i->dst, i->a, &i->load3d);
    else if (op < AC_OP_BIAS_L0C)
        check_mmad(m, target, i);
    else if (op == AC_OP_BIAS_L0C)
        check_bias(m, i->dst, i->a, i->product.m, i->product.n);
    else if (op < AC_OP_DUP)
        check_drain(m, i);
    else if (op < AC_OP_TRANSPOSE)
        check_vector(m, i);
    else if (op < AC_OP_MOVE)
        check_transpose(m, i);
    else
        check_scalar(m, i);
}
