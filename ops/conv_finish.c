/* The vector unit's part of conv_instructions.c: constants, drain and epilogue. conv_residual.c
 * adds the residual, conv_store.c rounds the results and takes them out of UB.
 *
 * Vectors work on exactly the tile's elements; drain writes whole fractals, so the buffers have
 * room for them. Vectors that depend on each other have a barrier of V between them. */
#include "conv_instructions.h"

/* ---- UB ------------------------------------------------------------------------------------- */

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

size_t mona_conv_place_buffers(program *p, uint32_t m1)
{
    const size_t bytes = (size_t)m1 * AC_FRACTAL * VECTOR;
    const bool prelu = p->conv->epilogue.activation == MONA_ACT_PRELU;
    uint8_t *at = p->core->ub;
    place_constants(p, &at);
    p->ub.t = take_halves(&at, bytes + (p->pairs ? AC_FRACTAL * VECTOR : 0));
    p->ub.negative = take_halves(&at, prelu ? bytes : 0);
    mona_conv_place_residual(p, &at, m1);
    mona_conv_place_results(p, &at, m1);
    return (size_t)(at - p->core->ub);
}

/* ---- constants --------------------------------------------------------------------------------
 */

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

/* ---- activations ----------------------------------------------------------------------------- */

void mona_conv_with_block(const program *p, ac_vec2 op, uint16_t *to, const uint16_t *block,
                          const tile *t)
{
    vec2_all(p->core, op, to, p->ub.t, block, elements_of(t), b_again);
    p->isa->barrier(p->core, AC_PIPE_V);
}

static void prelu(const program *p, const tile *t, uint32_t n)
{
    uint16_t *negative = p->ub.negative;
    const uint16_t *slope = p->ub.slope + (size_t)(n % MAX_BATCH) * AC_FRACTAL;
    mona_conv_with_block(p, AC_VMIN, negative, p->ub.zero, t);
    vec2_all(p->core, AC_VMUL, negative, negative, slope, elements_of(t), b_again);
    mona_conv_with_block(p, AC_VMAX, p->ub.t, p->ub.zero, t);
    vec2_all(p->core, AC_VADD, p->ub.t, p->ub.t, negative, elements_of(t), side_by_side);
    p->isa->barrier(p->core, AC_PIPE_V);
}

static void activate(const program *p, uint8_t activation, const tile *t, uint32_t n)
{
    switch ((mona_activation)activation) {
    case MONA_ACT_RELU:
        mona_conv_with_block(p, AC_VMAX, p->ub.t, p->ub.zero, t);
        break;
    case MONA_ACT_PRELU:
        prelu(p, t, n);
        break;
    case MONA_ACT_CLIP:
        mona_conv_with_block(p, AC_VMAX, p->ub.t, p->ub.low, t);
        mona_conv_with_block(p, AC_VMIN, p->ub.t, p->ub.high, t);
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
        mona_conv_add_residual(p, t, n);
    if (!rounding_activates(p))
        activate(p, e->activation_after_add, t, n);
}

void mona_conv_finish(const program *p, const tile *t)
{
    p->isa->wait_flag(p->core, AC_PIPE_M, AC_PIPE_V, (ac_event)t->slot);
    for (uint32_t n = t->first; n < t->end; n++) {
        apply_epilogue(p, t, n);
        mona_conv_round(p, t, n);
    }
    mona_conv_store(p, t);
}
