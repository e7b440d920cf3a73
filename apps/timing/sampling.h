// SPDX-License-Identifier: Apache-2.0
/* Measures times: warm-up frames, then frames that count. */
#ifndef SAMPLING_H
#define SAMPLING_H

#include <stdbool.h>
#include <stddef.h>

#include "apps/devices/machine.h"
#include "apps/devices/telemetry.h"

typedef struct sampling {
    long warm_up;              /* frames; negative: until times settle */
    long iterations;           /* frames; 0: no limit */
    double seconds;            /* limit after the warm-up; 0: none */
    const mona_device *device; /* whose sensors are read */
} sampling;

/* Without either limit: enough frames for a 99th percentile, or ten seconds. */
enum { SAMPLING_ITERATIONS = 300, SAMPLING_SECONDS = 10, SAMPLING_MAX = 1000000 };

typedef struct samples {
    double *ms; /* in the order they were taken */
    size_t count, room;
    size_t warm_up; /* frames before them */
    bool settled;   /* the warm-up ended because times had settled, or had a given length */
    machine_moment before, after;
    telemetry_log sensors;
} samples;

/* Times frame(context) repeatedly, and reads the sensors between frames. False: frame failed and
 * has printed why, or, with a message, out of memory. Call samples_free in any case. */
bool samples_take(samples *s, const sampling *how, bool (*frame)(void *context), void *context);

/* Appends one sample. False, with a message: out of memory. */
bool samples_add(samples *s, double ms);

void samples_free(samples *s);

#endif
