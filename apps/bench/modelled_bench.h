// SPDX-License-Identifier: Apache-2.0
/* mona bench --device model310: a frame's modelled time, where it goes, and what the checks found.
 */
#ifndef MODELLED_BENCH_H
#define MODELLED_BENCH_H

#include <stdbool.h>

#include "apps/bench/report/bench_result.h"
#include "engine/model310/model310.h"
#include "mona.h"

typedef struct modelled_options {
    bool json, advise;
    const char *trace; /* a file to write, or NULL */
    const ac_costs *costs;
    const verdict_rules *rules; /* of which only the budget counts */
} modelled_options;

bool modelled_device(const mona_device *device);

/* Prints the report. False: the budget is not kept; or, with a message, it could not run, or a
 * check found something. */
bool modelled_bench(const char *name, const mona_model *model, const mona_config *config,
                    const modelled_options *options);

/* The longest of a frame's modelled times. False, with a message. */
bool modelled_frame_ms(double *ms, const char *name, const mona_model *model,
                       const mona_config *config, const ac_costs *costs);

/* Constants of model310's time in a file: an object of JSON with a number for each that differs. */

/* Replaces those of *costs that the file names. False, with a message: it cannot be read. */
bool costs_read(const char *path, ac_costs *costs);

#endif
