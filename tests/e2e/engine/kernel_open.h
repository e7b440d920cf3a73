// SPDX-License-Identifier: Apache-2.0
/* A model with a program, opened to run it and to replay its program beside. The program prints
 * what is not met, and ends. */
#ifndef KERNEL_OPEN_H
#define KERNEL_OPEN_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/model.h"
#include "formats/file.h"

static void require(int met, const char *what)
{
    if (!met) {
        printf("%s\n", what);
        exit(1);
    }
}

#define assert_true(met) require(met, #met)
#define fail_msg(...)                                                                              \
    (fprintf(stderr, __VA_ARGS__), require(0, "the replay kernel cannot run it, or faults"))
#include "tests/unit/ascend/replay_machine.h"

typedef struct opened {
    uint8_t *bytes;
    mona_model model;
    ac_program program;
    mona_plan *plan;
    mona_session *session;
    unsigned inputs, outputs;
    mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
} opened;

static mona_buffer plane(mona_tensor_info t)
{
    return mona_device_planes(file_alloc(mona_device_planes_bytes(&t)), NULL, &t);
}

/* sized: frames have the size that the program was made for, of a model that takes any. */
static void open_program(opened *o, const char *path, const mona_guard *guard,
                         const mona_device *device, bool sized)
{
    size_t size;
    format_error error;
    uint32_t programs;
    require(file_read(path, "a model", SIZE_MAX, &o->bytes, &size, &error) &&
                !mona_model_open_guarded(&o->model, o->bytes, size, guard),
            "no model");
    const mona_file_program *first = mona_model_programs(&o->model, &programs);
    require(programs && ac_program_open(&o->program, o->bytes + first->offset, first->bytes),
            "no program");
    mona_config config = {.device = device};
    if (sized)
        config.sizes[0] = (mona_size){o->program.buffers[0].width, o->program.buffers[0].height};
    require(!mona_plan_make(&o->plan, file_alloc(mona_plan_bytes(&o->model)), &o->model, &config),
            "plan");
    const size_t arena = mona_plan_arena_bytes(o->plan);
    require(!mona_session_open(&o->session, o->plan, file_alloc(arena), arena), "session");
    o->inputs = mona_model_input_count(&o->model);
    o->outputs = mona_model_output_count(&o->model);
    for (unsigned k = 0; k < o->inputs; k++)
        o->in[k] = plane(mona_plan_input(o->plan, k));
    for (unsigned k = 0; k < o->outputs; k++)
        o->out[k] = plane(mona_plan_output(o->plan, k));
}

/* All segments of the program, on a machine that was opened for it and has its inputs. */
static void replay_program(replay_machine *r, const opened *o)
{
    for (uint32_t s = 0; s < o->program.header.segments; s++)
        if (replay_segment(r, &o->program, s))
            fail_msg("segment %u", s);
}

#endif
