// SPDX-License-Identifier: Apache-2.0
/* LOAD as an AI Core program: planes -> UB -> lanes -> channel blocks -> L1 (lanes.h).
 *
 * A *stream* is one row of pixels' samples from one plane: one row of the plane, or with block 2 or
 * 4 one of the 2 or 4 rows. Its samples are `block` channels of the tensor.
 *
 * A *piece* is a number of rows, or a number of groups of pixels of one row, as much as UB can
 * hold. Its rows lie one after another, each beginning at a multiple of 32 pixels. So one copy can
 * bring a stream of all rows, and one transpose can work on all of them. While a stream is turned,
 * the next LOOKAHEAD streams are being copied. Where UB has no room for all channel blocks, some
 * are made after the others; a stream with channels of both is copied twice.
 *
 * Samples of 8 bits stay as they are for a tensor of 8 bits; for one of fp16 they are first widened
 * and scaled. Of blocks of 3 x 3 they are widened for either, as they are not in one half of a
 * block (lanes.h), and channel blocks are narrowed. Samples of 16 bits are two of 8 bits, which are
 * joined in lanes.
 *
 * Copies are of whole blocks of 32 bytes: the columns of a call are extended to multiples of 32
 * pixels on both sides, as far as the plane goes. Rows of planes are whole blocks, of which the
 * last one may end in bytes that are no samples.
 *
 * UB holds the samples of all streams, one widened stream, lanes, and channel blocks. Parts of it
 * that belong to no row are turned as well; they hold zeros first and finite values later.
 *
 * The last block of 32 bytes of an output row may have up to three pixels beyond the row. They must
 * be zeros, as these columns are padding. So what follows a row's samples in a block is cleared.
 * The scalar unit stores the last block of rows whose padding is something else.
 *
 * STOREs of the last strip may still be leaving the upper half of UB. Nothing is written there
 * before make_blocks() has waited for MTE3.
 *
 * Flags:
 *   MTE2 -> V, i % 4    stream i is in UB
 *   V -> MTE2, 0        samples have been used
 *   V -> MTE3, 0        channel blocks are complete
 *   MTE3 -> V, 0        channel blocks have been stored */
#include "ops/ascend/lanes.h"
#include "ops/ascend/programs.h"
#include "ops/ascend/scalar.h"
#include "ops/ascend/ub.h"

enum {
    LOOKAHEAD = 3, /* streams */
    WHOLE = 32,    /* pixels: whole blocks of samples of any size */
};

typedef struct program {
    const mona_bound_op *bound;
    ac_core *core;
    uint32_t in_size, element, out_size; /* bytes of an element: of samples, in lanes, stored */
    uint32_t first, count;               /* channel blocks that are made */
    uint32_t channel;        /* the first one of the streams that have channels of these */
    uint32_t groups;         /* groups in UB: first the most that fit, then those that are needed */
    mona_lanes lanes, bytes; /* bytes: of a stream of 16 bits */
    ac_address samples, wide, number[2], blocks, stored;
    size_t block_bytes; /* bytes of a channel block in UB, as in lanes */
} program;

/* A stream: row `dy` of the block, plane `plane` of an input. */
typedef struct stream {
    uint32_t index, input, plane, dy, block;
    uint32_t channel; /* its first channel; also the number of samples of a pixel in all streams
                         before it */
} stream;

/* ---- sizes ---------------------------------------------------------------------------------- */

static bool is_joined(const program *p)
{
    return p->bound->input[0].type == MONA_U16;
}

/* Lays out UB for p->groups groups. Returns the bytes that this takes. What lies before channel
 * blocks must fit into its lower half. */
static size_t lay_out(program *p)
{
    const mona_bound_op *b = p->bound;
    const size_t group = (size_t)p->groups * LANES_GROUP_BYTES;
    const size_t pixels = (size_t)p->groups * mona_lanes_group_pixels(p->element);
    const bool widened = p->element == 2 && b->input[0].type != MONA_F16;
    uint32_t block = 1;
    for (uint32_t i = 0; i < b->op->input_count; i++)
        block = max_u32(block, b->op->load.block[i]);
    const uint32_t most = p->count * b->output_c0 + 2 * (block - 1);
    const uint32_t channels = min_u32(b->output.channels, most);
    ac_address at = ac_at(AC_UB, 0);
    p->samples = take(&at, pixels * p->in_size * channels);
    p->wide = take(&at, widened ? p->in_size * block * group : 0);
    p->bytes.channels = take(&at, is_joined(p) ? 2 * block * group : 0);
    for (uint32_t i = 0; i < 2; i++)
        p->number[i] = take(&at, is_joined(p) ? 2 * group : 0);
    p->lanes.channels = take(&at, group * channels);
    p->lanes.spare = take(&at, group);
    p->block_bytes = group * b->output_c0;
    p->blocks = take(&at, p->count * p->block_bytes);
    p->stored = p->out_size < p->element ? take(&at, p->count * p->block_bytes / 2) : p->blocks;
    return (size_t)ac_offset_of(at);
}

/* groups: 0: UB does not hold one. */
static program program_of(const mona_bound_op *b, ac_core *core, uint32_t count)
{
    program p = {.bound = b, .core = core, .count = count, .groups = 1};
    p.in_size = (uint32_t)mona_type_size(b->input[0].type);
    p.element = p.out_size = (uint32_t)mona_type_size(b->output.type);
    for (uint32_t i = 0; i < b->op->input_count; i++)
        if (b->op->load.block[i] == 3 || is_joined(&p))
            p.element = sizeof(uint16_t);
    p.lanes = p.bytes = (mona_lanes){.core = core, .element = p.element};
    const size_t of_all = ub_room(b->target) / lay_out(&p);
    const size_t of_half = ub_room(b->target) / 2 / (size_t)ac_offset_of(p.blocks);
    p.groups = (uint32_t)(of_half < of_all ? of_half : of_all);
    return p;
}

/* ---- streams -------------------------------------------------------------------------------- */

/* Goes on to the next stream. False: it has none of the channels that are made. */
static bool next_stream(const program *p, stream *s)
{
    const mona_bound_op *b = p->bound;
    s->index++;
    s->channel += s->block;
    if (++s->dy == s->block) {
        s->dy = 0;
        s->plane++;
    }
    if (s->plane == b->input[s->input].channels) {
        s->plane = 0;
        s->input++;
    }
    if (s->input == b->op->input_count)
        return false;
    s->block = b->op->load.block[s->input];
    return s->channel < (p->first + p->count) * b->output_c0;
}

/* The first one with a channel that is made. */
static stream first_stream(const program *p)
{
    stream s = {.block = p->bound->op->load.block[0]};
    while (s.channel + s.block <= p->first * p->bound->output_c0)
        next_stream(p, &s);
    s.index = 0;
    return s;
}

/* Where a stream's samples lie in UB: one after another, for the groups that the piece fills. */
static ac_address samples_of(const program *p, const stream *s)
{
    const size_t pixels =
        (size_t)p->lanes.groups * mona_lanes_group_pixels(p->element) * p->in_size;
    return p->samples + (s->channel - p->channel) * pixels;
}

static ac_address plane_row(const program *p, const mona_piece *k, const stream *s)
{
    const mona_row_call *call = k->calls;
    return mona_plane_at(call, s->input, s->plane, call->y * s->block + s->dy,
                         k->x * s->block * (int64_t)p->in_size);
}

static void bring(const program *p, const mona_piece *k, const stream *s)
{
    const uint32_t bytes = k->count * s->block * p->in_size;
    const size_t pitch = (size_t)k->pitch * s->block * p->in_size;
    mona_copy_rows(p->core, (mona_steps){samples_of(p, s), (ptrdiff_t)pitch},
                   (mona_steps){plane_row(p, k, s),
                                (ptrdiff_t)s->block * k->calls->planes[s->input].row_stride},
                   k->rows, (uint32_t)round_up(bytes, AC_BLOCK));
    ac_emit_set_flag(p->core, AC_PIPE_MTE2, AC_PIPE_V, s->index % (LOOKAHEAD + 1));
}

/* Makes a channel of lanes of two of bytes, of which a stream has `block` pairs. */
static void join(const program *p, float scale, uint32_t channel, uint32_t k)
{
    const float whole = 0x1.8p23f;
    const uint64_t bytes = (uint64_t)p->lanes.groups * LANES_GROUP_BYTES;
    const uint32_t count = (uint32_t)(bytes / sizeof(uint16_t));
    const ac_address low = p->bytes.channels + 2 * k * bytes, high = low + bytes;
    const ac_address number = p->number[0], upper = p->number[1];
    vconv_done(p->core, AC_F16_F32, number, low, count);
    vconv_done(p->core, AC_F16_F32, upper, high, count);
    vecs_done(p->core, AC_VMULS_F32, upper, upper, 256, count);
    vec2_done(p->core, AC_VADD_F32, number, number, upper, count, side_by_side);
    vecs_done(p->core, AC_VMULS_F32, number, number, scale, count);
    if (p->out_size == 1) {
        vecs_done(p->core, AC_VADDS_F32, number, number, whole, count);
        vecs_done(p->core, AC_VADDS_F32, number, number, -whole, count);
    }
    vconv_done(p->core, AC_F32_F16, p->lanes.channels + channel * bytes, number, count);
}

static void join_stream(const program *p, const stream *s, ac_address samples)
{
    const float scale = mona_f32_from_f16(p->bound->op->load.scale[s->input]);
    const uint32_t count = p->lanes.groups * mona_lanes_group_pixels(p->element) * s->block;
    ac_emit_barrier(p->core, AC_PIPE_V);
    vconv_done(p->core, AC_U8_F16, p->wide, samples, 2 * count);
    mona_lanes_from_samples(&p->bytes, 0, 2 * s->block, p->wide);
    ac_emit_barrier(p->core, AC_PIPE_V);
    for (uint32_t k = 0; k < s->block; k++)
        join(p, scale, s->channel - p->channel + k, k);
}

/* Converts samples to fp16 and scales them. */
static ac_address widen(const program *p, const stream *s)
{
    const mona_type type = p->bound->input[0].type;
    const float scale = mona_f32_from_f16(p->bound->op->load.scale[s->input]);
    const uint32_t count = p->lanes.groups * mona_lanes_group_pixels(p->element) * s->block;
    const ac_address samples = samples_of(p, s), wide = type == MONA_F16 ? samples : p->wide;
    if (type != MONA_F16)
        vconv_all(p->core, type == MONA_U8 ? AC_U8_F16 : AC_S8_F16, wide, samples, count);
    ac_emit_barrier(p->core, AC_PIPE_V);
    if (type == MONA_F16 || scale != 1)
        muls_all(p->core, wide, wide, scale, count);
    ac_emit_barrier(p->core, AC_PIPE_V);
    return wide;
}

static void turn(const program *p, const mona_piece *k, const stream *s)
{
    const uint32_t pixel = s->block * p->in_size, rest = k->count * pixel % AC_BLOCK;
    ac_emit_wait_flag(p->core, AC_PIPE_MTE2, AC_PIPE_V, s->index % (LOOKAHEAD + 1));
    const ac_address samples = samples_of(p, s);
    if (rest)
        mona_fill_tails(p->core, samples + k->count * pixel - rest, rest, k->rows,
                        (size_t)k->pitch * pixel, 0);
    if (is_joined(p))
        join_stream(p, s, samples);
    else
        mona_lanes_from_samples(&p->lanes, s->channel - p->channel, s->block,
                                p->element == 2 ? widen(p, s) : samples);
}

static void turn_streams(const program *p, const mona_piece *k)
{
    stream coming = first_stream(p), there = coming;
    ac_emit_wait_flag(p->core, AC_PIPE_V, AC_PIPE_MTE2, AC_EVENT0);
    for (bool more = true; more || there.index < coming.index;) {
        if (more) {
            bring(p, k, &coming);
            more = next_stream(p, &coming);
        }
        if (more && coming.index - there.index <= LOOKAHEAD)
            continue;
        turn(p, k, &there);
        next_stream(p, &there);
    }
    ac_emit_set_flag(p->core, AC_PIPE_V, AC_PIPE_MTE2, AC_EVENT0);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

/* ---- out ------------------------------------------------------------------------------------ */

static void make_blocks(const program *p)
{
    const mona_bound_op *b = p->bound;
    ac_emit_wait_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
    const uint32_t elements = p->lanes.groups * mona_lanes_group_pixels(p->element) * b->output_c0;
    for (uint32_t n = 0; n < p->count; n++)
        mona_lanes_to_block(&p->lanes, (int32_t)((p->first + n) * b->output_c0 - p->channel),
                            b->output.channels - p->channel, b->output_c0,
                            p->blocks + n * p->block_bytes);
    if (p->stored != p->blocks)
        ac_emit_barrier(p->core, AC_PIPE_V);
    for (uint32_t n = 0; n < p->count && p->stored != p->blocks; n++)
        narrow_all(p->core, b->output.type, p->stored + n * p->block_bytes / 2,
                   p->blocks + n * p->block_bytes, elements);
    ac_emit_set_flag(p->core, AC_PIPE_V, AC_PIPE_MTE3, AC_EVENT0);
}

/* Stores the columns of the piece that the call needs. */
static void store_blocks(const program *p, const mona_piece *k)
{
    const size_t column = (size_t)p->bound->output_c0 * p->out_size;
    const int64_t begin = k->x > k->calls->x_begin ? k->x : k->calls->x_begin;
    const int64_t end = k->x + k->count < k->calls->x_end ? k->x + k->count : k->calls->x_end;
    const size_t bytes = (size_t)(end - begin) * column;
    const uint32_t rest = mona_padding(&p->bound->output) ? bytes % AC_BLOCK : 0;
    const size_t whole = bytes - rest;
    ac_emit_wait_flag(p->core, AC_PIPE_V, AC_PIPE_MTE3, AC_EVENT0);
    if (rest)
        ac_emit_barrier(p->core, AC_PIPE_ALL);
    for (uint32_t row = 0; row < k->rows; row++) {
        const mona_row_at out = mona_output_at(&k->calls[row]);
        const ac_address to = out.at + (size_t)(begin - k->calls->x_begin) * column;
        const ac_address from = p->stored + (row * k->pitch + (size_t)(begin - k->x)) * column;
        for (uint32_t n = 0; n < p->count && whole; n++)
            ac_emit_copy_bytes(p->core, to + (p->first + n) * out.block_stride,
                               from + n * (p->block_bytes / p->element * p->out_size), whole);
        if (rest) /* there is one channel block */
            mona_scalar_copy(p->core, to + whole, from + whole, rest);
    }
    if (rest)
        ac_emit_barrier(p->core, AC_PIPE_ALL);
    ac_emit_set_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
}

static void load_piece(void *program_, const mona_piece *k)
{
    program *p = program_;
    p->lanes.groups = p->bytes.groups = k->groups;
    turn_streams(p, k);
    make_blocks(p);
    store_blocks(p, k);
}

/* The columns to copy for those that a call needs, extended as explained at the top. */
static mona_span widened(const mona_bound_op *b, const mona_row_call *call)
{
    const int64_t end = (call->x_end + WHOLE - 1) / WHOLE * WHOLE, width = b->output.width;
    return (mona_span){call->x_begin / WHOLE * WHOLE, end < width ? end : width};
}

/* Makes channel blocks from p.first on. */
static void make(program p, const mona_row_call *calls, uint32_t count)
{
    ac_core *core = calls->core;
    const mona_span columns = widened(p.bound, calls);
    p.channel = first_stream(&p).channel;
    p.groups = mona_lanes_groups(columns, count, p.element, p.groups);
    lay_out(&p);
    if (mona_lanes_have_gaps(columns, count, p.element, p.groups))
        dup_all(core, p.samples, 0, (uint32_t)(p.wide - p.samples) / 2);
    dup_all(core, p.lanes.spare, 0, p.groups * LANES_GROUP_BYTES / 2);
    mona_flag_buffers(core, AC_PIPE_MTE2, 1, ac_emit_set_flag);
    mona_lanes_pieces(calls, count, columns, p.element, p.groups, load_piece, &p);
    mona_flag_buffers(core, AC_PIPE_MTE2, 1, ac_emit_wait_flag);
}

void mona_load_program(const mona_row_call *calls, uint32_t count)
{
    const mona_bound_op *b = calls->bound;
    const uint32_t blocks = ceil_div_u32(b->output.channels, b->output_c0);
    program p = program_of(b, calls->core, blocks);
    if (mona_load_is_dense(b)) {
        mona_load_dense(calls, count);
        return;
    }
    while (!p.groups) /* of one channel block one group always fits */
        p = program_of(b, calls->core, (p.count + 1) / 2);
    for (; p.first < blocks; p.first += p.count) {
        p.count = min_u32(p.count, blocks - p.first);
        make(p, calls, count);
    }
}
