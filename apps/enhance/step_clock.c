// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/step_clock.h"

#include "pipeline/base/clock.h"
#include "pipeline/base/waiting.h"

static void mark(void *context, uint64_t frame, unsigned step, bool end)
{
    step_clock *c = context;
    const uint64_t now = clock_ns(), waited = waiting_ns();
    uint64_t *decoded = &c->decoded[frame % STEP_CLOCK_FRAMES];
    if (end)
        atomic_fetch_add_explicit(&c->spent[step],
                                  now - c->begun[step] - (waited - c->waited[step]),
                                  memory_order_relaxed);
    else
        c->begun[step] = now, c->waited[step] = waited;
    if (step == PROBE_DECODE && end)
        *decoded = now;
    else if (step == c->steps - 1 && !end)
        c->latency = now - *decoded;
}

void step_clock_open(step_clock *c, const stage_kind *kinds, unsigned count)
{
    *c = (step_clock){.probe = {.mark = mark, .context = c}};
    step_clock_name(c, kinds, count);
}

void step_clock_name(step_clock *c, const stage_kind *kinds, unsigned count)
{
    c->steps = chain_name_steps(c->names, kinds, count);
}

void step_clock_read(const step_clock *c, uint64_t spent[CHAIN_MAX_STEPS])
{
    for (unsigned i = 0; i < CHAIN_MAX_STEPS; i++)
        spent[i] = atomic_load_explicit(&c->spent[i], memory_order_relaxed);
}
