// SPDX-License-Identifier: Apache-2.0
/* NORMALISE as an AI Core program, for channel blocks whose pixels are whole blocks of 32 bytes.
 *
 * A piece is some pixels of a row with all of their channels. Slices of 16 channels are turned, so
 * that in `wide`, in fp32, a channel's pixels lie side by side: then the 16 sums of each pixel are
 * sums of rows, and a number for each pixel is one repeat for all channels. Only channels that
 * exist are added; the rows of others that the result's last block has are zeros.
 *
 * UB holds, in this order:
 *   gains and shifts, each number 8 times, and the uniforms of the root, from the constants
 *   the input's and the output's blocks as stored, two of each, and one as fp16
 *   a slice, turned
 *   sums and products of 16 rows; means; the root's buffers
 *   wide
 *
 * Flags, event h for half h of what is stored:
 *   MTE1 -> V    a block is in UB
 *   V -> MTE1    it has been used
 *   V -> MTE3    a block of results is complete
 *   MTE3 -> V    it has been stored
 * Event 0 also says, before all pieces, V -> MTE1 that V has used the constants before, and
 * MTE1 -> V that these are there. */
#include "engine/libc.h"
#include "ops/ascend/functions.h"
#include "ops/ascend/pixels.h"
#include "ops/ascend/programs.h"
#include "ops/ascend/ub.h"

enum { EQUAL = AC_BLOCK / sizeof(float), SLICE = AC_FRACTAL, MAX_PIXELS = 256 };

/* The input or the output. */
typedef struct side {
    mona_type type;
    uint32_t c0, blocks;
    ac_address stored[2];
} side;

typedef struct program {
    const mona_bound_op *bound;
    ac_core *core;
    mona_function root;
    uint32_t channels, pixels; /* pixels: of a piece, a multiple of `together` */
    uint32_t together;         /* pixels of a repeat in fp32 */
    side in, out;
    ac_address gain, shift, uniforms, halves, turned, sums, products, mean, work, wide;
} program;

/* ---- constants ------------------------------------------------------------------------------ */

static uint32_t padded(const mona_bound_op *b)
{
    return (uint32_t)round_up(b->output.channels, SLICE);
}

static size_t constants_of(const mona_bound_op *b, const mona_function *root)
{
    return (size_t)2 * padded(b) * AC_BLOCK + mona_function_uniform_bytes(root);
}

static float *spread(float *to, const float *from, uint32_t count, uint32_t all)
{
    for (uint32_t i = 0; i < all; i++)
        for (uint32_t k = 0; k < EQUAL; k++)
            *to++ = i < count ? from[i] : 0;
    return to;
}

/* ---- UB ------------------------------------------------------------------------------------- */

static size_t pixel_bytes(const side *s)
{
    return s->c0 * mona_type_size(s->type);
}

static side side_of(mona_type type, uint32_t c0, uint32_t channels)
{
    return (side){.type = type, .c0 = c0, .blocks = c0 ? ceil_div_u32(channels, c0) : 0};
}

static program program_of(const mona_bound_op *b)
{
    program p = {.bound = b, .channels = b->output.channels};
    p.in = side_of(b->input[0].type, b->input_c0[0], p.channels);
    p.out = side_of(b->output.type, b->output_c0, p.channels);
    mona_function_find_inverse_root(&p.root);
    return p;
}

/* Lays out UB for pieces of so many pixels. Returns the bytes that this takes. */
static size_t lay_out(program *p, uint32_t pixels)
{
    const uint32_t all = padded(p->bound);
    ac_address at = ac_at(AC_UB, 0);
    p->pixels = pixels;
    p->together = min_u32(pixels, FLOAT_LANES);
    p->gain = take(&at, constants_of(p->bound, &p->root));
    p->shift = p->gain + (uint64_t)all * AC_BLOCK;
    p->uniforms = p->shift + (uint64_t)all * AC_BLOCK;
    for (uint32_t h = 0; h < 2; h++) {
        p->in.stored[h] = take(&at, pixels * pixel_bytes(&p->in));
        p->out.stored[h] = take(&at, pixels * pixel_bytes(&p->out));
    }
    p->halves = take(&at, pixels * max_size(p->in.c0, p->out.c0) * sizeof(uint16_t));
    p->turned = take(&at, (size_t)SLICE * pixels * sizeof(uint16_t));
    p->sums = take(&at, (size_t)SLICE * pixels * sizeof(float));
    p->products = take(&at, (size_t)SLICE * pixels * sizeof(float));
    p->mean = take(&at, pixels * sizeof(float));
    p->work = take(&at, mona_function_work_bytes(&p->root, pixels));
    p->wide = take(&at, (size_t)p->channels * pixels * sizeof(float));
    return (size_t)ac_offset_of(at);
}

/* The most pixels that fit, no more than a row needs; 0: none do. */
static uint32_t find_pixels(program *p, uint32_t columns)
{
    uint32_t pixels = min_u32((uint32_t)round_up(columns, FLOAT_LANES), MAX_PIXELS);
    if (columns <= FLOAT_LANES / 2)
        pixels = (uint32_t)round_up(columns, SLICE) == SLICE ? SLICE : FLOAT_LANES / 2;
    while (pixels >= SLICE && lay_out(p, pixels) > ub_room(p->bound->target))
        pixels = pixels > FLOAT_LANES ? pixels - FLOAT_LANES : pixels / 2;
    return pixels >= SLICE ? pixels : 0;
}

static bool in_whole_blocks(const side *s)
{
    return s->c0 && s->c0 % SLICE == 0 && pixel_bytes(s) % AC_BLOCK == 0;
}

const char *mona_normalise_program_missing(const mona_bound_op *b)
{
    program p = program_of(b);
    if (!in_whole_blocks(&p.in) || !in_whole_blocks(&p.out))
        return "pixels have less than 32 bytes in a channel block";
    return find_pixels(&p, 1) ? NULL : "its channels do not fit the unified buffer";
}

size_t mona_normalise_program_constants(const mona_bound_op *b)
{
    const program p = program_of(b);
    return mona_normalise_program_missing(b) ? 0 : constants_of(b, &p.root);
}

void mona_normalise_program_bind(const mona_bound_op *b, void *constants)
{
    const mona_file_normalise *n = &b->op->normalise;
    const program p = program_of(b);
    float *to = constants;
    to = spread(to, (const float *)(const void *)(b->data + n->gain), p.channels, padded(b));
    to = spread(to, (const float *)(const void *)(b->data + n->shift), p.channels, padded(b));
    mona_function_put_uniforms(&p.root, to);
}

/* ---- rows of channels ------------------------------------------------------------------------ */

static ac_address wide_at(const program *p, uint32_t channel)
{
    return p->wide + (uint64_t)channel * p->pixels * sizeof(float);
}

/* Channels of a slice that exist. */
static uint32_t rows_of(const program *p, uint32_t slice)
{
    return slice * SLICE < p->channels ? min_u32(p->channels - slice * SLICE, SLICE) : 0;
}

/* to = a op b for rows of channels. */
static void with_rows(const program *p, ac_vec2 op, ac_address to, ac_address a, ac_address b,
                      uint32_t rows)
{
    vec2_done(p->core, op, to, a, b, rows * p->pixels, side_by_side);
}

/* All channels: wide = wide op b. Pixels are `together` for each channel; b is their numbers, or,
 * if it is `constant`, 8 equal ones for each channel. */
static void with_each(const program *p, ac_vec2 op, ac_address b, bool constant)
{
    const uint8_t pitch = (uint8_t)(p->pixels / EQUAL);
    const ac_vector strides = {.dst_block = 1,
                               .a_block = 1,
                               .b_block = !constant,
                               .dst_repeat = pitch,
                               .a_repeat = pitch,
                               .b_repeat = constant};
    for (uint32_t x = 0; x < p->pixels; x += p->together) {
        const ac_address at = p->wide + x * sizeof(float);
        for (vectors w = vectors_of(strides, p->together, p->channels * p->together);
             next_vectors(&w);)
            ac_emit_vec2(p->core, op, vectors_at(&w, at, pitch), vectors_at(&w, at, pitch),
                         vectors_at(&w, constant ? b : b + x * sizeof(float), w.v.b_repeat), w.v);
    }
    ac_emit_barrier(p->core, AC_PIPE_V);
}

/* The 16 sums of each pixel, or of the squares, made one: the first row of the sums. */
static void sum_up(const program *p, bool squares)
{
    const uint64_t row = p->pixels * sizeof(float);
    dup_done(p->core, p->sums, 0, 2 * SLICE * p->pixels);
    for (uint32_t slice = 0; rows_of(p, slice); slice++) {
        const ac_address at = wide_at(p, slice * SLICE);
        const uint32_t rows = rows_of(p, slice);
        if (squares)
            with_rows(p, AC_VMUL_F32, p->products, at, at, rows);
        with_rows(p, AC_VADD_F32, p->sums, p->sums, squares ? p->products : at, rows);
    }
    for (uint32_t half = SLICE / 2; half; half /= 2)
        with_rows(p, AC_VADD_F32, p->sums, p->sums, p->sums + half * row, half);
}

static void with_scalar(const program *p, ac_vecs op, ac_address to, ac_address from, float s)
{
    vecs_done(p->core, op, to, from, s, p->pixels);
}

static void normalise(const program *p)
{
    const float part = 1 / (float)p->channels;
    sum_up(p, false);
    with_scalar(p, AC_VMULS_F32, p->mean, p->sums, part);
    with_each(p, AC_VSUB_F32, p->mean, false);
    sum_up(p, true);
    with_scalar(p, AC_VMULS_F32, p->work, p->sums, part);
    with_scalar(p, AC_VADDS_F32, p->work, p->work, p->bound->op->normalise.epsilon);
    const ac_address r = mona_function_run(p->core, &p->root, p->uniforms, p->work, p->pixels);
    with_each(p, AC_VMUL_F32, r, false);
    with_each(p, AC_VMUL_F32, p->gain, true);
    with_each(p, AC_VADD_F32, p->shift, true);
}

/* ---- blocks --------------------------------------------------------------------------------- */

static void bring(const program *p, const mona_row_at *in, uint32_t block, uint32_t x,
                  uint32_t columns)
{
    const size_t pixel = pixel_bytes(&p->in);
    ac_emit_wait_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, block % 2);
    ac_emit_copy_bytes(p->core, p->in.stored[block % 2],
                       in->at + block * in->block_stride + x * pixel, columns * pixel);
    ac_emit_set_flag(p->core, AC_PIPE_MTE1, AC_PIPE_V, block % 2);
}

static void widen(const program *p, uint32_t block)
{
    const side *s = &p->in;
    const uint32_t slices = s->c0 / SLICE;
    ac_emit_wait_flag(p->core, AC_PIPE_MTE1, AC_PIPE_V, block % 2);
    const ac_address from =
        widen_all(p->core, s->type, p->halves, s->stored[block % 2], p->pixels * s->c0);
    for (uint32_t i = 0; i < slices; i++) {
        const uint32_t slice = block * slices + i, rows = rows_of(p, slice);
        if (!rows)
            break;
        mona_pixels_turn(p->core, p->turned, from + i * AC_BLOCK, s->c0, p->pixels, false);
        vconv_done(p->core, AC_F16_F32, wide_at(p, slice * SLICE), p->turned, rows * p->pixels);
    }
    ac_emit_set_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, block % 2);
}

static void narrow(const program *p, uint32_t block)
{
    const side *s = &p->out;
    const uint32_t slices = s->c0 / SLICE;
    const ac_address stored = s->stored[block % 2];
    const ac_address to = s->type == MONA_F16 ? stored : p->halves;
    ac_emit_wait_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, block % 2);
    for (uint32_t i = 0; i < slices; i++) {
        const uint32_t slice = block * slices + i, rows = rows_of(p, slice);
        if (rows < SLICE)
            dup_all(p->core, p->turned, 0, SLICE * p->pixels);
        ac_emit_barrier(p->core, AC_PIPE_V);
        if (rows)
            vconv_all(p->core, AC_F32_F16, p->turned, wide_at(p, slice * SLICE), rows * p->pixels);
        ac_emit_barrier(p->core, AC_PIPE_V);
        mona_pixels_turn(p->core, p->turned, to + i * AC_BLOCK, s->c0, p->pixels, true);
    }
    narrow_all(p->core, s->type, stored, to, p->pixels * s->c0);
}

static void store(const program *p, const mona_row_at *out, uint32_t block, uint32_t x,
                  uint32_t columns)
{
    const size_t pixel = pixel_bytes(&p->out);
    ac_emit_sync(p->core, AC_PIPE_V, AC_PIPE_MTE3, block % 2);
    ac_emit_copy_bytes(p->core, out->at + block * out->block_stride + x * pixel,
                       p->out.stored[block % 2], columns * pixel);
    ac_emit_set_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, block % 2);
}

/* ---- pieces --------------------------------------------------------------------------------- */

static void normalise_piece(const program *p, const mona_row_call *call, uint32_t x,
                            uint32_t columns)
{
    const mona_row_at in = mona_input_at(call, 0), out = mona_output_at(call);
    bring(p, &in, 0, x, columns);
    for (uint32_t block = 0; block < p->in.blocks; block++) {
        if (block + 1 < p->in.blocks)
            bring(p, &in, block + 1, x, columns);
        widen(p, block);
    }
    normalise(p);
    for (uint32_t block = 0; block < p->out.blocks; block++) {
        narrow(p, block);
        store(p, &out, block, x, columns);
    }
}

/* Pixels of a piece beyond a row's are numbers, too. */
static void begin(const program *p)
{
    mona_bring_constants(p->core, p->bound, p->gain, constants_of(p->bound, &p->root));
    for (uint32_t h = 0; h < 2; h++)
        dup_all(p->core, p->in.stored[h], 0, (uint32_t)(p->pixels * pixel_bytes(&p->in) / 2));
    ac_emit_barrier(p->core, AC_PIPE_V);
}

void mona_normalise_program(const mona_row_call *calls, uint32_t count)
{
    const uint32_t columns = (uint32_t)(calls->x_end - calls->x_begin);
    program p = program_of(calls->bound);
    p.core = calls->core;
    find_pixels(&p, columns);
    begin(&p);
    mona_flag_buffers(p.core, AC_PIPE_MTE1, 2, ac_emit_set_flag);
    for (uint32_t row = 0; row < count; row++)
        for (uint32_t x = 0; x < columns; x += p.pixels)
            normalise_piece(&p, &calls[row], x, min_u32(columns - x, p.pixels));
    mona_flag_buffers(p.core, AC_PIPE_MTE1, 2, ac_emit_wait_flag);
}
