// SPDX-License-Identifier: Apache-2.0
/* Output rows of a convolution as an AI Core program: tiles and the cube. conv_packing.h defines
 * rows of A and columns of B; conv_finish.c has the vector work.
 *
 * A tile is 16 * m1 rows of A for one group of parts. m1 is as large as half of L0A, half of L0C
 * and UB allow: issuing a load3d takes the scalar unit longer than MTE1 needs to move 32 fractals,
 * so each load3d should move many. All tiles of an output row have the same size, apart from
 * rounding. If results have few pixels in a row, a tile holds several rows, each from a fractal on,
 * and load3ds go along K (conv_walk.c).
 *
 * K is counted in fractals and cut into chunks that fill half of L0A, so that MTE1 fills one half
 * while the cube works on the other. Every chunk is multiplied by the weights of all parts of the
 * group that read the same runs. If the weights of a group fit into L0B, they stay there for all of
 * its tiles; otherwise they are loaded chunk by chunk, too. L0C has two halves, and a tile's vector
 * work is issued after the next tile's cube work, so that V and M overlap.
 *
 * Layout of the buffers:
 *   L0A  [half][m1][chunk fractals]
 *   L0B  as conv_packing.h has a group's weights if they stay, else a chunk of them in either half
 *   L0C  [half][sums, residuals][part][width][m1]
 *
 * Flags; event h is the half of L0A, `slot` that of L0C:
 *   MTE1 -> M, h         operands have been loaded
 *   M -> MTE1, h         operands have been used
 *   M -> MTE1, 2         all weights in L0B have been used
 *   V -> M, slot         L0C has been drained, or holds the bias
 *   M -> V, slot         the sums are complete
 *   MTE1 -> V, slot      a residual is in UB
 *   V -> MTE1, slot      the residual has been used
 *   V -> MTE1, 2         room for the constants is free
 *   V -> MTE1, 3         room for the residual is clear
 *   MTE1 -> V, 2         the constants are in UB
 *   V -> MTE3, 0         a result is in UB
 *   MTE3 -> V, slot      the result has been stored
 *   V -> S, S -> V, 0    the scalar unit takes its turn
 *   MTE2 -> MTE1, 0      constants have been loaded
 *   MTE1 -> MTE2, 0      so that the next ones may be
 * A flag that guards the reuse of a buffer is set once beforehand and awaited once at the end, so
 * that every set has its wait. */
#include "ops/ascend/conv_instructions.h"
#include "ops/ascend/programs.h"

enum { MAX_JUMP = 127, MAX_COLUMNS = 32767 /* of the row a load3d reads */ };

/* ---- sizes ---------------------------------------------------------------------------------- */

/* The most fractals of K that any part has. */
static uint32_t max_k(const program *p)
{
    uint32_t max = 0;
    for (uint32_t part = 0; part < p->k->parts; part++) {
        const uint32_t all = mona_conv_all_k(p->k, part);
        max = all > max ? all : max;
    }
    return max;
}

/* The most fractals of rows whose columns load3d can count. Rounding an address down adds up to 32
 * columns. */
static uint32_t fractals_in_columns(const program *p)
{
    const uint32_t step = p->k->step > p->k->residual_step ? p->k->step : p->k->residual_step;
    const uint32_t taken = p->k->run_fractals * (AC_BLOCK / p->k->column) + AC_BLOCK;
    const uint32_t rows = taken < MAX_COLUMNS ? (MAX_COLUMNS - taken) / step : 0;
    return rows < AC_FRACTAL ? 1 : rows / AC_FRACTAL;
}

static tile tile_of(const program *p, uint32_t m1)
{
    tile t = {.end = min_u32(p->k->group, p->k->parts),
              .pixels = m1 * AC_FRACTAL * p->k->pixels,
              .count = 1};
    mona_conv_shape_tile(p, &t);
    return t;
}

/* Output rows of a tile, if a row has so many fractals. A single fractal leaves the cube little but
 * its fixed cost, so that as many rows as possible share a tile. Of rows with more fractals two
 * tiles remain, whose cube and vector work overlap. */
static uint32_t rows_of_tile(const program *p, uint32_t fractals)
{
    enum { MAX_FRACTALS = 8 };
    const bool possible =
        p->k->way == MONA_CONV_ROW && (!adds_by_vector(p) || mona_conv_residual_in_lanes(p));
    const uint32_t rows = fractals > 1 ? ceil_div_u32(p->row_count, 2) : p->row_count;
    const uint32_t max = min_u32(rows, min_u32(p->m1, MAX_FRACTALS) / fractals);
    return possible && max > 1 ? ceil_div_u32(p->row_count, ceil_div_u32(p->row_count, max)) : 1;
}

static void size_tile(const program *p, tile *t)
{
    t->pixels = min_u32(p->m1 * AC_FRACTAL * p->k->pixels, p->rows->pixels - t->x);
    t->count = min_u32(p->stack, p->row_count - t->y);
    mona_conv_shape_tile(p, t);
}

static void choose_tile(program *p)
{
    const ac_target *target = p->core->target;
    const uint32_t l0a = target->l0a_bytes / HALVES / FRACTAL_BYTES;
    const uint32_t l0b = target->l0b_bytes / FRACTAL_BYTES, max = max_k(p);
    const uint32_t fractals = ceil_div_u32(p->row->pixels, p->k->pixels * AC_FRACTAL);
    const uint32_t width = p->k->group * p->k->width;
    p->m1 = min_u32(p->k->max_fractals, fractals_in_columns(p));
    tile t = tile_of(p, p->m1);
    while (p->m1 > 1 && mona_conv_place_buffers(p, &t) > ub_room(target))
        t = tile_of(p, --p->m1);
    const uint32_t whole =
        ceil_div_u32(ceil_div_u32(fractals, ceil_div_u32(fractals, p->m1)), p->cuts);
    p->stack = rows_of_tile(p, fractals);
    p->m1 = p->stack > 1 ? p->stack * fractals
                         : min_u32(whole * p->cuts, p->m1); /* whole cuts need fewer drains */
    t = tile_of(p, p->m1);
    mona_conv_place_buffers(p, &t);
    p->weights_stay = width * max <= l0b;
    p->chunk = min_u32(min_u32(l0a / p->m1, max), min_u32(MAX_JUMP, AC_MAX_MKN / AC_BLOCK));
    if (!p->weights_stay)
        p->chunk = min_u32(p->chunk, l0b / HALVES / width);
    t = (tile){.end = min_u32(p->k->group, p->k->parts)};
    size_tile(p, &t);
    p->row = &p->rows[p->row_count / 2];
    p->along_k = mona_conv_prefers_k(p, &t, &p->chunk);
    p->row = p->rows;
}

/* ---- operands ------------------------------------------------------------------------------- */

/* The operand of a load3d: rows of A, 32 bytes each, `step` columns apart, from byte `skip` on. */
typedef struct operand {
    ac_address at;
    uint32_t bytes; /* bytes from `at` on; what lies beyond reads as zero */
    uint32_t element, column, step, skip;
} operand;

/* The address of the row is rounded down to a block of 32 bytes, so some more columns precede the
 * first one. */
static void load_a_fractal(const program *p, const tile *t, const operand *s, ac_address l0a,
                           uint32_t jump)
{
    const uint32_t beyond = (uint32_t)(s->at % AC_BLOCK);
    const uint32_t before = beyond / s->column, lead = beyond % s->column;
    const ac_load3d l = {
        .column = (uint16_t)(s->skip / s->column + before),
        .columns = (uint16_t)(ceil_div_u32(lead + s->bytes, s->column) + before),
        .stride = (uint8_t)s->step,
        .dilation = 1, /* the columns of a run lie side by side */
        .c0 = (uint8_t)(s->column / s->element),
        .element = (uint8_t)s->element,
        .repeat = (uint8_t)t->row_m1,
        .jump = (uint8_t)jump,
    };
    ac_emit_load3d(p->core, l0a, s->at - beyond, l);
}

/* Fractal i of a part's windows. */
static operand window_source(const program *p, const tile *t, uint32_t part, uint32_t i)
{
    const mona_conv *c = p->conv;
    const uint32_t run = p->k->first_run[part] + i / p->k->run_fractals;
    return (operand){
        .at = p->row->runs[run] + (size_t)t->x * c->pixel_bytes,
        .bytes = ((t->pixels - 1) * c->stride + c->taps) * c->c0 * p->element,
        .element = p->element,
        .column = p->k->column,
        .step = p->k->step,
        .skip = i % p->k->run_fractals * AC_BLOCK,
    };
}

static operand bias_source(const program *p, const tile *t)
{
    const uint32_t column = mona_conv_column(p->core->target);
    return (operand){.at = p->constants + p->k->ones,
                     .bytes = t->row_m1 * AC_FRACTAL * column + AC_BLOCK,
                     .element = 1,
                     .column = column,
                     .step = 1};
}

static operand residual_source(const program *p, const tile *t, uint32_t part, uint32_t i)
{
    const mona_row_at *r = &p->row->residual;
    const uint32_t block = mona_conv_residual_block(p->k, p->conv->epilogue.broadcast, r->c0, part);
    return (operand){.at = r->at + block * r->block_stride + (size_t)t->x * r->c0,
                     .bytes = t->pixels * r->c0,
                     .element = 1,
                     .column = p->k->residual_column,
                     .step = p->k->residual_step,
                     .skip = i * AC_BLOCK};
}

/* Fractal i of a part's K: windows, then the bias, then the residual. */
static operand operand_of(const program *p, const tile *t, uint32_t part, uint32_t i)
{
    const uint32_t window = mona_conv_window_k(p->k, part), sum = mona_conv_sum_k(p->k, part);
    return i < window ? window_source(p, t, part, i)
           : i < sum  ? bias_source(p, t)
                      : residual_source(p, t, part, i - sum);
}

/* Fractals [first, first + count) of a part's K for the tile's current row. */
static void load_row(const program *p, const tile *t, uint32_t part, uint32_t first, uint32_t count,
                     ac_address l0a)
{
    mona_conv_walk_at w;
    for (uint32_t i = 0, n; i < count; i += n) {
        const ac_address to = l0a + i * FRACTAL_BYTES;
        n = p->along_k ? mona_conv_walk(p, t, part, first + i, count - i, &w) : 0;
        if (n) {
            mona_conv_load_along_k(p, t, &w, to, count * FRACTAL_BYTES);
            continue;
        }
        const operand s = operand_of(p, t, part, first + i);
        load_a_fractal(p, t, &s, to, count);
        n = 1;
    }
}

/* ---- constants ------------------------------------------------------------------------------ */

/* Bytes of the weights of parts [first, end). */
static size_t weight_bytes(const program *p, uint32_t first, uint32_t end)
{
    size_t fractals = 0;
    for (uint32_t part = first; part < end; part++)
        fractals += (size_t)mona_conv_all_k(p->k, part) * p->k->width;
    return fractals * FRACTAL_BYTES;
}

/* Lets MTE2 load more of the weights to L1; before the first of them, all other constants. A copy
 * takes a while to begin, so that pieces are not small. */
static void load_more(program *p)
{
    enum { PIECE = 64 << 10 };
    const ac_address from = p->loading ? p->weights + p->loading : p->constants;
    if (p->loading == p->all_weights)
        return;
    p->loading = p->all_weights - p->loading < 2 * PIECE ? p->all_weights : p->loading + PIECE;
    ac_emit_copy_bytes(p->core, from, from, p->weights + p->loading - from);
    ac_emit_set_flag(p->core, AC_PIPE_MTE2, AC_PIPE_MTE1, 0);
}

/* Lets MTE1 wait for the weights before `end`, and those behind them be loaded. */
static void await_weights(program *p, size_t end)
{
    while (p->loaded < end) {
        ac_emit_wait_flag(p->core, AC_PIPE_MTE2, AC_PIPE_MTE1, 0);
        sync(p, AC_PIPE_MTE1, AC_PIPE_MTE2, 0);
        p->loaded = p->loading;
        load_more(p);
    }
}

/* Loads all weights of the tile's group, once the cube has used those of the last group. */
static void load_group_weights(program *p, const tile *t)
{
    if (!p->weights_stay || p->l0b_first == t->first)
        return;
    p->l0b_first = t->first;
    const size_t bytes = weight_bytes(p, t->first, t->end);
    await_weights(p, p->k->weights_offset[t->first] + bytes);
    sync(p, AC_PIPE_M, AC_PIPE_MTE1, 2);
    ac_emit_load2d(p->core, ac_at(AC_L0B, 0), p->weights + p->k->weights_offset[t->first],
                   (uint32_t)(bytes / FRACTAL_BYTES));
}

/* ---- cube ----------------------------------------------------------------------------------- */

static ac_mad mad_type(mona_type source)
{
    return source == MONA_F16  ? AC_MAD_F32F16F16
           : source == MONA_S8 ? AC_MAD_S32S8S8
                               : AC_MAD_S32U8S8;
}

/* Fractals [first, end) of K for parts [part, last), which all read the same runs. weights: bytes
 * from the beginning of all to those of fractal `first`. */
typedef struct product {
    uint32_t part, last, first, end;
    bool residual, from_zero;
    size_t weights;
} product;

/* Fractals of B for one of K. */
static uint32_t product_width(const program *p, const product *m)
{
    return (m->last - m->part) * p->k->width;
}

/* The place in L0B of the weights from fractal `first` of K on. Loads them if necessary. */
static ac_address chunk_weights(program *p, const tile *t, const product *m, uint32_t first,
                                uint32_t count)
{
    const uint32_t width = product_width(p, m);
    const size_t at = m->weights + (size_t)(first - m->first) * width * FRACTAL_BYTES;
    if (p->weights_stay)
        return ac_at(AC_L0B, at - p->k->weights_offset[t->first]);
    const ac_address b = ac_at(AC_L0B, p->half * (p->core->target->l0b_bytes / HALVES));
    await_weights(p, at + (size_t)count * width * FRACTAL_BYTES);
    ac_emit_load2d(p->core, b, p->weights + at, count * width);
    return b;
}

static void multiply_chunk(program *p, const tile *t, const product *m, uint32_t first,
                           uint32_t count)
{
    const uint32_t h = p->half;
    const mona_type source = m->residual ? p->row->residual.type : p->conv->source_type;
    const uint32_t fractal_k = AC_BLOCK / (uint32_t)mona_type_size(source);
    const ac_address a = ac_at(AC_L0A, h * (p->core->target->l0a_bytes / HALVES));
    ac_emit_wait_flag(p->core, AC_PIPE_M, AC_PIPE_MTE1, h);
    for (uint32_t y = 0; y < t->count; y++) {
        p->row = &p->rows[t->y + y];
        load_row(p, t, m->part, first, count, a + y * t->row_m1 * count * FRACTAL_BYTES);
    }
    p->row = &p->rows[t->y];
    const ac_address b = chunk_weights(p, t, m, first, count);
    sync(p, AC_PIPE_MTE1, AC_PIPE_M, h);
    ac_emit_mmad(p->core, mad_type(source), l0c_of(p, t, m->part, m->residual), a, b,
                 (ac_product){.m = t->rows,
                              .k = count * fractal_k,
                              .n = product_width(p, m) * LANES,
                              .from_zero = m->from_zero && first == m->first});
    ac_emit_set_flag(p->core, AC_PIPE_M, AC_PIPE_MTE1, h);
    p->half ^= 1;
}

static void multiply(program *p, const tile *t, const product *m)
{
    for (uint32_t first = m->first; first < m->end; first += p->chunk)
        multiply_chunk(p, t, m, first, min_u32(p->chunk, m->end - first));
}

/* Those of a set. */
static void multiply_parts(program *p, const tile *t, uint32_t part, uint32_t last)
{
    const uint32_t sum = mona_conv_sum_k(p->k, part), all = mona_conv_all_k(p->k, part);
    const size_t fractal = (size_t)p->k->width * FRACTAL_BYTES; /* of a part */
    size_t weights = p->k->weights_offset[part];
    multiply(p, t, &(product){part, last, 0, sum, false, !p->k->bias_by_vector, weights});
    weights += (last - part) * sum * fractal;
    for (; part < last && p->k->residual_by_cube; part++, weights += (all - sum) * fractal)
        multiply(p, t, &(product){part, part + 1, sum, all, true, true, weights});
}

/* Makes the tile's half of L0C ready for sums: filled with the bias, or drained. */
static void begin_sums(const program *p, const tile *t)
{
    if (p->k->bias_by_vector) {
        ac_emit_bias_l0c(p->core, l0c_of(p, t, t->first, false),
                         p->ub.bias + 2 * bias_copies(p) * lanes_at(p, t->first, 0), bias_copies(p),
                         t->rows, (t->end - t->first) * p->k->width * LANES);
        ac_emit_set_flag(p->core, AC_PIPE_V, AC_PIPE_M, t->slot);
    }
    ac_emit_wait_flag(p->core, AC_PIPE_V, AC_PIPE_M, t->slot);
}

/* Multiplies all of K into the tile's half of L0C. */
static void start(program *p, const tile *t)
{
    await_weights(p, 1);
    mona_conv_load_constants(p, t);
    mona_conv_load_residual(p, t);
    begin_sums(p, t);
    load_group_weights(p, t);
    for (uint32_t part = t->first, last; part < t->end; part = last) {
        last = mona_conv_set_end(p->k, part);
        multiply_parts(p, t, part, last);
    }
    ac_emit_set_flag(p->core, AC_PIPE_M, AC_PIPE_V, t->slot);
}

/* ---- the row -------------------------------------------------------------------------------- */

/* Sets every flag that guards the reuse of a buffer, or waits for it at the end. */
static void guard_flags(const program *p, void (*flag)(ac_core *, ac_pipe, ac_pipe, uint32_t))
{
    for (uint32_t h = 0; h < HALVES; h++) {
        flag(p->core, AC_PIPE_M, AC_PIPE_MTE1, h);
        if (adds_by_vector(p))
            flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, h);
        if (!p->k->bias_by_vector)
            flag(p->core, AC_PIPE_V, AC_PIPE_M, h);
        flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, h);
    }
}

/* Makes t the next tile; false: it was the last one. All pixels of all rows of a group come before
 * the next group, so that weights are not loaded again for every row. */
static bool next_tile(const program *p, tile *t)
{
    t->slot ^= 1;
    t->x += t->pixels;
    if (t->x == p->rows->pixels) {
        t->x = 0;
        t->y += t->count;
    }
    if (t->y == p->row_count) {
        t->y = 0;
        t->first = t->end;
        t->end = min_u32(t->first + p->k->group, p->k->parts);
    }
    if (t->first == p->k->parts)
        return false;
    size_tile(p, t);
    return true;
}

/* The program, with the tile's row as the current one of start() and mona_conv_finish(). */
static const program *at_row_of(program *p, const tile *t)
{
    p->row = &p->rows[t->y];
    return p;
}

/* The rows of a convolution with these constants. */
static void run_rows(ac_core *core, const mona_conv *c, ac_address constants,
                     const mona_conv_source *source, const mona_conv_place *rows, uint32_t count,
                     bool loads)
{
    const mona_conv_packing *k = c->packing;
    program p = {.core = core,
                 .constants = constants,
                 .weights = constants + k->weights,
                 .rows = rows,
                 .row_count = count,
                 .row = rows,
                 .source = source,
                 .conv = c,
                 .k = k,
                 .element = (uint32_t)mona_type_size(c->source_type),
                 .batch = MONA_NONE,
                 .l0b_first = MONA_NONE,
                 .loaded = loads ? 0 : SIZE_MAX};
    if (c->epilogue.function && c->epilogue.function != MONA_ACT_TABLE)
        mona_function_find(&p.function, (mona_activation)c->epilogue.function, c->epilogue.alpha);
    p.cuts = mona_conv_cuts(&p);
    choose_tile(&p);
    p.all_weights = weight_bytes(&p, 0, k->parts);
    if (loads)
        load_more(&p);
    guard_flags(&p, ac_emit_set_flag);
    tile current = {.end = min_u32(k->group, k->parts)};
    size_tile(&p, &current);
    tile next = current;
    start(&p, &current);
    for (bool more = true; more; current = next) {
        more = next_tile(&p, &next);
        /* Constants of the next batch must not be loaded before this tile has used its own. */
        const bool finish_first = !more || batch_of(&p, &next) != batch_of(&p, &current);
        if (finish_first)
            mona_conv_finish(at_row_of(&p, &current), &current);
        if (more) {
            at_row_of(&p, &next);
            start(&p, &next);
        }
        if (!finish_first)
            mona_conv_finish(at_row_of(&p, &current), &current);
    }
    guard_flags(&p, ac_emit_wait_flag);
}

/* ---- where rows lie ------------------------------------------------------------------------- */

/* How the rows lie that the filter reads: for the call's first pixel it starts at column x * stride
 * - pad. */
static mona_conv_source source_of(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const mona_file_conv *c = &b->op->conv;
    const mona_conv_layout k = mona_conv_layout_of(b);
    const mona_rows *in = &call->input[0];
    const size_t column_bytes = k.c0 * mona_type_size(b->input[0].type);
    const int64_t column = call->x_begin * c->stride_w - c->pad_left - in->x_begin;
    return (mona_conv_source){.rows = c->kernel_h == 1 || b->input[0].height <= SMALL_HEIGHT,
                              .row_runs = c->kernel_w / k.taps,
                              .block_runs = c->kernel_h * c->kernel_w / k.taps,
                              .blocks = k.c1,
                              .before = (size_t)column * column_bytes,
                              .run_bytes = (size_t)k.taps * c->dilation_w * column_bytes,
                              .block_stride = in->block_stride};
}

/* Finds the addresses of all runs. */
static ac_address *place_runs(ac_address *runs, const mona_row_call *call,
                              const mona_conv_source *s)
{
    const mona_file_conv *c = &call->bound->op->conv;
    for (uint32_t c1 = 0; c1 < s->blocks; c1++)
        for (uint32_t ky = 0; ky < c->kernel_h; ky++) {
            const ac_address row =
                mona_window_at(call, 0, ky * c->dilation_h, call->input[0].x_begin);
            for (uint32_t i = 0; i < s->row_runs; i++)
                *runs++ = row + s->before + c1 * s->block_stride + i * s->run_bytes;
        }
    return runs;
}

/* The planes that the fused STORE writes for the call's row. */
static planes_at place_planes(ac_address *rows, const mona_row_call *call)
{
    const mona_bound_op *b = call->store;
    const mona_file_store *s = &b->op->store;
    const int64_t x = call->x_begin * (int64_t)(s->block * mona_type_size(b->output.type));
    for (uint32_t i = 0; i < b->output.channels * s->block; i++)
        rows[i] = mona_plane_at(call, 0, i / s->block, call->y * s->block + i % s->block, x);
    return (planes_at){rows,     s->block,   b->output.type,
                       s->scale, s->maximum, call->planes->row_stride % AC_BLOCK == 0};
}

void mona_conv_program(const mona_row_call *calls, uint32_t count)
{
    const mona_bound_op *b = calls->bound;
    const mona_conv *conv = b->constants;
    mona_conv_place rows[MONA_ROWS_AT_ONCE];
    planes_at planes[MONA_ROWS_AT_ONCE];
    const mona_conv_source source = source_of(calls);
    for (uint32_t i = 0; i < count; i++) {
        const mona_row_call *call = &calls[i];
        ac_address *scratch = (ac_address *)(void *)call->scratch;
        mona_conv_place *r = &rows[i];
        *r = (mona_conv_place){.runs = scratch,
                               .pixels = (uint32_t)(call->x_end - call->x_begin),
                               .whole = call->x_end - call->x_begin == b->output.width,
                               .output = {.c0 = b->output_c0, .type = b->output.type}};
        scratch = place_runs(scratch, call, &source);
        if (conv->epilogue.add)
            r->residual = mona_input_at(call, 1);
        if (call->store) {
            planes[i] = place_planes(scratch, call);
            r->planes = &planes[i];
        } else {
            r->output = mona_output_at(call);
        }
    }
    run_rows(calls->core, conv, b->resident, &source, rows, count, calls->loads);
}
