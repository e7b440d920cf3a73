// SPDX-License-Identifier: Apache-2.0
#include "pipeline/base/clock.h"
#include "pipeline/base/waiting.h"

_Thread_local atomic_bool *refused_thread;

static _Thread_local uint64_t waited;

static uint64_t worked_ns(void)
{
    return clock_ns_of(CLOCK_THREAD_CPUTIME_ID);
}

waiting waiting_begin(void)
{
    return (waiting){clock_ns(), worked_ns()};
}

void waiting_end(waiting began)
{
    const uint64_t worked = worked_ns() - began.work, passed = clock_ns() - began.wall;
    waited += passed > worked ? passed - worked : 0;
}

uint64_t waiting_ns(void)
{
    return waited;
}
