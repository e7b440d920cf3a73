// SPDX-License-Identifier: Apache-2.0
/* RESIZE as an AI Core program, for tensors of less than 16 channels, hence of one channel block,
 * and scales across of n / d whose weights repeat every n output columns, such as 2, 4 and 1/2.
 * resize_columns.c has the others.
 *
 * The program works on one channel at a time, and in it on one piece: R output rows, one for each
 * call, by some periods of n output columns. The columns of a piece are cut into Q segments of
 * `periods` periods, where Q is the largest power of 2 with Q R <= 16. Lane q R + y is segment q of
 * row y. So every column is a block of 16 lanes, and a shift by a column is a shift of addresses.
 *
 * Steps:
 *   1. Input rows that any call needs are copied from L1 to UB and turned into planes (lanes.h) of
 *      fp16. The scalar unit repeats the samples at the edges of the image.
 *   2. Down. For every tap, 16 rows, one for each lane, are turned into columns and widened to
 *      fp32. A vector of 16 weights, one for each lane, multiplies them, and products are added up.
 *   3. Across. For every phase p < n, columns first(p) + tap + d k with k = 0, 1, ... are
 *      multiplied by one weight for each tap and added up. The sum is output column n k + p.
 *   4. Results are rounded. To integers: adding and subtracting 1.5 * 2^23 rounds fp32 (a sum of
 *      products is far below 2^22), and fp16 holds integers of 8 bits. To fp16: one conversion.
 *   5. Columns are turned back into rows, then into channel blocks (lanes.h), and copied to L1.
 * The order of the roundings is that of mona_resize_row.
 *
 * Input column 0 of a segment is the first of its first period; HALO columns on either side are
 * turned with it. Parts of UB that belong to no row are processed as well; they hold zeros
 * at first.
 *
 * Flags, event 0:
 *   V -> MTE1    the input may be copied
 *   MTE1 -> V    the input is in UB
 *   V -> S       the scalar unit takes its turn
 *   S -> V       its turn has ended
 *   V -> MTE3    a piece is complete
 *   MTE3 -> V    the piece has been stored */
#include "ops/ascend/programs.h"
#include "ops/ascend/resize_program.h"
#include "ops/ascend/scalar.h"

#include "engine/arith.h"
#include "engine/libc.h"

/* ---- which resizes it takes ----------------------------------------------------------------- */

static bool repeats(const mona_bound_op *b, uint32_t n, uint32_t d)
{
    const int32_t *first = mona_resize_first(b);
    const float *weights = mona_resize_weights(b);
    const size_t taps = mona_resize_taps(b);
    for (uint32_t x = n; x < b->output.width; x++)
        if (first[x] != first[x - n] + (int32_t)d ||
            memcmp(weights + x * taps, weights + (x - n) * taps, taps * sizeof *weights))
            return false;
    return true;
}

static program program_of(const mona_row_call *calls, const mona_bound_op *b, uint32_t rows)
{
    const uint32_t *scale = b->op->resize.scale_w;
    const uint32_t divisor = (uint32_t)greatest_divisor(scale[0], scale[1]);
    program p = {.calls = calls,
                 .bound = b,
                 .rows = rows,
                 .taps = mona_resize_taps(b),
                 .n = scale[0] / divisor,
                 .d = scale[1] / divisor,
                 .segments = LANES};
    while (p.segments * rows > LANES)
        p.segments /= 2;
    return p;
}

static void find_reach(program *p)
{
    const int32_t *first = mona_resize_first(p->bound);
    p->lowest = 0;
    p->highest = 0;
    for (uint32_t x = 0; x < p->n; x++) {
        const int32_t after = first[x] + (int32_t)p->taps - (int32_t)p->d;
        p->lowest = first[x] < p->lowest ? first[x] : p->lowest;
        p->highest = after > p->highest ? after : p->highest;
    }
}

/* ---- UB ------------------------------------------------------------------------------------- */

/* Lays out UB for p->periods. Returns the bytes that this takes. Buffers that are never needed at
 * the same time share their place. */
static size_t lay_out(program *p)
{
    const mona_bound_op *b = p->bound;
    const uint32_t group = mona_lanes_group_pixels(element(p)), channels = b->output.channels;
    ac_address at = ac_at(AC_UB, 0);
    p->in_pitch = round_up((size_t)p->segments * p->periods * p->d + 2 * BEFORE, ALIGNED);
    p->out_pitch = round_up((size_t)p->segments * p->periods * p->n, ALIGNED);
    p->in_lanes.groups = (uint32_t)(round_up(p->in_rows * p->in_pitch, group) / group);
    p->out_lanes.groups = (uint32_t)(round_up(p->rows * p->out_pitch, group) / group);
    const size_t in_pixels = (size_t)p->in_lanes.groups * group;
    const size_t out_pixels = (size_t)p->out_lanes.groups * group;
    const size_t max = max_size(in_pixels, out_pixels), made = (size_t)p->periods * p->n;
    const size_t lanes_in = (size_t)p->in_lanes.groups * LANES_GROUP_BYTES;
    const size_t lanes_out = (size_t)p->out_lanes.groups * LANES_GROUP_BYTES;
    p->in = take(&at, in_pixels * b->input_c0[0] * element(p));
    p->in_lanes.channels = take(&at, lanes_in * channels);
    p->in_lanes.spare = take(&at, lanes_in);
    p->samples = take(&at, max * element(p));
    p->wide = take(&at, max * sizeof(uint16_t));
    p->columns = p->made = take(&at, max_size(columns_of(p), made) * LANES * sizeof(uint16_t));
    p->lane_weights = take(&at, 4 * LANES * sizeof(float));
    p->weights = take(&at, 4 * (size_t)FLOAT_LANES * sizeof(float));
    p->tap = p->product = take(&at, columns_of(p) * LANES * sizeof(float));
    p->across = take(&at, (size_t)p->periods * LANES * sizeof(float));
    p->unused = take(&at, made * sizeof(uint16_t));
    p->out_lanes.channels = take(&at, lanes_out * channels);
    p->out_lanes.spare = take(&at, lanes_out);
    const size_t blocks = out_pixels * b->output_c0 * element(p);
    p->blocks = take(&at, max_size(blocks, columns_of(p) * LANES * sizeof(float)));
    p->down = p->blocks;
    return (size_t)ac_offset_of(at);
}

static bool is_periodic(const mona_bound_op *b)
{
    program p = program_of(NULL, b, 1);
    if (b->input_c0[0] >= LANES || b->output_c0 >= LANES)
        return false;
    if (p.n > MAX_RATIO || p.d > MAX_RATIO || b->output.width < p.n || !repeats(b, p.n, p.d))
        return false;
    find_reach(&p);
    p.in_rows = p.taps;
    p.periods = HALO;
    return p.lowest >= -HALO && p.highest <= HALO && lay_out(&p) <= ub_room(b->target);
}

/* ---- input rows as fp16 --------------------------------------------------------------------- */

/* AC_NOWHERE: no call needs that row. */
static ac_address input_row_at(const program *p, int64_t y)
{
    for (uint32_t i = 0; i < p->rows; i++) {
        const mona_row_call *call = &p->calls[i];
        const mona_span window = mona_resize_sources(p->bound, (mona_span){call->y, call->y + 1});
        if (y >= window.begin && y < window.end)
            return mona_window_at(call, 0, (size_t)(y - window.begin), call->input[0].x_begin);
    }
    return AC_NOWHERE;
}

static mona_span output_columns(const program *p)
{
    const int64_t begin = p->period * p->n, end = begin + p->segments * p->periods * p->n;
    const mona_row_call *call = p->calls;
    return (mona_span){begin > call->x_begin ? begin : call->x_begin,
                       end < call->x_end ? end : call->x_end};
}

/* Where an input column lies in a row of UB. */
static size_t place_of(const program *p, int64_t column)
{
    return (size_t)(column - p->period * p->d + BEFORE);
}

/* Copies the input rows to UB. */
static void bring(const program *p)
{
    const uint32_t c0 = p->bound->input_c0[0];
    const size_t column = (size_t)c0 * element(p);
    const mona_rows *in = &p->calls->input[0];
    const mona_span wanted = mona_resize_columns(p->bound, output_columns(p));
    const int64_t begin = wanted.begin / ALIGNED * ALIGNED;
    const size_t bytes = (size_t)(wanted.end - begin) * column;
    dup_all(p->core, p->in, 0, p->in_lanes.groups * (LANES_GROUP_BYTES / 2) * c0);
    sync(p, AC_PIPE_V, AC_PIPE_MTE1);
    for (uint32_t row = 0; row < p->in_rows; row++) {
        const ac_address from = input_row_at(p, p->first_row + row);
        if (from != AC_NOWHERE)
            ac_emit_copy_bytes(p->core, p->in + (row * p->in_pitch + place_of(p, begin)) * column,
                               from + (size_t)(begin - in->x_begin) * column, bytes);
    }
    sync(p, AC_PIPE_MTE1, AC_PIPE_V);
    mona_lanes_from_block(&p->in_lanes, 0, p->bound->output.channels, c0, p->in);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

/* Sets `count` samples from `to` on to the one at `from`. */
static void repeat_sample(const program *p, ac_address to, ac_address from, int64_t count)
{
    if (count > 0)
        ac_emit_move(p->core, to, from, (ac_move){(uint32_t)count, element(p), element(p), 0});
}

/* Repeats the samples at the image's edges, which taps beyond it read. */
static void repeat_edges(const program *p)
{
    const int32_t *first = mona_resize_first(p->bound);
    const mona_span out = output_columns(p), in = mona_resize_columns(p->bound, out);
    const int64_t before = in.begin - first[out.begin];
    const int64_t after = first[out.end - 1] + p->taps - in.end;
    if (before <= 0 && after <= 0)
        return;
    sync(p, AC_PIPE_V, AC_PIPE_S);
    for (uint32_t row = 0; row < p->in_rows; row++) {
        const ac_address begin =
            p->samples + (row * p->in_pitch + place_of(p, in.begin)) * element(p);
        const ac_address end = p->samples + (row * p->in_pitch + place_of(p, in.end)) * element(p);
        repeat_sample(p, begin - (uint64_t)(before * (int64_t)element(p)), begin, before);
        repeat_sample(p, end, end - element(p), after);
    }
    sync(p, AC_PIPE_S, AC_PIPE_V);
}

/* A channel in fp16. */
static ac_address widen(const program *p, uint32_t c)
{
    mona_lanes_to_samples(&p->in_lanes, c, 1, p->samples);
    ac_emit_barrier(p->core, AC_PIPE_V);
    repeat_edges(p);
    return widen_all(p->core, p->bound->output.type, p->wide, p->samples,
                     p->in_lanes.groups * mona_lanes_group_pixels(element(p)));
}

/* ---- out ------------------------------------------------------------------------------------ */

/* Writes channel c of the output from p->wide. */
static void narrow(const program *p, uint32_t c)
{
    const mona_type type = p->bound->output.type;
    narrow_all(p->core, type, p->samples, p->wide,
               p->out_lanes.groups * mona_lanes_group_pixels(element(p)));
    ac_emit_barrier(p->core, AC_PIPE_V);
    mona_lanes_from_samples(&p->out_lanes, c, 1, type == MONA_F16 ? p->wide : p->samples);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

static void store(const program *p)
{
    const uint32_t c0 = p->bound->output_c0;
    const size_t column = (size_t)c0 * element(p);
    const mona_span out = output_columns(p);
    const size_t skip = (size_t)(out.begin - p->period * p->n);
    mona_lanes_to_block(&p->out_lanes, 0, p->bound->output.channels, c0, p->blocks);
    for (uint32_t row = 0; row < p->rows; row++) {
        const ac_address to =
            mona_output_at(&p->calls[row]).at + (size_t)(out.begin - p->calls->x_begin) * column;
        const ac_address from = p->blocks + (row * p->out_pitch + skip) * column;
        mona_store_rows(p->core, (mona_steps){to, 0}, (mona_steps){from, 0}, 1,
                        (uint32_t)((size_t)(out.end - out.begin) * column));
    }
    sync(p, AC_PIPE_MTE3, AC_PIPE_V);
}

static void resize_piece(const program *p)
{
    bring(p);
    for (uint32_t c = 0; c < p->bound->output.channels; c++) {
        mona_resize_down(p, widen(p, c));
        mona_resize_across(p);
        narrow(p, c);
    }
    store(p);
}

/* Periods of a segment: those of the call, if UB has room, else half, a quarter, ... of them. */
static bool choose_periods(program *p, int64_t all)
{
    uint32_t parts = 1;
    do {
        const size_t segments = (size_t)p->segments * parts;
        p->periods = (uint32_t)round_up(((size_t)all + segments - 1) / segments, HALO);
        parts *= 2;
    } while (lay_out(p) > ub_room(p->bound->target) && p->periods > HALO);
    return lay_out(p) <= ub_room(p->bound->target);
}

static bool resize_rows(const mona_row_call *calls, uint32_t count)
{
    const mona_bound_op *b = calls->bound;
    program p = program_of(calls, b, count);
    const mona_span window = mona_resize_sources(b, (mona_span){calls->y, calls->y + count});
    p.core = calls->core;
    p.first_row = window.begin;
    p.in_rows = (uint32_t)(window.end - window.begin);
    p.period = calls->x_begin / ((int64_t)ALIGNED * p.n) * ALIGNED;
    const int64_t end = (calls->x_end + p.n - 1) / p.n;
    find_reach(&p);
    if (!choose_periods(&p, end - p.period))
        return false;
    p.in_lanes.core = p.out_lanes.core = p.core;
    p.in_lanes.element = p.out_lanes.element = element(&p);
    lay_out(&p);
    mona_resize_bring_weights(&p);
    dup_all(p.core, p.wide, 0, (uint32_t)(p.columns - p.wide) / sizeof(uint16_t));
    dup_all(p.core, p.out_lanes.spare, 0, p.out_lanes.groups * (LANES_GROUP_BYTES / 2));
    for (; p.period < end; p.period += (int64_t)p.segments * p.periods)
        resize_piece(&p);
    return true;
}

void mona_resize_program(const mona_row_call *calls, uint32_t count)
{
    if (mona_resize_is_nearest(calls->bound))
        mona_resize_nearest_program(calls, count);
    else if (!is_periodic(calls->bound))
        mona_resize_columns_program(calls, count);
    else if (!resize_rows(calls, count)) {
        mona_resize_program(calls, count / 2);
        mona_resize_program(calls + count / 2, count - count / 2);
    }
}
