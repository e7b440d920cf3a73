// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/program/programs.h"

#include <stdlib.h>

#include "engine/model_format.h"
#include "engine/model310/modelled.h"
#include "formats/compiler/program/recorder.h"
#include "formats/file.h"

typedef struct job {
    recorder *recorder;
    mona_file_header header;
    void *memory, *arena;
    ac_ring *rings;
    mona_plan *plan;
    mona_session *session;
    mona_buffer planes[2 * MONA_MAX_IO];
    uint32_t op[AC_PROGRAM_CORES]; /* that a core works on */
    uint32_t without;              /* an operator that has no program; MONA_NONE: all have one */
} job;

static void on_begin(void *context, const ac_segment *places, const ac_ring *rings)
{
    recorder_segment(((job *)context)->recorder, places, rings);
}

static void on_operator(void *context, uint32_t core, uint32_t op)
{
    job *j = context;
    j->op[core] = op;
    recorder_operator(j->recorder, core, op);
}

static void on_take(void *context, uint32_t core, const ac_instruction *i)
{
    job *j = context;
    if (i->opcode == AC_OP_WORK)
        j->without = j->op[core];
    else
        recorder_take(j->recorder, core, i);
}

/* Planes without gaps, as a program's are. */
static bool open_planes(mona_buffer *b, mona_tensor_info t)
{
    const size_t row = t.width * mona_type_size(t.type);
    *b = (mona_buffer){file_alloc(row * t.height * t.channels), (ptrdiff_t)row,
                       (ptrdiff_t)(row * t.height)};
    return b->data;
}

static void close_job(job *j)
{
    mona_session_close(j->session);
    for (size_t i = 0; i < 2 * MONA_MAX_IO; i++)
        free(j->planes[i].data);
    recorder_free(j->recorder);
    free(j->rings);
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
    j->rings = calloc(model->header->op_count, sizeof *j->rings);
    if (!j->recorder || !j->memory || !j->rings)
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

/* Runs a frame whose instructions nobody executes, so that its samples do not matter. */
static bool run_frame(job *j, const mona_model *model, format_error *error)
{
    const unsigned inputs = mona_model_input_count(model), outputs = mona_model_output_count(model);
    const mona_program_recorder r = {j, j->rings, on_begin, on_operator, on_take};
    bool ok = true;
    for (unsigned i = 0; i < inputs; i++)
        ok = ok && open_planes(&j->planes[i], mona_plan_input(j->plan, i));
    for (unsigned i = 0; i < outputs; i++)
        ok = ok && open_planes(&j->planes[inputs + i], mona_plan_output(j->plan, i));
    if (!ok)
        return format_fail(error, "out of memory");
    mona_session_record(j->session, &r);
    const mona_status status = mona_session_run(j->session, j->planes, j->planes + inputs);
    return !status || format_fail(error, "%s", mona_status_text(status));
}

static bool finish(job *j, uint8_t **bytes, size_t *count, format_error *error)
{
    ac_buffer buffers[AC_SPACES - AC_GM];
    ac_program program = mona_session_places(j->session, buffers);
    const char *why;
    ac_proof proof = {.record = UINT32_MAX};
    mona_op_info op;
    if (j->without != MONA_NONE && mona_plan_op_at(j->plan, j->without, &op))
        return format_fail(error, "operator %s (%s) has no AI Core program yet: %s", op.name,
                           op.kind, mona_session_program_missing(j->session, j->without));
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
    job j = {.without = MONA_NONE};
    const bool ok = open_session(&j, model, size, error) && run_frame(&j, model, error) &&
                    finish(&j, bytes, count, error);
    close_job(&j);
    return ok;
}
