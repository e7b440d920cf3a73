// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/live_source.h"

static uint32_t next_random(uint32_t seed)
{
    return seed * 1664525 + 1013904223;
}

/* From 0 to 1. */
static double share(uint32_t seed)
{
    return (double)(seed >> 8) / (1 << 24);
}

live_clock live_clock_of(const live_pace *pace, unsigned camera, uint64_t began)
{
    const uint32_t seed = 1 + 2654435761u * camera;
    const double phase = camera ? share(next_random(next_random(seed))) : 0;
    return (live_clock){
        .pace = pace, .began = began + (uint64_t)(1e9 / pace->fps * phase), .seed = seed};
}

/* A packet of a burst waits for the burst's last. */
uint64_t live_clock_next(live_clock *c)
{
    const live_pace *p = c->pace;
    const size_t n = c->packets++;
    const size_t place = p->burst_every ? n % p->burst_every : p->burst;
    const size_t held = place < p->burst ? p->burst - 1 - place : 0;
    c->seed = next_random(c->seed);
    double ns = 1e9 / p->fps * (double)(n + held) + 1e6 * p->jitter_ms * share(c->seed);
    if (p->late_every && n % p->late_every == p->late_every - 1)
        ns += 1e6 * p->late_ms;
    const uint64_t at = c->began + (uint64_t)ns;
    c->last = at > c->last ? at : c->last;
    return c->last;
}
