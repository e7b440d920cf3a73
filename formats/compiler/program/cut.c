// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/program/programs.h"

#include <stdlib.h>

#include "engine/aicore/aicore.h"
#include "engine/arith.h"
#include "engine/model_format.h"
#include "formats/file.h"
#include "formats/mona_writer.h"
#include "engine/op/op.h"

bool model_needs_cut(const mona_model *model, mona_size size)
{
    const mona_config config = {.device = &mona_device_model310, .sizes = {size}};
    void *memory = file_alloc(mona_plan_bytes(model));
    mona_plan *plan;
    const bool needs =
        memory && mona_plan_make(&plan, memory, model, &config) == MONA_ERR_UNSUPPORTED;
    free(memory);
    return needs;
}

/* Who writes and reads a tensor: indices of operators, or MONA_NONE. */
typedef struct tensor_use {
    uint32_t writer; /* MONA_NONE: it is an input of the model */
    uint32_t readers;
    uint32_t store; /* the last STORE that reads it */
    bool kept;      /* a reader reads it where its writer wrote it */
    bool loaded;    /* a LOAD of it has been written */
} tensor_use;

typedef struct cutter {
    const mona_model *model;
    mona_writer writer;
    tensor_use *uses;    /* [tensors] */
    size_t part_weights; /* bytes, of each part of a large convolution */
} cutter;

static bool reads_planes(const mona_file_op *op)
{
    return mona_ops[op->kind]->run->reads_planes;
}

static bool writes_planes(const mona_file_op *op)
{
    return mona_ops[op->kind]->run->writes_planes;
}

static bool reads_maps(const mona_file_op *op)
{
    return mona_ops[op->kind]->reads_maps && mona_ops[op->kind]->reads_maps(op);
}

static uint32_t name_of(cutter *c, uint32_t name)
{
    return mona_writer_string(&c->writer, c->model->strings + name);
}

/* Whether a STORE is the only reader of its input. It then follows that operator at once, which it
 * may be merged into, and in whose group it is. */
static bool follows_at_once(const cutter *c, const mona_file_op *op)
{
    const tensor_use *source = &c->uses[op->inputs[0]];
    return writes_planes(op) && source->writer != MONA_NONE && source->readers == 1;
}

/* Whether an input of an operator gets a SLICE or LOAD of its own. CONCATs, SLICEs and
 * pools of whole maps read anything where it lies. */
static bool is_cut(const cutter *c, const mona_file_op *op, uint32_t i)
{
    const uint32_t tensor = op->inputs[i];
    return tensor != MONA_NONE && c->uses[tensor].writer != MONA_NONE &&
           !c->model->tensors[tensor].array && !reads_maps(op) && !follows_at_once(c, op);
}

static bool find_uses(cutter *c)
{
    const mona_model *m = c->model;
    c->uses = calloc(m->header->tensor_count, sizeof *c->uses);
    if (!c->uses)
        return false;
    for (uint32_t t = 0; t < m->header->tensor_count; t++)
        c->uses[t].writer = c->uses[t].store = MONA_NONE;
    for (uint32_t o = 0; o < m->header->op_count; o++) {
        const mona_file_op *op = &m->ops[o];
        if (op->output != MONA_NONE)
            c->uses[op->output].writer = o;
        for (uint32_t i = 0; i < op->input_count; i++)
            if (op->inputs[i] != MONA_NONE)
                c->uses[op->inputs[i]].readers++;
        if (writes_planes(op))
            c->uses[op->inputs[0]].store = o;
    }
    for (uint32_t o = 0; o < m->header->op_count; o++)
        for (uint32_t i = 0; i < m->ops[o].input_count; i++)
            if (m->ops[o].inputs[i] != MONA_NONE && !is_cut(c, &m->ops[o], i))
                c->uses[m->ops[o].inputs[i]].kept = true;
    return true;
}

/* Writes what brings a tensor to a reader. Returns the tensor that it writes. */
static uint32_t bring(cutter *c, uint32_t tensor)
{
    const mona_file_op *writer = &c->model->ops[c->uses[tensor].writer];
    mona_file_tensor t = c->model->tensors[tensor];
    mona_file_op op = {.kind = MONA_OP_SLICE, .input_count = 1, .inputs = {tensor}};
    if (reads_planes(writer))
        op = *writer;
    t.name = name_of(c, t.name);
    op.name = name_of(c, writer->name);
    if (reads_planes(writer) && !c->uses[tensor].kept && !c->uses[tensor].loaded)
        c->uses[tensor].loaded = true; /* the first one writes the tensor itself */
    else
        op.output = mona_writer_tensor(&c->writer, &t);
    mona_writer_op(&c->writer, &op);
    return op.output;
}

/* ---- large convolutions ---------------------------------------------------------------------- */

/* Data begins at multiples of 64 bytes, and so do the weights, biases and scales of this many
 * outputs; where an output has an odd number of weights, of GROUPED_OUTPUTS. Weights of MAX_WEIGHTS
 * bytes leave L1 room for rings; those of a part may be LARGE_WEIGHTS where rings are small: each
 * part reads all of its inputs. */
enum {
    PART_OUTPUTS = 32,
    GROUPED_OUTPUTS = 64,
    MAX_WEIGHTS = 384 << 10,
    LARGE_WEIGHTS = 600 << 10
};

/* Input channels of an output, and outputs of a group. */
static uint32_t group_inputs(const mona_model *m, const mona_file_op *op)
{
    return m->tensors[op->inputs[0]].channels / op->conv.groups;
}

static uint32_t group_outputs(const mona_model *m, const mona_file_op *op)
{
    return m->tensors[op->output].channels / op->conv.groups;
}

/* Bytes of an output's weights in the file. */
static size_t output_bytes(const mona_model *m, const mona_file_op *op)
{
    return (size_t)group_inputs(m, op) * op->conv.kernel_h * op->conv.kernel_w *
           mona_type_size(m->tensors[op->inputs[0]].type == MONA_F16 ? MONA_F16 : MONA_S8);
}

/* Bytes of an output's weights in L1. The cube takes whole blocks of input channels, so that those
 * of other groups have weights of zero. */
static size_t packed_bytes(const mona_model *m, const mona_file_op *op)
{
    const size_t block = (size_t)op->conv.kernel_h * op->conv.kernel_w * AC_BLOCK;
    return op->conv.groups > 1 && output_bytes(m, op) < block ? block : output_bytes(m, op);
}

/* Outputs of each part of a convolution; 0: it stays whole. Parts have whole groups, and their
 * number is even where that is possible, so that two cores can take as many. */
static uint32_t part_outputs(const cutter *c, const mona_file_op *op)
{
    const mona_model *m = c->model;
    if (!mona_ops[op->kind]->has_filter)
        return 0;
    const size_t bytes = packed_bytes(m, op);
    const bool grouped = op->conv.groups > 1;
    const uint32_t each = grouped ? group_outputs(m, op) : 1;
    const uint32_t aligned = grouped ? GROUPED_OUTPUTS : PART_OUTPUTS;
    const uint32_t unit = each > aligned ? each : aligned;
    const uint32_t most = (uint32_t)(c->part_weights / bytes) / unit * unit;
    const uint32_t outputs = m->tensors[op->output].channels;
    if (bytes * outputs <= MAX_WEIGHTS || unit % each || unit % aligned)
        return 0;
    const uint32_t parts = ceil_div_u32(outputs, most ? most : unit), even = parts + parts % 2;
    return ceil_div_u32(ceil_div_u32(outputs, even), unit) * unit;
}

static uint32_t moved(uint32_t offset, size_t bytes)
{
    return offset == MONA_NONE ? MONA_NONE : offset + (uint32_t)bytes;
}

/* A tensor like `of`, with some of its channels. */
static uint32_t part_tensor(cutter *c, uint32_t of, uint32_t channels)
{
    mona_file_tensor t = c->model->tensors[of];
    t.name = name_of(c, t.name);
    t.channels = channels;
    return mona_writer_tensor(&c->writer, &t);
}

/* Brings an operator's input to it, if it needs that. */
static uint32_t brought(cutter *c, const mona_file_op *op, uint32_t i)
{
    return is_cut(c, op, i) ? bring(c, op->inputs[i]) : op->inputs[i];
}

/* Brings channels [first, first + count) of an input. */
static uint32_t part_input(cutter *c, const mona_file_op *op, uint32_t i, uint32_t first,
                           uint32_t count)
{
    mona_file_op slice = {.kind = MONA_OP_SLICE,
                          .input_count = 1,
                          .inputs = {op->inputs[i]},
                          .channels = {.first = first}};
    slice.name = name_of(c, op->name);
    slice.output = part_tensor(c, op->inputs[i], count);
    mona_writer_op(&c->writer, &slice);
    return slice.output;
}

/* Brings what outputs [first, first + count) read: all channels, or those of their groups. */
static uint32_t part_source(cutter *c, const mona_file_op *op, uint32_t first, uint32_t count)
{
    const uint32_t each = group_outputs(c->model, op), inputs = group_inputs(c->model, op);
    return op->conv.groups == 1
               ? brought(c, op, 0)
               : part_input(c, op, 0, first / each * inputs, count / each * inputs);
}

/* Brings the residual of outputs [first, first + count). One of a single channel is that of all. */
static uint32_t part_residual(cutter *c, const mona_file_op *op, uint32_t first, uint32_t count)
{
    return c->model->tensors[op->inputs[1]].channels == 1 ? brought(c, op, 1)
                                                          : part_input(c, op, 1, first, count);
}

/* Writes outputs [first, first + count) as a convolution. Returns their tensor. Its inputs are
 * brought, so that a group may begin with it. */
static uint32_t write_part(cutter *c, const mona_file_op *op, uint32_t first, uint32_t count)
{
    const size_t bytes = output_bytes(c->model, op);
    mona_file_op part = *op;
    part.name = name_of(c, op->name);
    part.conv.weights = moved(op->conv.weights, first * bytes);
    part.conv.bias = moved(op->conv.bias, first * sizeof(int32_t));
    part.conv.scales = moved(op->conv.scales, first * sizeof(uint16_t));
    if (op->epilogue.activation == MONA_ACT_PRELU)
        part.epilogue.slopes = moved(op->epilogue.slopes, first * sizeof(uint16_t));
    if (op->conv.groups > 1)
        part.conv.groups = (uint16_t)(count / group_outputs(c->model, op));
    part.inputs[0] = part_source(c, op, first, count);
    if (op->input_count > 1)
        part.inputs[1] = part_residual(c, op, first, count);
    part.output = part_tensor(c, op->output, count);
    mona_writer_op(&c->writer, &part);
    return part.output;
}

/* Writes outputs [first, end) as parts of `each` outputs, and CONCATs of up to MONA_OP_MAX_INPUTS
 * parts or CONCATs. Returns their tensor; for all outputs, the operator's. */
static uint32_t write_parts(cutter *c, const mona_file_op *op, uint32_t first, uint32_t end,
                            uint32_t each)
{
    const uint32_t channels = end - first;
    mona_file_op concat = {.kind = MONA_OP_CONCAT};
    uint32_t step = each;
    if (end - first <= each)
        return write_part(c, op, first, end - first);
    while (end - first > step * MONA_OP_MAX_INPUTS)
        step *= MONA_OP_MAX_INPUTS;
    for (; first < end; first += step)
        concat.inputs[concat.input_count++] =
            write_parts(c, op, first, end - first < step ? end : first + step, each);
    concat.name = name_of(c, op->name);
    concat.output = channels == c->model->tensors[op->output].channels
                        ? op->output
                        : part_tensor(c, op->output, channels);
    mona_writer_op(&c->writer, &concat);
    return concat.output;
}

/* ---- operators ------------------------------------------------------------------------------- */

static void write_whole(cutter *c, const mona_file_op *op)
{
    mona_file_op whole = *op;
    for (uint32_t i = 0; i < op->input_count; i++)
        whole.inputs[i] = brought(c, op, i);
    whole.name = name_of(c, op->name);
    mona_writer_op(&c->writer, &whole);
}

/* Writes an operator, and the STORE that follows it at once. */
static void write_op(cutter *c, const mona_file_op *op)
{
    const mona_model *m = c->model;
    const uint32_t part = part_outputs(c, op);
    if (part)
        write_parts(c, op, 0, m->tensors[op->output].channels, part);
    else if (!reads_planes(op) || c->uses[op->output].kept)
        write_whole(c, op);
    const uint32_t store = op->output == MONA_NONE ? MONA_NONE : c->uses[op->output].store;
    if (store != MONA_NONE && follows_at_once(c, &m->ops[store]))
        write_whole(c, &m->ops[store]);
}

/* ---- the call -------------------------------------------------------------------------------- */

static bool cut_into(const mona_model *model, size_t part_weights, uint8_t **bytes, size_t *size,
                     format_error *error)
{
    const mona_file_header *h = model->header;
    cutter c = {.model = model, .part_weights = part_weights};
    if (h->next || h->program_count)
        return format_fail(error, "it is a model for several sizes, or has programs");
    if (!find_uses(&c))
        return format_fail(error, "out of memory");
    mona_writer_start_from(&c.writer, model->file);
    for (uint32_t i = 0; i < h->tensor_count; i++) {
        mona_file_tensor t = model->tensors[i];
        t.name = name_of(&c, t.name);
        mona_writer_tensor(&c.writer, &t);
    }
    for (uint32_t o = 0; o < h->op_count; o++)
        if (!follows_at_once(&c, &model->ops[o]))
            write_op(&c, &model->ops[o]);
    const bool ok = mona_writer_finish(&c.writer, model->strings + h->name, h->input_count,
                                       h->output_count, bytes, size, error);
    mona_writer_free(&c.writer);
    free(c.uses);
    return ok;
}

/* Whether a cut model can be planned for all sizes. */
static bool fits(const mona_model *of, const uint8_t *bytes, size_t count, const mona_size *sizes,
                 size_t size_count)
{
    mona_model model;
    bool ok = model_open_at(&model, bytes, count, 0, of->kernels);
    for (size_t i = 0; i < size_count && ok; i++)
        ok = !model_needs_cut(&model, sizes[i]);
    return ok;
}

bool model_cut(const mona_model *model, const mona_size *sizes, size_t size_count, uint8_t **bytes,
               size_t *size, format_error *error)
{
    if (!cut_into(model, LARGE_WEIGHTS, bytes, size, error))
        return false;
    if (fits(model, *bytes, *size, sizes, size_count))
        return true;
    free(*bytes);
    return cut_into(model, MAX_WEIGHTS, bytes, size, error);
}
