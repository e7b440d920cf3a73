// SPDX-License-Identifier: Apache-2.0
/* Packing of convolutions for the cube; conv_packing.h says what it is.
 *
 * Why several pixels share a row of A: K comes in fractals of 32 bytes. Take a 3 x 3 filter on 16
 * channels of 8 bits. One row of the filter touches 48 bytes for one pixel and 64 bytes for two
 * neighbouring pixels. Either takes two fractals, so the second pixel costs no bytes of A. More
 * columns of B in an instruction also spread its fixed cost (head); but the more pixels share a
 * row, the more weights are zero. So the cheapest number of pixels is chosen. The cost of 16 rows
 *   of A is (fractals of K) x (width + head / rows) / pixels.
 * Which numbers are possible follows from the steps load3d can take and from the results: lanes
 * must fill whole blocks of 16, and the vector unit handles parts of 1, 2, 8 and 16 lane blocks.
 *
 * Rows of A begin at columns of 8 bytes (the small-channel mode) or of 32. On the chip a row of a
 * ring begins at a block of 32 bytes and a tile at a multiple of ring_columns. So the distance from
 * the column before a window to the window is known. It is called the lead, and the weights of its
 * bytes are zero. */
#include "ops/ascend/conv_packing.h"
#include "ops/ascend/programs.h"

#include "engine/cpu/c/f16.h"

enum {
    MAX_WIDTH = 16,
    MAX_FRACTALS = 64,
    ROW_HEAD = 15,     /* cycles of an mmad in addition to those of its fractals */
    ROW_FRACTALS = 64, /* fractals of A that share them, at most */
};

/* ---- what is bound --------------------------------------------------------------------------- */

static bool adds(const mona_bound_op *b)
{
    return b->op->input_count > 1;
}

static uint32_t source_pixel(const mona_bound_op *b)
{
    return b->input_c0[0] * (uint32_t)mona_type_size(b->input[0].type);
}

static bool is_byte(mona_type type)
{
    return mona_type_size(type) == 1;
}

static bool adds_byte(const mona_bound_op *b)
{
    return adds(b) && is_byte(b->input[1].type);
}

/* Whether the vector unit can round results to the STORE's planes. They must have the results'
 * type, or hold 8 bits or fp16 where the results are fp16, and no maximum below their type's. */
static bool planes_fit(const mona_bound_op *b)
{
    if (!b->store || b->store->store.block == 3)
        return false;
    const mona_type to = b->store_type;
    const bool one_block =
        !adds(b) || mona_conv_broadcasts(b) || b->output.channels <= b->input_c0[1];
    const bool full = to != MONA_U8 || b->store->store.maximum >= UINT8_MAX;
    return one_block && full && to != MONA_U16 &&
           (to == b->output.type || b->output.type == MONA_F16);
}

/* ---- geometry -------------------------------------------------------------------------------- */

/* Finds columns with which load3d can step `bytes` from one row of A to the next, given that the
 * first row begins, but for its lead, a multiple of ring_columns pixels after a column. False:
 * there are none. */
static bool find_step(const mona_bound_op *b, uint32_t pixel, uint32_t bytes, uint32_t *column,
                      uint32_t *step)
{
    const uint32_t options[] = {mona_conv_column(b->target), AC_BLOCK};
    for (uint32_t i = 0; i < sizeof options / sizeof *options; i++) {
        *column = options[i];
        if (bytes % *column || bytes / *column > MAX_STEP ||
            b->target->ring_columns * pixel % *column)
            continue;
        *step = bytes / *column;
        return true;
    }
    return false;
}

uint32_t mona_conv_lead(const mona_bound_op *b, const mona_conv_packing *k, uint32_t kx)
{
    const int64_t first = (int64_t)kx * b->op->conv.dilation_w - b->op->conv.pad_left;
    const int64_t byte = first * source_pixel(b);
    return (uint32_t)(byte - floor_div(byte, k->column) * k->column);
}

static uint32_t run_fractals(const mona_bound_op *b, const mona_conv_packing *k,
                             const mona_conv_layout *l)
{
    const uint32_t window = ((k->pixels - 1) * b->op->conv.stride_w + l->taps) * source_pixel(b);
    uint32_t max_lead = 0;
    for (uint32_t kx = 0; kx < l->kernel_w; kx += l->taps) {
        const uint32_t lead = mona_conv_lead(b, k, kx);
        max_lead = lead > max_lead ? lead : max_lead;
    }
    return (max_lead + window + AC_BLOCK - 1) / AC_BLOCK;
}

static bool find_residual(const mona_bound_op *b, mona_conv_packing *k)
{
    const uint32_t bytes = k->pixels * b->input_c0[1];
    k->residual_fractals = (bytes + AC_BLOCK - 1) / AC_BLOCK;
    return is_byte(b->input[1].type) &&
           find_step(b, b->input_c0[1], bytes, &k->residual_column, &k->residual_step);
}

/* Parts of a row that a tile computes together, so that what they all read is loaded once. Few lane
 * blocks leave room in L0C for many rows of A. */
static uint32_t row_group(const mona_bound_op *b, const mona_conv_packing *k)
{
    enum { LANE_BLOCKS = 8 };
    const uint32_t most = k->width && k->width < LANE_BLOCKS ? LANE_BLOCKS / k->width : 1;
    const uint32_t group = k->parts < most ? k->parts : most;
    return b->op->conv.groups > 1 ? 1 : group < MONA_CONV_MAX_GROUP ? group : MONA_CONV_MAX_GROUP;
}

/* Whether a function makes other numbers of zeros. */
static bool moves_zeros(const mona_bound_op *b)
{
    const mona_file_epilogue *e = &b->op->epilogue;
    const uint8_t f = e->activation_after_add;
    return f == MONA_ACT_TABLE ? b->data[e->slopes]
                               : f == MONA_ACT_SIGMOID || f == MONA_ACT_SOFTPLUS;
}

/* Whether lanes without a channel come out as +0. Their sums are zero. */
static bool zeros_stay(const mona_bound_op *b, bool residual_by_cube)
{
    const mona_file_epilogue *e = &b->op->epilogue;
    const bool clips = e->activation == MONA_ACT_CLIP || e->activation_after_add == MONA_ACT_CLIP;
    const bool inside = mona_f32_from_f16(e->clip_min) < 0 && mona_f32_from_f16(e->clip_max) > 0;
    const bool minus = !is_byte(b->output.type) && mona_f32_from_f16(e->output_scale) < 0;
    return (!clips || inside) && !minus && !moves_zeros(b) && (!adds(b) || residual_by_cube);
}

/* Sets the parts and their lane blocks. False: `pixels` pixels do not fill whole lane blocks. */
static bool find_parts(const mona_bound_op *b, mona_conv_packing *k)
{
    const uint32_t channels = b->output.channels;
    k->group = 1;
    if (k->way == MONA_CONV_PLANES) {
        const uint32_t block = b->store->store.block, rows = channels / block;
        for (k->width = rows < REPEAT_BLOCKS ? rows : REPEAT_BLOCKS; rows % k->width;)
            k->width--;
        k->c0 = channels;
        k->parts = rows / k->width;
        k->one_pattern = k->width == 1;
        return k->pixels * block == LANES;
    }
    k->c0 = k->way == MONA_CONV_ROW ? b->output_c0 : LANES;
    k->width = k->pixels * k->c0 / LANES;
    k->parts = (channels + k->c0 - 1) / k->c0;
    k->one_pattern = k->c0 <= LANES;
    k->group = k->way == MONA_CONV_ROW ? row_group(b, k) : ceil_div_u32(b->output_c0, LANES);
    k->masked = k->way == MONA_CONV_ROW && channels % k->c0 && (k->c0 != LANES || moves_zeros(b)) &&
                !zeros_stay(b, k->residual_by_cube);
    return k->pixels * k->c0 % LANES == 0 &&
           (k->width == 1 || k->width == 2 || k->width == REPEAT_BLOCKS ||
            (k->width == MAX_WIDTH && k->c0 > LANES));
}

/* The most fractals of rows in a tile. Limits are:
 *   half of L0A and half of L0C;
 *   the strides of the vector unit: in parts of 8 or 16 lane blocks, one has at most 255 blocks;
 *   MAX_FRACTALS, as more is of no use: a tile takes several mmads anyway, and nothing overlaps the
 *     vector work of the last tile. */
static uint32_t find_max_fractals(const mona_bound_op *b, const mona_conv_packing *k)
{
    const uint32_t sums = k->group * k->width * (k->residual_by_cube ? 2 : 1);
    const uint32_t l0a = b->target->l0a_bytes / 2 / FRACTAL_BYTES;
    const uint32_t l0c = b->target->l0c_bytes / 2 / C_FRACTAL_BYTES / sums;
    const uint32_t useful = k->width == 1              ? MAX_FRACTALS
                            : k->width < REPEAT_BLOCKS ? MAX_FRACTALS / 2
                                                       : UINT8_MAX / AC_FRACTAL;
    const uint32_t max = l0a < l0c ? l0a : l0c;
    return max < useful ? max : useful;
}

static uint32_t max_k(const mona_bound_op *b, const mona_conv_packing *k, const mona_conv_layout *l)
{
    uint32_t max_runs = 0;
    for (uint32_t part = 0; part < k->parts; part++) {
        const mona_span used = mona_conv_used_blocks(b, l, part * k->c0, k->c0);
        const uint32_t runs =
            (uint32_t)(used.end - used.begin) * l->kernel_h * l->kernel_w / l->taps;
        max_runs = runs > max_runs ? runs : max_runs;
        if (k->way == MONA_CONV_PLANES)
            break;
    }
    return max_runs * k->run_fractals + k->bias_by_cube + k->residual_fractals;
}

/* For planes, weights of all channels take up to 16 times as much as they are. */
static bool is_small(const mona_bound_op *b, const mona_conv_packing *k, uint32_t fractals)
{
    const uint64_t bytes = (uint64_t)fractals * k->width * k->parts * FRACTAL_BYTES;
    return k->way != MONA_CONV_PLANES || bytes <= b->target->l1_bytes / 2;
}

/* Cycles for 16 rows of A divided by their pixels. Larger than any other cost if L0B cannot hold
 * the weights. */
static uint64_t cost_of(const mona_bound_op *b, const mona_conv_packing *k, uint32_t fractals)
{
    const uint64_t tile = (uint64_t)fractals * (k->width * ROW_FRACTALS + ROW_HEAD);
    const bool fits =
        (uint64_t)k->group * k->width * fractals <= b->target->l0b_bytes / FRACTAL_BYTES;
    return tile * k->parts * LANES / k->pixels + (fits ? 0 : (uint64_t)1 << 60);
}

static bool fill(const mona_bound_op *b, const mona_conv_layout *l, mona_conv_packing *k)
{
    const uint32_t pixel = source_pixel(b);
    const bool half = b->input[0].type == MONA_F16, bias = b->op->conv.bias != MONA_NONE;
    k->fractal_k = half ? AC_BLOCK / 2 : AC_BLOCK;
    if (!find_step(b, pixel, k->pixels * b->op->conv.stride_w * pixel, &k->column, &k->step) ||
        (k->residual_by_cube && !find_residual(b, k)) || !find_parts(b, k))
        return false;
    k->run_fractals = run_fractals(b, k, l);
    k->bias_by_cube = bias && !half && mona_conv_bias_fits(b);
    k->bias_by_vector = bias && !k->bias_by_cube;
    k->max_fractals = find_max_fractals(b, k);
    return k->max_fractals > 0 && k->group * k->width <= b->target->l0b_bytes / 2 / FRACTAL_BYTES;
}

/* Finds the cheapest number of pixels for this way of storing; false: none is possible. */
static bool cheapest(const mona_bound_op *b, const mona_conv_layout *l, mona_conv_packing base,
                     mona_conv_packing *best)
{
    uint64_t min_cost = UINT64_MAX;
    for (uint32_t pixels = 1; pixels <= LANES; pixels *= 2) {
        mona_conv_packing k = base;
        k.pixels = pixels;
        if (!fill(b, l, &k) || !is_small(b, &k, max_k(b, &k, l)))
            continue;
        const uint64_t cost = cost_of(b, &k, max_k(b, &k, l));
        if (cost < min_cost)
            *best = k;
        min_cost = cost < min_cost ? cost : min_cost;
    }
    return min_cost < UINT64_MAX;
}

/* Pixels share a row of A. A pixel's weights for what only others read are zeros, which must meet
 * numbers: fp16 holds others. */
uint32_t mona_conv_together(const mona_bound_op *b)
{
    const mona_conv_layout l = mona_conv_layout_of(b);
    return b->input[0].type == MONA_F16 ? mona_conv_choose_packing(b, &l).pixels : 1;
}

bool mona_conv_stores(const mona_bound_op *b)
{
    const mona_conv_layout l = mona_conv_layout_of(b);
    return mona_conv_choose_packing(b, &l).way == MONA_CONV_PLANES;
}

/* Results go straight to their place if a packing allows it, and the cube adds a residual of 8 bits
 * if one does. Otherwise the vector unit adds it, and the scalar unit spreads the results, which
 * works for all of their forms. */
mona_conv_packing mona_conv_choose_packing(const mona_bound_op *b, const mona_conv_layout *l)
{
    mona_conv_packing k = {0};
    for (int by_cube = adds_byte(b); by_cube >= 0; by_cube--) {
        const mona_conv_packing base = {.residual_by_cube = by_cube};
        mona_conv_packing row = base, planes = base, scatter = base;
        planes.way = MONA_CONV_PLANES;
        scatter.way = MONA_CONV_SCATTER;
        if (b->store ? planes_fit(b) && cheapest(b, l, planes, &k)
                     : cheapest(b, l, row, &k) || cheapest(b, l, scatter, &k))
            break;
    }
    return k;
}
