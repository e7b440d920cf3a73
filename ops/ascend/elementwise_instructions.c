// SPDX-License-Identifier: Apache-2.0
/* ADD and MUL as an AI Core program, where the operands and the result have the same channel block.
 * Their rows then agree element by element, whatever their types. elementwise_mixed.c does the
 * rest: broadcasts, single pixels, slopes and other channel blocks.
 *
 * A piece is a part of a row of one channel block, as long as UB can hold. Elements beyond the last
 * channel are zeros in both operands and must come out as +0. So CLIP must not change 0, a result
 * of fp16, where a zero has a sign, must have whole channel blocks only, and so must operands with
 * a zero other than 0.
 *
 * UB holds, in this order:
 *   blocks of 16 equal values: zero and the bounds of CLIP
 *   both operands as stored
 *   both operands as fp16
 *   the result
 *
 * Flags, event 0:
 *   MTE1 -> V    the operands are in UB
 *   V -> MTE1    the operands have been used
 *   V -> MTE3    the result is complete
 *   MTE3 -> V    the result has been stored
 *   V -> S       the scalar unit takes its turn
 *   S -> V       its turn has ended */
#include "ops/ascend/programs.h"
#include "ops/ascend/ub.h"
#include "ops/ascend/vectors.h"

enum { BYTES_OF_ELEMENT = 10 /* bytes of UB: two stored, two fp16, one result, at most 2 each */ };

typedef struct program {
    const mona_bound_op *bound;
    const mona_epilogue *epilogue;
    ac_core *core;
    uint32_t room; /* elements of a piece */
    mona_bounds bounds;
    ac_address t[2], stored[2], result;
} program;

static bool keeps_zero(const mona_epilogue *e)
{
    const bool clips = e->activation == MONA_ACT_CLIP || e->activation_after_add == MONA_ACT_CLIP;
    return !clips || (e->clip_min <= 0 && e->clip_max >= 0);
}

/* Whether rows agree element by element. */
static bool agrees(const mona_bound_op *b)
{
    const mona_epilogue *e = b->constants;
    const uint32_t c0 = b->output_c0;
    const bool whole = b->output.channels % c0 == 0;
    const bool zeros = b->input[0].zero || b->input[1].zero;
    return b->input_c0[0] == c0 && b->input_c0[1] == c0 &&
           b->input[1].channels == b->output.channels && !mona_elementwise_one_pixel(b) &&
           e->activation != MONA_ACT_PRELU &&
           (whole || (b->output.type != MONA_F16 && keeps_zero(e) && !zeros));
}

const char *mona_elementwise_program_missing(const mona_bound_op *b)
{
    if (mona_is_function(b->op->epilogue.activation_after_add))
        return "a function follows its sum";
    return agrees(b) || mona_elementwise_mixed_has_program(b)
               ? NULL
               : "its channels do not fit the unified buffer";
}

/* Converts count elements of operand i to fp16 and scales them. */
static ac_address widen(const program *p, uint32_t i, uint32_t count)
{
    const float scale = mona_f32_from_f16(p->bound->op->elementwise.scale[i]);
    const ac_address from =
        widen_all(p->core, p->bound->input[i].type, p->t[i], p->stored[i], count);
    take_zero(p->core, from, p->bound->input[i].zero, count);
    if (scale == 1)
        return from;
    muls_all(p->core, p->t[i], from, scale, count);
    return p->t[i];
}

static void combine(const program *p, uint32_t count)
{
    const mona_epilogue *e = p->epilogue;
    const mona_type type = p->bound->output.type;
    const ac_address a = widen(p, 0, count), b = widen(p, 1, count);
    ac_emit_barrier(p->core, AC_PIPE_V);
    vec2_done(p->core, p->bound->op->kind == MONA_OP_MUL ? AC_VMUL : AC_VADD, p->t[0], a, b, count,
              side_by_side);
    ac_activate(p->core, &p->bounds, e->activation, p->t[0], count);
    ac_activate(p->core, &p->bounds, e->activation_after_add, p->t[0], count);
    if (type == MONA_F16) {
        muls_all(p->core, p->result, p->t[0], e->output_scale, count);
        return;
    }
    if (e->output_scale != 1)
        muls_all(p->core, p->t[0], p->t[0], e->output_scale, count);
    ac_emit_barrier(p->core, AC_PIPE_V);
    add_zero(p->core, p->t[0], p->bound->output.zero, count);
    narrow_all(p->core, type, p->result, p->t[0], count);
}

/* Computes elements [first, first + count) of a row of one channel block. */
static void combine_piece(const program *p, const mona_row_call *call, uint32_t block,
                          uint32_t first, uint32_t count)
{
    ac_emit_wait_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, AC_EVENT0);
    for (uint32_t i = 0; i < 2; i++) {
        const mona_row_at row = mona_input_at(call, i);
        const size_t size = mona_type_size(row.type);
        ac_emit_copy_bytes(p->core, p->stored[i], row.at + block * row.block_stride + first * size,
                           count * size);
    }
    ac_emit_sync(p->core, AC_PIPE_MTE1, AC_PIPE_V, 0);
    ac_emit_wait_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
    combine(p, count);
    ac_emit_set_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, AC_EVENT0);
    const mona_row_at out = mona_output_at(call);
    const uint32_t size = (uint32_t)mona_type_size(out.type);
    mona_store_rows(p->core, (mona_steps){out.at + block * out.block_stride + first * size, 0},
                    (mona_steps){p->result, 0}, 1, count * size);
    ac_emit_set_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
}

static void lay_out(program *p)
{
    ac_address at = ac_at(AC_UB, 0), *const rows[] = {&p->t[0], &p->t[1], &p->stored[0],
                                                      &p->stored[1], &p->result};
    p->bounds = mona_take_bounds(&at);
    const uint64_t bytes = ub_room(p->bound->target) - ac_offset_of(at);
    p->room = (uint32_t)(bytes / BYTES_OF_ELEMENT / AC_REPEAT * AC_REPEAT);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
        *rows[i] = take(&at, 2 * p->room);
    dup_all(p->core, p->bounds.zero, 0, AC_FRACTAL);
    mona_fill_bounds(p->core, &p->bounds, p->epilogue);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

void mona_elementwise_program(const mona_row_call *calls, uint32_t count)
{
    const mona_bound_op *b = calls->bound;
    if (!agrees(b)) {
        mona_elementwise_mixed(calls, count);
        return;
    }
    const uint32_t c0 = b->output_c0, blocks = (b->output.channels + c0 - 1) / c0;
    const uint32_t elements = (uint32_t)(calls->x_end - calls->x_begin) * c0;
    program p = {.bound = b, .epilogue = b->constants, .core = calls->core};
    lay_out(&p);
    mona_flag_buffers(p.core, AC_PIPE_MTE1, 1, ac_emit_set_flag);
    for (uint32_t row = 0; row < count; row++)
        for (uint32_t n = 0; n < blocks; n++)
            for (uint32_t first = 0; first < elements; first += p.room)
                combine_piece(&p, &calls[row], n, first,
                              elements - first < p.room ? elements - first : p.room);
    mona_flag_buffers(p.core, AC_PIPE_MTE1, 1, ac_emit_wait_flag);
}
