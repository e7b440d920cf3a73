/* What all operators on arrays share: how much work they are. */
#include "ops.h"

uint64_t mona_array_items(const mona_bound_op *b)
{
    const mona_op_class *class = mona_ops[b->op->kind];
    return class->items ? class->items(b) : mona_shape_elements(&b->output);
}

uint64_t mona_array_work(const mona_bound_op *b)
{
    const mona_op_class *class = mona_ops[b->op->kind];
    uint64_t work = mona_shape_elements(&b->output) + (class->macs ? class->macs(b) : 0);
    for (uint32_t i = 0; i < b->op->input_count; i++)
        work += mona_shape_elements(&b->input[i]);
    return work;
}
