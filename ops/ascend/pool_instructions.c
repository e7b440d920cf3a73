// SPDX-License-Identifier: Apache-2.0
/* MAX_POOL and AVERAGE_POOL as an AI Core program.
 *
 * A piece is a run of outputs of one row, in as many channel blocks as UB holds. In UB every column
 * of a channel block is one or two blocks of 16 fp16 values; pixels of fewer than 16 channels are
 * spread to blocks (pixels.h). So a window's columns are blocks at a stride.
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
 *   MTE1 -> V, event e    row e of two is in UB
 *   V -> MTE1, event e    it has been used
 *   V -> MTE3, event 0    a piece is complete
 *   MTE3 -> V, event 0    it has been stored
 *   V -> S, S -> V        the scalar unit stores what fills no block of 32 bytes */
#include "ops/ascend/pool_program.h"
#include "ops/ascend/programs.h"

#include "engine/arith.h"

enum { LOWEST = 0xfbff /* -65504 */ };

static uint32_t kernel_or(uint32_t kernel, uint32_t whole)
{
    return kernel ? kernel : whole;
}

static uint32_t in_size(const program *p)
{
    return (uint32_t)mona_type_size(p->bound->input[0].type);
}

static uint32_t out_size(const program *p)
{
    return (uint32_t)mona_type_size(p->bound->output.type);
}

/* ---- UB ------------------------------------------------------------------------------------- */

static bool sums_are_exact(const mona_bound_op *b)
{
    const mona_file_pool *f = &b->op->pool;
    const uint64_t rows = min_u32(kernel_or(f->kernel_h, b->input[0].height), b->input[0].height);
    const uint64_t columns = min_u32(kernel_or(f->kernel_w, b->input[0].width), b->input[0].width);
    return b->input[0].type == MONA_F16 || rows * columns * UINT8_MAX <= 1 << 24;
}

static program program_of(const mona_bound_op *b)
{
    program p = {.bound = b, .mean = b->op->kind == MONA_OP_AVERAGE_POOL};
    p.in_c0 = b->input_c0[0];
    p.out_c0 = b->output_c0;
    p.in_wide = ceil_div_u32(p.in_c0, AC_FRACTAL);
    p.out_wide = ceil_div_u32(p.out_c0, AC_FRACTAL);
    p.in_units = p.in_wide << p.mean;
    p.out_units = p.out_wide << p.mean;
    p.most_columns = UINT32_MAX;
    p.two_parts = p.mean && !sums_are_exact(b);
    return p;
}

/* Input columns begin at one that lies at a block of 32 bytes. */
static uint32_t aligned_columns(const program *p)
{
    const uint32_t column = p->in_c0 * in_size(p);
    return column < AC_BLOCK ? AC_BLOCK / column : 1;
}

/* Sets the columns of a piece of p->outputs outputs, whose windows reach over `reach` columns. */
static void set_columns(program *p, uint32_t reach)
{
    p->in_columns = (uint32_t)round_up(reach, mona_pixels_group(p->in_c0));
    p->out_columns = (uint32_t)round_up(p->outputs, mona_pixels_group(p->out_c0));
}

static uint32_t max_reach(const program *p)
{
    const mona_file_pool *f = &p->bound->op->pool;
    const uint32_t width = p->bound->input[0].width;
    const uint64_t window = (kernel_or(f->kernel_w, width) - 1) * (uint64_t)f->dilation_w + 1;
    const uint64_t reach = (uint64_t)(p->outputs - 1) * f->stride_w + window;
    return (reach < width ? (uint32_t)reach : width) + aligned_columns(p) - 1;
}

/* Channel blocks of a step: they are as many channels of the input as of the output. */
static void set_blocks(program *p, uint32_t channels)
{
    p->in_blocks = ceil_div_u32(channels, p->in_c0);
    p->out_blocks = ceil_div_u32(channels, p->out_c0);
}

static size_t turned_bytes(const program *p)
{
    return max_size(mona_pixels_turned_bytes(p->in_c0, p->in_columns),
                    mona_pixels_turned_bytes(p->out_c0, p->out_columns));
}

/* Lays out UB for pieces of p->outputs and p's channel blocks. Returns the bytes that this
 * takes. */
static size_t lay_out(program *p)
{
    set_columns(p, min_u32(max_reach(p), p->most_columns));
    const size_t in = (size_t)p->in_blocks * p->in_columns, narrow = in_size(p) == 1;
    const size_t out = (size_t)p->out_blocks * p->out_columns;
    ac_address at = ac_at(AC_UB, 0);
    p->stored[0] = take(&at, in * p->in_c0 * in_size(p));
    p->stored[1] = take(&at, in * p->in_c0 * in_size(p));
    p->packed = take(&at, narrow ? in * p->in_c0 * sizeof(uint16_t) : 0);
    p->spread = take(&at, p->in_c0 < AC_FRACTAL ? in * AC_BLOCK : 0);
    p->turned = take(&at, turned_bytes(p));
    p->wide = take(&at, p->mean ? in * p->in_units * AC_BLOCK : 0);
    p->best = take(&at, in * p->in_units * AC_BLOCK);
    p->result = take(&at, out * p->out_units * AC_BLOCK);
    p->low = take(&at, p->two_parts ? out * p->out_units * AC_BLOCK : 0);
    p->error = take(&at, p->two_parts ? out * p->out_units * AC_BLOCK : 0);
    p->half = p->mean ? take(&at, out * p->out_wide * AC_BLOCK) : p->result;
    p->packed_out =
        p->out_c0 < AC_FRACTAL ? take(&at, out * p->out_c0 * sizeof(uint16_t)) : p->half;
    p->out = out_size(p) == 1 ? take(&at, out * p->out_c0) : p->packed_out;
    return (size_t)ac_offset_of(at);
}

static uint32_t channels_at_once(const program *p)
{
    return p->in_c0 > p->out_c0 ? p->in_c0 : p->out_c0;
}

/* Chooses the largest pieces that fit: first fewer channels, then fewer outputs, whole blocks of 32
 * bytes if possible, then fewer columns of their windows at a time. Returns the channels of a
 * piece. */
static uint32_t choose_piece(program *p, uint32_t outputs)
{
    const uint32_t channels = p->bound->output.channels, unit = channels_at_once(p);
    const uint32_t column = p->out_c0 * out_size(p);
    const uint32_t aligned = column < AC_BLOCK ? AC_BLOCK / column : 1;
    uint32_t units = ceil_div_u32(channels, unit);
    p->outputs = outputs;
    for (;;) {
        set_blocks(p, min_u32(channels, units * unit));
        if (lay_out(p) <= p->bound->target->ub_bytes)
            return units * unit;
        const uint32_t half = (p->outputs + 1) / 2;
        if (units > 1)
            units = (units + 1) / 2;
        else if (p->outputs > 1)
            p->outputs = half > aligned ? (uint32_t)round_up(half, aligned) : half;
        else
            p->most_columns = (uint32_t)round_up(p->in_columns / 2, AC_BLOCK);
    }
}

/* ---- down ----------------------------------------------------------------------------------- */

/* Copies row k of the window to UB, in the piece's columns, from channel block `block` on. */
static void bring(const program *p, const mona_row_call *call, const pool_window *w, int64_t k,
                  uint32_t block, ac_address to)
{
    const size_t column = (size_t)p->in_c0 * in_size(p), stride = call->input[0].block_stride;
    const size_t bytes = round_up((size_t)(p->end - p->first) * column, AC_BLOCK);
    const size_t pitch = p->in_columns * column;
    const ac_address from = ac_read_at(p->core, mona_pool_row(call, w, k, block)) +
                            (uint64_t)((p->first - w->columns.begin) * (int64_t)column);
    mona_copy_rows(p->core, AC_L1_UB, (mona_steps){to, (ptrdiff_t)pitch},
                   (mona_steps){from, (ptrdiff_t)stride}, p->in_blocks, (uint32_t)bytes);
}

/* Gives the row every column in blocks of fp16. */
static ac_address widen(const program *p, ac_address row)
{
    const mona_type type = p->bound->input[0].type;
    const uint32_t count = p->in_blocks * p->in_columns * p->in_c0;
    if (type != MONA_F16) {
        vconv_all(p->core, type == MONA_U8 ? AC_U8_F16 : AC_S8_F16, p->packed, row, count);
        ac_emit_barrier(p->core, AC_PIPE_V);
        row = p->packed;
    }
    if (p->in_c0 == AC_FRACTAL * p->in_wide)
        return row;
    mona_pixels_spread(&(mona_pixels){p->core, p->in_c0, p->in_columns, p->turned}, p->spread, row,
                       false);
    return p->spread;
}

static void combine(const program *p, ac_address row)
{
    const uint32_t count = p->in_blocks * p->in_columns * p->in_wide * AC_FRACTAL;
    if (!p->mean) {
        vec2_all(p->core, AC_VMAX, p->best, p->best, row, count, side_by_side);
        ac_emit_barrier(p->core, AC_PIPE_V);
        return;
    }
    vconv_all(p->core, AC_F16_F32, p->wide, row, count);
    ac_emit_barrier(p->core, AC_PIPE_V);
    for (vectors w = vectors_of(side_by_side, FLOAT_LANES, count); next_vectors(&w);)
        ac_emit_vec2(p->core, AC_VADD_F32, vectors_at(&w, p->best, 8), vectors_at(&w, p->best, 8),
                     vectors_at(&w, p->wide, 8), w.v);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

static void down(const program *p, const mona_row_call *call, const pool_window *w, uint32_t block)
{
    const uint32_t halves = p->in_blocks * p->in_columns * p->in_units * AC_FRACTAL;
    dup_all(p->core, p->best, w->rows.count && !p->mean ? LOWEST : 0, halves, side_by_side);
    ac_emit_barrier(p->core, AC_PIPE_V);
    for (int32_t k = 0; k < w->rows.count; k++) {
        const uint32_t e = (uint32_t)k % 2;
        ac_emit_wait_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, e);
        bring(p, call, w, k, block, p->stored[e]);
        ac_emit_sync(p->core, AC_PIPE_MTE1, AC_PIPE_V, e);
        combine(p, widen(p, p->stored[e]));
        ac_emit_set_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, e);
    }
}

/* ---- results -------------------------------------------------------------------------------- */

/* Waits until the results of the piece before are stored. */
static void begin_results(const program *p)
{
    const uint32_t halves = p->out_blocks * p->out_columns * p->out_units * AC_FRACTAL;
    ac_emit_wait_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
    dup_all(p->core, p->result, p->mean ? 0 : LOWEST, halves, side_by_side);
    if (p->two_parts)
        dup_all(p->core, p->low, 0, halves, side_by_side);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

/* Multiplies the sums of outputs i to end - 1 by one factor. */
static void scale_run(const program *p, uint32_t i, uint32_t end, float factor)
{
    const uint32_t lanes = FLOAT_LANES / 8 * p->out_units;
    const bool all = end - i == p->outputs;
    const uint32_t count = lanes * (all ? p->out_blocks * p->out_columns : end - i);
    for (uint32_t n = 0; n < (all ? 1 : p->out_blocks); n++) {
        const ac_address at =
            p->result + ((size_t)n * p->out_columns + i) * p->out_units * AC_BLOCK;
        for (vectors w = vectors_of(side_by_side, FLOAT_LANES, count); next_vectors(&w);)
            ac_emit_vecs(p->core, AC_VMULS_F32, vectors_at(&w, at, 8), vectors_at(&w, at, 8),
                         factor, w.v);
    }
}

/* Makes zeros of the maxima of outputs i to end - 1. */
static void clear_run(const program *p, uint32_t i, uint32_t end)
{
    for (uint32_t n = 0; n < p->out_blocks; n++)
        dup_all(p->core, p->result + ((size_t)n * p->out_columns + i) * p->out_units * AC_BLOCK, 0,
                (end - i) * p->out_units * AC_FRACTAL, side_by_side);
}

/* Finishes runs of outputs that divide by the same number. */
static void finish_runs(const program *p, const mona_row_call *call, const pool_window *w)
{
    const pool_span *column = w->column + (p->x - call->x_begin);
    for (uint32_t i = 0, end; i < p->outputs; i = end) {
        for (end = i + 1; end < p->outputs && column[end].divisor == column[i].divisor;)
            end++;
        const int32_t divisor = w->rows.divisor * column[i].divisor;
        if (p->mean)
            scale_run(p, i, end, divisor ? p->bound->op->pool.scale / (float)divisor : 0);
        else if (!column[i].count)
            clear_run(p, i, end);
    }
    ac_emit_barrier(p->core, AC_PIPE_V);
}

static void narrow(const program *p)
{
    const mona_type type = p->bound->output.type;
    const uint32_t columns = p->out_blocks * p->out_columns;
    if (p->mean) {
        vconv_all(p->core, AC_F32_F16, p->half, p->result, columns * p->out_wide * AC_FRACTAL);
        ac_emit_barrier(p->core, AC_PIPE_V);
    }
    if (p->out_c0 < AC_FRACTAL)
        mona_pixels_pack(&(mona_pixels){p->core, p->out_c0, p->out_columns, p->turned},
                         p->packed_out, p->half);
    if (type != MONA_F16)
        vconv_all(p->core, type == MONA_U8 ? AC_F16_U8 : AC_F16_S8, p->out, p->packed_out,
                  columns * p->out_c0);
}

/* Only pixels of less than a block leave a part of one, and these have a single channel block. */
static void store(const program *p, const mona_row_call *call, uint32_t block)
{
    const mona_row_at row = mona_place_row(p->core, output_row(call), true);
    const uint32_t column = p->out_c0 * out_size(p), bytes = p->outputs * column;
    const ac_address to =
        row.at + block * row.block_stride + (uint64_t)(p->x - call->x_begin) * column;
    mona_store_rows(p->core, (mona_steps){to, (ptrdiff_t)row.block_stride},
                    (mona_steps){p->out, (ptrdiff_t)p->out_columns * column}, p->out_blocks, bytes);
}

/* ---- pieces --------------------------------------------------------------------------------- */

/* Computes p's outputs of channels `channel` and on. */
static void pool_piece(program *p, const mona_row_call *call, uint32_t channel)
{
    const pool_window w = mona_pool_window(call);
    const mona_span x = mona_pool_column_span(p->bound, 0, (mona_span){p->x, p->x + p->outputs});
    const int64_t begin = x.begin - call->input[0].x_begin;
    p->end = x.begin - begin % aligned_columns(p);
    for (bool begun = false; p->end < x.end; begun = true) {
        p->first = p->end;
        p->end = x.end - p->first > p->most_columns ? p->first + p->most_columns : x.end;
        set_columns(p, (uint32_t)(p->end - p->first));
        down(p, call, &w, channel / p->in_c0);
        if (!begun)
            begin_results(p);
        mona_pool_across(p);
    }
    if (p->two_parts)
        mona_pool_join(p);
    finish_runs(p, call, &w);
    narrow(p);
    store(p, call, channel / p->out_c0);
    ac_emit_set_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
}

/* Of small pixels whole groups are read, and no copy may have filled the last one. */
static void clear(const program *p)
{
    if (p->in_c0 < AC_FRACTAL)
        dup_all(p->core, p->stored[0], 0, (uint32_t)(p->packed - p->stored[0]) / sizeof(uint16_t),
                side_by_side);
    dup_all(p->core, p->turned, 0, (uint32_t)(turned_bytes(p) / sizeof(uint16_t)), side_by_side);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

void mona_pool_program(const mona_row_call *calls, uint32_t count)
{
    program p = program_of(calls->bound);
    const uint32_t channels = p.bound->output.channels;
    const uint32_t at_once = choose_piece(&p, (uint32_t)(calls->x_end - calls->x_begin));
    const uint32_t outputs = p.outputs;
    p.core = calls->core;
    clear(&p);
    for (uint32_t e = 0; e < 2; e++)
        ac_emit_set_flag(p.core, AC_PIPE_V, AC_PIPE_MTE1, e);
    ac_emit_set_flag(p.core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
    for (uint32_t row = 0; row < count; row++)
        for (uint32_t c = 0; c < channels; c += at_once)
            for (p.x = calls->x_begin; p.x < calls->x_end; p.x += outputs) {
                const int64_t left = calls->x_end - p.x;
                p.outputs = left < outputs ? (uint32_t)left : outputs;
                set_blocks(&p, min_u32(channels - c, at_once));
                pool_piece(&p, &calls[row], c);
            }
    for (uint32_t e = 0; e < 2; e++)
        ac_emit_wait_flag(p.core, AC_PIPE_V, AC_PIPE_MTE1, e);
    ac_emit_wait_flag(p.core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
}
