// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/stage.h"

#include <stdlib.h>

#include "engine/model_format.h"
#include "pipeline/quality/model_run.h"
#include "pipeline/stages/plane_roles.h"
#include "pipeline/stages/range.h"

enum { LUMA_ONLY = 1 << PLANE_ROLE_LUMA };

const char *stage_kind_name(stage_kind kind)
{
    static const char *const names[] = {[STAGE_SR] = "sr",
                                        [STAGE_DENOISE] = "denoise",
                                        [STAGE_DELAY] = "delay",
                                        [STAGE_COLOUR] = "colour",
                                        [STAGE_RESIZE] = "resize"};
    return names[kind];
}

/* Binds a model of one plane to a plane's size and checks that it enlarges as much as the stage
 * does. */
static bool open_plane(session_binding *bound, const named_model *model, const stage *s,
                       const stage_settings *settings, unsigned plane, unsigned bits,
                       pipeline_error *error)
{
    const mona_size size = frame_plane_size(&s->in, plane);
    mona_config config = stage_config(settings);
    config.sizes[0] = size;
    if (!plane_roles_check(model, LUMA_ONLY, LUMA_ONLY, error) ||
        !session_binding_open_deep(bound, &model->model, model->name, bits, &config, error))
        return false;
    mona_tensor_info out = mona_plan_output(bound->plan, 0);
    if (out.width != s->scale * size.width || out.height != s->scale * size.height)
        return pipeline_fail(
            error,
            "%s: expected a model that enlarges %u times, found one that makes %ux%u from %ux%u",
            model->name, s->scale, out.width, out.height, size.width, size.height);
    return true;
}

/* For chroma and alpha, by interpolation. *memory: the model's. */
static bool open_interpolated(session_binding *bound, void **memory, const stage *s,
                              const stage_settings *settings, unsigned plane, pipeline_error *error)
{
    const bool chroma = plane == 1;
    named_model sited = {.name = settings->bicubic->name};
    return chroma_location_model(&sited.model, memory, &settings->bicubic->model, MONA_RESIZE_CUBIC,
                                 s->scale, settings->chroma_location, chroma ? s->in.shift_x : 0,
                                 chroma ? s->in.shift_y : 0, error) &&
           open_plane(bound, &sited, s, settings, plane, s->in.bits, error);
}

static bool make_studio(stage *s, pipeline_error *error)
{
    frame_format in = s->in, out = s->out;
    in.planes = out.planes = 1;
    in.bits = out.bits = RANGE_BITS;
    s->studio_memory = session_binding_allocate(frame_bytes(&in) + frame_bytes(&out));
    if (!s->studio_memory)
        return pipeline_fail(error, "out of memory");
    frame_place(&s->studio[0], &in, s->studio_memory);
    frame_place(&s->studio[1], &out, s->studio_memory + frame_bytes(&in));
    return true;
}

static bool open_sr(stage *s, const named_model *model, const stage_settings *settings,
                    pipeline_error *error)
{
    const mona_config config = stage_config(settings);
    s->scale = model_scale(model, &config, error);
    if (!s->scale)
        return false;
    s->out.width *= s->scale;
    s->out.height *= s->scale;
    s->out.multiple *= s->scale;
    if (s->out.width > MONA_MAX_SIDE || s->out.height > MONA_MAX_SIDE)
        return pipeline_fail(error, "expected a result of at most %d pixels a side, found %ux%u",
                             MONA_MAX_SIDE, s->out.width, s->out.height);
    s->rects =
        session_binding_allocate(changes_most(frame_plane_size(&s->in, 0)) * sizeof *s->rects);
    if (!s->rects)
        return pipeline_fail(error, "out of memory");
    const unsigned bits = settings->full_range ? RANGE_BITS : s->in.bits;
    return open_plane(&s->luma, model, s, settings, 0, bits, error) &&
           (!settings->full_range || make_studio(s, error)) &&
           (s->in.planes < 3 ||
            open_interpolated(&s->chroma, &s->sited[0], s, settings, 1, error)) &&
           (s->in.planes < 4 || open_interpolated(&s->alpha, &s->sited[1], s, settings, 3, error));
}

/* Of frames `enlarged` times as large as the input. */
static bool open_resizer(stage *s, const stage_settings *settings, unsigned enlarged,
                         pipeline_error *error)
{
    frame_format input = s->in;
    input.width /= enlarged;
    input.height /= enlarged;
    const mona_size size = resize_target(&input, settings->resize);
    s->out.width = size.width;
    s->out.height = size.height;
    s->out.multiple /= enlarged;
    const resize_kernels kernels = {RESIZE_LANCZOS, RESIZE_LANCZOS};
    return resizer_open(&s->resizer, &s->in, &s->out, settings->chroma_location, &kernels, error);
}

bool stage_open(stage *s, stage_kind kind, unsigned number, const stage_settings *settings,
                frame_format in, unsigned enlarged, pipeline_error *error)
{
    *s = (stage){.kind = kind, .in = in, .out = in, .scale = 1};
    s->stream_memory = session_binding_allocate(mona_stream_bytes());
    if (!s->stream_memory)
        return pipeline_fail(error, "out of memory");
    mona_status status =
        mona_stream_open(&s->stream, settings->device, s->stream_memory, mona_stream_bytes());
    if (status)
        return pipeline_fail(error, "a stream cannot start: %s", pipeline_reason(status));
    s->delay = (delay){.settings = settings->delay};
    return kind == STAGE_SR        ? open_sr(s, settings->sr[number], settings, error)
           : kind == STAGE_DENOISE ? denoise_open(&s->denoiser, settings, in, enlarged, error)
           : kind == STAGE_COLOUR  ? colour_grading_open(&s->grading, settings, in, error)
           : kind == STAGE_RESIZE  ? open_resizer(s, settings, enlarged, error)
                                   : true;
}

void stage_tell_models(const stage *s, unsigned number, const pipeline_probe *probe)
{
    const struct {
        const session_binding *model;
        unsigned runs;
    } models[] = {{&s->luma, 1},
                  {&s->chroma, 2},
                  {&s->alpha, 1},
                  {&s->denoiser.luma.bound, 1},
                  {&s->denoiser.chroma.bound, 2},
                  {&s->grading.bound, 1}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (models[i].model->session)
            probe->bound(probe->context, number, models[i].model, models[i].runs);
}

/* Both run on the stream, before and after the network. */
static void enter_studio(void *argument)
{
    const conversion *c = argument;
    range_to_studio(c->to, c->from);
}

static void leave_studio(void *argument)
{
    const conversion *c = argument;
    range_to_full(c->to, c->from);
}

/* The arguments of stage_enqueue(). */
typedef struct enlargement {
    const frame *in, *out, *before, *previous;
    unsigned slot;
} enlargement;

/* Runs a model from `from` to `to`. made: its result for the frame before, which may be `to`. */
static mona_status enqueue_model(stage *s, const session_binding *model, const enlargement *e,
                                 unsigned plane, const frame *from, const frame *to,
                                 const frame *made)
{
    const mona_buffer source = frame_buffer(from, plane), target = frame_buffer(to, plane);
    plane_change *c = &s->changes[e->slot][plane];
    if (!e->before)
        return mona_stream_run(s->stream, model->session, &source, &target);
    *c = (plane_change){.in = *e->in,
                        .before = *e->before,
                        .plane = plane,
                        .previous = frame_buffer(made, plane),
                        .rects = s->rects};
    mona_status status = mona_stream_call(s->stream, changes_find, c);
    return status
               ? status
               : mona_stream_run_changed(s->stream, model->session, &source, &target, &c->change);
}

static mona_status enqueue_plane(stage *s, const session_binding *model, const enlargement *e,
                                 unsigned plane)
{
    return enqueue_model(s, model, e, plane, e->in, e->out, e->previous);
}

/* Samples that are equal are equal in studio range too. */
static mona_status enqueue_luma(stage *s, const enlargement *e)
{
    conversion *c = s->conversions[e->slot];
    if (!s->studio_memory)
        return enqueue_plane(s, &s->luma, e, 0);
    c[0] = (conversion){.to = &s->studio[0], .from = e->in};
    c[1] = (conversion){.to = e->out, .from = &s->studio[1]};
    mona_status status = mona_stream_call(s->stream, enter_studio, &c[0]);
    status = status ? status
                    : enqueue_model(s, &s->luma, e, 0, &s->studio[0], &s->studio[1], &s->studio[1]);
    return status ? status : mona_stream_call(s->stream, leave_studio, &c[1]);
}

static mona_status enqueue_sr(stage *s, const enlargement *e)
{
    mona_status status = enqueue_luma(s, e);
    for (unsigned p = 1; p < e->in->format.planes && !status; p++)
        status = enqueue_plane(s, p == 3 ? &s->alpha : &s->chroma, e, p);
    return status;
}

mona_status stage_enqueue(stage *s, const frame *in, const frame *out, const frame *before,
                          const frame *previous, float error, unsigned slot)
{
    const enlargement e = {in, out, before, previous, slot};
    return s->kind == STAGE_SR ? enqueue_sr(s, &e)
           : s->kind == STAGE_DENOISE
               ? denoise_enqueue(&s->denoiser, s->stream, in, out, previous, error, slot)
           : s->kind == STAGE_COLOUR ? colour_grading_enqueue(&s->grading, s->stream, in, out, slot)
           : s->kind == STAGE_RESIZE ? resizer_enqueue(&s->resizer, s->stream, in, out, slot)
                                     : delay_enqueue(&s->delay, s->stream, in, out);
}

void stage_close(stage *s)
{
    mona_stream_close(s->stream);
    session_binding_close(&s->luma);
    session_binding_close(&s->chroma);
    session_binding_close(&s->alpha);
    denoise_close(&s->denoiser);
    colour_grading_close(&s->grading);
    resizer_close(&s->resizer);
    free(s->sited[0]);
    free(s->sited[1]);
    free(s->rects);
    free(s->studio_memory);
    free(s->stream_memory);
    *s = (stage){0};
}

size_t stage_bytes(const stage *s)
{
    return session_binding_bytes(&s->luma) + session_binding_bytes(&s->chroma) +
           session_binding_bytes(&s->alpha) + denoise_bytes(&s->denoiser) +
           colour_grading_bytes(&s->grading) + s->resizer.bytes + mona_stream_bytes() +
           frame_bytes(&s->studio[0].format) + frame_bytes(&s->studio[1].format);
}
