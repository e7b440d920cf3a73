// SPDX-License-Identifier: Apache-2.0
/* Second step to a plan: every tensor gets its size, every operator its sources and its
 * fusions. */
#include "engine/layout/layout.h"

#include "engine/model/model.h"

/* ---- shapes --------------------------------------------------------------------------------- */

static bool side_ok(uint64_t side)
{
    return side > 0 && side <= MONA_MAX_SIDE;
}

static mona_status input_shapes(mona_plan *plan, const mona_config *config)
{
    for (uint32_t i = 0; i < plan->model.header->input_count; i++) {
        const mona_file_tensor *t = &plan->model.tensors[i];
        const mona_size size = config->sizes[i];
        if (!size.width != !size.height ||
            (!t->array && (size.width > MONA_MAX_SIDE || size.height > MONA_MAX_SIDE)))
            return MONA_ERR_SHAPE;
        if (t->width && size.width && (t->width != size.width || t->height != size.height))
            return MONA_ERR_SHAPE;
        plan->shapes[i].height = t->height ? t->height : size.height;
        plan->shapes[i].width = t->width ? t->width : size.width;
    }
    return MONA_OK;
}

/* The inputs of a LOAD are the same grid at different densities, so one known size gives the
 * others. */
static mona_status bind_open_inputs(mona_plan *plan, const mona_file_op *op)
{
    uint64_t height = 0, width = 0;
    for (uint32_t i = 0; i < op->input_count && !height; i++) {
        height = plan->shapes[op->inputs[i]].height / op->load.block[i];
        width = plan->shapes[op->inputs[i]].width / op->load.block[i];
    }
    if (!height || !width)
        return MONA_ERR_SHAPE;
    for (uint32_t i = 0; i < op->input_count; i++) {
        mona_shape *s = &plan->shapes[op->inputs[i]];
        if (s->height)
            continue;
        if (!side_ok(height * op->load.block[i]) || !side_ok(width * op->load.block[i]))
            return MONA_ERR_SHAPE;
        s->height = (uint32_t)(height * op->load.block[i]);
        s->width = (uint32_t)(width * op->load.block[i]);
    }
    return MONA_OK;
}

/* Inputs that no LOAD reads are as large as the first one if nothing else is said. */
static mona_status bind_unread_inputs(mona_plan *plan)
{
    for (uint32_t i = 0; i < plan->model.header->input_count; i++) {
        mona_shape *s = &plan->shapes[i];
        if (!s->height) {
            s->height = plan->shapes[0].height;
            s->width = plan->shapes[0].width;
        }
        if (!plan->model.tensors[i].array && !s->height)
            return MONA_ERR_SHAPE;
    }
    return MONA_OK;
}

/* Height and width of an operator's output. Those of an array are known and must agree. */
static mona_status infer_output(mona_plan *plan, const mona_file_op *op)
{
    const mona_file_tensor *t = &plan->model.tensors[op->output];
    const mona_op_class *class = mona_ops[op->kind];
    mona_shape inputs[MONA_OP_MAX_INPUTS], *output = &plan->shapes[op->output];
    if (class->run->array)
        return MONA_OK;
    for (uint32_t i = 0; i < op->input_count; i++)
        inputs[i] = op->inputs[i] == MONA_NONE ? (mona_shape){0} : plan->shapes[op->inputs[i]];
    const mona_status status = class->infer(op, inputs, output);
    if (status)
        return status;
    if (t->array)
        return output->height == t->height && output->width == t->width ? MONA_OK : MONA_ERR_SHAPE;
    return side_ok(output->height) && side_ok(output->width) ? MONA_OK : MONA_ERR_SHAPE;
}

static mona_status bind_shapes(mona_plan *plan, const mona_config *config)
{
    const mona_model *m = &plan->model;
    for (uint32_t t = 0; t < m->header->tensor_count; t++)
        plan->shapes[t] = mona_model_shape(&m->tensors[t]);
    mona_status status = input_shapes(plan, config);
    for (uint32_t o = 0; o < m->header->op_count && !status; o++) {
        if (mona_ops[m->ops[o].kind]->run->reads_planes)
            status = bind_open_inputs(plan, &m->ops[o]);
        if (!status)
            status = infer_output(plan, &m->ops[o]);
    }
    return status ? status : bind_unread_inputs(plan);
}

/* ---- operators ------------------------------------------------------------------------------ */

/* Every tensor but the inputs is written once, so that there are as many as operators. */
static void find_writers(const mona_model *m, plan_progress *writers)
{
    for (uint32_t o = 0; o < m->header->op_count; o++)
        writers[m->ops[o].output - m->header->input_count].next = o;
}

/* The operator that writes a tensor. MONA_NONE: it is an input of the model. */
static uint32_t writer_of(const mona_model *m, const plan_progress *writers, uint32_t tensor)
{
    const uint32_t inputs = m->header->input_count;
    return tensor < inputs ? MONA_NONE : (uint32_t)writers[tensor - inputs].next;
}

/* C0 of a tensor in L1; 0: planes. It depends on type and channels only; operators whose input and
 * output agree in both rely on that. */
static uint32_t tensor_c0(const mona_plan *plan, uint32_t tensor)
{
    const mona_file_header *h = plan->model.header;
    const mona_shape *s = &plan->shapes[tensor];
    const bool planes =
        tensor < h->input_count + h->output_count || plan->model.tensors[tensor].array;
    return planes ? 0 : ac_target_c0(plan->target, s->type, s->channels);
}

static void bind_input(const mona_plan *plan, plan_op *op, uint32_t i, const plan_progress *writers)
{
    const mona_model *m = &plan->model;
    const mona_file_op *file = op->bound.op;
    const uint32_t t = file->inputs[i];
    op->writer[i] = op->array_writer[i] = MONA_NONE;
    if (t == MONA_NONE) {
        const mona_file_array *a = &file->array;
        op->bound.input[i] = (mona_shape){1, 1, a->elements[i], (mona_type)a->type[i], 0, {0}};
        return;
    }
    op->bound.input[i] = plan->shapes[t];
    op->bound.input_c0[i] = tensor_c0(plan, t);
    *(m->tensors[t].array ? &op->array_writer[i] : &op->writer[i]) = writer_of(m, writers, t);
}

static void bind_ops(mona_plan *plan, plan_progress *writers)
{
    const mona_model *m = &plan->model;
    const mona_file_header *h = m->header;
    find_writers(m, writers);
    for (uint32_t o = 0; o < m->header->op_count; o++) {
        const mona_file_op *file = &m->ops[o];
        plan_op *op = &plan->ops[o];
        *op = (plan_op){.store = MONA_NONE};
        op->bound = (mona_bound_op){
            .op = file,
            .data = m->data,
            .run = mona_ops[file->kind]->run, /* until groups are known */
            .kernel = mona_ops[file->kind]->kernel ? mona_ops[file->kind]->kernel(m, file) : NULL,
            .target = plan->target,
            .isa = plan->isa,
            .on_ai_core = mona_plan_on_ai_core(plan),
            .output = plan->shapes[file->output],
            .output_c0 = tensor_c0(plan, file->output),
        };
        op->array =
            m->tensors[file->output].array && file->output >= h->input_count + h->output_count;
        for (uint32_t i = 0; i < file->input_count; i++)
            bind_input(plan, op, i, writers);
    }
}

/* Readers come after their writer. */
static void find_readers(mona_plan *plan)
{
    const uint32_t count = plan->model.header->op_count;
    for (uint32_t o = 0; o < count; o++)
        plan->ops[o].first_reader = plan->ops[o].last_reader = o;
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t i = 0; i < plan->ops[r].bound.op->input_count; i++) {
            const plan_op *reader = &plan->ops[r];
            const uint32_t w =
                reader->writer[i] != MONA_NONE ? reader->writer[i] : reader->array_writer[i];
            if (w == MONA_NONE)
                continue;
            plan_op *writer = &plan->ops[w];
            if (writer->first_reader == w)
                writer->first_reader = r;
            writer->last_reader = r;
        }
}

/* What readers ask of the rows and columns of what they read. */
static void find_needs(mona_plan *plan)
{
    for (uint32_t r = 0; r < plan->model.header->op_count; r++) {
        const plan_op *reader = &plan->ops[r];
        const mona_bound_op *b = &reader->bound;
        const mona_op_program *program = mona_plan_program_of(plan, b->op->kind);
        const int64_t height = b->output.height;
        for (uint32_t i = 0; i < b->op->input_count; i++) {
            if (reader->writer[i] == MONA_NONE)
                continue;
            plan_op *writer = &plan->ops[reader->writer[i]];
            writer->read_outside |=
                b->run->rows(b, i, (mona_span){0, 1}).begin < 0 ||
                b->run->rows(b, i, (mona_span){height - 1, height}).end > b->input[i].height;
            writer->read_in_blocks |= i == 0 && program && program->in_blocks;
        }
    }
}

/* An operator that can writes the planes itself if its only reader stores all of its channels, and
 * its program is as fast. */
static void fuse_stores(mona_plan *plan)
{
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        plan_op *op = &plan->ops[o];
        const mona_op_class *class = mona_ops[op->bound.op->kind];
        const plan_op *store = &plan->ops[op->last_reader];
        const mona_file_op *file = store->bound.op;
        if (!class->stores || !class->stores(&op->bound) || !store->bound.run->writes_planes ||
            op->first_reader != op->last_reader)
            continue;
        const uint64_t stored =
            (uint64_t)store->bound.output.channels * file->store.block * file->store.block;
        if (stored != op->bound.output.channels)
            continue;
        op->store = op->last_reader;
        op->bound.store = file;
        op->bound.store_type = store->bound.output.type;
        const mona_op_program *program = mona_plan_program_of(plan, op->bound.op->kind);
        if (program && program->stores && !program->stores(&op->bound))
            mona_plan_part_store(op);
    }
}

/* Resets what another grouping has set. */
static void forget(plan_op *op)
{
    op->group = (plan_group){0};
    op->bound.placed = 0;
    op->map = false;
    op->map_bytes = 0;
    op->depth = 0;
}

void mona_plan_readers(mona_plan *plan)
{
    for (uint32_t o = 0; o < plan->model.header->op_count; o++)
        forget(&plan->ops[o]);
    find_readers(plan);
    fuse_stores(plan);
}

static size_t bytes_of(const plan_op *op, size_t (*bytes)(const mona_bound_op *))
{
    return bytes ? bytes(&op->bound) : 0;
}

static mona_status size_constants(mona_plan *plan)
{
    static const mona_op_program none = {0};
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        plan_op *op = &plan->ops[o];
        const mona_op_class *class = mona_ops[op->bound.op->kind];
        const mona_op_program *found = mona_plan_program_of(plan, op->bound.op->kind);
        const mona_op_program *program = found ? found : &none;
        size_t *const own = mona_plan_on_ai_core(plan) ? &op->tables_bytes : &op->constants_bytes;
        op->constants_bytes = bytes_of(op, program->constants_bytes);
        *own = bytes_of(op, program->tables_bytes ? program->tables_bytes : class->constants_bytes);
        if (op->constants_bytes >= PLAN_MAX_BYTES || op->tables_bytes >= PLAN_MAX_BYTES)
            return MONA_ERR_LIMIT;
    }
    return MONA_OK;
}

mona_status mona_plan_bind(mona_plan *plan, const mona_config *config, plan_progress *progress)
{
    const mona_status status = bind_shapes(plan, config);
    if (status)
        return status;
    bind_ops(plan, progress);
    find_needs(plan);
    mona_plan_readers(plan);
    return size_constants(plan);
}
