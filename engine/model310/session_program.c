// SPDX-License-Identifier: Apache-2.0
/* Programs of a model: which one a plan takes, and the planes that they work on. */
#include "engine/model310/session_modelled.h"

#include "engine/libc.h"
#include "engine/model/model.h"

/* ---- which one ------------------------------------------------------------------------------- */

static uint32_t plane_count(const mona_plan *plan)
{
    return plan->model.header->input_count + plan->model.header->output_count;
}

static size_t planes_bytes(const mona_plan *plan, uint32_t tensor)
{
    const mona_tensor_info info = mona_plan_planes_info(plan, tensor);
    return mona_device_planes_bytes(&info);
}

/* The buffers of a program for this plan. False: one of them has 4 GiB or more. */
static bool buffers_of(const mona_plan *plan, ac_buffer *buffers)
{
    const uint32_t planes = plane_count(plan);
    for (uint32_t i = 0; i < planes; i++) {
        const mona_shape *s = &plan->shapes[i];
        if (planes_bytes(plan, i) > UINT32_MAX)
            return false;
        buffers[i] = (ac_buffer){(uint32_t)planes_bytes(plan, i), s->width, s->height, 0};
    }
    buffers[planes] = (ac_buffer){.bytes = (uint32_t)plan->maps_bytes};
    return plan->maps_bytes <= UINT32_MAX;
}

/* A plan may use fewer cores than there are. */
static bool leaves_cores_idle(const mona_plan *plan, const ac_program *program)
{
    for (uint32_t i = 0; i < program->header.segments; i++)
        for (uint32_t core = plan->cores; core < AC_PROGRAM_CORES; core++)
            if (program->segments[i].core[core].count)
                return false;
    return true;
}

static bool fits(const mona_plan *plan, const ac_program *program)
{
    ac_buffer buffers[AC_SPACES - AC_GM];
    const uint32_t count = plane_count(plan) + 1;
    return program->header.buffers == count &&
           program->header.inputs == plan->model.header->input_count && buffers_of(plan, buffers) &&
           leaves_cores_idle(plan, program) &&
           !memcmp(program->buffers, buffers, count * sizeof *buffers);
}

/* Whether the operators that a program leaves to AI CPUs are on arrays. */
static bool arrays_fit(const mona_plan *plan, const ac_program *program)
{
    for (uint32_t i = 0; i < program->header.segments; i++) {
        const uint32_t array = program->segments[i].array;
        const plan_group *g = array ? &plan->ops[array - 1].group : NULL;
        if (g && (!g->whole_maps || g->first != array - 1 || g->last != array))
            return false;
    }
    return true;
}

mona_status mona_program_plan(mona_plan *plan)
{
    uint32_t count;
    ac_proof proof;
    mona_status status = MONA_OK;
    const mona_file_program *p = mona_model_programs(&plan->model, &count);
    for (uint32_t i = 0; i < count; i++) {
        ac_program program;
        if (!mona_names_equal(p[i].target, plan->target->name))
            continue;
        if (!ac_program_open(&program, plan->model.file + p[i].offset, (size_t)p[i].bytes))
            return MONA_ERR_MODEL;
        if (program.header.version != AC_PROGRAM_VERSION) {
            status = MONA_ERR_VERSION; /* unless another one fits */
            continue;
        }
        if (!fits(plan, &program))
            continue;
        if (!ac_program_prove(&program, plan->target, plan->model.header->op_count, &proof) ||
            !arrays_fit(plan, &program))
            return MONA_ERR_MODEL;
        plan->program = program;
        return MONA_OK;
    }
    return status;
}

/* ---- planes ---------------------------------------------------------------------------------- */

mona_buffer mona_program_planes(const mona_session *s, uint32_t tensor)
{
    uint8_t *at = s->arena + s->plan->planes_offset;
    for (uint32_t t = 0; t < tensor; t++)
        at += align_up(planes_bytes(s->plan, t));
    const mona_tensor_info info = mona_plan_planes_info(s->plan, tensor);
    return mona_device_planes(at, NULL, &info);
}

static void copy_planes(const mona_shape *s, const mona_buffer *to, const mona_buffer *from)
{
    for (uint32_t c = 0; c < s->channels; c++)
        for (uint32_t y = 0; y < s->height; y++)
            memcpy((uint8_t *)to->data + (ptrdiff_t)c * to->channel_stride +
                       (ptrdiff_t)y * to->row_stride,
                   (const uint8_t *)from->data + (ptrdiff_t)c * from->channel_stride +
                       (ptrdiff_t)y * from->row_stride,
                   s->width * mona_type_size(s->type));
}

void mona_program_see_planes(mona_session *s, mona_buffer planes[2 * MONA_MAX_IO])
{
    for (uint32_t i = 0; i < plane_count(s->plan); i++)
        planes[i] = mona_program_planes(s, i);
    s->inputs = planes;
    s->outputs = planes + s->plan->model.header->input_count;
}

void mona_program_copy_planes(const mona_session *s, bool inputs)
{
    const uint32_t first = s->plan->model.header->input_count;
    for (uint32_t i = inputs ? 0 : first; i < (inputs ? first : plane_count(s->plan)); i++) {
        const mona_buffer planes = mona_program_planes(s, i);
        const mona_buffer *theirs = inputs ? &s->inputs[i] : &s->outputs[i - first];
        copy_planes(&s->plan->shapes[i], inputs ? &planes : theirs, inputs ? theirs : &planes);
    }
}

ac_program mona_session_places(const mona_session *s, ac_buffer buffers[AC_SPACES - AC_GM])
{
    const mona_plan *plan = s->plan;
    const ac_memory *constants = &s->workers[0].core.memory[AC_CONSTANTS];
    return (ac_program){
        .header = {.l1_bytes = (uint32_t)mona_plan_l1_bytes(plan),
                   .constants_bytes = (uint32_t)constants->size,
                   .zero_bytes = (uint32_t)(plan->maps_offset - plan->zero_offset),
                   .buffers = buffers_of(plan, buffers) ? plane_count(plan) + 1 : 0,
                   .inputs = plan->model.header->input_count,
                   .loads = 1},
        .constants = constants->bytes,
        .buffers = buffers,
    };
}

const char *mona_session_program_missing(const mona_session *s, uint32_t op)
{
    const mona_bound_op *b = &s->plan->ops[op].bound;
    const mona_op_program *program = mona_plan_program_of(s->plan, b->op->kind);
    if (!program || (!program->emit && !program->array))
        return "operators of its kind have none";
    return program->missing ? program->missing(b) : NULL;
}
