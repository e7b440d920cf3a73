// SPDX-License-Identifier: Apache-2.0
/* Every offset of the arena. */
#include "engine/layout/layout.h"

/* Rows of the windows of all inputs for one output row. */
static size_t window_rows_at(const plan_op *op, int64_t y)
{
    const mona_bound_op *b = &op->bound;
    size_t rows = 1; /* one for the output row's own pointer */
    for (uint32_t i = 0; i < b->op->input_count; i++) {
        if (op->writer[i] == MONA_NONE)
            continue;
        const mona_span s = b->run->rows(b, i, (mona_span){y, y + 1});
        rows += (size_t)(s.end - s.begin);
    }
    return rows;
}

/* Row pointers of the largest call. Where windows differ from row to row, all rows are checked. */
static size_t window_rows(const mona_plan *plan)
{
    size_t max = 1;
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        const plan_op *op = &plan->ops[o];
        const int64_t rows = op->bound.run->windows_vary ? op->bound.output.height : 1;
        for (int64_t y = 0; y < rows; y++) {
            const size_t count = window_rows_at(op, y);
            max = count > max ? count : max;
        }
    }
    return max;
}

/* Scratch of one operator on one core. */
static size_t scratch_bytes(const plan_op *op)
{
    const mona_op_class *class = mona_ops[op->bound.op->kind];
    if (class->run->array || (op->group.last && op->group.whole_maps))
        return class->map_scratch_bytes ? class->map_scratch_bytes(&op->bound) : 0;
    const uint32_t columns = mona_plan_progress_shape(op)->width;
    return class->scratch_bytes ? class->scratch_bytes(&op->bound, columns) : 0;
}

/* On an AI Core the row is for those outside rings alone, which some tensors' readers need; tensors
 * whose padding is not 0 have rows of their own. */
size_t mona_plan_zero_bytes(const mona_plan *plan)
{
    const bool core = mona_plan_on_ai_core(plan);
    size_t bytes = MONA_ROW_SLACK;
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        const plan_op *op = &plan->ops[o];
        if (!(core && (op->map || !op->read_outside || mona_padding(&op->bound.output))) &&
            op->row_bytes + MONA_ROW_SLACK > bytes)
            bytes = op->row_bytes + MONA_ROW_SLACK;
    }
    return bytes;
}

static void place_zeros(mona_plan *plan, size_t *end)
{
    plan->zero_offset = place(end, plan->zero_bytes);
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        plan_op *op = &plan->ops[o];
        op->zero_offset = mona_padding(&op->bound.output) && !op->row_outside && op->read_outside
                              ? place(end, op->row_bytes + MONA_ROW_SLACK)
                              : plan->zero_offset;
    }
}

mona_status mona_plan_lay_out(mona_plan *plan)
{
    const uint32_t count = plan->model.header->op_count;
    plan->crew = plan->cores > 1 && !mona_plan_on_ai_core(plan) ? &mona_threads : NULL;
    size_t end = align_up(mona_session_state_bytes(plan)), scratch = 0;
    for (uint32_t o = 0; o < count && end < PLAN_MAX_BYTES; o++)
        plan->ops[o].tables_offset =
            place(&end, mona_plan_packs(plan) ? plan->ops[o].tables_bytes : 0);
    plan->state_bytes = end;
    plan->zero_bytes = mona_plan_zero_bytes(plan);
    for (uint32_t o = 0; o < count; o++) {
        plan_op *op = &plan->ops[o];
        op->constants_offset = place(&end, mona_plan_packs(plan) ? op->constants_bytes : 0);
        const size_t bytes = scratch_bytes(op);
        scratch = bytes > scratch ? bytes : scratch;
        if (end >= PLAN_MAX_BYTES || scratch >= PLAN_MAX_BYTES)
            return MONA_ERR_LIMIT;
    }
    place_zeros(plan, &end);
    plan->maps_offset = place(&end, plan->maps_bytes);
    plan->planes_offset = place(&end, plan->planes_bytes);
    plan->core_offset = end;
    size_t core = align_up(mona_plan_l1_bytes(plan));
    plan->progress_offset = place(&core, count * sizeof(plan_progress));
    const size_t rows = mona_plan_on_ai_core(plan) ? MONA_ROWS_AT_ONCE : 1;
    plan->scratch_bytes = align_up(scratch);
    plan->scratch_offset = place(&core, rows * plan->scratch_bytes);
    plan->window_bytes =
        align_up(window_rows(plan) *
                 (mona_plan_on_ai_core(plan) ? 2 * sizeof(ac_address) : sizeof(uint8_t *)));
    plan->window_offset = place(&core, rows * plan->window_bytes);
    plan->device_offset =
        place(&core, mona_plan_on_ai_core(plan) ? plan->device->ai_core->core_bytes(plan) : 0);
    plan->core_bytes = core;
    if (core >= PLAN_MAX_BYTES / plan->cores || end >= PLAN_MAX_BYTES)
        return MONA_ERR_LIMIT;
    plan->arena_bytes = end + core * plan->cores;
    return MONA_OK;
}

mona_status mona_plan_link(mona_plan *plan)
{
    plan->linked = true;
    return mona_plan_lay_out(plan);
}
