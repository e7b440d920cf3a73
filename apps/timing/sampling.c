// SPDX-License-Identifier: Apache-2.0
#include "apps/timing/sampling.h"

#include <stdlib.h>

#include "apps/cli/options.h"
#include "apps/timing/statistics.h"
#include "formats/blocks.h"

/* To detect the end of the warm-up: the number of windows whose medians are compared, and when to
 * give up. */
enum { WINDOW = 4, WARM_UP_MAX = 200, WARM_UP_MS = 3000 };

bool samples_add(samples *s, double ms)
{
    if (!list_grow((void **)&s->ms, &s->room, s->count, sizeof *s->ms))
        return cli_fail(0, "out of memory");
    s->ms[s->count++] = ms;
    return true;
}

static bool take_one(samples *s, bool (*frame)(void *), void *context)
{
    const uint64_t start = clock_ns();
    return frame(context) && samples_add(s, 1e-6 * (double)(clock_ns() - start));
}

static bool warm_up(samples *s, long frames, bool (*frame)(void *), void *context)
{
    const double start = machine_clock_ms();
    s->settled = frames >= 0;
    while (frames >= 0 ? s->count < (size_t)frames
                       : s->count < WARM_UP_MAX && machine_clock_ms() - start < WARM_UP_MS) {
        if (!take_one(s, frame, context))
            return false;
        if (frames < 0 && significance_settled(s->ms, s->count, WINDOW)) {
            s->settled = true;
            break;
        }
    }
    s->warm_up = s->count;
    s->count = 0;
    return true;
}

bool samples_take(samples *s, const sampling *how, bool (*frame)(void *context), void *context)
{
    const bool unlimited = !how->iterations && how->seconds <= 0;
    const size_t max = how->iterations ? (size_t)how->iterations
                       : unlimited     ? SAMPLING_ITERATIONS
                                       : SAMPLING_MAX;
    const double longest = 1e3 * (unlimited ? SAMPLING_SECONDS : how->seconds);
    *s = (samples){0};
    if (!warm_up(s, how->warm_up, frame, context))
        return false;
    s->before = machine_now();
    telemetry_log_open(&s->sensors, how->device);
    const double start = machine_clock_ms();
    while (s->count < max) {
        if (!take_one(s, frame, context))
            return false;
        telemetry_log_look(&s->sensors);
        if (longest > 0 && machine_clock_ms() - start >= longest)
            break;
    }
    telemetry_log_end(&s->sensors);
    s->after = machine_now();
    return true;
}

void samples_free(samples *s)
{
    free(s->ms);
    *s = (samples){0};
}
