// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/bench_model.h"

#include "apps/cli/options.h"

bool bench_session_open(bench_session *s, const char *name, const mona_model *model,
                        const mona_config *config)
{
    pipeline_error error = {0};
    s->name = name;
    if (!session_binding_open(&s->bound, model, name, config, &error))
        return !cli_fail_of(&error);
    return bench_planes_open(&s->planes, config->device, s->bound.plan, model) ||
           cli_fail(0, "out of memory");
}

bool bench_session_run(bench_session *s)
{
    const mona_status status =
        mona_session_run(s->bound.session, s->planes.inputs, s->planes.outputs);
    return !status || cli_fail(0, "%s: %s", s->name, pipeline_reason(status));
}

static bool run_frame(void *session)
{
    return bench_session_run(session);
}

bool bench_session_sample(bench_session *s, const sampling *how, samples *times)
{
    return samples_take(times, how, run_frame, s);
}

void bench_session_close(bench_session *s)
{
    session_binding_close(&s->bound);
    bench_planes_close(&s->planes);
    *s = (bench_session){0};
}
