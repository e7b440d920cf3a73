// SPDX-License-Identifier: Apache-2.0
/* Runs a model file on model310. */
#include <stdlib.h>

#include "formats/file.h"
#include "engine/model310/modelled.h"
#include "tests/bench/published/published.h"

static void add_reports(const mona_session *session, depth_first *sum)
{
    const ac_model_report *r;
    for (unsigned core = 0; (r = mona_session_modelled(session, core)); core++) {
        const double ms = r->cycles / ac_costs_310.clock_mhz * 1e-3;
        sum->ms = ms > sum->ms ? ms : sum->ms;
        sum->bytes += (double)(r->gm_read + r->gm_written);
    }
}

/* For models with one plane in and one out. */
static bool run_rows(const mona_model *model, uint32_t width, uint32_t rows, depth_first *result)
{
    const mona_config config = {.device = &mona_device_model310, .sizes = {{width, rows}}};
    void *memory = aligned_alloc(MONA_ALIGNMENT, mona_plan_bytes(model));
    mona_plan *plan;
    mona_session *session;
    bool done = memory && mona_plan_make(&plan, memory, model, &config) == MONA_OK;
    *result = (depth_first){0, 0};
    if (done) {
        const mona_tensor_info to = mona_plan_output(plan, 0);
        const size_t arena_bytes = mona_plan_arena_bytes(plan);
        uint8_t *in = calloc(width, rows), *out = calloc(to.width, to.height);
        void *arena = aligned_alloc(MONA_ALIGNMENT, (arena_bytes + 63) / 64 * 64);
        const mona_buffer from = {in, width, 0}, into = {out, to.width, 0};
        done =
            in && out && arena && mona_session_open(&session, plan, arena, arena_bytes) == MONA_OK;
        if (done) {
            done = mona_session_run(session, &from, &into) == MONA_OK;
            add_reports(session, result);
            mona_session_close(session);
        }
        free(in), free(out), free(arena);
    }
    free(memory);
    return done;
}

bool run_depth_first(const char *path, uint32_t width, uint32_t height, depth_first *result)
{
    format_error error;
    uint8_t *bytes = NULL;
    size_t size;
    mona_model model;
    depth_first less, more;
    const bool done = file_read(path, "a .mona model", SIZE_MAX, &bytes, &size, &error) &&
                      mona_model_open(&model, bytes, size) == MONA_OK &&
                      run_rows(&model, width, MODELLED_SHORT_ROWS, &less) &&
                      run_rows(&model, width, MODELLED_LONG_ROWS, &more);
    free(bytes);
    if (done)
        *result = (depth_first){modelled_grown(less.ms, more.ms, height),
                                modelled_grown(less.bytes, more.bytes, height)};
    return done;
}
