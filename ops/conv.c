// SPDX-License-Identifier: Apache-2.0
/* CONV: convolution with its epilogue (bias, activation, residual), for INT8 and FP16. It may also
 * write the planes of its STORE.
 *
 * K runs over (c1, kernel row, kernel column, c0) in that order. Under one row of the filter the
 * kernel_w columns of a channel block lie side by side in memory, c0 elements each, so one address,
 * a *run*, stands for all of them. A dilated filter skips columns and has one run for each kernel
 * column. For row programs the runs of a partly filled last channel block end with its last
 * channel, which saves the steps of the others.
 *
 * Row programs read weights cut into steps, which are packed here; conv_packing.c packs fractals
 * for instructions. Elements of the last step that lie beyond the run, and channels that do not
 * exist or belong to another group, get zero weights. Their factors are finite, so they add
 * nothing. (A bias of -0 is bound as +0. Then no accumulator is ever -0, the one value that adding
 * +0 would change.)
 *
 * A block of 16 outputs only runs over the input channels that its groups use: outputs [16n, 16n +
 * 16) belong to groups [16n / per, (16n + 15) / per], where per is the number of outputs in a
 * group, and these read channels [first group * inputs of a group, (last group + 1) * inputs of a
 * group). */
#include "engine/cpu/isa_table.h"
#include "ops/conv.h"

#include "engine/cpu/c/f16.h"
#include "engine/cpu/narrow.h"

enum { BLOCK = AC_FRACTAL };

/* ---- shapes --------------------------------------------------------------------------------- */

static int64_t span_of(uint32_t kernel, uint32_t dilation)
{
    return (int64_t)dilation * (kernel - 1) + 1;
}

static mona_status infer(const mona_file_op *op, const mona_shape *inputs, mona_shape *output)
{
    const mona_file_conv *c = &op->conv;
    const int64_t h = (int64_t)inputs[0].height + c->pad_top + c->pad_bottom -
                      span_of(c->kernel_h, c->dilation_h);
    const int64_t w =
        (int64_t)inputs[0].width + c->pad_left + c->pad_right - span_of(c->kernel_w, c->dilation_w);
    if (h < 0 || w < 0)
        return MONA_ERR_SHAPE;
    output->height = (uint32_t)(h / c->stride_h) + 1;
    output->width = (uint32_t)(w / c->stride_w) + 1;
    const bool matches = op->input_count == 1 ||
                         (inputs[1].height == output->height && inputs[1].width == output->width);
    return matches ? MONA_OK : MONA_ERR_SHAPE;
}

static mona_span rows(const mona_bound_op *b, uint32_t i, mona_span out)
{
    const mona_file_conv *c = &b->op->conv;
    if (i > 0)
        return out;
    return (mona_span){out.begin * c->stride_h - c->pad_top,
                       (out.end - 1) * c->stride_h - c->pad_top +
                           span_of(c->kernel_h, c->dilation_h)};
}

static mona_span columns(const mona_bound_op *b, uint32_t i, mona_span out)
{
    const mona_file_conv *c = &b->op->conv;
    if (i > 0)
        return out;
    return (mona_span){out.begin * c->stride_w - c->pad_left,
                       (out.end - 1) * c->stride_w - c->pad_left +
                           span_of(c->kernel_w, c->dilation_w)};
}

/* ---- K, its runs and pieces ----------------------------------------------------------------- */

/* Row kernels have buffers for so many weights. */
bool mona_conv_is_depthwise(const mona_bound_op *b)
{
    enum { MAX_TAPS = 88 };
    const mona_file_conv *c = &b->op->conv;
    return !b->on_ai_core && c->groups == b->input[0].channels && c->groups == b->output.channels &&
           b->input_c0[0] == AC_FRACTAL && b->output_c0 == AC_FRACTAL &&
           (uint32_t)c->kernel_h * c->kernel_w <= MAX_TAPS;
}

/* Whether row programs read weights of fp16: those of a single pixel are read once, so that reading
 * them takes most of the time. */
static bool keeps_halves(const mona_bound_op *b)
{
    return !b->on_ai_core && b->isa->halves && b->input[0].type == MONA_F16 &&
           b->output.width == 1 && b->output.height == 1 && !mona_conv_is_depthwise(b);
}

mona_conv_layout mona_conv_layout_of(const mona_bound_op *b)
{
    const mona_file_conv *c = &b->op->conv;
    const bool half = b->input[0].type == MONA_F16, by_steps = !b->on_ai_core;
    const bool dilated = c->dilation_w > 1 && c->kernel_w > 1;
    mona_conv_layout k = {.c0 = b->input_c0[0], .kernel_h = c->kernel_h, .kernel_w = c->kernel_w};
    k.c1 = (b->input[0].channels + k.c0 - 1) / k.c0;
    k.depthwise = mona_conv_is_depthwise(b);
    k.piece = half ? 1 : by_steps && !k.depthwise && b->isa->step_8bit ? b->isa->step_8bit : 4;
    k.element = !half ? 1 : keeps_halves(b) ? 2 : 4;
    k.taps = k.last_taps = dilated ? 1 : c->kernel_w;
    k.run_elements = k.last_run_elements = k.taps * k.c0;
    if (k.depthwise) {
        k.run_elements = k.last_run_elements = k.taps;
        return k;
    }
    const uint32_t last_channels = b->input[0].channels - (k.c1 - 1) * k.c0;
    if (by_steps && !b->isa->tiles &&
        k.c0 == ac_target_c0(b->target, b->input[0].type, UINT32_MAX) &&
        last_channels + k.piece <= k.c0) {
        k.last_taps = 1;
        k.last_run_elements = last_channels;
    }
    return k;
}

/* Runs of channel blocks before c1; for k->c1, all runs. */
static uint32_t runs_before(const mona_conv_layout *k, uint32_t c1)
{
    const uint32_t full = c1 < k->c1 ? c1 : k->c1 - 1;
    return k->kernel_h *
           (full * (k->kernel_w / k->taps) + (c1 - full) * (k->kernel_w / k->last_taps));
}

/* Bytes of the packed weights of one run for a block of outputs. */
static size_t run_bytes(const mona_conv_layout *k, uint32_t run_elements)
{
    return (size_t)((run_elements + k->piece - 1) / k->piece) * k->piece * BLOCK * k->element;
}

mona_span mona_conv_used_blocks(const mona_bound_op *b, const mona_conv_layout *k, uint32_t first,
                                uint32_t count)
{
    const uint32_t inputs = b->input[0].channels / b->op->conv.groups;
    const uint32_t per = b->output.channels / b->op->conv.groups;
    uint32_t last = first + count - 1;
    last = last < b->output.channels ? last : b->output.channels - 1;
    const uint32_t begin = first / per * inputs, end = (last / per + 1) * inputs;
    return (mona_span){begin / k->c0, (end + k->c0 - 1) / k->c0};
}

static uint32_t block_count(const mona_bound_op *b)
{
    return (b->output.channels + BLOCK - 1) / BLOCK;
}

static size_t block_weights_bytes(const mona_bound_op *b, const mona_conv_layout *k, uint32_t n)
{
    const mona_span used = mona_conv_used_blocks(b, k, n * BLOCK, BLOCK);
    const uint32_t begin = runs_before(k, (uint32_t)used.begin);
    const uint32_t full = runs_before(k, (uint32_t)(used.end < k->c1 ? used.end : k->c1 - 1));
    const uint32_t end = runs_before(k, (uint32_t)used.end);
    return (full > begin ? full - begin : 0) * run_bytes(k, k->run_elements) +
           (end > full ? end - full : 0) * run_bytes(k, k->last_run_elements);
}

/* ---- constants ------------------------------------------------------------------------------ */

/* Offsets of the constants for row programs, in this order: mona_conv and the epilogue's arrays;
 * the three tables of blocks, elements of runs, biases, weights, and those of strategies. */
typedef struct constants_layout {
    size_t tables, run_elements, bias, unsigned_bias, weights, prepared, bytes;
} constants_layout;

/* A way to compute layers of a kind that wants their weights in an order of its own. Whether it
 * serves a layer is decided when a session is made. */
typedef struct strategy {
    size_t (*bytes)(const mona_bound_op *b, const mona_conv_layout *k); /* 0: it does not serve */
    void (*pack)(const mona_bound_op *b, const mona_conv_layout *k, uint8_t *to, mona_conv *conv);
} strategy;
static const strategy strategies[4];
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

size_t mona_conv_head_bytes(const mona_bound_op *b)
{
    return align_up(sizeof(mona_conv)) +
           align_up(mona_epilogue_bytes(&b->op->epilogue, b->output.channels));
}

bool mona_conv_winograd(const mona_bound_op *b)
{
    enum { TAPS = 3, MIN_OUTPUTS = 7 };
    const mona_file_conv *c = &b->op->conv;
    const uint32_t rows_ = (b->input[0].channels + BLOCK - 1) / BLOCK * c->kernel_h;
    return b->isa->winograd && b->input[0].type != MONA_F16 && b->input_c0[0] == BLOCK &&
           rows_ <= MONA_WINOGRAD_ROWS && b->output.channels >= MIN_OUTPUTS &&
           c->kernel_w == TAPS && c->stride_w == 1 && c->dilation_w == 1 && c->groups == 1;
}

/* Of layers of few rows: others would take more memory than a cache has. */
static size_t winograd_bytes(const mona_bound_op *b, const mona_conv_layout *k)
{
    const size_t rows_ = (size_t)k->c1 * k->kernel_h;
    return mona_conv_winograd(b) && rows_ <= MONA_WINOGRAD_FEW
               ? block_count(b) * rows_ * MONA_WINOGRAD_POSITIONS * BLOCK * BLOCK * sizeof(int16_t)
               : 0;
}

/* Where rows are narrow, maps are better: whole ones take the place of a row, unless a residual is
 * added. */
static bool prefers_rows(const mona_bound_op *b)
{
    enum { WIDE = 64, WIDE_WITH_RESIDUAL = 16 };
    return mona_conv_winograd(b) &&
           b->output.width >= (b->op->input_count > 1 ? WIDE_WITH_RESIDUAL : WIDE);
}

/* Whether few outputs are computed otherwise than side by side, from whole taps of 16 channels. */
static bool is_narrow(const mona_bound_op *b, const mona_conv_layout *k)
{
    const mona_file_conv *c = &b->op->conv;
    return b->output.channels <= MONA_NARROW_OUTPUTS && b->input[0].type != MONA_F16 &&
           k->c0 == BLOCK && !k->depthwise && k->last_run_elements % BLOCK == 0 &&
           c->stride_w == 1 && c->groups == 1;
}

static size_t narrow_bytes(const mona_bound_op *b, const mona_conv_layout *k)
{
    const uint32_t taps = k->c1 * k->kernel_h * k->kernel_w;
    return is_narrow(b, k) && taps <= b->isa->narrow_taps
               ? (size_t)taps * mona_narrow_vectors(b->output.channels) * BLOCK
                     << b->isa->narrow_wide
               : 0;
}

static size_t narrow_tiles_bytes(const mona_bound_op *b, const mona_conv_layout *k)
{
    const size_t bytes =
        (size_t)k->c1 * k->kernel_h * mona_narrow_rows(k->kernel_w) * MONA_NARROW_PIXELS * BLOCK;
    return b->isa->tiles && is_narrow(b, k) && b->output.channels >= 2 &&
                   b->output.channels <= MONA_NARROW_PIXELS && k->taps == k->kernel_w &&
                   k->kernel_w >= 2 && k->kernel_w <= MONA_NARROW_COLUMNS &&
                   bytes <= MONA_NARROW_TILES
               ? bytes
               : 0;
}

/* In the last of an even number of blocks. */
static size_t mixed_bytes(const mona_bound_op *b, const mona_conv_layout *k)
{
    const uint32_t last = block_count(b) - 1;
    const size_t bytes = block_weights_bytes(b, k, last);
    const bool serves = b->isa->spare_ports && b->input[0].type != MONA_F16 && !k->depthwise &&
                        last % 2 && b->output.channels - last * BLOCK <= MONA_MIXED_OUTPUTS &&
                        bytes <= MONA_MIXED_BYTES;
    return serves ? bytes * MONA_MIXED_ROTATIONS : 0;
}

static bool wants_unsigned_bias(const mona_bound_op *b)
{
    return b->isa->unsigned_bias && b->input[0].type == MONA_S8;
}

static constants_layout constants_of(const mona_bound_op *b)
{
    const mona_conv_layout k = mona_conv_layout_of(b);
    const uint32_t blocks = block_count(b);
    constants_layout l = {.tables = mona_conv_head_bytes(b)};
    l.run_elements = l.tables + align_up(3 * blocks * sizeof(uint32_t));
    l.bias = l.run_elements + align_up(runs_before(&k, k.c1) * sizeof(uint16_t));
    const size_t bias_bytes = align_up((size_t)blocks * BLOCK * sizeof(int32_t));
    l.unsigned_bias = l.bias + bias_bytes;
    l.weights = l.unsigned_bias + (wants_unsigned_bias(b) ? bias_bytes : 0);
    l.bytes = l.weights;
    for (uint32_t n = 0; n < blocks; n++)
        l.bytes += block_weights_bytes(b, &k, n);
    l.prepared = l.bytes = align_up(l.bytes);
    for (uint32_t i = 0; i < STRATEGIES; i++)
        l.bytes += align_up(strategies[i].bytes(b, &k));
    return l;
}

static size_t constants_bytes(const mona_bound_op *b)
{
    return constants_of(b).bytes;
}

int64_t mona_conv_weight_index(const mona_bound_op *b, uint32_t o, uint32_t channel, uint32_t ky,
                               uint32_t kx)
{
    const mona_file_conv *c = &b->op->conv;
    const uint32_t inputs = b->input[0].channels / c->groups;
    if (o >= b->output.channels || channel >= b->input[0].channels ||
        channel / inputs != o / (b->output.channels / c->groups))
        return -1;
    return (((int64_t)o * inputs + channel % inputs) * c->kernel_h + ky) * c->kernel_w + kx;
}

static void put_weight(uint8_t *to, const mona_bound_op *b, const mona_conv_layout *k,
                       int64_t index)
{
    const uint8_t *from = b->data + b->op->conv.weights;
    if (index < 0) {
        memset(to, 0, k->element);
    } else if (k->element == 2) {
        memcpy(to, from + 2 * index, 2);
    } else if (k->element == 4) {
        uint16_t bits;
        memcpy(&bits, from + 2 * index, sizeof bits);
        const float value = mona_f32_from_f16(bits);
        memcpy(to, &value, sizeof value);
    } else {
        *to = from[index];
    }
}

/* Packs one run of a block of outputs, in kernel row ky from kernel column kx on, as [piece][16
 * outputs][elements of a piece]. */
static uint8_t *pack_run(uint8_t *to, const mona_bound_op *b, const mona_conv_layout *k, uint32_t n,
                         uint32_t c1, uint32_t ky, uint32_t kx)
{
    const uint32_t elements = c1 + 1 < k->c1 ? k->run_elements : k->last_run_elements;
    for (uint32_t p = 0; p < elements; p += k->piece)
        for (uint32_t o = n * BLOCK; o < (n + 1) * BLOCK; o++)
            for (uint32_t e = p; e < p + k->piece; e++, to += k->element) {
                const uint32_t channel = k->depthwise ? o : c1 * k->c0 + e % k->c0;
                const bool real = e < elements;
                const uint32_t column = kx + (k->depthwise ? e : e / k->c0);
                put_weight(to, b, k, real ? mona_conv_weight_index(b, o, channel, ky, column) : -1);
            }
    return to;
}

/* Packs all runs of block n of outputs. Where channel blocks are joined, those of a pixel follow
 * one another. */
static uint8_t *pack_block(uint8_t *to, const mona_bound_op *b, const mona_conv_layout *k,
                           uint32_t n)
{
    const mona_span used = mona_conv_used_blocks(b, k, n * BLOCK, BLOCK);
    const bool whole_map = b->run && b->run->map; /* tests of row kernels have none */
    const uint32_t joined = whole_map ? mona_conv_joined_blocks(b) : 1;
    mona_conv_layout part = *k;
    if (joined > 1) {
        part.taps = part.last_taps = 1;
        part.run_elements = part.last_run_elements = k->c0;
    }
    for (uint32_t c1 = (uint32_t)used.begin; c1 < used.end; c1 += joined)
        for (uint32_t ky = 0; ky < k->kernel_h; ky++)
            for (uint32_t kx = 0; kx < k->kernel_w;
                 kx += c1 + 1 < k->c1 ? part.taps : part.last_taps)
                for (uint32_t i = 0; i < joined; i++)
                    to = pack_run(to, b, &part, n, c1 + i, ky, kx);
    return to;
}

/* Weight of channel c of a channel block at row `row` of the filter under it. */
static int8_t weight_at(const mona_bound_op *b, uint32_t output, uint32_t row, uint32_t column,
                        uint32_t c)
{
    const uint32_t height = b->op->conv.kernel_h;
    const int64_t index =
        mona_conv_weight_index(b, output, row / height * BLOCK + c, row % height, column);
    return index < 0 ? 0 : ((const int8_t *)b->data + b->op->conv.weights)[index];
}

static void pack_winograd(const mona_bound_op *b, const mona_conv_layout *k, uint8_t *at,
                          mona_conv *conv)
{
    enum { ROW = BLOCK * BLOCK };
    static const int8_t transform[MONA_WINOGRAD_POSITIONS][3] = {
        {6, 0, 0}, {4, 4, 4}, {4, -4, 4}, {1, 2, 4}, {1, -2, 4}, {0, 0, 24},
    };
    const uint32_t rows_ = k->c1 * k->kernel_h, block = MONA_WINOGRAD_POSITIONS * rows_ * ROW;
    int16_t *to = (int16_t *)(void *)at;
    conv->winograd = to;
    for (uint32_t i = 0; i < block_count(b) * block; i++) {
        const int8_t *by = transform[i / (rows_ * ROW) % MONA_WINOGRAD_POSITIONS];
        const uint32_t output = i / block * BLOCK + i / 2 % BLOCK;
        const uint32_t channel = i / (2 * BLOCK) % (BLOCK / 2) * 2 + i % 2;
        int sum = 0;
        for (uint32_t x = 0; x < 3; x++)
            sum += by[x] * weight_at(b, output, i / ROW % rows_, x, channel);
        to[i] = (int16_t)sum;
    }
}

static void pack_narrow(const mona_bound_op *b, const mona_conv_layout *k, uint8_t *to,
                        mona_conv *conv)
{
    conv->narrow = to;
    const uint32_t vectors = mona_narrow_vectors(b->output.channels);
    for (uint32_t tap = 0; tap < k->c1 * k->kernel_h * k->kernel_w; tap++)
        for (uint32_t v = 0; v < vectors; v++)
            for (uint32_t c = 0; c < BLOCK; c++) {
                const uint32_t turned = v < 4 ? (c / 4 + v) % 4 : 4 + (c / 4 + v) % 2;
                const uint32_t output = b->isa->narrow_rotated && vectors > 1 ? turned : v;
                const int16_t w = weight_at(b, output, tap / k->kernel_w, tap % k->kernel_w, c);
                memcpy(to, &w, 1 + b->isa->narrow_wide); /* little-endian, as x86 is */
                to += 1 + b->isa->narrow_wide;
            }
}

static void pack_narrow_tiles(const mona_bound_op *b, const mona_conv_layout *k, uint8_t *to,
                              mona_conv *conv)
{
    conv->narrow_tiles = to;
    const uint32_t rows_ = mona_narrow_rows(k->kernel_w);
    for (uint32_t i = 0; i < k->c1 * k->kernel_h * rows_ * MONA_NARROW_PIXELS * BLOCK; i++) {
        const uint32_t r = i / (MONA_NARROW_PIXELS * BLOCK) % rows_,
                       pixel = i / BLOCK % MONA_NARROW_PIXELS;
        const uint32_t column = r / 4 - pixel; /* wraps where the filter begins later */
        to[i] = column < k->kernel_w
                    ? (uint8_t)weight_at(b, i / 4 % 4, i / (MONA_NARROW_PIXELS * BLOCK) / rows_,
                                         column, r % 4 * 4 + i % 4)
                    : 0;
    }
}

/* Rotation r of a step has output (lane + 4 r) % 12 in each lane. */
static void pack_mixed(const mona_bound_op *b, const mona_conv_layout *k, uint8_t *to,
                       mona_conv *conv)
{
    enum { STEP = BLOCK * 4 };
    const uint32_t last = conv->blocks - 1;
    const uint8_t *from = conv->weights + conv->weights_offset[last];
    const size_t steps = block_weights_bytes(b, k, last) / STEP;
    conv->mixed = to;
    for (size_t s = 0; s < steps; s++, from += STEP)
        for (uint32_t i = 0; i < MONA_MIXED_ROTATIONS * BLOCK; i++, to += 4)
            memcpy(to, from + (i % BLOCK + i / BLOCK * 4) % MONA_MIXED_OUTPUTS * 4, 4);
}

static const strategy strategies[] = {
    {winograd_bytes, pack_winograd},
    {narrow_bytes, pack_narrow},
    {narrow_tiles_bytes, pack_narrow_tiles},
    {mixed_bytes, pack_mixed},
};

static void bind_bias(void *to, const mona_bound_op *b)
{
    const uint32_t outputs = b->output.channels, offset = b->op->conv.bias;
    memset(to, 0, (size_t)block_count(b) * BLOCK * sizeof(int32_t));
    if (offset == MONA_NONE)
        return;
    memcpy(to, b->data + offset, outputs * sizeof(int32_t));
    float *bias = to;
    for (uint32_t o = 0; o < outputs && b->input[0].type == MONA_F16; o++)
        bias[o] += 0.0f; /* turns -0 into +0 */
}

static void bind_unsigned_bias(uint32_t *to, const int32_t *bias, const mona_bound_op *b)
{
    const mona_file_conv *c = &b->op->conv;
    const size_t count = (size_t)(b->input[0].channels / c->groups) * c->kernel_h * c->kernel_w;
    const int8_t *weights = (const int8_t *)b->data + c->weights;
    memset(to, 0, (size_t)block_count(b) * BLOCK * sizeof *to);
    for (uint32_t o = 0; o < b->output.channels; o++, weights += count) {
        uint32_t sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += (uint32_t)weights[i];
        to[o] = (uint32_t)bias[o] - 128 * sum;
    }
}

/* Computes mona_conv.small_sums for an INT8 convolution. scales: fp16 bits. */
static bool sums_are_small(const mona_bound_op *b, const uint16_t *scales)
{
    const mona_file_conv *c = &b->op->conv;
    const int64_t high = b->input[0].type == MONA_U8 ? 255 : 127;
    const size_t count = (size_t)(b->input[0].channels / c->groups) * c->kernel_h * c->kernel_w;
    const int8_t *weights = (const int8_t *)b->data + c->weights;
    const int64_t low = b->input[0].type == MONA_U8 ? 0 : -128;
    for (uint32_t o = 0; o < b->output.channels; o++, weights += count) {
        int64_t positive = 0, negative = 0;
        for (size_t i = 0; i < count; i++)
            *(weights[i] < 0 ? &negative : &positive) += weights[i];
        int32_t bias = 0;
        if (c->bias != MONA_NONE)
            memcpy(&bias, b->data + c->bias + o * sizeof bias, sizeof bias);
        const int64_t max = bias + high * positive + low * negative;
        const int64_t min = bias + low * positive + high * negative;
        const int64_t sum = max > -min ? max : -min;
        if (sum >= 1 << 22 || (float)sum * mona_f32_from_f16(scales[o] & 0x7fff) >= 0x1p15f)
            return false;
    }
    return true;
}

mona_conv *mona_conv_bind_head(const mona_bound_op *b)
{
    const mona_file_conv *c = &b->op->conv;
    const mona_conv_layout k = mona_conv_layout_of(b);
    mona_conv *conv = b->constants;
    *conv = (mona_conv){
        .source_type = b->input[0].type,
        .c0 = k.c0,
        .stride = c->stride_w,
        .pixel_bytes = c->stride_w * k.c0 * (uint32_t)mona_type_size(b->input[0].type),
        .taps = k.taps,
        .channels = b->output.channels,
        .depthwise = k.depthwise,
        .blocks = block_count(b),
    };
    const void *scales = c->scales == MONA_NONE ? NULL : b->data + c->scales;
    mona_epilogue_bind(&conv->epilogue, &b->op->epilogue, b->output.channels, b->data, scales,
                       (uint8_t *)b->constants + align_up(sizeof(mona_conv)));
    conv->epilogue.add = b->op->input_count > 1;
    conv->epilogue.broadcast =
        conv->epilogue.add && b->input[1].channels == 1 && b->output.channels > 1;
    conv->small_sums = scales && sums_are_small(b, scales);
    return conv;
}

static void bind(const mona_bound_op *b)
{
    const mona_conv_layout k = mona_conv_layout_of(b);
    const constants_layout l = constants_of(b);
    mona_conv *conv = mona_conv_bind_head(b);
    const uint32_t blocks = block_count(b);
    uint8_t *base = b->constants, *to = base + l.weights;
    uint32_t *first_run = (uint32_t *)(void *)(base + l.tables);
    uint32_t *run_count = first_run + blocks, *weights_offset = run_count + blocks;
    uint16_t *run_elements = (uint16_t *)(void *)(base + l.run_elements);
    for (uint32_t r = 0; r < runs_before(&k, k.c1); r++)
        run_elements[r] =
            (uint16_t)(r < runs_before(&k, k.c1 - 1) ? k.run_elements : k.last_run_elements);
    bind_bias(base + l.bias, b);
    if (wants_unsigned_bias(b)) {
        conv->unsigned_bias = (const int32_t *)(const void *)(base + l.unsigned_bias);
        bind_unsigned_bias((uint32_t *)(void *)(base + l.unsigned_bias),
                           (const int32_t *)(const void *)(base + l.bias), b);
    }
    for (uint32_t n = 0; n < blocks; n++) {
        const mona_span used = mona_conv_used_blocks(b, &k, n * BLOCK, BLOCK);
        first_run[n] = runs_before(&k, (uint32_t)used.begin);
        run_count[n] = runs_before(&k, (uint32_t)used.end) - first_run[n];
        weights_offset[n] = (uint32_t)(to - (base + l.weights));
        to = pack_block(to, b, &k, n);
    }
    if (mona_conv_winograd(b)) {
        conv->winograd_height = k.kernel_h;
        conv->winograd_rows = k.c1 * k.kernel_h;
        conv->winograd_whole =
            k.last_taps == k.taps ? conv->winograd_rows : conv->winograd_rows - k.kernel_h;
    }
    conv->halves = keeps_halves(b);
    conv->spare_ports = b->isa->spare_ports;
    conv->run_elements = run_elements;
    conv->first_run = first_run;
    conv->run_count = run_count;
    conv->weights_offset = weights_offset;
    conv->weights = base + l.weights;
    conv->bias = base + l.bias;
    to = base + l.prepared;
    for (uint32_t i = 0; i < STRATEGIES; i++) {
        const size_t bytes = strategies[i].bytes(b, &k);
        if (bytes)
            strategies[i].pack(b, &k, to, conv);
        to += align_up(bytes);
    }
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Scratch: where the runs lie; the plane rows that a fused STORE writes: pointers, or addresses for
 * a program; and that of row kernels. */
static size_t runs_bytes(const mona_conv_layout *k)
{
    return align_up(runs_before(k, k->c1) * sizeof(ac_address));
}

static size_t planes_bytes(const mona_bound_op *b)
{
    return align_up(b->output.channels * sizeof(ac_address));
}

static size_t scratch_bytes(const mona_bound_op *b, uint32_t columns_)
{
    (void)columns_;
    const mona_conv_layout k = mona_conv_layout_of(b);
    const size_t before = planes_bytes(b) + runs_bytes(&k);
    return b->on_ai_core ? before : before + b->isa->conv_scratch;
}

/* Finds the addresses of all runs for the call's first pixel, whose filter starts at column x *
 * stride - pad. */
static void find_runs(const uint8_t **runs, const mona_row_call *call, const mona_conv_layout *k)
{
    const mona_bound_op *b = call->bound;
    const mona_file_conv *c = &b->op->conv;
    const mona_rows *in = &call->input[0];
    const size_t column_bytes = k->c0 * mona_type_size(b->input[0].type);
    const size_t column = (size_t)(call->x_begin * c->stride_w - c->pad_left - in->x_begin);
    for (uint32_t c1 = 0; c1 < k->c1; c1++)
        for (uint32_t ky = 0; ky < c->kernel_h; ky++)
            for (uint32_t kx = 0; kx < c->kernel_w; kx += c1 + 1 < k->c1 ? k->taps : k->last_taps)
                *runs++ = in->rows[ky * c->dilation_h] + c1 * in->block_stride +
                          (column + (size_t)kx * c->dilation_w) * column_bytes;
}

/* planes: room for those of a fused STORE. */
static mona_conv_row row_of(const mona_row_call *call, mona_planes *planes)
{
    const mona_bound_op *b = call->bound;
    const mona_conv *conv = b->constants;
    const mona_conv_layout k = mona_conv_layout_of(b);
    const uint8_t **runs = (const uint8_t **)(void *)call->scratch;
    find_runs(runs, call, &k);
    mona_conv_row r = {
        .conv = conv,
        .runs = runs,
        .pixels = (uint32_t)(call->x_end - call->x_begin),
        .output = {.c0 = b->output_c0, .type = mona_epilogue_type(b)},
        .scratch = call->scratch + runs_bytes(&k) + planes_bytes(b),
    };
    if (conv->epilogue.add)
        r.residual = input_row(call, 1);
    if (call->store) {
        uint8_t **rows_ = (uint8_t **)(void *)(call->scratch + runs_bytes(&k));
        *planes = mona_store_planes(call->store, call->planes, call->y, call->x_begin, rows_);
        r.planes = planes;
    } else {
        r.output = output_row(call);
        r.output.type = mona_epilogue_type(b);
    }
    return r;
}

static void row(const mona_row_call *call)
{
    mona_planes planes;
    const mona_bound_op *b = call->bound;
    const mona_conv_row r = row_of(call, &planes);
    if (r.conv->depthwise)
        b->isa->depthwise_row(&r);
    else
        b->isa->conv_row(&r);
    if (!r.planes)
        mona_epilogue_function(b, &r.conv->epilogue, r.output, b->output.channels, r.pixels);
}

static uint64_t macs(const mona_bound_op *b)
{
    const mona_file_conv *c = &b->op->conv;
    const uint64_t filter =
        (uint64_t)(b->input[0].channels / c->groups) * c->kernel_h * c->kernel_w;
    return filter * b->output.channels * b->output.height * b->output.width;
}

/* A function is computed, and depthwise kernels write, in channel blocks. */
static bool stores(const mona_bound_op *b)
{
    return !mona_is_function(b->op->epilogue.activation_after_add) && !mona_conv_is_depthwise(b);
}

const mona_op_run mona_run_conv = {
    .rows = rows,
    .columns = columns,
    .row = row,
};

const mona_op_run mona_run_conv_map = {
    .rows = rows,
    .columns = columns,
    .map = mona_conv_map,
};

const mona_op_class mona_op_conv = {
    .name = "conv",
    .run = &mona_run_conv,
    .run_map = &mona_run_conv_map,
    .kernels = MONA_KERNEL(conv_row) | MONA_KERNEL(depthwise_row) | MONA_KERNEL(function_row) |
               MONA_KERNEL(fold_row),
    .min_inputs = 1,
    .max_inputs = 2,
    .zeros = MONA_ZEROS_ANY,
    .picture = MONA_PICTURE_RESIDUAL,
    .has_filter = true,
    .has_epilogue = true,
    .check = mona_conv_check,
    .infer = infer,
    .constants_bytes = constants_bytes,
    .bind = bind,
    .scratch_bytes = scratch_bytes,
    .prefers_rows = prefers_rows,
    .map_possible = mona_conv_map_possible,
    .map_scratch_bytes = mona_conv_map_scratch_bytes,
    .macs = macs,
    .stores = stores,
};
