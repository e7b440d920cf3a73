/* The ways of a tile's results out of UB.
 *
 * Results leave in blocks of 32 bytes. Where 32 channels of 8 bits are a channel block, two tiles
 * of 16 channels are joined in fp16, each filling every second block, and then rounded; channels
 * that do not exist are masked. Everything else that is not a row of 16 channels is spread by the
 * scalar unit. */
#include "conv_instructions.h"

/* ---- UB ------------------------------------------------------------------------------------- */

static void place_pairs(program *p, uint8_t **at, uint32_t m1)
{
    const size_t fractals = m1 + 1; /* an even number of them is turned */
    p->ub.joined = take_halves(at, fractals * AC_FRACTAL * VECTOR);
    p->ub.bytes = take(at, fractals * AC_FRACTAL * AC_FRACTAL);
    p->ub.spare = take_halves(at, fractals * VECTOR);
}

void mona_conv_place_results(program *p, uint8_t **at, uint32_t m1)
{
    const size_t bytes = (size_t)m1 * AC_FRACTAL * VECTOR;
    if (p->pairs)
        place_pairs(p, at, m1);
    else
        p->ub.joined = take_halves(at, p->joins ? 2 * bytes : 0);
    p->ub.result = take(at, p->joins ? bytes : p->group * bytes + AC_FRACTAL * VECTOR);
}

/* ---- rounding ------------------------------------------------------------------------------- */

static ac_vconv rounding(const program *p)
{
    return p->row->output.type == MONA_U8 ? AC_F16_U8 : AC_F16_S8;
}

static size_t result_bytes(const program *p)
{
    return (size_t)p->m1 * AC_FRACTAL * VECTOR;
}

/* Scales and rounds ub.t to the output's type. */
static void round_result(const program *p, const tile *t, uint32_t n)
{
    const float scale = p->conv->epilogue.output_scale;
    uint8_t *result = p->ub.result + (n - t->first) * result_bytes(p);
    const bool half = p->row->output.type == MONA_F16;
    if (n == t->first)
        p->isa->wait_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
    if (half || scale != 1)
        muls_all(p->core, half ? (void *)result : p->ub.t, p->ub.t, scale, elements_of(t),
                 side_by_side);
    p->isa->barrier(p->core, AC_PIPE_V);
    if (!half)
        vconv_all(p->core, rounding(p), result, p->ub.t, elements_of(t));
    p->isa->barrier(p->core, AC_PIPE_V);
}

/* Scales block n on its way to its half of ub.joined. */
static void join(const program *p, const tile *t, uint32_t n)
{
    const uint32_t count = elements_of(t);
    if ((n + 1) * AC_FRACTAL > p->conv->channels)
        mona_conv_with_block(p, AC_VAND, p->ub.t, p->ub.mask, t);
    muls_all(p->core, p->ub.joined + (n - t->first) * AC_FRACTAL, p->ub.t,
             p->conv->epilogue.output_scale, count, dst_every_second);
    if (n == t->first && n + 1 == t->end && p->conv->blocks > 1)
        dup_all(p->core, p->ub.joined + AC_FRACTAL, 0, count, dst_every_second);
    p->isa->barrier(p->core, AC_PIPE_V);
}

static uint8_t *output_at(const program *p, const tile *t)
{
    const ac_row *o = &p->row->output;
    return o->data + t->first * AC_FRACTAL / o->c0 * o->block_stride +
           (size_t)t->x * o->c0 * mona_type_size(o->type);
}

/* Results that lie as the output row does: whole 32-byte blocks by MTE3; half a block (one pixel of
 * 16 8-bit channels, of an odd count) by the scalar unit, since no byte beyond may be written. */
static void store_row(const program *p, const tile *t)
{
    const ac_row *o = &p->row->output;
    const uint32_t bytes = t->pixels * o->c0 * (uint32_t)mona_type_size(o->type);
    const uint32_t whole = bytes / AC_BLOCK * AC_BLOCK, rest = bytes - whole;
    uint8_t *to = output_at(p, t);
    sync(p, AC_PIPE_V, AC_PIPE_MTE3, 0);
    if (whole)
        copy_blocks(p, AC_UB_L1, to, p->ub.result, whole / AC_BLOCK);
    if (!rest)
        return;
    sync(p, AC_PIPE_V, AC_PIPE_S, 0);
    scalar_copy(p->core, to + whole, p->ub.result + whole, rest);
    sync(p, AC_PIPE_S, AC_PIPE_V, 0);
}

/* The channels of the tile there are. */
static uint32_t channels_of(const program *p, const tile *t)
{
    return at_most(t->end * AC_FRACTAL, p->conv->channels) - t->first * AC_FRACTAL;
}

/* Says what ac_scatter reads and writes. */
static void announce_scatter(const program *p, const tile *t)
{
    const ac_planes *planes = p->row->planes;
    const ac_row *o = &p->row->output;
    const uint32_t channels = channels_of(p, t), block = planes ? planes->block : 1;
    for (uint32_t n = t->first; n < t->end; n++)
        p->isa->scalar(p->core, p->ub.result + (n - t->first) * result_bytes(p),
                       elements_of(t) * mona_type_size(o->type), NULL, 0, 0);
    if (!planes) {
        p->isa->scalar(p->core, NULL, 0, output_at(p, t),
                       t->pixels * o->c0 * mona_type_size(o->type),
                       AC_SCALAR_STEPS * t->pixels * o->c0);
        return;
    }
    const size_t pixel = block * mona_type_size(planes->type);
    for (uint32_t i = 0; i < channels / block; i++)
        p->isa->scalar(p->core, NULL, 0,
                       planes->rows[t->first * AC_FRACTAL / block + i] + t->x * pixel,
                       t->pixels * pixel, AC_SCALAR_STEPS * t->pixels * block);
}

static void scatter(const program *p, const tile *t)
{
    const ac_row source = {p->ub.result, result_bytes(p), AC_FRACTAL, p->row->output.type};
    sync(p, AC_PIPE_V, AC_PIPE_S, 0);
    announce_scatter(p, t);
    ac_scatter(p->isa, p->row, &source, t->first, t->x, t->pixels);
    sync(p, AC_PIPE_S, AC_PIPE_V, 0);
}

/* Bytes of UB between two rows of planes. */
static size_t pairs_row_bytes(const program *p)
{
    return (size_t)(p->m1 + 1) / 2 * 2 * AC_BLOCK;
}

/* Depth to space of 2 x 2 samples of 8 bits. A pixel's 16 rounded channels are 8 pairs, each of one
 * row of planes; two pixels are a block of 16 pairs, and 16 such blocks, turned, are rows of 16
 * pairs. For the pairs of 32 pixels to lie in order, a block must hold pixels m and m + 16: fp16
 * blocks of ub.t go to every second place, each 8 pixels of 32 by an instruction of their own. */
static void pair_pixels(const program *p, const tile *t, uint32_t groups)
{
    const uint32_t fractals = (t->pixels + AC_FRACTAL - 1) / AC_FRACTAL;
    const ac_vector v = {.repeat = (uint8_t)groups,
                         .lanes = HALF_LANES,
                         .dst_block = 2,
                         .a_block = 1,
                         .dst_repeat = 32,
                         .a_repeat = 32};
    if (fractals % 2)
        dup_all(p->core, p->ub.t + (size_t)fractals * AC_FRACTAL * AC_FRACTAL, 0,
                AC_FRACTAL * AC_FRACTAL, side_by_side);
    p->isa->barrier(p->core, AC_PIPE_V);
    for (uint32_t part = 0; part < 4; part++)
        p->isa->vecs(p->core, AC_VMULS, p->ub.joined + (part % 2 * 16 + part / 2) * AC_FRACTAL,
                     p->ub.t + part * 8 * AC_FRACTAL, p->conv->epilogue.output_scale, &v);
    p->isa->barrier(p->core, AC_PIPE_V);
}

/* To rows of ub.result. */
static void round_pairs(const program *p, const tile *t)
{
    const uint32_t groups = (t->pixels + 2 * AC_FRACTAL - 1) / (2 * AC_FRACTAL);
    uint16_t *dst[AC_FRACTAL];
    const uint16_t *src[AC_FRACTAL];
    pair_pixels(p, t, groups);
    vconv_all(p->core, rounding(p), p->ub.bytes, p->ub.joined,
              groups * 2 * AC_FRACTAL * AC_FRACTAL);
    for (uint32_t i = 0; i < AC_FRACTAL; i++) {
        const uint32_t row = i % 8, second = i / 8; /* of two blocks of pairs */
        src[i] = (const uint16_t *)(const void *)(p->ub.bytes + i * AC_BLOCK);
        dst[i] =
            row < channels_of(p, t) / 2
                ? (uint16_t *)(void *)(p->ub.result + row * pairs_row_bytes(p) + second * AC_BLOCK)
                : p->ub.spare;
    }
    p->isa->wait_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
    p->isa->barrier(p->core, AC_PIPE_V);
    p->isa->transpose(p->core, dst, src, (uint8_t)groups, 2, AC_FRACTAL);
    p->isa->barrier(p->core, AC_PIPE_V);
}

/* Whole blocks by MTE3, the rest of a row by the scalar unit. */
static void store_pairs(const program *p, const tile *t)
{
    const uint32_t bytes = 2 * t->pixels, whole = bytes / AC_BLOCK * AC_BLOCK, rest = bytes - whole;
    sync(p, AC_PIPE_V, AC_PIPE_MTE3, 0);
    if (rest)
        sync(p, AC_PIPE_V, AC_PIPE_S, 0);
    for (uint32_t i = 0; i < channels_of(p, t) / 2; i++) {
        const uint8_t *from = p->ub.result + i * pairs_row_bytes(p);
        uint8_t *to = p->row->planes->rows[t->first * AC_FRACTAL / 2 + i] + (size_t)t->x * 2;
        if (whole)
            copy_blocks(p, AC_UB_GM, to, from, whole / AC_BLOCK);
        if (rest)
            scalar_copy(p->core, to + whole, from + whole, rest);
    }
    if (rest)
        sync(p, AC_PIPE_S, AC_PIPE_V, 0);
}

static void finish_joined(const program *p, const tile *t)
{
    p->isa->wait_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
    vconv_all(p->core, rounding(p), p->ub.result, p->ub.joined, 2 * elements_of(t));
    store_row(p, t);
}

void mona_conv_round(const program *p, const tile *t, uint32_t n)
{
    if (p->pairs)
        round_pairs(p, t);
    else
        (p->joins ? join : round_result)(p, t, n);
}

void mona_conv_store(const program *p, const tile *t)
{
    if (p->joins)
        finish_joined(p, t);
    else if (p->pairs)
        store_pairs(p, t);
    else if (ac_scatter_needed(p->row))
        scatter(p, t);
    else
        store_row(p, t);
    p->isa->set_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
}
