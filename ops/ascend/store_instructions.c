// SPDX-License-Identifier: Apache-2.0
/* STORE as an AI Core program, the reverse of LOAD: L1 -> UB -> lanes -> planes (lanes.h).
 *
 * STOREs of one tensor run together, so that it is copied to UB and transposed only once. One that
 * UB has no room for runs for some planes after the others.
 *
 * A *stream* is one row of pixels' samples for one plane: one row of the plane, or with block 2 to
 * 4 one of that many rows. A stream is stored while the next is computed. MTE3 stores whole blocks
 * of 32 bytes, for all rows in one copy if their planes' rows are whole blocks apart; of many
 * planes, for all of them in a copy for each row, once all streams are computed. What the last
 * block has beyond the columns lies behind the row, which nobody reads, or is written later: tiles
 * run from left to right. Where rows are not whole blocks apart (arrays), or begin elsewhere than
 * at a block, the ends go through the scalar unit's room (scalar.h).
 *
 * Rows are copied from the block of 32 bytes that holds their first pixel on. UB holds channel
 * blocks, lanes, one stream as fp16 if it must be scaled or clipped, the samples of all streams,
 * and blocks of the largest sample and of zeros. Parts that belong to no row are transposed as
 * well, so they are cleared first.
 *
 * Blocks of 3 x 3 samples of 8 bits are not in one half of a block (lanes.h), so these become fp16
 * first. Samples of 16 bits are two of 8 bits, which are made in lanes.
 *
 * The LOAD of the next strip begins while samples are still being stored (session_order.c). These
 * are in the upper half of UB, where LOAD writes nothing before MTE3 has finished.
 *
 * Flags, event 0:
 *   MTE1 -> V    channel blocks are in UB
 *   V -> MTE1    channel blocks have been used
 *   V -> MTE3    a stream is complete
 *   MTE3 -> V    all streams have been stored */
#include "ops/ascend/lanes.h"
#include "ops/ascend/programs.h"
#include "ops/ascend/scalar.h"
#include "ops/ascend/ub.h"

typedef struct program {
    const mona_row_call *call; /* the first of the calls, which share planes, stores and columns */
    const mona_bound_op *bound;
    ac_core *core;
    uint32_t in_size, element, out_size; /* bytes of an element: stored, in lanes, of samples */
    uint32_t plane, planes;              /* of each store */
    uint32_t max_block;
    uint32_t first, channels;     /* channels of the tensor that any of the stores takes */
    uint32_t first_block, blocks; /* the channel blocks that hold them */
    uint32_t groups;              /* groups in UB: first the most that fit, then those that are
                                     needed */
    mona_lanes lanes, bytes;      /* bytes: of a stream of 16 bits */
    ac_address stored, in, samples, wide, maximum, zero, number[2];
    size_t block_bytes; /* bytes of a channel block in UB, as in lanes */
} program;

/* Row `dy` of each block, in plane `plane` of STORE number `store`. */
typedef struct stream {
    uint32_t store, plane, dy;
    uint32_t samples; /* samples of a pixel in all streams before it */
} stream;

/* ---- sizes ---------------------------------------------------------------------------------- */

static const mona_bound_op *store_of(const mona_row_call *call, uint32_t i)
{
    return call->store_count ? call->stores[i] : call->bound;
}

static uint32_t store_count(const mona_row_call *call)
{
    return call->store_count ? call->store_count : 1;
}

/* Planes of a store that are made. */
static uint32_t planes_of(const program *p, const mona_bound_op *b)
{
    return min_u32(p->planes, b->output.channels - p->plane);
}

static uint32_t channels_of(const program *p, const mona_bound_op *b)
{
    return planes_of(p, b) * b->op->store.block * b->op->store.block;
}

/* The first of their channels. */
static uint32_t first_of(const program *p, const mona_bound_op *b)
{
    return b->op->store.first_channel + p->plane * b->op->store.block * b->op->store.block;
}

/* Whether samples of 8 bits have to be converted or clipped. */
static bool changes(const program *p, const mona_bound_op *b)
{
    return p->out_size < p->element ||
           (b->output.type == MONA_U8 && b->op->store.maximum < UINT8_MAX);
}

static bool is_split(const program *p)
{
    return p->bound->output.type == MONA_U16;
}

static void find_channels(program *p)
{
    const uint32_t c0 = p->bound->input_c0[0];
    uint32_t begin = UINT32_MAX, end = 0;
    for (uint32_t i = 0; i < store_count(p->call); i++) {
        const mona_bound_op *b = store_of(p->call, i);
        const uint32_t first = first_of(p, b), last = first + channels_of(p, b);
        begin = first < begin ? first : begin;
        end = last > end ? last : end;
        p->max_block = max_u32(b->op->store.block, p->max_block);
        if (b->op->store.block == 3)
            p->element = sizeof(uint16_t);
    }
    p->first = begin;
    p->channels = end - begin;
    p->first_block = begin / c0;
    p->blocks = (end + c0 - 1) / c0 - p->first_block;
}

static size_t samples_bytes(const program *p)
{
    size_t channels = 0;
    for (uint32_t i = 0; i < store_count(p->call); i++)
        channels += channels_of(p, store_of(p->call, i));
    return channels * mona_lanes_group_pixels(p->element) * p->out_size;
}

static size_t wide_bytes(const program *p)
{
    bool any = false;
    for (uint32_t i = 0; i < store_count(p->call); i++)
        any |= changes(p, store_of(p->call, i));
    const size_t all = mona_lanes_group_pixels(p->element) * 2 * (size_t)p->max_block;
    return is_split(p) ? 2 * all : any ? all : 0;
}

/* Lays out UB for p->groups groups. Returns the bytes that this takes. */
static size_t lay_out(program *p)
{
    const size_t group = (size_t)p->groups * LANES_GROUP_BYTES, c0 = p->bound->input_c0[0];
    const size_t samples = p->groups * samples_bytes(p);
    ac_address at = ac_at(AC_UB, 0);
    p->block_bytes = group * c0;
    p->lanes = p->bytes = (mona_lanes){.core = p->core, .element = p->element};
    p->maximum = take(&at, AC_BLOCK);
    p->zero = take(&at, AC_BLOCK);
    p->in = take(&at, p->blocks * p->block_bytes);
    p->stored = p->in_size < p->element ? take(&at, p->blocks * p->block_bytes / 2) : p->in;
    p->lanes.channels = take(&at, p->channels * group);
    p->lanes.spare = take(&at, group);
    p->wide = take(&at, p->groups * wide_bytes(p));
    p->bytes.channels = take(&at, is_split(p) ? 2 * p->max_block * group : 0);
    for (uint32_t i = 0; i < 2; i++)
        p->number[i] = take(&at, is_split(p) ? 2 * group : 0);
    p->samples = ac_at(AC_UB, (ub_room(p->bound->target) - samples) / AC_BLOCK * AC_BLOCK);
    return (size_t)ac_offset_of(at) + round_up(samples, AC_BLOCK);
}

static program program_of(const mona_row_call *call, uint32_t plane, uint32_t planes)
{
    const mona_bound_op *b = call->bound;
    program p = {.call = call, .bound = b, .core = call->core, .plane = plane, .planes = planes};
    p.in_size = p.element = (uint32_t)mona_type_size(b->input[0].type);
    p.out_size = (uint32_t)mona_type_size(b->output.type);
    find_channels(&p);
    p.groups = 1;
    const size_t fixed = 2 * AC_BLOCK,
                 groups = (ub_room(b->target) - fixed) / (lay_out(&p) - fixed);
    const size_t of_samples = ub_room(b->target) / 2 / samples_bytes(&p);
    p.groups = (uint32_t)(groups < of_samples ? groups : of_samples);
    return p;
}

/* How many planes of each store from `plane` on UB has room for; one always fits. */
static uint32_t planes_from(const mona_row_call *call, uint32_t plane)
{
    uint32_t planes = UINT16_MAX;
    while (planes > 1 && !program_of(call, plane, planes).groups)
        planes /= 2;
    return planes;
}

uint32_t mona_store_together(const mona_bound_op *const *stores, uint32_t count)
{
    uint32_t together = 1;
    for (; together < count; together++) {
        const mona_row_call all = {
            .bound = stores[0], .stores = stores, .store_count = together + 1};
        if (stores[together]->output.type != stores[0]->output.type ||
            !program_of(&all, 0, UINT16_MAX).groups)
            break;
    }
    return together;
}

/* ---- in ------------------------------------------------------------------------------------- */

static void bring(const program *p, const mona_piece *k)
{
    const size_t column = (size_t)p->bound->input_c0[0] * p->in_size;
    ac_emit_wait_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, AC_EVENT0);
    for (uint32_t row = 0; row < k->rows; row++) {
        const mona_row_at in = mona_input_at(&k->calls[row], 0);
        const ac_address from = in.at + (uint64_t)((k->x - k->calls->x_begin) * (int64_t)column);
        for (uint32_t n = 0; n < p->blocks; n++)
            ac_emit_copy_bytes(p->core,
                               p->stored + n * (p->block_bytes / p->element * p->in_size) +
                                   row * k->pitch * column,
                               from + (p->first_block + n) * in.block_stride, k->count * column);
    }
    ac_emit_set_flag(p->core, AC_PIPE_MTE1, AC_PIPE_V, AC_EVENT0);
}

static void turn_blocks(const program *p)
{
    const uint32_t c0 = p->bound->input_c0[0];
    ac_emit_wait_flag(p->core, AC_PIPE_MTE1, AC_PIPE_V, AC_EVENT0);
    if (p->stored != p->in)
        widen_all(p->core, p->bound->input[0].type, p->in, p->stored,
                  (uint32_t)(p->blocks * p->block_bytes / sizeof(uint16_t)));
    for (uint32_t n = 0; n < p->blocks; n++)
        mona_lanes_from_block(&p->lanes, (int32_t)((p->first_block + n) * c0) - (int32_t)p->first,
                              p->channels, c0, p->in + n * p->block_bytes);
    ac_emit_barrier(p->core, AC_PIPE_V);
    ac_emit_set_flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, AC_EVENT0);
}

/* ---- out ------------------------------------------------------------------------------------ */

/* Goes on to the next stream. False: *s was the last one. */
static bool next_stream(const program *p, stream *s)
{
    const mona_bound_op *b = store_of(p->call, s->store);
    s->samples += b->op->store.block;
    if (++s->dy == b->op->store.block) {
        s->dy = 0;
        s->plane++;
    }
    if (s->plane == p->plane + planes_of(p, b)) {
        s->plane = p->plane;
        s->store++;
    }
    return s->store < store_count(p->call);
}

static ac_address samples_of(const program *p, const stream *s)
{
    const size_t pixels = (size_t)p->lanes.groups * mona_lanes_group_pixels(p->element);
    return p->samples + s->samples * pixels * p->out_size;
}

/* Converts `count` fp16 values of p->wide, or bytes that must be clipped, to samples of a STORE. */
static void round_samples(const program *p, const mona_bound_op *b, ac_address samples,
                          uint32_t count)
{
    const mona_file_store *s = &b->op->store;
    if (p->element == 1)
        vconv_all(p->core, AC_U8_F16, p->wide, samples, count);
    ac_emit_barrier(p->core, AC_PIPE_V);
    if (s->scale != F16_ONE)
        muls_all(p->core, p->wide, p->wide, mona_f32_from_f16(s->scale), count);
    ac_emit_barrier(p->core, AC_PIPE_V);
    if (b->output.type == MONA_U8 && s->maximum < UINT8_MAX) {
        dup_done(p->core, p->maximum, mona_f16_from_f32((float)s->maximum), AC_FRACTAL);
        vec2_done(p->core, AC_VMIN, p->wide, p->wide, p->maximum, count, b_again);
    }
    narrow_all(p->core, b->output.type, samples, p->wide, count);
}

/* Makes samples of 16 bits of a channel of lanes, as two channels of bytes, of which a stream has
 * `block` pairs. r = 256 h + l, and r / 256 - 255 / 512 lies less than half from h. */
static void split(const program *p, const mona_file_store *s, uint32_t channel, uint32_t k)
{
    const float whole = 0x1.8p23f;
    const uint64_t bytes = (uint64_t)p->lanes.groups * LANES_GROUP_BYTES;
    const uint32_t count = (uint32_t)(bytes / sizeof(uint16_t));
    const ac_address low = p->bytes.channels + 2 * k * bytes, high = low + bytes;
    const ac_address r = p->number[0], h = p->number[1];
    muls_all(p->core, low, p->lanes.channels + channel * bytes, mona_f32_from_f16(s->scale), count);
    ac_emit_barrier(p->core, AC_PIPE_V);
    vconv_done(p->core, AC_F16_F32, r, low, count);
    vec2_done(p->core, AC_VMAX_F32, r, r, p->zero, count, b_again);
    vec2_done(p->core, AC_VMIN_F32, r, r, p->maximum, count, b_again);
    vecs_done(p->core, AC_VADDS_F32, r, r, whole, count);
    vecs_done(p->core, AC_VADDS_F32, r, r, -whole, count);
    vecs_done(p->core, AC_VMULS_F32, h, r, 0x1p-8f, count);
    vecs_done(p->core, AC_VADDS_F32, h, h, -255 * 0x1p-9f, count);
    vecs_done(p->core, AC_VADDS_F32, h, h, whole, count);
    vecs_done(p->core, AC_VADDS_F32, h, h, -whole, count);
    vconv_done(p->core, AC_F32_F16, high, h, count);
    vecs_done(p->core, AC_VMULS_F32, h, h, -256, count);
    vec2_done(p->core, AC_VADD_F32, r, r, h, count, side_by_side);
    vconv_done(p->core, AC_F32_F16, low, r, count);
}

static void split_stream(const program *p, const mona_file_store *s, uint32_t channel,
                         ac_address samples, uint32_t count)
{
    enum { EQUAL = AC_BLOCK / sizeof(float) };
    dup_done(p->core, p->zero, 0, AC_FRACTAL);
    vecs_done(p->core, AC_VADDS_F32, p->maximum, p->zero, (float)s->maximum, EQUAL);
    for (uint32_t k = 0; k < s->block; k++)
        split(p, s, channel + k, k);
    mona_lanes_to_samples(&p->bytes, 0, 2 * s->block, p->wide);
    ac_emit_barrier(p->core, AC_PIPE_V);
    vconv_all(p->core, AC_F16_U8, samples, p->wide, 2 * count);
}

static void make_samples(const program *p, const stream *s)
{
    const mona_bound_op *b = store_of(p->call, s->store);
    const uint32_t block = b->op->store.block;
    const uint32_t channel =
        b->op->store.first_channel - p->first + (s->plane * block + s->dy) * block;
    const uint32_t count = p->lanes.groups * mona_lanes_group_pixels(p->element) * block;
    const ac_address samples = samples_of(p, s);
    const bool widened = changes(p, b) && p->element == 2;
    if (is_split(p)) {
        split_stream(p, &b->op->store, channel, samples, count);
        return;
    }
    mona_lanes_to_samples(&p->lanes, channel, block, widened ? p->wide : samples);
    ac_emit_barrier(p->core, AC_PIPE_V);
    if (changes(p, b))
        round_samples(p, b, samples, count);
    else if (b->op->store.scale != F16_ONE)
        muls_all(p->core, samples, samples, mona_f32_from_f16(b->op->store.scale), count);
}

/* Stores bytes [begin, end) of one row of a stream, less than a block. */
static void store_rest(const program *p, ac_address to, ac_address from, uint32_t begin,
                       uint32_t end)
{
    if (begin < end)
        mona_scalar_copy(p->core, to + begin, from + begin, end - begin);
}

/* The first sample of a stream's row `row` in global memory. */
static ac_address place_of(const program *p, const mona_piece *k, const stream *s, uint32_t row)
{
    const mona_bound_op *b = store_of(p->call, s->store);
    const uint32_t block = b->op->store.block;
    return mona_plane_at(p->call, s->store, s->plane, (k->calls->y + row) * block + s->dy,
                         k->x * (int64_t)(block * p->out_size));
}

/* Bytes of a row before its first sample, from the piece's first pixel on. */
static uint32_t bytes_before(const program *p, const mona_piece *k, const stream *s)
{
    const uint32_t pixel = store_of(p->call, s->store)->op->store.block * p->out_size;
    return p->call->x_begin > k->x ? (uint32_t)(p->call->x_begin - k->x) * pixel : 0;
}

/* Whether rows of the stream's planes begin at blocks of 32 bytes and may end with whole ones. */
static bool is_whole(const program *p, const mona_piece *k, const stream *s)
{
    return !bytes_before(p, k, s) && place_of(p, k, s, 0) % AC_BLOCK == 0 &&
           p->call->planes[s->store].row_stride % AC_BLOCK == 0;
}

static void store_stream(const program *p, const mona_piece *k, const stream *s)
{
    const uint32_t block = store_of(p->call, s->store)->op->store.block;
    const uint32_t pixel = block * p->out_size;
    const uint32_t begin = bytes_before(p, k, s), end = k->count * pixel;
    const ac_address from = samples_of(p, s);
    const size_t pitch = (size_t)k->pitch * pixel;
    const bool whole = is_whole(p, k, s);
    const uint32_t first = min_u32((uint32_t)round_up(begin, AC_BLOCK), end);
    const uint32_t last =
        whole ? (uint32_t)round_up(end, AC_BLOCK) : first + (end - first) / AC_BLOCK * AC_BLOCK;
    ac_emit_sync(p->core, AC_PIPE_V, AC_PIPE_MTE3, AC_EVENT0);
    if (first < last)
        mona_copy_rows(p->core,
                       (mona_steps){place_of(p, k, s, 0) + first,
                                    block * p->call->planes[s->store].row_stride},
                       (mona_steps){from + first, (ptrdiff_t)pitch}, k->rows, last - first);
    for (uint32_t row = 0; row < k->rows && !whole; row++) {
        const ac_address to_row = place_of(p, k, s, row);
        store_rest(p, to_row, from + row * pitch, begin, first);
        store_rest(p, to_row, from + row * pitch, last, end);
    }
}

/* Whether a copy takes one row of all planes, which are more than the piece has rows. */
static bool many_planes(const program *p, const mona_piece *k, const stream *s)
{
    const uint32_t planes = planes_of(p, store_of(p->call, s->store));
    return planes > LANES && planes > k->rows && is_whole(p, k, s);
}

/* Stores all planes of a STORE, whose last stream this is. */
static void store_planes(const program *p, const mona_piece *k, const stream *s)
{
    const mona_bound_op *b = store_of(p->call, s->store);
    const uint32_t block = b->op->store.block, pixel = block * p->out_size;
    const uint32_t planes = planes_of(p, b);
    stream first = *s;
    first.plane = p->plane;
    first.samples -= (planes * block - 1) * block;
    stream second = first;
    second.samples += block * block;
    const ptrdiff_t step = (ptrdiff_t)(samples_of(p, &second) - samples_of(p, &first));
    ac_emit_sync(p->core, AC_PIPE_V, AC_PIPE_MTE3, AC_EVENT0);
    for (first.dy = 0; first.dy < block; first.dy++, first.samples += block)
        for (uint32_t row = 0; row < k->rows; row++)
            mona_copy_rows(
                p->core,
                (mona_steps){place_of(p, k, &first, row), p->call->planes[s->store].channel_stride},
                (mona_steps){samples_of(p, &first) + (size_t)row * k->pitch * pixel, step}, planes,
                (uint32_t)round_up((size_t)k->count * pixel, AC_BLOCK));
}

static void store_piece(void *program_, const mona_piece *k)
{
    program *p = program_;
    p->lanes.groups = p->bytes.groups = k->groups;
    bring(p, k);
    turn_blocks(p);
    ac_emit_wait_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
    stream s = {.plane = p->plane}, next = s;
    for (bool more = true; more; s = next) {
        make_samples(p, &s);
        more = next_stream(p, &next);
        if (!many_planes(p, k, &s))
            store_stream(p, k, &s);
        else if (!more || next.store != s.store)
            store_planes(p, k, &s);
    }
    if (!k->last)
        ac_emit_set_flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
}

/* ---- the only pixel -------------------------------------------------------------------------- */

/* Whether the only pixel of fp16 goes to planes whose rows are a block each, side by side. */
static bool is_pixel(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const mona_buffer *planes = call->planes;
    const uint32_t blocks = ceil_div_u32(b->output.channels, b->input_c0[0]);
    return b->output.width == 1 && b->output.height == 1 && b->op->store.block == 1 &&
           b->op->store.first_channel == 0 && store_count(call) == 1 &&
           b->input[0].type == MONA_F16 && b->output.type == MONA_F16 && b->input_c0[0] == LANES &&
           planes->row_stride == AC_BLOCK && planes->channel_stride == AC_BLOCK &&
           blocks <= AC_MAX_REPEAT;
}

/* A block of 16 channels becomes 16 blocks of one, which are their planes. */
static void store_pixel(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const uint32_t channels = b->output.channels, blocks = ceil_div_u32(channels, LANES);
    const mona_row_at in = mona_input_at(call, 0);
    const ac_address from = ac_at(AC_UB, 0), to = from + blocks * AC_BLOCK;
    ac_turned turned = {.repeat = LANES}, block = {.repeat = 1};
    for (uint32_t i = 0; i < LANES; i++) {
        turned.at[i] = to + i * AC_BLOCK;
        block.at[i] = from;
    }
    mona_copy_rows(call->core, (mona_steps){from, AC_BLOCK},
                   (mona_steps){in.at, (ptrdiff_t)in.block_stride}, blocks, AC_BLOCK);
    ac_emit_sync(call->core, AC_PIPE_MTE1, AC_PIPE_V, AC_EVENT0);
    turn_done(call->core, sizeof(uint16_t), &turned, &block, blocks);
    if (b->op->store.scale != F16_ONE)
        muls_all(call->core, to, to, mona_f32_from_f16(b->op->store.scale), blocks * LANES * LANES);
    ac_emit_sync(call->core, AC_PIPE_V, AC_PIPE_MTE3, AC_EVENT0);
    mona_copy_rows(call->core, (mona_steps){mona_plane_at(call, 0, 0, 0, 0), AC_BLOCK},
                   (mona_steps){to, AC_BLOCK}, 1, channels * AC_BLOCK);
    ac_emit_barrier(call->core, AC_PIPE_ALL); /* a LOAD may use all of UB */
}

static void store_some(const mona_row_call *calls, uint32_t count, uint32_t plane, uint32_t planes)
{
    const mona_bound_op *b = calls->bound;
    program p = program_of(calls, plane, planes);
    const size_t column = b->input_c0[0] * mona_type_size(b->input[0].type);
    const uint32_t skip = (uint32_t)(mona_input_at(calls, 0).at % AC_BLOCK / column);
    const mona_span columns = {calls->x_begin - skip, calls->x_end};
    p.groups = mona_lanes_groups(columns, count, p.element, p.groups);
    lay_out(&p);
    dup_all(p.core, p.stored, 0,
            (uint32_t)(p.blocks * p.block_bytes / p.element * p.in_size / sizeof(uint16_t)));
    mona_flag_buffers(p.core, AC_PIPE_MTE1, 1, ac_emit_set_flag);
    mona_lanes_pieces(calls, count, columns, p.element, p.groups, store_piece, &p);
    ac_emit_wait_flag(p.core, AC_PIPE_V, AC_PIPE_MTE1, AC_EVENT0);
}

void mona_store_program(const mona_row_call *calls, uint32_t count)
{
    if (is_pixel(calls)) {
        store_pixel(calls);
        return;
    }
    for (uint32_t plane = 0, planes; plane < calls->bound->output.channels; plane += planes) {
        planes = planes_from(calls, plane);
        store_some(calls, count, plane, planes);
    }
}
