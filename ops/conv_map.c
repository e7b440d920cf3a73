// SPDX-License-Identifier: Apache-2.0
/* CONV on whole maps: many rows at once, for layers with more weights than pixels in a row.
 *
 * For the row program, the pixels of a few output rows form one long row. The bytes of a run must
 * then lie one pixel after another for all of them. They do if the filter is one pixel and the map
 * has no margins; otherwise they are gathered first, as load3d does on the chip. A run of several
 * kernel columns becomes one run for each column, so that a pixel is c0 elements in every gathered
 * plane. The packed weights stay the same bytes in the same order, since c0 is a multiple of a
 * step.
 *
 * Or nothing is copied: rows are computed one by one where they lie, and kernels that take
 * mona_conv_row.edges leave out what a run reads beyond the map. Of FP16, operands are made first.
 *
 * Kernels that multiply tiles get up to four of these runs in one, side by side for each pixel. Or,
 * if the filter has several columns, they read them as runs of a source that is copied once, with
 * as many pixels of padding after each row as the filter reaches out of it on one side: the end of
 * a row is then the beginning of the next one's margin. Results of these pixels are left out. Four
 * channel blocks are put side by side for each pixel where that leaves none over; then weights are
 * packed in that order, too. */
#include "ops/conv.h"
#include "engine/op/padding.h"

/* Gathered planes may fill 1 / this of the cache; of operands more, as each block of outputs reads
 * them with several times the arithmetic. So may results that are copied. */
enum { GATHER_SHARE = 4, OPERANDS_SHARE = 1, RESULTS_SHARE = 16 };

enum { JOINED = 4 }; /* blocks of 16 bytes that fill a row of a tile */

/* ---- scratch -------------------------------------------------------------------------------- */

static uint32_t taps_of(const mona_bound_op *b)
{
    return (uint32_t)b->op->conv.kernel_h * b->op->conv.kernel_w;
}

/* One part of K for every channel block, kernel row and kernel column. */
static uint32_t part_count(const mona_bound_op *b)
{
    return mona_conv_layout_of(b).c1 * taps_of(b);
}

/* Whether the source is copied with margins, not gathered for each pixel of the filter. */
static bool keeps_columns(const mona_bound_op *b)
{
    const mona_file_conv *c = &b->op->conv;
    const mona_conv_layout k = mona_conv_layout_of(b);
    return (b->isa->tiles || mona_conv_winograd(b)) && b->input[0].type != MONA_F16 &&
           k.c0 == AC_FRACTAL && k.taps > 1 && k.last_run_elements == k.run_elements &&
           c->groups == 1 && c->stride_h == 1 && c->stride_w == 1 && c->dilation_h == 1 &&
           b->op->input_count == 1 && b->output.channels > AC_FRACTAL;
}

/* Bytes of an element in gathered planes: what the source stores, or the kernel's operands, which
 * are made once for all blocks of outputs, if there are several. */
static uint32_t element_bytes(const mona_bound_op *b)
{
    const mona_type type = b->input[0].type;
    const uint32_t stored = (uint32_t)mona_type_size(type);
    const uint32_t operand = type == MONA_F16 ? b->isa->operand_f16 : b->isa->operand_8bit;
    const uint64_t planes = (uint64_t)b->output.width * b->input_c0[0] * part_count(b) * operand;
    return operand && !keeps_columns(b) && b->output.channels > AC_FRACTAL &&
                   planes <= b->target->l1_bytes / 2
               ? operand
               : stored;
}

static bool makes_operands(const mona_bound_op *b)
{
    return element_bytes(b) > mona_type_size(b->input[0].type);
}

/* Whether pixels are read where they lie, if those of the map lie in line. */
static bool may_read_in_line(const mona_bound_op *b)
{
    const mona_file_conv *c = &b->op->conv;
    return taps_of(b) == 1 && c->stride_h == 1 && c->stride_w == 1 &&
           !(c->pad_top | c->pad_bottom | c->pad_left | c->pad_right);
}

/* Bytes of operands of the whole source. */
static uint64_t operand_bytes(const mona_bound_op *b)
{
    const mona_shape *in = &b->input[0];
    return (uint64_t)in->width * in->height * in->channels * b->isa->operand_f16;
}

/* Whether rows are read where they lie, and kernels leave out what is beyond them. A row's last
 * block of pixels is moved back: hardly any may be computed twice. */
static bool leaves_out_padding(const mona_bound_op *b)
{
    const mona_file_conv *c = &b->op->conv;
    const mona_shape *in = &b->input[0];
    const uint32_t width = b->output.width,
                   blocks = (width + MONA_EDGE_PIXELS - 1) / MONA_EDGE_PIXELS;
    const bool tight = width % 8 == 0 || blocks * MONA_EDGE_PIXELS - width <= width / 8;
    const bool type =
        in->type == MONA_U8 || (in->type == MONA_F16 && makes_operands(b) &&
                                operand_bytes(b) <= b->target->l1_bytes / OPERANDS_SHARE);
    return b->isa->edges && type && !mona_padding(in) && in->channels % AC_FRACTAL == 0 &&
           b->output.channels > AC_FRACTAL && taps_of(b) > 1 && c->groups == 1 &&
           c->stride_w == 1 && c->pad_left <= 1 && c->dilation_w == 1 &&
           width + c->kernel_w <= in->width + c->pad_left + 2u && width >= MONA_EDGE_PIXELS &&
           tight;
}

uint32_t mona_conv_joined_blocks(const mona_bound_op *b)
{
    return b->isa->tiles && keeps_columns(b) && mona_conv_layout_of(b).c1 % JOINED == 0 ? JOINED
                                                                                        : 1;
}

/* Pixels from one gathered row to the next. */
static uint32_t pitch_of(const mona_bound_op *b)
{
    const mona_file_conv *c = &b->op->conv;
    const uint32_t margin = c->pad_left > c->pad_right ? c->pad_left : c->pad_right;
    const uint32_t whole = mona_conv_winograd(b) ? 4 : 1;
    const uint32_t pitch = (b->input[0].width + margin + whole - 1) / whole * whole;
    return keeps_columns(b) && pitch > b->output.width ? pitch : b->output.width;
}

/* Parts of a run. Gathering takes less time than it saves with three blocks of outputs or more, but
 * kernels for tiles join runs of up to MONA_JOINED_CHANNELS more quickly. */
static uint32_t parts_of_run(const mona_bound_op *b)
{
    enum { MIN_OUTPUTS = 2 * AC_FRACTAL + 1 };
    const bool by_kernel = may_read_in_line(b) && part_count(b) % 4 == 0 &&
                           part_count(b) * AC_FRACTAL <= MONA_JOINED_CHANNELS;
    const bool joined = !by_kernel && !keeps_columns(b) && b->isa->tiles &&
                        b->input[0].type != MONA_F16 && b->op->conv.groups == 1 &&
                        b->input_c0[0] == AC_FRACTAL && b->output.channels >= MIN_OUTPUTS;
    uint32_t parts = joined ? JOINED : mona_conv_joined_blocks(b);
    while (part_count(b) % parts)
        parts--;
    return parts;
}

static uint32_t plane_count(const mona_bound_op *b)
{
    if (leaves_out_padding(b))
        return 0;
    return (keeps_columns(b) ? mona_conv_layout_of(b).c1 : part_count(b)) / parts_of_run(b);
}

/* Runs of a channel block, times the parts of each. */
static uint32_t runs_of_block(const mona_bound_op *b)
{
    return keeps_columns(b) ? b->op->conv.kernel_h : taps_of(b);
}

static uint32_t run_count(const mona_bound_op *b)
{
    return mona_conv_layout_of(b).c1 * runs_of_block(b) / parts_of_run(b);
}

/* Bytes of a pixel of a channel block in gathered planes. */
static uint32_t part_bytes(const mona_bound_op *b)
{
    return b->input_c0[0] * element_bytes(b);
}

/* Bytes of a pixel of a run. */
static uint32_t pixel_bytes(const mona_bound_op *b)
{
    return parts_of_run(b) * part_bytes(b);
}

/* Gathered planes that output rows read. Copied ones begin with the left margin. */
static size_t plane_bytes(const mona_bound_op *b, uint32_t rows)
{
    const uint32_t filter_rows = keeps_columns(b) ? b->op->conv.kernel_h - 1u : 0;
    const uint32_t margin = keeps_columns(b) ? b->op->conv.pad_left : 0;
    const size_t pixels = ((size_t)rows + filter_rows) * pitch_of(b) + margin;
    return align_up(pixels * pixel_bytes(b) + MONA_ROW_SLACK);
}

/* Results of one block of outputs that are copied to the map. */
static size_t result_bytes(const mona_bound_op *b, uint32_t rows)
{
    const size_t pixel = AC_FRACTAL * mona_type_size(mona_epilogue_type(b));
    return align_up((size_t)rows * pitch_of(b) * pixel);
}

/* Cores share the outputs by whole blocks of 16. The gathered planes of a row must fit L1. */
bool mona_conv_map_possible(const mona_bound_op *b)
{
    const mona_conv_layout k = mona_conv_layout_of(b);
    return !b->on_ai_core && !k.depthwise && k.c0 % k.piece == 0 && b->output_c0 == AC_FRACTAL &&
           (uint64_t)plane_bytes(b, 1) * plane_count(b) <= b->target->l1_bytes;
}

/* Output rows whose gathered planes, or the addresses of whose runs, fit their share of the
 * cache. */
static uint32_t rows_at_once(const mona_bound_op *b)
{
    enum { ADDRESSES = 2048 };
    if (leaves_out_padding(b))
        return (uint32_t)clip_to(ADDRESSES / run_count(b), 1, b->output.height);
    const size_t share = b->target->l1_bytes / (makes_operands(b) ? OPERANDS_SHARE : GATHER_SHARE);
    const size_t first = plane_bytes(b, 1) * plane_count(b);
    const size_t next = (size_t)pitch_of(b) * pixel_bytes(b) * plane_count(b);
    const size_t row = keeps_columns(b) ? next : first; /* each after the first */
    const size_t rows = first > share ? 1 : 1 + (share - first) / row;
    return rows < b->output.height ? (uint32_t)rows : b->output.height;
}

/* Blocks of outputs whose results are copied to the map, if need be, at a time; 0: none. */
static uint32_t copied_blocks(const mona_bound_op *b)
{
    const uint32_t blocks = (b->output.channels + AC_FRACTAL - 1) / AC_FRACTAL;
    const uint32_t rows = rows_at_once(b);
    if (keeps_columns(b))
        return blocks;
    const size_t share =
        rows > 1 && !leaves_out_padding(b) ? b->target->l1_bytes / RESULTS_SHARE : 0;
    return (uint32_t)clip_to((int64_t)(share / result_bytes(b, rows)), 0, blocks);
}

/* Offsets of: the addresses of runs, their elements and edges, first run and run count of each
 * block of outputs, the scratch of row kernels, gathered planes, results that are copied. */
typedef struct scratch_layout {
    size_t run_elements, edges, first_run, kernel, planes, results, bytes;
} scratch_layout;

static scratch_layout scratch_of(const mona_bound_op *b)
{
    const uint32_t blocks = (b->output.channels + AC_FRACTAL - 1) / AC_FRACTAL;
    const uint32_t rows = rows_at_once(b);
    const uint32_t tables = leaves_out_padding(b) ? rows : 1;
    scratch_layout l = {.run_elements = align_up(run_count(b) * tables * sizeof(uint8_t *))};
    l.edges = l.run_elements + align_up(run_count(b) * sizeof(uint16_t));
    l.first_run =
        l.edges + (leaves_out_padding(b) ? align_up(run_count(b) * sizeof(mona_edge)) : 0);
    l.kernel = l.first_run + align_up(2 * blocks * sizeof(uint32_t));
    l.planes = l.kernel + b->isa->conv_scratch;
    l.results = l.planes + plane_bytes(b, rows) * plane_count(b);
    if (leaves_out_padding(b) && makes_operands(b))
        l.results += align_up(operand_bytes(b) + MONA_ROW_SLACK);
    l.bytes = l.results + result_bytes(b, rows) * copied_blocks(b);
    return l;
}

size_t mona_conv_map_scratch_bytes(const mona_bound_op *b)
{
    return scratch_of(b).bytes;
}

/* ---- the runs of a few rows ----------------------------------------------------------------- */

static bool pixels_in_line(const mona_map *map, const mona_shape *s, uint32_t c0)
{
    return map->row_stride == (size_t)s->width * c0 * mona_type_size(s->type);
}

static bool reads_in_line(const mona_map_call *call)
{
    const mona_bound_op *b = call->bound;
    return !makes_operands(b) && parts_of_run(b) == 1 && may_read_in_line(b) &&
           pixels_in_line(&call->input[0], &b->input[0], b->input_c0[0]);
}

/* Copies every stride-th pixel, `bytes` each, to places `step` bytes apart. */
static void copy_pixels(uint8_t *to, size_t step, const uint8_t *from, size_t count, size_t stride,
                        size_t bytes)
{
    if (stride == 1 && step == bytes)
        memcpy(to, from, count * bytes);
    else if (bytes == AC_FRACTAL)
        for (size_t x = 0; x < count; x++)
            memcpy(to + x * step, from + x * stride * AC_FRACTAL, AC_FRACTAL);
    else
        for (size_t x = 0; x < count; x++)
            memcpy(to + x * step, from + x * stride * bytes, bytes);
}

/* Of gathered planes: bytes of a pixel, of which a part takes so many. */
typedef struct pixel_shape {
    uint32_t step, part;
    bool operands;
} pixel_shape;

/* Makes operands of the elements of every stride-th pixel. Those of fp16 are added to zeros, which
 * makes +0 of -0: for sums of products it is the same. */
static void widen_pixels(const mona_bound_op *b, uint8_t *to, const uint8_t *from, size_t count,
                         size_t stride)
{
    const mona_type type = b->input[0].type;
    const size_t elements = b->input_c0[0], at_once = stride == 1 ? count : 1;
    if (type == MONA_F16) {
        memset(to, 0, count * elements * sizeof(float));
        for (size_t x = 0; x < count; x += at_once)
            b->isa->fold_row(&(mona_fold_row){
                .add = true,
                .source = from + x * stride * elements * sizeof(uint16_t),
                .to = to + x * elements * sizeof(float),
                .count = (uint32_t)(at_once * elements),
            });
        return;
    }
    for (size_t x = 0; x < count; x += at_once) {
        int16_t *integers = (int16_t *)(void *)to + x * elements;
        const uint8_t *u8 = from + x * stride * elements;
        const int8_t *s8 = (const int8_t *)u8;
        for (size_t i = 0; i < at_once * elements && type == MONA_U8; i++)
            integers[i] = u8[i];
        for (size_t i = 0; i < at_once * elements && type == MONA_S8; i++)
            integers[i] = s8[i];
    }
}

/* Pixels of the map's padding. */
static void fill_pixels(const mona_bound_op *b, const pixel_shape *p, uint8_t *to, size_t count)
{
    _Alignas(8) uint8_t pixel[AC_FRACTAL * 2];
    const mona_shape *in = &b->input[0];
    if (!count)
        return;
    const uint64_t padding = mona_padding(in);
    mona_fill_padding(pixel, b->input_c0[0] * mona_type_size(in->type), padding);
    for (size_t x = 0; x < count; x++, to += p->step)
        if (p->operands)
            widen_pixels(b, to, pixel, 1, 1);
        else
            memcpy(to, pixel, p->part);
}

/* Gathers what kernel column kx reads from one row of the source for a whole output row: input
 * column x * stride - pad + kx * dilation, or the map's padding outside of it. row NULL: it lies
 * outside. */
static void gather_row(const mona_bound_op *b, const pixel_shape *p, uint8_t *to,
                       const uint8_t *row, uint32_t kx)
{
    const mona_file_conv *c = &b->op->conv;
    const mona_shape *in = &b->input[0];
    const int64_t width = b->output.width, stride = c->stride_w;
    const int64_t start = (int64_t)kx * c->dilation_w - c->pad_left, step = p->step;
    const int64_t first = clip_to(-floor_div_small((int32_t)start, c->stride_w), 0, width);
    const int64_t last = clip_to(floor_div_small((int32_t)(in->width - 1 - start), c->stride_w) + 1,
                                 row ? first : 0, width);
    const bool inside = row && last > first;
    const int64_t before = inside ? first : width;
    fill_pixels(b, p, to, (size_t)before);
    if (!inside)
        return;
    const int64_t stored = b->input_c0[0] * (int64_t)mona_type_size(in->type);
    const uint8_t *from = row + (start + first * stride) * stored;
    if (p->operands)
        widen_pixels(b, to + first * step, from, (size_t)(last - first), (size_t)stride);
    else
        copy_pixels(to + first * step, (size_t)step, from, (size_t)(last - first), (size_t)stride,
                    p->part);
    fill_pixels(b, p, to + last * step, (size_t)(width - last));
}

static void gather(const mona_map_call *call, const pixel_shape *p, uint8_t *plane, uint32_t c1,
                   uint32_t ky, uint32_t kx, uint32_t y, uint32_t rows)
{
    const mona_bound_op *b = call->bound;
    const mona_file_conv *c = &b->op->conv;
    const mona_map *in = &call->input[0];
    const size_t row_bytes = (size_t)b->output.width * p->step;
    for (uint32_t r = 0; r < rows; r++, plane += row_bytes) {
        const int64_t at =
            (int64_t)(y + r) * c->stride_h - c->pad_top + (int64_t)ky * c->dilation_h;
        const bool inside = at >= 0 && at < b->input[0].height;
        gather_row(b, p, plane,
                   inside ? in->data + c1 * in->block_stride + (size_t)at * in->row_stride : NULL,
                   kx);
    }
}

/* Copies what output rows y to y + rows - 1 read, and finds the addresses of their runs. */
static void copy_rows(const mona_map_call *call, uint32_t y, uint32_t rows)
{
    const mona_bound_op *b = call->bound;
    const mona_file_conv *c = &b->op->conv;
    const mona_map *in = &call->input[0];
    const uint8_t **runs = (const uint8_t **)(void *)call->scratch;
    const uint32_t pitch = pitch_of(b), width = b->input[0].width, parts = parts_of_run(b);
    const pixel_shape p = {pixel_bytes(b), part_bytes(b), false};
    const size_t bytes = plane_bytes(b, rows_at_once(b)), pitch_bytes = (size_t)pitch * p.step;
    const uint32_t blocks = plane_count(b) * parts, count = run_count(b);
    uint8_t *planes = call->scratch + scratch_of(b).planes;
    for (uint32_t c1 = 0; c1 < blocks; c1++) {
        uint8_t *const plane = planes + c1 / parts * bytes + c1 % parts * p.part;
        uint8_t *to = plane + (size_t)c->pad_left * p.step;
        fill_pixels(b, &p, plane, c->pad_left);
        for (uint32_t r = 0; r < rows + c->kernel_h - 1; r++, to += pitch_bytes) {
            const int64_t at = (int64_t)y + r - c->pad_top;
            const bool inside = at >= 0 && at < b->input[0].height;
            if (inside)
                copy_pixels(to, p.step,
                            in->data + c1 * in->block_stride + (size_t)at * in->row_stride, width,
                            1, p.part);
            fill_pixels(b, &p, to + (inside ? (size_t)width * p.step : 0),
                        inside ? pitch - width : pitch);
        }
    }
    for (uint32_t r = 0; r < count; r++)
        runs[r] = planes + r / c->kernel_h * bytes + r % c->kernel_h * pitch_bytes;
}

/* Finds the addresses of the runs of channel blocks [used.begin, used.end) for output rows y to y +
 * rows - 1. */
static void find_runs(const mona_map_call *call, mona_span used, uint32_t y, uint32_t rows)
{
    const mona_bound_op *b = call->bound;
    const mona_file_conv *c = &b->op->conv;
    const mona_map *in = &call->input[0];
    const bool in_line = reads_in_line(call);
    const uint8_t **runs = (const uint8_t **)(void *)call->scratch;
    const size_t plane = plane_bytes(b, rows_at_once(b)), planes = scratch_of(b).planes;
    const uint32_t parts = parts_of_run(b);
    const pixel_shape p = {pixel_bytes(b), part_bytes(b), makes_operands(b)};
    uint32_t r = (uint32_t)used.begin * taps_of(b);
    for (uint32_t c1 = (uint32_t)used.begin; c1 < used.end; c1++)
        for (uint32_t ky = 0; ky < c->kernel_h; ky++)
            for (uint32_t kx = 0; kx < c->kernel_w; kx++, r++) {
                uint8_t *to = call->scratch + planes + r / parts * plane;
                if (!in_line)
                    gather(call, &p, to + r % parts * p.part, c1, ky, kx, y, rows);
                runs[r / parts] =
                    in_line ? in->data + c1 * in->block_stride + y * in->row_stride : to;
            }
}

/* ---- the convolution ------------------------------------------------------------------------ */

/* A convolution's blocks [first, first + blocks) of outputs. */
static mona_conv blocks_of(const mona_conv *all, uint32_t first, uint32_t blocks)
{
    mona_conv conv = *all;
    const uint32_t rest = conv.channels - first * AC_FRACTAL;
    conv.channels = rest < blocks * AC_FRACTAL ? rest : blocks * AC_FRACTAL;
    conv.blocks = blocks;
    conv.first_run += first;
    conv.run_count += first;
    conv.weights_offset += first;
    conv.bias = (const int32_t *)conv.bias + first * AC_FRACTAL;
    if (conv.unsigned_bias)
        conv.unsigned_bias += first * AC_FRACTAL;
    if (conv.epilogue.scale)
        conv.epilogue.scale += first * AC_FRACTAL;
    if (conv.epilogue.slope)
        conv.epilogue.slope += first * AC_FRACTAL;
    return conv;
}

/* The call's share of the outputs, with runs as they are gathered. */
static mona_conv share_of(const mona_map_call *call)
{
    const mona_bound_op *b = call->bound;
    const mona_conv_layout k = mona_conv_layout_of(b);
    const scratch_layout l = scratch_of(b);
    const uint32_t first = call->block_begin, blocks = call->block_end - first;
    const uint32_t block_runs = runs_of_block(b), columns = keeps_columns(b) ? k.taps : 1;
    const uint32_t parts = parts_of_run(b), runs = run_count(b);
    uint16_t *elements = (uint16_t *)(void *)(call->scratch + l.run_elements);
    uint32_t *first_run = (uint32_t *)(void *)(call->scratch + l.first_run);
    uint32_t *count = first_run + blocks;
    for (uint32_t r = 0; r < runs; r++)
        elements[r] = (uint16_t)(parts * columns *
                                 (r / block_runs + 1 < k.c1 ? k.run_elements / k.taps
                                                            : k.last_run_elements / k.last_taps));
    for (uint32_t n = 0; n < blocks; n++) {
        const mona_span used = mona_conv_used_blocks(b, &k, (first + n) * AC_FRACTAL, AC_FRACTAL);
        first_run[n] = (uint32_t)used.begin * block_runs / parts;
        count[n] = (uint32_t)(used.end - used.begin) * block_runs / parts;
    }
    mona_conv conv = blocks_of(b->constants, first, blocks);
    conv.stride = 1;
    conv.pixel_bytes = pixel_bytes(b);
    conv.operands = makes_operands(b);
    conv.run_elements = elements;
    conv.first_run = first_run;
    conv.run_count = count;
    conv.winograd = NULL; /* are those of all blocks */
    if (keeps_columns(b))
        conv.winograd_pitch = pitch_of(b);
    else
        conv.winograd_rows = 0;
    return conv;
}

/* Input channel blocks that any of the call's outputs reads. */
static mona_span used_by(const mona_map_call *call)
{
    const mona_conv_layout k = mona_conv_layout_of(call->bound);
    return mona_conv_used_blocks(call->bound, &k, call->block_begin * AC_FRACTAL,
                                 (call->block_end - call->block_begin) * AC_FRACTAL);
}

static mona_row row_at(const mona_map *map, uint32_t c0, mona_type type, uint32_t block, uint32_t y)
{
    return (mona_row){map->data + block * map->block_stride + y * map->row_stride,
                      map->block_stride, c0, type};
}

/* A call for so many pixels from the first of row y on, which lie one after another. block: the
 * first of the convolution's. */
static mona_conv_row row_of(const mona_map_call *call, const mona_conv *conv, uint32_t block,
                            uint32_t y, uint32_t pixels)
{
    const mona_bound_op *b = call->bound;
    mona_conv_row r = {
        .conv = conv,
        .runs = (const uint8_t **)(void *)call->scratch,
        .pixels = pixels,
        .output = row_at(&call->output, b->output_c0, mona_epilogue_type(b), block, y),
        .scratch = call->scratch + scratch_of(b).kernel,
    };
    if (conv->epilogue.add)
        r.residual = row_at(&call->input[1], b->input_c0[1], b->input[1].type,
                            conv->epilogue.broadcast ? 0 : block * AC_FRACTAL / b->input_c0[1], y);
    return r;
}

static void run_pixels(const mona_bound_op *b, const mona_conv_row *r)
{
    b->isa->conv_row(r);
    mona_epilogue_function(b, &r->conv->epilogue, r->output, r->conv->channels, r->pixels);
}

/* Computes `pixels` pixels of a convolution's blocks in scratch, and copies those of output rows y
 * to y + rows - 1 to where they belong. block: the first of the convolution's. */
static void run_and_copy(const mona_map_call *call, const mona_conv *conv, uint32_t block,
                         uint32_t y, uint32_t rows, uint32_t pixels)
{
    const mona_bound_op *b = call->bound;
    const mona_map *out = &call->output;
    const mona_type type = mona_epilogue_type(b);
    const size_t pixel = AC_FRACTAL * mona_type_size(type), stride = result_bytes(b, rows);
    const uint32_t pitch = pitch_of(b), width = b->output.width;
    mona_conv_row r = row_of(call, conv, block, y, pixels);
    r.output = (mona_row){call->scratch + scratch_of(b).results, stride, AC_FRACTAL, type};
    run_pixels(b, &r);
    for (uint32_t n = 0; n < conv->blocks; n++) {
        const uint8_t *from = r.output.data + n * stride;
        uint8_t *to = out->data + (block + n) * out->block_stride + y * out->row_stride;
        for (uint32_t i = 0; i < rows; i++, from += pitch * pixel, to += out->row_stride)
            memcpy(to, from, width * pixel);
    }
}

/* Computes output rows y to y + rows - 1 in one piece. If the map has margins, results are copied;
 * else, or if a residual has some, each row is computed where it lies. */
static void run_rows(const mona_map_call *call, const mona_conv *conv, mona_span used, uint32_t y,
                     uint32_t rows)
{
    const mona_bound_op *b = call->bound;
    const uint32_t width = b->output.width, blocks = copied_blocks(b);
    const bool add_in_line =
        !conv->epilogue.add || pixels_in_line(&call->input[1], &b->input[1], b->input_c0[1]);
    const bool in_line = add_in_line && pixels_in_line(&call->output, &b->output, b->output_c0);
    if (!in_line && add_in_line && blocks && rows > 1) {
        for (uint32_t n = 0; n < conv->blocks; n += blocks) {
            const uint32_t left = conv->blocks - n;
            const mona_conv part = blocks_of(conv, n, left < blocks ? left : blocks);
            run_and_copy(call, &part, call->block_begin + n, y, rows, rows * width);
        }
        return;
    }
    const uint32_t step = in_line ? rows : 1;
    const uint8_t **runs = (const uint8_t **)(void *)call->scratch;
    for (uint32_t i = 0; i < rows; i += step) {
        const mona_conv_row r = row_of(call, conv, call->block_begin, y + i, step * width);
        run_pixels(b, &r);
        const uint32_t taps = taps_of(b), parts = parts_of_run(b);
        for (uint32_t n = (uint32_t)used.begin * taps / parts;
             n < used.end * taps / parts && !in_line; n++)
            runs[n] += (size_t)width * pixel_bytes(b);
    }
}

/* The same from copied rows. */
static void run_copied(const mona_map_call *call, const mona_conv *conv, uint32_t y, uint32_t rows)
{
    const uint32_t pitch = pitch_of(call->bound), width = call->bound->output.width;
    run_and_copy(call, conv, call->block_begin, y, rows,
                 conv->winograd_rows ? rows * pitch : (rows - 1) * pitch + width);
}

/* Makes operands of the source rows that output rows y to y + rows - 1 read. */
static mona_map widen_rows(const mona_map_call *call, uint32_t y, uint32_t rows)
{
    const mona_bound_op *b = call->bound;
    const mona_file_conv *c = &b->op->conv;
    const mona_shape *s = &b->input[0];
    const mona_map *in = &call->input[0];
    const int64_t top = (int64_t)y * c->stride_h - c->pad_top;
    const int64_t bottom =
        top + (int64_t)(rows - 1) * c->stride_h + (int64_t)(c->kernel_h - 1) * c->dilation_h + 1;
    const int64_t first = clip_to(top, 0, s->height), last = clip_to(bottom, first, s->height);
    mona_map to = {.data = call->scratch + scratch_of(b).planes,
                   .row_stride = (size_t)s->width * pixel_bytes(b)};
    to.block_stride = to.row_stride * s->height;
    for (uint32_t c1 = 0; c1 < mona_conv_layout_of(b).c1; c1++)
        for (int64_t at = first; at < last; at++)
            widen_pixels(b, to.data + c1 * to.block_stride + (size_t)at * to.row_stride,
                         in->data + c1 * in->block_stride + (size_t)at * in->row_stride, s->width,
                         1);
    return to;
}

/* Finds the addresses of the runs of output rows y to y + rows - 1, and their edges. */
static void find_rows(const mona_map_call *call, uint32_t y, uint32_t rows, mona_edge *edges)
{
    const mona_bound_op *b = call->bound;
    const mona_file_conv *c = &b->op->conv;
    const mona_map in = makes_operands(b) ? widen_rows(call, y, rows) : call->input[0];
    const mona_shape *s = &b->input[0];
    const uint8_t **to = (const uint8_t **)(void *)call->scratch;
    const uint32_t blocks = mona_conv_layout_of(b).c1, pixel = pixel_bytes(b);
    for (uint32_t r = 0; r < blocks * c->kernel_h; r++)
        for (uint32_t kx = 0; kx < c->kernel_w; kx++, edges++) {
            edges->first = kx < c->pad_left;
            edges->last = b->output.width + kx > s->width + c->pad_left;
        }
    for (uint32_t i = 0; i < rows; i++) {
        const int64_t top = (int64_t)(y + i) * c->stride_h - c->pad_top;
        for (uint32_t c1 = 0; c1 < blocks; c1++)
            for (uint32_t ky = 0; ky < c->kernel_h; ky++) {
                const int64_t at = top + (int64_t)ky * c->dilation_h;
                const bool inside = at >= 0 && at < s->height;
                const uint8_t *row = in.data + c1 * in.block_stride + at * (int64_t)in.row_stride;
                for (uint32_t kx = 0; kx < c->kernel_w; kx++)
                    *to++ = inside ? row + ((int64_t)kx - c->pad_left) * pixel : NULL;
            }
    }
}

/* Computes output rows y to y + rows - 1 where they lie, two blocks of outputs at a time, whose
 * weights stay in a cache meanwhile. Each row fetches its share of those of the next two. */
static void run_where_they_lie(const mona_map_call *call, const mona_conv *all, uint32_t y,
                               uint32_t rows)
{
    const mona_bound_op *b = call->bound;
    const uint32_t count = run_count(b);
    const uint32_t step = AC_FRACTAL * mona_conv_layout_of(b).element; /* of all outputs */
    const uint32_t bytes = count * AC_FRACTAL * step;                  /* of a block's weights */
    mona_edge *edges = (mona_edge *)(void *)(call->scratch + scratch_of(b).edges);
    find_rows(call, y, rows, edges);
    for (uint32_t n = 0; n < all->blocks; n += 2) {
        const uint32_t left = all->blocks - n, next = left > 4 ? 2 : left > 2 ? left - 2 : 0;
        const mona_conv conv = blocks_of(all, n, left < 2 ? 1 : 2);
        const uint8_t *weights = conv.weights + conv.weights_offset[0];
        mona_conv_row r = row_of(call, &conv, call->block_begin + n, y, b->output.width);
        r.edges = edges;
        r.soon_bytes = next * bytes / rows;
        for (uint32_t i = 0; i < rows; i++, r.runs += count) {
            r.soon = weights + 2 * bytes + i * r.soon_bytes;
            run_pixels(b, &r);
            r.output.data += call->output.row_stride;
            if (conv.epilogue.add)
                r.residual.data += call->input[1].row_stride;
        }
    }
}

void mona_conv_map(const mona_map_call *call)
{
    const mona_conv conv = share_of(call);
    const mona_span used = used_by(call);
    const uint32_t max = rows_at_once(call->bound);
    const bool copied = keeps_columns(call->bound);
    for (uint32_t y = call->y_begin, rows; y < call->y_end; y += rows) {
        rows = call->y_end - y < max ? call->y_end - y : max;
        if (leaves_out_padding(call->bound)) {
            run_where_they_lie(call, &conv, y, rows);
        } else if (copied) {
            copy_rows(call, y, rows);
            run_copied(call, &conv, y, rows);
        } else {
            find_runs(call, used, y, rows);
            run_rows(call, &conv, used, y, rows);
        }
    }
}
