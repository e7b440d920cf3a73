// SPDX-License-Identifier: Apache-2.0
/* Times the steps of a run of mona enhance: a probe that adds up times. */
#ifndef MONA_STEP_CLOCK_H
#define MONA_STEP_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

#include "pipeline/stages/chain.h"

enum { STEP_CLOCK_FRAMES = 2 * STAGE_SLOTS + 2 };

typedef struct step_clock {
    pipeline_probe probe; /* for job */
    unsigned steps;       /* the last is encoding */
    const char *names[CHAIN_MAX_STEPS];
    uint64_t begun[CHAIN_MAX_STEPS];  /* each written by its own thread, which by then */
    uint64_t waited[CHAIN_MAX_STEPS]; /* had waited so long (waiting.h) */
    atomic_uint_least64_t spent[CHAIN_MAX_STEPS]; /* nanoseconds of work on all frames so far */
    uint64_t decoded[STEP_CLOCK_FRAMES];          /* when each frame in the pipeline was decoded */
    uint64_t latency; /* of the last frame: from its decoding until the encoder takes it; read it
                         in the thread that encodes */
} step_clock;

/* It must not move while a run uses it. */
void step_clock_open(step_clock *c, const stage_kind *kinds, unsigned count);

/* The names of the steps, if the stages are others by now. */
void step_clock_name(step_clock *c, const stage_kind *kinds, unsigned count);

/* Nanoseconds of all steps so far. */
void step_clock_read(const step_clock *c, uint64_t spent[CHAIN_MAX_STEPS]);

#endif
