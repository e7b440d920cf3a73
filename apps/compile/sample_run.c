// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/sample_run.h"

#include <math.h>

bool sample_run_open(sample_run *r, const uint8_t *bytes, size_t size, const char *name,
                     pipeline_error *error)
{
    *r = (sample_run){.name = name};
    const mona_status status = mona_model_open(&r->model, bytes, size);
    return !status ||
           pipeline_fail(error, "model %s cannot be used: %s", name, mona_status_text(status));
}

static void unbind(sample_run *r)
{
    for (unsigned i = 0; i < MONA_MAX_IO; i++) {
        planes_close(&r->in[i]);
        planes_close(&r->out[i]);
    }
    session_binding_close(&r->bound);
}

void sample_run_close(sample_run *r)
{
    unbind(r);
}

static bool bind(sample_run *r, pipeline_error *error)
{
    bool ok = session_binding_open(&r->bound, &r->model, r->name, &r->config, error);
    for (unsigned i = 0; ok && i < mona_model_input_count(&r->model); i++)
        ok = planes_open(&r->in[i], mona_plan_input(r->bound.plan, i)) ||
             pipeline_fail(error, "out of memory");
    for (unsigned i = 0; ok && i < mona_model_output_count(&r->model); i++)
        ok = planes_open(&r->out[i], mona_plan_output(r->bound.plan, i)) ||
             pipeline_fail(error, "out of memory");
    if (!ok)
        unbind(r);
    return ok;
}

bool sample_run_next(sample_run *r, const reference_array *inputs, pipeline_error *error)
{
    mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
    bool same = r->bound.session;
    for (unsigned i = 0; i < mona_model_input_count(&r->model); i++) {
        mona_size *size = &r->config.sizes[i];
        same = same && size->width == inputs[i].width && size->height == inputs[i].height;
        *size = (mona_size){inputs[i].width, inputs[i].height};
    }
    if (!same) {
        unbind(r);
        if (!bind(r, error))
            return false;
    }
    for (unsigned i = 0; i < mona_model_input_count(&r->model); i++) {
        const size_t count = (size_t)inputs[i].channels * inputs[i].height * inputs[i].width;
        if (r->in[i].count != count)
            return pipeline_fail(error, "model %s takes %zu numbers as input %u; found %zu",
                                 r->name, r->in[i].count, i, count);
        for (size_t k = 0; k < count; k++)
            planes_set(&r->in[i], k, (double)inputs[i].data[k]);
        in[i] = r->in[i].buffer;
    }
    for (unsigned i = 0; i < mona_model_output_count(&r->model); i++)
        out[i] = r->out[i].buffer;
    const mona_status status = mona_session_run(r->bound.session, in, out);
    return !status ||
           pipeline_fail(error, "model %s did not run: %s", r->name, mona_status_text(status));
}

bool sample_run_is_int(const planes *p)
{
    return p->info.type == MONA_U8 || p->info.type == MONA_S8 || p->info.type == MONA_U16;
}

double sample_run_held(const planes *p, double value)
{
    static const struct {
        double low, high;
    } bounds[MONA_TYPE_COUNT] = {
        [MONA_U8] = {0, 255}, [MONA_S8] = {-128, 127}, [MONA_U16] = {0, 65535}};
    if (!sample_run_is_int(p))
        return value;
    const double scale = (double)p->info.scale;
    return fmax(bounds[p->info.type].low * scale, fmin(value, bounds[p->info.type].high * scale));
}
