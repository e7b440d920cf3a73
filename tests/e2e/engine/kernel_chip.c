// SPDX-License-Identifier: Apache-2.0
/* The program of a model that calls a kernel, on the modelled chip and on the replay kernel:
 *
 *     kernel_chip MODEL FRAME
 *
 * FRAME holds the inputs of one frame, then what the outputs must be. Prints "equal" and the
 * modelled time, or what differs first. Linked with the kernel's C, which KERNEL names. */
#include "tests/e2e/engine/kernel_open.h"

#include "engine/model310/modelled.h"

extern const mona_kernel KERNEL;
static const mona_kernel *const kernels[] = {&KERNEL, NULL};

static size_t bytes_of(mona_tensor_info t)
{
    return t.channels * t.height * t.width * mona_type_size(t.type);
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
    static opened o;
    static replay_machine r;
    const mona_guard guard = {.kernels = kernels};
    uint8_t *frame;
    size_t frame_bytes, at = 0, all = 0;
    format_error error;
    require(count == 3 && file_read(argv[2], "a frame", SIZE_MAX, &frame, &frame_bytes, &error),
            "no frame");
    open_program(&o, argv[1], &guard, &mona_device_model310, false);
    for (uint32_t s = 0; s < o.program.header.segments; s++)
        require(!o.program.segments[s].array, "an operator is left to the AI CPUs");
    replay_open(&r, &o.program);
    for (unsigned k = 0; k < o.inputs; k++) {
        const size_t bytes = bytes_of(mona_plan_input(o.plan, k));
        require(at + bytes <= frame_bytes, "a short frame");
        memcpy(o.in[k].data, frame + at, bytes);
        memcpy(replay_buffer(&r, k), frame + at, bytes);
        at += bytes;
    }
    for (unsigned k = 0; k < o.outputs; k++)
        all += bytes_of(mona_plan_output(o.plan, k));
    require(at + all == frame_bytes, "a frame of another size");
    require(!mona_session_run(o.session, o.in, o.out), "run");
    r.modelled = all < 1 << 20;
    replay_program(&r, &o);
    for (unsigned k = 0; k < o.outputs; k++) {
        const size_t bytes = bytes_of(mona_plan_output(o.plan, k));
        require(!memcmp(o.out[k].data, frame + at, bytes),
                "an output of the modelled chip differs");
        require(!memcmp(replay_buffer(&r, o.inputs + k), frame + at, bytes),
                "an output of the replay kernel differs");
        at += bytes;
    }
    replay_close(&r);
    tell_time(o.session, frame_bytes);
    mona_session_close(o.session);
    return 0;
}
