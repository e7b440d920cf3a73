// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/capacity.h"

#include <math.h>
#include <stdlib.h>

#include "apps/cli/options.h"

typedef struct camera {
    live_clock clock;
    double at, next; /* when its oldest frame, and the one after it, came, in ns */
} camera;

static void advance(camera *c)
{
    c->at = c->next;
    c->next = (double)live_clock_next(&c->clock);
}

/* Restores the order below cameras[i], whose frame came later: it comes no later than those of its
 * two children. */
static void sink(camera *cameras, unsigned count, unsigned i)
{
    for (unsigned child; (child = 2 * i + 1) < count; i = child) {
        child += child + 1 < count && cameras[child + 1].at < cameras[child].at;
        if (cameras[i].at <= cameras[child].at)
            return;
        const camera kept = cameras[i];
        cameras[i] = cameras[child];
        cameras[child] = kept;
    }
}

static bool play(const capacity_modelled *m, camera *cameras, unsigned count, double end,
                 capacity_trial *trial)
{
    const double late = 1e6 * m->streams.max_delay_ms;
    double idle = 0; /* since when the chip is */
    size_t left_out = 0;
    bool good = true;
    for (camera *c = cameras; good && c->at < end; sink(cameras, count, 0)) {
        for (; idle >= c->next && idle - c->at > late && c->next < end; advance(c))
            left_out++;
        idle = fmax(idle, c->at) + 1e6 * m->frame_ms;
        good = samples_add(&trial->times, 1e-6 * (idle - c->at));
        advance(c);
    }
    return good && capacity_leave_out(trial, left_out);
}

bool capacity_modelled_run(void *context, unsigned streams, double seconds, capacity_trial *trial)
{
    const capacity_modelled *m = context;
    camera *cameras = calloc(streams, sizeof *cameras);
    if (!cameras)
        return cli_fail(0, "out of memory");
    for (unsigned i = 0; i < streams; i++) {
        cameras[i].clock = live_clock_of(&m->streams.pace, i, 0);
        cameras[i].next = (double)live_clock_next(&cameras[i].clock);
        advance(&cameras[i]);
    }
    for (unsigned i = streams / 2; i-- > 0;)
        sink(cameras, streams, i);
    const bool good = play(m, cameras, streams, 1e9 * seconds, trial);
    trial->cpu_ms[CAPACITY_NETWORK] = m->frame_ms;
    free(cameras);
    return good;
}
