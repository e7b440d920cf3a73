/* A session: a plan placed in the caller's arena, and the threads that run it.
 *
 * Each core works through its own band of rows, tile by tile, in its own region of the arena. Cores
 * share constants and the maps between groups: a group begins when every core has ended the one
 * before, and inside a group no core reads what another writes. So a run needs no lock but those
 * that start and end it and part its groups. */
#include "plan.h"

#include "modelled.h"

#include <stdatomic.h>

#include "libc.h"
#include "port/port.h"

typedef struct worker {
    mona_session *session;
    ac_core core;
    uint8_t *region;
    mona_port_thread thread;
    uint32_t index;
    bool started;
    ac_model_report modelled; /* of the last run */
} worker;

struct mona_session {
    mona_plan *plan;
    uint8_t *arena;
    worker *workers; /* [plan->cores]; 0 is the thread that calls mona_session_run */
    mona_port_mutex mutex;
    mona_port_condition changed;
    uint64_t generation; /* runs started */
    atomic_uint arrived; /* ends of groups reached in this run, over all cores */
    bool stop;
    const mona_buffer *inputs, *outputs;
};

static void run_unit(worker *w, const plan_group *g, uint32_t tile);

/* How often a core looks before it sleeps until the others have ended their group: longer than two
 * cores with equal work are apart, shorter than a time slice. */
enum { LOOKS = 1 << 14 };

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

static uint8_t *map_of(const worker *w, const plan_op *op)
{
    return w->session->arena + w->session->plan->maps_offset + op->ring_offset;
}

/* Row of a ring or map. */
static uint8_t *row_of(const worker *w, const plan_op *op, int64_t row)
{
    uint8_t *base = op->map ? map_of(w, op) : w->region + op->ring_offset;
    return base + (size_t)(row % op->depth) * op->row_bytes;
}

/* Column that a row of a ring or map begins with. */
static int64_t first_column(const plan_op *op, const plan_progress *progress)
{
    return op->map ? op->map_x_begin : progress->x_begin;
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
            y < 0 || y >= height ? w->session->arena + plan->zero_offset : row_of(w, source, y);
    call->input[i] =
        (mona_rows){rows, source->block_stride, first_column(source, &progress[op->writer[i]])};
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

/* ---- model310 -------------------------------------------------------------------------------- */

/* Steps of the scalar unit for an element of a row that no vector program makes yet: load, work,
 * store, count. */
enum { SCALAR_STEPS = 4 };

typedef struct modelled_mark {
    mona_modelled_op before;
} modelled_mark;

static mona_modelled_op modelled_so_far(const worker *w)
{
    const ac_model_report *r = ac_model_so_far(&w->core);
    mona_modelled_op sum = {.cycles = r->cycles, .cube_useful = r->cube_useful};
    memcpy(sum.busy, r->busy, sizeof sum.busy);
    return sum;
}

static mona_modelled_op *modelled_ops(const worker *w)
{
    return (mona_modelled_op *)(void *)(w->region + w->session->plan->modelled_offset);
}

/* An operator reads rows that another has just written, so the pipes are emptied between them. */
static modelled_mark begin_modelled(worker *w, uint32_t index)
{
    const mona_plan *plan = w->session->plan;
    if (!plan->modelled)
        return (modelled_mark){{0}};
    ac_model_kernel(&w->core, plan->model.strings + plan->ops[index].bound.op->name);
    w->core.isa->barrier(&w->core, AC_PIPE_ALL);
    return (modelled_mark){modelled_so_far(w)};
}

static void end_modelled(worker *w, uint32_t index, const modelled_mark *mark)
{
    if (!w->session->plan->modelled)
        return;
    w->core.isa->barrier(&w->core, AC_PIPE_ALL);
    const mona_modelled_op after = modelled_so_far(w);
    mona_modelled_op *sum = &modelled_ops(w)[index];
    sum->cycles += after.cycles - mark->before.cycles;
    sum->cube_useful += after.cube_useful - mark->before.cube_useful;
    for (int i = 0; i < AC_PIPE_ALL; i++)
        sum->busy[i] += after.busy[i] - mark->before.busy[i];
}

static bool has_program(const plan_op *op)
{
    const uint32_t kind = op->bound.op->kind;
    return kind == MONA_OP_CONV || (kind == MONA_OP_LOAD && mona_load_has_program(&op->bound));
}

/* A row that the scalar unit made: what it wrote of its ring, block by block. */
static void account_row(worker *w, const plan_op *op, const mona_row_call *call)
{
    const ac_isa *isa = w->core.isa;
    const mona_shape *s = mona_plan_progress_shape(op);
    const size_t pixels = (size_t)(call->x_end - call->x_begin);
    const uint32_t steps = (uint32_t)(pixels * s->channels * SCALAR_STEPS);
    if (!op->depth) {
        isa->scalar(&w->core, NULL, 0, NULL, 0, steps);
        return;
    }
    const size_t column = op->bound.output_c0 * mona_type_size(op->bound.output.type);
    const uint32_t blocks = mona_plan_blocks(op);
    uint8_t *to = call->output.rows[0] + (size_t)(call->x_begin - call->output.x_begin) * column;
    for (uint32_t n = 0; n < blocks; n++)
        isa->scalar(&w->core, NULL, 0, to + n * op->block_stride, pixels * column, steps / blocks);
}

/* Adds n steps of `step` bytes to a range that begins at *least and has *size bytes. */
static void extend(const uint8_t **least, size_t *size, uint32_t n, ptrdiff_t step)
{
    const ptrdiff_t all = (ptrdiff_t)n * step;
    *least += all < 0 ? all : 0;
    *size += (size_t)(all < 0 ? -all : all);
}

/* The planes of one input or output: what lies between their first byte and their last. */
static void name_planes(worker *w, const mona_buffer *b, const mona_shape *s, bool writable)
{
    const uint8_t *least = b->data;
    size_t size = (size_t)s->width * mona_type_size(s->type);
    extend(&least, &size, s->height - 1, b->row_stride);
    extend(&least, &size, s->channels - 1, s->channels > 1 ? b->channel_stride : 0);
    ac_model_gm(&w->core, least, size, writable);
}

/* Starts a core's program: its frame's planes, and the constants on their way to L1. */
static void launch_modelled(worker *w)
{
    const mona_session *s = w->session;
    const mona_plan *plan = s->plan;
    const mona_file_header *h = plan->model.header;
    ac_model_reset(&w->core);
    ac_model_gm_clear(&w->core);
    for (uint32_t i = 0; i < h->input_count; i++)
        name_planes(w, &s->inputs[i], &plan->shapes[i], false);
    for (uint32_t i = 0; i < h->output_count; i++)
        name_planes(w, &s->outputs[i], &plan->shapes[h->input_count + i], true);
    memset(modelled_ops(w), 0, h->op_count * sizeof(mona_modelled_op));
}

/* The cores one after another, each with its share of the memory's bandwidth: predictions must not
 * depend on how threads happen to run. */
static void run_modelled(mona_session *s)
{
    const plan_group *g = mona_plan_first_group(s->plan);
    for (uint32_t i = 0; i < s->plan->cores; i++) {
        worker *w = &s->workers[i];
        launch_modelled(w);
        for (uint32_t tile = 0; i < g->parts && tile < g->tiles; tile++)
            run_unit(w, g, tile);
        ac_model_finish(&w->core, &w->modelled);
    }
}

static void place_model(worker *w)
{
    const mona_plan *plan = w->session->plan;
    const ac_model_config config = {.core = w->index, .cores = plan->cores};
    ac_model_init(&w->core, w->region + plan->model_offset, &config, w->region,
                  plan->rings_bytes + AC_ROW_SLACK);
    ac_model_resident(&w->core, w->session->arena + plan->state_bytes,
                      plan->maps_offset - plan->state_bytes);
}

const ac_model_report *mona_session_modelled(const mona_session *s, unsigned core)
{
    return s->plan->modelled && core < s->plan->cores ? &s->workers[core].modelled : NULL;
}

const mona_modelled_op *mona_session_modelled_op(const mona_session *s, unsigned core, unsigned op)
{
    const bool known =
        s->plan->modelled && core < s->plan->cores && op < s->plan->model.header->op_count;
    return known ? &modelled_ops(&s->workers[core])[op] : NULL;
}

void mona_session_observe(mona_session *s, void (*observe)(void *, const ac_model_event *),
                          void *observer)
{
    for (uint32_t i = 0; i < s->plan->cores && s->plan->modelled; i++)
        ac_model_observe(&s->workers[i].core, observe, observer);
}

/* ---- rows of an operator --------------------------------------------------------------------- */

/* Points call number `slot` at row p->next and at what it reads. */
static void prepare_row(const worker *w, const plan_op *op, const plan_progress *progress,
                        const plan_progress *p, mona_row_call *call, uint32_t slot)
{
    const mona_plan *plan = w->session->plan;
    uint8_t **rows =
        (uint8_t **)(void *)(w->region + plan->window_offset + slot * plan->window_bytes);
    call->scratch = w->region + plan->scratch_offset + slot * plan->scratch_bytes;
    call->y = p->next;
    for (uint32_t i = 0; i < op->bound.op->input_count; i++)
        if (op->writer[i] != MONA_NONE)
            rows += point_at_window(w, op, i, progress, call, rows);
    if (op->depth) {
        *rows = row_of(w, op, p->next);
        call->output = (mona_rows){rows, op->block_stride, first_column(op, p)};
    }
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
        .x_begin = columns.begin,
        .x_end = columns.end,
        .planes = planes,
        .store = op->store != MONA_NONE ? &plan->ops[op->store].bound : NULL,
    };
    const modelled_mark mark = begin_modelled(w, index);
    const uint32_t at_once = plan->modelled && class->some_rows ? MONA_ROWS_AT_ONCE : 1;
    while (p->next < p->need) {
        mona_row_call calls[MONA_ROWS_AT_ONCE];
        uint32_t count = 0;
        for (; count < at_once && p->next < p->need; p->next++) {
            calls[count] = call;
            prepare_row(w, op, progress, p, &calls[count], count);
            count++;
        }
        if (count > 1)
            class->some_rows(calls, count);
        else
            class->row(calls);
        if (plan->modelled && !has_program(op))
            account_row(w, op, calls);
    }
    end_modelled(w, index, &mark);
}

/* ---- one group ------------------------------------------------------------------------------- */

/* Clears rows [begin, end) of channel blocks [first, last) of a ring or map. */
static void clear_rows(const worker *w, const plan_op *op, int64_t begin, int64_t end,
                       uint32_t first, uint32_t last)
{
    const size_t bytes =
        (size_t)op->columns * op->bound.output_c0 * mona_type_size(op->bound.output.type);
    for (int64_t y = begin; y < end; y++)
        for (uint32_t block = first; block < last; block++)
            memset(row_of(w, op, y) + block * op->block_stride, 0, bytes);
}

/* The columns of a ring that padding fills hold zeros from the start of the unit on; so does what
 * its rows are longer than the tile, which copies of whole blocks may read. */
static void account_padding(worker *w, const plan_op *op, const plan_progress *p)
{
    const size_t column = op->bound.output_c0 * mona_type_size(op->bound.output.type);
    const mona_span inside = mona_plan_columns(op, p);
    const size_t left = (size_t)(inside.begin - p->x_begin) * column;
    const size_t end = (size_t)(inside.end - p->x_begin) * column;
    for (uint32_t y = 0; y < op->depth; y++)
        for (uint32_t n = 0; n < mona_plan_blocks(op); n++) {
            uint8_t *row = row_of(w, op, y) + n * op->block_stride;
            ac_model_written(&w->core, row, left);
            ac_model_written(&w->core, row + end, op->block_stride - end);
        }
}

/* Columns outside the tensor are zero padding, and so are the channels that fill up the last block;
 * some operators write neither. A ring belongs to its tensor: only the padding, which moves from
 * tile to tile, has to be cleared. A map's memory has held other maps. */
static void clear_padding(worker *w, const plan_group *g, uint32_t tile,
                          const plan_progress *progress)
{
    const mona_plan *plan = w->session->plan;
    for (uint32_t o = g->first; o < g->last; o++) {
        const plan_op *op = &plan->ops[o];
        const plan_progress *p = &progress[o];
        const mona_span columns = mona_plan_columns(op, p);
        if (op->map && tile == 0)
            clear_rows(w, op, p->begin, p->end, 0, mona_plan_blocks(op));
        else if (!op->map && op->depth && (columns.begin > p->x_begin || columns.end < p->x_end))
            clear_rows(w, op, 0, op->depth, 0, mona_plan_blocks(op));
        if (plan->modelled)
            account_padding(w, op, p);
    }
}

static void run_unit(worker *w, const plan_group *g, uint32_t tile)
{
    const mona_plan *plan = w->session->plan;
    plan_progress *progress = (plan_progress *)(void *)(w->region + plan->progress_offset);
    mona_schedule_unit(plan, g, w->index, tile, progress);
    clear_padding(w, g, tile, progress);
    const int64_t end = mona_schedule_rows(g, w->index).end;
    int64_t position = mona_schedule_start(plan, g, w->index, progress);
    while (position < end) {
        position = position + plan->strip_rows < end ? position + plan->strip_rows : end;
        mona_schedule_strip(plan, g, position, progress);
        for (uint32_t o = g->first; o < g->last; o++)
            run_rows(w, o, progress);
    }
}

/* A map from tensor column 0 on. */
static mona_map view_of(const worker *w, const plan_op *op)
{
    const size_t column = op->bound.output_c0 * mona_type_size(op->bound.output.type);
    return (mona_map){map_of(w, op) + (size_t)-op->map_x_begin * column, op->block_stride,
                      op->row_bytes};
}

/* This core's share of a group on whole maps. */
static void run_map(worker *w, const plan_group *g)
{
    const mona_plan *plan = w->session->plan;
    const plan_op *op = &plan->ops[g->first];
    const uint32_t all = g->by_channels ? mona_plan_blocks(op) : op->bound.output.height;
    const uint32_t begin = (uint32_t)((uint64_t)all * w->index / g->parts);
    const uint32_t end = (uint32_t)((uint64_t)all * (w->index + 1) / g->parts);
    mona_map_call call = {
        .bound = &op->bound,
        .core = &w->core,
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
        clear_rows(w, op, call.y_begin, call.y_end, call.block_begin, call.block_end);
    mona_ops[op->bound.op->kind]->map(&call);
}

/* Says that this core has ended its `ended`th group. Sleepers are woken outside the lock, which
 * they would only run into. */
static void arrive(const worker *w, uint32_t ended)
{
    mona_session *s = w->session;
    if (atomic_fetch_add(&s->arrived, 1) + 1 < ended * s->plan->cores)
        return;
    mona_port_lock(&s->mutex); /* nobody is between looking and sleeping */
    mona_port_unlock(&s->mutex);
    mona_port_broadcast(&s->changed);
}

/* Waits until every core has ended so many groups. */
static void wait_for_cores(const worker *w, uint32_t ended)
{
    mona_session *s = w->session;
    const uint32_t target = ended * s->plan->cores;
    for (uint32_t i = 0; i < LOOKS; i++)
        if (atomic_load(&s->arrived) >= target)
            return;
    mona_port_lock(&s->mutex);
    while (atomic_load(&s->arrived) < target)
        mona_port_wait(&s->changed, &s->mutex);
    mona_port_unlock(&s->mutex);
}

/* The last wait is the caller's alone: the other cores have nothing to do until the next run. */
static void run_groups(worker *w)
{
    const mona_plan *plan = w->session->plan;
    uint32_t ended = 0;
    for (const plan_group *g = mona_plan_first_group(plan); g;) {
        if (w->index < g->parts && g->whole_maps)
            run_map(w, g);
        else if (w->index < g->parts)
            for (uint32_t tile = 0; tile < g->tiles; tile++)
                run_unit(w, g, tile);
        g = mona_plan_next_group(plan, g);
        if (plan->cores == 1)
            continue;
        arrive(w, ++ended);
        if (g || w->index == 0)
            wait_for_cores(w, ended);
    }
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
        run_groups(w);
        mona_port_lock(&s->mutex);
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
        buffers += -(uintptr_t)buffers % BUFFER_ALIGNMENT;
        w->core.l0a = buffers;
        w->core.l0b = w->core.l0a + t->l0a_bytes;
        w->core.l0c = w->core.l0b + t->l0b_bytes;
        w->core.ub = w->core.l0c + t->l0c_bytes;
    }
    /* Padding and the slack that row programs may read stay finite. */
    memset(region, 0, plan->core_bytes);
    if (plan->modelled)
        place_model(w);
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
    memset(s->arena + plan->maps_offset, 0, plan->maps_bytes);
    bind_constants(s);
    mona_port_mutex_init(&s->mutex);
    mona_port_condition_init(&s->changed);
    for (uint32_t i = 0; i < plan->cores; i++)
        place_worker(s, i);
    for (uint32_t i = 1; i < plan->cores && !plan->modelled; i++) {
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
    if (s->plan->modelled) {
        s->inputs = inputs;
        s->outputs = outputs;
        run_modelled(s);
        return MONA_OK;
    }
    mona_port_lock(&s->mutex);
    s->inputs = inputs;
    s->outputs = outputs;
    atomic_store(&s->arrived, 0);
    s->generation++;
    mona_port_unlock(&s->mutex);
    mona_port_broadcast(&s->changed); /* unlocked, for the workers not to run into the lock */
    run_groups(&s->workers[0]);
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
