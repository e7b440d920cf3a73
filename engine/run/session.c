// SPDX-License-Identifier: Apache-2.0
/* A session: a plan placed in the caller's arena, and how its rows are computed.
 *
 * Each core works in its own region of the arena. Cores share constants and the maps between
 * groups. A group begins when the previous one is complete, and inside a group no core reads data
 * that another writes; session_share.c divides the work. */
#include "engine/run/session.h"

#include "engine/libc.h"
#include "engine/op/padding.h"

/* The beginning of the arena: the session, its workers, and unless the plan is linked, a copy of it
 * with shapes and operators. */
typedef struct state_layout {
    size_t workers, plan, shapes, ops, bytes;
} state_layout;

static state_layout layout_of(const mona_plan *plan)
{
    const mona_file_header *h = plan->model.header;
    state_layout l = {.workers = align_up(sizeof(mona_session))};
    l.bytes = l.plan = l.workers + align_up(plan->cores * sizeof(worker));
    if (plan->linked)
        return l;
    l.shapes = l.plan + align_up(sizeof(mona_plan));
    l.ops = l.shapes + align_up(h->tensor_count * sizeof(mona_shape));
    l.bytes = l.ops + align_up(h->op_count * sizeof(plan_op));
    return l;
}

size_t mona_session_state_bytes(const mona_plan *plan)
{
    return layout_of(plan).bytes;
}

/* ---- one row --------------------------------------------------------------------------------- */

static uint8_t *map_of(const worker *w, const plan_op *op)
{
    return w->session->arena + w->session->plan->maps_offset + op->ring_offset;
}

/* Of a row, in a ring or map. */
static size_t row_offset(const plan_op *op, int64_t row)
{
    return (size_t)(((uint32_t)row + op->turned) % op->depth) * op->row_bytes;
}

uint8_t *mona_session_row(const worker *w, const plan_op *op, int64_t row)
{
    return (op->map ? map_of(w, op) : w->region + op->ring_offset) + row_offset(op, row);
}

int64_t mona_session_column(const plan_op *op, const plan_progress *progress)
{
    return op->map ? op->map_x_begin : progress[op->home].ring_begin;
}

uint8_t *mona_session_row_outside(const worker *w, const plan_op *op)
{
    return op->row_outside ? w->region + op->ring_offset + op->depth * op->row_bytes
                           : w->session->arena + op->zero_offset;
}

/* The same two on an AI Core, whose L1 holds rings. */
static ac_address row_at(const mona_plan *plan, const plan_op *op, int64_t row)
{
    const size_t offset = op->ring_offset + row_offset(op, row);
    return op->map ? mona_session_map_at(plan, offset) : ac_at(AC_L1, offset);
}

static ac_address row_outside_at(const mona_plan *plan, const plan_op *op)
{
    return op->row_outside ? ac_at(AC_L1, op->ring_offset + op->depth * op->row_bytes)
                           : ac_at(AC_CONSTANTS, op->zero_offset - plan->state_bytes);
}

/* Rows of a call: where they lie, and of programs (else NULL) their addresses. */
typedef struct call_rows {
    uint8_t **rows;
    ac_address *at;
} call_rows;

/* Adds a row to them; outside: the one for rows outside. */
static void add_row(const worker *w, const plan_op *op, int64_t row, bool outside, call_rows *r)
{
    const mona_plan *plan = w->session->plan;
    *r->rows++ = outside ? mona_session_row_outside(w, op) : mona_session_row(w, op, row);
    if (r->at)
        *r->at++ = outside ? row_outside_at(plan, op) : row_at(plan, op, row);
}

/* Points input i of a call at the rows of its window. */
static void point_at_window(const worker *w, const plan_op *op, uint32_t i,
                            const plan_progress *progress, mona_row_call *call, call_rows *r)
{
    const mona_plan *plan = w->session->plan;
    const plan_op *source = &plan->ops[op->writer[i]];
    const mona_span window = op->bound.run->rows(&op->bound, i, (mona_span){call->y, call->y + 1});
    const int64_t height = op->bound.input[i].height;
    call->input[i] =
        (mona_rows){r->rows, source->block_stride, mona_session_column(source, progress), r->at};
    for (int64_t y = window.begin; y < window.end; y++)
        add_row(w, source, y, y < 0 || y >= height, r);
}

/* Points at the planes that a LOAD reads, or that a STORE or the convolution it is fused into
 * writes. */
static void point_at_planes(const mona_session *s, const plan_op *op, mona_buffer *planes)
{
    const mona_plan *plan = s->plan;
    const mona_file_op *file = op->bound.op;
    if (op->bound.run->reads_planes)
        for (uint32_t i = 0; i < file->input_count; i++)
            planes[i] = op->array_writer[i] == MONA_NONE
                            ? s->inputs[file->inputs[i]]
                            : mona_session_array(s, op->array_writer[i]);
    const uint32_t store = op->bound.run->writes_planes ? (uint32_t)(op - plan->ops) : op->store;
    if (store != MONA_NONE)
        planes[0] = mona_session_planes(s, store);
}

/* ---- rows of an operator --------------------------------------------------------------------- */

/* Points call number `slot` at row p->next and at what it reads. */
void mona_session_point_at(const worker *w, const plan_op *op, const plan_progress *progress,
                           mona_row_call *call, int64_t y, uint32_t slot)
{
    const mona_plan *plan = w->session->plan;
    uint8_t *window = w->region + plan->window_offset + slot * plan->window_bytes;
    call_rows r = {(uint8_t **)(void *)window, NULL};
    if (mona_plan_on_ai_core(plan))
        r.at = (ac_address *)(void *)(window + plan->window_bytes / 2);
    call->scratch = w->region + plan->scratch_offset + slot * plan->scratch_bytes;
    call->y = y;
    for (uint32_t i = 0; i < op->bound.op->input_count; i++)
        if (op->writer[i] != MONA_NONE)
            point_at_window(w, op, i, progress, call, &r);
    if (op->depth) {
        call->output =
            (mona_rows){r.rows, op->block_stride, mona_session_column(op, progress), r.at};
        add_row(w, op, y, false, &r);
    }
}

mona_row_call mona_session_call(worker *w, const plan_op *op, const plan_progress *p,
                                mona_buffer planes[MONA_OP_MAX_INPUTS])
{
    const mona_plan *plan = w->session->plan;
    const mona_span columns = mona_plan_columns(op, p);
    point_at_planes(w->session, op, planes);
    return (mona_row_call){
        .bound = &op->bound,
        .core = &w->core,
        .x_begin = columns.begin,
        .x_end = columns.end,
        .planes = planes,
        .store = op->store != MONA_NONE ? &plan->ops[op->store].bound : NULL,
    };
}

/* Computes the rows of operator `index` that the strip needs. noinline, so that it is the same code
 * whether it is observed or not. */
__attribute__((noinline)) void mona_session_run_rows(worker *w, uint32_t index,
                                                     plan_progress *progress)
{
    const mona_plan *plan = w->session->plan;
    const plan_op *op = &plan->ops[index];
    plan_progress *p = &progress[index];
    if (p->next >= p->need || mona_plan_is_idle(plan, index))
        return;
    mona_buffer planes[MONA_OP_MAX_INPUTS];
    mona_row_call call = mona_session_call(w, op, p, planes);
    for (; p->next < p->need; p->next++, call.follows = true) {
        mona_session_point_at(w, op, progress, &call, p->next, 0);
        op->bound.run->row(&call);
    }
}

void mona_session_run_strip(worker *w, const plan_group *g, plan_progress *progress)
{
    for (uint32_t o = g->first; o < g->last; o++)
        mona_session_run_rows(w, o, progress);
}

/* ---- one group ------------------------------------------------------------------------------- */

/* Clears columns [begin, end) of a channel block of a row whose first column is `first`. */
static void clear_columns(const worker *w, const plan_op *op, int64_t y, uint32_t block,
                          int64_t first, mona_span columns)
{
    const size_t column = op->bound.output_c0 * mona_type_size(op->bound.output.type);
    if (columns.begin < columns.end)
        mona_fill_padding(mona_session_row(w, op, y) + block * op->block_stride +
                              (size_t)(columns.begin - first) * column,
                          (size_t)(columns.end - columns.begin) * column,
                          mona_padding(&op->bound.output));
}

/* The same of all rows and channel blocks of a ring. */
static void clear_ring(const worker *w, const plan_op *op, int64_t first, mona_span columns)
{
    for (uint32_t y = 0; y < op->depth; y++)
        for (uint32_t block = 0; block < mona_plan_blocks(op); block++)
            clear_columns(w, op, y, block, first, columns);
}

/* Clears what the operator will not write of channel blocks [first, last) of a map, in the unit's
 * rows and columns, to which the margins beside them belong. Other cores may write the other
 * columns. */
static void clear_blocks(const worker *w, const plan_op *op, const plan_progress *p, uint32_t first,
                         uint32_t last)
{
    const mona_bound_op *b = &op->bound;
    const int64_t width = b->output.width;
    const mona_span made = mona_plan_columns(op, p);
    const int64_t begin = made.begin > 0 ? made.begin : op->map_x_begin;
    const int64_t end = made.end < width ? made.end : op->map_x_begin + op->columns;
    for (uint32_t block = first; block < last; block++) {
        const bool filled = (block + 1) * b->output_c0 <= b->output.channels;
        for (int64_t y = p->begin; y < p->end; y++) {
            clear_columns(w, op, y, block, op->map_x_begin,
                          (mona_span){begin, filled ? made.begin : end});
            clear_columns(w, op, y, block, op->map_x_begin,
                          (mona_span){filled ? made.end : end, end});
        }
    }
}

/* Clears what the operator will not write of a map, in the unit. */
static void clear_map(const worker *w, const plan_op *op, const plan_progress *p)
{
    const mona_bound_op *b = &op->bound;
    if (!b->placed) {
        clear_blocks(w, op, p, 0, mona_plan_blocks(op));
        return;
    }
    for (uint32_t i = 0; i < b->op->input_count; i++) {
        const mona_channels part = mona_channels_part(b, i);
        if (!(b->placed >> i & 1))
            clear_blocks(w, op, p, part.to / b->output_c0,
                         ceil_div_u32(part.to + part.count, b->output_c0));
    }
}

/* Columns outside the tensor are padding, and so are the channels that fill up the
 * last block. Some operators write neither. In a plan of a single group every ring belongs to its
 * tensor and begins as zeros, so that only the padding has to be cleared, which moves from unit to
 * unit. The memory of a map has held other maps; with several groups the memory of a ring has held
 * other rings. */
static void clear_padding(const worker *w, const plan_group *g, const plan_progress *progress)
{
    const mona_plan *plan = w->session->plan;
    const bool alone = g->last - g->first == plan->model.header->op_count;
    for (uint32_t o = g->first; o < g->last; o++) {
        const plan_op *op = &plan->ops[o];
        const plan_progress *p = &progress[o];
        const int64_t first = p->ring_begin, width = op->bound.output.width;
        if (op->map)
            clear_map(w, op, p);
        else if (!mona_plan_has_ring(plan, o))
            continue;
        else if (alone) {
            clear_ring(w, op, first, (mona_span){first, 0});
            clear_ring(w, op, first, (mona_span){width, p->ring_end});
        } else if (first < 0 || p->ring_end > width ||
                   op->bound.output.channels % op->bound.output_c0)
            clear_ring(w, op, first, (mona_span){first, first + op->columns});
    }
}

int64_t mona_session_begin_unit(worker *w, const plan_group *g, uint32_t band, mona_span rows,
                                mona_span columns)
{
    plan_progress *progress = mona_session_progress(w);
    mona_schedule_unit(w->session->plan, g, rows, columns, progress);
    clear_padding(w, g, progress);
    return mona_schedule_start(w->session->plan, g, band, rows.begin, progress);
}

void mona_session_run_until(worker *w, const plan_group *g, int64_t position, int64_t end)
{
    const mona_plan *plan = w->session->plan;
    plan_progress *progress = mona_session_progress(w);
    while (position < end) {
        position = position + plan->strip_rows < end ? position + plan->strip_rows : end;
        mona_schedule_strip(plan, g, position, progress);
        session_strip(w, g, progress);
    }
}

void mona_session_run_unit(worker *w, const plan_group *g, uint32_t band, mona_span rows,
                           mona_span columns)
{
    mona_session_run_until(w, g, mona_session_begin_unit(w, g, band, rows, columns), rows.end);
}

void mona_session_run_tiles(worker *w, const plan_group *g, uint32_t share)
{
    const uint32_t tiles = g->parts * g->tiles;
    const uint32_t shares = mona_session_shares(w->session, g);
    const size_t end = share_begin(tiles, share + 1, shares);
    for (size_t i = share_begin(tiles, share, shares); i < end; i++) {
        const uint32_t band = (uint32_t)i / g->tiles, tile = (uint32_t)i % g->tiles;
        mona_session_run_unit(w, g, band, mona_schedule_rows(g, band),
                              mona_schedule_columns(w->session->plan, g, tile));
    }
}

/* The map of an operator from column 0 of the tensor on. */
static mona_map view_of(const worker *w, const plan_op *op)
{
    const size_t column = op->bound.output_c0 * mona_type_size(op->bound.output.type);
    return (mona_map){map_of(w, op) + (size_t)-op->map_x_begin * column, op->block_stride,
                      op->row_bytes};
}

/* Clears the margins of the call's share of a map. */
static void clear_margins(const worker *w, const plan_op *op, const mona_map_call *call)
{
    const mona_bound_op *b = &op->bound;
    const uint64_t padding = mona_padding(&b->output);
    const size_t column = b->output_c0 * mona_type_size(b->output.type);
    const size_t left = (size_t)-op->map_x_begin * column, end = left + b->output.width * column;
    for (uint32_t y = call->y_begin; y < call->y_end; y++)
        for (uint32_t block = call->block_begin; block < call->block_end; block++) {
            uint8_t *row = mona_session_row(w, op, y) + block * op->block_stride;
            mona_fill_padding(row, left, padding);
            mona_fill_padding(row + end, op->columns * column - end, padding);
        }
}

/* Runs a share of a group on whole maps or arrays. */
void mona_session_run_map(worker *w, const plan_group *g, uint32_t share)
{
    const mona_plan *plan = w->session->plan;
    const plan_op *op = &plan->ops[g->first];
    if (op->bound.run->array) {
        mona_session_run_array(w, g, share);
        return;
    }
    const uint32_t all = g->by_channels ? mona_plan_blocks(op) : op->bound.output.height;
    const uint32_t begin = (uint32_t)share_begin(all, share, g->parts);
    const uint32_t end = (uint32_t)share_begin(all, share + 1, g->parts);
    mona_map_call call = {
        .bound = &op->bound,
        .scratch = w->region + plan->scratch_offset,
        .y_begin = g->by_channels ? 0 : begin,
        .y_end = g->by_channels ? op->bound.output.height : end,
        .block_begin = g->by_channels ? begin : 0,
        .block_end = g->by_channels ? end : mona_plan_blocks(op),
        .output = view_of(w, op),
    };
    for (uint32_t i = 0; i < op->bound.op->input_count; i++)
        call.input[i] = view_of(w, &plan->ops[op->writer[i]]);
    if (op->columns > op->bound.output.width)
        clear_margins(w, op, &call);
    op->bound.run->map(&call);
}

/* ---- opening and running --------------------------------------------------------------------- */

static void place_worker(mona_session *s, uint32_t index)
{
    const mona_plan *plan = s->plan;
    uint8_t *region = s->arena + plan->core_offset + index * plan->core_bytes;
    worker *w = &s->workers[index];
    *w = (worker){.session = s, .region = region, .index = index};
    w->core = (ac_core){.target = plan->target};
    /* Padding, and the slack that row programs may read, must be finite. */
    memset(region, 0, plan->core_bytes);
}

bool mona_session_lends(const mona_session *session, const mona_plan *plan)
{
    const mona_plan *own = session->plan;
    const mona_file_header *h = plan->model.header;
    if (own->model.header != h || own->isa != plan->isa || own->target != plan->target)
        return false;
    for (uint32_t t = 0; t < h->tensor_count; t++)
        if (own->shapes[t].height != plan->shapes[t].height ||
            own->shapes[t].width != plan->shapes[t].width)
            return false;
    return true;
}

static void bind_op(const mona_plan *plan, mona_bound_op *b, void *constants)
{
    const mona_op_class *class = mona_ops[b->op->kind];
    const mona_op_program *program = mona_plan_program_of(plan, b->op->kind);
    if (class->bind && !(program && program->tables_bytes))
        class->bind(b);
    if (program && (program->emit || program->array) && (!program->missing || !program->missing(b)))
        b->program = program;
    if (b->program && b->program->bind)
        b->program->bind(b, constants);
}

static void bind_constants(const mona_plan *plan, plan_op *ops, uint8_t *arena)
{
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        if (plan->shared)
            ops[o].bound.constants = plan->shared->plan->ops[o].bound.constants;
        if (!mona_plan_packs(plan))
            continue;
        const plan_op *op = &ops[o];
        uint8_t *constants = arena + op->constants_offset;
        ops[o].bound.constants = op->tables_bytes ? arena + op->tables_offset : constants;
        ops[o].bound.resident = ac_at(AC_CONSTANTS, op->constants_offset - plan->state_bytes);
        bind_op(plan, &ops[o].bound, constants);
    }
}

/* Copies the plan to the arena and binds its constants. */
static const mona_plan *copy_plan(const mona_plan *plan, uint8_t *arena)
{
    const mona_file_header *h = plan->model.header;
    const state_layout l = layout_of(plan);
    mona_plan *copy = (mona_plan *)(void *)(arena + l.plan);
    mona_shape *shapes = (mona_shape *)(void *)(arena + l.shapes);
    plan_op *ops = (plan_op *)(void *)(arena + l.ops);
    *copy = *plan;
    copy->shapes = memcpy(shapes, plan->shapes, h->tensor_count * sizeof *shapes);
    copy->ops = memcpy(ops, plan->ops, h->op_count * sizeof *ops);
    bind_constants(copy, ops, arena);
    return copy;
}

static mona_status check_arena(const mona_plan *plan, const void *arena, size_t bytes)
{
    return bytes < plan->arena_bytes || (uintptr_t)arena % MONA_ALIGNMENT ? MONA_ERR_ARENA
                                                                          : MONA_OK;
}

mona_status mona_session_start(mona_session **session, const mona_plan *plan, void *arena,
                               size_t bytes)
{
    if (!session || !arena)
        return MONA_ERR_ARGUMENT;
    if (check_arena(plan, arena, bytes))
        return MONA_ERR_ARENA;
    mona_session *s = arena;
    memset(s, 0, sizeof *s);
    s->arena = arena;
    session_unobserved(s);
    s->run_share = mona_session_run_tiles;
    s->plan = plan;
    s->workers = (worker *)(void *)(s->arena + layout_of(plan).workers);
    memset(s->arena + plan->zero_offset, 0, plan->zero_bytes);
    for (uint32_t o = 0; o < plan->model.header->op_count; o++)
        if (plan->ops[o].zero_offset != plan->zero_offset)
            mona_fill_padding(s->arena + plan->ops[o].zero_offset,
                              plan->ops[o].row_bytes + MONA_ROW_SLACK,
                              mona_padding(&plan->ops[o].bound.output));
    memset(s->arena + plan->maps_offset, 0, plan->maps_bytes);
    for (uint32_t i = 0; i < plan->cores; i++)
        place_worker(s, i);
    const mona_status status = plan->device ? plan->device->ai_core->open(s)
                               : plan->crew ? plan->crew->open(s)
                                            : MONA_OK;
    if (!status)
        *session = s;
    return status;
}

mona_status mona_session_open(mona_session **session, const mona_plan *plan, void *arena,
                              size_t bytes)
{
    if (!session || !plan || !arena)
        return MONA_ERR_ARGUMENT;
    if (check_arena(plan, arena, bytes))
        return MONA_ERR_ARENA;
    return mona_session_start(session, copy_plan(plan, arena), arena, bytes);
}

static void run_alone(mona_session *s)
{
    worker *w = &s->workers[0];
    for (const plan_group *g = mona_plan_first_group(s->plan); g;
         g = mona_plan_next_group(s->plan, g))
        for (uint32_t share = 0; share < mona_session_shares(s, g); share++)
            mona_session_run_share(w, g, share);
}

void mona_session_drop_lines(mona_session *s)
{
    if (s) {
        s->pushed = s->pulled = 0;
        s->step.group = NULL;
    }
}

bool mona_session_takes_all(const mona_plan *plan, const mona_buffer *inputs,
                            const mona_buffer *outputs)
{
    const mona_file_header *h = plan->model.header;
    for (uint32_t i = 0; inputs && i < h->input_count; i++)
        if (!mona_session_takes(plan, i, &inputs[i]))
            return false;
    for (uint32_t i = 0; outputs && i < h->output_count; i++)
        if (!mona_session_takes(plan, h->input_count + i, &outputs[i]))
            return false;
    return true;
}

mona_status mona_session_run(mona_session *s, const mona_buffer *inputs, const mona_buffer *outputs)
{
    if (!s || !inputs || !outputs || !mona_session_takes_all(s->plan, inputs, outputs))
        return MONA_ERR_ARGUMENT;
    mona_session_drop_lines(s);
    s->inputs = inputs;
    s->outputs = outputs;
    if (mona_plan_on_ai_core(s->plan))
        return s->plan->device->ai_core->run(s);
    if (s->plan->crew)
        s->plan->crew->run(s);
    else
        run_alone(s);
    return MONA_OK;
}

void mona_session_io_count(const mona_session *s, unsigned *inputs, unsigned *outputs)
{
    *inputs = mona_model_input_count(&s->plan->model);
    *outputs = mona_model_output_count(&s->plan->model);
}

void mona_session_close(mona_session *s)
{
    if (!s)
        return;
    if (s->plan->device && s->plan->device->ai_core->close)
        s->plan->device->ai_core->close(s);
    if (s->plan->crew)
        s->plan->crew->close(s);
}
