// SPDX-License-Identifier: Apache-2.0
#include "apps/ascend/light.h"

#include <stdio.h>
#include <stdlib.h>

#include "pipeline/job/devices.h"
#include "formats/compiler/program/programs.h"
#include "formats/compiler/program/recorder.h"
#include "formats/file.h"
#include "formats/mona_writer.h"
#include "models/embedded.h"
#include "pipeline/base/clock.h"

bool light_fail(const char *why)
{
    fprintf(stderr, "first_light: %s\n", why);
    return false;
}

/* ---- recording ------------------------------------------------------------------------------ */

/* The recorder at work, and its core. */
static recorder *at_work;

void light_take(const ac_instruction *i)
{
    recorder_take(at_work, 0, i);
}

static void take(ac_core *core, const ac_instruction *i)
{
    (void)core;
    light_take(i);
}

ac_core light_recording = {.target = &ac_target_ascend310, .take = take};

void light_barrier(void)
{
    ac_emit_barrier(&light_recording, AC_PIPE_ALL);
}

void light_begin(void)
{
    const ac_segment places = {.l1_bytes = LIGHT_L1};
    at_work = recorder_new();
    recorder_segment(at_work, &places);
}

uint8_t *light_finish(const light *l, size_t *bytes)
{
    const char *why;
    ac_program places = l->base;
    places.header.l1_bytes = LIGHT_L1;
    uint8_t *made = recorder_finish(at_work, &places, bytes, &why);
    recorder_free(at_work);
    if (!made)
        light_fail(why);
    return made;
}

/* ---- running -------------------------------------------------------------------------------- */

bool light_run(const light *l, const uint8_t *program, size_t bytes, int runs, double *seconds)
{
    const mona_writer_program p = {"ascend310", program, bytes};
    const mona_config config = {.device = &mona_device_ascend,
                                .sizes = {{LIGHT_WIDTH, LIGHT_HEIGHT}}};
    mona_buffer in = {l->in, LIGHT_WIDTH, LIGHT_IN}, out = {l->out, 2 * LIGHT_WIDTH, LIGHT_OUT};
    uint8_t *file = NULL;
    size_t size;
    format_error error = {0};
    mona_model model;
    mona_plan *plan;
    mona_session *session = NULL;
    if (!mona_writer_add_programs(l->model.file, 0, &p, 1, &file, &size, &error))
        return light_fail(error.text);
    void *memory = NULL, *arena = NULL;
    mona_status status = mona_model_open(&model, file, size);
    if (!status)
        memory = file_alloc(mona_plan_bytes(&model));
    if (!status)
        status = mona_plan_make(&plan, memory, &model, &config);
    if (!status) {
        arena = file_alloc(mona_plan_arena_bytes(plan));
        status = mona_session_open(&session, plan, arena, mona_plan_arena_bytes(plan));
    }
    *seconds = 1e9;
    for (int k = 0; k < runs && !status; k++) {
        const uint64_t began = clock_ns();
        status = mona_session_run(session, &in, &out);
        const double t = 1e-9 * (double)(clock_ns() - began);
        *seconds = t < *seconds ? t : *seconds;
    }
    if (session)
        mona_session_close(session);
    free(arena), free(memory), free(file);
    return !status || light_fail(mona_status_text(status));
}

/* Bytes that are finite, as halves and as floats. */
static void make_noise(light *l)
{
    uint32_t state = 1;
    for (size_t i = 0; i < LIGHT_IN; i++) {
        state = state * 1664525 + 1013904223;
        l->in[i] = (uint8_t)(state >> 24 & (i % 2 ? 0xbb : 0xff));
    }
}

bool light_open(light *l)
{
    const embedded_model *e = embedded_model_find("bicubic_x2");
    size_t bytes;
    format_error error = {0};
    *l = (light){0};
    if (!ascend_setup(&error))
        return light_fail(error.text);
    if (mona_device_query(&mona_device_ascend, &(mona_device_properties){0}))
        return light_fail(mona_ascend_problem());
    if (mona_model_open(&l->model, e->begin, (size_t)(e->end - e->begin)) ||
        !program_record(&l->model, (mona_size){LIGHT_WIDTH, LIGHT_HEIGHT}, &l->program, &bytes,
                        &error) ||
        !ac_program_open(&l->base, l->program, bytes))
        return light_fail(error.text);
    l->in = file_alloc(LIGHT_IN), l->out = file_alloc(LIGHT_OUT);
    if (!l->in || !l->out)
        return light_fail("out of memory");
    make_noise(l);
    return true;
}

void light_close(light *l)
{
    mona_device_close(&mona_device_ascend);
    free(l->in), free(l->out), free(l->program);
}
