// SPDX-License-Identifier: Apache-2.0
/* DEPTH_TO_SPACE between tensors as an AI Core program, by transposes alone.
 *
 * Channel blocks of the input are turned into lanes (lanes.h). Lane j then holds S pixels of the
 * input, and so S b of an output row, b being the factor: pixel q of these, channel c, is row q / b
 * of channel (c b + dy) b + q % b. A lane of a channel block of the output has U = S b c0 / 16
 * units of 16 elements, and an instruction transposes one unit of all lanes. Its repeats are the
 * groups, or other units whose rows lie r rows further on. r is the smallest number of rows that
 * are whole blocks of 32 bytes in the output. With 8 bits these stay in one half of a channel's
 * rows.
 *
 * Output rows of one input row share its lanes, if UB can hold those of a whole channel block of
 * the output. Otherwise they are made for 16 channels at a time, again for each row.
 *
 * Flags, event 0:
 *   V -> MTE1    the input may be copied
 *   MTE1 -> V    the input is in UB
 *   V -> MTE3    a row of a channel block is complete
 *   MTE3 -> V    it has been stored
 *   V -> S, S -> V    the scalar unit stores what fills no block of 32 bytes */
#include "ops/ascend/lanes.h"
#include "ops/ascend/programs.h"
#include "ops/ascend/ub.h"

#include "engine/arith.h"

enum { COLUMNS = 32 /* rings begin at multiples of so many columns (schedule.c) */ };

typedef struct program {
    const mona_row_call *calls; /* those of one input row */
    const mona_bound_op *bound;
    ac_core *core;
    uint32_t factor, element, in_c0, out_c0;
    uint32_t parts;   /* parts of a channel block whose lanes are made at a time: 1 or 2 */
    uint32_t at_once; /* channels of the output in a part */
    int64_t x;        /* the first input column in UB */
    mona_lanes lanes;
    ac_address in, zeros, out;
} program;

/* ---- UB ------------------------------------------------------------------------------------- */

static size_t channel_bytes(const program *p)
{
    return (size_t)p->lanes.groups * LANES_GROUP_BYTES;
}

static uint32_t pixels(const program *p)
{
    return p->lanes.groups * mona_lanes_group_pixels(p->element);
}

/* Lays out UB. Returns the bytes that this takes. */
static size_t lay_out(program *p)
{
    const size_t channel = channel_bytes(p);
    p->in = ac_at(AC_UB, 0);
    p->zeros = p->in + p->in_c0 * channel;
    p->lanes.spare = p->zeros + channel;
    p->lanes.channels = p->lanes.spare + channel;
    p->out = p->lanes.channels + (size_t)p->at_once * p->factor * p->factor * channel;
    return (size_t)ac_offset_of(p->out) + p->out_c0 * p->factor * channel;
}

static void set_parts(program *p, uint32_t parts)
{
    p->parts = parts;
    p->at_once = parts > 1 ? AC_FRACTAL : min_u32(p->out_c0, p->bound->output.channels);
}

/* As many groups as the row has or UB can hold. */
static void choose_size(program *p)
{
    const uint32_t ub = ub_room(p->bound->target);
    const uint32_t group = mona_lanes_group_pixels(p->element);
    const int64_t end = ceil_div(p->calls->x_end, p->factor);
    p->lanes.groups = 1;
    set_parts(p, 1);
    if (lay_out(p) > ub) /* then there are 32 channels */
        set_parts(p, 2);
    const uint32_t room = (uint32_t)(ub / lay_out(p));
    p->lanes.groups = min_u32(room, ceil_div_u32((uint32_t)(end - p->x), group));
    lay_out(p);
}

/* ---- in ------------------------------------------------------------------------------------- */

static void bring(const program *p, uint32_t block)
{
    const mona_rows *in = &p->calls->input[0];
    const int64_t end = ceil_div(p->calls->x_end, p->factor), left = end - p->x;
    const size_t column = (size_t)p->in_c0 * p->element;
    const size_t bytes = (size_t)(left < pixels(p) ? left : pixels(p)) * column;
    const ac_address from = mona_window_at(p->calls, 0, 0, p->x) + block * in->block_stride;
    ac_emit_wait_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, AC_EVENT0);
    ac_emit_copy_bytes(p->core, p->in, from, bytes);
    ac_emit_sync(p->core, AC_PIPE_MTE1, AC_PIPE_V, 0);
}

/* Makes the lanes of p->at_once output channels from `first` on. Returns how many of these there
 * are. */
static uint32_t make_lanes(const program *p, uint32_t first)
{
    const uint32_t square = p->factor * p->factor, from = first * square;
    const uint32_t there = min_u32(p->at_once, p->bound->output.channels - first);
    for (uint32_t n = from / p->in_c0; n * p->in_c0 < from + there * square; n++) {
        bring(p, n);
        mona_lanes_from_block(&p->lanes, (int32_t)(n * p->in_c0) - (int32_t)from, there * square,
                              p->in_c0, p->in);
        ac_emit_barrier(p->core, AC_PIPE_V);
        ac_emit_set_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, AC_EVENT0);
    }
    return there;
}

/* ---- out ------------------------------------------------------------------------------------ */

/* The part of a channel block to transpose: channels c_first, c_first + 1, ..., `there` of them in
 * lanes, to row dy of each block. */
typedef struct part {
    uint32_t c_first, there, dy;
} part;

/* Element k of unit g. */
static ac_address row_of(const program *p, const part *t, uint32_t g, uint32_t k)
{
    const uint32_t e = AC_FRACTAL * g + k, q = e / p->out_c0, c = e % p->out_c0 - t->c_first;
    const uint32_t channel = (c * p->factor + t->dy) * p->factor + q % p->factor;
    return (c < t->there ? p->lanes.channels + channel * channel_bytes(p) : p->zeros) +
           q / p->factor % LANES * AC_BLOCK;
}

static uint32_t units(const program *p)
{
    return mona_lanes_group_pixels(p->element) / LANES * p->factor * p->out_c0 / AC_FRACTAL;
}

/* Units beginning with unit g of group `group`, `apart` rows and `apart_out` blocks apart. */
static void turn_units(const program *p, const part *t, uint32_t group, uint32_t g,
                       uint32_t repeats, uint32_t apart, uint32_t apart_out)
{
    const uint32_t of_lane = units(p), of_block = 2 / p->element; /* units in a block of 32 bytes */
    const size_t group_bytes = (size_t)LANES * of_lane / of_block * AC_BLOCK;
    ac_turned rows = {.high = AC_FRACTAL * g / p->out_c0 / p->factor / LANES, .repeat = apart};
    ac_turned blocks = {.high = g % of_block, .repeat = apart_out};
    for (uint32_t i = 0; i < LANES; i++) {
        rows.at[i] = row_of(p, t, g, i) + (size_t)group * LANES_GROUP_BYTES;
        blocks.at[i] = p->out + group * group_bytes + (of_lane * i + g) / of_block * AC_BLOCK;
    }
    turn_all(p->core, p->element, &blocks, &rows, repeats);
}

/* Whether the part has channels of this unit. */
static bool is_in(const program *p, uint32_t first, uint32_t g)
{
    return p->parts == 1 || AC_FRACTAL * g % p->out_c0 == first;
}

static void turn_part(const program *p, const part *t)
{
    const uint32_t of_lane = units(p), of_block = 2 / p->element, groups = p->lanes.groups;
    const uint32_t line = p->factor * p->out_c0; /* elements that a row of lanes gives */
    uint32_t r = 1;
    while (line * r % (AC_FRACTAL * of_block))
        r *= 2;
    const uint32_t stride = LANES * of_lane / of_block, halves = of_lane / of_block;
    const bool over_groups = r >= LANES || (stride <= UINT8_MAX && groups > LANES / r);
    for (uint32_t g = 0; g < of_lane; g++) {
        if (!is_in(p, t->c_first, g))
            continue;
        if (over_groups)
            turn_units(p, t, 0, g, groups, LANES_GROUP_BYTES / AC_BLOCK, stride);
        else if (g % halves < r * line / AC_FRACTAL)
            for (uint32_t group = 0; group < groups; group++)
                turn_units(p, t, group, g, LANES / r, r, r * line / AC_FRACTAL / of_block);
    }
    ac_emit_barrier(p->core, AC_PIPE_V);
}

static void store(const program *p, const mona_row_call *call, uint32_t block)
{
    const mona_row_at row = mona_output_at(call);
    const int64_t first = p->x * p->factor, all = first + (int64_t)pixels(p) * p->factor;
    const int64_t begin = clip_to(call->x_begin, first, all),
                  end = clip_to(call->x_end, begin, all);
    const size_t column = (size_t)p->out_c0 * p->element;
    const uint32_t bytes = (uint32_t)((size_t)(end - begin) * column);
    const ac_address from = p->out + (size_t)(begin - first) * column;
    const ac_address to =
        row.at + block * row.block_stride + (size_t)(begin - call->x_begin) * column;
    mona_store_rows(p->core, (mona_steps){to, 0}, (mona_steps){from, 0}, 1, bytes);
    ac_emit_set_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* One channel block of the output rows of `count` calls, in the columns that UB holds. */
static void expand_block(const program *p, uint32_t count, uint32_t block)
{
    const uint32_t channels = p->bound->output.channels, first = block * p->out_c0;
    part t = {0};
    for (uint32_t i = 0; i < count; i++) {
        ac_emit_wait_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
        t.dy = (uint32_t)(p->calls[i].y % p->factor);
        for (uint32_t k = 0; k < p->parts; k++) {
            t.c_first = k * p->at_once;
            if (p->parts > 1 || !i)
                t.there = first + t.c_first < channels ? make_lanes(p, first + t.c_first) : 0;
            turn_part(p, &t);
        }
        store(p, &p->calls[i], block);
    }
}

/* Of `count` calls with the same input row. */
static void expand_row(program *p, uint32_t count)
{
    const uint32_t blocks = ceil_div_u32(p->bound->output.channels, p->out_c0);
    for (; p->x * p->factor < p->calls->x_end; p->x += pixels(p))
        for (uint32_t n = 0; n < blocks; n++)
            expand_block(p, count, n);
}

void mona_depth_to_space_program(const mona_row_call *calls, uint32_t count)
{
    const mona_bound_op *b = calls->bound;
    const int64_t factor = b->op->block, x = calls->x_begin / factor / COLUMNS * COLUMNS;
    program p = {.calls = calls,
                 .bound = b,
                 .core = calls->core,
                 .factor = b->op->block,
                 .element = (uint32_t)mona_type_size(b->output.type),
                 .in_c0 = b->input_c0[0],
                 .out_c0 = b->output_c0,
                 .x = x};
    p.lanes.core = p.core;
    p.lanes.element = p.element;
    choose_size(&p);
    dup_all(
        p.core, p.in, 0,
        (uint32_t)((p.in_c0 + 1) * channel_bytes(&p) / sizeof(uint16_t))); /* p.in and p.zeros */
    ac_emit_barrier(p.core, AC_PIPE_V);
    mona_flag_buffers(p.core, AC_PIPE_MTE1, 1, ac_emit_set_flag);
    for (uint32_t i = 0, same; i < count; i += same) {
        for (same = 1; i + same < count && calls[i + same].y / factor == calls[i].y / factor;)
            same++;
        p.calls = calls + i;
        p.x = x;
        expand_row(&p, same);
    }
    mona_flag_buffers(p.core, AC_PIPE_MTE1, 1, ac_emit_wait_flag);
}
