// SPDX-License-Identifier: Apache-2.0
/* Parts of CONCAT and SLICE that are not whole channel blocks, as an AI Core program: L1 or global
 * memory -> UB -> lanes -> channel blocks (lanes.h).
 *
 * A channel block of the output is collected in lanes from the blocks of inputs that hold its
 * channels. What these hold besides goes to a channel that nobody reads. Channels that fill up the
 * last block are zeros.
 *
 * A piece is a number of rows, or a number of groups of pixels of one row. UB has two slots for the
 * inputs of each reader, MTE1 or MTE2, and two for results, so that copies run beside transposes.
 *
 * Flags, event e for slot e:
 *   reader -> V    the slot is full
 *   V -> reader    the slot is empty
 *   MTE3 -> V      the result has been stored */
#include "ops/ascend/lanes.h"
#include "ops/ascend/programs.h"
#include "ops/ascend/ub.h"

#include "engine/arith.h"

enum { READERS = 2 };

typedef struct program {
    const mona_bound_op *bound;
    ac_core *core;
    uint32_t parts; /* a bit for each input whose part is moved */
    uint32_t element, in_c0;
    uint32_t groups; /* in UB: first the most that fit, then those that are needed */
    mona_lanes lanes;
    ac_address in[READERS][2], out[2], zeros, unread;
    uint32_t in_slot[READERS], out_slot;
} program;

static ac_pipe pipe_of(uint32_t reader)
{
    return reader ? AC_PIPE_MTE2 : AC_PIPE_MTE1;
}

/* ---- UB ------------------------------------------------------------------------------------- */

static void lay_out(program *p)
{
    const size_t group = (size_t)p->groups * LANES_GROUP_BYTES, c0 = p->bound->output_c0;
    ac_address at = ac_at(AC_UB, 0);
    for (uint32_t i = 0; i < READERS * 2; i++)
        p->in[i / 2][i % 2] = take(&at, group * p->in_c0);
    p->zeros = take(&at, group);
    p->unread = take(&at, group);
    p->out[0] = take(&at, group * c0);
    p->out[1] = take(&at, group * c0);
    p->lanes.channels = at;
}

static program program_of(const mona_row_call *call, uint32_t parts)
{
    const mona_bound_op *b = call->bound;
    program p = {.bound = b, .core = call->core, .parts = parts};
    p.element = (uint32_t)mona_type_size(b->output.type);
    for (uint32_t i = 0; i < b->op->input_count; i++)
        p.in_c0 = b->input_c0[i] > p.in_c0 ? b->input_c0[i] : p.in_c0;
    p.lanes = (mona_lanes){.core = call->core, .element = p.element};
    p.groups =
        ub_room(b->target) / (LANES_GROUP_BYTES * (READERS * 2 * p.in_c0 + 2 + 3 * b->output_c0));
    return p;
}

/* Copies begin at blocks of 32 bytes. */
bool mona_channels_lie_at_blocks(const mona_row_call *call, uint32_t parts)
{
    ac_address at = mona_output_at(call).at;
    for (uint32_t i = 0; i < call->bound->op->input_count; i++)
        if (parts >> i & 1)
            at |= mona_input_at(call, i).at;
    return at % AC_BLOCK == 0;
}

/* ---- in ------------------------------------------------------------------------------------- */

/* Adds channel block `block` of a part's input to the lanes, which are those of the output's
 * channels from `first` on. */
static void add_block(program *p, const mona_piece *k, const mona_channels *t, uint32_t block,
                      uint32_t first)
{
    const uint32_t c0 = p->bound->input_c0[t->input];
    const size_t column = (size_t)c0 * p->element, skip = (size_t)(k->x - k->calls->x_begin);
    const mona_row_at at = mona_input_at(k->calls, t->input);
    const uint32_t reader = ac_in_gm(at.at), e = p->in_slot[reader];
    p->in_slot[reader] ^= 1;
    ac_emit_wait_flag(p->core, AC_PIPE_V, pipe_of(reader), e);
    for (uint32_t row = 0; row < k->rows; row++) {
        const mona_row_at in = mona_input_at(&k->calls[row], t->input);
        ac_emit_copy_bytes(p->core, p->in[reader][e] + row * k->pitch * column,
                           in.at + block * in.block_stride + skip * column, k->count * column);
    }
    ac_emit_sync(p->core, pipe_of(reader), AC_PIPE_V, e);
    p->lanes.spare = p->unread;
    mona_lanes_from_block(&p->lanes, (int32_t)(block * c0 + t->to) - (int32_t)(t->from + first),
                          min_u32(p->bound->output_c0, t->to + t->count - first), c0,
                          p->in[reader][e]);
    ac_emit_set_flag(p->core, AC_PIPE_V, pipe_of(reader), e);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

/* Brings a part's channels of the output from `first` on. False: it has none. */
static bool add_part(program *p, const mona_piece *k, const mona_channels *t, uint32_t first)
{
    const uint32_t begin = t->to > first ? t->to : first;
    const uint32_t end = min_u32(first + p->bound->output_c0, t->to + t->count);
    const uint32_t c0 = p->bound->input_c0[t->input];
    for (uint32_t c = begin; c < end; c++) {
        const uint32_t from = c - t->to + t->from;
        if (c == begin || from % c0 == 0)
            add_block(p, k, t, from / c0, first);
    }
    return begin < end;
}

/* ---- out ------------------------------------------------------------------------------------ */

static void make_block(program *p, const mona_piece *k, uint32_t first)
{
    const uint32_t c0 = p->bound->output_c0, e = p->out_slot;
    const size_t column = (size_t)c0 * p->element, skip = (size_t)(k->x - k->calls->x_begin);
    p->out_slot ^= 1;
    ac_emit_wait_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, e);
    p->lanes.spare = p->zeros;
    mona_lanes_to_block(&p->lanes, 0, min_u32(c0, p->bound->output.channels - first), c0,
                        p->out[e]);
    for (uint32_t row = 0; row < k->rows; row++) {
        const mona_row_at out = mona_output_at(&k->calls[row]);
        mona_store_rows(
            p->core, (mona_steps){out.at + first / c0 * out.block_stride + skip * column, 0},
            (mona_steps){p->out[e] + row * k->pitch * column, 0}, 1, (uint32_t)(k->count * column));
    }
    ac_emit_set_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, e);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

static void move_piece(void *program_, const mona_piece *k)
{
    program *p = program_;
    const mona_bound_op *b = p->bound;
    p->lanes.groups = k->groups;
    for (uint32_t first = 0; first < b->output.channels; first += b->output_c0) {
        bool any = false;
        for (uint32_t i = 0; i < b->op->input_count; i++) {
            const mona_channels t = mona_channels_part(b, i);
            any |= p->parts >> i & 1 && add_part(p, k, &t, first);
        }
        if (any)
            make_block(p, k, first);
    }
}

static void for_slots(const program *p, void (*emit)(ac_core *, ac_pipe, ac_pipe, uint32_t))
{
    for (uint32_t e = 0; e < 2; e++) {
        for (uint32_t reader = 0; reader < READERS; reader++)
            emit(p->core, AC_PIPE_V, pipe_of(reader), e);
        emit(p->core, AC_PIPE_MTE3, AC_PIPE_V, e);
    }
}

void mona_channels_in_lanes(const mona_row_call *calls, uint32_t count, uint32_t parts)
{
    program p = program_of(calls, parts);
    const mona_span columns = {calls->x_begin, calls->x_end};
    p.groups = mona_lanes_groups(columns, count, p.element, p.groups);
    lay_out(&p);
    ac_emit_barrier(p.core, AC_PIPE_ALL);
    dup_done(p.core, ac_at(AC_UB, 0), 0, (uint32_t)(ac_offset_of(p.unread) / 2));
    for_slots(&p, ac_emit_set_flag);
    mona_lanes_pieces(calls, count, columns, p.element, p.groups, move_piece, &p);
    for_slots(&p, ac_emit_wait_flag);
}
