// SPDX-License-Identifier: Apache-2.0
/* ARRAY_KERNEL as an AI Core program: the steps that came with the kernel, for tile after tile. The
 * samples of the next tile come while this one is computed, and results leave meanwhile.
 *
 * UB holds, in this order:
 *   uniform values, each 32 bytes with the same number
 *   values of all cells of a tile
 *   samples as stored, side by side for two tiles, and as f32
 *   two planes of results as stored
 *   room for samples and results on their way between both forms
 *
 * Flags, event 0 of even tiles and event 1 of odd ones; in lanes, an event of each group of planes:
 *   MTE2 -> V    the samples are in UB
 *   V -> MTE2    the samples have been used
 * and of even and odd planes of results:
 *   V -> MTE3    they are complete
 *   MTE3 -> V    they have been stored
 * Event 0 also says, before all tiles, S -> V that constants are there.
 */
#include "engine/array_format.h"
#include "engine/libc.h"
#include "ops/ascend/kernel_sums.h"
#include "ops/ascend/kernel_tiles.h"
#include "ops/ascend/programs.h"
#include "ops/ascend/scalar.h"
#include "ops/ascend/vectors.h"

enum {
    UNIFORM_LANES = AC_BLOCK / WIDE_BYTES,
    UNIFORM_HALVES = 2 * UNIFORM_LANES,
    MOST_SAMPLES = 1024,
    MOST_VALUES = 1024
};

typedef struct emitting {
    kernel_tiles t;
    const mona_array_places *call;
    kernel_tile tile;
    uint32_t stored; /* planes of results so far */
    const mona_kernel_step *samples[MOST_SAMPLES];
} emitting;

/* ---- tables ---------------------------------------------------------------------------------- */

/* The entries of a table that is a constant of the model. */
static uint32_t entry_of(const mona_bound_op *b, uint32_t table, uint32_t index)
{
    const mona_type type = b->kernel->operands[table].type;
    const uint8_t *at = b->data + b->op->array.offset[table] + index * mona_type_size(type);
    uint32_t bits = 0;
    memcpy(&bits, at, mona_type_size(type));
    if (type == MONA_F32 || type == MONA_S32)
        return bits;
    return mona_bits(type == MONA_S8    ? (float)(int8_t)bits
                     : type == MONA_S16 ? (float)(int16_t)bits
                                        : (float)bits);
}

static bool is_constant(const mona_bound_op *b, uint32_t input)
{
    return b->op->inputs[input] == MONA_NONE;
}

/* By how much more entry k + 1 of a table of 32 bits differs from entry k than that from the one
 * before. */
static uint32_t bend(const mona_bound_op *b, uint32_t table, uint32_t k)
{
    return entry_of(b, table, k + 1) - 2 * entry_of(b, table, k) + entry_of(b, table, k - 1);
}

/* ---- values --------------------------------------------------------------------------------- */

/* Where a value begins; uniform ones are one block for all elements. */
static ac_address value_at(const emitting *e, mona_kernel_value v)
{
    const kernel_tiles *t = &e->t;
    switch (v.kind) {
    case MONA_KERNEL_UNIFORM:
        return t->uniform + (uint64_t)v.index * AC_BLOCK;
    case MONA_KERNEL_FULL:
        return t->full + (uint64_t)v.index * t->count * t->value_bytes;
    default:
        return mona_kernel_sample(t, &e->tile, e->samples[v.index]);
    }
}

/* to = a op b for `count` values of the operation's type; bits, of 32. */
static void operate(const emitting *e, ac_vec2 op, ac_address to, ac_address a, bool a_uniform,
                    ac_address b, bool b_uniform, uint32_t count)
{
    const bool halves = op == AC_VAND || op == AC_VOR;
    const ac_vector strides = {.dst_block = 1,
                               .a_block = !a_uniform,
                               .b_block = !b_uniform,
                               .dst_repeat = 8,
                               .a_repeat = a_uniform ? 0 : 8,
                               .b_repeat = b_uniform ? 0 : 8};
    vec2_done(e->t.core, op, to, a, b, halves ? 2 * count : count, strides);
}

static bool is_uniform(mona_kernel_value v)
{
    return v.kind == MONA_KERNEL_UNIFORM;
}

/* The value that is `i` further. */
static mona_kernel_value further(mona_kernel_value v, uint32_t i)
{
    return (mona_kernel_value){v.kind, (uint16_t)(v.index + (is_uniform(v) ? 0 : i))};
}

/* Whether the `n` values from v on lie side by side; uniform ones are one. */
static bool side_by_side_from(const emitting *e, mona_kernel_value v, uint32_t n)
{
    bool near = true;
    for (uint32_t i = 0; v.kind == MONA_KERNEL_SAMPLED && i < n; i++)
        near &= value_at(e, further(v, i)) ==
                value_at(e, v) + (uint64_t)i * e->t.count * e->t.value_bytes;
    return near;
}

/* Elements that become a value: where a sample was, other samples follow. */
static uint32_t made(const emitting *e, mona_kernel_value to)
{
    const bool sample = to.kind == MONA_KERNEL_SAMPLED;
    return sample && !e->t.input[e->samples[to.index]->a.index].rows ? e->t.cells : e->t.count;
}

static bool is_half(ac_vec2 op)
{
    return op <= AC_VMIN;
}

/* The f16 numbers of a uniform value: its block is read twice. */
static void half_step(const emitting *e, const mona_kernel_step *s)
{
    ac_emit_vconv(
        e->t.core, AC_F32_F16, value_at(e, s->to), value_at(e, s->a),
        (ac_vector){
            .repeat = 1, .lanes = UNIFORM_HALVES, .dst_block = 1, .dst_repeat = 8, .a_repeat = 8});
    ac_emit_barrier(e->t.core, AC_PIPE_V);
}

/* Whether no later one of a step's values is read where an earlier one was made: a sample may have
 * two numbers. */
static bool clear_of(const emitting *e, const mona_kernel_step *s, mona_kernel_value from)
{
    const ac_address to = value_at(e, s->to), at = value_at(e, from);
    const uint64_t all = (uint64_t)s->value * e->t.count * e->t.value_bytes;
    return is_uniform(from) || at == to || at + all <= to || to + all <= at;
}

static void vector_step(const emitting *e, const mona_kernel_step *s)
{
    const bool once = is_uniform(s->to);
    const ac_vec2 op = (ac_vec2)(s->operation - MONA_KERNEL_VECTOR);
    const bool together =
        side_by_side_from(e, s->to, s->value) && side_by_side_from(e, s->a, s->value) &&
        side_by_side_from(e, s->b, s->value) && clear_of(e, s, s->a) && clear_of(e, s, s->b);
    for (uint32_t i = 0; i < (together ? 1 : s->value); i++)
        operate(e, op, value_at(e, further(s->to, i)), value_at(e, further(s->a, i)),
                is_uniform(s->a) && !once, value_at(e, further(s->b, i)), is_uniform(s->b) && !once,
                once ? (is_half(op) ? UNIFORM_HALVES : UNIFORM_LANES)
                     : (together ? s->value - 1 : 0) * e->t.count + made(e, s->to));
}

/* ---- places --------------------------------------------------------------------------------- */

static void with_own(const emitting *e, ac_vec2 op, ac_address to, ac_address a, uint32_t own)
{
    operate(e, op, to, a, false, kernel_own(&e->t, own), true, e->t.count);
}

/* See places_exact. */
static void place_step(const emitting *e, const mona_kernel_step *s)
{
    const kernel_tiles *t = &e->t;
    const ac_address to = value_at(e, s->to);
    with_own(e, AC_VADD_F32, t->spare, t->index, KERNEL_FIRST);
    with_own(e, AC_VADD_F32, to, t->spare, KERNEL_HALF);
    with_own(e, AC_VMUL_F32, to, to, KERNEL_RECIPROCAL);
    with_own(e, AC_VSUB_F32, to, to, KERNEL_HALF);
    with_own(e, AC_VADD_F32, to, to, KERNEL_ROUND);
    with_own(e, AC_VSUB_F32, to, to, KERNEL_ROUND);
    if (s->operation == MONA_KERNEL_ROW)
        return;
    with_own(e, AC_VMUL_F32, to, to, KERNEL_COLUMNS);
    operate(e, AC_VSUB_F32, to, t->spare, false, to, false, t->count);
}

/* ---- entries of tables ---------------------------------------------------------------------- */

/* With d(k) = t(k) - t(k - 1), entry i of a table t of n is t(0) + the sum of d(k) for k from 1 to
 * i. Which k these are max(i, k - 1) - max(i, k) + 1 tells: it is 1 for them and 0 for others.
 *
 *   t(i) = t(n - 1) - d(n - 1) (n - 1) + d(1) i + the sum of (d(k + 1) - d(k)) max(i, k)
 *
 * for k from 1 to n - 2. Bits are added as integers that wrap, so the sum has those of t(i). */
static void gather_step(const emitting *e, const mona_kernel_step *s)
{
    const kernel_tiles *t = &e->t;
    const uint32_t count = t->input[s->value].operand->elements, n = made(e, s->to);
    const ac_address to = value_at(e, s->to), index = value_at(e, s->a), spare = t->spare;
    const ac_address entries = t->input[s->value].entries;
    operate(e, AC_VMUL_S32, to, index, false, entries, true, n);
    operate(e, AC_VADD_S32, to, to, false, entries + AC_BLOCK, true, n);
    for (uint32_t k = 1; k + 1 < count; k++) {
        const ac_address at = entries + 2 * (uint64_t)k * AC_BLOCK;
        if (!bend(e->t.bound, s->value, k))
            continue;
        operate(e, AC_VMAX_S32, spare, index, false, at, true, n);
        operate(e, AC_VMUL_S32, spare, spare, false, at + AC_BLOCK, true, n);
        operate(e, AC_VADD_S32, to, to, false, spare, false, n);
    }
}

/* ---- constants ------------------------------------------------------------------------------ */

/* The scalar unit writes one block. */
static void fill(const emitting *e, ac_address at, uint32_t bits)
{
    ac_emit_fill(e->t.core, at, (ac_fill){UNIFORM_LANES, WIDE_BYTES, WIDE_BYTES, bits});
}

static void fill_own(const emitting *e, uint32_t which, float value)
{
    fill(e, kernel_own(&e->t, which), mona_bits(value));
}

/* Of a table that is an input: brings the entry, and writes it side by side. */
static void bring_entry(const emitting *e, const mona_kernel_step *s)
{
    ac_core *core = e->t.core;
    const ac_address to = value_at(e, s->to), spare = e->t.bring.rows;
    const ac_address from = e->call->input[s->a.index] + (uint64_t)s->value * 4;
    ac_emit_sync(core, AC_PIPE_S, AC_PIPE_MTE2, AC_EVENT0);
    ac_emit_copy_bytes(core, spare, from, AC_BLOCK);
    ac_emit_sync(core, AC_PIPE_MTE2, AC_PIPE_S, AC_EVENT0);
    for (uint32_t half = 0; half < WIDE_BYTES; half += 2)
        ac_emit_move(core, to + half, spare + half,
                     (ac_move){UNIFORM_LANES, sizeof(uint16_t), WIDE_BYTES, 0});
}

static void constant_step(const emitting *e, const mona_kernel_step *s)
{
    const mona_bound_op *b = e->t.bound;
    if (s->operation == MONA_KERNEL_CONST)
        fill(e, value_at(e, s->to), s->value);
    else if (s->operation == MONA_KERNEL_WIDTH)
        fill(e, value_at(e, s->to), mona_bits((float)e->t.grid_columns));
    else if (s->operation == MONA_KERNEL_HEIGHT)
        fill(e, value_at(e, s->to), mona_bits((float)e->t.grid_rows));
    else if (s->operation == MONA_KERNEL_ENTRY && is_constant(b, s->a.index))
        fill(e, value_at(e, s->to), entry_of(b, s->a.index, s->value));
    else if (s->operation == MONA_KERNEL_ENTRY)
        bring_entry(e, s);
}

static void fill_entries(const emitting *e, uint32_t table)
{
    const mona_bound_op *b = e->t.bound;
    const uint32_t last = e->t.input[table].operand->elements - 1;
    const ac_address to = e->t.input[table].entries;
    const uint32_t first_step = entry_of(b, table, 1) - entry_of(b, table, 0),
                   last_step = entry_of(b, table, last) - entry_of(b, table, last - 1);
    fill(e, to, first_step);
    fill(e, to + AC_BLOCK, entry_of(b, table, last) - last_step * last);
    for (uint32_t k = 1; k < last; k++) {
        fill(e, to + 2 * (uint64_t)k * AC_BLOCK, k);
        fill(e, to + (2 * (uint64_t)k + 1) * AC_BLOCK, bend(b, table, k));
    }
}

static void fill_places(const emitting *e)
{
    const kernel_tiles *t = &e->t;
    const uint32_t first = t->begin * t->grid_columns, all = (t->end - t->begin) * t->grid_columns,
                   rest = all % t->count;
    fill_own(e, KERNEL_FIRST, (float)first);
    fill_own(e, KERNEL_NEXT, (float)t->count);
    fill_own(e, KERNEL_LAST, (float)(rest ? rest : t->count));
    fill_own(e, KERNEL_HALF, 0.5f);
    fill_own(e, KERNEL_ROUND, 0x1.8p23f);
    fill_own(e, KERNEL_COLUMNS, (float)t->grid_columns);
    fill_own(e, KERNEL_RECIPROCAL, 1.0f / (float)t->grid_columns);
    for (uint32_t i = 0; i < UNIFORM_LANES; i++)
        ac_emit_fill(t->core, t->index + (uint64_t)i * WIDE_BYTES,
                     (ac_fill){1, WIDE_BYTES, WIDE_BYTES, mona_bits((float)i)});
    fill(e, t->spare, mona_bits(UNIFORM_LANES));
}

/* Numbers from 0 on: twice as many by each sum, to whose second half their number was added, which
 * spare holds. */
static void count_elements(const emitting *e)
{
    const kernel_tiles *t = &e->t;
    for (uint32_t done = UNIFORM_LANES; done < t->count; done *= 2) {
        const uint32_t more = done < t->count - done ? done : t->count - done;
        operate(e, AC_VADD_F32, t->index + (uint64_t)done * WIDE_BYTES, t->index, false, t->spare,
                true, more);
        operate(e, AC_VADD_F32, t->spare, t->spare, false, t->spare, false, UNIFORM_LANES);
    }
}

/* Bits in one lane of 16, and in all others; upright, in all of them and in none. */
static void fill_edges(const emitting *e)
{
    const uint32_t lane = e->t.upright ? 0 : (e->t.width - 1) / e->t.columns;
    const uint32_t bytes = e->t.value_bytes;
    const ac_fill all = {AC_FRACTAL, bytes, bytes, UINT32_MAX},
                  none = {AC_FRACTAL, bytes, bytes, 0};
    const ac_fill edge = {e->t.upright ? AC_FRACTAL : 1, bytes, bytes, UINT32_MAX},
                  no_edge = {edge.count, bytes, bytes, 0};
    ac_emit_fill(e->t.core, kernel_own(&e->t, KERNEL_EDGE), none);
    ac_emit_fill(e->t.core, kernel_own(&e->t, KERNEL_NO_EDGE), all);
    ac_emit_fill(e->t.core, kernel_own(&e->t, KERNEL_EDGE) + (uint64_t)lane * bytes, edge);
    ac_emit_fill(e->t.core, kernel_own(&e->t, KERNEL_NO_EDGE) + (uint64_t)lane * bytes, no_edge);
}

/* All of UB is written once: copies and transposes of whole blocks bring some that nothing else
 * writes. The scalar unit waits for that. */
static void begin_zeros(ac_core *core, uint32_t ub_bytes)
{
    dup_all(core, ac_at(AC_UB, 0), 0, ub_bytes / 2);
    ac_emit_sync(core, AC_PIPE_V, AC_PIPE_S, AC_EVENT0);
}

static void begin_constants(const emitting *e)
{
    const kernel_tiles *t = &e->t;
    for (uint32_t i = 0; i < t->program->count; i++)
        constant_step(e, &t->program->steps[i]);
}

/* What follows from them alone. */
static void begin_uniform(const emitting *e)
{
    ac_emit_sync(e->t.core, AC_PIPE_S, AC_PIPE_V, AC_EVENT0);
    for (uint32_t i = 0; i < e->t.program->count; i++) {
        const mona_kernel_step *s = &e->t.program->steps[i];
        if (s->operation == MONA_KERNEL_HALF)
            half_step(e, s);
        else if (s->operation < MONA_KERNEL_CONST && is_uniform(s->to))
            vector_step(e, s);
    }
}

static void begin(emitting *e)
{
    const kernel_tiles *t = &e->t;
    uint32_t sample = 0;
    begin_zeros(t->core, t->bytes);
    begin_constants(e);
    fill_own(e, KERNEL_LOW_BITS, 0x1p23f);
    fill_own(e, KERNEL_HELD_BITS, 0x1.8p23f + MONA_KERNEL_HELD_AS);
    if (t->lanes)
        fill_edges(e);
    if (t->places)
        fill_places(e);
    for (uint32_t i = 0; i < t->kernel->inputs; i++)
        if (t->input[i].gathered)
            fill_entries(e, i);
    for (uint32_t i = 0; i < t->program->count; i++) {
        const mona_kernel_step *s = &t->program->steps[i];
        if (s->operation == MONA_KERNEL_SAMPLE)
            e->samples[sample++] = s;
    }
    begin_uniform(e);
    if (t->places)
        count_elements(e);
    mona_kernel_begin(t);
}

/* ---- tiles ---------------------------------------------------------------------------------- */

/* Planes of results leave one after the other, while the next one is computed. */
static void store_step(emitting *e, const mona_kernel_step *s)
{
    const uint32_t event = e->stored++ % e->t.results;
    mona_kernel_put(&e->t, s, value_at(e, s->a), event);
    ac_emit_sync(e->t.core, AC_PIPE_V, AC_PIPE_MTE3, event);
    mona_kernel_take_away(&e->t, &e->tile, s->plane, event);
    ac_emit_set_flag(e->t.core, AC_PIPE_MTE3, AC_PIPE_V, event);
}

static void compute(emitting *e)
{
    const kernel_tiles *t = &e->t;
    for (uint32_t i = 0; i < t->program->count; i++) {
        const mona_kernel_step *s = &t->program->steps[i];
        if (s->operation == MONA_KERNEL_STORE)
            store_step(e, s);
        else if (s->operation == MONA_KERNEL_ROW || s->operation == MONA_KERNEL_COLUMN)
            place_step(e, s);
        else if (s->operation == MONA_KERNEL_GATHER)
            gather_step(e, s);
        else if (s->operation == MONA_KERNEL_SPREAD)
            mona_kernel_spread(t, value_at(e, s->to), value_at(e, s->a));
        else if (s->operation < MONA_KERNEL_CONST && !is_uniform(s->to))
            vector_step(e, s);
    }
}

static uint32_t tiles_across(const kernel_tiles *t)
{
    return t->lanes ? ceil_div_u32(t->grid_columns, t->width) : 1;
}

static uint32_t tile_count(const kernel_tiles *t)
{
    return t->lanes ? ceil_div_u32(t->end - t->begin, t->height) * tiles_across(t)
                    : ceil_div_u32((t->end - t->begin) * t->grid_columns, t->count);
}

/* Where a next tile would reach beyond the end it begins earlier. */
static kernel_tile tile_at(const kernel_tiles *t, uint32_t i)
{
    kernel_tile tile = {.parity = i % t->buffers};
    if (t->lanes) {
        tile.row = t->begin + i / tiles_across(t) * t->height;
        tile.row = tile.row + t->height > t->end ? t->end - t->height : tile.row;
        tile.column = i % tiles_across(t) * t->width;
        if (tile.column + t->width > t->grid_columns)
            tile.column = t->grid_columns - t->width;
        return tile;
    }
    const uint32_t end = t->end * t->grid_columns;
    tile.column = t->begin * t->grid_columns + i * t->count;
    tile.column = tile.column + t->count > end ? end - t->count : tile.column;
    return tile;
}

/* The event of a group; in lanes each has one of its own. */
static uint32_t event_of(const emitting *e, const kernel_tile *tile, uint32_t group)
{
    return e->t.lanes ? group : tile->parity;
}

static void bring(const emitting *e, uint32_t i)
{
    const kernel_tile tile = tile_at(&e->t, i);
    for (uint32_t group = 0; group < e->t.groups; group++) {
        const uint32_t event = event_of(e, &tile, group);
        ac_emit_wait_flag(e->t.core, AC_PIPE_V, AC_PIPE_MTE2, event);
        mona_kernel_bring(&e->t, &tile, group);
        ac_emit_set_flag(e->t.core, AC_PIPE_MTE2, AC_PIPE_V, event);
    }
}

/* In lanes samples are elsewhere once they are numbers, and those of the next tile may come. */
static void widen(const emitting *e)
{
    for (uint32_t group = 0; group < e->t.groups; group++) {
        const uint32_t event = event_of(e, &e->tile, group);
        ac_emit_wait_flag(e->t.core, AC_PIPE_MTE2, AC_PIPE_V, event);
        mona_kernel_widen(&e->t, &e->tile, group);
        if (e->t.lanes)
            ac_emit_set_flag(e->t.core, AC_PIPE_V, AC_PIPE_MTE2, event);
    }
}

static void make_tile(emitting *e, uint32_t i)
{
    ac_core *core = e->t.core;
    const bool more = i + 1 < tile_count(&e->t);
    e->tile = tile_at(&e->t, i);
    if (more && !e->t.lanes)
        bring(e, i + 1);
    widen(e);
    if (more && e->t.lanes)
        bring(e, i + 1);
    if (e->t.places && i)
        operate(e, AC_VADD_F32, kernel_own(&e->t, KERNEL_FIRST), kernel_own(&e->t, KERNEL_FIRST),
                false, kernel_own(&e->t, more ? KERNEL_NEXT : KERNEL_LAST), false, UNIFORM_LANES);
    compute(e);
    if (!e->t.lanes)
        ac_emit_set_flag(core, AC_PIPE_V, AC_PIPE_MTE2, e->tile.parity);
}

/* ---- the operator --------------------------------------------------------------------------- */

/* Tiles need so many elements; where a core has fewer it makes some of another one's, too. */
static void widen_share(const mona_array_kernel *grid, uint32_t *begin, uint32_t *end)
{
    enum { LEAST = 32 };
    while ((uint64_t)(*end - *begin) * grid->columns < LEAST && *begin)
        --*begin;
    while ((uint64_t)(*end - *begin) * grid->columns < LEAST && *end < grid->rows)
        ++*end;
}

static void emit_sums(emitting *e, uint32_t first, uint32_t end)
{
    ac_core *core = e->call->core;
    const mona_bound_op *b = e->call->bound;
    kernel_sums k;
    if (!mona_kernel_sums(&k, b, first, end))
        return;
    e->t = (kernel_tiles){.bound = b,
                          .kernel = b->kernel,
                          .program = k.program,
                          .core = core,
                          .uniform = k.uniform,
                          .bring = {.rows = k.spare}};
    kernel_sums_running r = {
        .k = &k, .core = core, .image = e->call->input[k.input], .out = e->call->output};
    begin_zeros(core, k.ub_bytes);
    mona_kernel_sums_bring(&r);
    mona_kernel_sums_begin(&k, core);
    begin_constants(e);
    begin_uniform(e);
    mona_kernel_sums_run(&r);
}

static const mona_kernel_program *program_of(const mona_bound_op *b)
{
    const mona_array_kernel *record = (const void *)(b->data + b->op->array.record);
    return b->kernel->programs ? &b->kernel->programs[record->output] : NULL;
}

void mona_kernel_emit(const mona_array_places *call)
{
    ac_core *core = call->core;
    const mona_bound_op *b = call->bound;
    const mona_array_kernel *grid = (const void *)(b->data + b->op->array.record);
    uint32_t first = (uint32_t)call->begin, end = (uint32_t)call->end;
    emitting e = {.call = call};
    if (first == end)
        return;
    if (program_of(b)->sums) {
        emit_sums(&e, first, end);
        return;
    }
    widen_share(grid, &first, &end);
    if (!mona_kernel_tiles(&e.t, b, first, end))
        return;
    e.t.core = core;
    for (uint32_t i = 0; i < e.t.kernel->inputs; i++)
        if (e.t.input[i].operand->planes)
            e.t.input[i].gm = call->input[i];
    e.t.output.gm = call->output;
    const uint32_t events = e.t.lanes ? e.t.groups : e.t.buffers;
    begin(&e);
    for (uint32_t event = 0; event < events; event++)
        ac_emit_set_flag(core, AC_PIPE_V, AC_PIPE_MTE2, event);
    for (uint32_t event = 0; event < e.t.results; event++)
        ac_emit_set_flag(core, AC_PIPE_MTE3, AC_PIPE_V, event);
    bring(&e, 0);
    for (uint32_t i = 0; i < tile_count(&e.t); i++)
        make_tile(&e, i);
    for (uint32_t event = 0; event < events; event++)
        ac_emit_wait_flag(core, AC_PIPE_V, AC_PIPE_MTE2, event);
    for (uint32_t event = 0; event < e.t.results; event++)
        ac_emit_wait_flag(core, AC_PIPE_MTE3, AC_PIPE_V, event);
}

/* ---- proof ---------------------------------------------------------------------------------- */

/* Of `n` values side by side. */
static bool value_ok(const mona_kernel_program *p, mona_kernel_value v, uint32_t n,
                     uint32_t samples)
{
    return v.kind == MONA_KERNEL_UNIFORM
               ? v.index < p->uniform
               : (uint64_t)v.index + n <= (v.kind == MONA_KERNEL_FULL ? p->full : samples);
}

static bool sample_ok(const mona_kernel *k, const mona_kernel_step *s)
{
    if (s->a.index >= k->inputs)
        return false;
    const mona_kernel_operand *o = &k->operands[s->a.index];
    const int32_t above = o->around_rows * o->cell_rows, left = o->around_columns * o->cell_columns;
    return s->plane < o->planes && s->row >= -above && s->row < above + o->cell_rows &&
           s->column >= -left && s->column < left + o->cell_columns;
}

/* A table of the model has any type of up to 32 bits but f16; one that is an input has 32 bits. */
static bool entry_ok(const mona_bound_op *b, uint32_t table, uint32_t index)
{
    if (table >= b->kernel->inputs)
        return false;
    const mona_kernel_operand *o = &b->kernel->operands[table];
    const size_t size = mona_type_size(o->type);
    return !o->planes && o->type != MONA_F16 && index < o->elements &&
           (is_constant(b, table) ? size <= WIDE_BYTES : size == WIDE_BYTES);
}

/* Entries are constants of the program. */
static bool gather_ok(const mona_bound_op *b, uint32_t table)
{
    enum { LEAST = 3, MOST = 1024 };
    return entry_ok(b, table, 0) && is_constant(b, table) &&
           b->kernel->operands[table].elements >= LEAST &&
           b->kernel->operands[table].elements <= MOST;
}

/* Whether runs of n values are the same or have none in common. */
static bool far_apart(mona_kernel_value a, mona_kernel_value b, uint32_t n)
{
    return a.kind != b.kind || is_uniform(a) || a.index == b.index || a.index + n <= b.index ||
           b.index + n <= a.index;
}

/* All samples of a cell, of another value. */
static bool spread_ok(const mona_kernel_operand *out, const mona_kernel_program *p,
                      const mona_kernel_step *s, uint32_t samples)
{
    return p->rows && s->value == (uint32_t)out->cell_rows * out->cell_columns &&
           s->to.kind == MONA_KERNEL_FULL && value_ok(p, s->to, s->value, samples) &&
           !is_uniform(s->a) &&
           (s->a.kind != s->to.kind || s->a.index < s->to.index ||
            s->a.index >= s->to.index + s->value);
}

/* Values of cells have the program's type. */
static bool type_ok(const mona_kernel_program *p, const mona_kernel_step *s)
{
    const bool half = is_half((ac_vec2)(s->operation - MONA_KERNEL_VECTOR));
    return p->halves ? half || is_uniform(s->to) : !half;
}

enum { BITS = 32 };

/* The program's output, and the steps so far. alone: a bit of each sample that is nobody's
 * neighbour, whose place may be used. */
typedef struct proved {
    const mona_kernel_operand *out;
    uint32_t samples, stores;
    uint32_t alone[MOST_SAMPLES / BITS];
} proved;

/* Planes of the output are stored in order, each once. */
static bool store_ok(const mona_kernel_program *p, const mona_kernel_step *s, proved *so_far)
{
    const mona_kernel_operand *out = so_far->out;
    const uint32_t n = (uint32_t)out->cell_rows * out->cell_columns;
    return s->plane < out->planes && s->plane == so_far->stores++ && s->value <= MONA_KERNEL_HELD &&
           (s->value == MONA_KERNEL_NUMBERS || mona_type_size(out->type) == 1) &&
           (s->a.kind == MONA_KERNEL_FULL || (s->a.kind == MONA_KERNEL_SAMPLED && n == 1)) &&
           value_ok(p, s->a, n, so_far->samples);
}

static bool take_sample(const mona_bound_op *b, const mona_kernel_step *s, proved *so_far)
{
    if (so_far->samples == MOST_SAMPLES || !sample_ok(b->kernel, s))
        return false;
    const mona_kernel_operand *o = &b->kernel->operands[s->a.index];
    const uint32_t n = so_far->samples++, alone = !o->around_rows && !o->around_columns;
    so_far->alone[n / BITS] |= alone << n % BITS;
    return true;
}

/* Of `n` values that are made side by side. */
static bool result_ok(const mona_kernel_program *p, mona_kernel_value to, uint32_t n,
                      const proved *so_far)
{
    bool ok = value_ok(p, to, n, so_far->samples);
    for (uint32_t i = 0; ok && to.kind == MONA_KERNEL_SAMPLED && i < n; i++)
        ok = so_far->alone[(to.index + i) / BITS] >> (to.index + i) % BITS & 1;
    return ok;
}

static bool step_ok(const mona_bound_op *b, const mona_kernel_program *p, const mona_kernel_step *s,
                    proved *so_far)
{
    const uint32_t n = s->operation < MONA_KERNEL_CONST ? s->value : 1;
    const bool to_ok = result_ok(p, s->to, n, so_far);
    const bool a_ok = value_ok(p, s->a, n, so_far->samples);
    switch (s->operation) {
    case MONA_KERNEL_CONST:
    case MONA_KERNEL_WIDTH:
    case MONA_KERNEL_HEIGHT:
        return to_ok && is_uniform(s->to);
    case MONA_KERNEL_ENTRY:
        return to_ok && is_uniform(s->to) && entry_ok(b, s->a.index, s->value);
    case MONA_KERNEL_ROW:
    case MONA_KERNEL_COLUMN:
        return to_ok && !is_uniform(s->to);
    case MONA_KERNEL_GATHER:
        return to_ok && a_ok && !is_uniform(s->to) && !is_uniform(s->a) && gather_ok(b, s->value) &&
               (s->to.kind != s->a.kind || s->to.index != s->a.index);
    case MONA_KERNEL_HALF:
        return to_ok && a_ok && (p->halves || p->sums) && is_uniform(s->to) && is_uniform(s->a) &&
               s->to.index != s->a.index;
    case MONA_KERNEL_SPREAD:
        return a_ok && spread_ok(so_far->out, p, s, so_far->samples);
    case MONA_KERNEL_SAMPLE:
        return take_sample(b, s, so_far);
    case MONA_KERNEL_STORE:
        return store_ok(p, s, so_far);
    default:
        return s->operation < MONA_KERNEL_CONST && n && to_ok && a_ok && type_ok(p, s) &&
               value_ok(p, s->b, n, so_far->samples) && far_apart(s->to, s->a, n) &&
               far_apart(s->to, s->b, n) &&
               (!is_uniform(s->to) || (n == 1 && is_uniform(s->a) && is_uniform(s->b)));
    }
}

static bool sum_ok(const mona_kernel_program *p, const mona_kernel_step *s, const proved *so_far)
{
    const mona_kernel_operand *out = so_far->out;
    const uint32_t kind =
        s->operation == MONA_KERNEL_TERM ? MONA_KERNEL_SAMPLED : MONA_KERNEL_UNIFORM;
    return s->plane < out->planes && s->row >= 0 && s->row < out->cell_rows && s->column >= 0 &&
           s->column < out->cell_columns && s->a.kind == kind &&
           value_ok(p, s->a, 1, so_far->samples);
}

/* Of sums: terms, scales, and what all cells have in common. */
static bool step_of_sums_ok(const mona_bound_op *b, const mona_kernel_program *p,
                            const mona_kernel_step *s, proved *so_far)
{
    if (s->operation == MONA_KERNEL_TERM || s->operation == MONA_KERNEL_SCALE)
        return sum_ok(p, s, so_far);
    if (s->operation == MONA_KERNEL_SAMPLE)
        return s == &p->steps[so_far->samples] && take_sample(b, s, so_far);
    return s->operation != MONA_KERNEL_STORE && is_uniform(s->to) && step_ok(b, p, s, so_far);
}

/* k: the sums, if they are some. */
static const char *missing(const mona_bound_op *b, kernel_sums *k)
{
    const mona_array_kernel *record = (const void *)(b->data + b->op->array.record);
    const mona_kernel_program *p = program_of(b);
    kernel_tiles t;
    proved so_far = {.out = &b->kernel->operands[b->kernel->inputs + record->output]};
    if (!p || !p->count)
        return "its kernel came without steps of the vector unit";
    if (p->uniform > MOST_VALUES || p->full > MOST_VALUES)
        return "its kernel has too many values";
    for (uint32_t i = 0; i < p->count; i++)
        if (!(p->sums ? step_of_sums_ok : step_ok)(b, p, &p->steps[i], &so_far))
            return "a step of its kernel is none of the vector unit";
    if (p->sums)
        return mona_kernel_sums(k, b, 0, record->rows) ? NULL : "its sums do not fit the cube";
    if (so_far.stores != so_far.out->planes)
        return "its kernel does not store each plane once";
    return mona_kernel_tiles(&t, b, 0, record->rows) ? NULL
                                                     : "its tiles do not fit the unified buffer";
}

size_t mona_kernel_l1_bytes(const mona_bound_op *b)
{
    kernel_sums k;
    return !missing(b, &k) && program_of(b)->sums ? k.most_l1_bytes : 0;
}

const char *mona_kernel_program_missing(const mona_bound_op *b)
{
    kernel_sums k;
    return missing(b, &k);
}
