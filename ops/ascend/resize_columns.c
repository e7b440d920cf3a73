// SPDX-License-Identifier: Apache-2.0
/* RESIZE as an AI Core program, for any scale, by columns. columns.h defines a piece; here it has
 * all rows of the calls.
 *
 * Steps:
 *   1. Down. The rows of the taps are copied from L1 one by one, widened to fp32, multiplied by the
 *      tap's weight and added up, for each output row on its own.
 *   2. Across. For each tap, every output column takes the column that the tap reads, multiplied
 *      by the tap's weight: one column of all rows and channel blocks, or, where columns n apart
 *      have the same weights, these of one row and channel block. Products are added up.
 *   3. Results are rounded: resize_instructions.c says how.
 * The order of the roundings is that of mona_resize_row.
 *
 * Flags:
 *   MTE1 -> V, event e    row e of two is in UB
 *   V -> MTE1, event e    it has been used
 *   V -> MTE3, event 0    a piece is complete
 *   MTE3 -> V, event 0    it has been stored
 *   V -> S, S -> V        the scalar unit stores what fills no block of 32 bytes */
#include "ops/ascend/columns.h"
#include "ops/ascend/programs.h"
#include "ops/resize.h"

#include "engine/arith.h"

static uint32_t reach(const mona_columns *p)
{
    const int32_t *first = mona_resize_first(p->bound);
    const uint32_t width = p->bound->output.width;
    int32_t most = 0;
    for (uint32_t x = 0; x < width; x++) {
        const int32_t columns = first[min_u32(x + p->outputs, width) - 1] - first[x];
        most = columns > most ? columns : most;
    }
    return (uint32_t)most + mona_resize_taps(p->bound);
}

static void add_all(const mona_columns *p, ac_address to, ac_address from, uint32_t count)
{
    vec2_done(p->core, AC_VADD_F32, to, to, from, count, side_by_side);
}

/* ---- down ----------------------------------------------------------------------------------- */

static void bring_tap(const mona_columns *p, const mona_row_call *call, int64_t y, uint32_t block,
                      uint32_t e)
{
    const mona_rows *in = &call->input[0];
    const mona_span window = mona_resize_sources(p->bound, (mona_span){call->y, call->y + 1});
    const int64_t row = clip_to(y, window.begin, window.end - 1) - window.begin;
    mona_columns_bring(p, mona_window_at(call, 0, (size_t)row, p->first) + block * in->block_stride,
                       in->block_stride, e);
}

/* Sums up the taps of output row `row` of the piece. */
static void down(const mona_columns *p, const mona_row_call *call, uint32_t row, uint32_t block)
{
    const uint32_t taps = mona_resize_taps(p->bound);
    const uint32_t count = p->in_blocks * p->in_columns * p->in_wide * AC_FRACTAL;
    const ac_address sum = p->best + (size_t)row * count * sizeof(float);
    float weights[4];
    const int64_t y = mona_resize_source(p->bound, call->y, weights);
    for (uint32_t t = 0; t < taps; t++) {
        const uint32_t e = (row * taps + t) % 2;
        const ac_address to = t ? p->wide : sum;
        ac_emit_wait_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, e);
        bring_tap(p, call, y + t, block, e);
        ac_emit_sync(p->core, AC_PIPE_MTE1, AC_PIPE_V, e);
        vconv_done(p->core, AC_F16_F32, to, mona_columns_widen(p, e), count);
        ac_emit_set_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, e);
        vecs_done(p->core, AC_VMULS_F32, to, to, weights[t], count);
        if (t)
            add_all(p, sum, to, count);
    }
}

/* ---- across --------------------------------------------------------------------------------- */

/* Blocks from one row or channel block to the next: of the larger of both sides. */
static uint32_t steps(const mona_columns *p)
{
    return max_u32(p->in_columns, p->out_columns) * p->in_units;
}

static void multiply(const mona_columns *p, ac_address to, ac_address from, ac_vector v)
{
    v.a_block = v.b_block;
    v.a_repeat = v.b_repeat;
    ac_emit_vecs(p->core, AC_VMULS_F32, to, from, p->weight, v);
}

/* The input column that a tap of an output of the piece reads, from the first one in UB on. */
static uint32_t column_of(const mona_columns *p, uint32_t o, uint32_t t)
{
    const int64_t column = mona_resize_first(p->bound)[p->x + o] + (int64_t)t;
    return (uint32_t)(clip_to(column, p->first, p->end - 1) - p->first);
}

/* Output columns after which weights repeat. */
static uint32_t period_of(const mona_columns *p)
{
    const uint32_t *scale = p->bound->op->resize.scale_w;
    return scale[0] / (uint32_t)greatest_divisor(scale[0], scale[1]);
}

/* The run of outputs `apart` columns apart from output o on, whose weights are the same and which
 * read columns as far apart as the first two do. */
static mona_columns_run run_of(const mona_columns *p, uint32_t o, uint32_t t, uint32_t apart)
{
    const uint32_t taps = mona_resize_taps(p->bound), end = p->outputs;
    const float *weights = mona_resize_weights(p->bound) + (size_t)p->x * taps + t;
    mona_columns_run r = {.to = o, .to_step = apart, .from = column_of(p, o, t)};
    r.from_step = o + apart < end ? column_of(p, o + apart, t) - r.from : 0;
    for (uint32_t i = o; i < end && weights[i * taps] == weights[o * taps] &&
                         column_of(p, i, t) == r.from + r.count * r.from_step;
         i += apart)
        r.count++;
    return r;
}

/* What a tap adds to all outputs. */
static void take_tap(mona_columns *p, ac_address result, uint32_t t)
{
    const uint32_t apart = period_of(p), taps = mona_resize_taps(p->bound);
    for (uint32_t phase = 0; phase < min_u32(apart, p->outputs); phase++)
        for (uint32_t o = phase; o < p->outputs;) {
            const mona_columns_run r = run_of(p, o, t, apart);
            p->weight = mona_resize_weights(p->bound)[(p->x + o) * taps + t];
            mona_columns_combine(p, result, &r);
            o += r.count * apart;
        }
    ac_emit_barrier(p->core, AC_PIPE_V);
}

static uint32_t results(const mona_columns *p)
{
    return p->rows * p->out_blocks * p->out_columns * p->out_wide * AC_FRACTAL;
}

static void across(mona_columns *p)
{
    for (uint32_t t = 0; t < mona_resize_taps(p->bound); t++) {
        take_tap(p, t ? p->spare[0] : p->result, t);
        if (t)
            add_all(p, p->result, p->spare[0], results(p));
    }
}

static void round_all(const mona_columns *p)
{
    const float whole = 0x1.8p23f;
    if (p->bound->output.type == MONA_F16)
        return;
    vecs_done(p->core, AC_VADDS_F32, p->result, p->result, whole, results(p));
    vecs_done(p->core, AC_VADDS_F32, p->result, p->result, -whole, results(p));
}

/* ---- pieces --------------------------------------------------------------------------------- */

static void resize_piece(mona_columns *p, const mona_row_call *calls, uint32_t channel)
{
    const mona_span x = mona_resize_columns(p->bound, (mona_span){p->x, p->x + p->outputs});
    p->first = x.begin - (x.begin - calls->input[0].x_begin) % mona_columns_aligned(p);
    p->end = x.end;
    mona_columns_set_reach(p, (uint32_t)(p->end - p->first));
    for (uint32_t row = 0; row < p->rows; row++)
        down(p, &calls[row], row, channel / p->in_c0);
    ac_emit_wait_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
    across(p);
    round_all(p);
    mona_columns_narrow(p);
    for (uint32_t row = 0; row < p->rows; row++)
        mona_columns_store(p, &calls[row], row, channel / p->out_c0);
    ac_emit_set_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
}

/* Sets the outputs of a piece: all of those left that are taken in runs; else as many that strides
 * reach from row to row, or all of them if strides do not even reach over one. */
static void set_outputs(mona_columns *p, uint32_t left)
{
    const uint32_t *scale = p->bound->op->resize.scale_w, n = period_of(p);
    const uint32_t step = max_u32(n, n * scale[1] / scale[0]);
    const bool runs = left / n > p->rows && 8 * step * p->in_units <= UINT8_MAX;
    for (p->outputs = left; p->outputs; p->outputs /= 2) {
        mona_columns_set_reach(p, reach(p) + mona_columns_aligned(p) - 1);
        if (runs || steps(p) <= UINT8_MAX)
            return;
    }
    p->outputs = left;
}

static void clear(const mona_columns *p)
{
    mona_columns_clear(p);
    dup_all(p->core, p->result, 0, 2 * results(p));
    if (p->spares)
        dup_all(p->core, p->spare[0], 0, 2 * results(p));
    ac_emit_barrier(p->core, AC_PIPE_V);
}

void mona_resize_columns_program(const mona_row_call *calls, uint32_t count)
{
    const mona_bound_op *b = calls->bound;
    mona_columns p = mona_columns_of(b, true);
    p.core = calls->core;
    p.reach = reach;
    p.combine = multiply;
    p.rows = count;
    p.spares = mona_resize_taps(b) > 1;
    set_outputs(&p, (uint32_t)(calls->x_end - calls->x_begin));
    const uint32_t channels = mona_columns_choose(&p);
    if (!channels) {
        mona_resize_columns_program(calls, count / 2);
        mona_resize_columns_program(calls + count / 2, count - count / 2);
        return;
    }
    clear(&p);
    mona_columns_pieces(&p, calls, 1, channels, resize_piece);
}
