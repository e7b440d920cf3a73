// SPDX-License-Identifier: Apache-2.0
/* Runs the program of a model on a kernel that is linked to it, both cores, and compares the bytes
 * with the host's. */
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
#define fail_msg(...) require(0, "the kernel cannot run it, or faults")
#include "tests/unit/ascend/replay_machine.h"

static mona_buffer plane(mona_tensor_info t, size_t *bytes)
{
    *bytes = mona_device_planes_bytes(&t);
    return mona_device_planes(file_alloc(*bytes), NULL, &t);
}

int main(int count, char **argv)
{
    /* What is static is there until the end, as the sanitiser of addresses wants it. */
    static uint8_t *bytes;
    static mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
    static mona_plan *plan;
    static mona_session *session;
    static replay_machine r;
    size_t size, in_bytes[MONA_MAX_IO], out_bytes[MONA_MAX_IO];
    format_error error;
    mona_model model;
    uint32_t programs;
    ac_program p;
    require(count == 2 && file_read(argv[1], "a model", SIZE_MAX, &bytes, &size, &error) &&
                !mona_model_open(&model, bytes, size),
            "no model");
    const mona_file_program *first = mona_model_programs(&model, &programs);
    require(programs && ac_program_open(&p, bytes + first->offset, first->bytes), "no program");
    const mona_config config = {.device = &mona_device_host,
                                .sizes = {{p.buffers[0].width, p.buffers[0].height}}};
    require(!mona_plan_make(&plan, file_alloc(mona_plan_bytes(&model)), &model, &config), "plan");
    const size_t arena = mona_plan_arena_bytes(plan);
    require(!mona_session_open(&session, plan, file_alloc(arena), arena), "session");
    const unsigned inputs = mona_model_input_count(&model),
                   outputs = mona_model_output_count(&model);
    for (unsigned k = 0; k < inputs; k++) {
        in[k] = plane(mona_plan_input(plan, k), &in_bytes[k]);
        for (size_t i = 0; i < in_bytes[k]; i++)
            ((uint8_t *)in[k].data)[i] = (uint8_t)(i * 2654435761u >> 24) & 59;
    }
    for (unsigned k = 0; k < outputs; k++)
        out[k] = plane(mona_plan_output(plan, k), &out_bytes[k]);
    require(!mona_session_run(session, in, out), "run");
    replay_open(&r, &p);
    for (unsigned k = 0; k < inputs; k++)
        memcpy(replay_buffer(&r, k), in[k].data, in_bytes[k]);
    for (uint32_t s = 0; s < p.header.segments; s++)
        if (replay_segment(&r, &p, s))
            fail_msg();
    for (unsigned k = 0; k < outputs; k++)
        require(replay_has(&r, inputs + k, mona_plan_output(plan, k), out[k]), "an output differs");
    mona_session_close(session);
    printf("equal\n");
    return 0;
}
