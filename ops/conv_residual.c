/* The residual of a tile: to UB, widened to scaled fp16 for 16 channels at a time, added.
 *
 * It comes in whole blocks of 32 bytes. If its channel block has 16 channels, or 32 of which every
 * second block of fp16 is wanted, the vector unit adds it as it lies. One channel for all is spread
 * by turning it; few channels are spread by the scalar unit. */
#include "conv_instructions.h"

/* ---- UB ------------------------------------------------------------------------------------- */

/* A piece of residual holds one of its channel blocks: at most 32 bytes a pixel, and a block more
 * at either end, where rounding to blocks may lead. */
static size_t piece_bytes(uint32_t m1)
{
    return (size_t)m1 * AC_FRACTAL * VECTOR + 2 * AC_BLOCK;
}

/* Pixels of a residual in a block of 16 fp16 values. */
static uint32_t pixels_of_block(const program *p)
{
    return AC_FRACTAL / p->row->residual.c0;
}

/* What spread_channel needs: one group of 16 blocks more than the pixels, since both ends may be
 * cut. */
static void place_channel(program *p, uint8_t **at, uint32_t m1)
{
    const size_t q = pixels_of_block(p), groups = m1 + 2; /* with q 1; m1 / q + 2 are enough */
    buffers *ub = &p->ub;
    ub->residual = take_halves(at, (m1 + 2 * q) * AC_FRACTAL * VECTOR);
    ub->stored = take_halves(at, groups * AC_FRACTAL * VECTOR);
    ub->phases = take_halves(at, (m1 + 2 * q) * VECTOR);
    ub->unused = take_halves(at, groups * VECTOR);
}

static bool has_one_channel(const program *p)
{
    return p->conv->epilogue.add && p->conv->epilogue.broadcast;
}

void mona_conv_place_residual(program *p, uint8_t **at, uint32_t m1)
{
    const bool add = p->conv->epilogue.add;
    const uint32_t vectors = p->row->residual.c0 > AC_FRACTAL ? 2 : 1;
    if (has_one_channel(p))
        place_channel(p, at, m1);
    else
        p->ub.residual = take_halves(at, add ? (size_t)vectors * m1 * AC_FRACTAL * VECTOR : 0);
    for (uint32_t h = 0; h < HALVES; h++)
        p->ub.raw[h] = take(at, add ? p->group * piece_bytes(m1) : 0);
}

/* ---- pieces of it -----------------------------------------------------------------------------
 */

/* The channel block of the residual that holds the 16 channels of block n. */
static uint32_t residual_block(const program *p, uint32_t n)
{
    return p->conv->epilogue.broadcast ? 0 : n * AC_FRACTAL / p->row->residual.c0;
}

static const uint8_t *residual_at(const program *p, const tile *t, uint32_t n)
{
    const ac_row *r = &p->row->residual;
    return r->data + residual_block(p, n) * r->block_stride +
           (size_t)t->x * r->c0 * mona_type_size(r->type);
}

/* Where in UB it is. */
static uint8_t *piece_of(const program *p, const tile *t, uint32_t n)
{
    return p->ub.raw[t->slot] +
           (residual_block(p, n) - residual_block(p, t->first)) * piece_bytes(p->m1);
}

static bool is_new_piece(const program *p, const tile *t, uint32_t n)
{
    return n == t->first || residual_block(p, n) != residual_block(p, n - 1);
}

void mona_conv_load_residual(const program *p, const tile *t)
{
    const ac_row *r = &p->row->residual;
    if (!p->conv->epilogue.add)
        return;
    const size_t bytes = (size_t)t->pixels * r->c0 * mona_type_size(r->type);
    p->isa->wait_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, (ac_event)t->slot);
    for (uint32_t n = t->first; n < t->end; n++) {
        const uint8_t *from = residual_at(p, t, n);
        const size_t beyond = (uintptr_t)from % AC_BLOCK;
        if (is_new_piece(p, t, n))
            copy_blocks(p, AC_L1_UB, piece_of(p, t, n), from - beyond,
                        (uint32_t)((beyond + bytes + AC_BLOCK - 1) / AC_BLOCK));
    }
    p->isa->set_flag(p->core, AC_PIPE_MTE1, AC_PIPE_V, (ac_event)t->slot);
}

/* ---- one channel, spread ----------------------------------------------------------------------
 */

/* Repeats one block apart to repeats dst_repeat blocks apart, as often as a stride has to be at
 * most 255. */
static void turn_back(const program *p, uint16_t *dst[AC_FRACTAL], const uint16_t *src[AC_FRACTAL],
                      uint32_t groups, uint32_t dst_repeat)
{
    if (dst_repeat <= UINT8_MAX) {
        p->isa->transpose(p->core, dst, src, (uint8_t)groups, (uint8_t)dst_repeat, 1);
        return;
    }
    for (uint32_t g = 0; g < groups; g++) {
        p->isa->transpose(p->core, dst, src, 1, 1, 1);
        for (uint32_t i = 0; i < AC_FRACTAL; i++) {
            src[i] += AC_FRACTAL;
            dst[i] += dst_repeat * AC_FRACTAL;
        }
    }
}

/* Blocks of fp16 at `from`, [group][16 blocks of q pixels of 16 / q channels], as channel 0 of all
 * pixels 16 times: ub.residual, [pixel][16]. Turned once, element 16 / q * k of the blocks of a
 * group, channel 0 of their pixels k, lie side by side; that block, turned 16 times over, is each
 * of its values 16 times. */
static void replicate(const program *p, const uint16_t *from, uint32_t groups)
{
    const uint32_t q = pixels_of_block(p), c0 = p->row->residual.c0;
    uint16_t *dst[AC_FRACTAL];
    const uint16_t *src[AC_FRACTAL];
    for (uint32_t i = 0; i < AC_FRACTAL; i++) {
        src[i] = from + i * AC_FRACTAL;
        dst[i] = i % c0 ? p->ub.unused : p->ub.phases + i / c0 * groups * AC_FRACTAL;
    }
    p->isa->transpose(p->core, dst, src, (uint8_t)groups, 1, AC_FRACTAL);
    p->isa->barrier(p->core, AC_PIPE_V);
    for (uint32_t k = 0; k < q; k++) {
        for (uint32_t i = 0; i < AC_FRACTAL; i++) {
            src[i] = p->ub.phases + k * groups * AC_FRACTAL;
            dst[i] = p->ub.residual + (i * q + k) * AC_FRACTAL;
        }
        turn_back(p, dst, src, groups, q * AC_FRACTAL);
    }
    p->isa->barrier(p->core, AC_PIPE_V);
}

/* A residual of one channel as fp16, scaled, for all 16 channels; where pixel 0 then is. The last
 * group is cleared before it is partly filled. */
static const uint16_t *spread_channel(const program *p, const tile *t, uint32_t n)
{
    enum { GROUP = AC_FRACTAL * AC_FRACTAL };
    const ac_row *r = &p->row->residual;
    const size_t beyond = (uintptr_t)residual_at(p, t, t->first) % AC_BLOCK;
    const uint32_t before = (uint32_t)(beyond / (r->c0 * mona_type_size(r->type)));
    const uint32_t count = (before + t->pixels) * r->c0, groups = (count + GROUP - 1) / GROUP;
    const void *raw = piece_of(p, t, t->first);
    uint16_t *stored = p->ub.stored;
    if (n > t->first)
        return p->ub.residual + (size_t)before * AC_FRACTAL;
    dup_all(p->core, stored + (groups - 1) * GROUP, 0, GROUP, side_by_side);
    p->isa->barrier(p->core, AC_PIPE_V);
    if (r->type == MONA_F16) {
        muls_all(p->core, stored, raw, p->conv->epilogue.residual_scale, count, side_by_side);
    } else {
        vconv_all(p->core, r->type == MONA_U8 ? AC_U8_F16 : AC_S8_F16, stored, raw, count);
        p->isa->barrier(p->core, AC_PIPE_V);
        muls_all(p->core, stored, stored, p->conv->epilogue.residual_scale, count, side_by_side);
    }
    p->isa->barrier(p->core, AC_PIPE_V);
    replicate(p, stored, groups);
    return p->ub.residual + (size_t)before * AC_FRACTAL;
}

/* The residual of block n as fp16, scaled, by the scalar unit: [pixel][16]. */
static void spread_residual(const program *p, const tile *t, uint32_t n)
{
    const ac_row *r = &p->row->residual;
    const size_t element = mona_type_size(r->type);
    const uint8_t *source[AC_FRACTAL],
        *first = piece_of(p, t, n) + (uintptr_t)residual_at(p, t, n) % AC_BLOCK;
    uint32_t step[AC_FRACTAL];
    float scale[AC_FRACTAL];
    const uint32_t channels = at_most(r->c0, AC_FRACTAL);
    for (uint32_t i = 0; i < channels; i++) {
        source[i] = first + i * element;
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
        .output = {(uint8_t *)p->ub.residual, 0, AC_FRACTAL, MONA_F16},
    };
    sync(p, AC_PIPE_V, AC_PIPE_S, 0);
    p->isa->scalar(p->core, first, t->pixels * r->c0 * element, p->ub.residual,
                   (size_t)t->pixels * VECTOR, AC_SCALAR_STEPS * elements_of(t));
    p->isa->pack_row(&pack);
    sync(p, AC_PIPE_S, AC_PIPE_V, 0);
}

/* The residual's piece of block n as fp16, scaled, all its channels; where it then is. */
static const uint16_t *widen_residual(const program *p, const tile *t, uint32_t n)
{
    const ac_row *r = &p->row->residual;
    const float scale = p->conv->epilogue.residual_scale;
    const uint32_t count = t->pixels * r->c0;
    const void *from = piece_of(p, t, n) + (uintptr_t)residual_at(p, t, n) % AC_BLOCK;
    if (r->type == MONA_F16 && scale == 1)
        return from;
    if (!is_new_piece(p, t, n))
        return p->ub.residual;
    if (r->type != MONA_F16) {
        vconv_all(p->core, r->type == MONA_U8 ? AC_U8_F16 : AC_S8_F16, p->ub.residual, from, count);
        p->isa->barrier(p->core, AC_PIPE_V);
        from = p->ub.residual;
    }
    if (scale != 1)
        muls_all(p->core, p->ub.residual, from, scale, count, side_by_side);
    p->isa->barrier(p->core, AC_PIPE_V);
    return p->ub.residual;
}

void mona_conv_add_residual(const program *p, const tile *t, uint32_t n)
{
    const uint32_t c0 = p->row->residual.c0;
    const uint16_t *residual = p->ub.residual;
    const bool one = has_one_channel(p), spread = one || c0 < AC_FRACTAL;
    if (n == t->first)
        p->isa->wait_flag(p->core, AC_PIPE_MTE1, AC_PIPE_V, (ac_event)t->slot);
    if (one)
        residual = spread_channel(p, t, n);
    else if (spread)
        spread_residual(p, t, n);
    else
        residual = widen_residual(p, t, n) + n * AC_FRACTAL % c0;
    vec2_all(p->core, AC_VADD, p->ub.t, p->ub.t, residual, elements_of(t),
             spread || c0 == AC_FRACTAL ? side_by_side : b_every_second);
    p->isa->barrier(p->core, AC_PIPE_V);
    if (n + 1 == t->end)
        p->isa->set_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, (ac_event)t->slot);
}
