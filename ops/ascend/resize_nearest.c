// SPDX-License-Identifier: Apache-2.0
/* RESIZE to the nearest, by a whole number n, as an AI Core program: nothing is computed. Where a
 * column is a block of 32 bytes, the vector unit writes every column of a row n times, n columns
 * apart, and the row is stored for each of the output rows that are the same.
 *
 * Flags, event e of two rows that take turns:
 *   MTE1 -> V     the row is in UB
 *   V -> MTE1     it has been used
 *   V -> MTE3     the wide row is complete
 *   MTE3 -> V     it has been stored */
#include "ops/ascend/programs.h"
#include "ops/ascend/ub.h"
#include "ops/ascend/vectors.h"
#include "ops/resize.h"

enum { TURNS = 2, MAX_TIMES = UINT8_MAX / 8 /* strides of a repeat */ };

/* Channel blocks [block, block + blocks) of input columns [first, first + columns), which become
 * output columns from `first` * times on. */
typedef struct piece {
    ac_core *core;
    const mona_bound_op *bound;
    uint32_t times, block, blocks, columns, turn;
    int64_t first;
    ac_address in[TURNS], out[TURNS];
} piece;

static uint32_t times_of(const mona_bound_op *b)
{
    return b->output.width / b->input[0].width;
}

bool mona_resize_is_nearest(const mona_bound_op *b)
{
    const uint32_t times = times_of(b), size = (uint32_t)mona_type_size(b->output.type);
    const int32_t *first = mona_resize_first(b);
    if (mona_resize_taps(b) != 1 || times < 1 || times > MAX_TIMES ||
        b->output.width != times * b->input[0].width || b->input_c0[0] != b->output_c0 ||
        b->output_c0 * size != AC_BLOCK)
        return false;
    for (uint32_t x = 0; x < b->output.width; x++)
        if (first[x] != (int32_t)(x / times))
            return false;
    return true;
}

/* The rows of UB lie one after another, those of a channel block after those of the last. */
static void bring(const piece *p, const mona_row_call *call)
{
    const mona_rows *in = &call->input[0];
    const ac_address from = mona_window_at(call, 0, 0, p->first) + p->block * in->block_stride;
    const uint32_t bytes = p->columns * AC_BLOCK;
    ac_emit_wait_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, p->turn);
    mona_copy_rows(p->core, (mona_steps){p->in[p->turn], bytes},
                   (mona_steps){from, (ptrdiff_t)in->block_stride}, p->blocks, bytes);
    ac_emit_sync(p->core, AC_PIPE_MTE1, AC_PIPE_V, p->turn);
}

static void widen(const piece *p)
{
    const ac_address from = p->in[p->turn], to = p->out[p->turn];
    const uint8_t n = (uint8_t)p->times;
    const ac_vector apart = {.dst_block = n,
                             .a_block = 1,
                             .b_block = 1,
                             .dst_repeat = (uint8_t)(8 * n),
                             .a_repeat = 8,
                             .b_repeat = 8};
    ac_emit_wait_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, p->turn);
    for (uint32_t i = 0; i < n; i++)
        vec2_all(p->core, AC_VOR, to + i * AC_BLOCK, from, from,
                 p->blocks * p->columns * AC_FRACTAL, apart);
    ac_emit_set_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, p->turn);
    ac_emit_sync(p->core, AC_PIPE_V, AC_PIPE_MTE3, p->turn);
}

static void store(const piece *p, const mona_row_call *call)
{
    const mona_row_at o = mona_output_at(call);
    const int64_t begin = p->first * p->times, end = begin + (int64_t)p->columns * p->times;
    const int64_t from = begin > call->x_begin ? begin : call->x_begin;
    const int64_t last = end < call->x_end ? end : call->x_end;
    mona_copy_rows(
        p->core,
        (mona_steps){o.at + p->block * o.block_stride + (uint64_t)(from - call->x_begin) * AC_BLOCK,
                     (ptrdiff_t)o.block_stride},
        (mona_steps){p->out[p->turn] + (uint64_t)(from - begin) * AC_BLOCK,
                     (ptrdiff_t)(end - begin) * AC_BLOCK},
        p->blocks, (uint32_t)(last - from) * AC_BLOCK);
}

static void resize_piece(piece *p, const mona_row_call *calls, uint32_t count)
{
    for (uint32_t i = 0; i < count; p->turn ^= 1) {
        const ac_address row = calls[i].input[0].at[0];
        bring(p, &calls[i]);
        widen(p);
        for (; i < count && calls[i].input[0].at[0] == row; i++)
            store(p, &calls[i]);
        ac_emit_set_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, p->turn);
    }
}

/* Lays out UB for as many columns and then channel blocks as it has room for. */
static piece piece_of(const mona_row_call *call, uint32_t columns, uint32_t blocks)
{
    const mona_bound_op *b = call->bound;
    const uint32_t times = times_of(b), column = TURNS * (1 + times) * AC_BLOCK;
    const uint32_t room = ub_room(b->target) / column;
    piece p = {.core = call->core, .bound = b, .times = times};
    ac_address at = ac_at(AC_UB, 0);
    p.columns = min_u32(columns, room);
    p.blocks = min_u32(blocks, room / p.columns);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        p.in[turn] = take(&at, (size_t)p.blocks * p.columns * AC_BLOCK);
        p.out[turn] = take(&at, (size_t)p.blocks * p.columns * times * AC_BLOCK);
    }
    return p;
}

void mona_resize_nearest_program(const mona_row_call *calls, uint32_t count)
{
    const mona_bound_op *b = calls->bound;
    const int64_t first = calls->x_begin / times_of(b),
                  end = (calls->x_end + times_of(b) - 1) / times_of(b);
    const uint32_t blocks = ceil_div_u32(b->output.channels, b->output_c0);
    piece p = piece_of(calls, (uint32_t)(end - first), blocks);
    const uint32_t columns = p.columns, at_once = p.blocks;
    mona_flag_buffers(p.core, AC_PIPE_MTE1, 2, ac_emit_set_flag);
    for (p.block = 0; p.block < blocks; p.block += at_once)
        for (p.first = first; p.first < end; p.first += columns) {
            p.blocks = min_u32(blocks - p.block, at_once);
            p.columns = min_u32((uint32_t)(end - p.first), columns);
            resize_piece(&p, calls, count);
        }
    mona_flag_buffers(p.core, AC_PIPE_MTE1, 2, ac_emit_wait_flag);
}
