#include "bench_session.h"

#include <stdlib.h>

#include "formats/file.h"
#include "options.h"

bool bench_session_open(bench_session *s, const char *name, const mona_model *model,
                        const mona_config *config)
{
    s->plan_memory = file_alloc(mona_plan_bytes());
    if (!s->plan_memory)
        return cli_fail(0, "out of memory"), false;
    mona_status status = mona_plan_make(&s->plan, s->plan_memory, model, config);
    if (!status) {
        const size_t bytes = mona_plan_arena_bytes(s->plan);
        s->arena = file_alloc(bytes);
        if (!s->arena || !bench_planes_open(&s->planes, s->plan, model))
            return cli_fail(0, "out of memory: %s needs %zu bytes", name, bytes), false;
        status = mona_session_open(&s->session, s->plan, s->arena, bytes);
    }
    if (status)
        cli_fail(0, "%s: %s", name, mona_status_text(status));
    return status == MONA_OK;
}

bool bench_session_run(bench_session *s, const char *name)
{
    const mona_status status = mona_session_run(s->session, s->planes.inputs, s->planes.outputs);
    if (status)
        cli_fail(0, "%s: %s", name, mona_status_text(status));
    return status == MONA_OK;
}

void bench_session_close(bench_session *s)
{
    mona_session_close(s->session);
    bench_planes_close(&s->planes);
    free(s->arena);
    free(s->plan_memory);
    *s = (bench_session){0};
}
