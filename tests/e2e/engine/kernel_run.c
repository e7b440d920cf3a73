// SPDX-License-Identifier: Apache-2.0
/* Runs the program of a model on a kernel that is linked to it, both cores, and compares the bytes with the
 * host's. */
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

static mona_buffer plane(mona_tensor_info t, uint8_t *memory, size_t *bytes)
{
    const size_t row = t.width * mona_type_size(t.type);
    *bytes = row * t.height * t.channels;
    mona_buffer b = {memory ? memory : file_alloc(*bytes), (ptrdiff_t)row,
                     (ptrdiff_t)(row * t.height)};
    return b;
}

int main(int count, char **argv)
{
    uint8_t *bytes;
    size_t size, in_bytes = 0, out_bytes = 0;
    format_error error;
    mona_model model;
    mona_plan *plan;
    mona_session *session;
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
    mona_buffer in = plane(mona_plan_input(plan, 0), NULL, &in_bytes);
    mona_buffer out = plane(mona_plan_output(plan, 0), NULL, &out_bytes);
    for (size_t i = 0; i < in_bytes; i++)
        ((uint8_t *)in.data)[i] = (uint8_t)(i * 2654435761u >> 24);
    require(!mona_session_run(session, &in, &out), "run");
    replay_machine r;
    replay_open(&r, &p);
    memcpy(replay_buffer(&r, 0), in.data, in_bytes);
    for (uint32_t s = 0; s < p.header.segments; s++)
        if (replay_segment(&r, &p, s))
            fail_msg();
    require(!memcmp(replay_buffer(&r, 1), out.data, out_bytes), "the output differs");
    mona_session_close(session);
    printf("equal\n");
    return 0;
}
