#include "stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "roles.h"

enum { LUMA_ONLY = 1 << ROLE_LUMA, COLOUR = LUMA_ONLY | 1 << ROLE_U | 1 << ROLE_V };

/* The estimate follows a change of the noise within about a second of video, and does not flicker.
 */
#define SMOOTHING 0.1f

static mona_config config_from(const stage_settings *settings)
{
    return (mona_config){.device = settings->device,
                         .cpu = settings->cpu,
                         .threads = settings->threads,
                         .strip_rows = settings->strip_rows};
}

/* Binds a model of one plane to a plane's size, and sees that it doubles it. */
static bool open_doubler(bound_model *bound, const named_model *model,
                         const stage_settings *settings, mona_size size, pipeline_error *error)
{
    mona_config config = config_from(settings);
    config.sizes[0] = size;
    if (!roles_check(model, LUMA_ONLY, LUMA_ONLY, error) ||
        !bound_open(bound, &model->model, model->name, &config, error))
        return false;
    mona_tensor_info out = mona_plan_output(bound->plan, 0);
    if (out.width != 2 * size.width || out.height != 2 * size.height)
        return pipeline_fail(error,
                             "%s: expected a model that doubles a frame, found one that makes "
                             "%ux%u of %ux%u",
                             model->name, out.width, out.height, size.width, size.height);
    return true;
}

static bool open_sr(stage *s, const stage_settings *settings, pipeline_error *error)
{
    const named_model *chroma = s->in.chroma_shift && settings->chroma_left
                                    ? settings->bicubic_left
                                    : settings->bicubic_center;
    s->out.width *= 2;
    s->out.height *= 2;
    s->out.multiple *= 2;
    if (s->out.width > MONA_MAX_SIDE || s->out.height > MONA_MAX_SIDE)
        return pipeline_fail(error, "expected a result of at most %d pixels a side, found %ux%u",
                             MONA_MAX_SIDE, s->out.width, s->out.height);
    s->model = settings->sr;
    if (!open_doubler(&s->main, s->model, settings, frame_plane_size(&s->in, 0), error))
        return false;
    if (s->in.planes >= 3 &&
        !open_doubler(&s->chroma, chroma, settings, frame_plane_size(&s->in, 1), error))
        return false;
    return s->in.planes < 4 || open_doubler(&s->alpha, settings->bicubic_center, settings,
                                            frame_plane_size(&s->in, 3), error);
}

static bool open_denoise(stage *s, const stage_settings *settings, unsigned enlarged,
                         pipeline_error *error)
{
    mona_config config = config_from(settings);
    const size_t row = role_size(ROLE_NOISE, &s->in).width;

    s->model = settings->denoise;
    s->strength = settings->strength;
    s->noise_spacing = 1u << enlarged;
    s->sigma = -1;
    roles_bind(&s->model->model, &s->in, &config);
    if (!roles_check(s->model, COLOUR | 1 << ROLE_NOISE, COLOUR, error) ||
        !bound_open(&s->main, &s->model->model, s->model->name, &config, error))
        return false;
    for (unsigned i = 0; i < mona_model_output_count(&s->model->model); i++) {
        mona_tensor_info out = mona_plan_output(s->main.plan, i);
        mona_size want = role_size(role_of(out.name), &s->in);
        if (out.width != want.width || out.height != want.height)
            return pipeline_fail(error, "%s: expected '%s' of %ux%u, found %ux%u", s->model->name,
                                 out.name, want.width, want.height, out.width, out.height);
    }
    s->noise_rows = bound_allocate(row * STAGE_SLOTS);
    s->work = bound_allocate(sizeof *s->work);
    if (!s->noise_rows || !s->work)
        return pipeline_fail(error, "out of memory");
    for (unsigned i = 0; i < STAGE_SLOTS; i++)
        s->jobs[i] = (noise_job){.stage = s, .row = s->noise_rows + i * row};
    return true;
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
    return kind == STAGE_SR ? open_sr(s, settings, error)
                            : open_denoise(s, settings, enlarged, error);
}

static mona_status run_plane(stage *s, bound_model *bound, const frame *in, const frame *out,
                             unsigned plane)
{
    mona_buffer source = frame_buffer(in, plane), target = frame_buffer(out, plane);
    return mona_stream_run(s->stream, bound->session, &source, &target);
}

static mona_status enqueue_sr(stage *s, const frame *in, const frame *out)
{
    mona_status status = run_plane(s, &s->main, in, out, 0);
    for (unsigned p = 1; p < in->format.planes && !status; p++)
        status = run_plane(s, p < 3 ? &s->chroma : &s->alpha, in, out, p);
    return status;
}

/* Runs on the stream, just before the network. */
static void set_noise(void *argument)
{
    noise_job *job = argument;
    stage *s = job->stage;
    mona_size luma = frame_plane_size(&job->in->format, 0);
    float sigma = (float)(s->strength * STAGE_MAX_SIGMA);

    if (s->strength < 0) {
        float now = noise_sigma(s->work, job->in->data[0], job->in->stride[0], luma.width,
                                luma.height, s->noise_spacing);
        s->sigma = s->sigma < 0 ? now : s->sigma + SMOOTHING * (now - s->sigma);
        sigma = s->sigma < (float)STAGE_MAX_SIGMA ? s->sigma : (float)STAGE_MAX_SIGMA;
    }
    memset(job->row, (int)lrintf(sigma), role_size(ROLE_NOISE, &job->in->format).width);
}

static mona_status enqueue_denoise(stage *s, const frame *in, const frame *out, unsigned slot)
{
    mona_buffer inputs[MONA_MAX_IO], outputs[MONA_MAX_IO];
    const mona_model *model = &s->model->model;
    noise_job *job = &s->jobs[slot];

    for (unsigned i = 0; i < mona_model_input_count(model); i++) {
        int role = role_of(mona_model_input(model, i).name);
        inputs[i] = role == ROLE_NOISE ? (mona_buffer){.data = job->row, .row_stride = 0}
                                       : frame_buffer(in, (unsigned)role);
    }
    for (unsigned i = 0; i < mona_model_output_count(model); i++)
        outputs[i] = frame_buffer(out, (unsigned)role_of(mona_model_output(model, i).name));

    job->in = in;
    mona_status status = mona_stream_call(s->stream, set_noise, job);
    if (!status)
        status = mona_stream_run(s->stream, s->main.session, inputs, outputs);
    if (!status && in->format.planes == 4)
        status = mona_stream_copy(s->stream, out->data[3], out->stride[3], in->data[3],
                                  in->stride[3], in->format.width, in->format.height);
    return status;
}

mona_status stage_enqueue(stage *s, const frame *in, const frame *out, unsigned slot)
{
    return s->kind == STAGE_SR ? enqueue_sr(s, in, out) : enqueue_denoise(s, in, out, slot);
}

void stage_close(stage *s)
{
    mona_stream_close(s->stream);
    bound_close(&s->main);
    bound_close(&s->chroma);
    bound_close(&s->alpha);
    free(s->stream_memory);
    free(s->noise_rows);
    free(s->work);
    *s = (stage){0};
}

size_t stage_bytes(const stage *s)
{
    return bound_bytes(&s->main) + bound_bytes(&s->chroma) + bound_bytes(&s->alpha) +
           mona_stream_bytes();
}
