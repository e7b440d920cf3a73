// SPDX-License-Identifier: Apache-2.0
/* Queries about a plan: sizes, shapes, and where every byte of an arena goes. */
#include "engine/layout/layout.h"

/* Largest stack of any function of a run, over all kernels. tests/e2e/engine/library.sh checks it
 * against the compiler's figures. */
enum { STACK_BYTES = 64 * 1024 };

size_t mona_plan_arena_bytes(const mona_plan *plan)
{
    return plan->arena_bytes;
}

size_t mona_plan_stack_bytes(const mona_plan *plan)
{
    (void)plan;
    return STACK_BYTES;
}

unsigned mona_plan_threads(const mona_plan *plan)
{
    return plan->cores;
}

const mona_model *mona_plan_model(const mona_plan *plan)
{
    return &plan->model;
}

const char *mona_plan_isa(const mona_plan *plan)
{
    return mona_plan_on_ai_core(plan) ? plan->target->name : plan->isa->name;
}

uint64_t mona_plan_macs(const mona_plan *plan)
{
    uint64_t macs = 0;
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        const plan_op *op = &plan->ops[o];
        const mona_op_class *class = mona_ops[op->bound.op->kind];
        macs += class->macs ? class->macs(&op->bound) : 0;
    }
    return macs;
}

mona_status mona_plan_lines(const mona_plan *plan, mona_lines *lines)
{
    if (!plan || !lines)
        return MONA_ERR_ARGUMENT;
    *lines = plan->lines;
    return plan->lines.count ? MONA_OK : MONA_ERR_UNSUPPORTED;
}

/* ---- operators ------------------------------------------------------------------------------ */

/* Bytes of a tensor as it is stored. c0 0: planes, which have no padded channels. */
static uint64_t tensor_bytes(const mona_shape *s, uint32_t c0)
{
    const uint64_t channels = c0 ? ((uint64_t)s->channels + c0 - 1) / c0 * c0 : s->channels;
    return channels * s->height * s->width * mona_type_size(s->type);
}

/* Adds the bytes of a tensor to those of planes and maps, or to those of rings. */
static void add_bytes(mona_op_info *info, const mona_shape *s, uint32_t c0, bool map)
{
    *(!c0 || map ? &info->plane_bytes : &info->ring_bytes) += tensor_bytes(s, c0);
}

/* A CONCAT or SLICE reads and writes the channels that it copies. */
static void add_copies(const mona_plan *plan, const plan_op *op, mona_op_info *info)
{
    const mona_bound_op *b = &op->bound;
    for (uint32_t i = 0; i < b->op->input_count; i++) {
        const bool slice = b->op->kind == MONA_OP_SLICE;
        const mona_shape *s = slice ? &b->output : &b->input[i];
        if (b->placed >> i & 1)
            continue;
        add_bytes(info, s, b->input_c0[i], plan->ops[op->writer[i]].map);
        add_bytes(info, s, b->output_c0, op->map);
    }
}

static void add_traffic(const mona_plan *plan, const plan_op *op, mona_op_info *info)
{
    if (op->bound.op->kind == MONA_OP_CONCAT || op->bound.op->kind == MONA_OP_SLICE) {
        add_copies(plan, op, info);
        return;
    }
    for (uint32_t i = 0; i < op->bound.op->input_count; i++)
        add_bytes(info, &op->bound.input[i], op->bound.input_c0[i],
                  op->writer[i] != MONA_NONE && plan->ops[op->writer[i]].map);
    if (op->store != MONA_NONE)
        add_bytes(info, &plan->ops[op->store].bound.output, 0, false);
    else
        add_bytes(info, &op->bound.output, op->bound.output_c0, op->map);
}

static const plan_group *group_of(const mona_plan *plan, uint32_t index)
{
    const plan_group *g = mona_plan_first_group(plan);
    while (index >= g->last)
        g = mona_plan_next_group(plan, g);
    return g;
}

/* Rows of a strip and columns of a tile, rounded up. On whole maps there are neither. */
static void add_tile(const mona_plan *plan, uint32_t index, mona_op_info *info)
{
    const plan_group *g = group_of(plan, index);
    const mona_shape *s = mona_plan_progress_shape(&plan->ops[index]);
    const uint64_t rows = (uint64_t)plan->strip_rows * s->height + g->grid_height - 1;
    info->rows = g->whole_maps || rows / g->grid_height > s->height
                     ? s->height
                     : (uint32_t)(rows / g->grid_height);
    info->columns = g->whole_maps ? s->width : (s->width + g->tiles - 1) / g->tiles;
}

bool mona_plan_op_at(const mona_plan *plan, unsigned index, mona_op_info *info)
{
    if (index >= plan->model.header->op_count)
        return false;
    const plan_op *op = &plan->ops[index];
    const mona_op_class *class = mona_ops[op->bound.op->kind];
    *info = (mona_op_info){
        .name = plan->model.strings + op->bound.op->name,
        .kind = class->name,
        .input = op->bound.input[0].type,
        .output = op->bound.output.type,
        .fused = mona_plan_is_idle(plan, index),
        .macs = class->macs ? class->macs(&op->bound) : 0,
        .constant_bytes = op->constants_bytes,
    };
    if (!info->fused)
        add_traffic(plan, op, info);
    add_tile(plan, index, info);
    return true;
}

/* ---- tensors between operators -------------------------------------------------------------- */

/* Bytes of an operator's output. 0: it is an output of the model, or is counted with its home. */
static uint64_t output_bytes(const mona_plan *plan, uint32_t o)
{
    const plan_op *op = &plan->ops[o];
    const bool planes = op->bound.op->kind == MONA_OP_STORE || op->store != MONA_NONE;
    if (op->array)
        return op->map_bytes;
    return planes || op->home != o ? 0 : tensor_bytes(&op->bound.output, op->bound.output_c0);
}

/* Bytes of an operator's own output, and of those computed before it that it or a later operator
 * reads. */
static uint64_t live_bytes(const mona_plan *plan, uint32_t o)
{
    uint64_t bytes = output_bytes(plan, o);
    for (uint32_t i = 0; i < o; i++)
        bytes += plan->ops[i].last_reader >= o ? output_bytes(plan, i) : 0;
    return bytes;
}

void mona_plan_tensors_of(const mona_plan *plan, mona_plan_tensors *tensors)
{
    *tensors = (mona_plan_tensors){.planned_bytes = plan->maps_bytes +
                                                    (uint64_t)plan->cores * plan->rings_bytes};
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        const uint64_t live = live_bytes(plan, o);
        tensors->all_bytes += output_bytes(plan, o);
        tensors->live_bytes = live > tensors->live_bytes ? live : tensors->live_bytes;
    }
}

/* ---- inputs and outputs ---------------------------------------------------------------------- */

static mona_tensor_info bound_info(const mona_plan *plan, mona_tensor_info info, uint32_t tensor)
{
    info.height = plan->shapes[tensor].height;
    info.width = plan->shapes[tensor].width;
    return info;
}

mona_tensor_info mona_plan_input(const mona_plan *plan, unsigned index)
{
    return bound_info(plan, mona_model_input(&plan->model, index), index);
}

mona_tensor_info mona_plan_output(const mona_plan *plan, unsigned index)
{
    return bound_info(plan, mona_model_output(&plan->model, index),
                      plan->model.header->input_count + index);
}

/* Name of the tensor that an operator writes. */
static const char *output_name(const mona_plan *plan, uint32_t op)
{
    const mona_model *m = &plan->model;
    return m->strings + m->tensors[m->ops[op].output].name;
}

/* Whether the rings of a single group are all there are. Rings of several groups lie in the same
 * place. */
static bool rings_apart(const mona_plan *plan)
{
    return !mona_plan_next_group(plan, mona_plan_first_group(plan));
}

/* Regions of one core, in the order in which lay_out() placed them. */
static bool core_buffer_at(const mona_plan *plan, size_t base, unsigned index, mona_plan_buffer *b)
{
    const bool apart = rings_apart(plan);
    if (!apart && plan->rings_bytes && index-- == 0) {
        *b = (mona_plan_buffer){"of each group in turn", "rings", base, plan->rings_bytes, 0};
        return true;
    }
    for (uint32_t o = 0; o < plan->model.header->op_count && apart; o++) {
        const plan_op *op = &plan->ops[o];
        if (mona_plan_has_ring(plan, o) && index-- == 0) {
            const uint32_t rows = op->depth + op->row_outside;
            *b = (mona_plan_buffer){output_name(plan, o), "ring", base + op->ring_offset,
                                    op->row_bytes * rows, rows};
            return true;
        }
    }
    const struct {
        const char *name;
        size_t begin, end;
    } parts[] = {
        {"ring slack", plan->rings_bytes, plan->progress_offset},
        {"schedule", plan->progress_offset, plan->scratch_offset},
        {"scratch", plan->scratch_offset, plan->window_offset},
        {"row pointers", plan->window_offset, plan->device_offset},
        {"buffers and model", plan->device_offset, plan->core_bytes},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].begin < parts[i].end && index-- == 0) {
            *b = (mona_plan_buffer){parts[i].name, "core", base + parts[i].begin,
                                    parts[i].end - parts[i].begin, 0};
            return true;
        }
    return false;
}

static unsigned core_buffer_count(const mona_plan *plan)
{
    mona_plan_buffer ignored;
    unsigned count = 0;
    while (core_buffer_at(plan, 0, count, &ignored))
        count++;
    return count;
}

bool mona_plan_buffer_at(const mona_plan *plan, unsigned index, mona_plan_buffer *b)
{
    if (index-- == 0) {
        *b = (mona_plan_buffer){"session", "state", 0, plan->state_bytes, 0};
        return true;
    }
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        const plan_op *op = &plan->ops[o];
        if (op->constants_bytes && mona_plan_packs(plan) && index-- == 0) {
            *b = (mona_plan_buffer){plan->model.strings + op->bound.op->name, "weights",
                                    op->constants_offset, align_up(op->constants_bytes), 0};
            return true;
        }
    }
    if (index-- == 0) {
        *b = (mona_plan_buffer){"zero row", "state", plan->zero_offset,
                                plan->maps_offset - plan->zero_offset, 0};
        return true;
    }
    if (plan->maps_bytes && index-- == 0) {
        *b = (mona_plan_buffer){"between groups", "maps", plan->maps_offset,
                                plan->planes_offset - plan->maps_offset, 0};
        return true;
    }
    if (plan->planes_bytes && index-- == 0) {
        *b = (mona_plan_buffer){"inputs and outputs", "planes", plan->planes_offset,
                                plan->core_offset - plan->planes_offset, 0};
        return true;
    }
    const unsigned per_core = core_buffer_count(plan);
    const size_t core = index / per_core;
    return core < plan->cores &&
           core_buffer_at(plan, plan->core_offset + core * plan->core_bytes, index % per_core, b);
}
