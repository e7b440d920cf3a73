// SPDX-License-Identifier: Apache-2.0
#include "engine/ascend/acl.h"

#include "engine/port/library.h"
#include "engine/run/device.h"

static struct {
    mona_ascend_watcher *seen; /* NULL: nobody watches */
    void *context;
    uint32_t chip;
    void *origin; /* the event that times count from */
} watch;

static bool is_watched(void)
{
    return watch.seen && watch.chip == ascend_here();
}

/* ---- events ---------------------------------------------------------------------------------- */

static int make_event(void **event, uint32_t flag)
{
    return *event ? 0 : ascend.aclrtCreateEventWithFlag(event, flag);
}

static void forget_event(void **event)
{
    if (*event)
        ascend.aclrtDestroyEvent(*event);
    *event = NULL;
}

/* ---- streams --------------------------------------------------------------------------------- */

mona_status ascend_stream_open(ascend_stream *s)
{
    *s = (ascend_stream){0};
    int code = ascend.aclrtCreateStream(&s->handle);
    if (!code && !ascend.aclrtSynchronizeStreamWithTimeout)
        code = make_event(&s->reached, ASCEND_EVENT_SYNC);
    if (code)
        ascend_stream_close(s);
    return ascend_check(code, "a stream cannot be made");
}

/* A stream is at rest once it is destroyed; only then may its events be. */
void ascend_stream_close(ascend_stream *s)
{
    if (s->handle)
        ascend.aclrtDestroyStream(s->handle);
    s->handle = NULL;
    forget_event(&s->reached);
    for (int i = 0; i < 2; i++)
        forget_event(&s->marks[i]);
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Libraries before 6.3 cannot stop waiting, so an event is asked again and again. */
static int wait_for_event(const ascend_stream *s)
{
    const uint64_t end = mona_port_milliseconds() + 1000u * (uint64_t)ascend_patience();
    uint32_t status = !ASCEND_EVENT_COMPLETE;
    int code = ascend.aclrtRecordEvent(s->reached, s->handle);
    for (unsigned pause = 20; !code;) {
        code = ascend.aclrtQueryEvent(s->reached, &status);
        if (code || status == ASCEND_EVENT_COMPLETE)
            break;
        if (mona_port_milliseconds() > end)
            return ASCEND_TIME_OUT;
        mona_port_pause(pause);
        pause = pause < 200 ? pause * 2 : 200;
    }
    if (!code)
        code = ascend.aclrtResetEvent(s->reached, s->handle);
    return code ? code : ascend.aclrtSynchronizeStream(s->handle);
}

static int wait(const ascend_stream *s)
{
    return s->reached ? wait_for_event(s)
                      : ascend.aclrtSynchronizeStreamWithTimeout(
                            s->handle, (int32_t)(1000 * ascend_patience()));
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Timing that fails leaves a step unseen, and is no failure of the step. */
static void mark(ascend_stream *s, unsigned which)
{
    void **event = &s->marks[which];
    if (is_watched() && !make_event(event, ASCEND_EVENT_TIME_LINE) &&
        ascend.aclrtRecordEvent(*event, s->handle))
        forget_event(event);
}

static void show(const ascend_stream *s, mona_ascend_step step)
{
    float begin, length;
    if (is_watched() && s->marks[0] && s->marks[1] &&
        !ascend.aclrtEventElapsedTime(&begin, watch.origin, s->marks[0]) &&
        !ascend.aclrtEventElapsedTime(&length, s->marks[0], s->marks[1]))
        watch.seen(watch.context, step, (double)begin, (double)begin + (double)length);
}

void ascend_step_begin(ascend_stream *s)
{
    mark(s, 0);
}

mona_status ascend_step_end(ascend_stream *s, mona_ascend_step step, const char *doing)
{
    if (s->failed)
        return s->failed;
    mark(s, 1);
    const mona_status status = ascend_check(wait(s), doing);
    if (!status)
        show(s, step);
    else
        s->failed = status;
    return status;
}

mona_status mona_ascend_watch(const mona_device *chip, mona_ascend_watcher *seen, void *context)
{
    static const char doing[] = "the chip's clock cannot be read";
    ascend_stream s;
    watch.seen = NULL;
    if (!ascend_enter(chip->number))
        return seen ? MONA_ERR_DEVICE : MONA_OK;
    forget_event(&watch.origin);
    mona_status status = seen ? ascend_stream_open(&s) : MONA_OK;
    if (status || !seen)
        return status;
    status = ascend_check(make_event(&watch.origin, ASCEND_EVENT_TIME_LINE), doing);
    if (!status)
        status = ascend_check(ascend.aclrtRecordEvent(watch.origin, s.handle), doing);
    if (!status)
        status = ascend_check(wait(&s), doing);
    ascend_stream_close(&s);
    if (status) {
        forget_event(&watch.origin);
        return status;
    }
    watch.context = context;
    watch.chip = chip->number;
    watch.seen = seen;
    return MONA_OK;
}
