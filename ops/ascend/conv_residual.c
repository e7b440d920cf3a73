// SPDX-License-Identifier: Apache-2.0
/* A residual that the cube does not add, because it is fp16 or has a form that load3d cannot read.
 * It is copied to UB, brought to fp16 and scaled as [16 channels][pixel][16], and added to t.
 *
 * Copies are of whole blocks of 32 bytes. A residual of fp16 in blocks of 16 channels then only has
 * to be scaled; any other is spread by the scalar unit. */
#include "ops/ascend/conv_instructions.h"

/* Blocks of 16 channels that a part of the results has. */
static uint32_t channel_blocks(const program *p)
{
    return p->k->c0 / LANES;
}

static bool lies_in_lanes(const program *p)
{
    const ac_row *r = &p->row->residual;
    return r->type == MONA_F16 && r->c0 == LANES && !p->conv->epilogue.broadcast;
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

void mona_conv_place_residual(program *p, uint8_t **at, const tile *t)
{
    const uint32_t blocks = p->conv->epilogue.add ? (t->end - t->first) * channel_blocks(p) : 0;
    p->ub.residual = take_halves(at, blocks * lanes_bytes(p));
    for (uint32_t h = 0; h < HALVES; h++)
        p->ub.raw[h] = take(at, blocks * piece_bytes(p));
}

/* ---- to UB ----------------------------------------------------------------------------------- */

static const uint8_t *residual_at(const program *p, const tile *t, uint32_t n)
{
    const ac_row *r = &p->row->residual;
    return r->data + residual_block(p, n) * r->block_stride +
           (size_t)t->x * r->c0 * mona_type_size(r->type);
}

/* Where in UB the piece with these 16 channels begins, and where the tile's first pixel lies. */
static uint8_t *piece_of(const program *p, const tile *t, uint32_t n)
{
    const uint32_t first = residual_block(p, t->first * channel_blocks(p));
    return p->ub.raw[t->slot] + (residual_block(p, n) - first) * piece_bytes(p);
}

static const uint8_t *raw_of(const program *p, const tile *t, uint32_t n)
{
    return piece_of(p, t, n) + (uintptr_t)residual_at(p, t, n) % AC_BLOCK;
}

void mona_conv_load_residual(const program *p, const tile *t)
{
    const ac_row *r = &p->row->residual;
    const uint32_t first = t->first * channel_blocks(p), end = t->end * channel_blocks(p);
    if (!adds_by_vector(p))
        return;
    const size_t bytes = (size_t)t->pixels * r->c0 * mona_type_size(r->type);
    p->isa->wait_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, (ac_event)t->slot);
    for (uint32_t n = first; n < end && n * LANES < p->conv->channels; n++) {
        const uint8_t *from = residual_at(p, t, n);
        const size_t beyond = (uintptr_t)from % AC_BLOCK;
        if (n == first || residual_block(p, n) != residual_block(p, n - 1))
            copy_blocks(p, AC_L1_UB, piece_of(p, t, n), from - beyond,
                        (uint32_t)((beyond + bytes + AC_BLOCK - 1) / AC_BLOCK));
    }
    p->isa->set_flag(p->core, AC_PIPE_MTE1, AC_PIPE_V, (ac_event)t->slot);
}

/* ---- to fp16 --------------------------------------------------------------------------------- */

static uint16_t *lanes_of(const program *p, const tile *t, uint32_t n)
{
    const size_t block = n - t->first * channel_blocks(p);
    return p->ub.residual + block * lanes_bytes(p) / sizeof(uint16_t);
}

/* Spreads 16 channels with the scalar unit. */
static void spread(const program *p, const tile *t, uint32_t n)
{
    const ac_row *r = &p->row->residual;
    const size_t element = mona_type_size(r->type);
    const bool one = p->conv->epilogue.broadcast;
    const uint8_t *source[LANES], *raw = raw_of(p, t, n);
    uint32_t step[LANES];
    float scale[LANES];
    const uint32_t first = one ? 0 : n * LANES % r->c0;
    const uint32_t channels = one ? LANES : min_u32(r->c0 - first, LANES);
    for (uint32_t i = 0; i < channels; i++) {
        source[i] = raw + (one ? 0 : first + i) * element;
        step[i] = (uint32_t)(r->c0 * element);
        scale[i] = p->conv->epilogue.residual_scale;
    }
    const ac_pack_row pack = {
        .channels = channels,
        .pixels = t->pixels,
        .source = source,
        .step = step,
        .scale = scale,
        .source_type = r->type,
        .output = {(uint8_t *)lanes_of(p, t, n), 0, LANES, MONA_F16},
    };
    sync(p, AC_PIPE_V, AC_PIPE_S, 0);
    p->isa->scalar(p->core, raw, t->pixels * r->c0 * element, lanes_of(p, t, n),
                   (size_t)t->pixels * VECTOR, AC_SCALAR_STEPS * t->pixels * LANES);
    p->isa->pack_row(&pack);
    sync(p, AC_PIPE_S, AC_PIPE_V, 0);
}

static void scale(const program *p, const tile *t, uint32_t n)
{
    muls_all(p->core, lanes_of(p, t, n), raw_of(p, t, n), p->conv->epilogue.residual_scale,
             t->pixels * LANES, side_by_side);
}

/* ---- to t ------------------------------------------------------------------------------------ */

/* Lane block j of a part holds 16 channels of every `pixels`-th pixel. */
static void add_lanes(const program *p, const tile *t, uint32_t part, uint32_t j)
{
    const uint32_t blocks = channel_blocks(p), pixels = p->k->pixels, pixel = j / blocks;
    const uint32_t n = part * blocks + j % blocks;
    const uint16_t *from = lanes_of(p, t, n) + (size_t)pixel * LANES;
    const ac_vector strides = {.dst_block = 1,
                               .a_block = 1,
                               .b_block = (uint8_t)pixels,
                               .dst_repeat = 8,
                               .a_repeat = 8,
                               .b_repeat = (uint8_t)(8 * pixels)};
    const uint32_t rows = t->pixels > pixel ? ceil_div_u32(t->pixels - pixel, pixels) : 0;
    for (uint32_t cut = 0, done = 0; done < rows; cut++, done += t->piece_rows) {
        uint16_t *at = piece_at(p, t, p->ub.t, part, cut, j);
        vec2_all(p->core, AC_VADD, at, at, from + (size_t)done * pixels * LANES,
                 min_u32(rows - done, t->piece_rows) * LANES, strides);
    }
}

void mona_conv_add_residual(const program *p, const tile *t)
{
    const uint32_t first = t->first * channel_blocks(p), end = t->end * channel_blocks(p);
    p->isa->wait_flag(p->core, AC_PIPE_MTE1, AC_PIPE_V, (ac_event)t->slot);
    for (uint32_t n = first; n < end && n * LANES < p->conv->channels; n++)
        (lies_in_lanes(p) ? scale : spread)(p, t, n);
    p->isa->barrier(p->core, AC_PIPE_V);
    for (uint32_t part = t->first; part < t->end; part++)
        for (uint32_t j = 0; j < p->k->width; j++)
            if ((part * channel_blocks(p) + j % channel_blocks(p)) * LANES < p->conv->channels)
                add_lanes(p, t, part, j);
    p->isa->barrier(p->core, AC_PIPE_V);
    p->isa->set_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, (ac_event)t->slot);
}
