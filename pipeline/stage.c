#include "stage.h"

#include <stdlib.h>

#include "roles.h"

enum { LUMA_ONLY = 1 << ROLE_LUMA };

/* Binds a model of one plane to a plane's size, and sees that it doubles it. */
static bool open_doubler(bound_model *bound, const named_model *model,
                         const stage_settings *settings, const frame_format *format, unsigned plane,
                         pipeline_error *error)
{
    const mona_size size = frame_plane_size(format, plane);
    mona_config config = stage_config(settings);
    config.sizes[0] = size;
    if (!roles_check(model, LUMA_ONLY, LUMA_ONLY, error) ||
        !bound_open_deep(bound, &model->model, model->name, format->bits, &config, error))
        return false;
    mona_tensor_info out = mona_plan_output(bound->plan, 0);
    if (out.width != 2 * size.width || out.height != 2 * size.height)
        return pipeline_fail(error,
                             "%s: expected a model that doubles a frame, found one that makes "
                             "%ux%u of %ux%u",
                             model->name, out.width, out.height, size.width, size.height);
    return true;
}

static bool open_chroma(stage *s, const stage_settings *settings, pipeline_error *error)
{
    named_model sited = {.name = settings->bicubic->name};
    return siting_model(&sited.model, &s->sited, &settings->bicubic->model, settings->siting,
                        s->in.shift_x, s->in.shift_y, error) &&
           open_doubler(&s->chroma, &sited, settings, &s->in, 1, error);
}

static bool open_sr(stage *s, const stage_settings *settings, pipeline_error *error)
{
    s->out.width *= 2;
    s->out.height *= 2;
    s->out.multiple *= 2;
    if (s->out.width > MONA_MAX_SIDE || s->out.height > MONA_MAX_SIDE)
        return pipeline_fail(error, "expected a result of at most %d pixels a side, found %ux%u",
                             MONA_MAX_SIDE, s->out.width, s->out.height);
    return open_doubler(&s->luma, settings->sr, settings, &s->in, 0, error) &&
           (s->in.planes < 3 || open_chroma(s, settings, error)) &&
           (s->in.planes < 4 ||
            open_doubler(&s->alpha, settings->bicubic, settings, &s->in, 3, error));
}

bool stage_open(stage *s, stage_kind kind, const stage_settings *settings, frame_format in,
                unsigned enlarged, pipeline_error *error)
{
    *s = (stage){.kind = kind, .in = in, .out = in};
    s->stream_memory = bound_allocate(mona_stream_bytes());
    if (!s->stream_memory)
        return pipeline_fail(error, "out of memory");
    mona_status status =
        mona_stream_open(&s->stream, settings->device, s->stream_memory, mona_stream_bytes());
    if (status)
        return pipeline_fail(error, "a stream cannot start: %s", mona_status_text(status));
    s->delay = (delay){.settings = settings->delay};
    return kind == STAGE_SR        ? open_sr(s, settings, error)
           : kind == STAGE_DENOISE ? denoise_open(&s->denoiser, settings, in, enlarged, error)
                                   : true;
}

void stage_tell_models(const stage *s, unsigned number, const pipeline_probe *probe)
{
    const struct {
        const bound_model *model;
        unsigned runs;
    } models[] = {{&s->luma, 1},
                  {&s->chroma, 2},
                  {&s->alpha, 1},
                  {&s->denoiser.luma.bound, 1},
                  {&s->denoiser.chroma.bound, 2}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (models[i].model->session)
            probe->bound(probe->context, number, models[i].model, models[i].runs);
}

static mona_status enqueue_sr(stage *s, const frame *in, const frame *out)
{
    bound_model *const doublers[FRAME_MAX_PLANES] = {&s->luma, &s->chroma, &s->chroma, &s->alpha};
    mona_status status = MONA_OK;
    for (unsigned p = 0; p < in->format.planes && !status; p++) {
        mona_buffer source = frame_buffer(in, p), target = frame_buffer(out, p);
        status = mona_stream_run(s->stream, doublers[p]->session, &source, &target);
    }
    return status;
}

mona_status stage_enqueue(stage *s, const frame *in, const frame *out, const frame *previous,
                          unsigned slot)
{
    return s->kind == STAGE_SR ? enqueue_sr(s, in, out)
           : s->kind == STAGE_DENOISE
               ? denoise_enqueue(&s->denoiser, s->stream, in, out, previous, slot)
               : delay_enqueue(&s->delay, s->stream, in, out);
}

void stage_close(stage *s)
{
    mona_stream_close(s->stream);
    bound_close(&s->luma);
    bound_close(&s->chroma);
    bound_close(&s->alpha);
    denoise_close(&s->denoiser);
    free(s->sited);
    free(s->stream_memory);
    *s = (stage){0};
}

size_t stage_bytes(const stage *s)
{
    return bound_bytes(&s->luma) + bound_bytes(&s->chroma) + bound_bytes(&s->alpha) +
           denoise_bytes(&s->denoiser) + mona_stream_bytes();
}
