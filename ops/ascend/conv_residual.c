// SPDX-License-Identifier: Apache-2.0
/* A residual that the cube does not add, because it is fp16 or has a form that load3d cannot read.
 * It is copied to UB in whole blocks of 32 bytes, converted to fp16, scaled and added to t.
 *
 *   in lanes   [16 channels][pixel][16], as fp16 in blocks of 16 channels is already; if t is laid
 *              out like that, it is scaled and added at once, together with what lies between rows
 *   turned     any other of fp16, which has a single channel block, turned by transposes to what
 *              results are: rows of planes, [pixel][c0] where c0 < 16, or [pixel][16] for all lanes
 *   spread     of 8 bits: by the scalar unit, to lanes */
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

static bool is_turned(const program *p)
{
    return p->row->residual.type == MONA_F16 && !mona_conv_residual_in_lanes(p);
}

/* The channel block of the residual that holds 16 channels of results. */
static uint32_t residual_block(const program *p, uint32_t n)
{
    return p->conv->epilogue.broadcast ? 0 : n * LANES / p->row->residual.c0;
}

/* ---- UB ------------------------------------------------------------------------------------- */

/* Bytes of a piece, which holds one channel block of the residual: at most 32 bytes for each pixel,
 * and one more block at each end, as both ends are rounded to blocks. */
static size_t piece_bytes(const program *p)
{
    return (size_t)p->m1 * AC_FRACTAL * p->k->pixels * VECTOR + 2 * AC_BLOCK;
}

/* Bytes that 16 channels of a tile take in fp16. */
static size_t lanes_bytes(const program *p)
{
    return (size_t)p->m1 * AC_FRACTAL * p->k->pixels * VECTOR;
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

static size_t turned_bytes(const program *p, const mona_lanes *l)
{
    return (size_t)l->groups * LANES_GROUP_BYTES * turned_width(p);
}

static void place_turned(program *p, ac_address *at, const tile *t)
{
    const mona_lanes l = lanes_in(p, t);
    const size_t channel = (size_t)l.groups * LANES_GROUP_BYTES;
    p->ub.lanes = take(at, turned_channels(p) * channel);
    p->ub.spare = take(at, channel);
    p->ub.residual = take(at, turned_rows(p) * turned_bytes(p, &l));
    for (uint32_t h = 0; h < HALVES; h++)
        p->ub.raw[h] = take(at, p->row->residual.c0 * channel);
}

/* Transposes take whole groups, so they read what lies behind the last pixel. */
void mona_conv_clear_residual(const program *p, const tile *t)
{
    if (adds_by_vector(p) && residual_like_t(p)) {
        for (uint32_t h = 0; h < HALVES; h++)
            dup_all(p->core, p->ub.raw[h], 0, tile_elements(p, t));
        sync(p, AC_PIPE_V, AC_PIPE_MTE1, 3);
    }
    if (!adds_by_vector(p) || !is_turned(p))
        return;
    const uint32_t channel = lanes_in(p, t).groups * LANES_GROUP_BYTES / sizeof(uint16_t);
    dup_all(p->core, p->ub.spare, 0, channel);
    for (uint32_t h = 0; h < HALVES; h++)
        dup_all(p->core, p->ub.raw[h], 0, channel * p->row->residual.c0);
    sync(p, AC_PIPE_V, AC_PIPE_MTE1, 3);
}

void mona_conv_place_residual(program *p, ac_address *at, const tile *t)
{
    if (p->conv->epilogue.add && is_turned(p)) {
        place_turned(p, at, t);
        return;
    }
    if (p->conv->epilogue.add && residual_like_t(p)) {
        for (uint32_t h = 0; h < HALVES; h++)
            p->ub.raw[h] = take(at, tile_elements(p, t) * sizeof(uint16_t));
        return;
    }
    const uint32_t blocks = p->conv->epilogue.add ? (t->end - t->first) * channel_blocks(p) : 0;
    p->ub.residual = take(at, blocks * lanes_bytes(p));
    for (uint32_t h = 0; h < HALVES; h++)
        p->ub.raw[h] = take(at, blocks * piece_bytes(p));
}

/* ---- to UB ----------------------------------------------------------------------------------- */

static ac_address residual_at(const program *p, const tile *t, uint32_t y, uint32_t n)
{
    const mona_row_at *r = &p->rows[t->y + y].residual;
    return r->at + residual_block(p, n) * r->block_stride +
           (size_t)t->x * r->c0 * mona_type_size(r->type);
}

/* Where in UB the piece with these 16 channels begins, and where the tile's first pixel lies. */
static ac_address piece_of(const program *p, const tile *t, uint32_t n)
{
    const uint32_t first = residual_block(p, t->first * channel_blocks(p));
    return p->ub.raw[t->slot] + (residual_block(p, n) - first) * piece_bytes(p);
}

static ac_address raw_of(const program *p, const tile *t, uint32_t n)
{
    return piece_of(p, t, n) + residual_at(p, t, 0, n) % AC_BLOCK;
}

/* Row y of the tile. Several rows lie in the lanes' order, hence at blocks of 32 bytes. */
static void load_row(const program *p, const tile *t, uint32_t y)
{
    const mona_row_at *r = &p->row->residual;
    const uint32_t first = t->first * channel_blocks(p), end = t->end * channel_blocks(p);
    const size_t bytes = (size_t)t->pixels * r->c0 * mona_type_size(r->type);
    for (uint32_t n = first; n < end && n * LANES < p->conv->channels; n++) {
        const ac_address from = residual_at(p, t, y, n);
        const size_t beyond = (size_t)(from % AC_BLOCK);
        if (n == first || residual_block(p, n) != residual_block(p, n - 1))
            ac_emit_copy_bytes(p->core, piece_of(p, t, n) + y * (size_t)row_pitch(p, t) * VECTOR,
                               from - beyond, beyond + bytes);
    }
}

/* Row y of all parts. */
static void load_like_t(const program *p, const tile *t, uint32_t y)
{
    const mona_row_at *r = &p->rows[t->y + y].residual;
    const size_t part = part_elements(p, t) * sizeof(uint16_t), row = t->row_m1 * AC_FRACTAL;
    mona_copy_rows(p->core, (mona_steps){p->ub.raw[t->slot] + y * row * VECTOR, (ptrdiff_t)part},
                   (mona_steps){residual_at(p, t, y, t->first), (ptrdiff_t)r->block_stride},
                   t->end - t->first, t->pixels * VECTOR);
}

/* Tiles begin at multiples of 32 bytes of it. */
static void load_turned(const program *p, const tile *t)
{
    const mona_row_at *r = &p->row->residual;
    const uint32_t pixel = r->c0 * (uint32_t)sizeof(uint16_t);
    ac_emit_copy_bytes(p->core, p->ub.raw[t->slot], r->at + (size_t)t->x * pixel,
                       t->pixels * pixel);
}

void mona_conv_load_residual(const program *p, const tile *t)
{
    if (!adds_by_vector(p))
        return;
    ac_emit_wait_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, t->slot);
    if (is_turned(p))
        load_turned(p, t);
    for (uint32_t y = 0; y < t->count && !is_turned(p); y++)
        (residual_like_t(p) ? load_like_t : load_row)(p, t, y);
    ac_emit_set_flag(p->core, AC_PIPE_MTE1, AC_PIPE_V, t->slot);
}

/* ---- to fp16 --------------------------------------------------------------------------------- */

static ac_address lanes_of(const program *p, const tile *t, uint32_t n)
{
    const size_t block = n - t->first * channel_blocks(p);
    return p->ub.residual + block * lanes_bytes(p);
}

/* Spreads 16 channels by the scalar unit. Lanes without a channel are zeros. */
static void spread(const program *p, const tile *t, uint32_t n)
{
    const mona_row_at *r = &p->row->residual;
    const uint32_t element = (uint32_t)mona_type_size(r->type);
    const bool one = p->conv->epilogue.broadcast;
    const uint32_t first = one ? 0 : n * LANES % r->c0;
    const uint32_t channels = one ? LANES : min_u32(r->c0 - first, LANES);
    if (channels < LANES)
        dup_all(p->core, lanes_of(p, t, n), 0, t->pixels * LANES);
    sync(p, AC_PIPE_V, AC_PIPE_S, 0);
    for (uint32_t i = 0; i < channels; i++)
        ac_emit_move(p->core, lanes_of(p, t, n) + i * sizeof(uint16_t),
                     raw_of(p, t, n) + (one ? 0 : first + i) * element,
                     (ac_move){.count = t->pixels,
                               .dst_step = VECTOR,
                               .src_step = r->c0 * element,
                               .dst_type = MONA_F16,
                               .src_type = r->type,
                               .scale = mona_f16_from_f32(p->conv->epilogue.residual_scale)});
    sync(p, AC_PIPE_S, AC_PIPE_V, 0);
}

static void scale(const program *p, const tile *t, uint32_t n)
{
    for (uint32_t y = 0; y < t->count; y++) {
        const size_t row = y * (size_t)row_pitch(p, t) * VECTOR;
        muls_all(p->core, lanes_of(p, t, n) + row, raw_of(p, t, n) + row,
                 p->conv->epilogue.residual_scale, t->pixels * LANES);
    }
}

static void turn(const program *p, const tile *t)
{
    const mona_lanes l = lanes_in(p, t);
    const uint32_t width = turned_width(p), channels = turned_channels(p);
    const size_t bytes = turned_bytes(p, &l);
    mona_lanes_from_block(&l, 0, channels, p->row->residual.c0, p->ub.raw[t->slot]);
    ac_emit_barrier(p->core, AC_PIPE_V);
    for (uint32_t j = 0; j < turned_rows(p); j++)
        if (p->k->way == MONA_CONV_PLANES)
            mona_lanes_to_samples(&l, (t->first * p->k->width + j) * width, width,
                                  p->ub.residual + j * bytes);
        else
            mona_lanes_to_block(&l, 0, l.repeats ? width : channels, width, p->ub.residual);
    ac_emit_barrier(p->core, AC_PIPE_V);
    if (p->conv->epilogue.residual_scale != 1)
        muls_all(p->core, p->ub.residual, p->ub.residual, p->conv->epilogue.residual_scale,
                 (uint32_t)(turned_rows(p) * bytes / sizeof(uint16_t)));
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
    const uint32_t n = part * blocks + j % blocks;
    const ac_address lanes = is_turned(p) ? p->ub.residual : lanes_of(p, t, n);
    add_rows(p, t, part, j, y * t->row_m1 * AC_FRACTAL,
             lanes + (y * (size_t)row_pitch(p, t) + pixel) * VECTOR,
             t->pixels > pixel ? ceil_div_u32(t->pixels - pixel, pixels) : 0, pixels);
}

/* Lane blocks of the only part, which are rows of planes or side by side in rows of less than 16
 * channels. */
static void add_turned(const program *p, const tile *t)
{
    const mona_lanes l = lanes_in(p, t);
    const bool planes = p->k->way == MONA_CONV_PLANES;
    const size_t next = planes ? turned_bytes(p, &l) : VECTOR;
    for (uint32_t j = 0; j < p->k->width; j++)
        add_rows(p, t, t->first, j, 0, p->ub.residual + j * next, t->rows,
                 planes ? 1 : p->k->width);
}

static void add_like_t(const program *p, const tile *t)
{
    const ac_address raw = p->ub.raw[t->slot];
    const float s = p->conv->epilogue.residual_scale;
    if (s != 1)
        vecs_done(p->core, AC_VMULS, raw, raw, s, tile_elements(p, t));
    vec2_all(p->core, AC_VADD, p->ub.t, p->ub.t, raw, tile_elements(p, t), side_by_side);
}

static void add_parts(const program *p, const tile *t)
{
    const uint32_t first = t->first * channel_blocks(p), end = t->end * channel_blocks(p);
    const bool lanes = mona_conv_residual_in_lanes(p);
    if (is_turned(p))
        turn(p, t);
    for (uint32_t n = first; n < end && n * LANES < p->conv->channels && !is_turned(p); n++)
        (lanes ? scale : spread)(p, t, n);
    ac_emit_barrier(p->core, AC_PIPE_V);
    if (p->k->way == MONA_CONV_PLANES || p->k->c0 < LANES)
        add_turned(p, t);
    else
        for (uint32_t part = t->first; part < t->end; part++)
            for (uint32_t j = 0; j < p->k->width; j++)
                if ((part * channel_blocks(p) + j % channel_blocks(p)) * LANES < p->conv->channels)
                    for (uint32_t y = 0; y < t->count; y++)
                        add_lanes(p, t, part, j, y);
}

void mona_conv_add_residual(const program *p, const tile *t)
{
    ac_emit_wait_flag(p->core, AC_PIPE_MTE1, AC_PIPE_V, t->slot);
    (residual_like_t(p) ? add_like_t : add_parts)(p, t);
    ac_emit_barrier(p->core, AC_PIPE_V);
    ac_emit_set_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, t->slot);
}
