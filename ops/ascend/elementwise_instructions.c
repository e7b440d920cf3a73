// SPDX-License-Identifier: Apache-2.0
/* ADD and MUL as an AI Core program.
 *
 * A step of a piece, which is a part of a row, works on `unit` channels: the largest channel block
 * of the three tensors. If operands and result have the same channel block, their rows agree
 * element by element, and nothing else is looked at. Elements beyond the last channel are zeros in
 * both operands then and must come out as +0. So CLIP must not change 0, a result of fp16, where a
 * zero has a sign, must have whole channel blocks only, and so must operands with a zero other than
 * 0.
 *
 * Else, with different channel blocks, a single channel or a single pixel for all, or slopes, every
 * pixel is widened to whole blocks of 16 fp16 values, *slices* of its channels. An operand with
 * fewer channels is spread (pixels.h), and one with a single channel for all is repeated. The
 * slices of a single pixel are read again for every pixel. The slices of a tensor lie in its
 * channel blocks, so slices of two tensors are blocks of UB at different strides.
 *
 * Flags, event 0:
 *   MTE1 -> V    the operands are in UB
 *   V -> MTE1    the operands have been used
 *   V -> MTE3    the result is complete
 *   MTE3 -> V    the result has been stored
 *   V -> S       the scalar unit takes its turn
 *   S -> V       its turn has ended */
#include "ops/ascend/pixels.h"
#include "ops/ascend/programs.h"
#include "ops/ascend/ub.h"

#include "engine/arith.h"

/* A tensor in UB. */
typedef struct side {
    mona_type type;
    uint32_t c0, wide; /* wide: slices of a channel block */
    uint32_t count;    /* pixels, whole groups */
    uint32_t lead;     /* pixels before the piece, in its first block of 32 bytes */
    ac_address stored, packed, slices;
} side;

typedef struct program {
    const mona_bound_op *bound;
    const mona_epilogue *epilogue;
    ac_core *core;
    bool agrees; /* its rows do, element by element */
    uint32_t unit, pixels;
    side in[2], out;
    mona_bounds bounds;
    ac_address mask, turned, negative, slopes;
} program;

static bool keeps_zero(const mona_epilogue *e)
{
    const bool clips = e->activation == MONA_ACT_CLIP || e->activation_after_add == MONA_ACT_CLIP;
    return !clips || (e->clip_min <= 0 && e->clip_max >= 0);
}

/* Whether all pixels are combined with the only one of the second operand. */
static bool with_one_pixel(const mona_bound_op *b)
{
    return b->input[1].height == 1 && b->input[1].width == 1;
}

static bool agrees(const mona_bound_op *b)
{
    const mona_epilogue *e = b->constants;
    const uint32_t c0 = b->output_c0;
    const bool whole = b->output.channels % c0 == 0;
    const bool zeros = b->input[0].zero || b->input[1].zero;
    return b->input_c0[0] == c0 && b->input_c0[1] == c0 &&
           b->input[1].channels == b->output.channels && !with_one_pixel(b) &&
           e->activation != MONA_ACT_PRELU &&
           (whole || (b->output.type != MONA_F16 && keeps_zero(e) && !zeros));
}

static bool repeats(const program *p, uint32_t i)
{
    return i && p->bound->input[1].channels < p->bound->output.channels;
}

static bool is_one_pixel(const program *p, uint32_t i)
{
    return i && with_one_pixel(p->bound);
}

/* ---- UB ------------------------------------------------------------------------------------- */

static uint32_t pixel_bytes(const side *s)
{
    return s->c0 * (uint32_t)mona_type_size(s->type);
}

/* Pixels in a block of 32 bytes. */
static uint32_t aligned(const side *s)
{
    return pixel_bytes(s) < AC_BLOCK ? AC_BLOCK / pixel_bytes(s) : 1;
}

static bool is_spread(const program *p, const side *s)
{
    return s->c0 < AC_FRACTAL && !p->agrees;
}

/* Elements that a pixel of a channel block has in slices. */
static uint32_t elements_of(const program *p, const side *s)
{
    return p->agrees ? s->c0 : s->wide * AC_FRACTAL;
}

static uint32_t blocks_of(const program *p, const side *s)
{
    return p->unit > s->c0 && s->c0 >= AC_FRACTAL ? p->unit / s->c0 : 1;
}

static void place_side(const program *p, side *s, ac_address *at)
{
    const size_t all = (size_t)blocks_of(p, s) * s->count;
    s->slices = take(at, all * elements_of(p, s) * sizeof(uint16_t));
    s->packed = is_spread(p, s) ? take(at, all * s->c0 * sizeof(uint16_t)) : s->slices;
    s->stored = s->type != MONA_F16 ? take(at, all * s->c0) : s->packed;
}

static size_t turned_bytes(const program *p)
{
    const side *const sides[] = {&p->in[0], &p->in[1], &p->out};
    size_t max = 0;
    for (uint32_t i = 0; i < 3 && !p->agrees; i++)
        max = max_size(max, mona_pixels_turned_bytes(sides[i]->c0, sides[i]->count));
    return max;
}

/* Elements in the slices of the result, and of what else has its form. */
static uint32_t results(const program *p)
{
    return blocks_of(p, &p->out) * p->out.count * elements_of(p, &p->out);
}

/* Sets how many pixels all sides have for a piece of so many. */
static void count_pixels(program *p, uint32_t pixels)
{
    for (uint32_t i = 0; i < 2; i++) {
        side *s = &p->in[i];
        const uint32_t most = (is_one_pixel(p, i) ? 1 : pixels) + aligned(s) - 1;
        s->count = p->agrees ? pixels : (uint32_t)round_up(most, mona_pixels_group(s->c0));
    }
    p->out.count = p->agrees ? pixels : (uint32_t)round_up(pixels, mona_pixels_group(p->out.c0));
}

/* Lays out UB. Returns the bytes that this takes. */
static size_t lay_out(program *p)
{
    const bool sloped = p->epilogue->activation == MONA_ACT_PRELU;
    ac_address at = ac_at(AC_UB, 0);
    count_pixels(p, p->pixels);
    place_side(p, &p->in[0], &at);
    place_side(p, &p->in[1], &at);
    place_side(p, &p->out, &at);
    p->turned = take(&at, turned_bytes(p));
    p->bounds = mona_take_bounds(&at);
    p->mask = take(&at, AC_BLOCK);
    p->negative = take(&at, sloped ? results(p) * sizeof(uint16_t) : 0);
    p->slopes = take(&at, sloped ? round_up(p->bound->output.channels, AC_FRACTAL) * 2 : 0);
    return (size_t)ac_offset_of(at);
}

static program program_of(const mona_bound_op *b)
{
    program p = {.bound = b, .epilogue = b->constants, .agrees = agrees(b)};
    side *const sides[] = {&p.in[0], &p.in[1], &p.out};
    for (uint32_t i = 0; i < 3; i++) {
        side *s = sides[i];
        s->type = i < 2 ? b->input[i].type : b->output.type;
        s->c0 = i < 2 ? b->input_c0[i] : b->output_c0;
        s->wide = p.agrees ? 1 : ceil_div_u32(s->c0, AC_FRACTAL);
        p.unit = max_u32(p.unit, s->c0);
    }
    if (!p.agrees)
        p.unit = max_u32(p.unit, AC_FRACTAL);
    p.pixels = AC_BLOCK;
    return p;
}

const char *mona_elementwise_program_missing(const mona_bound_op *b)
{
    program p = program_of(b);
    if (mona_is_function(b->op->epilogue.activation_after_add))
        return "a function follows its sum";
    return lay_out(&p) <= ub_room(b->target) ? NULL : "its channels do not fit the unified buffer";
}

/* ---- constants ------------------------------------------------------------------------------ */

static void fill_halves(const program *p, ac_address at, uint32_t count, uint16_t value)
{
    if (count)
        ac_emit_fill(p->core, at, (ac_fill){.count = count, .bytes = 2, .step = 2, .value = value});
}

/* Blocks of equal values, the mask of the last slice and slopes, and zeros in what is read before
 * it is written. */
static void bring_constants(const program *p)
{
    const mona_epilogue *e = p->epilogue;
    const uint32_t channels = p->bound->output.channels, there = channels % AC_FRACTAL;
    const ac_address read = p->agrees ? p->bounds.zero : ac_at(AC_UB, 0);
    dup_all(p->core, read, 0, (uint32_t)(p->bounds.zero - read) / 2 + AC_FRACTAL);
    mona_fill_bounds(p->core, &p->bounds, e);
    ac_emit_barrier(p->core, AC_PIPE_V);
    if (p->agrees)
        return;
    ac_emit_sync(p->core, AC_PIPE_V, AC_PIPE_S, 0); /* which has used those of the rows before */
    fill_halves(p, p->mask, there, UINT16_MAX);
    fill_halves(p, p->mask + 2 * (uint64_t)there, AC_FRACTAL - there, 0);
    for (uint32_t c = 0; e->slope && c < round_up(channels, AC_FRACTAL); c++)
        fill_halves(p, p->slopes + 2 * (uint64_t)c, 1,
                    c < channels ? mona_f16_from_f32(e->slope[c]) : 0);
    ac_emit_sync(p->core, AC_PIPE_S, AC_PIPE_V, 0);
}

/* ---- operands ------------------------------------------------------------------------------- */

/* Copies operand i from channel block `block` on: as many blocks as a unit has, if they exist. */
static void bring(const program *p, const mona_row_call *call, uint32_t i, uint32_t block,
                  int64_t x, uint32_t pixels)
{
    const side *s = &p->in[i];
    const mona_rows *in = &call->input[i];
    const uint32_t all = ceil_div_u32(p->bound->input[i].channels, s->c0);
    const size_t bytes = round_up((size_t)(s->lead + pixels) * pixel_bytes(s), AC_BLOCK);
    const ac_address from = mona_window_at(call, i, 0, x - s->lead) + block * in->block_stride;
    mona_copy_rows(p->core, (mona_steps){s->stored, (ptrdiff_t)s->count * pixel_bytes(s)},
                   (mona_steps){from, (ptrdiff_t)in->block_stride},
                   min_u32(blocks_of(p, s), all - block), (uint32_t)bytes);
}

/* Makes slices of operand i and scales them. */
static void widen(const program *p, uint32_t i)
{
    const side *s = &p->in[i];
    const float scale = mona_f32_from_f16(p->bound->op->elementwise.scale[i]);
    const uint32_t pixels = blocks_of(p, s) * s->count;
    widen_all(p->core, s->type, s->packed, s->stored, pixels * s->c0);
    take_zero(p->core, s->packed, p->bound->input[i].zero, pixels * s->c0);
    if (is_spread(p, s))
        mona_pixels_spread(&(mona_pixels){p->core, s->c0, s->count, p->turned}, s->slices,
                           s->packed, repeats(p, i));
    if (scale != 1)
        muls_all(p->core, s->slices, s->slices, scale, pixels * elements_of(p, s));
}

/* Slice k of a unit, from the piece's first pixel on. */
static ac_address slice_of(const program *p, const side *s, uint32_t k)
{
    const uint32_t slice = s == &p->in[1] && repeats(p, 1) ? 0 : k;
    return s->slices + ((size_t)(slice / s->wide) * s->count * s->wide + slice % s->wide +
                        (size_t)s->lead * s->wide) *
                           AC_BLOCK;
}

/* ---- results -------------------------------------------------------------------------------- */

/* Strides of slices; of one block of 16 values where a stride is 0. */
static ac_vector strides_of(uint32_t dst, uint32_t a, uint32_t b)
{
    return (ac_vector){.dst_block = (uint8_t)dst,
                       .a_block = (uint8_t)a,
                       .b_block = (uint8_t)b,
                       .dst_repeat = (uint8_t)(8 * dst),
                       .a_repeat = (uint8_t)(8 * a),
                       .b_repeat = (uint8_t)(8 * b)};
}

/* max(t, 0) + f16(min(t, 0) * slope) */
static void activate_sloped(const program *p, uint32_t first, uint32_t slices)
{
    const uint32_t wide = p->out.wide, count = p->out.count * AC_FRACTAL, all = results(p);
    vec2_done(p->core, AC_VMIN, p->negative, p->out.slices, p->bounds.zero, all, b_again);
    ac_activate(p->core, &p->bounds, MONA_ACT_RELU, p->out.slices, all);
    for (uint32_t k = 0; k < slices; k++) {
        const ac_address at = p->negative + (slice_of(p, &p->out, k) - p->out.slices);
        vec2_all(p->core, AC_VMUL, at, at, p->slopes + (first + k * AC_FRACTAL) * 2, count,
                 strides_of(wide, wide, 0));
    }
    ac_emit_barrier(p->core, AC_PIPE_V);
    vec2_done(p->core, AC_VADD, p->out.slices, p->out.slices, p->negative, all, side_by_side);
}

/* Makes zeros of what is no channel, among the slices from channel `first` on. */
static void clear_others(const program *p, uint32_t first)
{
    const uint32_t channels = p->bound->output.channels, wide = p->out.wide;
    const uint32_t count = p->out.count * AC_FRACTAL;
    for (uint32_t k = 0; k < blocks_of(p, &p->out) * wide; k++) {
        const uint32_t begin = first + k * AC_FRACTAL;
        const ac_address at = slice_of(p, &p->out, k);
        if (begin >= channels)
            dup_strided(p->core, at, 0, count, strides_of(wide, 0, 0));
        else if (begin + AC_FRACTAL > channels)
            vec2_all(p->core, AC_VAND, at, at, p->mask, count, strides_of(wide, wide, 0));
    }
    ac_emit_barrier(p->core, AC_PIPE_V);
}

static void narrow(const program *p)
{
    const side *s = &p->out;
    if (is_spread(p, s))
        mona_pixels_pack(&(mona_pixels){p->core, s->c0, s->count, p->turned}, s->packed, s->slices);
    narrow_all(p->core, s->type, s->stored, s->packed, blocks_of(p, s) * s->count * s->c0);
}

/* Computes a unit of channels from `first` on. */
static void combine(const program *p, uint32_t first, uint32_t pixels)
{
    const mona_epilogue *e = p->epilogue;
    const uint32_t left = p->bound->output.channels - first, all = results(p);
    const uint32_t slices = p->agrees ? 1 : ceil_div_u32(min_u32(left, p->unit), AC_FRACTAL);
    const uint32_t of_slice = p->agrees ? all : pixels * AC_FRACTAL;
    const uint32_t b_stride = is_one_pixel(p, 1) ? 0 : p->in[1].wide;
    for (uint32_t k = 0; k < slices; k++)
        vec2_all(p->core, p->bound->op->kind == MONA_OP_MUL ? AC_VMUL : AC_VADD,
                 slice_of(p, &p->out, k), slice_of(p, &p->in[0], k), slice_of(p, &p->in[1], k),
                 of_slice, strides_of(p->out.wide, p->in[0].wide, b_stride));
    ac_emit_barrier(p->core, AC_PIPE_V);
    if (e->activation == MONA_ACT_PRELU)
        activate_sloped(p, first, slices);
    ac_activate(p->core, &p->bounds, e->activation, p->out.slices, all);
    ac_activate(p->core, &p->bounds, e->activation_after_add, p->out.slices, all);
    if (e->output_scale != 1)
        muls_all(p->core, p->out.slices, p->out.slices, e->output_scale, all);
    ac_emit_barrier(p->core, AC_PIPE_V);
    add_zero(p->core, p->out.slices, p->bound->output.zero, all);
    if (!p->agrees)
        clear_others(p, first);
    narrow(p);
}

/* Only pixels of less than a block leave a part of one, and these have a single channel block. */
static void store(const program *p, const mona_row_call *call, uint32_t first, int64_t x,
                  uint32_t pixels)
{
    const side *s = &p->out;
    const mona_row_at row = mona_output_at(call);
    const uint32_t block = first / s->c0, all = ceil_div_u32(p->bound->output.channels, s->c0);
    const ac_address to =
        row.at + block * row.block_stride + (size_t)(x - call->x_begin) * pixel_bytes(s);
    mona_store_rows(p->core, (mona_steps){to, (ptrdiff_t)row.block_stride},
                    (mona_steps){s->stored, (ptrdiff_t)s->count * pixel_bytes(s)},
                    min_u32(blocks_of(p, s), all - block), pixels * pixel_bytes(s));
}

/* ---- pieces --------------------------------------------------------------------------------- */

static void combine_piece(program *p, const mona_row_call *call, int64_t x, uint32_t pixels)
{
    const int64_t from[2] = {x, is_one_pixel(p, 1) ? 0 : x};
    const uint32_t count[2] = {pixels, is_one_pixel(p, 1) ? 1 : pixels};
    if (p->agrees)
        count_pixels(p, pixels);
    for (uint32_t i = 0; i < 2; i++)
        p->in[i].lead = (uint32_t)(from[i] - call->input[i].x_begin) % aligned(&p->in[i]);
    for (uint32_t first = 0; first < p->bound->output.channels; first += p->unit) {
        const uint32_t operands = first && repeats(p, 1) ? 1 : 2; /* to bring */
        ac_emit_wait_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, AC_EVENT0);
        for (uint32_t i = 0; i < operands; i++)
            bring(p, call, i, repeats(p, i) ? 0 : first / p->in[i].c0, from[i], count[i]);
        ac_emit_sync(p->core, AC_PIPE_MTE1, AC_PIPE_V, 0);
        for (uint32_t i = 0; i < operands; i++)
            widen(p, i);
        ac_emit_barrier(p->core, AC_PIPE_V);
        ac_emit_wait_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
        combine(p, first, pixels);
        ac_emit_set_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, AC_EVENT0);
        store(p, call, first, x, pixels);
        ac_emit_set_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
    }
}

void mona_elementwise_program(const mona_row_call *calls, uint32_t count)
{
    const uint32_t columns = (uint32_t)(calls->x_end - calls->x_begin);
    program p = program_of(calls->bound);
    p.core = calls->core;
    p.pixels = (uint32_t)round_up(columns, AC_BLOCK);
    while (lay_out(&p) > ub_room(p.bound->target))
        p.pixels = (uint32_t)round_up(p.pixels / 2, AC_BLOCK);
    bring_constants(&p);
    mona_flag_buffers(p.core, AC_PIPE_MTE1, 1, ac_emit_set_flag);
    for (uint32_t row = 0; row < count; row++)
        for (uint32_t x = 0; x < columns; x += p.pixels)
            combine_piece(&p, &calls[row], calls->x_begin + x, min_u32(columns - x, p.pixels));
    mona_flag_buffers(p.core, AC_PIPE_MTE1, 1, ac_emit_wait_flag);
}
