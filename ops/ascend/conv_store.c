// SPDX-License-Identifier: Apache-2.0
/* Rounds a tile's results and stores them from UB.
 *
 * Rounding puts the results into their final order. They are stored in blocks of 32 bytes; the
 * scalar unit copies the rest of a row, as padding may follow it. Rows of planes end in whole
 * blocks, and what a tile's last block has beyond its columns is written later.
 *
 * Results of 8 bits. A block of 32 bytes holds 32 lanes, which are two blocks of fp16. Their places
 * depend on the lane blocks of a part:
 *   one       They are in order already, and so are rows of planes.
 *   two       They come from two drains. The blocks of a vector instruction are all the same stride
 *             apart, so it could take no more than one block of each. So the n rows of each lane
 *             block are cut in four: the 8 blocks of a repeat are rows r, n + r, 2 n + r and 3 n +
 *             r of either lane block, and its 4 results are columns of the output, n apart.
 *   8 or 16   The 8 blocks of a repeat are those of one row, and its results lie side by side.
 *
 * Results of fp16. A block of t is a block of the output, where the blocks of a lane block lie
 * `width` blocks apart. */
#include "ops/ascend/conv_instructions.h"
#include "ops/ascend/scalar.h"

enum { CUTS = 4, MAX_GAP = UINT16_MAX };

static bool is_wide(const program *p)
{
    return p->row->output.type == MONA_F16;
}

/* ---- UB ------------------------------------------------------------------------------------- */

uint32_t mona_conv_cuts(const program *p)
{
    return p->k->width == 2 && p->k->way != MONA_CONV_PLANES && !is_wide(p) ? CUTS : 1;
}

/* Whether cuts of the result lie an odd number of blocks apart, so that they begin in different
 * banks. But the scalar unit wants all rows in one piece, and each copy to global memory takes so
 * long that it pays to have fewer. */
static bool has_gaps(const program *p)
{
    return p->cuts > 1 && p->k->way == MONA_CONV_ROW && !ac_in_gm(p->row->output.at);
}

/* Blocks of the result from one cut to the next. */
static uint32_t cut_blocks(const program *p, const tile *t)
{
    return t->piece_rows + has_gaps(p);
}

/* The type that results have in UB. */
static mona_type stored_type(const program *p)
{
    return p->k->way == MONA_CONV_PLANES ? p->row->planes->type : p->row->output.type;
}

static size_t result_bytes(const program *p, const tile *t)
{
    const size_t values = (size_t)t->m1 * AC_FRACTAL * p->k->width * LANES;
    return p->cuts > 1 ? (size_t)p->cuts * cut_blocks(p, t) * AC_BLOCK
                       : values * mona_type_size(stored_type(p));
}

static ac_address result_of(const program *p, const tile *t, uint32_t part)
{
    return p->ub.result[t->slot] + (part - t->first) * result_bytes(p, t);
}

void mona_conv_place_results(program *p, ac_address *at, const tile *t)
{
    for (uint32_t h = 0; h < HALVES; h++)
        p->ub.result[h] = take(at, (t->end - t->first) * result_bytes(p, t));
}

/* ---- rounding ------------------------------------------------------------------------------- */

/* A repeat takes 8 blocks that lie `pitch` apart; the next repeat begins one block further on. */
static void round_pieces(const program *p, const tile *t, uint32_t part, ac_vconv kind)
{
    const bool cut = p->cuts > 1;
    const ac_vector v = {
        .repeat = (uint8_t)t->piece_rows,
        .lanes = HALF_LANES,
        .dst_block = (uint8_t)(cut ? cut_blocks(p, t) : 1),
        .a_block = (uint8_t)t->pitch,
        .dst_repeat = (uint8_t)(p->k->width / 2),
        .a_repeat = 1,
    };
    for (uint32_t i = 0; i < p->k->width * p->cuts; i += REPEAT_BLOCKS)
        ac_emit_vconv(p->core, kind, result_of(p, t, part) + (size_t)i / 2 * AC_BLOCK,
                      piece_at(p, t, p->ub.t, part, 0, i), v);
}

/* Bytes from an output row of the tile to the next; 0: they are not always the same. */
static ac_address row_step(const program *p, const tile *t)
{
    const mona_conv_place *rows = &p->rows[t->y];
    const ac_address step = t->count > 1 ? rows[1].output.at - rows[0].output.at : 0;
    for (uint32_t y = 2; y < t->count; y++)
        if (rows[y].output.at - rows[y - 1].output.at != step)
            return 0;
    return step;
}

static bool is_whole_wide(const program *p)
{
    return p->k->width == 1 && p->k->way == MONA_CONV_ROW && is_wide(p);
}

/* Blocks from a channel block of a map to the next, if the results in UB are to lie as in the map:
 * [row][part][block], so that one copy stores all; else 0. What lies between channel blocks of a
 * map nobody reads. Not if vector instructions for each part take longer than the copies that they
 * save. */
static uint32_t joined_blocks(const program *p, const tile *t)
{
    enum { COPY_HEAD = 350, VECTOR_HEAD = 18 /* cycles */ };
    const mona_row_at *o = &p->rows[t->y].output;
    const uint32_t parts = t->end - t->first, pitch = row_pitch(p, t);
    const size_t blocks = o->block_stride / AC_BLOCK, all = parts * blocks;
    const ac_address gap = row_step(p, t) / AC_BLOCK - all;
    if (!is_whole_wide(p) || t->count < 2 || !ac_in_gm(o->at) || !p->rows->whole ||
        t->pixels != p->rows->pixels || o->block_stride % AC_BLOCK || blocks > pitch ||
        all > UINT8_MAX || pitch > UINT8_MAX || gap > MAX_GAP)
        return 0;
    const uint32_t saved = min_u32(parts, t->count) - 1;
    const uint32_t vectors = parts * ceil_div_u32((uint32_t)blocks, REPEAT_BLOCKS);
    return vectors * VECTOR_HEAD < saved * COPY_HEAD ? (uint32_t)blocks : 0;
}

/* One instruction. */
static void scale_once(const program *p, ac_address to, ac_address from, ac_vector v)
{
    const float scale = scales_first(p) ? 1 : p->conv->epilogue.output_scale;
    if (rounds_by_max(p))
        ac_emit_vec2(p->core, AC_VMAX, to, from, p->ub.clip.zero, v);
    else
        ac_emit_vecs(p->core, AC_VMULS, to, from, scale, v);
}

static void scale_wide(const program *p, ac_address to, ac_address from, uint32_t count,
                       ac_vector strides)
{
    for (vectors w = vectors_of(strides, HALF_LANES, count); next_vectors(&w);)
        scale_once(p, vectors_at(&w, to, w.v.dst_repeat), vectors_at(&w, from, w.v.a_repeat), w.v);
}

/* Of all parts: their lane blocks lie side by side in t as well as in the results, unless rows are
 * joined. */
static void scale_all(const program *p, const tile *t)
{
    const uint32_t joined = joined_blocks(p, t), parts = t->end - t->first;
    const ac_address to = result_of(p, t, t->first);
    if (!joined) {
        scale_wide(p, to, p->ub.t, tile_elements(p, t), b_again);
        return;
    }
    for (uint32_t i = 0; i < parts; i++)
        for (uint32_t x = 0; x < joined; x += REPEAT_BLOCKS) {
            const ac_vector v = {.repeat = (uint8_t)t->count,
                                 .lanes = (uint8_t)(min_u32(joined - x, REPEAT_BLOCKS) * LANES),
                                 .dst_block = 1,
                                 .a_block = 1,
                                 .dst_repeat = (uint8_t)(parts * joined),
                                 .a_repeat = (uint8_t)row_pitch(p, t)};
            scale_once(p, to + (i * joined + x) * AC_BLOCK,
                       piece_at(p, t, p->ub.t, t->first + i, 0, 0) + x * VECTOR, v);
        }
}

static void scale_lanes(const program *p, const tile *t, uint32_t part)
{
    const uint32_t width = p->k->width;
    const ac_vector strides = {.dst_block = (uint8_t)width,
                               .a_block = 1,
                               .dst_repeat = (uint8_t)(8 * width),
                               .a_repeat = 8};
    for (uint32_t j = 0; j < width; j++)
        scale_wide(p, result_of(p, t, part) + j * VECTOR, piece_at(p, t, p->ub.t, part, 0, j),
                   t->m1 * AC_FRACTAL * LANES, strides);
}

/* Rounds all pieces of a part, in the order they have in t. */
static void round_whole(const program *p, const tile *t, uint32_t part, ac_vconv kind)
{
    vconv_all(p->core, kind, result_of(p, t, part), piece_at(p, t, p->ub.t, part, 0, 0),
              part_elements(p, t));
}

/* Rounds rows of planes. They have a scale if the results or the planes are fp16. */
static void round_planes(const program *p, const tile *t, uint32_t part, ac_vconv kind)
{
    const ac_address from = piece_at(p, t, p->ub.t, part, 0, 0);
    const bool wide = stored_type(p) == MONA_F16;
    const float scale = mona_f32_from_f16(p->row->planes->scale);
    if (wide || (is_wide(p) && scale != 1))
        muls_all(p->core, wide ? result_of(p, t, part) : from, from, scale, part_elements(p, t));
    ac_emit_barrier(p->core, AC_PIPE_V);
    if (!wide)
        round_whole(p, t, part, kind);
}

static void round_part(const program *p, const tile *t, uint32_t part)
{
    const ac_vconv kind = stored_type(p) == MONA_U8 ? AC_F16_U8 : AC_F16_S8;
    if (p->k->way == MONA_CONV_PLANES)
        round_planes(p, t, part, kind);
    else if (is_wide(p))
        scale_lanes(p, t, part);
    else if (p->k->width == 1)
        round_whole(p, t, part, kind);
    else
        round_pieces(p, t, part, kind);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Where block i of a part's results lies. */
static ac_address result_block(const program *p, const tile *t, uint32_t part, uint32_t i)
{
    const uint32_t cut = has_gaps(p) ? i / t->piece_rows : 0;
    return result_of(p, t, part) +
           (size_t)(i + cut * (cut_blocks(p, t) - t->piece_rows)) * AC_BLOCK;
}

/* Copies the whole blocks of a row from result block `first` on: those up to the end of a cut, of
 * whole cuts, then the others. */
static void copy_result(const program *p, const tile *t, uint32_t part, ac_address to,
                        uint32_t first, uint32_t blocks)
{
    const uint32_t piece = has_gaps(p) ? t->piece_rows : UINT32_MAX;
    while (blocks) {
        const uint32_t left = min_u32(blocks, piece - first % piece);
        const uint32_t cuts = left == piece ? blocks / piece : 1;
        ac_emit_copy(p->core, to, result_block(p, t, part, first),
                     (ac_copy){.bursts = (uint16_t)cuts,
                               .blocks = (uint16_t)left,
                               .src_gap = (uint16_t)(cuts > 1 ? cut_blocks(p, t) - piece : 0)});
        to += (size_t)cuts * left * AC_BLOCK;
        first += cuts * left;
        blocks -= cuts * left;
    }
}

/* Copies the whole blocks of several parts by one instruction, from result block `first` of each.
 * False: the pieces of a row do not lie side by side, or a copy cannot skip what lies between two
 * parts. */
static bool copy_results(const program *p, const tile *t, ac_address to, uint32_t first,
                         uint32_t blocks)
{
    const size_t stride = p->row->output.block_stride, gap = stride / AC_BLOCK - blocks;
    if (t->end - t->first == 1 || has_gaps(p) || !blocks || stride % AC_BLOCK || gap > MAX_GAP)
        return false;
    mona_copy_rows(p->core, (mona_steps){to, (ptrdiff_t)stride},
                   (mona_steps){result_block(p, t, t->first, first), (ptrdiff_t)result_bytes(p, t)},
                   t->end - t->first, blocks * AC_BLOCK);
    return true;
}

/* Stores row y of the tile. */
static void store_row(const program *p, const tile *t, uint32_t y)
{
    const mona_row_at *o = &p->rows[t->y + y].output;
    const uint32_t column = o->c0 * (uint32_t)mona_type_size(o->type);
    const uint32_t bytes = t->pixels * column, blocks = bytes / AC_BLOCK, rest = bytes % AC_BLOCK;
    const uint32_t first = y * row_pitch(p, t) * column / AC_BLOCK;
    const ac_address to = o->at + t->first * o->block_stride + (size_t)t->x * column;
    const bool together = copy_results(p, t, to, first, blocks);
    for (uint32_t part = t->first; part < t->end; part++) {
        const ac_address of_part = to + (part - t->first) * o->block_stride;
        if (!together)
            copy_result(p, t, part, of_part, first, blocks);
        if (!rest)
            continue;
        sync(p, AC_PIPE_V, AC_PIPE_S, 0);
        mona_scalar_copy(p->core, of_part + bytes - rest, result_block(p, t, part, first + blocks),
                         rest);
        sync(p, AC_PIPE_S, AC_PIPE_V, 0);
    }
}

/* Stores all rows of each part in global memory by one instruction. False: they do not lie at equal
 * steps, or there are no fewer parts than rows. */
static bool store_parts(const program *p, const tile *t)
{
    const mona_row_at *o = &p->rows[t->y].output;
    const uint32_t column = o->c0 * (uint32_t)mona_type_size(o->type);
    const uint32_t bytes = t->pixels * column;
    const ac_address step = row_step(p, t), gap = step - bytes;
    if (t->end - t->first >= t->count || has_gaps(p) || bytes % AC_BLOCK || !ac_in_gm(o->at) ||
        gap > (ac_address)MAX_GAP * AC_BLOCK || gap % AC_BLOCK)
        return false;
    for (uint32_t part = t->first; part < t->end; part++) {
        const ac_address to = o->at + part * o->block_stride + (size_t)t->x * column;
        mona_copy_rows(p->core, (mona_steps){to, (ptrdiff_t)step},
                       (mona_steps){result_of(p, t, part), (ptrdiff_t)(row_pitch(p, t) * column)},
                       t->count, bytes);
    }
    return true;
}

static bool store_joined(const program *p, const tile *t)
{
    const mona_row_at *o = &p->rows[t->y].output;
    const uint32_t blocks = joined_blocks(p, t) * (t->end - t->first);
    const mona_steps to = {o->at + t->first * o->block_stride, (ptrdiff_t)row_step(p, t)};
    if (blocks)
        mona_copy_rows(p->core, to, (mona_steps){result_of(p, t, t->first), blocks * AC_BLOCK},
                       t->count, blocks * AC_BLOCK);
    return blocks;
}

static void store_rows(const program *p, const tile *t)
{
    const bool together = store_joined(p, t) || store_parts(p, t);
    for (uint32_t y = 0; y < t->count && !together; y++)
        store_row(p, t, y);
}

/* ---- planes ---------------------------------------------------------------------------------- */

static ac_address plane_row(const program *p, const tile *t, uint32_t j)
{
    const planes_at *planes = p->row->planes;
    return planes->rows[t->first * p->k->width + j] +
           (size_t)t->x * planes->block * mona_type_size(planes->type);
}

/* Bytes from one row of planes to the next. 0: there is one, that differs from row to row, or one
 * copy of so many bytes of each cannot take them all. */
static ac_address planes_step(const program *p, const tile *t, uint32_t bytes)
{
    const ac_address step = p->k->width > 1 ? plane_row(p, t, 1) - plane_row(p, t, 0) : 0;
    for (uint32_t j = 2; j < p->k->width; j++)
        if (plane_row(p, t, j) - plane_row(p, t, j - 1) != step)
            return 0;
    const ac_address gap = step - bytes;
    return gap % AC_BLOCK == 0 && gap / AC_BLOCK <= MAX_GAP ? step : 0;
}

/* Whether all rows of planes begin and end at blocks of 32 bytes. */
static bool whole_planes(const program *p, const tile *t)
{
    bool whole = p->row->planes->padded;
    for (uint32_t j = 0; j < p->k->width; j++)
        whole &= plane_row(p, t, j) % AC_BLOCK == 0;
    return whole;
}

static void store_planes(const program *p, const tile *t)
{
    const uint32_t size = (uint32_t)mona_type_size(stored_type(p));
    const uint32_t bytes = t->pixels * p->row->planes->block * size;
    const uint32_t rest = whole_planes(p, t) ? 0 : bytes % AC_BLOCK;
    const uint32_t whole = (uint32_t)round_up(bytes - rest, AC_BLOCK);
    const ptrdiff_t step = (ptrdiff_t)planes_step(p, t, whole);
    const uint32_t lane_block = t->m1 * AC_FRACTAL * LANES * size; /* bytes */
    const ac_address result = p->ub.result[t->slot];
    if (whole && step)
        mona_copy_rows(p->core, (mona_steps){plane_row(p, t, 0), step},
                       (mona_steps){result, lane_block}, p->k->width, whole);
    if (rest)
        sync(p, AC_PIPE_V, AC_PIPE_S, 0);
    for (uint32_t j = 0; j < p->k->width; j++) {
        const ac_address from = result + (size_t)j * lane_block;
        if (whole && !step)
            ac_emit_copy_bytes(p->core, plane_row(p, t, j), from, bytes - rest);
        if (rest)
            mona_scalar_copy(p->core, plane_row(p, t, j) + bytes - rest, from + bytes - rest, rest);
    }
    if (rest)
        sync(p, AC_PIPE_S, AC_PIPE_V, 0);
}

/* ---- scatter --------------------------------------------------------------------------------- */

/* Channels of a row that fill up its last channel block are written as zeros. */
static void scatter(const program *p, const tile *t)
{
    const mona_row_at *o = &p->row->output;
    const uint32_t channels = p->conv->channels, size = (uint32_t)mona_type_size(o->type);
    const uint32_t end =
        t->end == p->k->parts ? ceil_div_u32(channels, o->c0) * o->c0 : t->end * LANES;
    const ac_move m = {t->pixels, size, o->c0 * size, LANES * size};
    sync(p, AC_PIPE_V, AC_PIPE_S, 0);
    for (uint32_t c = t->first * LANES; c < end; c++) {
        const ac_address to = mona_channel_at(o, c) + (size_t)t->x * m.dst_step;
        if (c < channels)
            mona_scalar_move(p->core, to, result_of(p, t, c / LANES) + c % LANES * size, m);
        else
            mona_scalar_fill(p->core, to,
                             (ac_fill){.count = t->pixels, .bytes = size, .step = m.dst_step});
    }
    sync(p, AC_PIPE_S, AC_PIPE_V, 0);
}

void mona_conv_store(const program *p, const tile *t)
{
    ac_emit_wait_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, t->slot);
    const bool at_once = is_whole_wide(p);
    if (at_once)
        scale_all(p, t);
    for (uint32_t part = t->first; part < t->end && !at_once; part++)
        round_part(p, t, part);
    sync(p, AC_PIPE_V, AC_PIPE_MTE3, 0);
    if (p->k->way == MONA_CONV_ROW)
        store_rows(p, t);
    else if (p->k->way == MONA_CONV_PLANES)
        store_planes(p, t);
    else
        scatter(p, t);
    ac_emit_set_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, t->slot);
}
