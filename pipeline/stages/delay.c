// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/delay.h"

#include <errno.h>
#include <time.h>

/* Sleeps until a point in time, not for a duration, so that different causes of waking up late do
 * not add up. */
static void wait_for_frame(void *argument)
{
    delay *d = argument;
    const delay_settings *s = &d->settings;
    const double ms = s->every && ++d->frames % s->every == 0 ? s->slow_ms : s->ms;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const int64_t ns = until.tv_nsec + (int64_t)(1e6 * ms);
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

mona_status delay_enqueue(delay *d, mona_stream *stream, const frame *in, const frame *out)
{
    mona_status status = mona_stream_call(stream, wait_for_frame, d);
    for (unsigned p = 0; p < in->format.planes && !status; p++)
        status = frame_copy_plane(stream, in, out, p);
    return status;
}
