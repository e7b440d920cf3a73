// SPDX-License-Identifier: Apache-2.0
/* Runs a model in every way that does not take long: planned by one thread and by two in short
 * strips, by the plan that it holds for portable C, on model310 by its programs; whole, by changed
 * parts and line by line. */
#ifndef MONA_TESTS_FUZZ_RUN_MODEL_H
#define MONA_TESTS_FUZZ_RUN_MODEL_H

#include <stdlib.h>

#include "engine/aicore/program.h"
#include "engine/model/model.h"
#include "mona.h"
#include "pipeline/stages/session_binding.h"
#include "tests/fuzz/fuzz.h"

enum { FUZZ_ARENA = 1 << 22, FUZZ_WORK = 1 << 24, FUZZ_INSTRUCTIONS = 4096 };

typedef mona_buffer fuzz_buffers[MONA_MAX_IO];

static inline size_t fuzz_row(mona_tensor_info t)
{
    return (size_t)t.width * mona_type_size(t.type);
}

/* Whether a model of a few KiB asks for a reasonable amount of work: it determines the sizes of
 * arrays. */
static inline bool fuzz_is_cheap(const mona_plan *plan, unsigned inputs, unsigned outputs)
{
    size_t bytes = mona_plan_arena_bytes(plan);
    for (unsigned i = 0; i < inputs + outputs; i++) {
        const mona_tensor_info t =
            i < inputs ? mona_plan_input(plan, i) : mona_plan_output(plan, i - inputs);
        bytes += fuzz_row(t) * t.height * t.channels;
    }
    return bytes < FUZZ_ARENA && mona_plan_macs(plan) < FUZZ_WORK;
}

static inline mona_buffer fuzz_buffer(mona_tensor_info t)
{
    const size_t row = fuzz_row(t), bytes = row * t.height * t.channels;
    uint8_t *data = session_binding_allocate(bytes + 1);
    for (size_t i = 0; data && i < bytes; i++)
        data[i] = (uint8_t)(i * 37 + (i >> 5));
    return (mona_buffer){data, (ptrdiff_t)row, (ptrdiff_t)(row * t.height)};
}

/* What everything that can be planned must do. */
static inline void fuzz_must(mona_status status)
{
    if (status)
        abort();
}

static inline void fuzz_run_changed(mona_session *session, const mona_plan *plan,
                                    const fuzz_buffers in, const fuzz_buffers out)
{
    const mona_tensor_info first = mona_plan_input(plan, 0);
    const mona_rect corner = {0, first.width - 1, first.height - 1, 1, 1};
    const mona_change change = {out, &corner, 1};
    mona_session_run_changed(session, in, out, &change);
}

static inline void fuzz_run_lines(mona_session *session, const mona_plan *plan, unsigned inputs,
                                  unsigned outputs, const fuzz_buffers in, const fuzz_buffers out)
{
    mona_lines lines;
    if (mona_plan_lines(plan, &lines))
        return;
    for (uint32_t pushed = 0, pulled = 0; pushed < lines.count; pushed++) {
        fuzz_buffers from = {0}, to = {0};
        bool ready = true;
        for (unsigned i = 0; i < inputs; i++) {
            from[i] = in[i];
            from[i].data =
                (uint8_t *)in[i].data + (ptrdiff_t)pushed * in[i].row_stride *
                                            (mona_plan_input(plan, i).height / lines.count);
        }
        if (mona_session_push_line(session, from))
            return;
        while (ready && pulled < lines.count) {
            for (unsigned i = 0; i < outputs; i++) {
                to[i] = out[i];
                to[i].data =
                    (uint8_t *)out[i].data + (ptrdiff_t)pulled * out[i].row_stride *
                                                 (mona_plan_output(plan, i).height / lines.count);
            }
            if (mona_session_pull_line(session, to, &ready))
                return;
            pulled += ready;
        }
    }
}

static inline void fuzz_run_plan(mona_plan *plan, unsigned inputs, unsigned outputs)
{
    const size_t bytes = mona_plan_arena_bytes(plan);
    fuzz_buffers in = {0}, out = {0};
    mona_session *session;
    mona_op_info op;
    mona_plan_buffer held;
    uint64_t place = 0;
    for (unsigned i = 0; mona_plan_op_at(plan, i, &op); i++)
        ;
    while (mona_plan_next_buffer(plan, &place, &held))
        ;
    void *arena = fuzz_is_cheap(plan, inputs, outputs) ? session_binding_allocate(bytes) : NULL;
    if (!arena)
        return;
    for (unsigned i = 0; i < inputs; i++)
        in[i] = fuzz_buffer(mona_plan_input(plan, i));
    for (unsigned i = 0; i < outputs; i++)
        out[i] = fuzz_buffer(mona_plan_output(plan, i));
    if (!mona_session_open(&session, plan, arena, bytes)) {
        fuzz_must(mona_session_run(session, in, out));
        fuzz_run_changed(session, plan, in, out);
        fuzz_run_lines(session, plan, inputs, outputs, in, out);
        mona_session_close(session);
    }
    for (unsigned i = 0; i < MONA_MAX_IO; i++) {
        free(in[i].data);
        free(out[i].data);
    }
    free(arena);
}

typedef mona_status fuzz_plan_maker(mona_plan **plan, void *memory, const mona_model *model,
                                    const mona_config *config);

/* make: mona_plan_make or mona_plan_load */
static inline void fuzz_run_on(const mona_model *model, mona_config config, fuzz_plan_maker *make)
{
    mona_plan *plan;
    const unsigned inputs = mona_model_input_count(model);
    for (unsigned i = 0; i < inputs; i++)
        if (!mona_model_input(model, i).width) /* else there is one size only */
            config.sizes[i] = (mona_size){8, 8};
    void *memory = session_binding_allocate(mona_plan_bytes(model));
    if (memory && !make(&plan, memory, model, &config))
        fuzz_run_plan(plan, inputs, mona_model_output_count(model));
    free(memory);
}

/* Whether a model has programs that are sound, and none that would run for long. */
static inline bool fuzz_has_programs(const mona_model *model)
{
    uint32_t count;
    const mona_file_program *p = mona_model_programs(model, &count);
    for (uint32_t i = 0; i < count; i++) {
        ac_program program;
        ac_proof proof;
        if (!ac_program_open(&program, model->file + p[i].offset, (size_t)p[i].bytes) ||
            !ac_program_prove(&program, &ac_target_ascend310, model->header->op_count, &proof) ||
            proof.instructions > FUZZ_INSTRUCTIONS)
            return false;
    }
    return count;
}

static inline void fuzz_run_model(const mona_model *model)
{
    fuzz_run_on(model, (mona_config){.threads = 1}, mona_plan_make);
    fuzz_run_on(model, (mona_config){.threads = 2, .strip_rows = 1}, mona_plan_make);
    fuzz_run_on(model, (mona_config){.cpu = "c"}, mona_plan_load);
    if (fuzz_has_programs(model))
        fuzz_run_on(model, (mona_config){.device = &mona_device_model310}, mona_plan_make);
}

#endif
