// SPDX-License-Identifier: Apache-2.0
/* CONCAT and SLICE on the chip. Parts of whole blocks go through UB, which has two halves, so that
 * one is filled while the other is emptied. Other parts go through lanes (channels_lanes.c), or,
 * where a row begins within a block of 32 bytes, by the scalar unit, channel by channel.
 *
 * Flags, event h for half h of UB:
 *   MTE1 -> MTE3    the half is full
 *   MTE3 -> MTE1    the half is empty */
#include "ops/ascend/programs.h"
#include "ops/ascend/scalar.h"
#include "ops/ascend/ub.h"
#include "ops/helpers.h"

enum { MAX_BURSTS = 4095 };

/* Moves a part channel by channel. Channels that fill up the last block become zeros. */
static void move_channels(const mona_row_call *call, const mona_channels *p)
{
    const mona_row_at in = mona_input_at(call, p->input);
    const mona_row_at out = mona_output_at(call);
    const uint32_t element = (uint32_t)mona_type_size(out.type);
    const ac_move m = {(uint32_t)(call->x_end - call->x_begin), element, out.c0 * element,
                       in.c0 * element};
    for (uint32_t i = 0; i < p->count; i++)
        mona_scalar_move_through(call->core, mona_channel_at(&out, p->to + i),
                                 mona_channel_at(&in, p->from + i), m);
    if (p->to + p->count == call->bound->output.channels)
        mona_scalar_fill_up(call->core, &out, p->to + p->count, m.count);
}

/* ---- whole blocks ---------------------------------------------------------------------------- */

/* The last block may be partly filled in both; its other channels are zeros. */
static bool is_whole_blocks(const mona_bound_op *b, const mona_channels *p)
{
    const uint32_t c0 = b->output_c0;
    const bool ends =
        p->from + p->count == b->input[p->input].channels && p->to + p->count == b->output.channels;
    return b->input_c0[p->input] == c0 && p->from % c0 == 0 && p->to % c0 == 0 &&
           (p->count % c0 == 0 || ends) && c0 * mona_type_size(b->output.type) % AC_BLOCK == 0;
}

bool mona_channels_are_blocks(const mona_bound_op *b)
{
    bool all = true;
    for (uint32_t i = 0; i < b->op->input_count; i++) {
        const mona_channels t = mona_channels_part(b, i);
        all &= is_whole_blocks(b, &t);
    }
    return all;
}

typedef struct program {
    ac_core *core;
    uint32_t half;    /* size of a half of a reader's share of UB, in blocks of 32 bytes */
    uint32_t slot[2]; /* by reader, MTE1 or MTE2: the half that it fills next */
    bool begun[2];    /* that it fills them */
} program;

/* Both halves are empty when a reader begins, and when it has ended. */
static void flag_halves(const program *p, uint32_t from_gm,
                        void (*flag)(ac_core *, ac_pipe, ac_pipe, uint32_t))
{
    for (uint32_t e = 0; e < 2; e++)
        flag(p->core, AC_PIPE_MTE3, AC_PIPE_MTE1 + from_gm, e);
}

/* Copies `bursts` pieces of `blocks` blocks of 32 bytes through UB. Strides are in bytes. */
static void by_way_of_ub(program *p, ac_address to, size_t to_stride, ac_address from,
                         size_t from_stride, uint32_t bursts, uint32_t blocks)
{
    const bool from_gm = ac_in_gm(from);
    const ac_pipe reader = from_gm ? AC_PIPE_MTE2 : AC_PIPE_MTE1;
    const uint32_t e = p->slot[from_gm];
    const ac_address ub = ac_at(AC_UB, (size_t)(2 * from_gm + e) * p->half * AC_BLOCK);
    ac_copy in = {.bursts = (uint16_t)bursts, .blocks = (uint16_t)blocks}, out = in;
    if (bursts > 1) {
        in.src_gap = (uint16_t)(from_stride / AC_BLOCK - blocks);
        out.dst_gap = (uint16_t)(to_stride / AC_BLOCK - blocks);
    }
    if (!p->begun[from_gm])
        flag_halves(p, from_gm, ac_emit_set_flag);
    p->begun[from_gm] = true;
    ac_emit_wait_flag(p->core, AC_PIPE_MTE3, reader, e);
    ac_emit_copy(p->core, ub, from, in);
    ac_emit_sync(p->core, reader, AC_PIPE_MTE3, e);
    ac_emit_copy(p->core, to, ub, out);
    ac_emit_set_flag(p->core, AC_PIPE_MTE3, reader, e);
    p->slot[from_gm] ^= 1;
}

/* The first rows of these that lie at equal steps in the input and in the output, at most `most`.
 * Sets the bytes of a step. */
static uint32_t rows_apart(const mona_row_call *calls, uint32_t most, uint32_t input, size_t *in,
                           size_t *out)
{
    const ac_address from = mona_input_at(calls, input).at, to = mona_output_at(calls).at;
    uint32_t rows = 1;
    *in = most > 1 ? (size_t)(mona_input_at(&calls[1], input).at - from) : 0;
    *out = most > 1 ? (size_t)(mona_output_at(&calls[1]).at - to) : 0;
    while (rows < most && mona_input_at(&calls[rows], input).at == from + rows * *in &&
           mona_output_at(&calls[rows]).at == to + rows * *out)
        rows++;
    return rows;
}

/* The same of those whose blocks lie at equal steps, too: the next row's first block is as far from
 * the last one of a row as that is from the one before. */
static uint32_t rows_in_step(const mona_row_call *calls, uint32_t most, uint32_t input,
                             uint32_t blocks)
{
    size_t in, out;
    const uint32_t rows = rows_apart(calls, most, input, &in, &out);
    return in == blocks * mona_input_at(calls, input).block_stride &&
                   out == blocks * mona_output_at(calls).block_stride
               ? rows
               : 1;
}

/* Copies rows from map to map, each in one piece together with what lies between its channel
 * blocks, which nobody reads. Returns how many; 0: none. */
static uint32_t copy_maps(program *p, const mona_row_call *calls, uint32_t count,
                          const mona_channels *t, mona_steps to, mona_steps from, uint32_t blocks)
{
    enum { MAX_STEP = UINT16_MAX * AC_BLOCK };
    size_t in, out;
    if (from.step != to.step || blocks >= p->half || !ac_in_gm(from.at) || !ac_in_gm(to.at) ||
        calls->bound->output.height > SMALL_HEIGHT)
        return 0;
    const uint32_t rows = rows_apart(calls, min_u32(count, p->half / blocks), t->input, &in, &out);
    if (rows < 2 || in < blocks * AC_BLOCK || out < blocks * AC_BLOCK || in > MAX_STEP ||
        out > MAX_STEP)
        return 0;
    by_way_of_ub(p, to.at, out, from.at, in, rows, blocks);
    return rows;
}

/* Copies the first of these rows, or several from a map. Returns how many. */
static uint32_t copy_blocks(program *p, const mona_row_call *call, uint32_t count,
                            const mona_channels *t)
{
    const mona_row_at in = mona_input_at(call, t->input);
    const mona_row_at out = mona_output_at(call);
    const uint32_t column = out.c0 * (uint32_t)mona_type_size(out.type) / AC_BLOCK;
    const uint32_t row = (uint32_t)(call->x_end - call->x_begin) * column;
    const uint32_t blocks = (t->count + out.c0 - 1) / out.c0;
    const uint32_t at_once = row < p->half ? p->half / row : 1;
    const ac_address from = in.at + t->from / in.c0 * in.block_stride;
    const ac_address to = out.at + t->to / out.c0 * out.block_stride;
    if (ac_in_gm(from) && ac_space_of(to) == AC_L1) {
        const uint32_t most = call->bound->output.height <= SMALL_HEIGHT ? count : 1;
        const uint32_t rows =
            rows_in_step(call, min_u32(most, MAX_BURSTS / blocks), t->input, blocks);
        mona_copy_rows(p->core, (mona_steps){to, (ptrdiff_t)out.block_stride},
                       (mona_steps){from, (ptrdiff_t)in.block_stride}, rows * blocks,
                       row * AC_BLOCK);
        return rows;
    }
    const uint32_t maps =
        copy_maps(p, call, count, t, (mona_steps){to, (ptrdiff_t)out.block_stride},
                  (mona_steps){from, (ptrdiff_t)in.block_stride},
                  (uint32_t)((blocks - 1) * in.block_stride / AC_BLOCK) + row);
    if (maps)
        return maps;
    for (uint32_t n = 0; n < blocks; n += at_once)
        for (uint32_t x = 0; x < row; x += p->half) {
            const size_t at = (size_t)x * AC_BLOCK;
            by_way_of_ub(p, to + n * out.block_stride + at, out.block_stride,
                         from + n * in.block_stride + at, in.block_stride,
                         min_u32(at_once, blocks - n), min_u32(p->half, row - x));
        }
    return 1;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void move_others(const mona_row_call *calls, uint32_t count, uint32_t parts)
{
    if (mona_channels_lie_at_blocks(calls, parts)) {
        mona_channels_in_lanes(calls, count, parts);
        return;
    }
    for (uint32_t i = 0; i < calls->bound->op->input_count; i++) {
        const mona_channels t = mona_channels_part(calls->bound, i);
        for (uint32_t y = 0; y < count && parts >> i & 1; y++)
            move_channels(&calls[y], &t);
    }
}

/* Whether any input lies in global memory, where an earlier group left it. */
static bool reads_maps(const mona_row_call *call)
{
    bool maps = false;
    for (uint32_t i = 0; i < call->bound->op->input_count; i++)
        maps |= ac_in_gm(mona_input_at(call, i).at);
    return maps;
}

void mona_channels_program(const mona_row_call *calls, uint32_t count)
{
    const mona_bound_op *b = calls->bound;
    const uint32_t readers = reads_maps(calls) ? 2 : 1; /* MTE1, MTE2 */
    program p = {.core = calls->core, .half = ub_room(b->target) / (2 * readers) / AC_BLOCK};
    uint32_t others = 0; /* a bit for each part that is not whole blocks */
    for (uint32_t i = 0; i < b->op->input_count; i++) {
        const mona_channels t = mona_channels_part(b, i);
        if (b->placed >> i & 1)
            continue;
        if (!is_whole_blocks(b, &t))
            others |= 1U << i;
        for (uint32_t y = 0; y < count && !(others >> i & 1);)
            y += copy_blocks(&p, &calls[y], count - y, &t);
    }
    for (uint32_t from_gm = 0; from_gm < 2; from_gm++)
        if (p.begun[from_gm])
            flag_halves(&p, from_gm, ac_emit_wait_flag);
    if (others)
        move_others(calls, count, others);
}
