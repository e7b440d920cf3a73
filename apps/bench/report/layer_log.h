// SPDX-License-Identifier: Apache-2.0
/* The time of every operator of a session: an observer that adds up times, and its figures beside
 * the machine's limits. */
#ifndef LAYER_LOG_H
#define LAYER_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "mona.h"
#include "apps/devices/machine.h"

struct layer_tally;

typedef struct layer_log {
    mona_op_info *infos; /* [ops], copied from the plan, so that neither it nor its model need
                            stay */
    struct layer_tally *tallies;
    unsigned ops, cores, stride;
    mona_op_observer observer; /* for mona_session_observe_ops; ticks of machine_ticks */
} layer_log;

/* False, with a message: out of memory. Close it in any case; it must not move. */
bool layer_log_open(layer_log *l, const mona_plan *plan);
void layer_log_close(layer_log *l);

/* Appends a row for each operator: name, kind, precision, tile, ms a frame, share of frame_ms,
 * GMAC/s, bytes, and the roofline: the closest limit ("compute", "cache", "memory") and what share
 * of it was reached. runs: runs of the session for each frame. stage: the stage that the operators
 * belong to; NULL: there is only one. Returns the sum of their ms. */
double layer_log_add(cJSON *rows, const layer_log *l, const peak *limit, double ms_per_tick,
                     double runs, double frame_ms, const char *stage);

/* Appends the row "(other)": the part of frame_ms that is not in `ms`. */
void layer_log_add_other(cJSON *rows, double ms, double frame_ms, const char *stage);

/* Prints rows as a table. */
void layer_log_print(const cJSON *rows);

#endif
