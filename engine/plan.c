/* Binding a model to frame sizes and a target: shapes, rings, tiles, and every offset of the arena. */
#include "plan.h"

#include "device.h"
#include "libc.h"
#include "port/port.h"

/* Largest stack any function of a run may use, over all kernels; tests/e2e/library.sh checks it against
 * the compiler's own figures. */
enum { STACK_BYTES = 64 * 1024 };
/* Columns of a tile the planner will not go below: narrower ones recompute more than caches save. */
enum { MIN_TILE_COLUMNS = 128 };
/* No region or arena may reach this, so that sums of them cannot wrap. */
#define MAX_BYTES (SIZE_MAX / 16)

/* ---- shapes --------------------------------------------------------------------------------- */

static bool side_ok(uint64_t side)
{
    return side > 0 && side <= MONA_MAX_SIDE;
}

static mona_status input_shapes(mona_plan *plan, const mona_config *config)
{
    for (uint32_t i = 0; i < plan->model.header->input_count; i++) {
        const mona_file_tensor *t = &plan->model.tensors[i];
        const mona_size size = config->sizes[i];
        if (!size.width != !size.height || size.width > MONA_MAX_SIDE ||
            size.height > MONA_MAX_SIDE)
            return MONA_ERR_SHAPE;
        if (t->width && size.width && (t->width != size.width || t->height != size.height))
            return MONA_ERR_SHAPE;
        plan->shapes[i].height = t->height ? t->height : size.height;
        plan->shapes[i].width = t->width ? t->width : size.width;
    }
    return MONA_OK;
}

/* Inputs of a LOAD are the same grid at different densities, so one known size gives the others. */
static mona_status bind_open_inputs(mona_plan *plan, const mona_file_op *op)
{
    uint64_t height = 0, width = 0;
    for (uint32_t i = 0; i < op->input_count && !height; i++) {
        height = plan->shapes[op->inputs[i]].height / op->load.block[i];
        width = plan->shapes[op->inputs[i]].width / op->load.block[i];
    }
    if (!height || !width)
        return MONA_ERR_SHAPE;
    for (uint32_t i = 0; i < op->input_count; i++) {
        mona_shape *s = &plan->shapes[op->inputs[i]];
        if (s->height)
            continue;
        if (!side_ok(height * op->load.block[i]) || !side_ok(width * op->load.block[i]))
            return MONA_ERR_SHAPE;
        s->height = (uint32_t)(height * op->load.block[i]);
        s->width = (uint32_t)(width * op->load.block[i]);
    }
    return MONA_OK;
}

static mona_status bind_shapes(mona_plan *plan, const mona_config *config)
{
    const mona_model *m = &plan->model;
    for (uint32_t t = 0; t < m->header->tensor_count; t++)
        plan->shapes[t] =
            (mona_shape){m->tensors[t].channels, 0, 0, (mona_type)m->tensors[t].type};
    mona_status status = input_shapes(plan, config);
    for (uint32_t o = 0; o < m->header->op_count && !status; o++) {
        const mona_file_op *op = &m->ops[o];
        mona_shape inputs[MONA_OP_MAX_INPUTS];
        if (op->kind == MONA_OP_LOAD)
            status = bind_open_inputs(plan, op);
        for (uint32_t i = 0; i < op->input_count; i++)
            inputs[i] = plan->shapes[op->inputs[i]];
        mona_shape *output = &plan->shapes[op->output];
        if (!status)
            status = mona_ops[op->kind]->infer(op, inputs, output);
        if (!status && (!side_ok(output->height) || !side_ok(output->width)))
            status = MONA_ERR_SHAPE;
    }
    return status;
}

/* ---- operators ------------------------------------------------------------------------------ */

/* MONA_NONE: an input of the model. */
static uint32_t writer_of(const mona_model *m, uint32_t tensor)
{
    for (uint32_t o = 0; o < m->header->op_count; o++)
        if (m->ops[o].output == tensor)
            return o;
    return MONA_NONE;
}

/* C0 of a tensor in L1; 0: planes. It follows from type and channels alone, as operators whose input and
 * output agree in both may assume. */
static uint32_t tensor_c0(const mona_plan *plan, uint32_t tensor)
{
    const mona_file_header *h = plan->model.header;
    const mona_shape *s = &plan->shapes[tensor];
    const bool planes = tensor < h->input_count + h->output_count;
    return planes ? 0 : ac_target_c0(plan->target, s->type, s->channels);
}

static void bind_ops(mona_plan *plan)
{
    const mona_model *m = &plan->model;
    for (uint32_t o = 0; o < m->header->op_count; o++) {
        const mona_file_op *file = &m->ops[o];
        plan_op *op = &plan->ops[o];
        *op = (plan_op){.store = MONA_NONE};
        op->bound = (mona_bound_op){
            .op = file,
            .data = m->data,
            .target = plan->target,
            .isa = plan->isa,
            .output = plan->shapes[file->output],
            .output_c0 = tensor_c0(plan, file->output),
        };
        for (uint32_t i = 0; i < file->input_count; i++) {
            const uint32_t t = file->inputs[i];
            op->bound.input[i] = plan->shapes[t];
            op->bound.input_c0[i] = tensor_c0(plan, t);
            op->writer[i] = writer_of(m, t);
        }
    }
}

static uint32_t reader_count(const mona_plan *plan, uint32_t writer, uint32_t *last)
{
    uint32_t count = 0;
    for (uint32_t o = 0; o < plan->model.header->op_count; o++)
        for (uint32_t i = 0; i < plan->model.ops[o].input_count; i++)
            if (plan->ops[o].writer[i] == writer) {
                count++;
                *last = o;
            }
    return count;
}

/* A convolution whose only reader stores all of its channels writes the planes itself. */
static void fuse_stores(mona_plan *plan)
{
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        plan_op *op = &plan->ops[o];
        uint32_t reader = MONA_NONE;
        if (op->bound.op->kind != MONA_OP_CONV || reader_count(plan, o, &reader) != 1)
            continue;
        plan_op *store = &plan->ops[reader];
        const mona_file_op *file = store->bound.op;
        if (file->kind != MONA_OP_STORE)
            continue;
        const uint64_t stored =
            (uint64_t)store->bound.output.channels * file->store.block * file->store.block;
        if (stored == op->bound.output.channels) {
            op->store = reader;
            store->fused_away = true;
        }
    }
}

/* ---- rings ---------------------------------------------------------------------------------- */

static void choose_grid(mona_plan *plan)
{
    plan->grid_height = plan->grid_width = UINT32_MAX;
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        if (plan->model.ops[o].kind != MONA_OP_STORE)
            continue;
        const mona_shape *s = &plan->ops[o].bound.input[0];
        plan->grid_height = s->height < plan->grid_height ? s->height : plan->grid_height;
        plan->grid_width = s->width < plan->grid_width ? s->width : plan->grid_width;
    }
}

static bool has_ring(const plan_op *op)
{
    return op->bound.op->kind != MONA_OP_STORE && op->store == MONA_NONE;
}

/* Runs the schedule without kernels, over every band, and keeps the deepest any ring gets. */
static void measure_depths(mona_plan *plan, plan_progress *progress)
{
    const uint32_t count = plan->model.header->op_count;
    for (uint32_t band = 0; band < plan->cores; band++) {
        const int64_t end = mona_schedule_rows(plan, band).end;
        mona_schedule_unit(plan, band, 0, progress);
        for (int64_t position = mona_schedule_start(plan, band, progress); position < end;) {
            position = position + plan->strip_rows < end ? position + plan->strip_rows : end;
            mona_schedule_strip(plan, position, progress);
            mona_schedule_oldest(plan, progress);
            for (uint32_t o = 0; o < count; o++) {
                plan_progress *p = &progress[o];
                if (p->need <= p->next)
                    continue;
                p->next = p->need;
                const uint32_t rows = (uint32_t)(p->next - p->oldest);
                if (has_ring(&plan->ops[o]) && rows > plan->ops[o].depth)
                    plan->ops[o].depth = rows;
            }
        }
    }
}

/* Sizes every ring for the current number of tiles; MAX_BYTES or more: too large. */
static size_t size_rings(mona_plan *plan, plan_progress *progress)
{
    const uint32_t count = plan->model.header->op_count;
    for (uint32_t o = 0; o < count; o++)
        plan->ops[o].columns = 0;
    for (uint32_t tile = 0; tile < plan->tiles; tile++) {
        mona_schedule_unit(plan, 0, tile, progress);
        for (uint32_t o = 0; o < count; o++) {
            const int64_t columns = progress[o].x_end - progress[o].x_begin;
            if (columns > plan->ops[o].columns)
                plan->ops[o].columns = (uint32_t)columns;
        }
    }
    uint64_t total = 0;
    for (uint32_t o = 0; o < count; o++) {
        plan_op *op = &plan->ops[o];
        if (!has_ring(op))
            continue;
        const mona_shape *s = &op->bound.output;
        const uint32_t c0 = op->bound.output_c0;
        const uint64_t blocks = (s->channels + c0 - 1) / c0;
        /* At most 2^16 columns (a side and its padding) x 2^14 channels x 2 bytes, x 2^15 rows. */
        const uint64_t block =
            align_up((size_t)op->columns * c0 * mona_type_size(s->type));
        const uint64_t row = blocks * block;
        if (row >= MAX_BYTES || row * op->depth >= MAX_BYTES - total)
            return MAX_BYTES;
        op->block_stride = (size_t)block;
        op->row_bytes = (size_t)row;
        op->ring_offset = (size_t)total;
        total += row * op->depth;
    }
    return (size_t)total;
}

static mona_status choose_tiles(mona_plan *plan, const mona_config *config,
                                plan_progress *progress)
{
    const size_t budget = config->cache_bytes ? config->cache_bytes : plan->target->l1_bytes;
    uint32_t most = plan->grid_width / MIN_TILE_COLUMNS;
    plan->tiles = 1;
    if (config->tile_columns) {
        plan->tiles = (plan->grid_width + config->tile_columns - 1) / config->tile_columns;
        most = plan->tiles;
    }
    for (;; plan->tiles++) {
        plan->rings_bytes = size_rings(plan, progress);
        if (plan->rings_bytes <= budget || plan->tiles >= most)
            break;
    }
    return plan->rings_bytes < MAX_BYTES ? MONA_OK : MONA_ERR_LIMIT;
}

/* ---- the arena ------------------------------------------------------------------------------ */

/* Rows of the windows of all inputs, for one output row. */
static size_t window_rows_at(const plan_op *op, int64_t y)
{
    const mona_bound_op *b = &op->bound;
    size_t rows = 1; /* and the output row's own pointer */
    for (uint32_t i = 0; i < b->op->input_count; i++) {
        if (op->writer[i] == MONA_NONE)
            continue;
        const mona_span s = mona_ops[b->op->kind]->rows(b, i, (mona_span){y, y + 1});
        rows += (size_t)(s.end - s.begin);
    }
    return rows;
}

/* Row pointers of the largest call. Windows of a RESIZE vary from row to row, so every row is asked. */
static size_t window_rows(const mona_plan *plan)
{
    size_t most = 1;
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        const plan_op *op = &plan->ops[o];
        const bool varies = op->bound.op->kind == MONA_OP_RESIZE;
        const int64_t rows = varies ? op->bound.output.height : 1;
        for (int64_t y = 0; y < rows; y++) {
            const size_t count = window_rows_at(op, y);
            most = count > most ? count : most;
        }
    }
    return most;
}

static size_t place(size_t *end, size_t bytes)
{
    const size_t offset = *end;
    *end += align_up(bytes);
    return offset;
}

static mona_status lay_out(mona_plan *plan)
{
    const uint32_t count = plan->model.header->op_count;
    size_t end = align_up(plan->state_bytes), scratch = 0;
    plan->zero_bytes = AC_ROW_SLACK;
    for (uint32_t o = 0; o < count; o++) {
        plan_op *op = &plan->ops[o];
        const mona_op_class *class = mona_ops[op->bound.op->kind];
        op->constants_bytes = class->constants_bytes ? class->constants_bytes(&op->bound) : 0;
        if (op->constants_bytes >= MAX_BYTES || end >= MAX_BYTES)
            return MONA_ERR_LIMIT;
        op->constants_offset = place(&end, op->constants_bytes);
        const mona_shape *s = mona_plan_progress_shape(op);
        const size_t bytes =
            class->scratch_bytes ? class->scratch_bytes(&op->bound, s->width) : 0;
        scratch = bytes > scratch ? bytes : scratch;
        if (op->row_bytes + AC_ROW_SLACK > plan->zero_bytes)
            plan->zero_bytes = op->row_bytes + AC_ROW_SLACK;
    }
    plan->zero_offset = place(&end, plan->zero_bytes);
    plan->core_offset = end;
    size_t core = align_up(plan->rings_bytes + AC_ROW_SLACK);
    plan->progress_offset = place(&core, count * sizeof(plan_progress));
    plan->scratch_offset = place(&core, scratch);
    plan->window_offset = place(&core, window_rows(plan) * sizeof(uint8_t *));
    plan->buffers_offset = core;
    const ac_target *t = plan->target;
    if (!plan->isa->conv_row)
        place(&core, (size_t)t->l0a_bytes + t->l0b_bytes + t->l0c_bytes + t->ub_bytes);
    plan->core_bytes = core;
    if (core >= MAX_BYTES / plan->cores || end >= MAX_BYTES)
        return MONA_ERR_LIMIT;
    plan->arena_bytes = end + core * plan->cores;
    return MONA_OK;
}

/* ---- public --------------------------------------------------------------------------------- */

/* The planner's own scratch follows the plan in the caller's memory. */
typedef struct plan_memory {
    mona_plan plan;
    plan_progress progress[MONA_MAX_OPS];
} plan_memory;

size_t mona_plan_bytes(void)
{
    return align_up(sizeof(plan_memory));
}

static mona_status choose_target(mona_plan *plan, const mona_config *config)
{
    const mona_device *device = config->device ? config->device : mona_device_find("auto");
    if (!device)
        return MONA_ERR_DEVICE;
    plan->target = device->target;
    plan->isa = device->isa(config->cpu);
    if (!plan->isa)
        return MONA_ERR_DEVICE;
    mona_device_properties properties;
    const mona_status status = mona_device_query(device, &properties);
    if (status)
        return status;
    if (config->threads > MONA_MAX_THREADS)
        return MONA_ERR_LIMIT;
    plan->cores = config->threads ? config->threads : properties.cores;
    if (plan->cores > MONA_MAX_THREADS)
        plan->cores = MONA_MAX_THREADS;
    if (!mona_port_has_threads())
        plan->cores = 1;
    return MONA_OK;
}

mona_status mona_plan_make(mona_plan **out, void *memory, const mona_model *model,
                           const mona_config *config)
{
    if (!out || !memory || (uintptr_t)memory % MONA_ALIGNMENT || !model || !model->header ||
        !config || config->strip_rows > MONA_MAX_SIDE || config->tile_columns > MONA_MAX_SIDE)
        return MONA_ERR_ARGUMENT;
    plan_memory *m = memory;
    mona_plan *plan = &m->plan;
    memset(plan, 0, sizeof *plan);
    plan->model = *model;
    plan->strip_rows = config->strip_rows ? config->strip_rows : 1;
    mona_status status = choose_target(plan, config);
    if (!status)
        status = bind_shapes(plan, config);
    if (status)
        return status;
    bind_ops(plan);
    fuse_stores(plan);
    choose_grid(plan);
    if (plan->cores > plan->grid_height)
        plan->cores = plan->grid_height;
    plan->tiles = 1;
    measure_depths(plan, m->progress);
    status = choose_tiles(plan, config, m->progress);
    plan->state_bytes = mona_session_state_bytes(plan);
    if (!status)
        status = lay_out(plan);
    if (!status)
        *out = plan;
    return status;
}

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
static bool core_buffer_at(const mona_plan *plan, size_t base, unsigned index,
                           mona_plan_buffer *b)
{
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        const plan_op *op = &plan->ops[o];
        if (op->depth && index-- == 0) {
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
        {"L0 and UB", plan->buffers_offset, plan->core_bytes},
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
        count += plan->ops[o].depth > 0;
    while (core_buffer_at(plan, 0, count, &ignored))
        count++;
    return count;
}

bool mona_plan_buffer_at(const mona_plan *plan, unsigned index, mona_plan_buffer *b)
{
    if (index-- == 0) {
        *b = (mona_plan_buffer){"session", "state", 0,
                                align_up(plan->state_bytes), 0};
        return true;
    }
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        const plan_op *op = &plan->ops[o];
        if (op->constants_bytes && index-- == 0) {
            *b = (mona_plan_buffer){plan->model.strings + op->bound.op->name, "weights",
                                    op->constants_offset,
                                    align_up(op->constants_bytes), 0};
            return true;
        }
    }
    if (index-- == 0) {
        *b = (mona_plan_buffer){"zero row", "state", plan->zero_offset,
                                plan->core_offset - plan->zero_offset, 0};
        return true;
    }
    const unsigned per_core = core_buffer_count(plan);
    const size_t core = index / per_core;
    return core < plan->cores && core_buffer_at(plan, plan->core_offset + core * plan->core_bytes,
                                                index % per_core, b);
}
