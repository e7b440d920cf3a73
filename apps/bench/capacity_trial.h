// SPDX-License-Identifier: Apache-2.0
/* What some streams of a trial took. */
#ifndef CAPACITY_TRIAL_H
#define CAPACITY_TRIAL_H

#include <cjson/cJSON.h>

#include "apps/timing/sampling.h"

typedef enum capacity_part {
    CAPACITY_DECODE,
    CAPACITY_NETWORK,
    CAPACITY_ENCODE,
    CAPACITY_OTHER,
    CAPACITY_PARTS
} capacity_part;

extern const char *const capacity_part_names[CAPACITY_PARTS];

typedef struct capacity_trial {
    samples times;   /* of all frames from when they were due; INFINITY: it was left out */
    size_t left_out; /* of these */
    double cpu_ms[CAPACITY_PARTS]; /* of a frame */
    double stream_bytes;           /* memory of a stream; 0: unknown */
} capacity_trial;

/* Adds frames that were left out. False, with a message. */
bool capacity_leave_out(capacity_trial *t, size_t frames);

/* "cpu_ms" of a result, and how it is printed: "9.2 ms a frame: network 71 %, encode 25 %". */
void capacity_parts_add(cJSON *result, const double ms[CAPACITY_PARTS]);
void capacity_parts_print(const cJSON *parts);

#endif
