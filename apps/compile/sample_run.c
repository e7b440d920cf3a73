// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/accuracy.h"
#include "apps/compile/onnx_source.h"

#include <math.h>

bool sample_run_open(sample_run *r, const uint8_t *bytes, size_t size, const char *name,
                     pipeline_error *error)
{
    *r = (sample_run){.name = name};
    const mona_status status = kernels_open(&r->model, bytes, size);
    return !status ||
           pipeline_fail(error, "model %s cannot be used: %s", name, mona_status_text(status));
}

void sample_run_close(sample_run *r)
{
    plan_planes_close(&r->planes);
    session_binding_close(&r->bound);
}

static bool bind(sample_run *r, pipeline_error *error)
{
    const bool ok = session_binding_open(&r->bound, &r->model, r->name, &r->config, error) &&
                    (plan_planes_open(&r->planes, &r->model, r->bound.plan) ||
                     pipeline_fail(error, "out of memory"));
    if (!ok)
        sample_run_close(r);
    return ok;
}

bool sample_run_next(sample_run *r, const reference_array *inputs, pipeline_error *error)
{
    bool same = r->bound.session;
    for (unsigned i = 0; i < mona_model_input_count(&r->model); i++) {
        mona_size *size = &r->config.sizes[i];
        same = same && size->width == inputs[i].width && size->height == inputs[i].height;
        *size = (mona_size){inputs[i].width, inputs[i].height};
    }
    if (!same) {
        sample_run_close(r);
        if (!bind(r, error))
            return false;
    }
    for (unsigned i = 0; i < mona_model_input_count(&r->model); i++) {
        const size_t count = (size_t)inputs[i].channels * inputs[i].height * inputs[i].width;
        planes *in = &r->planes.in[i];
        if (in->count != count)
            return pipeline_fail(error, "model %s takes %zu numbers as input %u; found %zu",
                                 r->name, in->count, i, count);
        for (size_t k = 0; k < count; k++)
            planes_set(in, k, (double)inputs[i].data[k]);
    }
    const mona_status status = plan_planes_run(&r->planes, r->bound.session);
    return !status ||
           pipeline_fail(error, "model %s did not run: %s", r->name, mona_status_text(status));
}

bool sample_run_is_int(const planes *p)
{
    return p->info.type == MONA_U8 || p->info.type == MONA_S8 || p->info.type == MONA_U16;
}

double sample_run_held(const planes *p, double value)
{
    if (!sample_run_is_int(p))
        return value;
    return fmax(planes_low(&p->info), fmin(value, planes_high(&p->info)));
}
