// SPDX-License-Identifier: Apache-2.0
#include "pipeline/quality/quality.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/stages/plane_roles.h"

enum { NEUTRAL = 128 };

/* A frame and its memory. */
typedef struct held_frame {
    frame frame;
    uint8_t *memory;
} held_frame;

static bool held_open(held_frame *held, const real_plane *luma, bool colour)
{
    const frame_format format = {.width = luma->width,
                                 .height = luma->height,
                                 .planes = colour ? 3 : 1,
                                 .shift_x = colour,
                                 .shift_y = colour,
                                 .bits = 8,
                                 .multiple = colour ? 2 : 1};
    held->memory = session_binding_allocate(frame_bytes(&format));
    if (held->memory)
        frame_place(&held->frame, &format, held->memory);
    return held->memory;
}

static bool fill(held_frame *held, const real_plane *luma)
{
    uint8_t *samples = malloc((size_t)luma->width * luma->height);
    if (!samples)
        return false;
    memset(held->memory, NEUTRAL, frame_bytes(&held->frame.format));
    measure_to_bytes(samples, luma);
    frame_fill_plane(&held->frame, 0, samples, luma->width);
    free(samples);
    return true;
}

static void take_luma(real_plane *to, const frame *from)
{
    for (uint32_t y = 0; y < to->height; y++) {
        real_plane row = {to->width, 1, to->values + (size_t)y * to->width};
        measure_from_bytes(&row, frame_row(from, PLANE_ROLE_LUMA, y));
    }
}

/* Checks that the frames have the sizes of the session's planes. */
static bool check_sizes(const mona_plan *plan, const named_model *model, const frame_format *out,
                        pipeline_error *error)
{
    for (unsigned i = 0; i < mona_model_output_count(&model->model); i++) {
        const mona_tensor_info info = mona_plan_output(plan, i);
        const mona_size want = plane_role_size(plane_role_of(info.name), out);
        if (info.width != want.width || info.height != want.height)
            return pipeline_fail(error, "%s: expected '%s' of %ux%u, found %ux%u", model->name,
                                 info.name, want.width, want.height, info.width, info.height);
    }
    return true;
}

static bool run_frame(const frame *out, const frame *in, uint8_t *noise_row, session_binding *bound,
                      const named_model *named, pipeline_error *error)
{
    const mona_model *model = &named->model;
    mona_buffer inputs[MONA_MAX_IO], outputs[MONA_MAX_IO];
    for (unsigned i = 0; i < mona_model_input_count(model); i++) {
        const int role = plane_role_of(mona_model_input(model, i).name);
        inputs[i] = role == PLANE_ROLE_NOISE ? (mona_buffer){.data = noise_row, .row_stride = 0}
                                             : frame_buffer(in, (unsigned)role);
    }
    for (unsigned i = 0; i < mona_model_output_count(model); i++)
        outputs[i] = frame_buffer(out, (unsigned)plane_role_of(mona_model_output(model, i).name));
    const mona_status status = mona_session_run(bound->session, inputs, outputs);
    return !status ||
           pipeline_fail(error, "%s: computing failed: %s", named->name, pipeline_reason(status));
}

bool model_run(real_plane *to, const real_plane *from, const named_model *model, bool or_host,
               const mona_config *config, unsigned sigma, pipeline_error *error)
{
    const bool colour = mona_model_input_count(&model->model) > 1;
    held_frame in = {0}, out = {0};
    session_binding bound = {0};
    uint8_t *noise_row = malloc(MONA_MAX_SIDE);
    bool done = (noise_row && held_open(&in, from, colour) && held_open(&out, to, colour) &&
                 fill(&in, from)) ||
                pipeline_fail(error, "out of memory");
    if (done) {
        mona_config bind = *config;
        plane_roles_bind(&model->model, &in.frame.format, &bind);
        memset(noise_row, (int)sigma, MONA_MAX_SIDE);
        done = session_binding_open_deep(&bound, &model->model, model->name, 8, or_host, &bind,
                                         error) &&
               check_sizes(bound.plan, model, &out.frame.format, error) &&
               run_frame(&out.frame, &in.frame, noise_row, &bound, model, error);
    }
    if (done)
        take_luma(to, &out.frame);
    session_binding_close(&bound);
    free(noise_row);
    free(in.memory);
    free(out.memory);
    return done;
}
