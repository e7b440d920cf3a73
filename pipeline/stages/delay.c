// SPDX-License-Identifier: Apache-2.0
/* A stage that takes a given time and changes nothing, to test the measurement of pipelines. */
#include "pipeline/base/clock.h"
#include "pipeline/stages/stage.h"

typedef struct delay {
    delay_settings settings;
    uint64_t frames; /* so far; used by the stream */
} delay;

/* Sleeps until a point in time, not for a duration, so that different causes of waking up late do
 * not add up. */
static void wait_for_frame(void *argument)
{
    delay *d = argument;
    const delay_settings *s = &d->settings;
    const double ms = s->every && ++d->frames % s->every == 0 ? s->slow_ms : s->ms;
    clock_sleep_until(clock_ns() + (uint64_t)(1e6 * ms));
}

static bool open(stage *s, const stage_settings *settings, pipeline_error *error)
{
    (void)error;
    ((delay *)s->state)->settings = settings->delay;
    return true;
}

static mona_status enqueue(stage *s, const stage_work *work)
{
    mona_status status = mona_stream_call(s->stream, wait_for_frame, s->state);
    for (unsigned p = 0; p < work->in->format.planes && !status; p++)
        status = frame_copy_plane(s->stream, work->in, work->out, p);
    return status;
}

const stage_row delay_stage = {.state_bytes = sizeof(delay), .open = open, .enqueue = enqueue};
