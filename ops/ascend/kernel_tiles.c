// SPDX-License-Identifier: Apache-2.0
#include "ops/ascend/kernel_tiles.h"

#include "engine/array_format.h"
#include "engine/libc.h"
#include "ops/ascend/ub.h"
#include "ops/ascend/vectors.h"

enum {
    GROUP = AC_FRACTAL,
    MOST_GROUPS = AC_EVENT3 + 1,
    MOST_STEP = 255,
    HALO_BYTES = AC_BLOCK,
    HALVES = 2
};

/* ---- sizes ---------------------------------------------------------------------------------- */

static uint32_t planes_of(const kernel_plane *p)
{
    return p->operand->planes;
}

static bool is_byte(mona_type type)
{
    return mona_type_size(type) == 1;
}

/* Elements lie side by side where nothing asks for their neighbours and none has 16 bits, and all
 * or none stay in rows. */
static bool needs_lanes(const kernel_tiles *t)
{
    bool lanes = t->spreads, rows = t->output.rows, others = !rows;
    for (uint32_t i = 0; i <= t->kernel->inputs; i++) {
        const kernel_plane *p = i < t->kernel->inputs ? &t->input[i] : &t->output;
        const mona_kernel_operand *o = p->operand;
        rows |= p->rows;
        others |= o->planes && !p->rows;
        lanes |=
            o->planes && !p->rows &&
            (p->cell > 1 || o->around_rows || o->around_columns || mona_type_size(o->type) == 2);
    }
    return lanes || (rows && others);
}

/* Bytes without neighbours. */
static bool rows_possible(const kernel_tiles *t)
{
    bool ok = true;
    for (uint32_t i = 0; i <= t->kernel->inputs; i++) {
        const kernel_plane *p = i < t->kernel->inputs ? &t->input[i] : &t->output;
        const mona_kernel_operand *o = p->operand;
        ok = ok && (!p->rows || (t->program->halves && o->planes && is_byte(o->type) &&
                                 !o->around_rows && !o->around_columns));
    }
    return ok;
}

/* Rows of whole blocks; types that lanes are made of. */
static bool lanes_possible(const kernel_tiles *t, const kernel_plane *p, bool output)
{
    const mona_kernel_operand *o = p->operand;
    return !o->planes || ((uint64_t)t->grid_columns * p->cell_bytes % AC_BLOCK == 0 &&
                          (is_byte(o->type) || (o->type == MONA_U16 && !output)) &&
                          (uint32_t)o->around_columns * o->cell_columns <= GROUP);
}

/* Samples become f16 numbers, and these bytes; nothing else does. */
static bool halves_possible(const kernel_tiles *t)
{
    bool ok = is_byte(t->output.operand->type) && !t->places && !t->gathers && !t->held;
    for (uint32_t i = 0; i < t->program->count; i++) {
        const mona_kernel_step *s = &t->program->steps[i];
        if (s->operation != MONA_KERNEL_SAMPLE)
            continue;
        const mona_type type = t->input[s->a.index].operand->type;
        ok = ok && (is_byte(type) || type == MONA_U16);
    }
    return ok;
}

static void place(ac_address *at, kernel_plane *p, uint32_t buffers)
{
    p->raw[0] = take(at, p->raw_bytes);
    p->raw[1] = buffers > 1 ? take(at, p->raw_bytes) : p->raw[0];
}

/* Lays UB out for the tile's size. */
static bool lay_out(kernel_tiles *t)
{
    const mona_kernel_program *program = t->program;
    const size_t value = (size_t)t->count * t->value_bytes;
    ac_address at = ac_at(AC_UB, 0), second;
    t->uniform = take(&at, (size_t)(program->uniform + KERNEL_OWN) * AC_BLOCK);
    t->index = take(&at, t->places ? value : 0);
    for (uint32_t i = 0; i < t->kernel->inputs; i++) {
        kernel_plane *p = &t->input[i];
        place(&at, p, t->buffers);
        p->wide = take(&at, (size_t)p->wide_plane * planes_of(p));
        take(&at, t->lanes ? AC_REPEAT : 0); /* which the last repeat may read of a sample */
        p->entries = take(&at, p->gathered ? 2 * (size_t)p->operand->elements * AC_BLOCK : 0);
    }
    place(&at, &t->output, t->results);
    t->pad = take(&at, t->pad_bytes);
    second = at;
    t->bring.rows = take(&at, t->bring_bytes.rows);
    t->bring.lanes = take(&at, t->bring_bytes.lanes);
    t->bring.edges = take(&at, t->bring_bytes.edges);
    t->full = take(&second, program->full * value);
    t->spare = take(&second, t->places || t->gathers || (t->held && !t->lanes) ? value : 0);
    t->put_rows = take(&second, t->put_rows_bytes);
    t->put_lanes = take(&second, t->put_lanes_bytes);
    const uint64_t bytes = ac_offset_of(at > second ? at : second);
    t->bytes = (uint32_t)bytes;
    return bytes <= ub_room(t->bound->target);
}

/* ---- side by side --------------------------------------------------------------------------- */

static void size_side_by_side(kernel_tiles *t)
{
    for (uint32_t i = 0; i <= t->kernel->inputs; i++) {
        kernel_plane *p = i < t->kernel->inputs ? &t->input[i] : &t->output;
        p->raw_row = p->raw_plane = t->count * p->cell_bytes;
        p->raw_bytes = p->raw_plane * (i < t->kernel->inputs ? planes_of(p) : 1);
        p->wide_plane = i < t->kernel->inputs && is_byte(p->operand->type) && planes_of(p)
                            ? t->count * p->cell * t->value_bytes
                            : 0;
    }
    t->bring_bytes.rows = t->put_rows_bytes =
        t->program->halves ? 0 : t->count * (uint32_t)sizeof(uint16_t);
}

static bool choose_side_by_side(kernel_tiles *t)
{
    enum { MOST = 1 << 14, LEAST = 32 };
    const uint64_t all = (uint64_t)(t->end - t->begin) * t->grid_columns;
    /* Whole repeats, unless there are no more elements than one has. */
    for (t->count = MOST; t->count >= LEAST;
         t->count -= t->count > FLOAT_LANES ? FLOAT_LANES : LEAST) {
        if (t->count > all)
            continue;
        size_side_by_side(t);
        t->columns = t->cells = t->count;
        if (lay_out(t))
            return true;
    }
    return false;
}

/* ---- lanes ---------------------------------------------------------------------------------- */

/* Rows of lanes as in global memory. */
static uint32_t raw_rows(const kernel_tiles *t, const kernel_plane *p)
{
    return (t->height + 2u * p->operand->around_rows) * p->operand->cell_rows;
}

/* Of a column of all lanes, as transposes make it: bytes become f16 numbers, 16 bits the lower
 * halves of 32. */
static uint32_t lane_block(const kernel_plane *p)
{
    return is_byte(p->operand->type) ? AC_BLOCK : HALVES * AC_BLOCK;
}

static bool size_plane(const kernel_tiles *t, kernel_plane *p, bool output)
{
    const mona_kernel_operand *o = p->operand;
    const uint32_t halo = o->around_columns ? 2 * HALO_BYTES : 0;
    const uint32_t pad = is_byte(o->type) ? 0 : AC_BLOCK;
    const uint32_t lane = t->columns * o->cell_columns;
    uint32_t rows = 0;
    for (uint32_t y = 0; y < o->cell_rows && !output && !p->rows; y++) {
        p->used[y] = p->more[y] == MONA_NONE ? 0 : t->rows + p->more[y];
        p->before[y] = rows;
        rows += o->cell_columns * p->used[y];
    }
    p->group = o->cell_columns == 3 ? 3 * GROUP : GROUP;
    p->raw_row =
        ((output || p->rows) && !t->upright ? GROUP * t->columns : t->width) * p->cell_bytes +
        halo + pad;
    p->raw_plane = raw_rows(t, p) * p->raw_row;
    p->raw_bytes = p->raw_plane * (output ? 1 : o->planes);
    p->wide_plane =
        p->rows ? p->cell * t->count * t->value_bytes : rows * t->pitch * t->value_block;
    rows = t->rows + 2u * o->around_rows;
    return lane % p->group == 0 && lane / p->group <= MOST_STEP && rows <= MOST_STEP &&
           t->width * p->cell_bytes % AC_BLOCK == 0;
}

static bool size_lanes(kernel_tiles *t)
{
    bool ok = true;
    const uint32_t all = t->upright ? t->columns : GROUP * t->columns;
    t->pitch = t->columns + 2 * t->around;
    t->width = all < t->grid_columns ? all : t->grid_columns;
    t->height = t->upright ? GROUP : t->rows;
    t->cells = (t->rows * t->pitch - 2 * t->around) * GROUP;
    t->count = ceil_div_u32(t->cells, AC_REPEAT / t->value_bytes) * (AC_REPEAT / t->value_bytes);
    t->pad_bytes = 0;
    memset(&t->bring_bytes, 0, sizeof t->bring_bytes);
    for (uint32_t i = 0; i < t->kernel->inputs; i++) {
        kernel_plane *p = &t->input[i];
        if (!planes_of(p))
            continue;
        const mona_kernel_operand *o = p->operand;
        ok = ok && size_plane(t, p, false);
        if (p->rows)
            continue;
        for (uint32_t y = 0; y < o->cell_rows && is_byte(o->type) != t->program->halves; y++)
            t->bring_bytes.lanes = max_u32(t->bring_bytes.lanes,
                                           o->cell_columns * p->used[y] * t->pitch * lane_block(p));
        t->bring_bytes.edges =
            max_u32(t->bring_bytes.edges, (t->rows + 2u * o->around_rows) * t->value_block);
        /* Lanes may reach beyond the last row. */
        const uint32_t beyond = all * p->cell_bytes + 2 * HALO_BYTES;
        if (!is_byte(o->type)) {
            t->pad_bytes = max_u32(t->pad_bytes, t->columns * o->cell_columns / GROUP * AC_BLOCK);
            p->raw_bytes += beyond;
            continue;
        }
        t->bring_bytes.rows = max_u32(t->bring_bytes.rows, 2 * (p->raw_plane + beyond));
    }
    ok = ok && size_plane(t, &t->output, true);
    t->put_rows_bytes = t->output.rows ? 0 : 2 * t->output.raw_plane;
    t->put_lanes_bytes = t->program->halves ? 0
                                            : max_u32(t->put_rows_bytes,
                                                      t->count * 2u * t->output.operand->cell_rows *
                                                          t->output.operand->cell_columns);
    return ok && lay_out(t);
}

enum { LATENCY = 16 };

/* The time before each instruction of turn_rows or put_row. */
static double turning(const kernel_plane *p, uint32_t rows, uint32_t lane, bool halves, bool beside)
{
    const uint32_t groups = lane / p->group, turns = rows < groups ? rows : groups;
    return (double)LATENCY * (halves ? HALVES : 1) * (p->group / GROUP * turns + (beside ? 2 : 0));
}

/* The time of a sample in lanes: transposes, of halves of 32 bits twice as many, and what makes
 * numbers of them, 64 at a time. */
static double widening(const kernel_tiles *t, const kernel_plane *p)
{
    const bool byte = is_byte(p->operand->type), halves = t->program->halves;
    const uint32_t passes = (byte ? 0 : 1) + (byte != halves);
    return (byte ? 1.0 : HALVES) / HALF_LANES + (double)passes / FLOAT_LANES;
}

/* Of all tiles: of each instruction the time before it, and its repeats. */
static double cost(const kernel_tiles *t)
{
    const double tiles = (double)ceil_div_u32(t->end - t->begin, t->height) *
                         ceil_div_u32(t->grid_columns, t->width);
    const double one = t->count * t->value_bytes / (double)AC_REPEAT;
    double all = 0;
    for (uint32_t i = 0; i < t->program->count; i++) {
        const mona_kernel_step *s = &t->program->steps[i];
        const mona_kernel_operand *out = t->output.operand;
        if (s->operation < MONA_KERNEL_CONST)
            all += LATENCY + s->value * one;
        else if (s->operation == MONA_KERNEL_SPREAD ||
                 (s->operation == MONA_KERNEL_STORE && !t->output.rows))
            all += out->cell_rows *
                   turning(&t->output, t->rows, t->columns * out->cell_columns, t->held, false);
        else if (s->operation == MONA_KERNEL_GATHER)
            all += 3.0 * t->input[s->value].operand->elements * (LATENCY + one);
    }
    for (uint32_t i = 0; i < t->kernel->inputs; i++) {
        const kernel_plane *p = &t->input[i];
        const mona_kernel_operand *o = p->operand;
        for (uint32_t y = 0; planes_of(p) && y < o->cell_rows; y++)
            all +=
                planes_of(p) * (turning(p, p->used[y], t->columns * o->cell_columns,
                                        !is_byte(o->type), o->around_columns > 0) +
                                widening(t, p) * o->cell_columns * p->used[y] * t->pitch * GROUP);
    }
    return tiles * all;
}

/* The best tile whose rows are lanes, or cut into lanes. */
static void find_lanes(kernel_tiles *t, bool upright, kernel_tiles *best)
{
    enum { MOST_ROWS = 64, MOST_COLUMNS = 128, MOST_UPRIGHT = 1024, STEP = 4 };
    const uint32_t most_columns = upright ? MOST_UPRIGHT : MOST_COLUMNS;
    const uint32_t most_rows = upright                         ? 1
                               : t->end - t->begin < MOST_ROWS ? t->end - t->begin
                                                               : MOST_ROWS;
    t->upright = upright;
    for (t->columns = STEP; t->columns <= most_columns; t->columns += STEP)
        for (t->rows = 1; t->rows <= most_rows; t->rows++)
            if ((!upright || t->columns <= t->grid_columns) && size_lanes(t) &&
                (!best->rows || cost(t) < cost(best)))
                *best = *t;
}

static bool choose_lanes(kernel_tiles *t)
{
    kernel_tiles best = *t;
    for (uint32_t i = 0; i < t->kernel->inputs; i++)
        t->around = max_u32(t->around, t->input[i].operand->around_columns);
    best.around = t->around;
    find_lanes(t, false, &best);
    if (t->end - t->begin >= GROUP)
        find_lanes(t, true, &best);
    *t = best;
    return best.rows;
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

/* Which rows around are used. */
static void find_used(kernel_tiles *t)
{
    for (uint32_t i = 0; i < t->kernel->inputs; i++) {
        kernel_plane *p = &t->input[i];
        const mona_kernel_operand *o = p->operand;
        for (uint32_t inside = 0; planes_of(p) && inside < o->cell_rows; inside++) {
            uint32_t first = MONA_NONE, last = 0;
            for (uint32_t k = 0; k < t->program->count; k++) {
                const mona_kernel_step *s = &t->program->steps[k];
                const int32_t y = floor_div_small(s->row, o->cell_rows);
                if (s->operation != MONA_KERNEL_SAMPLE || s->a.index != i ||
                    s->row - y * o->cell_rows != (int32_t)inside)
                    continue;
                const uint32_t row = (uint32_t)(y + o->around_rows);
                first = row < first ? row : first;
                last = max_u32(last, row);
            }
            p->first[inside] = first;
            p->more[inside] = first == MONA_NONE ? MONA_NONE : last - first;
        }
    }
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
    t->value_bytes = t->program->halves ? sizeof(uint16_t) : WIDE_BYTES;
    t->value_block = AC_FRACTAL * t->value_bytes;
    bool ok = true;
    for (uint32_t i = 0; i <= t->kernel->inputs; i++) {
        kernel_plane *p = i < t->kernel->inputs ? &t->input[i] : &t->output;
        p->operand = &t->kernel->operands[i < t->kernel->inputs ? i : i + record->output];
        p->rows = i < t->kernel->inputs ? t->program->in_rows >> i & 1 : t->program->rows;
        p->cell = (uint32_t)p->operand->cell_rows * p->operand->cell_columns;
        p->cell_bytes = (uint32_t)mona_kernel_cell_bytes(p->operand);
        p->gm_plane =
            (uint64_t)t->grid_rows * p->operand->cell_rows * t->grid_columns * p->cell_bytes;
        t->planes += i < t->kernel->inputs ? planes_of(p) : 0;
    }
    for (uint32_t i = 0; i < t->program->count; i++) {
        const mona_kernel_step *s = &t->program->steps[i];
        t->places |= s->operation == MONA_KERNEL_ROW || s->operation == MONA_KERNEL_COLUMN;
        t->spreads |= s->operation == MONA_KERNEL_SPREAD;
        t->held |= s->operation == MONA_KERNEL_STORE && s->value == MONA_KERNEL_HELD;
        if (s->operation == MONA_KERNEL_GATHER)
            t->gathers = t->input[s->value].gathered = true;
    }
    find_used(t);
    t->lanes = needs_lanes(t);
    t->buffers = t->lanes ? 1 : 2;
    t->groups = t->lanes ? min_u32(t->planes, MOST_GROUPS) : 1;
    t->results = t->lanes && !t->program->halves ? 1 : 2;
    if (!rows_possible(t) || (t->program->halves && !halves_possible(t)))
        return false;
    for (uint32_t i = 0; i <= t->kernel->inputs && !t->lanes; i++) {
        kernel_plane *p = i < t->kernel->inputs ? &t->input[i] : &t->output;
        p->cell_bytes *= p->operand->cell_rows;
    }
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
    return p->gm + plane * p->gm_plane + (uint64_t)row * p->operand->cell_rows * row_bytes +
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
    mona_copy_rows(t->core, (mona_steps){to, p->raw_row},
                   (mona_steps){from, (ptrdiff_t)t->grid_columns * p->cell_bytes},
                   count * o->cell_rows,
                   t->width * p->cell_bytes + HALO_BYTES * ((uint32_t)left + right));
}

static void bring_plane(const kernel_tiles *t, const kernel_tile *tile, const kernel_plane *p,
                        uint32_t plane)
{
    const uint32_t above = p->operand->around_rows, last = t->grid_rows - 1;
    const uint32_t missing = tile->row < above ? above - tile->row : 0;
    const uint32_t end = tile->row + t->height + above, rows = t->height + 2 * above;
    const uint32_t beyond = end > t->grid_rows ? end - t->grid_rows : 0;
    for (uint32_t i = 0; i < missing; i++)
        bring_rows(t, tile, p, plane, 0, 1, i);
    bring_rows(t, tile, p, plane, tile->row + missing - above, rows - missing - beyond, missing);
    for (uint32_t i = 0; i < beyond; i++)
        bring_rows(t, tile, p, plane, last, 1, rows - beyond + i);
}

/* Whether a plane of an input, before which there are so many of others, belongs to the group.
 * Lanes of 16 bits may reach into the next plane, so that all of these come together. */
static bool in_group(const kernel_tiles *t, const kernel_plane *p, uint32_t plane, uint32_t before,
                     uint32_t group)
{
    const uint32_t n = before + (is_byte(p->operand->type) ? plane : 0);
    return n * t->groups / t->planes == group;
}

void mona_kernel_bring(const kernel_tiles *t, const kernel_tile *tile, uint32_t group)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < t->kernel->inputs; before += planes_of(&t->input[i++])) {
        const kernel_plane *p = &t->input[i];
        for (uint32_t plane = 0; t->lanes && plane < planes_of(p); plane++)
            if (in_group(t, p, plane, before, group))
                bring_plane(t, tile, p, plane);
        if (!t->lanes && planes_of(p))
            mona_copy_rows(t->core, (mona_steps){p->raw[tile->parity], p->raw_plane},
                           (mona_steps){gm_row(t, p, 0, 0, tile->column), (ptrdiff_t)p->gm_plane},
                           planes_of(p), t->count * p->cell_bytes);
    }
}

/* ---- numbers of it -------------------------------------------------------------------------- */

static void barrier(const kernel_tiles *t)
{
    ac_emit_barrier(t->core, AC_PIPE_V);
}

/* Blocks that advance from row to row and from group to group, in bytes. With pads every second one
 * is a pad, which is the same for all groups. */
typedef struct turned_side {
    ac_address at[AC_FRACTAL];
    uint32_t row, group;
    ac_address pad;
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
            if (from->pad != AC_NOWHERE && k % HALVES)
                sides[1].at[k] = along_rows ? from->pad : t->pad;
        }
        ac_emit_transpose(t->core, AC_OP_TRANSPOSE, &sides[0], &sides[1],
                          (uint8_t)(along_rows ? rows : groups));
    }
}

/* Bytes from one lane to the next, in rows whose samples have 16 bits. */
static uint32_t next_lane(const kernel_tiles *t, const kernel_plane *p)
{
    const mona_kernel_operand *o = p->operand;
    const uint32_t widened = is_byte(o->type) ? 2 : 1;
    return widened * (t->upright ? o->cell_rows * p->raw_row : t->columns * p->cell_bytes);
}

/* Where sample `sample` of a row of lanes lies, `plane` bytes from those of the cell's next one. */
static ac_address in_lanes(const kernel_plane *p, ac_address at, uint32_t plane, uint32_t block,
                           uint32_t sample)
{
    const uint32_t columns = p->operand->cell_columns;
    return at + (uint64_t)(sample % columns) * plane + (uint64_t)(sample / columns) * block;
}

/* Rows of a plane that are turned to lanes. */
typedef struct turned_rows {
    ac_address from, pad, to; /* the first lane's first sample; the row's pad; lanes */
    uint32_t row, rows;       /* bytes from one row to the next */
} turned_rows;

/* 16 samples of all lanes, `offset` samples from their first on, to `sample`. */
static void turn_16(const kernel_tiles *t, const kernel_plane *p, const turned_rows *r,
                    int32_t offset, const uint32_t sample[GROUP], uint32_t groups)
{
    const mona_kernel_operand *o = p->operand;
    const bool halves = !is_byte(o->type);
    const uint32_t block = lane_block(p), plane = r->rows * t->pitch * block;
    for (uint32_t h = 0; h < (halves ? HALVES : 1); h++) {
        turned_side from = {
            .row = r->row, .group = 2 * p->group, .pad = halves ? r->pad : AC_NOWHERE};
        turned_side to = {.row = t->pitch * block, .group = p->group / o->cell_columns * block};
        for (uint32_t k = 0; k < GROUP; k++) {
            const uint32_t lane = halves ? (GROUP * h + k) / HALVES : k;
            from.at[k] =
                r->from + (uint64_t)((int64_t)lane * next_lane(t, p) + (int64_t)2 * offset);
            to.at[k] = in_lanes(p, r->to, plane, block, sample[k]) + (uint64_t)h * AC_BLOCK;
        }
        turn(t, &to, &from, r->rows, groups);
    }
    barrier(t);
}

/* Turns the 16 samples beside every lane, of which `used` are used, from `first` on; the others
 * fall where the lanes' own will. */
static void turn_beside(const kernel_tiles *t, const kernel_plane *p, const turned_rows *r,
                        int32_t offset, uint32_t first, uint32_t used, uint32_t to)
{
    uint32_t sample[GROUP];
    for (uint32_t k = 0; k < GROUP; k++)
        sample[k] = k >= first && k < first + used ? to + k - first
                                                   : t->around * p->operand->cell_columns + k;
    turn_16(t, p, r, offset, sample, 1);
}

/* Rows `inside` of all cells of a plane to lanes. */
static void turn_rows(const kernel_tiles *t, const kernel_plane *p, ac_address rows,
                      uint32_t inside, ac_address to)
{
    const mona_kernel_operand *o = p->operand;
    const uint32_t widened = is_byte(o->type) ? 2 : 1;
    const uint32_t lane = t->columns * o->cell_columns, own = t->around * o->cell_columns;
    const uint32_t used = o->around_columns * o->cell_columns;
    const uint64_t row = ((uint64_t)p->first[inside] * o->cell_rows + inside) * p->raw_row;
    const turned_rows r = {.from = rows + widened * (row + (used ? HALO_BYTES : 0)),
                           .pad = rows + row + p->raw_row - AC_BLOCK,
                           .to = to,
                           .row = widened * o->cell_rows * p->raw_row,
                           .rows = p->used[inside]};
    if (used) {
        turn_beside(t, p, &r, -GROUP, GROUP - used, used, own - used);
        turn_beside(t, p, &r, (int32_t)lane, 0, used, own + lane);
    }
    for (uint32_t first = 0; first < p->group; first += GROUP) {
        uint32_t sample[GROUP];
        for (uint32_t k = 0; k < GROUP; k++)
            sample[k] = own + first + k;
        turn_16(t, p, &r, (int32_t)first, sample, lane / p->group);
    }
}

/* One column of every row: dst = a op b, each with blocks from row to row. Rows that are far apart
 * are done one by one. */
static void in_rows(const kernel_tiles *t, ac_vec2 op, mona_steps dst, mona_steps a, mona_steps b,
                    uint32_t rows, uint32_t lanes)
{
    const bool far = dst.step > MOST_STEP || a.step > MOST_STEP;
    const ac_vector v = {.repeat = (uint8_t)(far ? 1 : rows),
                         .lanes = (uint8_t)(t->value_bytes / sizeof(uint16_t) * lanes),
                         .dst_block = 1,
                         .a_block = 1,
                         .b_block = 1,
                         .dst_repeat = (uint8_t)(far ? 1 : dst.step),
                         .a_repeat = (uint8_t)(far ? 1 : a.step),
                         .b_repeat = (uint8_t)(far ? 1 : b.step)};
    for (uint32_t i = 0; i < (far ? rows : 1); i++)
        ac_emit_vec2(t->core, op, dst.at + (uint64_t)(i * dst.step * AC_BLOCK),
                     a.at + (uint64_t)(i * a.step * AC_BLOCK),
                     b.at + (uint64_t)(i * b.step * AC_BLOCK), v);
    barrier(t);
}

/* Repeats the grid's first and last cells beyond its ends, of one sample of all cells. */
static void repeat_edges(const kernel_tiles *t, const kernel_tile *tile, const kernel_plane *p,
                         ac_address at, uint32_t rows)
{
    const uint32_t last = t->upright ? 0 : (t->width - 1) / t->columns;
    const uint32_t end = t->around + t->width - last * t->columns; /* behind the last cell */
    const ptrdiff_t one = t->value_block / AC_BLOCK, step = (ptrdiff_t)t->pitch * one;
    const mona_steps spare = {t->bring.edges, one}, edge = {kernel_own(t, KERNEL_EDGE), 0},
                     others = {kernel_own(t, KERNEL_NO_EDGE), 0};
    for (uint32_t i = 1; i <= p->operand->around_columns; i++) {
        const mona_steps first = {at + (uint64_t)t->around * t->value_block, step};
        const mona_steps final = {at + (uint64_t)(end - 1) * t->value_block, step};
        const mona_steps before = {first.at - (uint64_t)i * t->value_block, step},
                         behind = {final.at + (uint64_t)i * t->value_block, step};
        if (!tile->column)
            in_rows(t, AC_VOR, before, first, first, rows, t->upright ? GROUP : 1);
        if (tile->column + t->width < t->grid_columns)
            continue;
        in_rows(t, AC_VAND, spare, final, edge, rows, GROUP);
        in_rows(t, AC_VAND, behind, behind, others, rows, GROUP);
        in_rows(t, AC_VOR, behind, behind, spare, rows, GROUP);
    }
}

/* Rows `inside` of all cells of a plane become numbers. */
static void widen_rows(const kernel_tiles *t, const kernel_plane *p, ac_address rows,
                       uint32_t inside, ac_address wide)
{
    const bool byte = is_byte(p->operand->type);
    const ac_address lanes = byte == t->program->halves ? wide : t->bring.lanes;
    const uint32_t count = p->operand->cell_columns * p->used[inside] * t->pitch * GROUP;
    turn_rows(t, p, rows, inside, lanes);
    if (!byte)
        vec2_done(t->core, AC_VSUB_F32, lanes, lanes, kernel_own(t, KERNEL_LOW_BITS), count,
                  b_again);
    if (lanes != wide)
        vconv_done(t->core, byte ? AC_F16_F32 : AC_F32_F16, wide, lanes, count);
}

static void widen_plane(const kernel_tiles *t, const kernel_tile *tile, const kernel_plane *p,
                        uint32_t plane)
{
    const mona_kernel_operand *o = p->operand;
    const bool byte = is_byte(o->type);
    const uint32_t row = t->pitch * t->value_block;
    const ac_address raw = p->raw[0] + (uint64_t)plane * p->raw_plane;
    const ac_address wide = p->wide + (uint64_t)plane * p->wide_plane;
    if (byte)
        widen_all(t->core, o->type, p->rows ? wide : t->bring.rows, raw, p->raw_plane);
    if (p->rows)
        return;
    for (uint32_t y = 0; y < o->cell_rows; y++)
        if (p->used[y])
            widen_rows(t, p, byte ? t->bring.rows : raw, y, wide + (uint64_t)p->before[y] * row);
    for (uint32_t y = 0; y < o->cell_rows; y++)
        for (uint32_t x = 0; x < o->cell_columns && p->used[y]; x++)
            repeat_edges(t, tile, p, wide + (uint64_t)(p->before[y] + x * p->used[y]) * row,
                         p->used[y]);
}

void mona_kernel_begin(const kernel_tiles *t)
{
    enum { UPPER = 0x4b00, LANES = AC_BLOCK / 2 };
    barrier(t);
    dup_all(t->core, t->pad, UPPER, t->pad_bytes / 2);
    for (uint32_t i = 0; i < t->kernel->inputs; i++) {
        const kernel_plane *p = &t->input[i];
        const bool pads = t->lanes && planes_of(p) && !is_byte(p->operand->type);
        for (uint32_t end = p->raw_row; pads && end <= p->raw_plane * planes_of(p);
             end += p->raw_row)
            dup_all(t->core, p->raw[0] + end - AC_BLOCK, UPPER, LANES);
    }
    barrier(t);
}

static void widen_side_by_side(const kernel_tiles *t, const kernel_plane *p, ac_address raw,
                               ac_address wide)
{
    const ac_address halves = t->program->halves ? wide : t->bring.rows;
    widen_all(t->core, p->operand->type, halves, raw, t->count * p->cell);
    if (halves != wide)
        vconv_done(t->core, AC_F16_F32, wide, halves, t->count);
}

void mona_kernel_widen(const kernel_tiles *t, const kernel_tile *tile, uint32_t group)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < t->kernel->inputs; before += planes_of(&t->input[i++])) {
        const kernel_plane *p = &t->input[i];
        for (uint32_t plane = 0; plane < planes_of(p); plane++)
            if (!in_group(t, p, plane, before, group))
                continue;
            else if (t->lanes)
                widen_plane(t, tile, p, plane);
            else if (p->wide_plane)
                widen_side_by_side(t, p, p->raw[tile->parity] + (uint64_t)plane * p->raw_plane,
                                   p->wide + (uint64_t)plane * p->wide_plane);
    }
}

ac_address mona_kernel_sample(const kernel_tiles *t, const kernel_tile *tile,
                              const mona_kernel_step *s)
{
    const kernel_plane *p = &t->input[s->a.index];
    const mona_kernel_operand *o = p->operand;
    if (!t->lanes || p->rows)
        return (p->wide_plane ? p->wide : p->raw[tile->parity]) +
               (uint64_t)s->plane * (p->wide_plane ? p->wide_plane : p->raw_plane) +
               (uint64_t)(s->row * o->cell_columns + s->column) * t->count * t->value_bytes;
    const int32_t y = floor_div_small(s->row, o->cell_rows),
                  x = floor_div_small(s->column, o->cell_columns);
    const int32_t row = s->row - y * o->cell_rows, column = s->column - x * o->cell_columns;
    const uint32_t from = p->before[row] + (uint32_t)column * p->used[row] - p->first[row];
    const int64_t cell =
        (int64_t)(from + (uint32_t)(y + o->around_rows)) * t->pitch + t->around + x;
    return p->wide + (uint64_t)s->plane * p->wide_plane + (uint64_t)cell * t->value_block;
}

/* ---- results -------------------------------------------------------------------------------- */

/* Samples of row `row` of all cells from lanes to rows: f16 numbers, or the lower halves of those
 * of 32 bits. The upper ones become rows that are not used. from: the row's first sample, `plane`
 * bytes from the cell's next one. */
static void put_row(const kernel_tiles *t, ac_address rows, ac_address from, uint32_t plane,
                    bool halves, uint32_t row)
{
    const kernel_plane *p = &t->output;
    const mona_kernel_operand *o = p->operand;
    const uint32_t block = halves ? HALVES * AC_BLOCK : AC_BLOCK;
    for (uint32_t first = 0; first < p->group; first += GROUP)
        for (uint32_t h = 0; h < (halves ? HALVES : 1); h++) {
            turned_side lanes = {.row = t->pitch * block,
                                 .group = p->group / o->cell_columns * block,
                                 .pad = AC_NOWHERE};
            turned_side to = {.row = 2 * o->cell_rows * p->raw_row, .group = 2 * p->group};
            for (uint32_t k = 0; k < GROUP; k++) {
                const uint32_t lane = halves ? (GROUP * h + k) / HALVES : k;
                lanes.at[k] = in_lanes(p, from, plane, block, first + k) + (uint64_t)h * AC_BLOCK;
                to.at[k] = (halves && k % HALVES ? t->put_lanes : rows) +
                           2 * ((uint64_t)row * p->raw_row + first) +
                           (uint64_t)lane * next_lane(t, p);
            }
            turn(t, &to, &lanes, t->rows, t->columns * o->cell_columns / p->group);
        }
}

void mona_kernel_spread(const kernel_tiles *t, ac_address to, ac_address from)
{
    for (uint32_t row = 0; row < t->output.operand->cell_rows; row++)
        put_row(t, to, from, 0, false, row);
    barrier(t);
}

static void put_lanes(const kernel_tiles *t, uint32_t event, ac_address from, bool held)
{
    const kernel_plane *p = &t->output;
    const mona_kernel_operand *o = p->operand;
    const bool stands = held || t->program->halves;
    const uint32_t plane = t->count / GROUP * (held ? HALVES * AC_BLOCK : AC_BLOCK);
    if (!stands)
        vconv_done(t->core, AC_F32_F16, t->put_lanes, from,
                   t->count * o->cell_rows * o->cell_columns);
    for (uint32_t row = 0; row < o->cell_rows; row++)
        put_row(t, t->put_rows,
                (stands ? from : t->put_lanes) + (uint64_t)row * o->cell_columns * plane, plane,
                held, row);
    barrier(t);
    if (held)
        vecs_done(t->core, AC_VADDS, t->put_rows, t->put_rows, -HELD, p->raw_plane);
    ac_emit_wait_flag(t->core, AC_PIPE_MTE3, AC_PIPE_V, event);
    narrow_all(t->core, o->type, p->raw[event], t->put_rows, p->raw_plane);
}

void mona_kernel_put(const kernel_tiles *t, const mona_kernel_step *s, ac_address from,
                     uint32_t event)
{
    const mona_kernel_operand *o = t->output.operand;
    const ac_address raw = t->output.raw[event];
    const bool held = s->value == MONA_KERNEL_HELD;
    if (t->lanes && !t->output.rows) {
        put_lanes(t, event, from, held);
        barrier(t);
        return;
    }
    ac_emit_wait_flag(t->core, AC_PIPE_MTE3, AC_PIPE_V, event);
    if (is_byte(o->type)) {
        if (held)
            vec2_done(t->core, AC_VSUB_F32, t->spare, from, kernel_own(t, KERNEL_HELD_BITS),
                      t->count, b_again);
        const ac_address halves = t->program->halves ? from : t->put_rows;
        if (halves != from)
            vconv_done(t->core, AC_F32_F16, halves, held ? t->spare : from, t->count);
        narrow_all(t->core, o->type, raw, halves, t->output.raw_plane);
    } else
        vec2_all(t->core, AC_VMAX_S32, raw, from, from, t->count, side_by_side);
    barrier(t);
}

void mona_kernel_take_away(const kernel_tiles *t, const kernel_tile *tile, uint32_t plane,
                           uint32_t event)
{
    const kernel_plane *p = &t->output;
    const uint32_t rows = t->lanes ? t->height * p->operand->cell_rows : 1;
    mona_copy_rows(t->core,
                   (mona_steps){gm_row(t, p, plane, t->lanes ? tile->row : 0, tile->column),
                                (ptrdiff_t)t->grid_columns * p->cell_bytes},
                   (mona_steps){p->raw[event], p->raw_row}, rows,
                   (t->lanes ? t->width : t->count) * p->cell_bytes);
}
