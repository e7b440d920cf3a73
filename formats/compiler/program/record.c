// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/program/programs.h"

#include <stdlib.h>

#include "engine/model_format.h"
#include "engine/model310/modelled.h"
#include "engine/run/session.h"
#include "formats/compiler/program/recorder.h"
#include "formats/file.h"

typedef struct job {
    recorder *recorder;
    mona_file_header header;
    void *memory, *arena;
    mona_plan *plan;
    mona_session *session;
} job;

static void close_job(job *j)
{
    mona_session_close(j->session);
    recorder_free(j->recorder);
    free(j->arena);
    free(j->memory);
}

static bool open_session(job *j, const mona_model *model, mona_size size, format_error *error)
{
    const mona_config config = {.device = &mona_device_model310, .sizes = {size}};
    mona_model fresh = *model;
    j->header = *model->header;
    j->header.program_count = 0; /* so that it is planned */
    fresh.header = &j->header;
    j->recorder = recorder_new();
    j->memory = file_alloc(mona_plan_bytes(&fresh));
    if (!j->recorder || !j->memory)
        return format_fail(error, "out of memory");
    mona_status status = mona_plan_make(&j->plan, j->memory, &fresh, &config);
    if (status == MONA_ERR_UNSUPPORTED)
        return format_fail(error, "a group of its operators needs more than the chip's L1");
    if (status)
        return format_fail(error, "%s", mona_status_text(status));
    j->arena = file_alloc(mona_plan_arena_bytes(j->plan));
    if (!j->arena)
        return format_fail(error, "out of memory");
    status = mona_session_open(&j->session, j->plan, j->arena, mona_plan_arena_bytes(j->plan));
    return !status || format_fail(error, "%s", mona_status_text(status));
}

/* Runs a frame, of which only the strides of planes matter. */
static bool run_frame(job *j, format_error *error)
{
    const uint32_t inputs = j->plan->model.header->input_count;
    const mona_program_recorder r = {j->recorder, recorder_segment, recorder_ring, recorder_take};
    mona_buffer planes[2 * MONA_MAX_IO];
    for (uint32_t i = 0; i < inputs + j->plan->model.header->output_count; i++)
        planes[i] = mona_session_dense(&j->plan->shapes[i], j->arena);
    mona_session_record(j->session, &r);
    const mona_status status = mona_session_run(j->session, planes, planes + inputs);
    return !status || format_fail(error, "%s", mona_status_text(status));
}

static bool finish(job *j, uint8_t **bytes, size_t *count, format_error *error)
{
    ac_buffer buffers[AC_SPACES - AC_GM];
    ac_program program = mona_session_places(j->session, buffers);
    const char *why;
    ac_proof proof = {.record = UINT32_MAX};
    mona_op_info op;
    const uint32_t without = recorder_without(j->recorder);
    if (without && mona_plan_op_at(j->plan, without - 1, &op))
        return format_fail(error, "operator %s (%s) has no AI Core program yet: %s", op.name,
                           op.kind, mona_session_program_missing(j->session, without - 1));
    *bytes = recorder_finish(j->recorder, &program, count, &why);
    if (!*bytes)
        return format_fail(error, "%s", why);
    if (ac_program_open(&program, *bytes, *count) &&
        ac_program_prove(&program, &ac_target_ascend310, j->header.op_count, &proof))
        return true;
    free(*bytes);
    return format_fail(error, "the program cannot be proved at record %u", proof.record);
}

bool program_record(const mona_model *model, mona_size size, uint8_t **bytes, size_t *count,
                    format_error *error)
{
    job j = {0};
    const bool ok = open_session(&j, model, size, error) && run_frame(&j, error) &&
                    finish(&j, bytes, count, error);
    close_job(&j);
    return ok;
}
