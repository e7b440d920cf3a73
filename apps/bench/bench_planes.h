// SPDX-License-Identifier: Apache-2.0
/* The planes a plan reads and writes, filled with the same noise on every machine. */
#ifndef BENCH_PLANES_H
#define BENCH_PLANES_H

#include <stdbool.h>
#include <stdint.h>

#include "mona.h"
#include "pipeline/stages/frame_memory.h"

typedef struct bench_planes {
    unsigned input_count, output_count;
    mona_buffer inputs[MONA_MAX_IO], outputs[MONA_MAX_IO];
    frame_memory memory[2 * MONA_MAX_IO]; /* for inputs; from MONA_MAX_IO on, for outputs */
    size_t bytes[2 * MONA_MAX_IO];        /* of these */
} bench_planes;

/* device: whose memory they are in, if the host shares it; NULL: the host's. False: out of memory.
 * Close them in any case; zeroed ones are allowed. */
bool bench_planes_open(bench_planes *p, const mona_device *device, const mona_plan *plan,
                       const mona_model *model);
void bench_planes_close(bench_planes *p);

uint32_t bench_planes_input_crc(const bench_planes *p);
uint32_t bench_planes_output_crc(const bench_planes *p);
/* Bytes of all inputs and outputs. */
size_t bench_planes_bytes(const bench_planes *p);

#endif
