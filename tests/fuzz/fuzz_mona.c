// SPDX-License-Identifier: Apache-2.0
/* Loads .mona models: each file as it is, and with a corrected checksum, since no change would get
 * past that otherwise. Models that load are planned and run, on the host, from the plan that they
 * hold for portable C, if any, and on model310 if they have programs. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "engine/aicore/program.h"
#include "engine/model/model.h"
#include "mona.h"
#include "pipeline/stages/session_binding.h"
#include "tests/seal.h"

enum { MAX_ARENA = 1 << 26, MAX_WORK = 1 << 24, MAX_INSTRUCTIONS = 4096 };

static size_t tensor_bytes(mona_tensor_info t)
{
    return (size_t)t.width * t.height * t.channels * mona_type_size(t.type);
}

/* Whether a model of a few KiB asks for a reasonable amount of work: it determines the sizes of
 * arrays. */
static bool is_small(const mona_plan *plan, unsigned inputs, unsigned outputs)
{
    size_t bytes = mona_plan_arena_bytes(plan);
    for (unsigned i = 0; i < inputs; i++)
        bytes += tensor_bytes(mona_plan_input(plan, i));
    for (unsigned i = 0; i < outputs; i++)
        bytes += tensor_bytes(mona_plan_output(plan, i));
    return bytes < MAX_ARENA && mona_plan_macs(plan) < MAX_WORK;
}

static mona_buffer make_buffer(mona_tensor_info t)
{
    const size_t row = (size_t)t.width * mona_type_size(t.type);
    return (mona_buffer){.data = session_binding_allocate(row * t.height * t.channels + 1),
                         .row_stride = (ptrdiff_t)row,
                         .channel_stride = (ptrdiff_t)(row * t.height)};
}

static void run_plan(mona_plan *plan, unsigned inputs, unsigned outputs)
{
    const size_t bytes = mona_plan_arena_bytes(plan);
    mona_buffer in[MONA_MAX_IO] = {0}, out[MONA_MAX_IO] = {0};
    mona_session *session;
    void *arena = is_small(plan, inputs, outputs) ? session_binding_allocate(bytes) : NULL;
    if (!arena)
        return;
    for (unsigned i = 0; i < inputs; i++)
        in[i] = make_buffer(mona_plan_input(plan, i));
    for (unsigned i = 0; i < outputs; i++)
        out[i] = make_buffer(mona_plan_output(plan, i));
    if (!mona_session_open(&session, plan, arena, bytes)) {
        if (mona_session_run(session, in, out))
            abort(); /* everything that can be planned must run */
        mona_session_close(session);
    }
    for (unsigned i = 0; i < MONA_MAX_IO; i++) {
        free(in[i].data);
        free(out[i].data);
    }
    free(arena);
}

typedef mona_status plan_maker(mona_plan **plan, void *memory, const mona_model *model,
                               const mona_config *config);

/* make: mona_plan_make or mona_plan_load */
static void survive_on(const mona_model *model, mona_config config, plan_maker *make)
{
    mona_plan *plan;
    const unsigned inputs = mona_model_input_count(model);
    for (unsigned i = 0; i < inputs; i++)
        if (!mona_model_input(model, i).width) /* else there is one size only */
            config.sizes[i] = (mona_size){8, 8};
    void *memory = session_binding_allocate(mona_plan_bytes(model));
    if (memory && !make(&plan, memory, model, &config))
        run_plan(plan, inputs, mona_model_output_count(model));
    free(memory);
}

/* Whether a model has programs that are sound, and none that would run for long. */
static bool has_programs(const mona_model *model)
{
    uint32_t count;
    const mona_file_program *p = mona_model_programs(model, &count);
    for (uint32_t i = 0; i < count; i++) {
        ac_program program;
        ac_proof proof;
        if (!ac_program_open(&program, model->file + p[i].offset, (size_t)p[i].bytes) ||
            !ac_program_prove(&program, &ac_target_ascend310, model->header->op_count, &proof) ||
            proof.instructions > MAX_INSTRUCTIONS)
            return false;
    }
    return count;
}

static void survive(const uint8_t *bytes, size_t size)
{
    mona_model model;
    if (mona_model_open(&model, bytes, size))
        return;
    survive_on(&model, (mona_config){.threads = 1}, mona_plan_make);
    survive_on(&model, (mona_config){.cpu = "c"}, mona_plan_load);
    if (has_programs(&model))
        survive_on(&model, (mona_config){.device = &mona_device_model310}, mona_plan_make);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = session_binding_allocate(size + 1);
    if (!bytes)
        return 0;
    if (size)
        memcpy(bytes, data, size);
    survive(bytes, size);
    if (size >= sizeof(mona_file_header)) {
        seal(bytes, size);
        survive(bytes, size);
    }
    free(bytes);
    return 0;
}
