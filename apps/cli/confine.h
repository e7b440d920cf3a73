// SPDX-License-Identifier: Apache-2.0
/* Confines a command to the files that its command line names (pipeline/base/sandbox.h). Which
 * those are, its table of options says. */
#ifndef MONA_CONFINE_H
#define MONA_CONFINE_H

#include <stdbool.h>

#include "apps/cli/options.h"
#include "pipeline/job/limits.h"

/* What a command does that its table does not say. */
enum {
    CONFINE_LISTS = 1 << 0, /* its files name others beside and below them */
    CONFINE_TEMP = 1 << 1,  /* it writes temporary files */
    CONFINE_NOT = 1 << 2,   /* it starts other programs */
};

/* Call it once, before anything is read that a stranger may have written, and before a thread is
 * started: it also prepares for signals (stop.h). values, operands: as read by options_parse, which
 * calls this itself for commands that are CONFINED_AT_ONCE. */
void confine(const command *line, const void *values, const char *const *operands, unsigned also);

/* The row --no-sandbox, and where it is kept. */
extern const option confine_row;
extern bool confine_refused;

/* What a service allows those who call mona for it: the file that the variable MONA_POLICY names.
 * Its lines are
 *
 *     limit memory=2G,pixels=100M,time=10m,streams=64   # options can only lower these
 *     allow playlist                                    # else --allow playlist is refused
 *     sandbox required                                  # else none is no error
 *
 * and comments behind #. */

typedef struct policy {
    bool given; /* there is a file */
    bool playlist, sandbox;
    limits limits;
} policy;

/* Read once. A file that is missing or wrong ends the process with one line. */
const policy *policy_of_service(void);

#endif
