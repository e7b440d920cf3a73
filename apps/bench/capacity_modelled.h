// SPDX-License-Identifier: Apache-2.0
/* Streams of a modelled chip, for mona bench --capacity: the chip computes one frame after another,
 * each in the modelled time. Nothing waits for real. */
#ifndef CAPACITY_MODELLED_H
#define CAPACITY_MODELLED_H

#include "apps/bench/bench_streams.h"

typedef struct capacity_modelled {
    paced_streams streams; /* without seconds */
    double frame_ms;
} capacity_modelled;

/* A capacity_job.run; context: a capacity_modelled. */
bool capacity_modelled_run(void *context, unsigned streams, double seconds, capacity_trial *trial);

#endif
