// SPDX-License-Identifier: Apache-2.0
/* A session's arrays: where they lie, how they are seen as planes, and the operators that work on
 * them. */
#include "engine/run/session.h"

static uint8_t *elements_of(const mona_session *s, uint32_t writer)
{
    return s->arena + s->plan->maps_offset + s->plan->ops[writer].ring_offset;
}

mona_buffer mona_session_array(const mona_session *s, uint32_t writer)
{
    return mona_session_dense(&s->plan->ops[writer].bound.output, elements_of(s, writer));
}

mona_buffer mona_session_planes(const mona_session *s, uint32_t writer)
{
    const plan_op *op = &s->plan->ops[writer];
    return op->array ? mona_session_array(s, writer)
                     : s->outputs[op->bound.op->output - s->plan->model.header->input_count];
}

void mona_session_run_array(worker *w, const plan_group *g, uint32_t share)
{
    const mona_session *s = w->session;
    const mona_plan *plan = s->plan;
    const plan_op *op = &plan->ops[g->first];
    const mona_file_op *file = op->bound.op;
    const size_t items = (size_t)mona_array_items(&op->bound); /* an array fits the memory */
    mona_array_call call = {
        .bound = &op->bound,
        .scratch = w->region + plan->scratch_offset,
        .output = mona_session_planes(s, g->first).data,
        .begin = share_begin(items, share, g->parts),
        .end = share_begin(items, share + 1, g->parts),
    };
    for (uint32_t i = 0; i < file->input_count; i++)
        call.input[i] = file->inputs[i] == MONA_NONE ? plan->model.data + file->array.offset[i]
                        : op->array_writer[i] == MONA_NONE ? s->inputs[file->inputs[i]].data
                                                           : elements_of(s, op->array_writer[i]);
    op->bound.run->array(&call);
}

/* Strides mean nothing if there is only one row or channel. */
bool mona_session_takes(const mona_plan *plan, uint32_t tensor, const mona_buffer *b)
{
    const mona_shape *s = &plan->shapes[tensor];
    const size_t element = mona_type_size(s->type);
    const ptrdiff_t row = (ptrdiff_t)(s->width * element);
    if (!b->data || !plan->model.tensors[tensor].array)
        return b->data;
    return (uintptr_t)b->data % element == 0 && (s->height == 1 || b->row_stride == row) &&
           (s->channels == 1 || b->channel_stride == row * (ptrdiff_t)s->height);
}
