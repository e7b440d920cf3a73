// SPDX-License-Identifier: Apache-2.0
/* ATTENTION as an AI Core program, for heads of whole slices of 16 channels, and channel blocks
 * whose pixels are 32 bytes. The vector unit computes it in fp32, as the host does; the cube would
 * round sums otherwise.
 *
 * Rows of 64 numbers belong to 64 queries. A row times a number is one repeat, whose second operand
 * is one block of 8 equal numbers again and again: so keys and values are spread, each number to
 * such a block, by transposes of 16 times the same block.
 *
 * Flags, event h for half h of what is stored:
 *   MTE1 -> V    a block is in UB
 *   V -> MTE1    it has been used
 *   V -> MTE3    a block of results is complete
 *   MTE3 -> V    it has been stored
 * Event 0 also says, before all rows, V -> MTE1 that V has used the constants before, and
 * MTE1 -> V that these are there. */
#include "engine/libc.h"
#include "ops/ascend/functions.h"
#include "ops/ascend/pixels.h"
#include "ops/ascend/programs.h"
#include "ops/ascend/ub.h"

enum {
    QUERIES = FLOAT_LANES,
    ROW = QUERIES * sizeof(float),
    SLICE = AC_FRACTAL,
    SPREAD = AC_BLOCK, /* bytes of 16 equal numbers of fp16 */
    WIDE = 2 * SPREAD, /* the same in fp32 */
    KEYS = 64,         /* whose slices are spread at a time */
    VALUES = SLICE,    /* the same, of whole heads */
    EQUAL = AC_BLOCK / sizeof(float),
};

typedef struct program {
    const mona_bound_op *bound;
    const mona_row_call *call;
    ac_core *core;
    mona_function exponential, quotient; /* of value_scale and a sum */
    uint32_t keys, size, value_size;     /* channels of a head */
    uint32_t half;                       /* of `stored` that is filled next */
    ac_address exponential_uniforms, quotient_uniforms, stored[2], ready[2], halves, turned, spread;
    ac_address wide;
    /* In rows: [keys, or value_size][QUERIES] and so on. */
    ac_address products, query, scores, results, sums, most, factor, work;
} program;

/* ---- what there is -------------------------------------------------------------------------- */

static program program_of(const mona_bound_op *b)
{
    const uint32_t heads = b->op->attention.heads;
    program p = {.bound = b,
                 .keys = b->input[1].height * b->input[1].width,
                 .size = b->input[0].channels / heads,
                 .value_size = b->output.channels / heads};
    mona_function_find_exponential(&p.exponential);
    mona_function_find_quotient(&p.quotient, b->op->attention.value_scale);
    return p;
}

static size_t lay_out(program *p)
{
    const uint32_t rows = p->value_size > KEYS ? p->value_size : KEYS;
    ac_address at = ac_at(AC_UB, 0);
    p->exponential_uniforms = take(&at, mona_function_uniform_bytes(&p->exponential));
    p->quotient_uniforms = take(&at, mona_function_uniform_bytes(&p->quotient));
    for (uint32_t h = 0; h < 2; h++) {
        p->stored[h] = take(&at, QUERIES * AC_BLOCK);
        p->ready[h] = take(&at, QUERIES * AC_BLOCK);
    }
    p->halves = take(&at, QUERIES * AC_BLOCK * sizeof(uint16_t));
    p->turned = take(&at, SLICE * QUERIES * sizeof(uint16_t));
    p->spread = take(&at, SLICE * SPREAD * rows);
    p->wide = take(&at, (size_t)rows * WIDE);
    p->products = take(&at, (size_t)rows * ROW);
    p->query = take(&at, (size_t)p->size * ROW);
    p->scores = take(&at, (size_t)p->keys * ROW);
    p->results = take(&at, (size_t)p->value_size * ROW);
    p->sums = take(&at, SLICE * ROW);
    p->most = take(&at, ROW);
    p->factor = take(&at, ROW);
    p->work = take(&at, mona_function_work_bytes(&p->exponential, SLICE * QUERIES));
    take(&at, mona_function_work_bytes(&p->quotient, QUERIES));
    return (size_t)ac_offset_of(at);
}

static bool in_slices(uint32_t size)
{
    return size % SLICE == 0;
}

static bool in_blocks(mona_type type, uint32_t c0)
{
    return c0 % SLICE == 0 && c0 * mona_type_size(type) == AC_BLOCK;
}

const char *mona_attention_program_missing(const mona_bound_op *b)
{
    const float by = b->op->attention.value_scale;
    bool blocks = in_blocks(b->output.type, b->output_c0);
    for (uint32_t i = 0; i < 3; i++)
        blocks = blocks && in_blocks(b->input[i].type, b->input_c0[i]);
    program p = program_of(b);
    if (!blocks)
        return "pixels have less than 32 bytes in a channel block";
    if (!in_slices(p.size) || !in_slices(p.value_size) || p.value_size % b->output_c0)
        return "its heads are not of whole channel blocks, in multiples of 16 channels";
    if (!(by > 0x1p-40f && by < 0x1p40f))
        return "the scale of its values is not between 2^-40 and 2^40";
    return lay_out(&p) <= ub_room(b->target) ? NULL : "its keys do not fit the unified buffer";
}

size_t mona_attention_program_constants(const mona_bound_op *b)
{
    const program p = program_of(b);
    return mona_attention_program_missing(b) ? 0
                                             : mona_function_uniform_bytes(&p.exponential) +
                                                   mona_function_uniform_bytes(&p.quotient);
}

void mona_attention_program_bind(const mona_bound_op *b, void *constants)
{
    const program p = program_of(b);
    mona_function_put_uniforms(&p.quotient, mona_function_put_uniforms(&p.exponential, constants));
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* to = a op b, row by row. */
static void with_rows(const program *p, ac_vec2 op, ac_address to, ac_address a, ac_address b,
                      uint32_t rows)
{
    vec2_done(p->core, op, to, a, b, rows * QUERIES, side_by_side);
}

static void clear(const program *p, ac_address rows, uint32_t count)
{
    dup_done(p->core, rows, 0, count * ROW / sizeof(uint16_t));
}

/* sums += row * each of `count` spread numbers, one for each row of the sums. */
static void add_products(const program *p, ac_address sums, ac_address row, ac_address spread,
                         uint32_t count)
{
    const ac_vector strides = {
        .dst_block = 1, .a_block = 1, .dst_repeat = 8, .b_repeat = WIDE / AC_BLOCK};
    vconv_done(p->core, AC_F16_F32, p->wide, spread, count * SLICE);
    vec2_done(p->core, AC_VMUL_F32, p->products, row, p->wide, count * QUERIES, strides);
    with_rows(p, AC_VADD_F32, sums, sums, p->products, count);
}

/* ---- blocks --------------------------------------------------------------------------------- */

static uint32_t slices_of(uint32_t c0)
{
    return c0 / SLICE;
}

/* Brings pixels [first, first + count) of the map of an input, row by row, with the channel block
 * of a slice. Returns where that slice of the first of `pixels` pixels is in fp16. */
static ac_address bring(program *p, uint32_t input, uint32_t slice, uint32_t first, uint32_t count,
                        uint32_t pixels)
{
    const uint32_t h = p->half, width = p->bound->input[input].width;
    const uint32_t c0 = p->bound->input_c0[input], block = slice / slices_of(c0);
    const uint64_t before = block * p->call->input[input].block_stride;
    p->half ^= 1;
    ac_emit_wait_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, h);
    for (uint32_t done = 0, n; done < count; done += n) {
        const uint32_t y = (first + done) / width, x = (first + done) % width;
        n = min_u32(count - done, width - x);
        ac_emit_copy_bytes(p->core, p->stored[h] + (uint64_t)done * AC_BLOCK,
                           mona_window_at(p->call, input, y, x) + before, (uint64_t)n * AC_BLOCK);
    }
    ac_emit_sync(p->core, AC_PIPE_MTE1, AC_PIPE_V, h);
    return widen_all(p->core, p->bound->input[input].type, p->halves, p->stored[h], pixels * c0) +
           slice % slices_of(c0) * AC_BLOCK;
}

/* What was brought last has been used. */
static void used(const program *p)
{
    ac_emit_set_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, p->half ^ 1);
}

/* Brings a slice of pixels [first, first + count) and spreads it: the first channel of the first
 * pixel to `to`, others `channel` and `pixel` blocks further on. */
static void spread(program *p, uint32_t input, uint32_t slice, uint32_t first, uint32_t count,
                   ac_address to, uint32_t channel, uint32_t pixel)
{
    const ac_address from = bring(p, input, slice, first, count, count);
    ac_turned dst = {.repeat = pixel}, src = {.repeat = slices_of(p->bound->input_c0[input])};
    for (uint32_t k = 0; k < SLICE; k++) {
        dst.at[k] = to + (uint64_t)k * channel * SPREAD;
        src.at[k] = from;
    }
    turn_done(p->core, sizeof(uint16_t), &dst, &src, count);
    used(p);
}

static void load_query(program *p, uint32_t head, uint32_t x, uint32_t count)
{
    const uint32_t slices = p->size / SLICE;
    for (uint32_t i = 0; i < slices; i++) {
        const ac_address from = bring(p, 0, head * slices + i, x, count, QUERIES);
        mona_pixels_turn(p->core, p->turned, from, p->bound->input_c0[0], QUERIES, false);
        used(p);
        vconv_done(p->core, AC_F16_F32, p->query + (uint64_t)i * SLICE * ROW, p->turned,
                   SLICE * QUERIES);
    }
}

/* ---- a head --------------------------------------------------------------------------------- */

static void find_scores(program *p, uint32_t head)
{
    const uint32_t slices = p->size / SLICE;
    clear(p, p->scores, p->keys);
    for (uint32_t j = 0; j < p->keys; j += KEYS) {
        const uint32_t count = min_u32(p->keys - j, KEYS);
        for (uint32_t i = 0; i < slices; i++) {
            spread(p, 1, head * slices + i, j, count, p->spread, KEYS, 1);
            for (uint32_t c = 0; c < SLICE; c++)
                add_products(p, p->scores + (uint64_t)j * ROW,
                             p->query + (uint64_t)(i * SLICE + c) * ROW,
                             p->spread + (uint64_t)c * KEYS * SPREAD, count);
        }
    }
    vecs_done(p->core, AC_VMULS_F32, p->scores, p->scores, p->bound->op->attention.scale,
              p->keys * QUERIES);
}

/* Scores become their exponentials. */
static void weigh(const program *p)
{
    with_rows(p, AC_VMAX_F32, p->most, p->scores, p->scores, 1);
    for (uint32_t j = 1; j < p->keys; j++)
        with_rows(p, AC_VMAX_F32, p->most, p->most, p->scores + (uint64_t)j * ROW, 1);
    clear(p, p->sums, SLICE);
    for (uint32_t j = 0; j < p->keys; j += SLICE) {
        const uint32_t count = min_u32(p->keys - j, SLICE);
        const ac_address rows = p->scores + (uint64_t)j * ROW;
        vec2_done(p->core, AC_VSUB_F32, p->work, rows, p->most, count * QUERIES, b_stays);
        const ac_address e = mona_function_run(p->core, &p->exponential, p->exponential_uniforms,
                                               p->work, count * QUERIES);
        with_rows(p, AC_VMAX_F32, rows, e, e, count);
        with_rows(p, AC_VADD_F32, p->sums, p->sums, rows, count);
    }
    for (uint32_t n = SLICE / 2; n; n /= 2)
        with_rows(p, AC_VADD_F32, p->sums, p->sums, p->sums + (uint64_t)n * ROW, n);
    with_rows(p, AC_VMAX_F32, p->work, p->sums, p->sums, 1);
    const ac_address factor =
        mona_function_run(p->core, &p->quotient, p->quotient_uniforms, p->work, QUERIES);
    with_rows(p, AC_VMAX_F32, p->factor, factor, factor, 1);
}

static void add_values(program *p, uint32_t head)
{
    const uint32_t slices = p->value_size / SLICE;
    clear(p, p->results, p->value_size);
    for (uint32_t j = 0; j < p->keys; j += VALUES) {
        const uint32_t count = min_u32(p->keys - j, VALUES);
        for (uint32_t i = 0; i < slices; i++)
            spread(p, 2, head * slices + i, j, count, p->spread + i * SLICE * SPREAD, 1,
                   p->value_size);
        for (uint32_t k = 0; k < count; k++)
            add_products(p, p->results, p->scores + (uint64_t)(j + k) * ROW,
                         p->spread + (uint64_t)k * p->value_size * SPREAD, p->value_size);
    }
    vec2_done(p->core, AC_VMUL_F32, p->results, p->results, p->factor, p->value_size * QUERIES,
              b_stays);
}

/* Makes a channel block of the head's results. */
static void narrow(const program *p, uint32_t block, ac_address to)
{
    const mona_type type = p->bound->output.type;
    const uint32_t c0 = p->bound->output_c0, slices = slices_of(c0);
    for (uint32_t i = 0; i < slices; i++) {
        vconv_done(p->core, AC_F32_F16, p->turned,
                   p->results + (uint64_t)(block * slices + i) * SLICE * ROW, SLICE * QUERIES);
        mona_pixels_turn(p->core, p->turned, (type == MONA_F16 ? to : p->halves) + i * AC_BLOCK, c0,
                         QUERIES, true);
    }
    narrow_all(p->core, type, to, p->halves, QUERIES * c0);
}

static void store(const program *p, uint32_t head, uint32_t x, uint32_t count)
{
    const mona_row_at out = mona_output_at(p->call);
    const uint32_t blocks = p->value_size / p->bound->output_c0;
    for (uint32_t i = 0; i < blocks; i++) {
        const ac_address ready = p->ready[i % 2];
        ac_emit_wait_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, i % 2);
        narrow(p, i, ready);
        ac_emit_sync(p->core, AC_PIPE_V, AC_PIPE_MTE3, i % 2);
        ac_emit_copy_bytes(p->core,
                           out.at + (head * blocks + i) * out.block_stride + (uint64_t)x * AC_BLOCK,
                           ready, (uint64_t)count * AC_BLOCK);
        ac_emit_set_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, i % 2);
        ac_emit_barrier(p->core, AC_PIPE_V);
    }
}

/* ---- rows of the map ------------------------------------------------------------------------- */

/* Queries beyond a row's are numbers, too. */
static void begin(const program *p)
{
    mona_bring_constants(p->core, p->bound, p->exponential_uniforms,
                         mona_attention_program_constants(p->bound));
    for (uint32_t h = 0; h < 2; h++)
        dup_all(p->core, p->stored[h], 0, QUERIES * SLICE);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

void mona_attention_program(const mona_row_call *calls, uint32_t count)
{
    const uint32_t columns = (uint32_t)(calls->x_end - calls->x_begin);
    program p = program_of(calls->bound);
    p.core = calls->core;
    lay_out(&p);
    begin(&p);
    mona_flag_buffers(p.core, AC_PIPE_MTE1, 2, ac_emit_set_flag);
    for (uint32_t row = 0; row < count; row++) {
        p.call = &calls[row];
        for (uint32_t x = 0; x < columns; x += QUERIES)
            for (uint32_t head = 0; head < p.bound->op->attention.heads; head++) {
                const uint32_t n = min_u32(columns - x, QUERIES);
                load_query(&p, head, (uint32_t)calls->x_begin + x, n);
                find_scores(&p, head);
                weigh(&p);
                add_values(&p, head);
                store(&p, head, x, n);
            }
    }
    mona_flag_buffers(p.core, AC_PIPE_MTE1, 2, ac_emit_wait_flag);
}
