/* The vector unit's part of conv_instructions.c: constants, drain, epilogue, and the way out of UB.
 *
 * Vectors work on exactly the tile's elements; drain writes whole fractals, so the buffers have
 * room for them. Vectors that depend on each other have a barrier of V between them.
 *
 * A residual comes in whole blocks of 32 bytes. If its channel block has 16 channels, or 32 of
 * which every second block of fp16 is wanted, the vector unit adds it as it lies. One channel for
 * all is spread by turning it; few channels are spread by the scalar unit.
 *
 * Results leave in blocks of 32 bytes too. Where 32 channels of 8 bits are a channel block, two
 * tiles of 16 channels are joined in fp16, each filling every second block, and then rounded;
 * channels that do not exist are masked. Everything else that is not a row of 16 channels is spread
 * by the scalar unit. */
#include "conv_instructions.h"

/* ---- UB ------------------------------------------------------------------------------------- */

static uint8_t *take(uint8_t **at, size_t bytes)
{
    uint8_t *taken = *at;
    *at += (bytes + AC_BLOCK - 1) / AC_BLOCK * AC_BLOCK;
    return taken;
}

static uint16_t *take_halves(uint8_t **at, size_t bytes)
{
    return (uint16_t *)(void *)take(at, bytes);
}

static void place_constants(program *p, uint8_t **at)
{
    const size_t batch = at_most(p->conv->blocks, MAX_BATCH);
    buffers *ub = &p->ub;
    ub->bias = take(at, batch * 2 * VECTOR);
    ub->float_scale = take(at, batch * 2 * VECTOR);
    ub->float_slope = take(at, batch * 2 * VECTOR);
    ub->scale = take_halves(at, batch * VECTOR);
    ub->slope = take_halves(at, batch * VECTOR);
    ub->zero = take_halves(at, VECTOR);
    ub->low = take_halves(at, VECTOR);
    ub->high = take_halves(at, VECTOR);
    ub->mask = take_halves(at, VECTOR);
}

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

static void place_pairs(program *p, uint8_t **at, uint32_t m1)
{
    const size_t fractals = m1 + 1; /* an even number of them is turned */
    p->ub.joined = take_halves(at, fractals * AC_FRACTAL * VECTOR);
    p->ub.bytes = take(at, fractals * AC_FRACTAL * AC_FRACTAL);
    p->ub.spare = take_halves(at, fractals * VECTOR);
}

size_t mona_conv_place_buffers(program *p, uint32_t m1)
{
    const ac_epilogue *e = &p->conv->epilogue;
    const size_t bytes = (size_t)m1 * AC_FRACTAL * VECTOR;
    const uint32_t residual_vectors = p->row->residual.c0 > AC_FRACTAL ? 2 : 1;
    buffers *ub = &p->ub;
    uint8_t *at = p->core->ub;
    place_constants(p, &at);
    ub->t = take_halves(&at, bytes + (p->pairs ? AC_FRACTAL * VECTOR : 0));
    ub->negative = take_halves(&at, e->activation == MONA_ACT_PRELU ? bytes : 0);
    if (has_one_channel(p))
        place_channel(p, &at, m1);
    else
        ub->residual = take_halves(&at, e->add ? residual_vectors * bytes : 0);
    for (uint32_t h = 0; h < HALVES; h++)
        ub->raw[h] = take(&at, e->add ? p->group * piece_bytes(m1) : 0);
    if (p->pairs)
        place_pairs(p, &at, m1);
    ub->joined = p->pairs ? ub->joined : take_halves(&at, p->joins ? 2 * bytes : 0);
    ub->result = take(&at, p->joins ? bytes : p->group * bytes + AC_FRACTAL * VECTOR);
    return (size_t)(at - p->core->ub);
}

static void copy_blocks(const program *p, ac_path path, void *to, const void *from, uint32_t blocks)
{
    p->isa->copy(p->core, path, to, from, (ac_copy){.bursts = 1, .blocks = (uint16_t)blocks});
}

/* Floats that hold fp16 values, to UB and then to fp16. */
static void load_halves(const program *p, uint16_t *to, uint8_t *floats, const float *from,
                        uint32_t first, uint32_t blocks)
{
    copy_blocks(p, AC_L1_UB, floats, from + (size_t)first * AC_FRACTAL,
                blocks * 2 * VECTOR / AC_BLOCK);
    sync(p, AC_PIPE_MTE1, AC_PIPE_V, 2);
    vconv_all(p->core, AC_F32_F16, to, floats, blocks * AC_FRACTAL);
}

static void fill_blocks(const program *p)
{
    const ac_epilogue *e = &p->conv->epilogue;
    const uint32_t real = p->conv->channels % AC_FRACTAL;
    dup_all(p->core, p->ub.zero, 0, AC_FRACTAL, side_by_side);
    dup_all(p->core, p->ub.low, ac_f16_from_f32(e->clip_min), AC_FRACTAL, side_by_side);
    dup_all(p->core, p->ub.high, ac_f16_from_f32(e->clip_max), AC_FRACTAL, side_by_side);
    dup_all(p->core, p->ub.mask, 0, AC_FRACTAL, side_by_side);
    p->isa->barrier(p->core, AC_PIPE_V);
    dup_all(p->core, p->ub.mask, 0xffff, real, side_by_side);
    if (p->joins && p->conv->blocks == 1) /* no tile has a second block */
        dup_all(p->core, p->ub.joined + AC_FRACTAL, 0, p->m1 * AC_FRACTAL * AC_FRACTAL,
                dst_every_second);
}

/* Constants change once in MAX_BATCH blocks, so the pipes are simply emptied first. */
void mona_conv_load_constants(program *p, const tile *t)
{
    const uint32_t batch = t->first / MAX_BATCH, first = batch * MAX_BATCH;
    const uint32_t blocks = at_most(p->conv->blocks - first, MAX_BATCH);
    const ac_epilogue *e = &p->conv->epilogue;
    if (p->batch == batch)
        return;
    if (p->batch == MONA_NONE)
        fill_blocks(p);
    p->batch = batch;
    p->isa->barrier(p->core, AC_PIPE_ALL);
    copy_blocks(p, AC_L1_UB, p->ub.bias, (const uint8_t *)p->conv->bias + first * 2 * VECTOR,
                blocks * 2 * VECTOR / AC_BLOCK);
    sync(p, AC_PIPE_MTE1, AC_PIPE_V, 2);
    if (e->scale)
        load_halves(p, p->ub.scale, p->ub.float_scale, e->scale, first, blocks);
    if (e->slope)
        load_halves(p, p->ub.slope, p->ub.float_slope, e->slope, first, blocks);
    p->isa->barrier(p->core, AC_PIPE_V);
}

/* ---- the residual ---------------------------------------------------------------------------- */

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

static uint32_t elements_of(const tile *t)
{
    return t->pixels * AC_FRACTAL;
}

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
                   (size_t)t->pixels * VECTOR, STEPS_PER_ELEMENT * elements_of(t));
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

static void add_residual(const program *p, const tile *t, uint32_t n)
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

/* ---- activations ----------------------------------------------------------------------------- */

/* ub.t op a block of 16 values, to `to`. */
static void with_block(const program *p, ac_vec2 op, uint16_t *to, const uint16_t *block,
                       const tile *t)
{
    vec2_all(p->core, op, to, p->ub.t, block, elements_of(t), b_again);
    p->isa->barrier(p->core, AC_PIPE_V);
}

static void prelu(const program *p, const tile *t, uint32_t n)
{
    uint16_t *negative = p->ub.negative;
    const uint16_t *slope = p->ub.slope + (size_t)(n % MAX_BATCH) * AC_FRACTAL;
    with_block(p, AC_VMIN, negative, p->ub.zero, t);
    vec2_all(p->core, AC_VMUL, negative, negative, slope, elements_of(t), b_again);
    with_block(p, AC_VMAX, p->ub.t, p->ub.zero, t);
    vec2_all(p->core, AC_VADD, p->ub.t, p->ub.t, negative, elements_of(t), side_by_side);
    p->isa->barrier(p->core, AC_PIPE_V);
}

static void activate(const program *p, uint8_t activation, const tile *t, uint32_t n)
{
    switch ((mona_activation)activation) {
    case MONA_ACT_RELU:
        with_block(p, AC_VMAX, p->ub.t, p->ub.zero, t);
        break;
    case MONA_ACT_PRELU:
        prelu(p, t, n);
        break;
    case MONA_ACT_CLIP:
        with_block(p, AC_VMAX, p->ub.t, p->ub.low, t);
        with_block(p, AC_VMIN, p->ub.t, p->ub.high, t);
        break;
    case MONA_ACT_NONE:
    case MONA_ACT_COUNT:
        break;
    }
}

/* RELU before a conversion that saturates at 0 anyway. */
static bool rounding_activates(const program *p)
{
    const ac_epilogue *e = &p->conv->epilogue;
    return e->activation_after_add == MONA_ACT_RELU && p->row->output.type == MONA_U8 &&
           e->output_scale >= 0;
}

/* Block n into ub.t; drain has RELU built in. */
static void apply_epilogue(const program *p, const tile *t, uint32_t n)
{
    const ac_epilogue *e = &p->conv->epilogue;
    const bool relu = e->activation == MONA_ACT_RELU;
    p->isa->drain(p->core, e->scale ? AC_DRAIN_S32_F16_DEQ : AC_DRAIN_F32_F16, p->ub.t,
                  l0c_of(p, t, n), (t->pixels + AC_FRACTAL - 1) / AC_FRACTAL,
                  e->scale ? p->ub.scale + (size_t)(n % MAX_BATCH) * AC_FRACTAL : NULL, relu);
    p->isa->barrier(p->core, AC_PIPE_V);
    if (!relu)
        activate(p, e->activation, t, n);
    if (e->add)
        add_residual(p, t, n);
    if (!rounding_activates(p))
        activate(p, e->activation_after_add, t, n);
}

/* ---- out ------------------------------------------------------------------------------------ */

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
        with_block(p, AC_VAND, p->ub.t, p->ub.mask, t);
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
    p->isa->scalar(p->core, p->ub.result + whole, rest, to + whole, rest, STEPS_PER_ELEMENT * rest);
    memcpy(to + whole, p->ub.result + whole, rest);
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
                       STEPS_PER_ELEMENT * t->pixels * o->c0);
        return;
    }
    const size_t pixel = block * mona_type_size(planes->type);
    for (uint32_t i = 0; i < channels / block; i++)
        p->isa->scalar(p->core, NULL, 0,
                       planes->rows[t->first * AC_FRACTAL / block + i] + t->x * pixel,
                       t->pixels * pixel, STEPS_PER_ELEMENT * t->pixels * block);
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
            p->isa->scalar(p->core, from + whole, rest, to + whole, rest, STEPS_PER_ELEMENT * rest);
        memcpy(to + whole, from + whole, rest);
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

void mona_conv_finish(const program *p, const tile *t)
{
    p->isa->wait_flag(p->core, AC_PIPE_M, AC_PIPE_V, (ac_event)t->slot);
    for (uint32_t n = t->first; n < t->end; n++) {
        apply_epilogue(p, t, n);
        if (p->pairs)
            round_pairs(p, t);
        else
            (p->joins ? join : round_result)(p, t, n);
    }
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
