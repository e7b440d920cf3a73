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
    bool loaded[MONA_MAX_TENSORS]; /* a LOAD of this tensor has been written */
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

static bool copies_channels(const mona_file_op *op)
{
    return op->kind == MONA_OP_CONCAT || op->kind == MONA_OP_SLICE;
}

/* Whether an input of an operator gets a SLICE or LOAD of its own. CONCATs and SLICEs read anything
 * where it lies. A STORE that is the only reader may be merged into the operator before it. */
static bool is_cut(const mona_model *m, const mona_file_op *op, uint32_t i)
{
    const mona_file_op *writer = op->inputs[i] == MONA_NONE ? NULL : writer_of(m, op->inputs[i]);
    return writer && op->kind != MONA_OP_LOAD && !copies_channels(op) &&
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

bool model_cut(const mona_model *model, uint8_t **bytes, size_t *size, format_error *error)
{
    const mona_file_header *h = model->header;
    cutter c = {.model = model};
    if (h->next || h->program_count)
        return format_fail(error, "it is a model for several sizes, or has programs");
    mona_writer_start_from(&c.writer, model->file);
    for (uint32_t i = 0; i < h->tensor_count; i++) {
        mona_file_tensor t = model->tensors[i];
        t.name = name_of(&c, t.name);
        mona_writer_tensor(&c.writer, &t);
    }
    for (uint32_t o = 0; o < h->op_count; o++) {
        mona_file_op op = model->ops[o];
        for (uint32_t i = 0; i < op.input_count; i++)
            if (is_cut(model, &model->ops[o], i))
                op.inputs[i] = bring(&c, op.inputs[i]);
        op.name = name_of(&c, op.name);
        if (op.kind != MONA_OP_LOAD || !is_replaced(model, &model->ops[o]))
            mona_writer_op(&c.writer, &op);
    }
    const bool ok = mona_writer_finish(&c.writer, model->strings + h->name, h->input_count,
                                       h->output_count, bytes, size, error);
    mona_writer_free(&c.writer);
    return ok;
}
