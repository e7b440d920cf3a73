// SPDX-License-Identifier: Apache-2.0
/* CONCAT and SLICE: joining channels of maps, and cutting them out.
 *
 * Usually there is nothing to do: an input that fills whole channel blocks of the output shares its
 * memory (engine/plan/plan_place.c). What is left is copying *parts*, channels that lie side by
 * side in both. A part is cut into *pieces* that lie in one channel block of either, which are
 * neighbouring lanes of every pixel.
 *
 * On the chip, parts of whole blocks go through UB, which has two halves, so that one is filled
 * while the other is emptied. The scalar unit copies other pieces lane by lane.
 *
 * Flags, event h for either half of UB:
 *   MTE1 -> MTE3    the half is full
 *   MTE3 -> MTE1    the half is empty */
#include "ops/helpers.h"

#include "engine/arith.h"
#include "engine/libc.h"

/* ---- shapes --------------------------------------------------------------------------------- */

static mona_status check_concat(const mona_file_op *op, const mona_shape *inputs,
                                const mona_shape *output, mona_data *data)
{
    (void)data;
    uint64_t channels = 0;
    bool sound = !op->channels.first && op->channels.copy <= 1;
    for (uint32_t i = 0; i < op->input_count; i++) {
        channels += inputs[i].channels;
        sound = sound && inputs[i].type == output->type;
    }
    return sound && channels == output->channels ? MONA_OK : MONA_ERR_MODEL;
}

static mona_status check_slice(const mona_file_op *op, const mona_shape *inputs,
                               const mona_shape *output, mona_data *data)
{
    (void)data;
    const bool sound = op->channels.copy <= 1 && inputs[0].type == output->type &&
                       (uint64_t)op->channels.first + output->channels <= inputs[0].channels;
    return sound ? MONA_OK : MONA_ERR_MODEL;
}

static mona_status infer(const mona_file_op *op, const mona_shape *inputs, mona_shape *output)
{
    output->height = inputs[0].height;
    output->width = inputs[0].width;
    for (uint32_t i = 1; i < op->input_count; i++)
        if (inputs[i].height != output->height || inputs[i].width != output->width)
            return MONA_ERR_SHAPE;
    return MONA_OK;
}

uint32_t mona_channels_before(const mona_bound_op *b, uint32_t i)
{
    uint32_t channels = b->op->channels.first;
    for (uint32_t k = 0; k < i; k++)
        channels += b->input[k].channels;
    return channels;
}

/* ---- parts and pieces ----------------------------------------------------------------------- */

/* Channels from, from + 1, ... of input i become channels to, to + 1, ... of the output. */
typedef struct part {
    uint32_t input, from, to, count;
} part;

static part part_of(const mona_bound_op *b, uint32_t i)
{
    const bool slice = b->op->kind == MONA_OP_SLICE;
    const uint32_t before = mona_channels_before(b, i);
    return (part){i, slice ? before : 0, slice ? 0 : before,
                  slice ? b->output.channels : b->input[i].channels};
}

static void copy_lanes(uint8_t *to, size_t to_pixel, const uint8_t *from, size_t from_pixel,
                       size_t bytes, size_t pixels)
{
    if (bytes == to_pixel && bytes == from_pixel)
        memcpy(to, from, bytes * pixels);
    else
        for (size_t x = 0; x < pixels; x++)
            memcpy(to + x * to_pixel, from + x * from_pixel, bytes);
}

/* The piece that begins with channel from of the input and to of the output. */
static uint32_t piece_of(const ac_row *in, const ac_row *out, const part *p, uint32_t done)
{
    const uint32_t from = p->from + done, to = p->to + done;
    return min_u32(min_u32(in->c0 - from % in->c0, out->c0 - to % out->c0), p->count - done);
}

static void copy_pieces(const mona_row_call *call, const part *p)
{
    const ac_row in = input_row(call, p->input), out = output_row(call);
    const size_t element = mona_type_size(out.type), pixels = (size_t)(call->x_end - call->x_begin);
    for (uint32_t done = 0, count; done < p->count; done += count) {
        const uint32_t from = p->from + done, to = p->to + done;
        count = piece_of(&in, &out, p, done);
        copy_lanes(out.data + to / out.c0 * out.block_stride + to % out.c0 * element,
                   out.c0 * element,
                   in.data + from / in.c0 * in.block_stride + from % in.c0 * element,
                   in.c0 * element, count * element, pixels);
    }
}

/* The same on the chip, channel by channel. Channels that fill up the last block become zeros. */
static void move_channels(const mona_row_call *call, const part *p)
{
    const mona_row_at in = mona_place_row(call->core, input_row(call, p->input), false);
    const mona_row_at out = mona_place_row(call->core, output_row(call), true);
    const uint32_t element = (uint32_t)mona_type_size(out.type);
    const ac_move m = {.count = (uint32_t)(call->x_end - call->x_begin),
                       .dst_step = out.c0 * element,
                       .src_step = in.c0 * element,
                       .dst_type = out.type,
                       .src_type = out.type,
                       .scale = F16_ONE,
                       .maximum = UINT8_MAX};
    for (uint32_t i = 0; i < p->count; i++)
        ac_emit_move(call->core, mona_channel_at(&out, p->to + i),
                     mona_channel_at(&in, p->from + i), m);
    if (p->to + p->count == call->bound->output.channels)
        mona_scalar_fill_up(call->core, &out, p->to + p->count, m.count);
}

/* ---- whole blocks on the chip --------------------------------------------------------------- */

/* The last block may be partly filled in both; its other channels are zeros. */
static bool is_whole_blocks(const mona_bound_op *b, const part *p)
{
    const uint32_t c0 = b->output_c0;
    const bool ends =
        p->from + p->count == b->input[p->input].channels && p->to + p->count == b->output.channels;
    return mona_on_ai_core(b) && b->input_c0[p->input] == c0 && p->from % c0 == 0 &&
           p->to % c0 == 0 && (p->count % c0 == 0 || ends) &&
           c0 * mona_type_size(b->output.type) % AC_BLOCK == 0;
}

typedef struct program {
    ac_core *core;
    uint32_t half; /* size of a half of UB, in blocks of 32 bytes */
    uint32_t slot; /* the half that is filled next */
} program;

/* Copies `bursts` pieces of `blocks` blocks of 32 bytes through UB. Strides are in bytes. */
static void by_way_of_ub(program *p, ac_address to, size_t to_stride, ac_address from,
                         size_t from_stride, uint32_t bursts, uint32_t blocks)
{
    const ac_address ub = ac_at(AC_UB, (size_t)p->slot * p->half * AC_BLOCK);
    const uint32_t e = p->slot;
    const bool from_gm = ac_space_of(from) >= AC_GM;
    const ac_pipe reader = from_gm ? AC_PIPE_MTE2 : AC_PIPE_MTE1;
    ac_copy in = {.bursts = (uint16_t)bursts, .blocks = (uint16_t)blocks}, out = in;
    if (bursts > 1) {
        in.src_gap = (uint16_t)(from_stride / AC_BLOCK - blocks);
        out.dst_gap = (uint16_t)(to_stride / AC_BLOCK - blocks);
    }
    ac_emit_wait_flag(p->core, AC_PIPE_MTE3, reader, e);
    ac_emit_copy(p->core, from_gm ? AC_GM_UB : AC_L1_UB, ub, from, in);
    ac_emit_sync(p->core, reader, AC_PIPE_MTE3, e);
    ac_emit_copy_out(p->core, to, ub, out);
    ac_emit_set_flag(p->core, AC_PIPE_MTE3, reader, e);
    p->slot ^= 1;
}

static void copy_blocks(program *p, const mona_row_call *call, const part *t)
{
    const mona_row_at in = mona_place_row(call->core, input_row(call, t->input), false);
    const mona_row_at out = mona_place_row(call->core, output_row(call), true);
    const uint32_t column = out.c0 * (uint32_t)mona_type_size(out.type) / AC_BLOCK;
    const uint32_t row = (uint32_t)(call->x_end - call->x_begin) * column;
    const uint32_t blocks = (t->count + out.c0 - 1) / out.c0;
    const uint32_t at_once = row < p->half ? p->half / row : 1;
    const ac_address from = in.at + t->from / in.c0 * in.block_stride;
    const ac_address to = out.at + t->to / out.c0 * out.block_stride;
    for (uint32_t n = 0; n < blocks; n += at_once)
        for (uint32_t x = 0; x < row; x += p->half) {
            const size_t at = (size_t)x * AC_BLOCK;
            by_way_of_ub(p, to + n * out.block_stride + at, out.block_stride,
                         from + n * in.block_stride + at, in.block_stride,
                         min_u32(at_once, blocks - n), min_u32(p->half, row - x));
        }
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Whether an input lies in global memory, where an earlier group left it. */
static bool reads_maps(const mona_row_call *call)
{
    bool maps = false;
    for (uint32_t i = 0; i < call->bound->op->input_count; i++)
        maps |= ac_space_of(mona_place_row(call->core, input_row(call, i), false).at) >= AC_GM;
    return maps;
}

static void program_rows(const mona_row_call *calls, uint32_t count)
{
    const mona_bound_op *b = calls->bound;
    program p = {calls->core, b->target->ub_bytes / 2 / AC_BLOCK, 0};
    const uint32_t readers = reads_maps(calls) ? 2 : 1; /* MTE1, MTE2 */
    for (uint32_t e = 0; e < 2 * readers; e++)
        ac_emit_set_flag(p.core, AC_PIPE_MTE3, AC_PIPE_MTE1 + e / 2, e % 2);
    for (uint32_t i = 0; i < b->op->input_count; i++) {
        const part t = part_of(b, i);
        for (uint32_t y = 0; y < count && !(b->placed >> i & 1); y++)
            if (is_whole_blocks(b, &t))
                copy_blocks(&p, &calls[y], &t);
            else
                move_channels(&calls[y], &t);
    }
    for (uint32_t e = 0; e < 2 * readers; e++)
        ac_emit_wait_flag(p.core, AC_PIPE_MTE3, AC_PIPE_MTE1 + e / 2, e % 2);
}

static void row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    if (mona_on_ai_core(b)) {
        program_rows(call, 1);
        return;
    }
    for (uint32_t i = 0; i < b->op->input_count; i++) {
        const part t = part_of(b, i);
        if (!(b->placed >> i & 1))
            copy_pieces(call, &t);
    }
}

const mona_op_class mona_op_concat = {
    .name = "concat",
    .min_inputs = 1,
    .max_inputs = MONA_OP_MAX_INPUTS,
    .check = check_concat,
    .infer = infer,
    .rows = same_span,
    .columns = same_span,
    .row = row,
    .some_rows = program_rows,
    .has_program = always_has_program,
};

const mona_op_class mona_op_slice = {
    .name = "slice",
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check_slice,
    .infer = infer,
    .rows = same_span,
    .columns = same_span,
    .row = row,
    .some_rows = program_rows,
    .has_program = always_has_program,
};
