// SPDX-License-Identifier: Apache-2.0
/* A residual that the cube does not add, because it is fp16 or has a form that load3d cannot read.
 * It is copied to UB, scaled there and added to t.
 *
 *   in lanes   [16 channels][pixel][16], as fp16 in blocks of 16 channels is already; if t is laid
 *              out like that, it is added at once, together with what lies between rows
 *   turned     any other, which has a single channel block, converted to fp16 and turned by
 *              transposes to what results are: rows of planes, [pixel][c0] where c0 < 16, or
 *              [pixel][16] for all lanes */
#include "ops/ascend/conv_instructions.h"

/* Blocks of 16 channels that a part of the results has. */
static uint32_t channel_blocks(const program *p)
{
    return p->k->c0 / LANES;
}

bool mona_conv_residual_in_lanes(const program *p)
{
    const mona_row_at *r = &p->row->residual;
    return r->type == MONA_F16 && r->c0 == LANES && !p->conv->epilogue.broadcast &&
           p->k->way != MONA_CONV_PLANES && p->k->c0 >= LANES;
}

/* Whether a residual in lanes lies in ub.raw as results lie in ub.t. */
static bool is_like_t(const program *p)
{
    return p->k->width == 1 && mona_conv_residual_in_lanes(p);
}

/* ---- UB ------------------------------------------------------------------------------------- */

/* Bytes that 16 channels of a tile take in fp16. */
static size_t lanes_bytes(const program *p, const tile *t)
{
    return (size_t)t->m1 * AC_FRACTAL * p->k->pixels * VECTOR;
}

/* Blocks of 16 channels that the tile's parts have. */
static uint32_t lane_blocks(const program *p, const tile *t)
{
    const uint32_t end =
        min_u32(t->end * channel_blocks(p), ceil_div_u32(p->conv->channels, LANES));
    return end - t->first * channel_blocks(p);
}

static mona_lanes lanes_in(const program *p, const tile *t)
{
    const uint32_t pixels = t->m1 * AC_FRACTAL * p->k->pixels;
    return (mona_lanes){.core = p->core,
                        .element = sizeof(uint16_t),
                        .groups = ceil_div_u32(pixels, mona_lanes_group_pixels(sizeof(uint16_t))),
                        .channels = p->ub.lanes,
                        .spare = p->ub.spare,
                        .repeats = p->conv->epilogue.broadcast};
}

/* Bytes that a channel of a tile takes in lanes. */
static uint32_t channel_bytes(const program *p, const tile *t)
{
    return lanes_in(p, t).groups * LANES_GROUP_BYTES;
}

/* Channels of the residual that are added. */
static uint32_t turned_channels(const program *p)
{
    return p->conv->epilogue.broadcast ? 1 : p->conv->channels;
}

/* fp16 values of a pixel in a row that a residual is turned to, and such rows. */
static uint32_t turned_width(const program *p)
{
    return p->k->way == MONA_CONV_PLANES ? p->row->planes->block : min_u32(p->k->c0, LANES);
}

static uint32_t turned_rows(const program *p)
{
    return p->k->way == MONA_CONV_PLANES ? p->k->width : 1;
}

static size_t turned_bytes(const program *p, const tile *t)
{
    return (size_t)channel_bytes(p, t) * turned_width(p);
}

/* fp16 values of either half of ub.raw. One of 8 bits may begin within a block of 32 bytes. */
static uint32_t raw_elements(const program *p, const tile *t)
{
    const size_t bytes = mona_conv_residual_in_lanes(p)
                             ? lane_blocks(p, t) * lanes_bytes(p, t)
                             : p->row->residual.c0 * (size_t)channel_bytes(p, t) + AC_BLOCK;
    return (uint32_t)(bytes / sizeof(uint16_t));
}

void mona_conv_place_residual(program *p, ac_address *at, const tile *t)
{
    if (!adds_by_vector(p))
        return;
    const size_t raw = raw_elements(p, t) * sizeof(uint16_t);
    for (uint32_t h = 0; h < HALVES; h++)
        p->ub.raw[h] = take(at, raw);
    if (mona_conv_residual_in_lanes(p))
        return;
    p->ub.wide = take(at, p->row->residual.type == MONA_F16 ? 0 : raw);
    p->ub.lanes = take(at, turned_channels(p) * (size_t)channel_bytes(p, t));
    p->ub.spare = take(at, channel_bytes(p, t));
    p->ub.residual = take(at, turned_rows(p) * turned_bytes(p, t));
}

/* All of a tile is scaled and added, and transposes take whole groups, so they read what lies
 * behind the last pixel. */
void mona_conv_clear_residual(const program *p, const tile *t)
{
    if (!adds_by_vector(p))
        return;
    for (uint32_t h = 0; h < HALVES; h++)
        dup_all(p->core, p->ub.raw[h], 0, raw_elements(p, t));
    if (!mona_conv_residual_in_lanes(p))
        dup_all(p->core, p->ub.spare, 0, channel_bytes(p, t) / sizeof(uint16_t));
    sync(p, AC_PIPE_V, AC_PIPE_MTE1, 3);
}

/* ---- to UB ----------------------------------------------------------------------------------- */

/* The tile's first pixel in row y. */
static ac_address residual_at(const program *p, const tile *t, uint32_t y)
{
    const mona_row_at *r = &p->rows[t->y + y].residual;
    return r->at + (size_t)t->x * r->c0 * mona_type_size(r->type);
}

/* Several rows lie in the lanes' order. */
static void load_lanes(const program *p, const tile *t)
{
    const size_t stride = p->row->residual.block_stride;
    for (uint32_t y = 0; y < t->count; y++)
        mona_copy_rows(
            p->core,
            (mona_steps){p->ub.raw[t->slot] + y * (size_t)row_pitch(p, t) * VECTOR,
                         (ptrdiff_t)lanes_bytes(p, t)},
            (mona_steps){residual_at(p, t, y) + t->first * (uint64_t)channel_blocks(p) * stride,
                         (ptrdiff_t)stride},
            lane_blocks(p, t), t->pixels * VECTOR);
}

/* Bytes of the block in which the tile begins that lie before it. */
static uint32_t bytes_before(const program *p, const tile *t)
{
    return (uint32_t)(residual_at(p, t, 0) % AC_BLOCK);
}

static void load_turned(const program *p, const tile *t)
{
    const mona_row_at *r = &p->row->residual;
    const uint32_t before = bytes_before(p, t);
    ac_emit_copy_bytes(p->core, p->ub.raw[t->slot], residual_at(p, t, 0) - before,
                       before + (size_t)t->pixels * r->c0 * mona_type_size(r->type));
}

void mona_conv_load_residual(const program *p, const tile *t)
{
    if (!adds_by_vector(p))
        return;
    ac_emit_wait_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, t->slot);
    (mona_conv_residual_in_lanes(p) ? load_lanes : load_turned)(p, t);
    ac_emit_set_flag(p->core, AC_PIPE_MTE1, AC_PIPE_V, t->slot);
}

/* ---- to what results are --------------------------------------------------------------------- */

/* A tile begins at a multiple of 16 pixels, which as fp16 are whole blocks. */
static void turn(const program *p, const tile *t)
{
    const mona_lanes l = lanes_in(p, t);
    const mona_row_at *r = &p->row->residual;
    const uint32_t width = turned_width(p), channels = turned_channels(p);
    const size_t bytes = turned_bytes(p, t), before = bytes_before(p, t) / mona_type_size(r->type);
    const ac_address wide =
        widen_all(p->core, r->type, p->ub.wide, p->ub.raw[t->slot], raw_elements(p, t));
    mona_lanes_from_block(&l, 0, channels, r->c0, wide + before * sizeof(uint16_t));
    ac_emit_barrier(p->core, AC_PIPE_V);
    for (uint32_t j = 0; j < turned_rows(p); j++)
        if (p->k->way == MONA_CONV_PLANES)
            mona_lanes_to_samples(&l, (t->first * p->k->width + j) * width, width,
                                  p->ub.residual + j * bytes);
        else
            mona_lanes_to_block(&l, 0, l.repeats ? width : channels, width, p->ub.residual);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

static void scale(const program *p, ac_address at, size_t elements)
{
    if (p->conv->epilogue.residual_scale != 1)
        vecs_done(p->core, AC_VMULS, at, at, p->conv->epilogue.residual_scale, (uint32_t)elements);
}

/* ---- to t ------------------------------------------------------------------------------------ */

/* Adds to `rows` rows from row `first` of lane block j of a part blocks of 16 values, `step` blocks
 * apart. A row of the tile may lie in several pieces, or begin in one behind the first. */
static void add_rows(const program *p, const tile *t, uint32_t part, uint32_t j, uint32_t first,
                     ac_address from, uint32_t rows, uint32_t step)
{
    const ac_vector strides = {.dst_block = 1,
                               .a_block = 1,
                               .b_block = (uint8_t)step,
                               .dst_repeat = 8,
                               .a_repeat = 8,
                               .b_repeat = (uint8_t)(8 * step)};
    for (uint32_t done = 0, n; done < rows; done += n) {
        const uint32_t cut = (first + done) / t->piece_rows, at = (first + done) % t->piece_rows;
        const ac_address to = piece_at(p, t, p->ub.t, part, cut, j) + (size_t)at * VECTOR;
        n = min_u32(rows - done, t->piece_rows - at);
        vec2_all(p->core, AC_VADD, to, to, from + (size_t)done * step * VECTOR, n * LANES, strides);
    }
}

/* Lane block j of a part holds 16 channels of every `pixels`-th pixel. Row y of the tile. */
static void add_lanes(const program *p, const tile *t, uint32_t part, uint32_t j, uint32_t y)
{
    const uint32_t blocks = channel_blocks(p), pixels = p->k->pixels, pixel = j / blocks;
    const uint32_t n = (part - t->first) * blocks + j % blocks;
    const ac_address lanes = mona_conv_residual_in_lanes(p)
                                 ? p->ub.raw[t->slot] + n * lanes_bytes(p, t)
                                 : p->ub.residual;
    if (n < lane_blocks(p, t) && t->pixels > pixel)
        add_rows(p, t, part, j, y * t->row_m1 * AC_FRACTAL,
                 lanes + (y * (size_t)row_pitch(p, t) + pixel) * VECTOR,
                 ceil_div_u32(t->pixels - pixel, pixels), pixels);
}

static void add_blocks(const program *p, const tile *t)
{
    for (uint32_t part = t->first; part < t->end; part++)
        for (uint32_t j = 0; j < p->k->width; j++)
            for (uint32_t y = 0; y < t->count; y++)
                add_lanes(p, t, part, j, y);
}

/* Lane blocks of the only part, which are rows of planes or side by side in rows of less than 16
 * channels. */
static void add_turned(const program *p, const tile *t)
{
    const bool planes = p->k->way == MONA_CONV_PLANES;
    const size_t next = planes ? turned_bytes(p, t) : VECTOR;
    for (uint32_t j = 0; j < p->k->width; j++)
        add_rows(p, t, t->first, j, 0, p->ub.residual + j * next, t->rows,
                 planes ? 1 : p->k->width);
}

void mona_conv_add_residual(const program *p, const tile *t)
{
    ac_emit_wait_flag(p->core, AC_PIPE_MTE1, AC_PIPE_V, t->slot);
    if (mona_conv_residual_in_lanes(p)) {
        scale(p, p->ub.raw[t->slot], raw_elements(p, t));
    } else {
        turn(p, t);
        scale(p, p->ub.residual, turned_rows(p) * turned_bytes(p, t) / sizeof(uint16_t));
    }
    if (is_like_t(p))
        vec2_all(p->core, AC_VADD, p->ub.t, p->ub.t, p->ub.raw[t->slot], tile_elements(p, t),
                 side_by_side);
    else
        (p->k->way == MONA_CONV_PLANES || p->k->c0 < LANES ? add_turned : add_blocks)(p, t);
    ac_emit_barrier(p->core, AC_PIPE_V);
    ac_emit_set_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, t->slot);
}
