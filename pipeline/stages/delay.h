// SPDX-License-Identifier: Apache-2.0
/* A stage that takes a given time and changes nothing, to measure what measures pipelines. */
#ifndef MONA_DELAY_H
#define MONA_DELAY_H

#include <stdint.h>

#include "pipeline/stages/frame.h"
#include "mona.h"

typedef struct delay_settings {
    double ms;      /* of a frame */
    double slow_ms; /* for every `every`th frame, the first of which is frame every - 1 */
    unsigned every; /* 0: never */
} delay_settings;

typedef struct delay {
    delay_settings settings;
    uint64_t frames; /* so far; used by the stream */
} delay;

/* Enqueues a wait and a copy from in to out, which have the same format. d must stay until it is
 * done. */
mona_status delay_enqueue(delay *d, mona_stream *stream, const frame *in, const frame *out);

#endif
