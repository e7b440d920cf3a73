// SPDX-License-Identifier: Apache-2.0
/* MAX_POOL and AVERAGE_POOL as an AI Core program.
 *
 * columns.h says what a piece is.
 *
 * Steps:
 *   1. Down. The rows of the window are copied from L1 one by one, widened to fp16, for means
 *      further to fp32, and combined in p->best, which begins with the lowest value or 0.
 *   2. Across. For each column of the window, the columns that it has in all outputs' windows are
 *      combined in p->result. Samples outside the map are left out by leaving out outputs.
 *      A window that is wider than UB takes both steps for some columns after another.
 *   3. Means are multiplied by scale / n, where n may differ from output to output, and rounded to
 *      fp16. Results are converted and stored.
 * The order of comparisons and roundings is that of model_format.h. Sums of INT8 are exact in fp32
 * up to 2^24; those that may be larger are kept in two parts (pool_columns.c). A sum that begins
 * with +0 is never -0, so that combining with 0 at first changes nothing.
 *
 * Flags:
 *   MTE1 -> V, event e    row e of two is in UB; MTE2 brings those of a map between groups
 *   V -> MTE1, event e    it has been used
 *   V -> MTE3, event 0    a piece is complete
 *   MTE3 -> V, event 0    it has been stored
 *   V -> S, S -> V        the scalar unit stores what fills no block of 32 bytes */
#include "ops/ascend/columns.h"
#include "ops/ascend/programs.h"
#include "ops/pool.h"

#include "engine/arith.h"

enum { LOWEST = 0xfbff /* -65504 */ };

static uint32_t kernel_or(uint32_t kernel, uint32_t whole)
{
    return kernel ? kernel : whole;
}

static bool sums_are_exact(const mona_bound_op *b)
{
    const mona_file_pool *f = &b->op->pool;
    const uint64_t rows = min_u32(kernel_or(f->kernel_h, b->input[0].height), b->input[0].height);
    const uint64_t columns = min_u32(kernel_or(f->kernel_w, b->input[0].width), b->input[0].width);
    return b->input[0].type == MONA_F16 || rows * columns * UINT8_MAX <= 1 << 24;
}

static uint32_t reach(const mona_columns *p)
{
    const mona_file_pool *f = &p->bound->op->pool;
    const uint64_t width = p->bound->input[0].width;
    const uint64_t window =
        (kernel_or(f->kernel_w, (uint32_t)width) - 1) * (uint64_t)f->dilation_w + 1;
    const uint64_t all = (uint64_t)(p->outputs - 1) * f->stride_w + window;
    return (uint32_t)(all < width ? all : width);
}

/* What a window without samples gives: 0, or as a maximum the zero of the tensor. */
static uint16_t nothing(const mona_columns *p)
{
    return mona_f16_from_f32(p->bound->output.zero);
}

/* ---- down ----------------------------------------------------------------------------------- */

static void combine(const mona_columns *p, ac_address row)
{
    const uint32_t count = p->in_blocks * p->in_columns * p->in_wide * AC_FRACTAL;
    if (!p->floats) {
        vec2_done(p->core, AC_VMAX, p->best, p->best, row, count, side_by_side);
        return;
    }
    take_zero(p->core, row, p->bound->input[0].zero, count);
    vconv_done(p->core, AC_F16_F32, p->wide, row, count);
    vec2_done(p->core, AC_VADD_F32, p->best, p->best, p->wide, count, side_by_side);
}

static void down(const mona_columns *p, const mona_row_call *call, const pool_window *w,
                 uint32_t block)
{
    const uint32_t halves = p->in_blocks * p->in_columns * p->in_units * AC_FRACTAL;
    const mona_span rows = mona_pool_row_span(p->bound, 0, (mona_span){call->y, call->y + 1});
    const size_t before = block * call->input[0].block_stride;
    dup_done(p->core, p->best, w->rows.count && !p->floats ? LOWEST : nothing(p), halves);
    for (int32_t k = 0; k < w->rows.count; k++) {
        const uint32_t e = (uint32_t)k % 2;
        ac_emit_wait_flag(p->core, AC_PIPE_V, p->reader, e);
        const int64_t row = w->rows.first + k * p->bound->op->pool.dilation_h - rows.begin;
        mona_columns_bring(p, mona_window_at(call, 0, (size_t)row, p->first) + before,
                           call->input[0].block_stride, e);
        ac_emit_sync(p->core, p->reader, AC_PIPE_V, e);
        combine(p, mona_columns_widen(p, e));
        ac_emit_set_flag(p->core, AC_PIPE_V, p->reader, e);
    }
}

/* ---- results -------------------------------------------------------------------------------- */

/* Waits until the results of the piece before are stored. */
static void begin_results(const mona_columns *p)
{
    const uint32_t halves = p->out_blocks * p->out_columns * p->out_units * AC_FRACTAL;
    ac_emit_wait_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
    dup_all(p->core, p->result, p->floats ? 0 : LOWEST, halves);
    if (p->two_parts)
        dup_all(p->core, p->spare[0], 0, halves);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

/* Multiplies the sums of outputs i to end - 1 by one factor. */
static void scale_run(const mona_columns *p, uint32_t i, uint32_t end, float factor)
{
    const uint32_t lanes = FLOAT_LANES / 8 * p->out_units;
    const bool all = end - i == p->outputs;
    const uint32_t count = lanes * (all ? p->out_blocks * p->out_columns : end - i);
    for (uint32_t n = 0; n < (all ? 1 : p->out_blocks); n++) {
        const ac_address at =
            p->result + ((size_t)n * p->out_columns + i) * p->out_units * AC_BLOCK;
        vecs_all(p->core, AC_VMULS_F32, at, at, factor, count);
    }
}

/* Clears the maxima of outputs i to end - 1. */
static void clear_run(const mona_columns *p, uint32_t i, uint32_t end)
{
    for (uint32_t n = 0; n < p->out_blocks; n++)
        dup_all(p->core, p->result + ((size_t)n * p->out_columns + i) * p->out_units * AC_BLOCK,
                nothing(p), (end - i) * p->out_units * AC_FRACTAL);
}

/* Finishes runs of outputs that divide by the same number. */
static void finish_runs(const mona_columns *p, const mona_row_call *call, const pool_window *w)
{
    const pool_span *column = w->column + (p->x - call->x_begin);
    for (uint32_t i = 0, end; i < p->outputs; i = end) {
        for (end = i + 1; end < p->outputs && column[end].divisor == column[i].divisor;)
            end++;
        const int32_t divisor = w->rows.divisor * column[i].divisor;
        if (p->floats)
            scale_run(p, i, end, divisor ? p->bound->op->pool.scale / (float)divisor : 0);
        else if (!column[i].count)
            clear_run(p, i, end);
    }
    ac_emit_barrier(p->core, AC_PIPE_V);
}

/* ---- pieces --------------------------------------------------------------------------------- */

/* Computes p's outputs of channels `channel` and on. */
static void pool_piece(mona_columns *p, const mona_row_call *call, uint32_t channel)
{
    const pool_window w = mona_pool_window(call);
    const mona_span x = mona_pool_column_span(p->bound, 0, (mona_span){p->x, p->x + p->outputs});
    const int64_t begin = x.begin - call->input[0].x_begin;
    p->end = x.begin - begin % mona_columns_aligned(p);
    for (bool begun = false; p->end < x.end; begun = true) {
        p->first = p->end;
        p->end = x.end - p->first > p->most_columns ? p->first + p->most_columns : x.end;
        mona_columns_set_reach(p, (uint32_t)(p->end - p->first));
        down(p, call, &w, channel / p->in_c0);
        if (!begun)
            begin_results(p);
        mona_pool_across(p);
    }
    if (p->two_parts)
        mona_pool_join(p);
    finish_runs(p, call, &w);
    mona_columns_narrow(p);
    mona_columns_store(p, call, 0, channel / p->out_c0);
    ac_emit_set_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
}

void mona_pool_program(const mona_row_call *calls, uint32_t count)
{
    const mona_bound_op *b = calls->bound;
    mona_columns p = mona_columns_of(b, b->op->kind == MONA_OP_AVERAGE_POOL);
    p.core = calls->core;
    p.reach = reach;
    p.combine = mona_pool_combine;
    if (ac_in_gm(mona_input_at(calls, 0).at))
        p.reader = AC_PIPE_MTE2;
    p.two_parts = p.floats && !sums_are_exact(b);
    p.spares = p.two_parts ? 2 : 0;
    p.outputs = (uint32_t)(calls->x_end - calls->x_begin);
    const uint32_t channels = mona_columns_choose(&p);
    mona_columns_clear(&p);
    mona_columns_pieces(&p, calls, count, channels, pool_piece);
}
