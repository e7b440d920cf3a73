// SPDX-License-Identifier: Apache-2.0
#include "ops/ascend/kernel_tiles.h"

#include "engine/array_format.h"
#include "engine/libc.h"
#include "ops/ascend/ub.h"
#include "ops/ascend/vectors.h"

enum { GROUP = AC_FRACTAL, MOST_STEP = 255, HALO_BYTES = AC_BLOCK };

/* ---- sizes ---------------------------------------------------------------------------------- */

static uint32_t planes_of(const kernel_plane *p)
{
    return p->operand->planes;
}

static bool is_byte(mona_type type)
{
    return mona_type_size(type) == 1;
}

/* Elements lie side by side where nothing asks for their neighbours and none has 16 bits. */
static bool needs_lanes(const kernel_tiles *t)
{
    bool lanes = false;
    for (uint32_t i = 0; i <= t->kernel->inputs; i++) {
        const mona_kernel_operand *o =
            i < t->kernel->inputs ? t->input[i].operand : t->output.operand;
        lanes |= o->planes && (o->cell_rows > 1 || o->cell_columns > 1 || o->around_rows ||
                               o->around_columns || mona_type_size(o->type) == 2);
    }
    return lanes;
}

/* Rows of whole blocks; types that lanes are made of. */
static bool lanes_possible(const kernel_tiles *t, const kernel_plane *p, bool output)
{
    const mona_kernel_operand *o = p->operand;
    return !o->planes || ((uint64_t)t->grid_columns * p->cell_bytes % AC_BLOCK == 0 &&
                          (is_byte(o->type) || (o->type == MONA_U16 && !output)) &&
                          (uint32_t)o->around_columns * p->cell_bytes <= GROUP);
}

static void place(ac_address *at, kernel_plane *p)
{
    p->raw[0] = take(at, p->raw_bytes);
    p->raw[1] = take(at, p->raw_bytes);
}

static ac_address later(ac_address a, ac_address b)
{
    return a > b ? a : b;
}

/* Lays UB out for the tile's size. */
static bool lay_out(kernel_tiles *t)
{
    const mona_kernel_program *program = t->program;
    const size_t value = (size_t)t->count * WIDE_BYTES;
    ac_address at = ac_at(AC_UB, 0), second;
    t->uniform = take(&at, (size_t)(program->uniform + KERNEL_OWN) * AC_BLOCK);
    t->index = take(&at, t->places ? value : 0);
    for (uint32_t i = 0; i < t->kernel->inputs; i++) {
        kernel_plane *p = &t->input[i];
        place(&at, p);
        const uint32_t samples = t->lanes ? p->operand->cell_rows * p->operand->cell_columns : 1;
        p->wide = take(&at, (size_t)p->wide_plane * planes_of(p) * samples);
        p->entries = take(&at, p->gathered ? 2 * (size_t)p->operand->elements * AC_BLOCK : 0);
    }
    place(&at, &t->output);
    second = at;
    t->bring.rows = take(&at, t->bring_bytes.rows);
    t->bring.lanes = take(&at, t->bring_bytes.lanes);
    t->bring.high = take(&at, t->bring_bytes.high);
    t->bring.edges = take(&at, t->bring_bytes.edges);
    t->full = take(&second, program->full * value);
    t->spare = take(&second, t->places || t->gathers ? value : 0);
    t->put_rows = take(&second, t->put_rows_bytes);
    t->put_lanes = take(&second, t->put_lanes_bytes);
    t->bytes = (uint32_t)ac_offset_of(later(at, second));
    return ac_offset_of(later(at, second)) <= ub_room(t->bound->target);
}

/* ---- side by side --------------------------------------------------------------------------- */

static void size_side_by_side(kernel_tiles *t)
{
    for (uint32_t i = 0; i <= t->kernel->inputs; i++) {
        kernel_plane *p = i < t->kernel->inputs ? &t->input[i] : &t->output;
        p->raw_row = p->raw_plane = t->count * p->cell_bytes;
        p->raw_bytes = p->raw_plane * planes_of(p);
        p->wide_plane = i < t->kernel->inputs && is_byte(p->operand->type) && planes_of(p)
                            ? t->count * WIDE_BYTES
                            : 0;
    }
    t->bring_bytes.rows = t->put_rows_bytes = t->count * (uint32_t)sizeof(uint16_t);
}

static bool choose_side_by_side(kernel_tiles *t)
{
    enum { MOST = 1 << 14, LEAST = 32 };
    const uint64_t all = (uint64_t)(t->end - t->begin) * t->grid_columns;
    for (t->count = MOST; t->count >= LEAST; t->count -= LEAST) {
        if (t->count > all)
            continue;
        size_side_by_side(t);
        t->columns = t->count;
        if (lay_out(t))
            return true;
    }
    return false;
}

/* ---- lanes ---------------------------------------------------------------------------------- */

static bool size_plane(const kernel_tiles *t, kernel_plane *p, bool output)
{
    const mona_kernel_operand *o = p->operand;
    const uint32_t halo = o->around_columns ? 2 * HALO_BYTES : 0;
    p->rows = t->rows + 2u * o->around_rows;
    p->raw_row = output ? GROUP * t->columns * p->cell_bytes : t->width * p->cell_bytes + halo;
    p->raw_plane = p->rows * o->cell_rows * p->raw_row;
    p->raw_bytes = p->raw_plane * o->planes;
    p->wide_plane = output ? 0 : p->rows * t->pitch * WIDE_BLOCK;
    return t->columns * p->cell_bytes % GROUP == 0 && t->pitch * p->cell_bytes <= MOST_STEP &&
           p->rows * o->cell_rows <= MOST_STEP;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static bool size_lanes(kernel_tiles *t)
{
    bool ok = true;
    t->pitch = t->columns + 2 * t->around;
    t->width = GROUP * t->columns < t->grid_columns ? GROUP * t->columns : t->grid_columns;
    t->count = (t->rows * t->pitch - 2 * t->around) * GROUP;
    memset(&t->bring_bytes, 0, sizeof t->bring_bytes);
    for (uint32_t i = 0; i < t->kernel->inputs; i++) {
        kernel_plane *p = &t->input[i];
        if (!planes_of(p))
            continue;
        ok = ok && size_plane(t, p, false);
        /* Segments may reach beyond the last row. */
        const uint32_t beyond = GROUP * t->columns * p->cell_bytes + 2 * HALO_BYTES;
        t->bring_bytes.rows = larger(t->bring_bytes.rows, 2 * (p->raw_plane + beyond));
        t->bring_bytes.lanes =
            larger(t->bring_bytes.lanes, p->rows * t->pitch * p->cell_bytes * AC_BLOCK);
        t->bring_bytes.edges = larger(t->bring_bytes.edges, p->rows * AC_BLOCK);
        if (!is_byte(p->operand->type))
            t->bring_bytes.high = larger(t->bring_bytes.high, p->wide_plane);
    }
    ok = ok && size_plane(t, &t->output, true);
    t->put_rows_bytes = 2 * t->rows * t->output.raw_row;
    t->put_lanes_bytes = t->rows * t->pitch * t->output.cell_bytes * AC_BLOCK;
    return ok && lay_out(t);
}

/* Repeats of a value's instructions and the time before each, for every step; and the same for
 * samples that come and go. */
static double cost(const kernel_tiles *t)
{
    enum { LATENCY = 16 };
    const double tiles =
        (double)ceil_div_u32(t->end - t->begin, t->rows) * ceil_div_u32(t->grid_columns, t->width);
    double one = t->program->count * (LATENCY + t->count / (double)FLOAT_LANES);
    for (uint32_t i = 0; i < t->kernel->inputs; i++) {
        const kernel_plane *p = &t->input[i];
        if (planes_of(p))
            one += planes_of(p) * (p->operand->cell_rows * p->cell_bytes) *
                   (LATENCY + 2.0 * p->rows * t->pitch / 4);
    }
    return tiles * one;
}

static bool choose_lanes(kernel_tiles *t)
{
    enum { MOST_ROWS = 64, MOST_COLUMNS = 128 };
    double best = 0;
    uint32_t rows = 0, columns = 0;
    for (uint32_t i = 0; i < t->kernel->inputs; i++)
        t->around = larger(t->around, t->input[i].operand->around_columns);
    const uint32_t all = t->end - t->begin;
    for (t->columns = 4; t->columns <= MOST_COLUMNS; t->columns += 4)
        for (t->rows = 1; t->rows <= MOST_ROWS && t->rows <= all; t->rows++) {
            if (!size_lanes(t))
                continue;
            const double now = cost(t);
            if (!rows || now < best)
                best = now, rows = t->rows, columns = t->columns;
        }
    t->rows = rows, t->columns = columns;
    return rows && size_lanes(t);
}

/* Rows are the integer part of (i + 0.5) / columns, of which the reciprocal gives nearly as much.
 * It is right in the first and last cell of every row, and thus in those between. */
static bool places_exact(const kernel_tiles *t)
{
    const float reciprocal = 1.0f / (float)t->grid_columns, magic = 0x1.8p23f;
    if ((uint64_t)t->grid_rows * t->grid_columns >= 1 << 23)
        return false;
    for (uint32_t row = 0; row < t->grid_rows; row++)
        for (uint32_t last = 0; last <= 1; last++) {
            const uint32_t i = row * t->grid_columns + (last ? t->grid_columns - 1 : 0);
            volatile float at = (float)i + 0.5f;
            at = at * reciprocal;
            at = at - 0.5f;
            at = at + magic;
            if (at - magic != (float)row)
                return false;
        }
    return true;
}

bool mona_kernel_tiles(kernel_tiles *t, const mona_bound_op *bound, uint32_t begin, uint32_t end)
{
    const mona_array_kernel *record = (const void *)(bound->data + bound->op->array.record);
    *t = (kernel_tiles){
        .bound = bound,
        .kernel = bound->kernel,
        .program = &bound->kernel->programs[record->output],
        .grid_rows = record->rows,
        .grid_columns = record->columns,
        .begin = begin,
        .end = end,
    };
    bool ok = true;
    for (uint32_t i = 0; i <= t->kernel->inputs; i++) {
        kernel_plane *p = i < t->kernel->inputs ? &t->input[i] : &t->output;
        p->operand = &t->kernel->operands[i < t->kernel->inputs ? i : i + record->output];
        p->cell_bytes = (uint32_t)mona_kernel_cell_bytes(p->operand);
    }
    for (uint32_t i = 0; i < t->program->count; i++) {
        const mona_kernel_step *s = &t->program->steps[i];
        t->places |= s->operation == MONA_KERNEL_ROW || s->operation == MONA_KERNEL_COLUMN;
        if (s->operation == MONA_KERNEL_GATHER)
            t->gathers = t->input[s->value].gathered = true;
    }
    t->lanes = needs_lanes(t);
    if (!t->lanes)
        return (!t->places || places_exact(t)) && choose_side_by_side(t);
    for (uint32_t i = 0; i <= t->kernel->inputs; i++)
        ok = ok && lanes_possible(t, i < t->kernel->inputs ? &t->input[i] : &t->output,
                                  i == t->kernel->inputs);
    return ok && !t->places && choose_lanes(t);
}

/* ---- from global memory --------------------------------------------------------------------- */

static ac_address gm_row(const kernel_tiles *t, const kernel_plane *p, uint32_t plane, uint32_t row,
                         uint32_t column)
{
    const uint64_t row_bytes = (uint64_t)t->grid_columns * p->cell_bytes;
    const uint64_t rows = (uint64_t)t->grid_rows * p->operand->cell_rows;
    return p->gm + (plane * rows + (uint64_t)row * p->operand->cell_rows) * row_bytes +
           (uint64_t)column * p->cell_bytes;
}

/* `count` rows of the grid from row y on, to row `at` of the tile. */
static void bring_rows(const kernel_tiles *t, const kernel_tile *tile, const kernel_plane *p,
                       uint32_t plane, uint32_t y, uint32_t count, uint32_t at)
{
    const mona_kernel_operand *o = p->operand;
    const bool left = o->around_columns && tile->column;
    const bool right = o->around_columns && tile->column + t->width < t->grid_columns;
    const uint32_t halo = o->around_columns && !left ? HALO_BYTES : 0;
    const ac_address to = p->raw[tile->parity] + (uint64_t)plane * p->raw_plane +
                          (uint64_t)at * o->cell_rows * p->raw_row + halo;
    const ac_address from = gm_row(t, p, plane, y, tile->column) - (left ? HALO_BYTES : 0);
    mona_copy_rows(t->core, AC_GM_UB, (mona_steps){to, p->raw_row},
                   (mona_steps){from, (ptrdiff_t)t->grid_columns * p->cell_bytes},
                   count * o->cell_rows,
                   t->width * p->cell_bytes + HALO_BYTES * ((uint32_t)left + right));
}

static void bring_plane(const kernel_tiles *t, const kernel_tile *tile, const kernel_plane *p,
                        uint32_t plane)
{
    const uint32_t above = p->operand->around_rows, last = t->grid_rows - 1;
    const uint32_t missing = tile->row < above ? above - tile->row : 0;
    const uint32_t end = tile->row + t->rows + above;
    const uint32_t beyond = end > t->grid_rows ? end - t->grid_rows : 0;
    for (uint32_t i = 0; i < missing; i++)
        bring_rows(t, tile, p, plane, 0, 1, i);
    bring_rows(t, tile, p, plane, tile->row + missing - above, p->rows - missing - beyond, missing);
    for (uint32_t i = 0; i < beyond; i++)
        bring_rows(t, tile, p, plane, last, 1, p->rows - beyond + i);
}

void mona_kernel_bring(const kernel_tiles *t, const kernel_tile *tile)
{
    for (uint32_t i = 0; i < t->kernel->inputs; i++) {
        const kernel_plane *p = &t->input[i];
        if (t->lanes)
            for (uint32_t plane = 0; plane < planes_of(p); plane++)
                bring_plane(t, tile, p, plane);
        else if (planes_of(p))
            mona_copy_rows(t->core, AC_GM_UB, (mona_steps){p->raw[tile->parity], p->raw_plane},
                           (mona_steps){gm_row(t, p, 0, 0, tile->column),
                                        (ptrdiff_t)t->grid_rows * t->grid_columns * p->cell_bytes},
                           planes_of(p), t->count * p->cell_bytes);
    }
}

/* ---- numbers of it -------------------------------------------------------------------------- */

static void barrier(const kernel_tiles *t)
{
    ac_emit_barrier(t->core, AC_PIPE_V);
}

/* Converts every `step`th block of fp16 to two of f32, or the other way. */
static void convert(const kernel_tiles *t, ac_vconv kind, ac_address to, ac_address from,
                    uint32_t count, uint32_t step)
{
    const bool widens = kind == AC_F16_F32;
    const ac_vector strides = {
        .dst_block = (uint8_t)(widens ? 1 : step),
        .a_block = (uint8_t)(widens ? step : 1),
        .dst_repeat = (uint8_t)(widens ? 8 : 4 * step),
        .a_repeat = (uint8_t)(widens ? 4 * step : 8),
    };
    for (vectors w = vectors_of(strides, FLOAT_LANES, count); next_vectors(&w);)
        ac_emit_vconv(t->core, kind, vectors_at(&w, to, w.v.dst_repeat),
                      vectors_at(&w, from, w.v.a_repeat), w.v);
}

/* Blocks that advance from row to row and from group to group, in bytes. */
typedef struct turned_side {
    ac_address at[AC_FRACTAL];
    uint32_t row, group;
} turned_side;

/* Repeats run along rows or groups, of which there are more. */
static void turn(const kernel_tiles *t, const turned_side *to, const turned_side *from,
                 uint32_t rows, uint32_t groups)
{
    const bool along_rows =
        rows > groups && to->row <= MOST_STEP * AC_BLOCK && from->row <= MOST_STEP * AC_BLOCK;
    const uint32_t turns = along_rows ? groups : rows;
    for (uint32_t i = 0; i < turns; i++) {
        ac_turned sides[2] = {
            {.repeat = (uint8_t)((along_rows ? to->row : to->group) / AC_BLOCK)},
            {.repeat = (uint8_t)((along_rows ? from->row : from->group) / AC_BLOCK)}};
        for (uint32_t k = 0; k < AC_FRACTAL; k++) {
            sides[0].at[k] = to->at[k] + (uint64_t)i * (along_rows ? to->group : to->row);
            sides[1].at[k] = from->at[k] + (uint64_t)i * (along_rows ? from->group : from->row);
        }
        ac_emit_transpose(t->core, AC_OP_TRANSPOSE, &sides[0], &sides[1],
                          (uint8_t)(along_rows ? rows : groups));
    }
}

/* Turns the 16 columns beside every segment of a row of samples, of which `used` are used, from
 * `first` on; the others fall where the segments' own will. */
static void turn_beside(const kernel_tiles *t, const kernel_plane *p, turned_side from,
                        ac_address row, int32_t first, uint32_t used, uint32_t column)
{
    turned_side to = {.row = t->pitch * p->cell_bytes * AC_BLOCK};
    for (uint32_t k = 0; k < AC_FRACTAL; k++) {
        const bool is_used = (int32_t)k >= first && k < (uint32_t)first + used;
        const uint32_t at = is_used ? column + k - (uint32_t)first : t->around * p->cell_bytes + k;
        to.at[k] = row + (uint64_t)at * AC_BLOCK;
    }
    turn(t, &to, &from, p->rows, 1);
}

/* Rows `inside` of all cells of a plane, whose bytes are fp16 in scratch, to lanes. */
static void turn_rows(const kernel_tiles *t, const kernel_plane *p, uint32_t inside, ac_address to)
{
    const mona_kernel_operand *o = p->operand;
    const uint32_t segment = t->columns * p->cell_bytes, own = t->around * p->cell_bytes;
    const uint32_t used = o->around_columns * p->cell_bytes;
    const uint32_t halo = o->around_columns ? HALO_BYTES : 0;
    turned_side from = {.row = o->cell_rows * p->raw_row * 2, .group = AC_BLOCK}, beside = from;
    turned_side dst = {.row = t->pitch * p->cell_bytes * AC_BLOCK, .group = GROUP * AC_BLOCK};
    const ac_address row = t->bring.rows + 2 * ((uint64_t)inside * p->raw_row + halo);
    for (uint32_t k = 0; k < AC_FRACTAL; k++) {
        from.at[k] = row + 2 * (uint64_t)k * segment;
        beside.at[k] = from.at[k] - AC_BLOCK;
        dst.at[k] = to + (uint64_t)(own + k) * AC_BLOCK;
    }
    if (used) {
        turn_beside(t, p, beside, to, (int32_t)(GROUP - used), used, own - used);
        barrier(t);
        for (uint32_t k = 0; k < AC_FRACTAL; k++)
            beside.at[k] = from.at[k] + 2 * (uint64_t)segment;
        turn_beside(t, p, beside, to, 0, used, own + segment);
        barrier(t);
    }
    turn(t, &dst, &from, p->rows, segment / GROUP);
    barrier(t);
}

/* One block of every row: dst = a op b, each with blocks from row to row. */
static void in_rows(const kernel_tiles *t, ac_vec2 op, mona_steps dst, mona_steps a, mona_steps b,
                    uint32_t rows, uint8_t lanes)
{
    const ac_vector v = {.repeat = (uint8_t)rows,
                         .lanes = lanes,
                         .dst_block = 1,
                         .a_block = 1,
                         .b_block = 1,
                         .dst_repeat = (uint8_t)dst.step,
                         .a_repeat = (uint8_t)a.step,
                         .b_repeat = (uint8_t)b.step};
    ac_emit_vec2(t->core, op, dst.at, a.at, b.at, v);
    barrier(t);
}

/* Repeats the grid's first and last cells beyond its ends. */
static void repeat_edges(const kernel_tiles *t, const kernel_tile *tile, const kernel_plane *p,
                         ac_address to)
{
    const uint32_t around = p->operand->around_columns, last = (t->width - 1) / t->columns;
    const uint32_t end = t->around + t->width - last * t->columns; /* behind the last cell */
    const ptrdiff_t step = (ptrdiff_t)t->pitch * p->cell_bytes;
    const mona_steps spare = {t->bring.edges, 1}, edge = {kernel_own(t, KERNEL_EDGE), 0},
                     others = {kernel_own(t, KERNEL_NO_EDGE), 0};
    for (uint32_t i = 0; i < around * p->cell_bytes; i++) {
        const uint32_t byte = i % p->cell_bytes;
        const uint64_t away = ((uint64_t)(i / p->cell_bytes) + 1) * p->cell_bytes * AC_BLOCK;
        const mona_steps first = {to + ((uint64_t)t->around * p->cell_bytes + byte) * AC_BLOCK,
                                  step};
        const mona_steps final = {to + ((uint64_t)(end - 1) * p->cell_bytes + byte) * AC_BLOCK,
                                  step};
        const mona_steps before = {first.at - away, step}, behind = {final.at + away, step};
        if (!tile->column)
            in_rows(t, AC_VOR, before, first, first, p->rows, 1);
        if (tile->column + t->width < t->grid_columns)
            continue;
        in_rows(t, AC_VAND, spare, final, edge, p->rows, AC_FRACTAL);
        in_rows(t, AC_VAND, behind, behind, others, p->rows, AC_FRACTAL);
        in_rows(t, AC_VOR, behind, behind, spare, p->rows, AC_FRACTAL);
    }
}

/* A sample of all cells as f32, from columns of bytes. */
static void widen_sample(const kernel_tiles *t, const kernel_plane *p, ac_address to,
                         ac_address from)
{
    const uint32_t count = p->rows * t->pitch * GROUP;
    convert(t, AC_F16_F32, to, from, count, p->cell_bytes);
    barrier(t);
    if (is_byte(p->operand->type))
        return;
    convert(t, AC_F16_F32, t->bring.high, from + AC_BLOCK, count, p->cell_bytes);
    barrier(t);
    vec2_all(t->core, AC_VMUL_F32, t->bring.high, t->bring.high, kernel_own(t, KERNEL_256), count,
             b_again);
    barrier(t);
    vec2_all(t->core, AC_VADD_F32, to, to, t->bring.high, count, side_by_side);
    barrier(t);
}

static void widen_plane(const kernel_tiles *t, const kernel_tile *tile, const kernel_plane *p,
                        uint32_t plane)
{
    const mona_kernel_operand *o = p->operand;
    const uint32_t size = (uint32_t)mona_type_size(o->type);
    vconv_all(t->core, o->type == MONA_S8 ? AC_S8_F16 : AC_U8_F16, t->bring.rows,
              p->raw[tile->parity] + (uint64_t)plane * p->raw_plane, p->raw_plane);
    barrier(t);
    for (uint32_t y = 0; y < o->cell_rows; y++) {
        turn_rows(t, p, y, t->bring.lanes);
        repeat_edges(t, tile, p, t->bring.lanes);
        for (uint32_t x = 0; x < o->cell_columns; x++) {
            const uint32_t sample = (plane * o->cell_rows + y) * o->cell_columns + x;
            widen_sample(t, p, p->wide + (uint64_t)sample * p->wide_plane,
                         t->bring.lanes + (uint64_t)x * size * AC_BLOCK);
        }
    }
}

void mona_kernel_widen(const kernel_tiles *t, const kernel_tile *tile)
{
    for (uint32_t i = 0; i < t->kernel->inputs; i++) {
        const kernel_plane *p = &t->input[i];
        for (uint32_t plane = 0; plane < planes_of(p); plane++)
            if (t->lanes)
                widen_plane(t, tile, p, plane);
            else if (p->wide_plane) {
                vconv_all(t->core, p->operand->type == MONA_S8 ? AC_S8_F16 : AC_U8_F16,
                          t->bring.rows, p->raw[tile->parity] + (uint64_t)plane * p->raw_plane,
                          t->count);
                barrier(t);
                convert(t, AC_F16_F32, p->wide + (uint64_t)plane * p->wide_plane, t->bring.rows,
                        t->count, 1);
                barrier(t);
            }
    }
}

ac_address mona_kernel_sample(const kernel_tiles *t, const kernel_tile *tile,
                              const mona_kernel_step *s)
{
    const kernel_plane *p = &t->input[s->a.index];
    const mona_kernel_operand *o = p->operand;
    if (!t->lanes)
        return (p->wide_plane ? p->wide : p->raw[tile->parity]) +
               (uint64_t)s->plane * (p->wide_plane ? p->wide_plane : p->raw_plane);
    const int32_t y = floor_div_small(s->row, o->cell_rows),
                  x = floor_div_small(s->column, o->cell_columns);
    const int32_t row = s->row - y * o->cell_rows, column = s->column - x * o->cell_columns;
    const uint32_t sample =
        (s->plane * o->cell_rows + (uint32_t)row) * o->cell_columns + (uint32_t)column;
    const int64_t cell = (int64_t)(y + o->around_rows) * t->pitch + t->around + x;
    return p->wide + (uint64_t)sample * p->wide_plane + (uint64_t)cell * WIDE_BLOCK;
}

/* ---- results -------------------------------------------------------------------------------- */

static ac_vconv narrowing(mona_type type)
{
    return type == MONA_S8 ? AC_F16_S8 : AC_F16_U8;
}

/* The last sample of a row of cells: lanes become rows again. */
static void put_row(const kernel_tiles *t, const kernel_tile *tile, uint32_t plane, uint32_t row)
{
    const kernel_plane *p = &t->output;
    const uint32_t segment = t->columns * p->cell_bytes;
    turned_side from = {.row = t->pitch * p->cell_bytes * AC_BLOCK, .group = GROUP * AC_BLOCK};
    turned_side to = {.row = p->raw_row * 2, .group = AC_BLOCK};
    for (uint32_t k = 0; k < AC_FRACTAL; k++) {
        from.at[k] = t->put_lanes + ((uint64_t)t->around * p->cell_bytes + k) * AC_BLOCK;
        to.at[k] = t->put_rows + 2 * (uint64_t)k * segment;
    }
    turn(t, &to, &from, t->rows, segment / GROUP);
    barrier(t);
    vconv_all(t->core, narrowing(p->operand->type),
              p->raw[tile->parity] +
                  ((uint64_t)plane * p->operand->cell_rows + row) * t->rows * p->raw_row,
              t->put_rows, t->rows * p->raw_row);
    barrier(t);
}

void mona_kernel_put(const kernel_tiles *t, const kernel_tile *tile, const mona_kernel_step *s,
                     ac_address from)
{
    const kernel_plane *p = &t->output;
    const mona_kernel_operand *o = p->operand;
    const ac_address raw = p->raw[tile->parity] + (uint64_t)s->plane * p->raw_plane;
    if (t->lanes) {
        convert(t, AC_F32_F16,
                t->put_lanes +
                    ((uint64_t)t->around * o->cell_columns + (uint64_t)s->column) * AC_BLOCK,
                from, t->count, o->cell_columns);
        barrier(t);
        if (s->column + 1 == o->cell_columns)
            put_row(t, tile, s->plane, (uint32_t)s->row);
        return;
    }
    if (is_byte(o->type)) {
        convert(t, AC_F32_F16, t->put_rows, from, t->count, 1);
        barrier(t);
        vconv_all(t->core, narrowing(o->type), raw, t->put_rows, t->count);
    } else
        vec2_all(t->core, AC_VMAX_S32, raw, from, from, t->count, side_by_side);
    barrier(t);
}

void mona_kernel_take_away(const kernel_tiles *t, const kernel_tile *tile)
{
    const kernel_plane *p = &t->output;
    const mona_kernel_operand *o = p->operand;
    const ptrdiff_t gm_bytes = (ptrdiff_t)t->grid_columns * p->cell_bytes;
    if (!t->lanes) {
        mona_copy_rows(t->core, AC_UB_GM,
                       (mona_steps){gm_row(t, p, 0, 0, tile->column), t->grid_rows * gm_bytes},
                       (mona_steps){p->raw[tile->parity], p->raw_plane}, planes_of(p),
                       t->count * p->cell_bytes);
        return;
    }
    for (uint32_t i = 0; i < planes_of(p) * o->cell_rows; i++)
        mona_copy_rows(
            t->core, AC_UB_GM,
            (mona_steps){gm_row(t, p, i / o->cell_rows, tile->row, tile->column) +
                             (uint64_t)(i % o->cell_rows) * (uint64_t)gm_bytes,
                         o->cell_rows * gm_bytes},
            (mona_steps){p->raw[tile->parity] + (uint64_t)i * t->rows * p->raw_row, p->raw_row},
            t->rows, t->width * p->cell_bytes);
}
