// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/program/cut.h"

#include <stdlib.h>
#include <string.h>

#include "engine/model_format.h"
#include "formats/file.h"
#include "formats/mona_writer.h"

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

typedef struct cutter {
    const mona_model *model;
    mona_writer writer;
    bool *loaded; /* [tensors]: a LOAD of this tensor has been written */
} cutter;

static uint32_t name_of(cutter *c, uint32_t name)
{
    return mona_writer_string(&c->writer, c->model->strings + name);
}

/* The operator that writes a tensor; NULL: it is an input of the model. */
static const mona_file_op *writer_of(const mona_model *m, uint32_t tensor)
{
    for (uint32_t o = 0; o < m->header->op_count; o++)
        if (m->ops[o].output == tensor)
            return &m->ops[o];
    return NULL;
}

static uint32_t readers_of(const mona_model *m, uint32_t tensor)
{
    uint32_t count = 0;
    for (uint32_t o = 0; o < m->header->op_count; o++)
        for (uint32_t i = 0; i < m->ops[o].input_count; i++)
            count += m->ops[o].inputs[i] == tensor;
    return count;
}

/* Whether an input of an operator gets a SLICE or LOAD of its own. CONCATs and SLICEs read anything
 * where it lies. A STORE that is the only reader may be merged into the operator before it. */
static bool is_cut(const mona_model *m, const mona_file_op *op, uint32_t i)
{
    const mona_file_op *writer = op->inputs[i] == MONA_NONE ? NULL : writer_of(m, op->inputs[i]);
    return writer && !m->tensors[op->inputs[i]].array && !mona_copies_channels(op) &&
           !(op->kind == MONA_OP_STORE && readers_of(m, op->inputs[i]) == 1);
}

/* Whether every reader of a LOAD gets one of its own. */
static bool is_replaced(const mona_model *m, const mona_file_op *load)
{
    for (uint32_t o = 0; o < m->header->op_count; o++)
        for (uint32_t i = 0; i < m->ops[o].input_count; i++)
            if (m->ops[o].inputs[i] == load->output && !is_cut(m, &m->ops[o], i))
                return false;
    return true;
}

/* Writes what brings a tensor to a reader. Returns the tensor that it writes. */
static uint32_t bring(cutter *c, uint32_t tensor)
{
    const mona_file_op *writer = writer_of(c->model, tensor);
    mona_file_tensor t = c->model->tensors[tensor];
    mona_file_op op = {.kind = MONA_OP_SLICE, .input_count = 1, .inputs = {tensor}};
    if (writer->kind == MONA_OP_LOAD)
        op = *writer;
    t.name = name_of(c, t.name);
    op.name = name_of(c, writer->name);
    if (writer->kind == MONA_OP_LOAD && is_replaced(c->model, writer) && !c->loaded[tensor])
        c->loaded[tensor] = true; /* the first one writes the tensor itself */
    else
        op.output = mona_writer_tensor(&c->writer, &t);
    mona_writer_op(&c->writer, &op);
    return op.output;
}

/* ---- large convolutions ---------------------------------------------------------------------- */

/* Data begins at multiples of 64 bytes, and so do the weights, biases and scales of this many
 * outputs. Weights of MAX_WEIGHTS bytes leave L1 room for rings. */
enum { PART_OUTPUTS = 32, MAX_WEIGHTS = 384 << 10 };

static size_t output_bytes(const mona_model *m, const mona_file_op *op)
{
    const mona_file_tensor *in = &m->tensors[op->inputs[0]];
    return (size_t)in->channels * op->conv.kernel_h * op->conv.kernel_w *
           mona_type_size(in->type == MONA_F16 ? MONA_F16 : MONA_S8);
}

/* Outputs of each part of a convolution; 0: it stays whole. */
static uint32_t part_outputs(const mona_model *m, const mona_file_op *op)
{
    if (op->kind != MONA_OP_CONV || op->conv.groups != 1)
        return 0;
    const size_t bytes = output_bytes(m, op);
    const uint32_t part = (uint32_t)(MAX_WEIGHTS / bytes) / PART_OUTPUTS * PART_OUTPUTS;
    return bytes * m->tensors[op->output].channels > MAX_WEIGHTS ? part ? part : PART_OUTPUTS : 0;
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
    return is_cut(c->model, op, i) ? bring(c, op->inputs[i]) : op->inputs[i];
}

/* Brings the residual of outputs [first, first + count). One of a single channel is that of all. */
static uint32_t part_residual(cutter *c, const mona_file_op *op, uint32_t first, uint32_t count)
{
    if (c->model->tensors[op->inputs[1]].channels == 1)
        return brought(c, op, 1);
    mona_file_op slice = {.kind = MONA_OP_SLICE,
                          .input_count = 1,
                          .inputs = {op->inputs[1]},
                          .channels = {.first = first}};
    slice.name = name_of(c, op->name);
    slice.output = part_tensor(c, op->inputs[1], count);
    mona_writer_op(&c->writer, &slice);
    return slice.output;
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
    part.inputs[0] = brought(c, op, 0);
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

/* ---- the call -------------------------------------------------------------------------------- */

bool model_cut(const mona_model *model, uint8_t **bytes, size_t *size, format_error *error)
{
    const mona_file_header *h = model->header;
    cutter c = {.model = model};
    if (h->next || h->program_count)
        return format_fail(error, "it is a model for several sizes, or has programs");
    c.loaded = calloc(h->tensor_count, sizeof *c.loaded);
    if (!c.loaded)
        return format_fail(error, "out of memory");
    mona_writer_start_from(&c.writer, model->file);
    for (uint32_t i = 0; i < h->tensor_count; i++) {
        mona_file_tensor t = model->tensors[i];
        t.name = name_of(&c, t.name);
        mona_writer_tensor(&c.writer, &t);
    }
    for (uint32_t o = 0; o < h->op_count; o++) {
        mona_file_op op = model->ops[o];
        const uint32_t part = part_outputs(model, &model->ops[o]);
        if (part) {
            write_parts(&c, &model->ops[o], 0, model->tensors[op.output].channels, part);
            continue;
        }
        if (op.kind == MONA_OP_LOAD && is_replaced(model, &model->ops[o]))
            continue;
        for (uint32_t i = 0; i < op.input_count; i++)
            op.inputs[i] = brought(&c, &model->ops[o], i);
        op.name = name_of(&c, op.name);
        mona_writer_op(&c.writer, &op);
    }
    const bool ok = mona_writer_finish(&c.writer, model->strings + h->name, h->input_count,
                                       h->output_count, bytes, size, error);
    mona_writer_free(&c.writer);
    free(c.loaded);
    return ok;
}
