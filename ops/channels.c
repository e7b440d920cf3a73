// SPDX-License-Identifier: Apache-2.0
/* CONCAT and SLICE: joining channels of maps, and cutting them out.
 *
 * Usually there is nothing to do: an input that fills whole channel blocks of the output shares its
 * memory (engine/layout/place.c). Otherwise *parts* are copied, channels that lie side by side in
 * both. A part is cut into *pieces* that lie in one channel block of either, which are neighbouring
 * lanes of every pixel.
 */
#include "ops/helpers.h"

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

/* ---- pieces --------------------------------------------------------------------------------- */

mona_channels mona_channels_part(const mona_bound_op *b, uint32_t i)
{
    const uint32_t first = b->op->channels.first;
    uint32_t before = 0;
    if (b->run->cuts_channels)
        return (mona_channels){i, first, 0, b->output.channels};
    for (uint32_t k = 0; k < i; k++)
        before += b->input[k].channels;
    return (mona_channels){i, 0, before, b->input[i].channels};
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
static uint32_t piece_of(const mona_row *in, const mona_row *out, const mona_channels *p,
                         uint32_t done)
{
    const uint32_t from = p->from + done, to = p->to + done;
    return min_u32(min_u32(in->c0 - from % in->c0, out->c0 - to % out->c0), p->count - done);
}

static void copy_pieces(const mona_row_call *call, const mona_channels *p)
{
    const mona_row in = input_row(call, p->input), out = output_row(call);
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

static bool reads_maps(const mona_file_op *op)
{
    (void)op;
    return true;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    for (uint32_t i = 0; i < b->op->input_count; i++) {
        const mona_channels t = mona_channels_part(b, i);
        if (!(b->placed >> i & 1))
            copy_pieces(call, &t);
    }
}

const mona_op_run mona_run_concat = {
    .joins_channels = true,
    .rows = same_span,
    .columns = same_span,
    .row = row,
};

const mona_op_class mona_op_concat = {
    .name = "concat",
    .run = &mona_run_concat,
    .min_inputs = 1,
    .max_inputs = MONA_OP_MAX_INPUTS,
    .zeros = MONA_ZEROS_SAME,
    .picture = MONA_PICTURE_MOVED,
    .check = check_concat,
    .infer = infer,
    .reads_maps = reads_maps,
};

const mona_op_run mona_run_slice = {
    .cuts_channels = true,
    .rows = same_span,
    .columns = same_span,
    .row = row,
};

const mona_op_class mona_op_slice = {
    .name = "slice",
    .run = &mona_run_slice,
    .min_inputs = 1,
    .max_inputs = 1,
    .zeros = MONA_ZEROS_SAME,
    .picture = MONA_PICTURE_MOVED,
    .check = check_slice,
    .infer = infer,
    .reads_maps = reads_maps,
};
