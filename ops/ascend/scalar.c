// SPDX-License-Identifier: Apache-2.0
/* See scalar.h. */
#include "ops/ascend/scalar.h"

#include "engine/arith.h"
#include "ops/ascend/ub.h"
#include "ops/ascend/vectors.h"

enum {
    TAIL = AC_BLOCK,                       /* the last block of the room is a mask for tails */
    HALF = (AC_SCALAR_UB_BYTES - TAIL) / 2 /* bytes for what is read, and for what is written */
           / AC_BLOCK * AC_BLOCK,
};

/* Two halves of UB. */
typedef struct room {
    ac_core *core;
    ac_address read, written;
    uint32_t bytes; /* of each */
} room;

static room small_room(ac_core *core)
{
    const ac_address at = ac_at(AC_UB, ub_room(core->target));
    return (room){core, at, at + HALF, HALF};
}

/* Elements `step` bytes apart, of one operand. */
typedef struct elements {
    ac_address at;
    uint32_t step, size;
} elements;

/* How many elements fit so many bytes, wherever in a block the first one lies; at least 1. */
static uint32_t most(const elements *e, uint32_t bytes)
{
    return !ac_in_gm(e->at) || !e->step ? UINT32_MAX : (bytes - AC_BLOCK - e->size) / e->step + 1;
}

/* Where the elements of an operand lie when its blocks are in UB. */
static ac_address in_room(const elements *e, ac_address half)
{
    return ac_in_gm(e->at) ? half + e->at % AC_BLOCK : e->at;
}

/* To UB, or back. */
static void copy(const room *r, const elements *e, uint32_t count, ac_address half, bool back)
{
    const uint32_t lead = (uint32_t)(e->at % AC_BLOCK);
    const uint32_t bytes = lead + (count - 1) * e->step + e->size;
    const ac_address gm = e->at - lead;
    if (ac_in_gm(e->at))
        ac_emit_copy_bytes(r->core, back ? gm : half, back ? half : gm, bytes);
}

/* Whether elements leave nothing of their blocks as it was. */
static bool fills_blocks(const elements *e, uint32_t count)
{
    return e->step == e->size && e->at % AC_BLOCK == 0 && count * e->size % AC_BLOCK == 0;
}

static void move_in(const room *r, ac_address to, ac_address from, ac_move m)
{
    elements dst = {to, m.dst_step, m.bytes};
    elements src = {from, m.src_step, m.bytes};
    const uint32_t all = m.count;
    if (!ac_in_gm(dst.at) && !ac_in_gm(src.at)) {
        ac_emit_move(r->core, to, from, m);
        return;
    }
    for (uint32_t done = 0; done < all; done += m.count) {
        m.count = min_u32(all - done, min_u32(most(&dst, r->bytes), most(&src, r->bytes)));
        dst.at = to + (uint64_t)done * dst.step, src.at = from + (uint64_t)done * src.step;
        ac_emit_barrier(r->core, AC_PIPE_ALL);
        copy(r, &src, m.count, r->read, false);
        if (!fills_blocks(&dst, m.count))
            copy(r, &dst, m.count, r->written, false);
        ac_emit_barrier(r->core, AC_PIPE_ALL);
        ac_emit_move(r->core, in_room(&dst, r->written), in_room(&src, r->read), m);
        ac_emit_barrier(r->core, AC_PIPE_ALL);
        copy(r, &dst, m.count, r->written, true);
    }
    ac_emit_barrier(r->core, AC_PIPE_ALL);
}

void mona_scalar_move(ac_core *core, ac_address to, ac_address from, ac_move m)
{
    const room r = small_room(core);
    move_in(&r, to, from, m);
}

void mona_scalar_move_through(ac_core *core, ac_address to, ac_address from, ac_move m)
{
    const uint32_t half = ub_room(core->target) / 2 / AC_BLOCK * AC_BLOCK;
    const room r = {core, ac_at(AC_UB, 0), ac_at(AC_UB, half), half};
    move_in(&r, to, from, m);
}

void mona_scalar_fill(ac_core *core, ac_address to, ac_fill f)
{
    const room r = small_room(core);
    elements dst = {to, f.step, f.bytes};
    const uint32_t all = f.count;
    if (!ac_in_gm(dst.at)) {
        ac_emit_fill(core, to, f);
        return;
    }
    for (uint32_t done = 0; done < all; done += f.count) {
        f.count = min_u32(all - done, most(&dst, r.bytes));
        dst.at = to + (uint64_t)done * dst.step;
        ac_emit_barrier(core, AC_PIPE_ALL);
        copy(&r, &dst, f.count, r.written, false);
        ac_emit_barrier(core, AC_PIPE_ALL);
        ac_emit_fill(core, in_room(&dst, r.written), f);
        ac_emit_barrier(core, AC_PIPE_ALL);
        copy(&r, &dst, f.count, r.written, true);
    }
    ac_emit_barrier(core, AC_PIPE_ALL);
}

void mona_scalar_fill_up(ac_core *core, const mona_row_at *row, uint32_t channels, uint32_t pixels)
{
    const uint32_t size = (uint32_t)mona_type_size(row->type);
    for (uint32_t c = channels; c % row->c0; c++)
        mona_scalar_fill(core, mona_channel_at(row, c),
                         (ac_fill){.count = pixels, .bytes = size, .step = row->c0 * size});
}

/* ---- tails ----------------------------------------------------------------------------------- */

/* A block of which the first `bytes` bytes are of one word and the others of another one. */
static ac_address make_block(ac_core *core, uint32_t bytes, uint16_t first, uint16_t others)
{
    const ac_address block = ac_at(AC_UB, core->target->ub_bytes - TAIL);
    ac_emit_barrier(core, AC_PIPE_V);
    dup_done(core, block, others, AC_FRACTAL);
    if (bytes % 2)
        dup_all(core, block, (uint16_t)((first & UINT8_MAX) | (others & ~UINT8_MAX)),
                bytes / 2 + 1);
    ac_emit_barrier(core, AC_PIPE_V);
    dup_done(core, block, first, bytes / 2);
    return block;
}

/* An instruction takes a block of each row, as many rows as it has repeats. */
static void combine(ac_core *core, ac_vec2 op, ac_address block, ac_address with, uint32_t rows,
                    size_t step)
{
    const size_t blocks = step / AC_BLOCK;
    const uint32_t most_rows = blocks <= UINT8_MAX ? AC_MAX_REPEAT : 1;
    for (uint32_t done = 0, count; done < rows; done += count) {
        count = min_u32(rows - done, most_rows);
        const uint8_t stride = (uint8_t)(count > 1 ? blocks : 1);
        const ac_address at = block + done * step;
        ac_emit_vec2(core, op, at, at, with,
                     (ac_vector){.repeat = (uint8_t)count,
                                 .lanes = AC_FRACTAL,
                                 .dst_block = 1,
                                 .a_block = 1,
                                 .dst_repeat = stride,
                                 .a_repeat = stride});
    }
    ac_emit_barrier(core, AC_PIPE_V);
}

void mona_fill_tails(ac_core *core, ac_address block, uint32_t bytes, uint32_t rows, size_t step,
                     uint16_t word)
{
    combine(core, AC_VAND, block, make_block(core, bytes, UINT16_MAX, 0), rows, step);
    if (word)
        combine(core, AC_VOR, block, make_block(core, bytes, 0, word), rows, step);
}
