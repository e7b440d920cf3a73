// SPDX-License-Identifier: Apache-2.0
/* The vector unit's part of conv_instructions.c: constants, drain and epilogue. conv_residual.c
 * adds residuals that the cube does not add; conv_store.c rounds the results and stores them.
 *
 * A drain writes whole fractals, so rows of A beyond the last pixel are processed as well. They are
 * zeros times weights, hence finite, and nothing stores them. There may be gaps between the pieces
 * of t (conv_store.c). These are cleared once, so that one vector instruction can run over all of
 * t. A barrier of V separates vector instructions that depend on each other. */
#include "ops/ascend/conv_instructions.h"

/* ---- UB ------------------------------------------------------------------------------------- */

static bool has_residual_lanes(const program *p)
{
    return p->conv->epilogue.add && p->k->residual_by_cube;
}

static void place_constants(program *p, ac_address *at)
{
    const size_t lanes = (size_t)batch_parts(p->k) * p->k->width * LANES;
    buffers *ub = &p->ub;
    ub->bias = take(at, p->k->bias_by_vector ? bias_copies(p) * lanes * sizeof(uint32_t) : 0);
    ub->scale = take(at, p->conv->epilogue.scale ? lanes * sizeof(uint16_t) : 0);
    ub->slope = take(at, p->conv->epilogue.slope ? lanes * sizeof(uint16_t) : 0);
    ub->mask = take(at, p->k->masked ? lanes * sizeof(uint16_t) : 0);
    ub->clip = mona_take_bounds(at);
    ub->residual_scale = take(at, VECTOR);
    ub->bounds = take(at, p->k->table ? mona_polynomials_bound_bytes(p->k->table)
                                      : mona_function_uniform_bytes(&p->function));
}

void mona_conv_shape_tile(const program *p, tile *t)
{
    t->rows = ceil_div_u32(t->pixels, p->k->pixels);
    t->row_m1 = ceil_div_u32(t->rows, AC_FRACTAL);
    t->m1 = t->count * t->row_m1;
    t->rows = t->count > 1 ? t->m1 * AC_FRACTAL : t->rows;
    t->piece_rows = ceil_div_u32(t->m1, p->cuts) * AC_FRACTAL;
    /* An odd number of blocks, so that pieces that are read together begin in different banks. */
    t->pitch = t->piece_rows + (p->k->width > 1 && p->k->way != MONA_CONV_PLANES);
}

size_t mona_conv_place_buffers(program *p, const tile *t)
{
    const size_t bytes = tile_elements(p, t) * sizeof(uint16_t);
    const bool prelu = p->conv->epilogue.activation == MONA_ACT_PRELU;
    ac_address at = ac_at(AC_UB, 0);
    place_constants(p, &at);
    p->ub.t = take(&at, bytes);
    p->ub.negative = take(&at, prelu ? bytes : 0);
    p->ub.work =
        take(&at, p->k->table ? mona_polynomials_work_bytes(tile_elements(p, t))
                              : mona_function_work_bytes(&p->function, tile_elements(p, t)));
    if (has_residual_lanes(p))
        p->ub.residual = take(&at, bytes);
    else
        mona_conv_place_residual(p, &at, t);
    mona_conv_place_results(p, &at, t);
    return (size_t)ac_offset_of(at);
}

/* ---- constants ------------------------------------------------------------------------------- */

static void fill_blocks(const program *p, const tile *t)
{
    const mona_epilogue *e = &p->conv->epilogue;
    dup_all(p->core, p->ub.clip.zero, 0, LANES);
    mona_fill_bounds(p->core, &p->ub.clip, e);
    dup_all(p->core, p->ub.residual_scale, mona_f16_from_f32(e->residual_scale), LANES);
    if (p->k->table)
        mona_polynomials_begin(p->core, p->k->table, p->ub.bounds);
    mona_function_begin(p->core, &p->function, p->ub.bounds);
    mona_conv_clear_residual(p, t);
    if (t->pitch == t->piece_rows && t->m1 % p->cuts == 0)
        return;
    dup_all(p->core, p->ub.t, 0, tile_elements(p, t));
    if (has_residual_lanes(p))
        dup_all(p->core, p->ub.residual, 0, tile_elements(p, t));
}

/* Constants of `parts` parts in fp16 from lane `first` on; from: those of all parts. */
static void load_lanes(const program *p, ac_address to, size_t from, size_t first, uint32_t parts)
{
    ac_emit_copy_bytes(p->core, to, p->constants + from + first * sizeof(uint16_t),
                       parts * p->k->width * VECTOR);
}

/* The same of biases, with all copies. */
static void load_biases(const program *p, size_t first, uint32_t parts)
{
    enum { BLOCKS = LANES * sizeof(uint32_t) / AC_BLOCK };
    const uint32_t copies = bias_copies(p);
    const ac_copy c = {.bursts = (uint16_t)(parts * p->k->width),
                       .blocks = BLOCKS,
                       .dst_gap = (uint16_t)((copies - 1) * BLOCKS)};
    for (uint32_t i = 0; i < copies; i++)
        ac_emit_copy(p->core, p->ub.bias + (size_t)i * BLOCKS * AC_BLOCK,
                     p->constants + p->k->bias + first * sizeof(uint32_t), c);
}

/* V has waited for all that used UB before: for the operator before, or the tiles of the batch
 * before. */
void mona_conv_load_constants(program *p, const tile *t)
{
    const uint32_t parts = batch_parts(p->k), batch = batch_of(p, t), first = batch * parts;
    const uint32_t count = min_u32(p->k->parts - first, parts);
    const size_t lane = (size_t)first * p->k->width * LANES;
    if (p->batch == batch)
        return;
    sync(p, AC_PIPE_V, AC_PIPE_MTE1, 2);
    if (p->batch == MONA_NONE)
        fill_blocks(p, t);
    p->batch = batch;
    if (p->k->bias_by_vector)
        load_biases(p, lane, count);
    if (p->conv->epilogue.scale)
        load_lanes(p, p->ub.scale, p->k->scale, lane, count);
    if (p->conv->epilogue.slope)
        load_lanes(p, p->ub.slope, p->k->slope, lane, count);
    if (p->k->masked)
        load_lanes(p, p->ub.mask, p->k->mask, lane, count);
    sync(p, AC_PIPE_MTE1, AC_PIPE_V, 2);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

/* ---- drain ----------------------------------------------------------------------------------- */

/* L0C -> a buffer laid out like t. scale: those of the lane blocks of the first part, `stride`
 * bytes apart, `next` bytes from those of the next part; 0: all have the same. */
typedef struct drained {
    ac_address to, scale;
    uint32_t stride, next;
    ac_drain kind;
    bool residual, relu;
} drained;

static void drain(const program *p, const drained *d, ac_address to, ac_address from,
                  ac_address scale, ac_copy c)
{
    if (c.bursts)
        ac_emit_drain(p->core, d->kind, to, from, c, scale, d->relu);
}

/* Drains all lane blocks of parts at once. */
static void drain_parts(const program *p, const tile *t, uint32_t part, uint32_t parts,
                        const drained *d)
{
    drain(p, d, piece_at(p, t, d->to, part, 0, 0), l0c_of(p, t, part, d->residual), d->scale,
          (ac_copy){.bursts = (uint16_t)(parts * p->k->width),
                    .blocks = (uint16_t)t->m1,
                    .dst_gap = (uint16_t)(t->pitch - t->m1 * AC_FRACTAL)});
}

/* Drains lane block j, cut into pieces, of which the last may be shorter. */
static void drain_lanes(const program *p, const tile *t, uint32_t part, uint32_t j,
                        const drained *d)
{
    const uint32_t piece = t->piece_rows / AC_FRACTAL, whole = t->m1 / piece;
    const ac_address from = l0c_of(p, t, part, d->residual) + (size_t)j * t->m1 * C_FRACTAL_BYTES;
    const ac_address scale = d->scale + j * d->stride;
    drain(p, d, piece_at(p, t, d->to, part, 0, j), from, scale,
          (ac_copy){.bursts = (uint16_t)whole,
                    .blocks = (uint16_t)piece,
                    .dst_gap = (uint16_t)(p->k->width * t->pitch - t->piece_rows)});
    drain(p, d, piece_at(p, t, d->to, part, whole, j),
          from + (size_t)whole * piece * C_FRACTAL_BYTES, scale,
          (ac_copy){.bursts = t->m1 % piece ? 1 : 0, .blocks = (uint16_t)(t->m1 % piece)});
}

static void drain_pieces(const program *p, const tile *t, drained d)
{
    const bool alike = p->cuts == 1 && !d.stride;
    if (alike && !d.next)
        drain_parts(p, t, t->first, t->end - t->first, &d);
    else
        for (uint32_t part = t->first; part < t->end; part++, d.scale += d.next)
            if (alike)
                drain_parts(p, t, part, 1, &d);
            else
                for (uint32_t j = 0; j < p->k->width; j++)
                    drain_lanes(p, t, part, j, &d);
}

/* Drains the tile's sums and residuals to UB. Its half of L0C is free then. */
static void drain_tile(const program *p, const tile *t)
{
    const mona_epilogue *e = &p->conv->epilogue;
    drain_pieces(p, t,
                 (drained){.to = p->ub.t,
                           .scale = e->scale ? p->ub.scale + lanes_at(p, t->first, 0) : AC_NOWHERE,
                           .stride = e->scale && !p->k->one_pattern ? VECTOR : 0,
                           .next = e->scale ? p->k->width * VECTOR : 0,
                           .kind = e->scale ? AC_DRAIN_S32_F16_DEQ : AC_DRAIN_F32_F16,
                           .relu = e->activation == MONA_ACT_RELU});
    if (has_residual_lanes(p))
        drain_pieces(p, t,
                     (drained){.to = p->ub.residual,
                               .scale = p->ub.residual_scale,
                               .kind = AC_DRAIN_S32_F16_DEQ,
                               .residual = true});
    if (!p->k->bias_by_vector)
        ac_emit_set_flag(p->core, AC_PIPE_V, AC_PIPE_M, t->slot);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

/* ---- epilogue -------------------------------------------------------------------------------- */

/* buffer = buffer op the constants of each lane. The buffer is laid out like t. */
static void with_lanes(const program *p, const tile *t, ac_vec2 op, ac_address buffer,
                       ac_address lanes)
{
    for (uint32_t part = t->first; part < t->end; part++)
        for (uint32_t i = 0; i < (p->k->one_pattern ? 1 : p->k->width * p->cuts); i++) {
            const ac_address at = piece_at(p, t, buffer, part, 0, i);
            vec2_all(p->core, op, at, at, lanes + lanes_at(p, part, i % p->k->width),
                     p->k->one_pattern ? part_elements(p, t) : t->pitch * LANES, b_again);
        }
    ac_emit_barrier(p->core, AC_PIPE_V);
}

static void prelu(const program *p, const tile *t)
{
    const ac_address negative = p->ub.negative;
    vec2_done(p->core, AC_VMIN, negative, p->ub.t, p->ub.clip.zero, tile_elements(p, t), b_again);
    with_lanes(p, t, AC_VMUL, negative, p->ub.slope);
    ac_activate(p->core, &p->ub.clip, MONA_ACT_RELU, p->ub.t, tile_elements(p, t));
    vec2_done(p->core, AC_VADD, p->ub.t, p->ub.t, negative, tile_elements(p, t), side_by_side);
}

static void activate(const program *p, uint8_t activation, const tile *t)
{
    if (activation == MONA_ACT_PRELU)
        prelu(p, t);
    ac_activate(p->core, &p->ub.clip, activation, p->ub.t, tile_elements(p, t));
}

/* Whether the second activation is a RELU that rounding does: the conversion to U8, as it saturates
 * at 0, or a maximum. */
static bool rounding_activates(const program *p)
{
    const mona_epilogue *e = &p->conv->epilogue;
    const bool converts = p->row->output.type == MONA_U8 && e->output_scale >= 0;
    return e->activation_after_add == MONA_ACT_RELU && (converts || rounds_by_max(p));
}

static void add_residual(const program *p, const tile *t)
{
    if (has_residual_lanes(p))
        vec2_done(p->core, AC_VADD, p->ub.t, p->ub.t, p->ub.residual, tile_elements(p, t),
                  side_by_side);
    else
        mona_conv_add_residual(p, t);
}

/* A first activation that is a RELU is part of the drain. */
void mona_conv_finish(const program *p, const tile *t)
{
    const mona_epilogue *e = &p->conv->epilogue;
    ac_emit_wait_flag(p->core, AC_PIPE_M, AC_PIPE_V, t->slot);
    drain_tile(p, t);
    if (e->activation != MONA_ACT_RELU)
        activate(p, e->activation, t);
    if (e->add)
        add_residual(p, t);
    if (!rounding_activates(p))
        activate(p, e->activation_after_add, t);
    if (scales_first(p) && e->output_scale != 1)
        vecs_done(p->core, AC_VMULS, p->ub.t, p->ub.t, e->output_scale, tile_elements(p, t));
    if (p->k->table)
        mona_polynomials_apply(p->core, p->k->table, p->ub.bounds, p->ub.work, p->ub.t,
                               tile_elements(p, t));
    if (p->function.count)
        mona_function_apply(p->core, &p->function, p->ub.bounds, p->ub.work, p->ub.t,
                            tile_elements(p, t));
    if (p->k->masked)
        with_lanes(p, t, AC_VAND, p->ub.t, p->ub.mask);
    mona_conv_store(p, t);
}
