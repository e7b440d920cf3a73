// SPDX-License-Identifier: Apache-2.0
#ifndef MODELLED_REPORT_H
#define MODELLED_REPORT_H

#include <stdbool.h>

#include "apps/bench/report/verdict.h"
#include "engine/model310/model310.h"
#include "engine/model310/modelled.h"
#include "mona.h"

/* One run, or an extrapolation from two: all its figures grow linearly with the rows. */
typedef struct modelled_sample {
    ac_costs costs;
    mona_model model; /* planned for this size */
    double cycles;    /* of the slowest core */
    double replayed;  /* the same by the replay kernel */
    double gm_read, gm_written;
    mona_modelled_op *ops; /* of that core */
    unsigned op_count, cores;
    uint64_t findings, instructions;
    ac_finding first[AC_MODEL_FINDINGS];
    uint32_t crc;
    size_t arena_bytes;
} modelled_sample;

/* Prints it, as text or JSON, and whether the longest of its times keeps the budget, if rules
 * have one. False: it does not; or, with a message, a check found something, or printing failed. */
bool modelled_report(const char *name, const modelled_sample *sample, bool sampled, bool json,
                     const verdict_rules *rules);

#endif
