// SPDX-License-Identifier: Apache-2.0
/* See columns.h. */
#include "ops/ascend/columns.h"

#include "engine/arith.h"

static uint32_t in_size(const mona_columns *p)
{
    return (uint32_t)mona_type_size(p->bound->input[0].type);
}

static uint32_t out_size(const mona_columns *p)
{
    return (uint32_t)mona_type_size(p->bound->output.type);
}

mona_columns mona_columns_of(const mona_bound_op *b, bool floats)
{
    mona_columns p = {.bound = b,
                      .reader = AC_PIPE_MTE1,
                      .floats = floats,
                      .rows = 1,
                      .most_columns = UINT32_MAX};
    p.in_c0 = b->input_c0[0];
    p.out_c0 = b->output_c0;
    p.in_wide = ceil_div_u32(p.in_c0, AC_FRACTAL);
    p.out_wide = ceil_div_u32(p.out_c0, AC_FRACTAL);
    p.in_units = p.in_wide << floats;
    p.out_units = p.out_wide << floats;
    return p;
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static uint32_t columns_of_block(uint32_t column)
{
    return column < AC_BLOCK ? AC_BLOCK / column : 1;
}

uint32_t mona_columns_aligned(const mona_columns *p)
{
    return columns_of_block(p->in_c0 * in_size(p));
}

void mona_columns_set_reach(mona_columns *p, uint32_t reach)
{
    p->in_columns = (uint32_t)round_up(reach, mona_pixels_group(p->in_c0));
    p->out_columns = (uint32_t)round_up(p->outputs, mona_pixels_group(p->out_c0));
}

/* They are as many channels of the input as of the output. */
static void set_blocks(mona_columns *p, uint32_t channels)
{
    p->in_blocks = ceil_div_u32(channels, p->in_c0);
    p->out_blocks = ceil_div_u32(channels, p->out_c0);
}

static size_t turned_bytes(const mona_columns *p)
{
    return max_size(mona_pixels_turned_bytes(p->in_c0, p->in_columns),
                    mona_pixels_turned_bytes(p->out_c0, p->rows * p->out_columns));
}

/* Lays out UB for pieces of p->outputs and p's channel blocks. Returns the bytes that this
 * takes. */
static size_t lay_out(mona_columns *p)
{
    const uint32_t reach = p->reach(p), width = p->bound->input[0].width;
    const uint32_t all = min_u32(reach, width) + mona_columns_aligned(p) - 1;
    mona_columns_set_reach(p, min_u32(all, p->most_columns));
    const size_t in = (size_t)p->in_blocks * p->in_columns, narrow = in_size(p) == 1;
    const size_t out = (size_t)p->rows * p->out_blocks * p->out_columns;
    ac_address at = ac_at(AC_UB, 0);
    p->stored[0] = take(&at, in * p->in_c0 * in_size(p));
    p->stored[1] = take(&at, in * p->in_c0 * in_size(p));
    p->packed = take(&at, narrow ? in * p->in_c0 * sizeof(uint16_t) : 0);
    p->spread = take(&at, p->in_c0 < AC_FRACTAL ? in * AC_BLOCK : 0);
    p->turned = take(&at, turned_bytes(p));
    p->wide = take(&at, p->floats ? in * p->in_units * AC_BLOCK : 0);
    p->best = take(&at, p->rows * in * p->in_units * AC_BLOCK);
    p->result = take(&at, out * p->out_units * AC_BLOCK);
    for (uint32_t i = 0; i < p->spares; i++)
        p->spare[i] = take(&at, out * p->out_units * AC_BLOCK);
    p->half = p->floats ? take(&at, out * p->out_wide * AC_BLOCK) : p->result;
    p->packed_out =
        p->out_c0 < AC_FRACTAL ? take(&at, out * p->out_c0 * sizeof(uint16_t)) : p->half;
    p->out = out_size(p) == 1 ? take(&at, out * p->out_c0) : p->packed_out;
    return (size_t)ac_offset_of(at);
}

/* First fewer channels, then fewer outputs, whole blocks of 32 bytes if possible, then fewer
 * columns of the input at a time. */
uint32_t mona_columns_choose(mona_columns *p)
{
    const uint32_t channels = p->bound->output.channels;
    const uint32_t unit = p->in_c0 > p->out_c0 ? p->in_c0 : p->out_c0;
    const uint32_t aligned = columns_of_block(p->out_c0 * out_size(p));
    uint32_t units = ceil_div_u32(channels, unit);
    for (;;) {
        set_blocks(p, min_u32(channels, units * unit));
        if (lay_out(p) <= ub_room(p->bound->target))
            return units * unit;
        const uint32_t half = (p->outputs + 1) / 2;
        if (units > 1)
            units = (units + 1) / 2;
        else if (p->outputs > 1)
            p->outputs = half > aligned ? (uint32_t)round_up(half, aligned) : half;
        else if (p->rows > 1)
            return 0;
        else
            p->most_columns = (uint32_t)round_up(p->in_columns / 2, AC_BLOCK);
    }
}

static void flag_pieces(const mona_columns *p, void (*flag)(ac_core *, ac_pipe, ac_pipe, uint32_t))
{
    for (uint32_t e = 0; e < 2; e++)
        flag(p->core, AC_PIPE_V, p->reader, e);
    flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, 0);
}

void mona_columns_pieces(mona_columns *p, const mona_row_call *calls, uint32_t rows,
                         uint32_t channels, mona_columns_work *work)
{
    const uint32_t outputs = p->outputs, all = p->bound->output.channels;
    flag_pieces(p, ac_emit_set_flag);
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t c = 0; c < all; c += channels)
            for (p->x = calls->x_begin; p->x < calls->x_end; p->x += outputs) {
                p->outputs = min_u32((uint32_t)(calls->x_end - p->x), outputs);
                set_blocks(p, min_u32(all - c, channels));
                work(p, &calls[row], c);
            }
    flag_pieces(p, ac_emit_wait_flag);
}

/* ---- columns -------------------------------------------------------------------------------- */

/* `count` runs of `width` blocks, so many blocks apart in the results and p->best. */
typedef struct runs {
    ac_address result, best;
    uint32_t result_step, best_step, width, count;
} runs;

/* Cycles of an instruction for 8 blocks that lie `step` blocks apart, as they share 16 banks. */
static uint32_t conflicts(uint32_t step)
{
    uint32_t share = 1;
    while (share < 16 && step % (2 * share) == 0)
        share *= 2;
    return share > 2 ? share / 2 : 1;
}

/* A repeat for every run. */
static void take_each(const mona_columns *p, const runs *r)
{
    const bool near = r->result_step <= UINT8_MAX && r->best_step <= UINT8_MAX;
    for (uint32_t i = 0, count; i < r->count; i += count) {
        count = near ? min_u32(r->count - i, AC_MAX_REPEAT) : 1;
        p->combine(p, r->result + (size_t)i * r->result_step * AC_BLOCK,
                   r->best + (size_t)i * r->best_step * AC_BLOCK,
                   (ac_vector){.repeat = (uint8_t)count,
                               .lanes = (uint8_t)(r->width * (mona_columns_lanes(p) / 8)),
                               .dst_block = 1,
                               .b_block = 1,
                               .dst_repeat = (uint8_t)(near ? r->result_step : 1),
                               .b_repeat = (uint8_t)(near ? r->best_step : 1)});
    }
}

/* A repeat for the same block of 8 runs. */
static void take_eight(const mona_columns *p, const runs *r)
{
    const ac_vector strides = {.dst_block = (uint8_t)r->result_step,
                               .b_block = (uint8_t)r->best_step,
                               .dst_repeat = (uint8_t)(8 * r->result_step),
                               .b_repeat = (uint8_t)(8 * r->best_step)};
    for (uint32_t k = 0; k < r->width; k++)
        for (vectors w =
                 vectors_of(strides, mona_columns_lanes(p), r->count * (mona_columns_lanes(p) / 8));
             next_vectors(&w);)
            p->combine(p, vectors_at(&w, r->result + k * AC_BLOCK, w.v.dst_repeat),
                       vectors_at(&w, r->best + k * AC_BLOCK, w.v.b_repeat), w.v);
}

static void take_runs(const mona_columns *p, runs r)
{
    if (r.result_step == r.width && r.best_step == r.width)
        r = (runs){r.result, r.best, 1, 1, 1, r.count * r.width};
    const uint32_t step = max_u32(r.result_step, r.best_step);
    const uint32_t cycles = max_u32(conflicts(r.result_step), conflicts(r.best_step));
    if (8 * step <= UINT8_MAX && r.width * cycles < 8)
        take_eight(p, &r);
    else
        take_each(p, &r);
}

/* One way round or the other, whichever has fewer runs. */
void mona_columns_combine(const mona_columns *p, ac_address results, const mona_columns_run *r)
{
    const uint32_t from = p->in_units, to = p->out_units, planes = p->rows * p->in_blocks;
    const ac_address result = results + (size_t)r->to * to * AC_BLOCK;
    const ac_address best = p->best + (size_t)r->from * from * AC_BLOCK;
    const uint32_t to_step = r->to_step * to, from_step = r->from_step * from;
    const uint32_t to_plane = p->out_columns * to, from_plane = p->in_columns * from;
    const uint32_t units = min_u32(p->in_blocks * from, p->out_blocks * to);
    if (from == to && r->count < planes)
        for (uint32_t i = 0; i < r->count; i++)
            take_runs(p, (runs){result + (size_t)i * to_step * AC_BLOCK,
                                best + (size_t)i * from_step * AC_BLOCK, to_plane, from_plane, from,
                                planes});
    else if (from == to)
        for (uint32_t n = 0; n < planes; n++)
            take_runs(p, (runs){result + (size_t)n * to_plane * AC_BLOCK,
                                best + (size_t)n * from_plane * AC_BLOCK, to_step, from_step, from,
                                r->count});
    else
        for (uint32_t u = 0; u < units; u++)
            take_runs(p, (runs){result + (u / to * to_plane + u % to) * AC_BLOCK,
                                best + (u / from * from_plane + u % from) * AC_BLOCK, to_step,
                                from_step, 1, r->count});
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Small pixels are read in whole groups, and no copy may have filled the last one. */
void mona_columns_clear(const mona_columns *p)
{
    if (p->in_c0 < AC_FRACTAL)
        dup_all(p->core, p->stored[0], 0, (uint32_t)(p->packed - p->stored[0]) / sizeof(uint16_t));
    dup_done(p->core, p->turned, 0, (uint32_t)(turned_bytes(p) / sizeof(uint16_t)));
}

void mona_columns_bring(const mona_columns *p, ac_address from, size_t block_stride, uint32_t e)
{
    const size_t column = (size_t)p->in_c0 * in_size(p);
    const size_t bytes = round_up((size_t)(p->end - p->first) * column, AC_BLOCK);
    mona_copy_rows(p->core, (mona_steps){p->stored[e], (ptrdiff_t)(p->in_columns * column)},
                   (mona_steps){from, (ptrdiff_t)block_stride}, p->in_blocks, (uint32_t)bytes);
}

ac_address mona_columns_widen(const mona_columns *p, uint32_t e)
{
    const ac_address row = widen_all(p->core, p->bound->input[0].type, p->packed, p->stored[e],
                                     p->in_blocks * p->in_columns * p->in_c0);
    if (p->in_c0 == AC_FRACTAL * p->in_wide)
        return row;
    mona_pixels_spread(&(mona_pixels){p->core, p->in_c0, p->in_columns, p->turned}, p->spread, row,
                       false);
    return p->spread;
}

/* Pixels of less than a block have a single channel block. */
void mona_columns_narrow(const mona_columns *p)
{
    const uint32_t columns = p->rows * p->out_blocks * p->out_columns;
    if (p->floats)
        vconv_done(p->core, AC_F32_F16, p->half, p->result, columns * p->out_wide * AC_FRACTAL);
    if (p->out_c0 < AC_FRACTAL)
        mona_pixels_pack(&(mona_pixels){p->core, p->out_c0, p->rows * p->out_columns, p->turned},
                         p->packed_out, p->half);
    narrow_all(p->core, p->bound->output.type, p->out, p->packed_out, columns * p->out_c0);
}

/* Only pixels of less than a block leave a part of one. */
void mona_columns_store(const mona_columns *p, const mona_row_call *call, uint32_t row,
                        uint32_t block)
{
    const mona_row_at o = mona_output_at(call);
    const uint32_t column = p->out_c0 * out_size(p), bytes = p->outputs * column;
    const ac_address to = o.at + block * o.block_stride + (uint64_t)(p->x - call->x_begin) * column;
    const ac_address from = p->out + (size_t)row * p->out_blocks * p->out_columns * column;
    mona_store_rows(p->core, (mona_steps){to, (ptrdiff_t)o.block_stride},
                    (mona_steps){from, (ptrdiff_t)p->out_columns * column}, p->out_blocks, bytes);
}
