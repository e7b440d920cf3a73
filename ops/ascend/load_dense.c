// SPDX-License-Identifier: Apache-2.0
/* LOAD of one plane of 8 bits into a tensor of one channel and the same type. A row of the tensor
 * equals the row of the plane, and MTE2 copies it. A rest that does not fill a block of 32 bytes
 * goes through UB, where padding takes the place of what follows: those columns are padding or not
 * computed yet. */
#include "ops/ascend/programs.h"
#include "ops/ascend/scalar.h"
#include "ops/ascend/ub.h"

bool mona_load_is_dense(const mona_bound_op *b)
{
    return b->op->input_count == 1 && b->output_c0 == 1 && b->op->load.block[0] == 1 &&
           b->input[0].type == b->output.type && mona_type_size(b->output.type) == 1;
}

static ac_address plane_row(const mona_row_call *call)
{
    return mona_plane_at(call, 0, 0, call->y, call->x_begin);
}

static uint32_t pixels_of(const mona_row_call *call)
{
    return (uint32_t)(call->x_end - call->x_begin);
}

/* How many rows, from the first on, lie at equal distances in the ring. */
static uint32_t even_rows(const mona_row_call *calls, uint32_t count, ptrdiff_t *step)
{
    uint32_t rows = 1;
    *step = count > 1 ? (ptrdiff_t)(mona_output_at(&calls[1]).at - mona_output_at(calls).at) : 0;
    while (rows < count && (ptrdiff_t)(mona_output_at(&calls[rows]).at -
                                       mona_output_at(&calls[rows - 1]).at) == *step)
        rows++;
    return rows;
}

static void load_blocks(const mona_row_call *calls, uint32_t count, uint32_t bytes)
{
    for (uint32_t i = 0, rows; i < count; i += rows) {
        mona_steps to = {.at = mona_output_at(&calls[i]).at};
        rows = even_rows(&calls[i], count - i, &to.step);
        mona_copy_rows(calls->core, to,
                       (mona_steps){plane_row(&calls[i]), calls->planes[0].row_stride}, rows,
                       bytes);
    }
}

/* Loads the last `rest` bytes of every row. UB: [row][32]. */
static void load_rest(const mona_row_call *calls, uint32_t count, uint32_t rest)
{
    ac_core *core = calls->core;
    const uint32_t whole = pixels_of(calls) - rest;
    const ac_address ub = ac_at(AC_UB, 0);
    mona_copy_rows(core, (mona_steps){ub, AC_BLOCK},
                   (mona_steps){plane_row(calls) + whole, calls->planes[0].row_stride}, count,
                   AC_BLOCK);
    ac_emit_sync(core, AC_PIPE_MTE2, AC_PIPE_V, 0);
    mona_fill_tails(core, ub, rest, count, AC_BLOCK, (uint16_t)mona_padding(&calls->bound->output));
    ac_emit_sync(core, AC_PIPE_V, AC_PIPE_MTE3, 0);
    for (uint32_t i = 0; i < count; i++)
        ac_emit_copy_bytes(core, mona_output_at(&calls[i]).at + whole, ub + i * AC_BLOCK, AC_BLOCK);
}

void mona_load_dense(const mona_row_call *calls, uint32_t count)
{
    const uint32_t pixels = pixels_of(calls), rest = pixels % AC_BLOCK;
    if (rest)
        ac_emit_barrier(calls->core, AC_PIPE_ALL);
    else /* STOREs may have read the same rows */
        ac_emit_sync(calls->core, AC_PIPE_MTE1, AC_PIPE_MTE2, 0);
    if (pixels > rest)
        load_blocks(calls, count, pixels - rest);
    if (rest)
        load_rest(calls, count, rest);
}
