// SPDX-License-Identifier: Apache-2.0
/* What a service allows those who call mona for it: the file that the variable MONA_POLICY names.
 * Its lines are
 *
 *     limit memory=2G,pixels=100M,time=10m,streams=64   # options can only lower these
 *     allow playlist                                    # else --allow playlist is refused
 *     sandbox required                                  # else none is no error
 *
 * and comments behind #. */
#ifndef MONA_POLICY_H
#define MONA_POLICY_H

#include <stdbool.h>

#include "pipeline/job/limits.h"

typedef struct policy {
    bool given; /* there is a file */
    bool playlist, sandbox;
    limits limits;
} policy;

/* Read once. A file that is missing or wrong ends the process with one line. */
const policy *policy_of_service(void);

#endif
