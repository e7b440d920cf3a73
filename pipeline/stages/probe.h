// SPDX-License-Identifier: Apache-2.0
/* A look at a pipeline at work: who does what to which frame, and when. */
#ifndef MONA_PROBE_H
#define MONA_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/stages/session_binding.h"

/* What is done to a frame, in order; PROBE_STAGE + i is stage i. */
enum { PROBE_DECODE, PROBE_UPLOAD, PROBE_STAGE };

typedef struct pipeline_probe {
    /* Before frame n, from 0, is asked of the decoder, in the decoder's thread: may wait, as a
     * camera makes a program wait. False: there are no more. NULL: not. */
    bool (*arrive)(void *context, uint64_t frame);
    /* A step begins or ends, in the thread that does it. Encoding is the step after the last stage.
     * A decode that finds the end of the video begins and does not end. */
    void (*mark)(void *context, uint64_t frame, unsigned step, bool end);
    /* A model that a stage has bound and runs so many times a frame, before the first one. NULL:
     * not. */
    void (*bound)(void *context, unsigned stage, const session_binding *model, unsigned runs);
    void *context;
} pipeline_probe;

/* NULL: nobody looks. */
static inline void probe_mark(const pipeline_probe *probe, uint64_t frame, unsigned step, bool end)
{
    if (probe)
        probe->mark(probe->context, frame, step, end);
}

#endif
