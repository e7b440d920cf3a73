/* What a plan tells: sizes, shapes, and where every byte of an arena goes. */
#include "plan.h"

/* Largest stack any function of a run may use, over all kernels; tests/e2e/library.sh checks it
 * against the compiler's own figures. */
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

const char *mona_plan_isa(const mona_plan *plan)
{
    return plan->isa->name;
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

/* Name of the tensor an operator writes. */
static const char *output_name(const mona_plan *plan, uint32_t op)
{
    const mona_model *m = &plan->model;
    return m->strings + m->tensors[m->ops[op].output].name;
}

/* Regions of one core, in the order lay_out() placed them. */
static bool core_buffer_at(const mona_plan *plan, size_t base, unsigned index, mona_plan_buffer *b)
{
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        const plan_op *op = &plan->ops[o];
        if (op->depth && !op->map && index-- == 0) {
            *b = (mona_plan_buffer){output_name(plan, o), "ring", base + op->ring_offset,
                                    op->row_bytes * op->depth, op->depth};
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
        {"row pointers", plan->window_offset, plan->buffers_offset},
        {"L0 and UB", plan->buffers_offset,
         plan->modelled ? plan->modelled_offset : plan->core_bytes},
        {"model", plan->modelled ? plan->modelled_offset : plan->core_bytes, plan->core_bytes},
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
    for (uint32_t o = 0; o < plan->model.header->op_count; o++)
        count += plan->ops[o].depth > 0 && !plan->ops[o].map;
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
        if (op->constants_bytes && index-- == 0) {
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
                                plan->core_offset - plan->maps_offset, 0};
        return true;
    }
    const unsigned per_core = core_buffer_count(plan);
    const size_t core = index / per_core;
    return core < plan->cores &&
           core_buffer_at(plan, plan->core_offset + core * plan->core_bytes, index % per_core, b);
}
