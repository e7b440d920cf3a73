// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/colour_grading.h"

#include <stdlib.h>

#include "pipeline/stages/plane_roles.h"
#include "pipeline/stages/stage.h"

enum { ANSWERS = COLOUR_GRADING_CURVES * COLOUR_GRADING_NODES };

struct colour_grading;

/* The work on one frame. */
typedef struct colour_grading_job {
    struct colour_grading *grading;
    const frame *in, *out;
    bool begins; /* as in stage_work */
} colour_grading_job;

typedef struct colour_grading {
    const named_model *model;
    frame_format format;
    bool full_range;
    double strength;
    const mona_device *device;
    const char *cpu;
    session_binding bound;
    thumbnail *seen;
    uint16_t *answer; /* fp16 */
    colour_grading_state state;
    colour_grading_job jobs[STAGE_SLOTS];
} colour_grading;

/* ---- opening -------------------------------------------------------------------------------- */

/* The inputs must be y, u and v, in any order. */
static bool check_inputs(const named_model *model, pipeline_error *error)
{
    unsigned found = 0;
    for (unsigned i = 0; i < mona_model_input_count(&model->model); i++) {
        const mona_tensor_info in = mona_model_input(&model->model, i);
        const int role = plane_role_of(in.name);
        if (in.type == MONA_U8 && in.channels == 1 && role >= PLANE_ROLE_LUMA &&
            role <= PLANE_ROLE_V)
            found += 1u << 4 * role;
    }
    return (found == 0x111 && mona_model_input_count(&model->model) == 3) ||
           pipeline_fail(
               error,
               "%s: expected a model of y, u and v as planes of u8, found others; mona compile "
               "--input-type u8 makes planes of u8",
               model->name);
}

static bool check_output(const colour_grading *g, const named_model *model, pipeline_error *error)
{
    const mona_tensor_info out = mona_plan_output(g->bound.plan, 0);
    return (mona_model_output_count(&model->model) == 1 && out.type == MONA_F16 &&
            out.channels == ANSWERS && out.width == 1 && out.height == 1) ||
           pipeline_fail(error, "%s: expected one output of %d x f16, found %u, %ux%u x %u x %s",
                         model->name, ANSWERS, mona_model_output_count(&model->model), out.width,
                         out.height, out.channels, mona_type_name(out.type));
}

static bool open(stage *s, const stage_settings *settings, pipeline_error *error)
{
    colour_grading *g = s->state;
    const named_model *model = settings->colour;
    mona_config config = stage_config(settings);
    const bool chip = device_is_ascend(config.device);
    if (!chip)
        config.threads = 1; /* a thumbnail is too small to share between threads */
    for (unsigned i = 0; i < 3; i++)
        config.sizes[i] = (mona_size){THUMBNAIL_SIDE, THUMBNAIL_SIDE};
    *g =
        (colour_grading){.model = model,
                         .format = s->in,
                         .full_range = settings->full_range,
                         .strength = settings->colour_strength >= 0 ? settings->colour_strength : 1,
                         .device = chip ? &mona_device_host : config.device,
                         .cpu = settings->cpu};
    if (!check_inputs(model, error) ||
        !session_binding_open_deep(&g->bound, &model->model, model->name, 8, settings->or_host,
                                   &config, error) ||
        !check_output(g, model, error))
        return false;
    g->seen = stage_take(s, sizeof *g->seen);
    g->answer = stage_take(s, ANSWERS * sizeof *g->answer);
    return (g->seen && g->answer) || pipeline_fail(error, "out of memory");
}

/* ---- running -------------------------------------------------------------------------------- */

/* These run on the stream, the first before the network and the others after it. */
static void see(void *argument)
{
    const colour_grading_job *job = argument;
    thumbnail_make(job->grading->seen, job->in, job->grading->full_range);
}

static void follow(void *argument)
{
    const colour_grading_job *job = argument;
    colour_grading *g = job->grading;
    colour_grading_curves answered;
    if (job->begins)
        g->state = (colour_grading_state){0};
    colour_grading_read(&answered, g->answer);
    colour_grading_follow(&g->state, g->seen, &answered);
}

static void apply(void *argument)
{
    const colour_grading_job *job = argument;
    const colour_grading *g = job->grading;
    const unsigned planes = g->format.planes < 3 ? 1 : 3;
    mona_buffer from[3], to[3];
    mona_curves curves;
    colour_grading_settle(&curves, &g->state.curves, g->strength, g->format.bits, g->full_range);
    for (unsigned p = 0; p < planes; p++) {
        from[p] = frame_buffer(job->in, p);
        to[p] = frame_buffer(job->out, p);
    }
    /* It cannot fail: everything was checked when the stage was opened. */
    mona_curves_apply(&curves, g->device, g->cpu, from, to, planes, frame_plane_size(&g->format, 0),
                      planes == 3 ? g->format.shift_x : 0, planes == 3 ? g->format.shift_y : 0);
}

/* Follows the colours of a frame, which a thumbnail shows in any size. */
static mona_status look(stage *s, const stage_work *work)
{
    colour_grading *g = s->state;
    colour_grading_job *job = &g->jobs[work->slot];
    mona_buffer inputs[3];
    const mona_buffer output = {g->answer, sizeof *g->answer, sizeof *g->answer};
    job->grading = g;
    job->in = work->in;
    job->out = work->out;
    job->begins = work->begins;
    for (unsigned i = 0; i < 3; i++) {
        const int role = plane_role_of(mona_model_input(&g->model->model, i).name);
        inputs[i] = (mona_buffer){.data = g->seen->planes[role], .row_stride = THUMBNAIL_SIDE};
    }
    mona_status status = mona_stream_call(s->stream, see, job);
    status = status ? status : mona_stream_run(s->stream, g->bound.session, inputs, &output);
    return status ? status : mona_stream_call(s->stream, follow, job);
}

static mona_status enqueue(stage *s, const stage_work *work)
{
    colour_grading *g = s->state;
    mona_status status = look(s, work);
    status = status ? status : mona_stream_call(s->stream, apply, &g->jobs[work->slot]);
    if (!status && work->in->format.planes == 4)
        status = frame_copy_plane(s->stream, work->in, work->out, 3);
    return status;
}

/* ---- the rest ------------------------------------------------------------------------------- */

static void close_grading(void *state)
{
    session_binding_close(&((colour_grading *)state)->bound);
}

static size_t bytes(const void *state)
{
    return session_binding_bytes(&((const colour_grading *)state)->bound);
}

static unsigned models(const void *state, stage_model list[STAGE_MAX_MODELS])
{
    list[0] = (stage_model){&((const colour_grading *)state)->bound, 1};
    return 1;
}

static const char *network(const stage_settings *settings, unsigned number)
{
    (void)number;
    return settings->colour->name;
}

const stage_row colour_grading_stage = {.state_bytes = sizeof(colour_grading),
                                        .looks = 8,
                                        .network = network,
                                        .open = open,
                                        .enqueue = enqueue,
                                        .look = look,
                                        .close = close_grading,
                                        .bytes = bytes,
                                        .models = models};
