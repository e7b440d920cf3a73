// SPDX-License-Identifier: Apache-2.0
/* The program of a model that calls a kernel, on the modelled chip and on the replay kernel:
 *
 *     kernel_chip MODEL FRAME
 *
 * FRAME holds the inputs of one frame, then what the outputs must be. Prints "equal" and the
 * modelled time, or what differs first. Linked with the kernel's C, which KERNEL names. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/model.h"
#include "engine/model310/modelled.h"
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
    (fprintf(stderr, __VA_ARGS__), require(0, ": the replay kernel cannot run it, or faults"))
#include "tests/unit/ascend/replay_machine.h"

extern const mona_kernel KERNEL;
static const mona_kernel *const kernels[] = {&KERNEL, NULL};

static mona_buffer plane(mona_tensor_info t, size_t *bytes)
{
    const size_t all = mona_device_planes_bytes(&t);
    *bytes = t.channels * t.height * t.width * mona_type_size(t.type);
    return mona_device_planes(file_alloc(all), NULL, &t);
}

/* The longest time of a core, which pipe is busiest there, and bytes from and to memory. */
static void tell_time(const mona_session *s, uint64_t bytes)
{
    double cycles = 0, busy = 0, moved = 0;
    uint64_t instructions = 0;
    ac_pipe pipe = AC_PIPE_S;
    for (unsigned core = 0; core < AC_PROGRAM_CORES; core++) {
        const ac_model_report *r = mona_session_modelled(s, core);
        require(r || core, "not on the modelled chip");
        if (!r)
            continue;
        if (r->finding_count)
            printf("core %u: %s of %s, %s: found %ld\n", core,
                   ac_finding_kind_name(r->findings[0].kind), r->findings[0].instruction,
                   r->findings[0].operand, (long)r->findings[0].found);
        require(!r->finding_count, "the modelled chip finds a fault");
        moved += (double)(r->gm_read + r->gm_written);
        instructions += r->instructions;
        if (r->cycles <= cycles)
            continue;
        cycles = r->cycles, busy = 0;
        for (int i = 0; i < AC_PIPE_ALL; i++)
            if (r->busy[i] > busy)
                busy = r->busy[i], pipe = (ac_pipe)i;
    }
    const double limit = (double)bytes / ac_costs_310.ddr_total_bytes;
    const double us = 1 / ac_costs_310.clock_mhz;
    printf("equal, %.0f us, %s busy for %.0f; memory alone %.0f, moved %.1f MB of %.1f, %lu "
           "instructions\n",
           cycles * us, ac_pipe_name(pipe), busy * us, limit * us, moved / 1e6, (double)bytes / 1e6,
           (unsigned long)instructions);
}

int main(int count, char **argv)
{
    uint8_t *bytes, *frame;
    size_t size, frame_bytes, in_bytes[MONA_MAX_IO], out_bytes[MONA_MAX_IO], at = 0, all = 0;
    mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
    const mona_guard guard = {.kernels = kernels};
    format_error error;
    mona_model model;
    mona_plan *plan;
    mona_session *session;
    uint32_t programs;
    ac_program p;
    require(count == 3 && file_read(argv[1], "a model", SIZE_MAX, &bytes, &size, &error) &&
                file_read(argv[2], "a frame", SIZE_MAX, &frame, &frame_bytes, &error) &&
                !mona_model_open_guarded(&model, bytes, size, &guard),
            "no model");
    const mona_file_program *first = mona_model_programs(&model, &programs);
    require(programs && ac_program_open(&p, bytes + first->offset, first->bytes), "no program");
    for (uint32_t s = 0; s < p.header.segments; s++)
        require(!p.segments[s].array, "an operator is left to the AI CPUs");
    const mona_config config = {.device = &mona_device_model310};
    require(!mona_plan_make(&plan, file_alloc(mona_plan_bytes(&model)), &model, &config), "plan");
    const size_t arena = mona_plan_arena_bytes(plan);
    require(!mona_session_open(&session, plan, file_alloc(arena), arena), "session");
    const unsigned inputs = mona_model_input_count(&model),
                   outputs = mona_model_output_count(&model);
    for (unsigned k = 0; k < inputs; k++) {
        in[k] = plane(mona_plan_input(plan, k), &in_bytes[k]);
        require(at + in_bytes[k] <= frame_bytes, "a short frame");
        memcpy(in[k].data, frame + at, in_bytes[k]);
        at += in_bytes[k];
    }
    for (unsigned k = 0; k < outputs; k++) {
        out[k] = plane(mona_plan_output(plan, k), &out_bytes[k]);
        all += out_bytes[k];
    }
    require(at + all == frame_bytes, "a frame of another size");
    require(!mona_session_run(session, in, out), "run");
    replay_machine r;
    replay_open(&r, &p);
    r.modelled = all < 1 << 20;
    for (unsigned k = 0; k < inputs; k++)
        memcpy(replay_buffer(&r, k), in[k].data, in_bytes[k]);
    for (uint32_t s = 0; s < p.header.segments; s++)
        if (replay_segment(&r, &p, s))
            fail_msg("segment %u", s);
    size_t wanted = at;
    for (unsigned k = 0; k < outputs; k++, wanted += out_bytes[k - 1]) {
        require(!memcmp(out[k].data, frame + wanted, out_bytes[k]),
                "an output of the modelled chip differs");
        require(!memcmp(replay_buffer(&r, inputs + k), frame + wanted, out_bytes[k]),
                "an output of the replay kernel differs");
    }
    replay_close(&r);
    tell_time(session, frame_bytes);
    mona_session_close(session);
    return 0;
}
