/* One output row of a convolution as an AI Core program.
 *
 * A tile is m = 16 * m1 pixels of one block of 16 outputs. Its K, counted in fractals, is cut into
 * chunks that fit half of L0A and half of L0B, so that MTE1 fills one half while the cube works on
 * the other; L0C has two halves as well, and a tile's vector work is issued after the next tile's
 * cube work, so that V and M overlap. With one chunk the weights of a block stay in L0B for all of
 * its tiles, which matters with 16 outputs: loading them takes 2 cycles a fractal, as much as the
 * cube needs for two rows of A.
 *
 * L0A: [half][m1][chunk fractals]. L0B: [half][chunk fractals]. L0C: [half][m1]. UB: see `buffers`.
 * Flags: event h belongs to half h; a flag that guards a buffer's reuse is set once beforehand and
 * awaited once at the end, so that every set has its wait. */
#include "helpers.h"

#include "../engine/aicore/f16.h"
#include "../engine/aicore/scatter.h"

enum {
    HALVES = 2,
    MAX_M1 = 16, /* 256 pixels: a vector instruction then takes 32 of its 255 repeats */
    MAX_JUMP = 127,
    C_FRACTAL_BYTES = AC_FRACTAL * AC_FRACTAL * 4,
    VECTOR = AC_FRACTAL * 2, /* bytes: 16 fp16 values */
};

/* UB: two slots of per-block constants, then tiles of m pixels x 16 channels. */
typedef struct buffers {
    uint8_t *bias[HALVES]; /* 16 x 32 bit */
    uint16_t *slope[HALVES];
    uint16_t *t, *residual, *work; /* fp16 */
    uint8_t *raw;                  /* the residual as stored */
    uint8_t *result;               /* rounded, one tile for each block of a scatter group */
} buffers;

typedef struct tile {
    uint32_t n, x, pixels;
    uint32_t slot; /* half of L0C and slot of constants */
} tile;

typedef struct program {
    ac_core *core;
    const ac_isa *isa;
    const ac_conv_row *row;
    const ac_conv *conv;
    uint32_t element, fractal_k, fractal_bytes, run_fractals;
    uint32_t chunk, m1; /* of a full tile */
    uint32_t group;
    buffers ub;
    uint32_t slot_block[HALVES]; /* block whose constants a slot holds; MONA_NONE: none */
    uint32_t l0b_block;          /* block whose weights L0B holds, when K is one chunk */
    uint32_t half;               /* of L0A, next */
} program;

static uint32_t at_most(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t k_fractals(const program *p, uint32_t n)
{
    return p->conv->run_count[n] * p->run_fractals;
}

static void choose_tile(program *p)
{
    const ac_target *t = p->core->target;
    uint32_t most = 0;
    for (uint32_t n = 0; n < p->conv->blocks; n++)
        most = k_fractals(p, n) > most ? k_fractals(p, n) : most;
    p->chunk = at_most(most, at_most(t->l0a_bytes, t->l0b_bytes) / HALVES / p->fractal_bytes);
    p->chunk = at_most(p->chunk, at_most(MAX_JUMP, AC_MAX_MKN / p->fractal_k));
    p->m1 = at_most(t->l0a_bytes / HALVES / p->fractal_bytes / p->chunk,
                    t->l0c_bytes / HALVES / C_FRACTAL_BYTES);
    const uint32_t tiles = 4 + p->group, constants = HALVES * (2 * VECTOR + VECTOR);
    p->m1 = at_most(p->m1, (t->ub_bytes - constants) / (tiles * AC_FRACTAL * VECTOR));
    p->m1 = at_most(p->m1, MAX_M1);
}

static void place_buffers(program *p)
{
    uint8_t *at = p->core->ub;
    const size_t bytes = (size_t)p->m1 * AC_FRACTAL * VECTOR;
    for (uint32_t i = 0; i < HALVES; i++, at += 3 * VECTOR) {
        p->ub.bias[i] = at;
        p->ub.slope[i] = (uint16_t *)(void *)(at + 2 * VECTOR);
    }
    p->ub.t = (uint16_t *)(void *)at;
    p->ub.residual = (uint16_t *)(void *)(at + bytes);
    p->ub.work = (uint16_t *)(void *)(at + 2 * bytes);
    p->ub.raw = at + 3 * bytes;
    p->ub.result = at + 4 * bytes;
}

/* ---- cube ----------------------------------------------------------------------------------- */

static void sync(const program *p, ac_pipe from, ac_pipe to, uint32_t event)
{
    p->isa->set_flag(p->core, from, to, (ac_event)event);
    p->isa->wait_flag(p->core, from, to, (ac_event)event);
}

/* Brings a block's bias and slopes into the tile's slot. They change once a row at most, so the
 * pipes are simply emptied first. */
static void load_constants(program *p, const tile *t)
{
    if (p->slot_block[t->slot] == t->n)
        return;
    p->slot_block[t->slot] = t->n;
    p->isa->barrier(p->core, AC_PIPE_ALL);
    const uint8_t *bias = (const uint8_t *)p->conv->bias + (size_t)t->n * 2 * VECTOR;
    p->isa->copy(p->core, AC_GM_UB, p->ub.bias[t->slot], bias,
                 (ac_copy){.bursts = 1, .blocks = 2 * VECTOR / AC_BLOCK});
    sync(p, AC_PIPE_MTE2, AC_PIPE_V, 0);
    const float *slope = p->conv->epilogue.slope;
    for (uint32_t i = 0; slope && i < AC_FRACTAL; i++)
        p->ub.slope[t->slot][i] = ac_f16_from_f32(slope[t->n * AC_FRACTAL + i]);
    sync(p, AC_PIPE_S, AC_PIPE_V, 0);
}

/* A fractals [first, first + count) of the tile's K, one load3d each. */
static void load_a(const program *p, const tile *t, uint8_t *l0a, uint32_t first, uint32_t count)
{
    const ac_conv *c = p->conv;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t run = (first + i) / p->run_fractals, f = (first + i) % p->run_fractals;
        const ac_load3d l = {
            .column = (uint16_t)(f * p->fractal_k / c->c0),
            .columns = (uint16_t)((t->pixels - 1) * c->stride + c->run_elements[0] / c->c0),
            .stride = (uint8_t)c->stride,
            .dilation = 1, /* a run's columns are neighbours */
            .c0 = (uint8_t)c->c0,
            .element = (uint8_t)p->element,
            .repeat = (uint8_t)((t->pixels + AC_FRACTAL - 1) / AC_FRACTAL),
            .jump = (uint8_t)count,
        };
        const uint8_t *src = p->row->runs[c->first_run[t->n] + run] + (size_t)t->x * c->pixel_bytes;
        p->isa->load3d(p->core, l0a + i * p->fractal_bytes, src, &l);
    }
}

static void load_b(program *p, const tile *t, uint8_t *l0b, uint32_t first, uint32_t count)
{
    const bool whole = count == k_fractals(p, t->n);
    if (whole && p->l0b_block == t->n)
        return;
    if (whole || p->l0b_block != MONA_NONE)
        p->isa->barrier(p->core, AC_PIPE_ALL);
    p->l0b_block = whole ? t->n : MONA_NONE;
    const uint8_t *weights = p->conv->weights + p->conv->weights_offset[t->n];
    p->isa->load2d(p->core, l0b, weights + (size_t)first * p->fractal_bytes, count);
}

static ac_mad mad_type(mona_type source)
{
    return source == MONA_F16  ? AC_MAD_F32F16F16
           : source == MONA_S8 ? AC_MAD_S32S8S8
                               : AC_MAD_S32U8S8;
}

static uint8_t *l0c_of(const program *p, const tile *t)
{
    return p->core->l0c + (size_t)t->slot * (p->core->target->l0c_bytes / HALVES);
}

/* Bias, then every chunk of K, into the tile's half of L0C. */
static void start(program *p, const tile *t)
{
    const ac_target *target = p->core->target;
    const uint32_t total = k_fractals(p, t->n);
    load_constants(p, t);
    p->isa->bias_l0c(p->core, l0c_of(p, t), p->ub.bias[t->slot], t->pixels, AC_FRACTAL);
    sync(p, AC_PIPE_V, AC_PIPE_M, t->slot);
    for (uint32_t first = 0; first < total; first += p->chunk, p->half ^= 1) {
        const uint32_t count = at_most(p->chunk, total - first), h = p->half;
        uint8_t *a = p->core->l0a + h * (target->l0a_bytes / HALVES);
        uint8_t *b = p->core->l0b + (count == total ? 0 : h * (target->l0b_bytes / HALVES));
        p->isa->wait_flag(p->core, AC_PIPE_M, AC_PIPE_MTE1, (ac_event)h);
        load_a(p, t, a, first, count);
        load_b(p, t, b, first, count);
        sync(p, AC_PIPE_MTE1, AC_PIPE_M, h);
        p->isa->mmad(p->core, mad_type(p->conv->source_type), l0c_of(p, t), a, b, t->pixels,
                     count * p->fractal_k, AC_FRACTAL, false);
        p->isa->set_flag(p->core, AC_PIPE_M, AC_PIPE_MTE1, (ac_event)h);
    }
    p->isa->set_flag(p->core, AC_PIPE_M, AC_PIPE_V, (ac_event)t->slot);
}

/* ---- vector --------------------------------------------------------------------------------- */

static uint32_t elements_of(const tile *t)
{
    return t->pixels * AC_FRACTAL;
}

static void scalar_op(const program *p, ac_vecs op, uint16_t *to, const uint16_t *from, float s,
                      const tile *t)
{
    p->isa->vecs(p->core, op, to, from, ac_f16_from_f32(s), elements_of(t));
    p->isa->barrier(p->core, AC_PIPE_V);
}

static void vector_op(const program *p, ac_vec2 op, uint16_t *to, const uint16_t *other,
                      uint32_t period, const tile *t)
{
    p->isa->vec2(p->core, op, to, to, other, elements_of(t), period);
    p->isa->barrier(p->core, AC_PIPE_V);
}

static void activate(const program *p, uint8_t activation, const tile *t)
{
    const ac_epilogue *e = &p->conv->epilogue;
    uint16_t *v = p->ub.t, *negative = p->ub.work;
    switch ((mona_activation)activation) {
    case MONA_ACT_RELU:
        scalar_op(p, AC_VMAXS, v, v, 0, t);
        break;
    case MONA_ACT_PRELU:
        scalar_op(p, AC_VMINS, negative, v, 0, t);
        vector_op(p, AC_VMUL, negative, p->ub.slope[t->slot], AC_FRACTAL, t);
        scalar_op(p, AC_VMAXS, v, v, 0, t);
        vector_op(p, AC_VADD, v, negative, 0, t);
        break;
    case MONA_ACT_CLIP:
        scalar_op(p, AC_VMAXS, v, v, e->clip_min, t);
        scalar_op(p, AC_VMINS, v, v, e->clip_max, t);
        break;
    case MONA_ACT_NONE:
    case MONA_ACT_COUNT:
        break;
    }
}

/* A residual in blocks of 16 channels: whole 32-byte blocks to UB, then to fp16. */
static void residual_by_copy(const program *p, const tile *t)
{
    const ac_row *r = &p->row->residual;
    const uint32_t bytes = elements_of(t) * (uint32_t)mona_type_size(r->type);
    const bool half = r->type == MONA_F16;
    p->isa->wait_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, AC_EVENT0);
    p->isa->copy(p->core, AC_L1_UB, half ? (void *)p->ub.residual : p->ub.raw,
                 r->data + t->n * r->block_stride + (size_t)t->x * (bytes / t->pixels),
                 (ac_copy){.bursts = 1, .blocks = (uint16_t)((bytes + AC_BLOCK - 1) / AC_BLOCK)});
    sync(p, AC_PIPE_MTE1, AC_PIPE_V, 0);
    if (!half)
        p->isa->vconv(p->core, r->type == MONA_U8 ? AC_U8_F16 : AC_S8_F16, p->ub.residual,
                      p->ub.raw, elements_of(t));
    p->isa->barrier(p->core, AC_PIPE_V);
    scalar_op(p, AC_VMULS, p->ub.residual, p->ub.residual, p->conv->epilogue.residual_scale, t);
}

/* Any other residual, scaled on the way: one channel for all, or channel blocks of another size. */
static void residual_by_packing(const program *p, const tile *t)
{
    const ac_row *r = &p->row->residual;
    const size_t element = mona_type_size(r->type);
    const uint8_t *source[AC_FRACTAL];
    uint32_t step[AC_FRACTAL];
    float scale[AC_FRACTAL];
    const bool broadcast = p->conv->epilogue.broadcast;
    const uint32_t channels = broadcast ? AC_FRACTAL : at_most(r->c0, AC_FRACTAL);
    for (uint32_t i = 0; i < channels; i++) {
        const uint32_t c = broadcast ? 0 : t->n * AC_FRACTAL + i;
        source[i] =
            r->data + c / r->c0 * r->block_stride + ((size_t)t->x * r->c0 + c % r->c0) * element;
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
    p->isa->barrier(p->core, AC_PIPE_ALL);
    p->isa->pack_row(&pack);
    p->isa->barrier(p->core, AC_PIPE_ALL);
}

static void add_residual(const program *p, const tile *t)
{
    const bool direct = p->row->residual.c0 == AC_FRACTAL && !p->conv->epilogue.broadcast;
    (direct ? residual_by_copy : residual_by_packing)(p, t);
    vector_op(p, AC_VADD, p->ub.t, p->ub.residual, 0, t);
    if (direct)
        p->isa->set_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, AC_EVENT0);
}

/* ---- out ------------------------------------------------------------------------------------ */

/* Rounds ub.t to the output's type. */
static void round_result(const program *p, uint8_t *result, const tile *t)
{
    const mona_type type = p->row->output.type;
    if (type == MONA_F16)
        scalar_op(p, AC_VMULS, (uint16_t *)(void *)result, p->ub.t, 1, t);
    else
        p->isa->vconv(p->core, type == MONA_U8 ? AC_F16_U8 : AC_F16_S8, result, p->ub.t,
                      elements_of(t));
}

/* Results that lie as the output row does: whole 32-byte blocks by MTE3; half a block (one pixel of
 * 8-bit channels, an odd count of them) by the scalar unit, since no byte beyond may be written. */
static void store_block(const program *p, const tile *t)
{
    const ac_row *o = &p->row->output;
    const uint32_t bytes = elements_of(t) * (uint32_t)mona_type_size(o->type);
    const uint32_t whole = bytes / AC_BLOCK * AC_BLOCK;
    uint8_t *to = o->data + t->n * o->block_stride + (size_t)t->x * (bytes / t->pixels);
    if (whole)
        p->isa->copy(p->core, AC_UB_L1, to, p->ub.result,
                     (ac_copy){.bursts = 1, .blocks = (uint16_t)(whole / AC_BLOCK)});
    if (whole < bytes) {
        sync(p, AC_PIPE_V, AC_PIPE_S, 0);
        memcpy(to + whole, p->ub.result + whole, bytes - whole);
        sync(p, AC_PIPE_S, AC_PIPE_V, 0);
    }
}

static void scatter_group(const program *p, const tile *t, size_t tile_bytes)
{
    const uint32_t first = t->n / p->group * p->group;
    if (t->n + 1 < first + p->group && t->n + 1 < p->conv->blocks)
        return;
    const ac_row source = {p->ub.result, tile_bytes, AC_FRACTAL, p->row->output.type};
    p->isa->barrier(p->core, AC_PIPE_ALL);
    ac_scatter(p->isa, p->row, &source, first, t->x, t->pixels);
    p->isa->barrier(p->core, AC_PIPE_ALL);
}

/* Drains the tile's half of L0C and finishes its pixels. */
static void finish(const program *p, const tile *t)
{
    const ac_epilogue *e = &p->conv->epilogue;
    const size_t tile_bytes = (size_t)p->m1 * AC_FRACTAL * VECTOR;
    p->isa->wait_flag(p->core, AC_PIPE_M, AC_PIPE_V, (ac_event)t->slot);
    p->isa->drain(p->core, e->scale ? AC_DRAIN_S32_F16_DEQ : AC_DRAIN_F32_F16, p->ub.t,
                  l0c_of(p, t), (t->pixels + AC_FRACTAL - 1) / AC_FRACTAL,
                  e->scale ? e->scale + (size_t)t->n * AC_FRACTAL : NULL);
    p->isa->barrier(p->core, AC_PIPE_V);
    activate(p, e->activation, t);
    if (e->add)
        add_residual(p, t);
    activate(p, e->activation_after_add, t);
    if (e->output_scale != 1)
        scalar_op(p, AC_VMULS, p->ub.t, p->ub.t, e->output_scale, t);
    p->isa->wait_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
    round_result(p, p->ub.result + t->n % p->group * tile_bytes, t);
    sync(p, AC_PIPE_V, AC_PIPE_MTE3, 0);
    if (ac_scatter_needed(p->row))
        scatter_group(p, t, tile_bytes);
    else
        store_block(p, t);
    p->isa->set_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
}

/* ---- the row -------------------------------------------------------------------------------- */

/* Flags that say "free" before anything has used what they guard; and their last waits. */
static void guard_flags(const program *p, void (*flag)(ac_core *, ac_pipe, ac_pipe, ac_event))
{
    flag(p->core, AC_PIPE_M, AC_PIPE_MTE1, AC_EVENT0);
    flag(p->core, AC_PIPE_M, AC_PIPE_MTE1, AC_EVENT1);
    flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, AC_EVENT0);
    flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
}

/* The tile after t: all pixels of a group of blocks before the next group; false: t was the last.
 */
static bool next_tile(const program *p, tile *t)
{
    const uint32_t group_end = at_most(t->n / p->group * p->group + p->group, p->conv->blocks);
    t->slot ^= 1;
    if (t->n + 1 < group_end) {
        t->n++;
        return true;
    }
    t->x += t->pixels;
    if (t->x < p->row->pixels) {
        t->n = t->n / p->group * p->group;
    } else {
        t->n = group_end;
        t->x = 0;
    }
    t->pixels = at_most(p->m1 * AC_FRACTAL, p->row->pixels - t->x);
    return t->n < p->conv->blocks;
}

void ac_conv_row_by_instructions(ac_core *core, const ac_conv_row *row)
{
    const ac_conv *c = row->conv;
    program p = {.core = core,
                 .isa = core->isa,
                 .row = row,
                 .conv = c,
                 .slot_block = {MONA_NONE, MONA_NONE},
                 .l0b_block = MONA_NONE};
    p.element = (uint32_t)mona_type_size(c->source_type);
    p.fractal_k = p.element == 1 ? core->target->fractal_k_8bit : core->target->fractal_k_f16;
    p.fractal_bytes = AC_FRACTAL * p.fractal_k * p.element;
    p.run_fractals = (c->run_elements[0] + p.fractal_k - 1) / p.fractal_k; /* all runs are alike */
    p.group = ac_scatter_group(row);
    choose_tile(&p);
    place_buffers(&p);
    guard_flags(&p, p.isa->set_flag);
    tile current = {.pixels = at_most(p.m1 * AC_FRACTAL, row->pixels)}, next = current;
    start(&p, &current);
    for (bool more = true; more; current = next) {
        more = next_tile(&p, &next);
        if (more)
            start(&p, &next);
        finish(&p, &current);
    }
    guard_flags(&p, p.isa->wait_flag);
}
