// SPDX-License-Identifier: Apache-2.0
/* The constants of a packing: the contents of lanes and fractals of B, which conv_packing.h
 * explains.
 *
 * Bias. For sources of 8 bits it is one more fractal of K. Its row of A is 1, B, B, ... with B =
 * 255 for u8 and 127 for s8: eight bytes again and again, which load3d reads with a step of one
 * column. Its weights are r, q1, q2, ... such that bias = r + B * (q1 + q2 + ...); sums are exact
 * in s32. The vector unit writes the bias to L0C instead where |bias| is too large for that (over
 * 900,000 for u8), and for fp16, whose sums begin with the bias.
 *
 * Residual. An 8-bit residual is multiplied by ones and drained with its scale, which gives f16(r *
 * scale): the product of 8 and 11 bits is exact in fp32 and is rounded once. So the result is the
 * same as that of widening and multiplying. */
#include "ops/ascend/conv_packing.h"
#include "ops/ascend/programs.h"

#include "engine/cpu/c/f16.h"

enum { BIAS_PERIOD = 8 };

/* ---- the bias -------------------------------------------------------------------------------- */

static int32_t bias_of(const mona_bound_op *b, uint32_t channel)
{
    int32_t bias = 0;
    if (b->op->conv.bias != MONA_NONE && channel < b->output.channels)
        memcpy(&bias, b->data + b->op->conv.bias + channel * sizeof bias, sizeof bias);
    return bias;
}

/* B in the row of A for the bias, and how many times the row holds it. */
static int32_t bias_unit(const mona_bound_op *b)
{
    return b->input[0].type == MONA_U8 ? UINT8_MAX : INT8_MAX;
}

enum { BIAS_UNITS = AC_BLOCK - AC_BLOCK / BIAS_PERIOD };

/* The sum q of bias = r + B * q with |r| <= B / 2. */
static int32_t bias_quotient(int32_t bias, int32_t unit)
{
    return (int32_t)floor_div((int64_t)bias + unit / 2, unit);
}

bool mona_conv_bias_fits(const mona_bound_op *b)
{
    const int32_t max = BIAS_UNITS * INT8_MAX;
    for (uint32_t o = 0; o < b->output.channels; o++) {
        const int32_t q = bias_quotient(bias_of(b, o), bias_unit(b));
        if (q > max || q < -max)
            return false;
    }
    return true;
}

/* Weight i of the fractal of K for the bias. */
static int8_t bias_weight(int32_t bias, int32_t unit, uint32_t i)
{
    const int32_t q = bias_quotient(bias, unit);
    if (i == 0)
        return (int8_t)(bias - q * unit);
    if (i % BIAS_PERIOD == 0)
        return 0;
    const int32_t place = (int32_t)(i - 1 - i / BIAS_PERIOD); /* among the units */
    const int32_t rest = q % BIAS_UNITS, sign = q < 0 ? -1 : 1;
    return (int8_t)(q / BIAS_UNITS + (place < rest * sign ? sign : 0));
}

/* ---- constants ------------------------------------------------------------------------------- */

/* Bytes of `ones`: row m of A reads 32 bytes of it from column m on. */
static size_t ones_bytes(const mona_bound_op *b, const mona_conv_packing *k)
{
    const size_t rows = (size_t)k->max_fractals * AC_FRACTAL;
    return k->bias_by_cube ? rows * mona_conv_column(b->target) + AC_BLOCK : 0;
}

static mona_span used_by(const mona_bound_op *b, const mona_conv_packing *k,
                         const mona_conv_layout *l, uint32_t part)
{
    return k->way == MONA_CONV_PLANES ? mona_conv_used_blocks(b, l, 0, b->output.channels)
                                      : mona_conv_used_blocks(b, l, part * k->c0, k->c0);
}

static uint32_t runs_of(const mona_conv_layout *l)
{
    return l->kernel_h * l->kernel_w / l->taps; /* of a channel block */
}

/* Returns the bytes of all constants. */
static size_t lay_out(const mona_bound_op *b, mona_conv_packing *k, const mona_conv_layout *l)
{
    const size_t lanes = (size_t)k->parts * k->width * LANES, halves = lanes * sizeof(uint16_t);
    const bool slopes = b->op->epilogue.activation == MONA_ACT_PRELU;
    k->scale = k->bias + align_up(k->bias_by_vector ? lanes * sizeof(uint32_t) : 0);
    k->slope = k->scale + align_up(b->input[0].type == MONA_F16 ? 0 : halves);
    k->mask = k->slope + align_up(slopes ? halves : 0);
    k->ones = k->mask + align_up(k->masked ? halves : 0);
    k->weights = k->ones + align_up(ones_bytes(b, k));
    size_t fractals = 0;
    for (uint32_t part = 0; part < k->parts; part++) {
        const mona_span used = used_by(b, k, l, part);
        fractals += (size_t)(used.end - used.begin) * runs_of(l) * k->run_fractals +
                    k->bias_by_cube + k->residual_fractals;
    }
    return k->weights + fractals * k->width * FRACTAL_BYTES;
}

size_t mona_conv_program_constants(const mona_bound_op *b)
{
    const mona_conv_layout l = mona_conv_layout_of(b);
    mona_conv_packing k = mona_conv_choose_packing(b, &l);
    return lay_out(b, &k, &l);
}

/* The packing, [3][parts] numbers, the polynomials. */
size_t mona_conv_program_tables(const mona_bound_op *b)
{
    const mona_conv_layout l = mona_conv_layout_of(b);
    const bool table = b->op->epilogue.activation_after_add == MONA_ACT_TABLE;
    return mona_conv_head_bytes(b) + align_up(sizeof(mona_conv_packing)) +
           align_up(3 * mona_conv_choose_packing(b, &l).parts * sizeof(uint32_t)) +
           align_up(table ? sizeof(mona_polynomials) : 0);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/* The output that a column of B stands for. Channels beyond the last do not exist. */
typedef struct lane {
    uint32_t pixel, channel;
} lane;

static lane lane_of(const mona_bound_op *b, const mona_conv_packing *k, uint32_t part, uint32_t i)
{
    if (k->way != MONA_CONV_PLANES)
        return (lane){i / k->c0, part * k->c0 + i % k->c0};
    const uint32_t block = b->store->store.block, row = part * k->width + i / LANES;
    const uint32_t channel = row / block * block * block + row % block * block;
    return (lane){i % LANES / block, channel + i % LANES % block};
}

static void bind_lanes(const mona_bound_op *b, const mona_conv_packing *k, uint8_t *base,
                       const mona_epilogue *e)
{
    uint32_t *bias = (uint32_t *)(void *)(base + k->bias);
    uint16_t *scale = (uint16_t *)(void *)(base + k->scale);
    uint16_t *slope = (uint16_t *)(void *)(base + k->slope);
    uint16_t *mask = (uint16_t *)(void *)(base + k->mask);
    const uint32_t lanes = k->width * LANES;
    for (uint32_t i = 0; i < k->parts * lanes; i++) {
        const uint32_t channel = lane_of(b, k, i / lanes, i % lanes).channel;
        const bool real = channel < b->output.channels;
        if (k->bias_by_vector) {
            bias[i] = (uint32_t)bias_of(b, channel);
            if (b->input[0].type == MONA_F16)
                bias[i] = mona_bits(mona_float(bias[i]) + 0.0f); /* turns -0 into +0 */
        }
        if (e->scale)
            scale[i] = real ? mona_f16_from_f32(e->scale[channel]) : 0;
        if (e->slope)
            slope[i] = real ? mona_f16_from_f32(e->slope[channel]) : 0;
        if (k->masked)
            mask[i] = real ? UINT16_MAX : 0;
    }
}

/* ---- weights --------------------------------------------------------------------------------- */

/* The window of one run: channel block c1, kernel row ky, from kernel column kx on. */
typedef struct window {
    uint32_t c1, ky, kx, lead; /* lead: elements */
} window;

/* Row i of a window's fractals holds the weights of its elements for lane i: 0, as it is before,
 * where the kernel of that lane's pixel does not lie. all_lanes: of the set. Returns where the next
 * window begins. */
static uint8_t *pack_window(uint8_t *to, const mona_bound_op *b, const mona_conv_packing *k,
                            const mona_conv_layout *l, uint32_t part, uint32_t all_lanes,
                            const window *w)
{
    const size_t size = mona_type_size(b->input[0].type);
    const uint8_t *weights = b->data + b->op->conv.weights;
    const uint32_t lanes = k->width * LANES, elements = k->run_fractals * k->fractal_k;
    for (uint32_t i = 0; i < lanes; i++) {
        const lane out = lane_of(b, k, part, i);
        uint32_t e = w->lead + out.pixel * b->op->conv.stride_w * l->c0;
        for (uint32_t t = 0; t < l->taps * l->c0 && e < elements; t++, e++) {
            const int64_t from = mona_conv_weight_index(b, out.channel, w->c1 * l->c0 + t % l->c0,
                                                        w->ky, w->kx + t / l->c0);
            const size_t at = (e / k->fractal_k * all_lanes + i) * k->fractal_k + e % k->fractal_k;
            if (from >= 0)
                memcpy(to + at * size, weights + (size_t)from * size, size);
        }
    }
    return to + size * all_lanes * elements;
}

static void pack_windows(uint8_t *to, const mona_bound_op *b, const mona_conv_packing *k,
                         const mona_conv_layout *l, uint32_t part, uint32_t all_lanes)
{
    const mona_span used = used_by(b, k, l, part);
    const uint32_t size = (uint32_t)mona_type_size(b->input[0].type);
    window w;
    for (w.c1 = (uint32_t)used.begin; w.c1 < used.end; w.c1++)
        for (w.ky = 0; w.ky < l->kernel_h; w.ky++)
            for (w.kx = 0; w.kx < l->kernel_w; w.kx += l->taps) {
                w.lead = mona_conv_lead(b, k, w.kx) / size;
                to = pack_window(to, b, k, l, part, all_lanes, &w);
            }
}

static uint8_t *pack_bias(uint8_t *to, const mona_bound_op *b, const mona_conv_packing *k,
                          uint32_t part)
{
    for (uint32_t i = 0; i < k->width * LANES; i++) {
        const int32_t bias = bias_of(b, lane_of(b, k, part, i).channel);
        for (uint32_t e = 0; e < k->fractal_k; e++)
            *to++ = (uint8_t)bias_weight(bias, bias_unit(b), e);
    }
    return to;
}

/* Writes a one where a channel of the residual and its output cross. In a block of 16 channels,
 * lanes without an output get one as well, since row programs process whole blocks. */
static uint8_t *pack_residual(uint8_t *to, const mona_bound_op *b, const mona_conv_packing *k,
                              uint32_t part)
{
    const uint32_t c0 = b->input_c0[1];
    const bool broadcast = mona_conv_broadcasts(b);
    const uint32_t first = mona_conv_residual_block(k, broadcast, c0, part) * c0;
    for (uint32_t f = 0; f < k->residual_fractals; f++)
        for (uint32_t i = 0; i < k->width * LANES; i++) {
            const lane out = lane_of(b, k, part, i);
            const uint32_t channel = (broadcast ? 0 : out.channel) - first;
            const bool zero = k->c0 != LANES && out.channel >= b->output.channels;
            const uint32_t at = channel < c0 && !zero ? out.pixel * c0 + channel : UINT32_MAX;
            for (uint32_t e = 0; e < AC_BLOCK; e++)
                *to++ = at == f * AC_BLOCK + e;
        }
    return to;
}

/* Packs parts [first, end), which are a set. Returns where the next set begins. */
static uint8_t *pack_set(uint8_t *to, const mona_bound_op *b, const mona_conv_packing *k,
                         const mona_conv_layout *l, uint32_t first, uint32_t end)
{
    const uint32_t lanes = k->width * LANES, all_lanes = (end - first) * lanes;
    const size_t bytes = (size_t)mona_conv_window_k(k, first) * all_lanes * AC_BLOCK;
    memset(to, 0, bytes);
    for (uint32_t part = first; part < end; part++)
        pack_windows(to + (size_t)(part - first) * lanes * AC_BLOCK, b, k, l, part, all_lanes);
    to += bytes;
    for (uint32_t part = first; part < end && k->bias_by_cube; part++)
        to = pack_bias(to, b, k, part);
    for (uint32_t part = first; part < end && k->residual_by_cube; part++)
        to = pack_residual(to, b, k, part);
    return to;
}

/* ---- bind ------------------------------------------------------------------------------------ */

static void bind_ones(const mona_bound_op *b, const mona_conv_packing *k, uint8_t *to)
{
    for (size_t i = 0; i < ones_bytes(b, k); i++)
        to[i] = (uint8_t)(i % BIAS_PERIOD ? bias_unit(b) : 1);
}

void mona_conv_program_bind(const mona_bound_op *b, void *constants)
{
    mona_conv *conv = mona_conv_bind_head(b);
    const mona_conv_layout l = mona_conv_layout_of(b);
    uint8_t *at = (uint8_t *)b->constants + mona_conv_head_bytes(b), *base = constants;
    mona_conv_packing *k = (mona_conv_packing *)(void *)at;
    *k = mona_conv_choose_packing(b, &l);
    lay_out(b, k, &l);
    uint32_t *first_run = (uint32_t *)(void *)(at + align_up(sizeof *k));
    uint32_t *run_count = first_run + k->parts, *offset = run_count + k->parts;
    for (uint32_t part = 0; part < k->parts; part++) {
        const mona_span used = used_by(b, k, &l, part);
        first_run[part] = (uint32_t)used.begin * runs_of(&l);
        run_count[part] = (uint32_t)(used.end - used.begin) * runs_of(&l);
    }
    k->first_run = first_run;
    k->run_count = run_count;
    k->weights_offset = offset;
    uint8_t *to = base + k->weights;
    for (uint32_t first = 0, end; first < k->parts; first = end) {
        end = mona_conv_set_end(k, first);
        for (uint32_t part = first; part < end; part++)
            offset[part] = (uint32_t)(to - (base + k->weights));
        to = pack_set(to, b, k, &l, first, end);
    }
    if (conv->epilogue.table) {
        mona_polynomials *table =
            (mona_polynomials *)(void *)(at + align_up(sizeof *k) +
                                         align_up(3 * k->parts * sizeof(uint32_t)));
        mona_polynomials_find(table, conv->epilogue.table, b->output.type);
        k->table = table;
    }
    bind_lanes(b, k, base, &conv->epilogue);
    bind_ones(b, k, base + k->ones);
    conv->packing = k;
}
