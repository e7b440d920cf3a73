/* RESIZE as an AI Core program, where the scale across is n / d and the weights repeat every n
 * output columns, as they do for 2, 4, 1/2 and the like. Others are left to the scalar unit.
 *
 * One channel at a time, and in it one piece: the calls' rows, some periods of n output columns.
 * The piece's columns are cut into Q segments of `periods` periods, Q being the largest power of 2
 * with Q R <= 16 for R rows; lane q R + y is segment q of row y. Every column is then a block of 16
 * lanes; a shift by a column is one of addresses.
 *
 *   L1 -> UB -> planes (lanes.h): the rows that any of the R wants, as fp16; the scalar unit
 * repeats the samples at the image's edges for every tap down: 16 rows, one for each lane, are
 * turned into columns and widened to fp32; a vector of 16 weights, one for each lane, multiplies
 * them; products are added up for every phase p < n: the columns first(p) + tap + d k, k = 0, 1,
 * .., each times one weight, are added up; that is output column n k + p results are rounded: fp32
 * to integers by adding and subtracting 1.5 * 2^23 (a sum of products is far below 2^22), which
 * fp16 then holds as far as 8 bits reach; or once to fp16 turned back into rows, then into channel
 * blocks (lanes.h) -> L1
 *
 * These are the roundings of ac_resize_row, in its order. Input column 0 of a segment is its first
 * period's; HALO columns on either side are turned with it. Parts of UB that are no row's are
 * worked on as well, so they are zeros first.
 *
 * Flags: V -> MTE1, MTE1 -> V 0: the input may come, is there     V -> S, S -> V 0: the scalar
 * unit's turn V -> MTE3, MTE3 -> V 0: a piece is made, has left */
#include "lanes.h"
#include "resize.h"

#include "../engine/libc.h"

enum {
    HALO = 16,    /* columns: a block of fp16 */
    BEFORE = 32,  /* columns in UB before a row's column 0 */
    ALIGNED = 32, /* pieces and rows begin at multiples of so many columns, or periods */
    MAX_RATIO = 15,
};

typedef struct program {
    const mona_row_call *calls;
    const mona_bound_op *bound;
    ac_core *core;
    const ac_isa *isa;
    uint32_t rows, taps, n, d;
    uint32_t segments, periods; /* Q, and of each */
    int64_t first_row;          /* of the input rows that any call wants, */
    uint32_t in_rows;           /* and how many they are */
    int64_t period;             /* the piece's first */
    int32_t lowest, highest;    /* columns that are read before a segment, and after it */
    size_t in_pitch, out_pitch; /* pixels from row to row */
    mona_lanes in_lanes, out_lanes;
    uint8_t *in, *samples, *blocks;
    uint16_t *wide, *columns, *made, *unused;
    float *lane_weights, *weights, *tap, *down, *product, *across;
} program;

static uint32_t common(uint32_t a, uint32_t b)
{
    return b ? common(b, a % b) : a;
}

static uint32_t element(const program *p)
{
    return (uint32_t)mona_type_size(p->bound->output.type);
}

/* ---- what has a program --------------------------------------------------------------------- */

static bool repeats(const mona_bound_op *b, uint32_t n, uint32_t d)
{
    const int32_t *first = mona_resize_first(b);
    const float *weights = mona_resize_weights(b);
    const size_t taps = mona_resize_taps(b);
    for (uint32_t x = n; x < b->output.width; x++)
        if (first[x] != first[x - n] + (int32_t)d ||
            memcmp(weights + x * taps, weights + (x - n) * taps, taps * sizeof *weights))
            return false;
    return true;
}

static program program_of(const mona_row_call *calls, const mona_bound_op *b, uint32_t rows)
{
    const uint32_t *scale = b->op->resize.scale_w, divisor = common(scale[0], scale[1]);
    program p = {.calls = calls,
                 .bound = b,
                 .isa = b->isa,
                 .rows = rows,
                 .taps = mona_resize_taps(b),
                 .n = scale[0] / divisor,
                 .d = scale[1] / divisor,
                 .segments = LANES};
    while (p.segments * rows > LANES)
        p.segments /= 2;
    return p;
}

static void find_reach(program *p)
{
    const int32_t *first = mona_resize_first(p->bound);
    p->lowest = 0;
    p->highest = 0;
    for (uint32_t x = 0; x < p->n; x++) {
        const int32_t after = first[x] + (int32_t)p->taps - (int32_t)p->d;
        p->lowest = first[x] < p->lowest ? first[x] : p->lowest;
        p->highest = after > p->highest ? after : p->highest;
    }
}

/* ---- UB ------------------------------------------------------------------------------------- */

static size_t up_to(size_t value, size_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

/* Addresses, since those of no UB are taken too, to know how far they go. */
static uint8_t *take(uintptr_t *at, size_t bytes)
{
    const uintptr_t taken = *at;
    *at += up_to(bytes, AC_BLOCK);
    return (uint8_t *)taken;
}

static uint16_t *take_halves(uintptr_t *at, size_t count)
{
    return (uint16_t *)(void *)take(at, count * sizeof(uint16_t));
}

static float *take_floats(uintptr_t *at, size_t count)
{
    return (float *)(void *)take(at, count * sizeof(float));
}

static size_t columns_of(const program *p)
{
    return p->periods * p->d + 2 * HALO;
}

static size_t most_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* For p->periods; the bytes it takes. Places are shared by what is needed one after the other. */
static size_t lay_out(program *p, uint8_t *ub)
{
    const mona_bound_op *b = p->bound;
    const uint32_t group = mona_lanes_group_pixels(element(p)), channels = b->output.channels;
    const uint32_t in_channels = channels < b->input_c0[0] ? channels : b->input_c0[0];
    const uint32_t out_channels = channels < b->output_c0 ? channels : b->output_c0;
    uintptr_t at = (uintptr_t)ub;
    p->in_pitch = up_to((size_t)p->segments * p->periods * p->d + 2 * BEFORE, ALIGNED);
    p->out_pitch = up_to((size_t)p->segments * p->periods * p->n, ALIGNED);
    p->in_lanes.groups = (uint32_t)(up_to(p->in_rows * p->in_pitch, group) / group);
    p->out_lanes.groups = (uint32_t)(up_to(p->rows * p->out_pitch, group) / group);
    const size_t in_pixels = (size_t)p->in_lanes.groups * group;
    const size_t out_pixels = (size_t)p->out_lanes.groups * group;
    const size_t most = most_of(in_pixels, out_pixels), made = (size_t)p->periods * p->n;
    const size_t lanes_in = (size_t)p->in_lanes.groups * LANES_GROUP_BYTES;
    const size_t lanes_out = (size_t)p->out_lanes.groups * LANES_GROUP_BYTES;
    p->in = take(&at, in_pixels * b->input_c0[0] * element(p));
    p->in_lanes.channels = take(&at, lanes_in * in_channels);
    p->in_lanes.spare = take(&at, lanes_in);
    p->samples = take(&at, most * element(p));
    p->wide = take_halves(&at, most);
    p->columns = p->made = take_halves(&at, most_of(columns_of(p), made) * LANES);
    p->lane_weights = take_floats(&at, 4 * LANES);
    p->weights = take_floats(&at, 4 * (size_t)FLOAT_LANES);
    p->tap = p->product = take_floats(&at, columns_of(p) * LANES);
    p->across = take_floats(&at, (size_t)p->periods * LANES);
    p->unused = take_halves(&at, made);
    p->out_lanes.channels = take(&at, lanes_out * out_channels);
    p->out_lanes.spare = take(&at, lanes_out);
    const size_t blocks = out_pixels * b->output_c0 * element(p);
    p->blocks = take(&at, most_of(blocks, columns_of(p) * LANES * sizeof *p->down));
    p->down = (float *)(void *)p->blocks;
    return at - (uintptr_t)ub;
}

bool mona_resize_has_program(const mona_bound_op *b)
{
    if (!mona_rows_are_blocks(b))
        return false;
    program p = program_of(NULL, b, 1);
    if (p.n > MAX_RATIO || p.d > MAX_RATIO || b->output.width < p.n || !repeats(b, p.n, p.d))
        return false;
    find_reach(&p);
    p.in_rows = p.taps;
    p.periods = HALO;
    return p.lowest >= -HALO && p.highest <= HALO && lay_out(&p, NULL) <= b->target->ub_bytes;
}

/* ---- input rows as fp16 --------------------------------------------------------------------- */

/* NULL: no call wants that row. */
static uint8_t *input_row_at(const program *p, int64_t y)
{
    for (uint32_t i = 0; i < p->rows; i++) {
        const mona_row_call *call = &p->calls[i];
        const mona_span window = mona_resize_rows(p->bound, (mona_span){call->y, call->y + 1});
        if (y >= window.begin && y < window.end)
            return call->input[0].rows[y - window.begin];
    }
    return NULL;
}

static mona_span output_columns(const program *p)
{
    const int64_t begin = p->period * p->n, end = begin + p->segments * p->periods * p->n;
    const mona_row_call *call = p->calls;
    return (mona_span){begin > call->x_begin ? begin : call->x_begin,
                       end < call->x_end ? end : call->x_end};
}

/* Place in a row of UB of an input column. */
static size_t place_of(const program *p, int64_t column)
{
    return (size_t)(column - p->period * p->d + BEFORE);
}

static void sync(const program *p, ac_pipe from, ac_pipe to)
{
    p->isa->set_flag(p->core, from, to, AC_EVENT0);
    p->isa->wait_flag(p->core, from, to, AC_EVENT0);
}

/* Channel block `block` of the input rows. */
static void bring(const program *p, uint32_t block)
{
    const uint32_t c0 = p->bound->input_c0[0];
    const size_t column = (size_t)c0 * element(p);
    const mona_rows *in = &p->calls->input[0];
    const mona_span wanted = mona_resize_columns(p->bound, output_columns(p));
    const int64_t begin = wanted.begin / ALIGNED * ALIGNED;
    const size_t bytes = (size_t)(wanted.end - begin) * column;
    const ac_copy c = {.bursts = 1, .blocks = (uint16_t)(up_to(bytes, AC_BLOCK) / AC_BLOCK)};
    dup_all(p->core, p->in, 0, p->in_lanes.groups * (LANES_GROUP_BYTES / 2) * c0, side_by_side);
    sync(p, AC_PIPE_V, AC_PIPE_MTE1);
    for (uint32_t row = 0; row < p->in_rows; row++) {
        const uint8_t *from = input_row_at(p, p->first_row + row);
        if (from)
            p->isa->copy(
                p->core, AC_L1_UB, p->in + (row * p->in_pitch + place_of(p, begin)) * column,
                from + block * in->block_stride + (size_t)(begin - in->x_begin) * column, c);
    }
    sync(p, AC_PIPE_MTE1, AC_PIPE_V);
    mona_lanes_from_block(&p->in_lanes, 0, p->bound->output.channels - block * c0, c0, p->in);
    p->isa->barrier(p->core, AC_PIPE_V);
}

/* `count` samples from `to` on become `from`. */
static void repeat_sample(const program *p, uint8_t *to, const uint8_t *from, int64_t count)
{
    if (count <= 0)
        return;
    const size_t size = element(p), bytes = (size_t)count * size;
    p->isa->scalar(p->core, from, size, to, bytes, AC_SCALAR_STEPS * (uint32_t)bytes);
    for (int64_t i = 0; i < count; i++)
        memcpy(to + (size_t)i * size, from, size);
}

/* Taps beyond the image read its nearest sample. */
static void repeat_edges(const program *p)
{
    const int32_t *first = mona_resize_first(p->bound);
    const mona_span out = output_columns(p), in = mona_resize_columns(p->bound, out);
    const int64_t before = in.begin - first[out.begin];
    const int64_t after = first[out.end - 1] + p->taps - in.end;
    if (before <= 0 && after <= 0)
        return;
    sync(p, AC_PIPE_V, AC_PIPE_S);
    for (uint32_t row = 0; row < p->in_rows; row++) {
        uint8_t *begin = p->samples + (row * p->in_pitch + place_of(p, in.begin)) * element(p);
        uint8_t *end = p->samples + (row * p->in_pitch + place_of(p, in.end)) * element(p);
        repeat_sample(p, begin - before * (int64_t)element(p), begin, before);
        repeat_sample(p, end, end - element(p), after);
    }
    sync(p, AC_PIPE_S, AC_PIPE_V);
}

/* Channel c of the block. */
static const uint16_t *widen(const program *p, uint32_t c)
{
    const mona_type type = p->bound->output.type;
    mona_lanes_to_samples(&p->in_lanes, c, 1, p->samples);
    p->isa->barrier(p->core, AC_PIPE_V);
    repeat_edges(p);
    if (type == MONA_F16)
        return (const uint16_t *)(const void *)p->samples;
    vconv_all(p->core, type == MONA_U8 ? AC_U8_F16 : AC_S8_F16, p->wide, p->samples,
              p->in_lanes.groups * mona_lanes_group_pixels(element(p)));
    p->isa->barrier(p->core, AC_PIPE_V);
    return p->wide;
}

/* ---- down ----------------------------------------------------------------------------------- */

/* Lanes that are no segment's repeat the last. */
static uint32_t row_of_lane(const program *p, uint32_t lane)
{
    return lane % p->rows;
}

static uint32_t segment_of_lane(const program *p, uint32_t lane)
{
    return lane / p->rows < p->segments ? lane / p->rows : p->segments - 1;
}

/* A weight for every lane of each tap, four times over. */
static void bring_weights(const program *p)
{
    sync(p, AC_PIPE_V, AC_PIPE_S);
    p->isa->scalar(p->core, NULL, 0, p->lane_weights, p->taps * LANES * sizeof(float),
                   AC_SCALAR_STEPS * p->taps * LANES);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        float weights[4];
        mona_resize_row(p->bound, p->calls[row_of_lane(p, lane)].y, weights);
        for (uint32_t t = 0; t < p->taps; t++)
            p->lane_weights[t * LANES + lane] = weights[t];
    }
    sync(p, AC_PIPE_S, AC_PIPE_V);
    const ac_vector v = {.repeat = FLOAT_LANES / LANES,
                         .lanes = LANES,
                         .dst_block = 1,
                         .a_block = 1,
                         .dst_repeat = 2};
    for (uint32_t t = 0; t < p->taps; t++)
        p->isa->vecs(p->core, AC_VMULS_F32, p->weights + t * FLOAT_LANES,
                     p->lane_weights + t * LANES, 1, &v);
    p->isa->barrier(p->core, AC_PIPE_V);
}

/* For every lane, the row that tap t reads. */
static void turn_tap(const program *p, const uint16_t *rows, uint32_t t)
{
    uint16_t *dst[LANES];
    const uint16_t *src[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) {
        float weights[4];
        const int64_t y = p->calls[row_of_lane(p, lane)].y;
        const int64_t tap = mona_resize_row(p->bound, y, weights) + t;
        const int64_t row = clip_to(tap, 0, p->bound->input[0].height - 1) - p->first_row;
        src[lane] = rows + (size_t)row * p->in_pitch + BEFORE - HALO +
                    (size_t)segment_of_lane(p, lane) * p->periods * p->d;
        dst[lane] = p->columns + lane * LANES;
    }
    const size_t blocks = columns_of(p) / LANES;
    for (size_t done = 0, count; done < blocks; done += count) {
        count = blocks - done < AC_MAX_REPEAT ? blocks - done : AC_MAX_REPEAT;
        p->isa->transpose(p->core, dst, src, (uint8_t)count, LANES, 1);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            src[lane] += count * LANES;
            dst[lane] += count * LANES * LANES;
        }
    }
    p->isa->barrier(p->core, AC_PIPE_V);
}

static void floats_all(const program *p, ac_vec2 op, float *to, const float *a, const float *b,
                       uint32_t count, bool b_stays)
{
    const ac_vector strides = {.dst_block = 1,
                               .a_block = 1,
                               .b_block = 1,
                               .dst_repeat = 8,
                               .a_repeat = 8,
                               .b_repeat = b_stays ? 0 : 8};
    for (vectors w = vectors_of(strides, FLOAT_LANES, count); next_vectors(&w);)
        p->isa->vec2(p->core, op, vectors_at(&w, to, w.v.dst_repeat),
                     vectors_at(&w, a, w.v.a_repeat), vectors_at(&w, b, w.v.b_repeat), &w.v);
    p->isa->barrier(p->core, AC_PIPE_V);
}

/* Columns lowest .. of every lane, resampled down, to p->down. */
static void resample_down(const program *p, const uint16_t *rows)
{
    const uint32_t columns = p->periods * p->d + (uint32_t)(p->highest - p->lowest);
    const uint32_t count = columns * LANES;
    const uint16_t *from = p->columns + (size_t)(HALO + p->lowest) * LANES;
    for (uint32_t t = 0; t < p->taps; t++) {
        float *to = t ? p->tap : p->down;
        turn_tap(p, rows, t);
        vconv_all(p->core, AC_F16_F32, to, from, count);
        p->isa->barrier(p->core, AC_PIPE_V);
        floats_all(p, AC_VMUL_F32, to, to, p->weights + t * FLOAT_LANES, count, true);
        if (t)
            floats_all(p, AC_VADD_F32, p->down, p->down, p->tap, count, false);
    }
}

/* ---- across --------------------------------------------------------------------------------- */

static void scalars_all(const program *p, ac_vecs op, float *to, const float *a, float s)
{
    for (vectors w = vectors_of(side_by_side, FLOAT_LANES, p->periods * LANES); next_vectors(&w);)
        p->isa->vecs(p->core, op, vectors_at(&w, to, w.v.dst_repeat),
                     vectors_at(&w, a, w.v.a_repeat), s, &w.v);
    p->isa->barrier(p->core, AC_PIPE_V);
}

/* Every d-th column times a weight. A column is two blocks, and instructions have one stride. */
static void multiply_columns(const program *p, float *to, const float *from, float weight)
{
    if (p->d == 1) {
        scalars_all(p, AC_VMULS_F32, to, from, weight);
        return;
    }
    const ac_vector strides = {.dst_block = 2,
                               .a_block = (uint8_t)(2 * p->d),
                               .dst_repeat = 16,
                               .a_repeat = (uint8_t)(16 * p->d)};
    for (uint32_t h = 0; h < 2; h++)
        for (vectors w = vectors_of(strides, FLOAT_LANES, p->periods * LANES / 2);
             next_vectors(&w);)
            p->isa->vecs(p->core, AC_VMULS_F32, vectors_at(&w, to + h * LANES / 2, w.v.dst_repeat),
                         vectors_at(&w, from + h * LANES / 2, w.v.a_repeat), weight, &w.v);
    p->isa->barrier(p->core, AC_PIPE_V);
}

/* Output columns of one phase, as fp16, to every n-th place of p->made. */
static void resample_phase(const program *p, uint32_t phase)
{
    const int32_t first = mona_resize_first(p->bound)[phase];
    const float *weights = mona_resize_weights(p->bound) + (size_t)phase * p->taps;
    const float whole = 0x1.8p23f;
    for (uint32_t t = 0; t < p->taps; t++) {
        const float *from = p->down + (size_t)(first + (int32_t)t - p->lowest) * LANES;
        multiply_columns(p, t ? p->product : p->across, from, weights[t]);
        if (t)
            floats_all(p, AC_VADD_F32, p->across, p->across, p->product, p->periods * LANES, false);
    }
    if (p->bound->output.type != MONA_F16) {
        scalars_all(p, AC_VADDS_F32, p->across, p->across, whole);
        scalars_all(p, AC_VADDS_F32, p->across, p->across, -whole);
    }
    const ac_vector strides = {
        .dst_block = (uint8_t)p->n, .a_block = 1, .dst_repeat = (uint8_t)(4 * p->n), .a_repeat = 8};
    for (vectors w = vectors_of(strides, FLOAT_LANES, p->periods * LANES); next_vectors(&w);)
        p->isa->vconv(p->core, AC_F32_F16, vectors_at(&w, p->made + phase * LANES, w.v.dst_repeat),
                      vectors_at(&w, p->across, w.v.a_repeat), &w.v);
    p->isa->barrier(p->core, AC_PIPE_V);
}

/* Columns back to rows, of p->wide. */
static void turn_back(const program *p)
{
    const uint32_t columns = p->periods * p->n;
    uint16_t *dst[LANES];
    const uint16_t *src[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) {
        src[lane] = p->made + lane * LANES;
        dst[lane] = lane < p->rows * p->segments ? p->wide + row_of_lane(p, lane) * p->out_pitch +
                                                       (size_t)segment_of_lane(p, lane) * columns
                                                 : p->unused;
    }
    for (uint32_t done = 0, count; done < columns / LANES; done += count) {
        count = columns / LANES - done < AC_MAX_REPEAT ? columns / LANES - done : AC_MAX_REPEAT;
        p->isa->transpose(p->core, dst, src, (uint8_t)count, 1, LANES);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            src[lane] += count * LANES * LANES;
            dst[lane] += count * LANES;
        }
    }
    p->isa->barrier(p->core, AC_PIPE_V);
}

/* ---- out ------------------------------------------------------------------------------------ */

/* Channel c of the output block, from p->wide. */
static void narrow(const program *p, uint32_t c)
{
    const mona_type type = p->bound->output.type;
    const uint8_t *samples = (const uint8_t *)p->wide;
    if (type != MONA_F16) {
        vconv_all(p->core, type == MONA_U8 ? AC_F16_U8 : AC_F16_S8, p->samples, p->wide,
                  p->out_lanes.groups * mona_lanes_group_pixels(element(p)));
        samples = p->samples;
    }
    p->isa->barrier(p->core, AC_PIPE_V);
    mona_lanes_from_samples(&p->out_lanes, c, 1, samples);
    p->isa->barrier(p->core, AC_PIPE_V);
}

/* Whole blocks of 32 bytes by MTE3, the rest by the scalar unit: what follows may be padding. */
static void store_block(const program *p, uint32_t block)
{
    const uint32_t c0 = p->bound->output_c0;
    const size_t column = (size_t)c0 * element(p);
    const mona_span out = output_columns(p);
    const uint32_t bytes = (uint32_t)((size_t)(out.end - out.begin) * column);
    const uint32_t rest = bytes % AC_BLOCK, whole = bytes - rest;
    mona_lanes_to_block(&p->out_lanes, 0, p->bound->output.channels - block * c0, c0, p->blocks);
    sync(p, AC_PIPE_V, AC_PIPE_MTE3);
    if (rest)
        sync(p, AC_PIPE_V, AC_PIPE_S);
    for (uint32_t row = 0; row < p->rows; row++) {
        const ac_row o = output_row(&p->calls[row]);
        const size_t skip = (size_t)(out.begin - p->period * p->n);
        const uint8_t *from = p->blocks + (row * p->out_pitch + skip) * column;
        uint8_t *to =
            o.data + block * o.block_stride + (size_t)(out.begin - p->calls->x_begin) * column;
        if (whole)
            p->isa->copy(p->core, AC_UB_L1, to, from,
                         (ac_copy){.bursts = 1, .blocks = (uint16_t)(whole / AC_BLOCK)});
        if (rest)
            scalar_copy(p->core, to + whole, from + whole, rest);
    }
    sync(p, AC_PIPE_MTE3, AC_PIPE_V);
    if (rest)
        sync(p, AC_PIPE_S, AC_PIPE_V);
}

static void resize_piece(const program *p)
{
    const uint32_t channels = p->bound->output.channels, c0 = p->bound->output_c0;
    for (uint32_t block = 0; block * c0 < channels; block++) {
        bring(p, block);
        for (uint32_t c = 0; c < c0 && block * c0 + c < channels; c++) {
            resample_down(p, widen(p, c));
            for (uint32_t phase = 0; phase < p->n; phase++)
                resample_phase(p, phase);
            turn_back(p);
            narrow(p, c);
        }
        store_block(p, block);
    }
}

/* Periods of a segment: those of the call, if UB has room, else half, a quarter, ... of them. */
static bool choose_periods(program *p, int64_t all)
{
    uint32_t parts = 1;
    do {
        const size_t segments = (size_t)p->segments * parts;
        p->periods = (uint32_t)up_to(((size_t)all + segments - 1) / segments, HALO);
        parts *= 2;
    } while (lay_out(p, p->core->ub) > p->bound->target->ub_bytes && p->periods > HALO);
    return lay_out(p, p->core->ub) <= p->bound->target->ub_bytes;
}

static bool resize_rows(const mona_row_call *calls, uint32_t count)
{
    const mona_bound_op *b = calls->bound;
    program p = program_of(calls, b, count);
    const mona_span window = mona_resize_rows(b, (mona_span){calls->y, calls->y + count});
    p.core = calls->core;
    p.first_row = window.begin;
    p.in_rows = (uint32_t)(window.end - window.begin);
    p.period = calls->x_begin / ((int64_t)ALIGNED * p.n) * ALIGNED;
    const int64_t end = (calls->x_end + p.n - 1) / p.n;
    find_reach(&p);
    if (!choose_periods(&p, end - p.period))
        return false;
    p.in_lanes.core = p.out_lanes.core = p.core;
    p.in_lanes.element = p.out_lanes.element = element(&p);
    lay_out(&p, p.core->ub);
    bring_weights(&p);
    dup_all(p.core, p.wide, 0, (uint32_t)(p.columns - p.wide), side_by_side);
    dup_all(p.core, p.out_lanes.spare, 0, p.out_lanes.groups * (LANES_GROUP_BYTES / 2),
            side_by_side);
    for (; p.period < end; p.period += (int64_t)p.segments * p.periods)
        resize_piece(&p);
    return true;
}

void mona_resize_by_instructions(const mona_row_call *calls, uint32_t count)
{
    if (resize_rows(calls, count))
        return;
    mona_resize_by_instructions(calls, count / 2);
    mona_resize_by_instructions(calls + count / 2, count - count / 2);
}
