// SPDX-License-Identifier: Apache-2.0
/* A stage that takes as long as it is told and changes nothing: what measures pipelines is measured
 * with it. */
#ifndef MONA_DELAY_H
#define MONA_DELAY_H

#include <stdint.h>

#include "pipeline/stages/frame.h"
#include "mona.h"

typedef struct delay_settings {
    double ms;      /* of a frame */
    double slow_ms; /* of every `every`th frame, the first of which is frame every - 1 */
    unsigned every; /* 0: none */
} delay_settings;

typedef struct delay {
    delay_settings settings;
    uint64_t frames; /* so far; the stream's own */
} delay;

/* Queues a wait and a copy from in to out, which have one format. d stays until it is done. */
mona_status delay_enqueue(delay *d, mona_stream *stream, const frame *in, const frame *out);

#endif
