// SPDX-License-Identifier: Apache-2.0
/* What a network that is written as C needs: flash, memory, and work for a frame. */
#include "formats/compiler/program/emitter.h"
#include "formats/file.h"

static size_t in_lines(size_t bytes)
{
    return align_up(4 * word_count(bytes));
}

static uint64_t elements_of(const mona_shape *s, uint32_t channels)
{
    return (uint64_t)s->height * s->width * channels;
}

static uint32_t padded(uint32_t channels, uint32_t block)
{
    return block ? (uint32_t)round_up(channels, block) : channels;
}

/* Multiply-adds of row kernels, of which one takes 4 elements in 8 bits and 1 in fp16 at a time. */
static uint64_t conv_padded(const mona_bound_op *b)
{
    const mona_conv *c = b->constants;
    uint64_t steps = 0;
    for (uint32_t n = 0; n < c->blocks; n++)
        steps += mona_block_steps(c, n);
    return steps * (c->source_type == MONA_F16 ? 1 : 4) * elements_of(&b->output, 16);
}

/* Pieces of input rows that lie side by side, for each pixel and block of results. */
static uint64_t conv_runs(const mona_bound_op *b)
{
    const mona_conv *c = b->constants;
    uint64_t runs = 0;
    for (uint32_t n = 0; n < c->blocks; n++)
        runs += c->run_count[n];
    return runs * elements_of(&b->output, 1);
}

static uint64_t pool_macs(const mona_bound_op *b, uint64_t elements)
{
    const mona_file_pool *p = &b->op->pool;
    const mona_shape *in = &b->input[0];
    return elements *
           (p->kernel_h ? (uint64_t)p->kernel_h * p->kernel_w : (uint64_t)in->height * in->width);
}

static uint64_t class_macs(const mona_bound_op *b, uint64_t elements)
{
    (void)elements;
    return mona_ops[b->op->kind]->macs(b);
}

static uint8_t filter_of(const mona_bound_op *b)
{
    return mona_conv_is_depthwise(b);
}

static uint8_t planes_of(const mona_bound_op *b)
{
    return b->input[0].type != MONA_U8;
}

static uint8_t mode_of(const mona_bound_op *b)
{
    return b->op->resize.mode;
}

static uint8_t block_of(const mona_bound_op *b)
{
    return (uint8_t)(b->op->store.block - 1);
}

/* What the work of an operator on maps is counted in, besides elements, and what kernels it may
 * have; NULL: nothing, and one. */
static const struct {
    uint64_t (*steps)(const mona_bound_op *b, uint64_t elements);
    uint8_t (*variant)(const mona_bound_op *b);
} work_of[MONA_OP_COUNT] = {
    [MONA_OP_LOAD] = {NULL, planes_of},       [MONA_OP_CONV] = {class_macs, filter_of},
    [MONA_OP_STORE] = {NULL, block_of},       [MONA_OP_RESIZE] = {NULL, mode_of},
    [MONA_OP_MAX_POOL] = {pool_macs, NULL},   [MONA_OP_AVERAGE_POOL] = {pool_macs, NULL},
    [MONA_OP_ATTENTION] = {class_macs, NULL},
};

/* Kernels compute `at_once` pixels of a row, or of a whole map, with weights that are read once.
 * The last of them are some of those before, too, but there are none in a shorter row. Outputs are
 * in registers of 4, of which a block leaves out those that hold none. */
static void count_passes(emit_c_op *op, const mona_shape *made, uint64_t at_once)
{
    const uint64_t quads = padded(made->channels, 4) / 4, all = padded(made->channels, 16) / 4;
    const uint64_t row = (uint64_t)made->width * (op->variant == EMIT_C_ON_MAPS ? made->height : 1);
    const bool together = row >= at_once;
    op->passes = op->padded * quads / all / row * (together ? (row + at_once - 1) / at_once : row);
    op->padded = op->passes * (together ? at_once : 1);
}

/* Of a sample's result and of what is added to it: how many are fp16 where 8 bits are multiplied,
 * or the other way round. */
static uint64_t crossings(const mona_bound_op *b, bool half, bool residual)
{
    return ((b->output.type == MONA_F16) != half) +
           (residual && (b->input[1].type == MONA_F16) != half);
}

/* b: bound, with its constants. fused: it is a STORE that its convolution does. at_once: pixels of
 * its kernels; 0: not known. */
static emit_c_op measure_op(const mona_plan *plan, const mona_bound_op *b, bool fused,
                            const uint32_t at_once[2])
{
    const mona_op_class *class = mona_ops[b->op->kind];
    const bool array = b->run->array, loads = b->run->reads_planes && !array;
    const bool stores = b->run->writes_planes && !array;
    const mona_shape *made = stores ? &b->input[0] : &b->output;
    const uint32_t c0 = stores ? b->input_c0[0] : class->has_filter ? 16 : b->output_c0;
    const bool map = !array && b->run != class->run;
    const bool residual = class->has_filter && b->op->input_count > 1;
    emit_c_op op = {
        .kind = b->op->kind,
        .name = plan->model.strings + b->op->name,
        .array = array,
        .half = (loads ? b->output.type : b->input[0].type) == MONA_F16,
        .variant = map                            ? EMIT_C_ON_MAPS
                   : work_of[b->op->kind].variant ? work_of[b->op->kind].variant(b) + 4 * fused
                                                  : 0,
        .elements = elements_of(made, padded(made->channels, c0)),
        .rows = (uint64_t)made->height * (class->has_filter ? padded(made->channels, 16) / 16 : 1)};
    if (array) {
        emit_c_count_array(&op, b);
        return op;
    }
    op.steps = work_of[b->op->kind].steps ? work_of[b->op->kind].steps(b, op.elements) : 0;
    op.lines = class->has_filter ? made->height : 0;
    op.runs = class->has_filter ? conv_runs(b) : loads || stores ? op.rows * made->channels : 0;
    op.padded = class->has_filter ? conv_padded(b) : 0;
    if (class->has_filter && at_once[op.half] && !mona_conv_is_depthwise(b))
        count_passes(&op, made, at_once[op.half]);
    op.converted = class->has_filter ? op.elements * crossings(b, op.half, residual) : 0;
    op.extra = loads || stores || residual ? elements_of(made, made->channels) : 0;
    if (class->has_epilogue && mona_is_function(b->op->epilogue.activation_after_add))
        op.function = b->op->epilogue.activation_after_add;
    return op;
}

/* Operators that run; a STORE that is fused into its convolution counts by itself. */
static void measure_ops(const emitter *e, const emit_c_request *request, emit_c_needs *n)
{
    for (uint32_t o = 0; o < n->op_count; o++) {
        const mona_bound_op *b = &e->plan->ops[o].bound;
        const bool idle = mona_plan_is_idle(e->plan, o), map = b->run != mona_ops[b->op->kind]->run;
        mona_op_info info;
        mona_plan_op_at(e->plan, o, &info);
        n->plane_bytes += info.plane_bytes;
        n->ring_bytes += info.ring_bytes;
        n->roots |= map ? EMIT_C_MAP(b->op->kind) : EMIT_C_ROW(b->op->kind);
        n->conv_count += has_filter(b);
        n->epilogue_count += has_epilogue(b);
        if (!idle || b->run->writes_planes) {
            n->ops[n->run_count] =
                measure_op(e->plan, &e->session->plan->ops[o].bound, idle, request->at_once);
            n->ops[n->run_count++].macs = info.macs;
        }
    }
}

static uint64_t frame_bytes(const mona_plan *plan, uint32_t planes)
{
    uint64_t bytes = 0;
    for (uint32_t t = 0; t < planes; t++)
        bytes += mona_shape_elements(&plan->shapes[t]) * mona_type_size(plan->shapes[t].type);
    return bytes;
}

bool emit_c_measure(const mona_model *model, const emit_c_request *request, emit_c_needs *needs,
                    format_error *error)
{
    emitter e;
    *needs = (emit_c_needs){0};
    bool ok = emitter_open(&e, model, request, error);
    if (ok) {
        const mona_plan *bound = e.session->plan;
        const mona_file_header *h = bound->model.header;
        const uint32_t planes = h->input_count + h->output_count;
        needs->arena_bytes = e.plan->arena_bytes;
        needs->constant_bytes = in_lines(bound->zero_offset - bound->state_bytes);
        needs->record_bytes = in_lines(sizeof *h) + in_lines(planes * sizeof(mona_file_tensor)) +
                              in_lines(h->op_count * sizeof(mona_file_op)) +
                              (e.data.size ? in_lines(e.data.size) : 0);
        needs->plane_count = planes;
        needs->op_count = h->op_count;
        needs->lines = e.plan->lines;
        needs->macs = mona_plan_macs(e.plan);
        needs->frame_bytes = frame_bytes(e.plan, planes);
        needs->roots =
            EMIT_C_KERNELS(emitter_kernels(e.plan)) | (e.plan->lines.count ? EMIT_C_LINES : 0);
        needs->ops = file_alloc((h->op_count + !h->op_count) * sizeof *needs->ops);
        ok = needs->ops || format_fail(error, "out of memory");
        if (ok)
            measure_ops(&e, request, needs);
    }
    emitter_close(&e);
    return ok;
}
