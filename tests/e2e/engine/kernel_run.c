// SPDX-License-Identifier: Apache-2.0
/* Runs the program of a model on a kernel that is linked to it, both cores, and compares the bytes
 * with the host's. */
#include "tests/e2e/engine/kernel_open.h"

int main(int count, char **argv)
{
    /* What is static is there until the end, as the sanitiser of addresses wants it. */
    static opened o;
    static replay_machine r;
    require(count == 2, "no model");
    open_program(&o, argv[1], &(mona_guard){0}, &mona_device_host, true);
    for (unsigned k = 0; k < o.inputs; k++) {
        const mona_tensor_info t = mona_plan_input(o.plan, k);
        for (size_t i = 0; i < mona_device_planes_bytes(&t); i++)
            ((uint8_t *)o.in[k].data)[i] = (uint8_t)(i * 2654435761u >> 24) & 59;
    }
    require(!mona_session_run(o.session, o.in, o.out), "run");
    replay_open(&r, &o.program);
    for (unsigned k = 0; k < o.inputs; k++) {
        const mona_tensor_info t = mona_plan_input(o.plan, k);
        memcpy(replay_buffer(&r, k), o.in[k].data, mona_device_planes_bytes(&t));
    }
    replay_program(&r, &o);
    for (unsigned k = 0; k < o.outputs; k++)
        require(replay_has(&r, o.inputs + k, mona_plan_output(o.plan, k), o.out[k]),
                "an output differs");
    mona_session_close(o.session);
    printf("equal\n");
    return 0;
}
