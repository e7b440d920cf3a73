// SPDX-License-Identifier: Apache-2.0
/* Observes a pipeline at work: which step handles which frame, and when. */
#ifndef MONA_PROBE_H
#define MONA_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/stages/session_binding.h"

/* The steps of a frame, in order; PROBE_STAGE + i is stage i. */
enum { PROBE_DECODE, PROBE_UPLOAD, PROBE_STAGE };

typedef struct pipeline_probe {
    /* Called before the decoder is asked for frame n, counted from 0, in the decoder's thread. It
     * may wait, like a program that waits for a camera. False: there are no more frames. May be
     * NULL. */
    bool (*arrive)(void *context, uint64_t frame);
    /* Called when a step begins or ends, in the thread that does it. Encoding is the step after the
     * last stage. A decode that finds the end of the video begins and does not end. */
    void (*mark)(void *context, uint64_t frame, unsigned step, bool end);
    /* Called before the first frame for each model that a stage has bound and runs this many times
     * a frame. May be NULL. */
    void (*bound)(void *context, unsigned stage, const session_binding *model, unsigned runs);
    void *context;
} pipeline_probe;

/* probe may be NULL. */
static inline void probe_mark(const pipeline_probe *probe, uint64_t frame, unsigned step, bool end)
{
    if (probe)
        probe->mark(probe->context, frame, step, end);
}

#endif
