// SPDX-License-Identifier: Apache-2.0
/* Queries about a plan: sizes, shapes, and where every byte of an arena goes. */
#include "engine/layout/layout.h"

/* Largest stack of any function of a run, over all kernels. tests/e2e/engine/stack.sh proves it
 * from the graph of calls. */
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
        const mona_shape *s = b->run->cuts_channels ? &b->output : &b->input[i];
        if (b->placed >> i & 1)
            continue;
        add_bytes(info, s, b->input_c0[i], plan->ops[op->writer[i]].map);
        add_bytes(info, s, b->output_c0, op->map);
    }
}

static void add_traffic(const mona_plan *plan, const plan_op *op, mona_op_info *info)
{
    if (mona_plan_copies(op)) {
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

/* Rows of a strip and columns of a tile, rounded up. On whole maps there are neither. */
static void add_tile(const mona_plan *plan, uint32_t index, mona_op_info *info)
{
    const plan_group *g = &plan->ops[plan->ops[index].group_first].group;
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
    const bool planes = op->bound.run->writes_planes || op->store != MONA_NONE;
    if (op->array)
        return op->map_bytes;
    return planes || op->home != o ? 0 : tensor_bytes(&op->bound.output, op->bound.output_c0);
}

/* Bytes of what operator `o` reads and none reads after it. A ring or map may be read through
 * several inputs. */
static uint64_t read_last(const mona_plan *plan, uint32_t o)
{
    const plan_op *op = &plan->ops[o];
    uint32_t homes[MONA_OP_MAX_INPUTS];
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < op->bound.op->input_count; i++) {
        const uint32_t w = op->writer[i] != MONA_NONE ? op->writer[i] : op->array_writer[i];
        homes[i] = w != MONA_NONE ? plan->ops[w].home : MONA_NONE;
        bool first = homes[i] != MONA_NONE && homes[i] != o;
        for (uint32_t k = 0; k < i; k++)
            first = first && homes[k] != homes[i];
        bytes += first && plan->ops[homes[i]].last_reader == o ? output_bytes(plan, homes[i]) : 0;
    }
    return bytes;
}

void mona_plan_tensors_of(const mona_plan *plan, mona_plan_tensors *tensors)
{
    uint64_t live = 0; /* what this operator writes, and what it or a later one reads */
    *tensors = (mona_plan_tensors){.planned_bytes = plan->maps_bytes +
                                                    (uint64_t)plan->cores * plan->rings_bytes};
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        const uint64_t written = output_bytes(plan, o);
        tensors->all_bytes += written;
        live += written;
        tensors->live_bytes = live > tensors->live_bytes ? live : tensors->live_bytes;
        live -= read_last(plan, o) + (plan->ops[o].last_reader == o ? written : 0);
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

/* Places where a region may lie, in the order in which lay_out() placed them; those without bytes
 * are none. Those of an arena: the session, the weights of each operator, and these; then those of
 * every core: the rings of all groups, the ring of each operator, and what follows. */
enum { PLACE_ZERO, PLACE_MAPS, PLACE_PLANES, SHARED_PLACES };
enum { CORE_PLACES = 5 };

static mona_plan_buffer weights_at(const mona_plan *plan, uint32_t o)
{
    const plan_op *op = &plan->ops[o];
    const size_t bytes = mona_plan_packs(plan) ? align_up(op->constants_bytes) : 0;
    return (mona_plan_buffer){plan->model.strings + op->bound.op->name, "weights",
                              op->constants_offset, bytes, 0};
}

static mona_plan_buffer shared_at(const mona_plan *plan, uint32_t i)
{
    const mona_plan_buffer shared[SHARED_PLACES] = {
        [PLACE_ZERO] = {"zero row", "state", plan->zero_offset,
                        plan->maps_offset - plan->zero_offset, 0},
        [PLACE_MAPS] = {"between groups", "maps", plan->maps_offset,
                        plan->maps_bytes ? plan->planes_offset - plan->maps_offset : 0, 0},
        [PLACE_PLANES] = {"inputs and outputs", "planes", plan->planes_offset,
                          plan->planes_bytes ? plan->core_offset - plan->planes_offset : 0, 0},
    };
    return shared[i];
}

static mona_plan_buffer rings_at(const mona_plan *plan, size_t base)
{
    return (mona_plan_buffer){"of each group in turn", "rings", base,
                              rings_apart(plan) ? 0 : plan->rings_bytes, 0};
}

static mona_plan_buffer ring_at(const mona_plan *plan, size_t base, uint32_t o)
{
    const plan_op *op = &plan->ops[o];
    const uint32_t rows = op->depth + op->row_outside;
    const bool own = rings_apart(plan) && mona_plan_has_ring(plan, o);
    return (mona_plan_buffer){output_name(plan, o), "ring", base + op->ring_offset,
                              own ? op->row_bytes * rows : 0, rows};
}

static mona_plan_buffer core_part_at(const mona_plan *plan, size_t base, uint32_t i)
{
    const struct {
        const char *name;
        size_t begin, end;
    } parts[CORE_PLACES] = {
        {"ring slack", plan->rings_bytes, plan->progress_offset},
        {"schedule", plan->progress_offset, plan->scratch_offset},
        {"scratch", plan->scratch_offset, plan->window_offset},
        {"row pointers", plan->window_offset, plan->device_offset},
        {"buffers and model", plan->device_offset, plan->core_bytes},
    };
    return (mona_plan_buffer){parts[i].name, "core", base + parts[i].begin,
                              parts[i].end - parts[i].begin, 0};
}

static mona_plan_buffer core_place_at(const mona_plan *plan, uint64_t i)
{
    const uint32_t ops = plan->model.header->op_count;
    const uint64_t per_core = 1 + (uint64_t)ops + CORE_PLACES;
    const size_t base = plan->core_offset + (size_t)(i / per_core) * plan->core_bytes;
    const uint32_t in_core = (uint32_t)(i % per_core);
    return in_core == 0     ? rings_at(plan, base)
           : in_core <= ops ? ring_at(plan, base, in_core - 1)
                            : core_part_at(plan, base, in_core - 1 - ops);
}

bool mona_plan_next_buffer(const mona_plan *plan, uint64_t *place, mona_plan_buffer *b)
{
    const uint32_t ops = plan->model.header->op_count;
    const uint64_t shared = 1 + (uint64_t)ops, cores = shared + SHARED_PLACES;
    const uint64_t end = cores + plan->cores * (1 + (uint64_t)ops + CORE_PLACES);
    for (b->bytes = 0; *place < end && !b->bytes; ++*place)
        *b = *place == 0       ? (mona_plan_buffer){"session", "state", 0, plan->state_bytes, 0}
             : *place < shared ? weights_at(plan, (uint32_t)(*place - 1))
             : *place < cores  ? shared_at(plan, (uint32_t)(*place - shared))
                               : core_place_at(plan, *place - cores);
    return b->bytes;
}
