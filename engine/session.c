/* A session: a plan placed in the caller's arena, and the threads that run it.
 *
 * Each core works through its own band of rows, tile by tile, in its own region of the arena; cores
 * share only constants, so a run needs no lock but the one that starts and ends it. */
#include "plan.h"

#include "libc.h"
#include "port/port.h"

typedef struct worker {
    mona_session *session;
    ac_core core;
    uint8_t *region;
    mona_port_thread thread;
    uint32_t index;
    bool started;
} worker;

struct mona_session {
    mona_plan *plan;
    uint8_t *arena;
    worker *workers; /* [plan->cores]; 0 is the thread that calls mona_session_run */
    mona_port_mutex mutex;
    mona_port_condition changed;
    uint64_t generation; /* runs started */
    uint32_t running;    /* workers that have not finished the current run */
    bool stop;
    const mona_buffer *inputs, *outputs;
};

static size_t plan_copy_bytes(const mona_plan *plan)
{
    return offsetof(mona_plan, ops) + plan->model.header->op_count * sizeof(plan_op);
}

static size_t plan_copy_offset(void)
{
    return align_up(sizeof(mona_session));
}

static size_t workers_offset(const mona_plan *plan)
{
    return plan_copy_offset() + align_up(plan_copy_bytes(plan));
}

size_t mona_session_state_bytes(const mona_plan *plan)
{
    return workers_offset(plan) + plan->cores * sizeof(worker);
}

/* ---- one row --------------------------------------------------------------------------------- */

static uint8_t *ring_row(const worker *w, const plan_op *op, int64_t row)
{
    return w->region + op->ring_offset + (size_t)(row % op->depth) * op->row_bytes;
}

/* Points input i of a call at the rows of its window, rows outside the tensor being zeros. */
static size_t point_at_window(const worker *w, const plan_op *op, uint32_t i,
                              const plan_progress *progress, mona_row_call *call, uint8_t **rows)
{
    const mona_plan *plan = w->session->plan;
    const plan_op *source = &plan->ops[op->writer[i]];
    const mona_span window =
        mona_ops[op->bound.op->kind]->rows(&op->bound, i, (mona_span){call->y, call->y + 1});
    const int64_t height = op->bound.input[i].height;
    for (int64_t y = window.begin; y < window.end; y++)
        rows[y - window.begin] =
            y < 0 || y >= height ? w->session->arena + plan->zero_offset : ring_row(w, source, y);
    call->input[i] = (mona_rows){rows, source->block_stride, progress[op->writer[i]].x_begin};
    return (size_t)(window.end - window.begin);
}

/* Planes a LOAD reads, or a STORE (or the convolution it is fused into) writes. */
static void point_at_planes(const mona_session *s, const plan_op *op, mona_buffer *planes)
{
    const mona_plan *plan = s->plan;
    const mona_file_op *file = op->bound.op;
    if (file->kind == MONA_OP_LOAD)
        for (uint32_t i = 0; i < file->input_count; i++)
            planes[i] = s->inputs[file->inputs[i]];
    const plan_op *store = file->kind == MONA_OP_STORE ? op
                           : op->store != MONA_NONE    ? &plan->ops[op->store]
                                                       : NULL;
    if (store)
        planes[0] = s->outputs[store->bound.op->output - plan->model.header->input_count];
}

/* Makes the rows of operator `index` that the strip needs. */
static void run_rows(worker *w, uint32_t index, plan_progress *progress)
{
    const mona_session *s = w->session;
    const mona_plan *plan = s->plan;
    const plan_op *op = &plan->ops[index];
    plan_progress *p = &progress[index];
    if (p->next >= p->need)
        return;
    /* A fused STORE has run as part of its convolution. */
    if (op->bound.op->kind == MONA_OP_STORE && plan->ops[op->writer[0]].store == index)
        return;
    const mona_op_class *class = mona_ops[op->bound.op->kind];
    const mona_span columns = mona_plan_columns(op, p);
    mona_buffer planes[MONA_OP_MAX_INPUTS];
    point_at_planes(s, op, planes);
    mona_row_call call = {
        .bound = &op->bound,
        .core = &w->core,
        .scratch = w->region + plan->scratch_offset,
        .x_begin = columns.begin,
        .x_end = columns.end,
        .planes = planes,
        .store = op->store != MONA_NONE ? &plan->ops[op->store].bound : NULL,
    };
    for (; p->next < p->need; p->next++) {
        uint8_t **rows = (uint8_t **)(void *)(w->region + plan->window_offset);
        call.y = p->next;
        for (uint32_t i = 0; i < op->bound.op->input_count; i++)
            if (op->writer[i] != MONA_NONE)
                rows += point_at_window(w, op, i, progress, &call, rows);
        if (op->depth) {
            *rows = ring_row(w, op, p->next);
            call.output = (mona_rows){rows, op->block_stride, p->x_begin};
        }
        class->row(&call);
    }
}

/* ---- one unit -------------------------------------------------------------------------------- */

/* Ring columns outside the tensor are zero padding: nothing writes them, so they are cleared once.
 */
static void clear_padding(const worker *w, const plan_progress *progress)
{
    const mona_plan *plan = w->session->plan;
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        const plan_op *op = &plan->ops[o];
        const mona_span columns = mona_plan_columns(op, &progress[o]);
        if (op->depth && (columns.begin > progress[o].x_begin || columns.end < progress[o].x_end))
            memset(w->region + op->ring_offset, 0, op->row_bytes * op->depth);
    }
}

static void run_unit(worker *w, uint32_t tile)
{
    const mona_plan *plan = w->session->plan;
    plan_progress *progress = (plan_progress *)(void *)(w->region + plan->progress_offset);
    mona_schedule_unit(plan, w->index, tile, progress);
    clear_padding(w, progress);
    const int64_t end = mona_schedule_rows(plan, w->index).end;
    int64_t position = mona_schedule_start(plan, w->index, progress);
    while (position < end) {
        position = position + plan->strip_rows < end ? position + plan->strip_rows : end;
        mona_schedule_strip(plan, position, progress);
        for (uint32_t o = 0; o < plan->model.header->op_count; o++)
            run_rows(w, o, progress);
    }
}

static void run_band(worker *w)
{
    for (uint32_t tile = 0; tile < w->session->plan->tiles; tile++)
        run_unit(w, tile);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *work(void *argument)
{
    worker *w = argument;
    mona_session *s = w->session;
    uint64_t seen = 0;
    mona_port_lock(&s->mutex);
    for (;;) {
        while (!s->stop && s->generation == seen)
            mona_port_wait(&s->changed, &s->mutex);
        if (s->stop)
            break;
        seen = s->generation;
        mona_port_unlock(&s->mutex);
        run_band(w);
        mona_port_lock(&s->mutex);
        if (--s->running == 0)
            mona_port_broadcast(&s->changed);
    }
    mona_port_unlock(&s->mutex);
    return NULL;
}

static void place_worker(mona_session *s, uint32_t index)
{
    const mona_plan *plan = s->plan;
    const ac_target *t = plan->target;
    uint8_t *region = s->arena + plan->core_offset + index * plan->core_bytes;
    uint8_t *buffers = region + plan->buffers_offset;
    worker *w = &s->workers[index];
    *w = (worker){.session = s, .region = region, .index = index};
    w->core = (ac_core){.target = t, .isa = plan->isa};
    if (!plan->isa->conv_row) {
        w->core.l0a = buffers;
        w->core.l0b = w->core.l0a + t->l0a_bytes;
        w->core.l0c = w->core.l0b + t->l0b_bytes;
        w->core.ub = w->core.l0c + t->l0c_bytes;
    }
    /* Padding and the slack that row programs may read stay finite. */
    memset(region, 0, plan->core_bytes);
}

static void bind_constants(mona_session *s)
{
    mona_plan *plan = s->plan;
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        plan_op *op = &plan->ops[o];
        const mona_op_class *class = mona_ops[op->bound.op->kind];
        op->bound.constants = s->arena + op->constants_offset;
        if (class->bind)
            class->bind(&op->bound);
    }
}

mona_status mona_session_open(mona_session **session, const mona_plan *plan, void *arena,
                              size_t bytes)
{
    if (!session || !plan || !arena)
        return MONA_ERR_ARGUMENT;
    if (bytes < plan->arena_bytes || (uintptr_t)arena % MONA_ALIGNMENT)
        return MONA_ERR_ARENA;
    mona_session *s = arena;
    memset(s, 0, sizeof *s);
    s->arena = arena;
    s->plan = (mona_plan *)(void *)(s->arena + plan_copy_offset());
    s->workers = (worker *)(void *)(s->arena + workers_offset(plan));
    memcpy(s->plan, plan, plan_copy_bytes(plan));
    memset(s->arena + plan->zero_offset, 0, plan->zero_bytes);
    bind_constants(s);
    mona_port_mutex_init(&s->mutex);
    mona_port_condition_init(&s->changed);
    for (uint32_t i = 0; i < plan->cores; i++)
        place_worker(s, i);
    for (uint32_t i = 1; i < plan->cores; i++) {
        worker *w = &s->workers[i];
        w->started = mona_port_thread_start(&w->thread, work, w);
        if (!w->started) {
            mona_session_close(s);
            return MONA_ERR_THREADS;
        }
    }
    *session = s;
    return MONA_OK;
}

mona_status mona_session_run(mona_session *s, const mona_buffer *inputs, const mona_buffer *outputs)
{
    if (!s || !inputs || !outputs)
        return MONA_ERR_ARGUMENT;
    const mona_file_header *h = s->plan->model.header;
    for (uint32_t i = 0; i < h->input_count; i++)
        if (!inputs[i].data)
            return MONA_ERR_ARGUMENT;
    for (uint32_t i = 0; i < h->output_count; i++)
        if (!outputs[i].data)
            return MONA_ERR_ARGUMENT;
    mona_port_lock(&s->mutex);
    s->inputs = inputs;
    s->outputs = outputs;
    s->running = s->plan->cores - 1;
    s->generation++;
    mona_port_broadcast(&s->changed);
    mona_port_unlock(&s->mutex);
    run_band(&s->workers[0]);
    mona_port_lock(&s->mutex);
    while (s->running)
        mona_port_wait(&s->changed, &s->mutex);
    mona_port_unlock(&s->mutex);
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
    mona_port_lock(&s->mutex);
    s->stop = true;
    mona_port_broadcast(&s->changed);
    mona_port_unlock(&s->mutex);
    for (uint32_t i = 1; i < s->plan->cores; i++)
        if (s->workers[i].started)
            mona_port_thread_join(&s->workers[i].thread);
    mona_port_condition_destroy(&s->changed);
    mona_port_mutex_destroy(&s->mutex);
}
