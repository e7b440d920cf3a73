// SPDX-License-Identifier: Apache-2.0
/* A session on model310. Its cores run one after another in the caller's thread, which also tells
 * the model facts that no instruction states. */
#include "engine/model310/session_modelled.h"

#include "engine/op/programs.h"
#include "engine/libc.h"

/* Alignment of the L0 buffers and UB: the largest that any of them needs. */
enum { BUFFER_ALIGNMENT = 1024 };

/* The figures of a core's operators, the one at work (MONA_NONE: none is), and what the core had
 * done when that began. */
typedef struct core_figures {
    uint32_t op;
    mona_modelled_op before, all[];
} core_figures;

/* A core's region, at plan->device_offset: buffers of the core, its figures, and its model. */
typedef struct core_layout {
    size_t buffers, figures, model, bytes;
} core_layout;

static size_t figures_bytes(const mona_plan *plan)
{
    return sizeof(core_figures) + plan->model.header->op_count * sizeof(mona_modelled_op);
}

static core_layout layout_of(const mona_plan *plan)
{
    const ac_target *t = plan->target;
    core_layout l = {.buffers = plan->device_offset};
    l.figures = l.buffers + align_up(BUFFER_ALIGNMENT + (size_t)t->l0a_bytes + t->l0b_bytes +
                                     t->l0c_bytes + t->ub_bytes);
    l.model = l.figures + align_up(figures_bytes(plan));
    l.bytes = l.model + align_up(ac_model_bytes(t)) - plan->device_offset;
    return l;
}

static size_t core_bytes(const mona_plan *plan)
{
    return layout_of(plan).bytes;
}

static core_figures *figures_of(const worker *w)
{
    return (core_figures *)(void *)(w->region + layout_of(w->session->plan).figures);
}

/* What a core does from here on counts as operator `index`; MONA_NONE: as none. */
static void count_as(worker *w, uint32_t index)
{
    const mona_plan *plan = w->session->plan;
    const ac_model_report *now = ac_model_so_far(&w->core);
    core_figures *f = figures_of(w);
    mona_modelled_op *sum = f->op == MONA_NONE ? NULL : &f->all[f->op], *before = &f->before;
    for (int i = 0; i < AC_PIPE_ALL && sum; i++)
        sum->busy[i] += now->busy[i] - before->busy[i];
    if (sum) {
        sum->cycles += now->cycles - before->cycles;
        sum->cube_useful += now->cube_useful - before->cube_useful;
    }
    f->op = index;
    *before = (mona_modelled_op){.cycles = now->cycles, .cube_useful = now->cube_useful};
    memcpy(before->busy, now->busy, sizeof before->busy);
    if (index != MONA_NONE)
        ac_model_kernel(&w->core, plan->model.strings + plan->ops[index].bound.op->name);
}

/* The recorder takes instructions instead of the model. */
static void take(ac_core *core, const ac_instruction *i)
{
    worker *w = (worker *)(void *)((uint8_t *)core - offsetof(worker, core));
    const mona_program_recorder *r = w->session->recorder;
    if (r)
        r->take(r->context, w->index, i);
    else if (i->opcode == AC_OP_OPERATOR)
        count_as(w, i->op);
    else
        ac_model_take(core, i);
}

static bool stores_same(const plan_op *a, const plan_op *b)
{
    return a->bound.run->writes_planes && a->writer[0] == b->writer[0];
}

/* Finds the STOREs of one tensor, from operator `index` on, that run together on the chip, and
 * returns their number. 0: this one runs together with an earlier one. */
static uint32_t stores_together(const mona_plan *plan, uint32_t index,
                                const mona_bound_op *stores[MONA_OP_MAX_INPUTS])
{
    const plan_op *op = &plan->ops[index];
    uint32_t first = index, count = 0;
    while (first && stores_same(&plan->ops[first - 1], op))
        first--;
    for (;; first += count) {
        for (count = 0; count < MONA_OP_MAX_INPUTS; count++) {
            const uint32_t o = first + count;
            if (o == plan->model.header->op_count || !stores_same(&plan->ops[o], op))
                break;
            stores[count] = &plan->ops[o].bound;
        }
        count = mona_store_together(stores, count);
        if (first + count > index)
            return first == index ? count : 0;
    }
}

/* Where the planes of a tensor lie: in the model's input or output of that number, unless operator
 * `writer` computes it as an array. */
static ac_address planes_at(const mona_plan *plan, uint32_t tensor, uint32_t writer)
{
    const plan_op *op = writer == MONA_NONE ? NULL : &plan->ops[writer];
    return op && op->array ? mona_session_map_at(plan, op->ring_offset)
                           : ac_at((ac_space)(AC_GM + tensor), 0);
}

static ac_address output_at(const mona_plan *plan, uint32_t writer)
{
    return planes_at(plan, plan->ops[writer].bound.op->output, writer);
}

/* Those that an operator's call reads or writes. */
static void find_planes(const mona_plan *plan, uint32_t index, uint32_t stores,
                        ac_address at[MONA_OP_MAX_INPUTS])
{
    const plan_op *op = &plan->ops[index];
    const mona_file_op *file = op->bound.op;
    for (uint32_t i = 0; i < file->input_count && op->bound.run->reads_planes; i++)
        at[i] = planes_at(plan, file->inputs[i], op->array_writer[i]);
    if (op->store != MONA_NONE)
        at[0] = output_at(plan, op->store);
    for (uint32_t i = 0; i < stores; i++)
        at[i] = output_at(plan, index + i);
}

/* Work that has no program: what it wrote, and what it would take the scalar unit. */
static void work(ac_core *core, ac_address at, size_t bytes, uint32_t steps)
{
    ac_emit(core, (ac_instruction){.opcode = AC_OP_WORK, .dst = at, .work = {bytes, steps}});
}

/* A row that the scalar unit computes. The model is told what it wrote of its ring, block by
 * block. */
static void row_without_program(worker *w, const plan_op *op, const mona_row_call *call)
{
    op->bound.run->row(call);
    const mona_shape *s = mona_plan_progress_shape(op);
    const size_t pixels = (size_t)(call->x_end - call->x_begin);
    const mona_op_class *class = mona_ops[op->bound.op->kind];
    const uint64_t macs = class->macs ? class->macs(&op->bound) / s->height / s->width : 0;
    const uint64_t all = pixels * (s->channels + macs) * AC_SCALAR_STEPS;
    const uint32_t steps = all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
    if (!op->depth) {
        work(&w->core, AC_NOWHERE, 0, steps);
        return;
    }
    const size_t column = op->bound.output_c0 * mona_type_size(op->bound.output.type);
    const uint32_t blocks = mona_plan_blocks(op);
    const ac_address to =
        call->output.at[0] + (size_t)(call->x_begin - call->output.x_begin) * column;
    for (uint32_t n = 0; n < blocks; n++)
        work(&w->core, to + n * op->block_stride, pixels * column, steps / blocks);
}

/* Constants of all operators and a row of zeros lie side by side, and in L1 on the chip. */
static size_t resident_bytes(const mona_plan *plan)
{
    return plan->maps_offset - plan->state_bytes;
}

/* A group begins when all cores have ended the one before. */
static void wait_for_slowest(mona_session *s)
{
    double slowest = 0;
    for (uint32_t i = 0; i < s->plan->cores; i++) {
        const double cycles = ac_model_so_far(&s->workers[i].core)->cycles;
        slowest = cycles > slowest ? cycles : slowest;
    }
    for (uint32_t i = 0; i < s->plan->cores; i++)
        ac_model_wait(&s->workers[i].core, slowest);
}

/* Shows a core the planes of its frame. */
static void place_planes(worker *w)
{
    const mona_session *s = w->session;
    const mona_plan *plan = s->plan;
    const uint32_t inputs = plan->model.header->input_count,
                   planes = inputs + plan->model.header->output_count;
    ac_memory *gm = &w->core.memory[AC_GM];
    ac_model_reset(&w->core);
    for (uint32_t i = 0; i < planes; i++) {
        const mona_tensor_info info = mona_plan_planes_info(plan, i);
        *gm++ = (ac_memory){mona_program_planes(s, i).data, mona_device_planes_bytes(&info),
                            i >= inputs};
    }
    *gm = (ac_memory){s->arena + plan->maps_offset, plan->maps_bytes, true};
    memset(figures_of(w), 0, figures_bytes(plan));
    count_as(w, MONA_NONE);
}

/* Begins a group, or two side by side: a task of its own, which is launched when the one before has
 * ended on all cores, and copies the row of zeros, which stays in L1. */
static void begin_group(mona_session *s, bool first, size_t zeros)
{
    if (!first)
        wait_for_slowest(s);
    for (uint32_t i = 0; i < s->plan->cores; i++) {
        ac_core *core = &s->workers[i].core;
        ac_model_launch(core, zeros);
        ac_model_written(core, ac_at(AC_CONSTANTS, core->memory[AC_CONSTANTS].size - zeros), zeros);
    }
}

/* Most operators on arrays are no AI Core program: arrays lie in global memory, and the chip's AI
 * CPUs work on them. Their time is an estimate, for which nothing is known but this: four elements
 * at once, as their vectors hold, each read, processed, stored and counted as slowly as the scalar
 * unit does it. */
static void run_on_cpus(worker *w, const plan_group *g, const mona_bound_op *b)
{
    const uint64_t steps = mona_array_work(b) / g->parts * AC_SCALAR_STEPS / 4 + 1;
    mona_session_run_map(w, g, w->index);
    for (uint64_t done = 0; done < steps; done += UINT32_MAX)
        work(&w->core, AC_NOWHERE, 0,
             steps - done < UINT32_MAX ? (uint32_t)(steps - done) : UINT32_MAX);
}

static void run_array(worker *w, const plan_group *g)
{
    const mona_plan *plan = w->session->plan;
    const plan_op *op = &plan->ops[g->first];
    const mona_file_op *file = op->bound.op;
    const mona_op_program *program = op->bound.program;
    const size_t items = (size_t)mona_array_items(&op->bound);
    mona_array_places call = {.bound = &op->bound,
                              .core = &w->core,
                              .begin = share_begin(items, w->index, g->parts),
                              .end = share_begin(items, w->index + 1, g->parts)};
    ac_emit_operator(&w->core, g->first);
    if (program && program->array) {
        for (uint32_t i = 0; i < file->input_count; i++)
            if (file->inputs[i] != MONA_NONE)
                call.input[i] = planes_at(plan, file->inputs[i], op->array_writer[i]);
        call.output = output_at(plan, g->first);
        program->array(&call);
    } else {
        run_on_cpus(w, g, &op->bound);
    }
    count_as(w, MONA_NONE);
}

bool mona_program_on_cpus(const mona_plan *plan, uint32_t op)
{
    return plan->ops[op].group.whole_maps && !plan->ops[op].bound.program;
}

/* ---- recording ------------------------------------------------------------------------------- */

void mona_session_record(mona_session *s, const mona_program_recorder *recorder)
{
    s->recorder = recorder;
}

static void record_group(const mona_session *s, const plan_group *g)
{
    const mona_plan *plan = s->plan;
    const mona_program_recorder *r = s->recorder;
    const plan_op *first = &plan->ops[plan->group_constants ? g->first : 0];
    const ac_segment places = {
        .first_constant = (uint32_t)(first->constants_offset - plan->state_bytes),
        .constants = (uint32_t)mona_plan_group_constants(plan, g),
        .l1_bytes = (uint32_t)mona_plan_group_l1_bytes(g),
        .array = mona_program_on_cpus(plan, g->first) ? g->first + 1 : 0,
    };
    r->begin(r->context, &places);
    for (uint32_t o = g->first; o < g->last; o++) {
        const plan_op *op = &plan->ops[o];
        if (mona_plan_has_ring(plan, o))
            r->ring(r->context,
                    (ac_ring){(uint32_t)op->ring_offset, (uint32_t)(op->depth * op->row_bytes)});
    }
}

/* ---- padding --------------------------------------------------------------------------------- */

/* Channel blocks lie at equal steps through all rows, unless the ring holds others as well. */
static void pad_columns(worker *w, const plan_op *op, const plan_progress *p, int64_t first)
{
    const size_t column = op->bound.output_c0 * mona_type_size(op->bound.output.type);
    const mona_span inside = mona_plan_columns(op, p);
    const size_t left = (size_t)(inside.begin - first) * column;
    const size_t end = (size_t)(inside.end - first) * column;
    const uint32_t blocks = mona_plan_blocks(op);
    const bool alone = op->row_bytes == blocks * op->block_stride;
    const uint32_t rows = alone ? op->depth * blocks : op->depth;
    const size_t step = alone ? op->block_stride : op->row_bytes;
    for (uint32_t n = 0; n < (alone ? 1 : blocks); n++) {
        const ac_address at = ac_at(AC_L1, op->ring_offset + n * op->block_stride);
        const uint64_t padding = mona_padding(&op->bound.output);
        mona_padding_rows(&w->core, at, left, rows, step, padding);
        mona_padding_rows(&w->core, at + end, op->block_stride - end, rows, step, padding);
    }
}

/* Columns of a ring that are padding hold it from the start of the unit on. So do columns
 * beyond the tile, which copies of whole blocks may read, and the row for rows outside. The time
 * counts as the first operator's. */
static void clear_padding(worker *w, const plan_group *g, const plan_progress *progress)
{
    ac_core *core = &w->core;
    const mona_plan *plan = w->session->plan;
    ac_emit_operator(core, g->first);
    ac_emit_barrier(core, AC_PIPE_ALL);
    uint64_t padding = 0;
    mona_padding_fill(core, padding);
    for (uint32_t o = g->first; o < g->last; o++) {
        const plan_op *op = &plan->ops[o];
        if (!op->depth || op->map)
            continue;
        if (mona_padding(&op->bound.output) != padding) {
            padding = mona_padding(&op->bound.output);
            ac_emit_sync(core, AC_PIPE_MTE3, AC_PIPE_V, 0);
            mona_padding_fill(core, padding);
        }
        if (op->row_outside && op->home == o)
            mona_padding_rows(core, ac_at(AC_L1, op->ring_offset + op->depth * op->row_bytes),
                              op->row_bytes, 1, op->row_bytes, mona_padding(&op->bound.output));
        if (progress[o].begin < progress[o].end)
            pad_columns(w, op, &progress[o], mona_session_column(op, progress));
    }
    ac_emit_barrier(core, AC_PIPE_ALL);
    count_as(w, MONA_NONE);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* All at once, before the pipes are emptied. */
static void load_constants(worker *w, const plan_op *op, mona_unit_order *order)
{
    ac_emit_copy_bytes(&w->core, op->bound.resident, op->bound.resident, op->constants_bytes);
    order->left = MONA_LEFT_ANY;
}

/* Computes the rows that the strip needs from an operator, as many at a time as its program
 * takes. */
static void run_rows(worker *w, uint32_t index, plan_progress *progress, mona_unit_order *order)
{
    const mona_session *s = w->session;
    const mona_plan *plan = s->plan;
    const plan_op *op = &plan->ops[index];
    plan_progress *p = &progress[index];
    if (p->next >= p->need || mona_plan_is_idle(plan, index))
        return;
    mona_buffer planes[MONA_OP_MAX_INPUTS];
    ac_address at[MONA_OP_MAX_INPUTS];
    const mona_bound_op *stores[MONA_OP_MAX_INPUTS];
    mona_row_call call = mona_session_call(w, op, p, planes);
    call.planes_at = at;
    if (op->bound.run->writes_planes) {
        call.stores = stores;
        call.store_count = stores_together(plan, index, stores);
        for (uint32_t i = 0; i < call.store_count; i++)
            planes[i] = mona_session_planes(s, index + i);
        if (!call.store_count) {
            p->next = p->need;
            return;
        }
    }
    find_planes(plan, index, call.store_count, at);
    ac_emit_operator(&w->core, index);
    call.loads = order->first_tile && p->next == p->begin && op->constants_bytes;
    if (call.loads && !(op->bound.program && op->bound.program->loads_constants))
        load_constants(w, op, order);
    mona_order_before(w, index, order);
    while (p->next < p->need) {
        mona_row_call calls[MONA_ROWS_AT_ONCE];
        const uint32_t max = op->bound.program ? MONA_ROWS_AT_ONCE : 1;
        const uint32_t count = min_u32(max, (uint32_t)(p->need - p->next));
        for (uint32_t i = 0; i < count; i++) {
            calls[i] = call;
            mona_session_point_at(w, op, progress, &calls[i], p->next++, i);
        }
        if (op->bound.program)
            op->bound.program->emit(calls, count);
        else
            row_without_program(w, op, calls);
        call.loads = false;
    }
    mona_order_after(w, index, order);
    count_as(w, MONA_NONE);
}

static void run_unit(worker *w, const plan_group *g, uint32_t tile)
{
    const mona_plan *plan = w->session->plan;
    const mona_span columns = mona_schedule_columns(plan, g, tile);
    const uint32_t band = g->side ? 0 : w->index;
    const mona_span rows = mona_schedule_rows(g, band);
    plan_progress *progress = (plan_progress *)(void *)(w->region + plan->progress_offset);
    mona_schedule_unit(plan, g, rows, columns, progress);
    mona_unit_order order;
    clear_padding(w, g, progress);
    mona_order_begin(w, g, &order);
    order.first_tile = tile == 0;
    const uint32_t strip = mona_plan_strip_rows(plan, g);
    int64_t position = mona_schedule_start(plan, g, band, rows.begin, progress);
    while (position < rows.end) {
        position = position + strip < rows.end ? position + strip : rows.end;
        mona_schedule_strip(plan, g, position, progress);
        for (uint32_t o = g->first; o < g->last; o++)
            run_rows(w, o, progress, &order);
    }
    mona_order_end(w, &order);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void run_group(worker *w, const plan_group *g)
{
    const bool idle = g->side ? w->index != g->side - 1 : w->index >= g->parts;
    if (idle || (w->session->recorder && mona_program_on_cpus(w->session->plan, g->first)))
        return;
    if (g->whole_maps)
        run_array(w, g);
    else
        for (uint32_t tile = 0; tile < g->tiles; tile++)
            run_unit(w, g, tile);
}

/* Runs the cores one after another, each with its share of the memory's bandwidth: predictions must
 * not depend on how threads happen to run. */
static void run_plan(mona_session *s)
{
    const mona_plan *plan = s->plan;
    const plan_group *first = mona_plan_first_group(plan);
    for (const plan_group *g = first; g; g = mona_plan_next_group(plan, g)) {
        if (g->side != 2)
            begin_group(s, g == first, plan->maps_offset - plan->zero_offset);
        if (s->recorder)
            record_group(s, g);
        for (uint32_t i = 0; i < plan->cores; i++)
            run_group(&s->workers[i], g);
    }
}

static void run_program(mona_session *s)
{
    const ac_program *p = &s->plan->program;
    for (uint32_t i = 0; i < p->header.segments; i++) {
        const ac_segment *g = &p->segments[i];
        if (!ac_runs_beside(p->segments, p->header.segments, i))
            begin_group(s, !i, p->header.zero_bytes);
        for (worker *w = s->workers; w < s->workers + s->plan->cores; w++) {
            if (g->array)
                run_group(w, &s->plan->ops[g->array - 1].group);
            else
                ac_program_run(&w->core, p, i, w->index);
            count_as(w, MONA_NONE);
        }
    }
}

static mona_status run_frame(mona_session *s)
{
    const mona_buffer *inputs = s->inputs, *outputs = s->outputs;
    mona_buffer planes[2 * MONA_MAX_IO];
    for (uint32_t i = 0; i < s->plan->cores; i++)
        place_planes(&s->workers[i]);
    if (!s->recorder)
        mona_program_copy_planes(s, true);
    mona_program_see_planes(s, planes);
    (mona_plan_has_program(s->plan) ? run_program : run_plan)(s);
    s->inputs = inputs, s->outputs = outputs;
    if (!s->recorder)
        mona_program_copy_planes(s, false);
    for (uint32_t i = 0; i < s->plan->cores; i++)
        ac_model_finish(&s->workers[i].core);
    return MONA_OK;
}

static void place_core(worker *w)
{
    const mona_session *s = w->session;
    const mona_plan *plan = s->plan;
    const ac_target *t = plan->target;
    ac_memory *memory = w->core.memory;
    uint8_t *at = w->region + plan->device_offset;
    at += -(uintptr_t)at % BUFFER_ALIGNMENT;
    memory[AC_L1] = (ac_memory){w->region, mona_plan_l1_bytes(plan), true};
    memory[AC_L0A] = (ac_memory){at, t->l0a_bytes, true};
    memory[AC_L0B] = (ac_memory){at += t->l0a_bytes, t->l0b_bytes, true};
    memory[AC_L0C] = (ac_memory){at += t->l0b_bytes, t->l0c_bytes, true};
    memory[AC_UB] = (ac_memory){at + t->l0c_bytes, t->ub_bytes, true};
    memory[AC_CONSTANTS] =
        mona_plan_has_program(plan)
            ? (ac_memory){(uint8_t *)(uintptr_t)plan->program.constants,
                          plan->program.header.constants_bytes, false}
            : (ac_memory){s->arena + plan->state_bytes, resident_bytes(plan), false};
    const ac_model_config config = {.core = w->index, .cores = plan->cores};
    ac_model_init(&w->core, w->region + layout_of(plan).model, &config);
    w->core.take = take;
}

static mona_status place_cores(mona_session *s)
{
    for (uint32_t i = 0; i < s->plan->cores; i++)
        place_core(&s->workers[i]);
    return MONA_OK;
}

const ac_model_report *mona_session_modelled(const mona_session *s, unsigned core)
{
    return mona_plan_on_ai_core(s->plan) && core < s->plan->cores
               ? ac_model_so_far(&s->workers[core].core)
               : NULL;
}

const mona_modelled_op *mona_session_modelled_op(const mona_session *s, unsigned core, unsigned op)
{
    const bool known = mona_plan_on_ai_core(s->plan) && core < s->plan->cores &&
                       op < s->plan->model.header->op_count;
    return known ? &figures_of(&s->workers[core])->all[op] : NULL;
}

void mona_session_set_model(mona_session *s, const ac_costs *costs,
                            void (*observe)(void *, const ac_model_event *), void *observer)
{
    for (uint32_t i = 0; i < s->plan->cores && mona_plan_on_ai_core(s->plan); i++)
        ac_model_set(&s->workers[i].core, costs, observe, observer);
}

/* ---- the device ------------------------------------------------------------------------------ */

static mona_status open_device(const mona_device *device, mona_device_properties *p)
{
    (void)device;
    p->cores = ac_target_ascend310.cores;
    p->cache_bytes = ac_target_ascend310.l1_bytes;
    return MONA_OK;
}

/* There is one, which is named as the device is. */
static const mona_isa *isa(const char *highest)
{
    return !highest || mona_names_equal(highest, mona_device_model310.name) ? &mona_isa_c : NULL;
}

static const mona_ai_core ai_core = {
    .programs = mona_programs,
    .plan = mona_program_plan,
    .core_bytes = core_bytes,
    .open = place_cores,
    .run = run_frame,
};

const mona_device mona_device_model310 = {
    .name = "model310",
    .description = "the Ascend 310, modelled: checked instructions, predicted time",
    .target = &ac_target_ascend310,
    .open = open_device,
    .isa = isa,
    .ai_core = &ai_core,
};
