// SPDX-License-Identifier: Apache-2.0
#ifndef ASCEND_CHECK_H
#define ASCEND_CHECK_H

#include <stdbool.h>

#include "engine/mona_ascend.h"

enum { ASCEND_FINDINGS = 6 + 2 * MONA_ASCEND_CHIPS };

typedef struct ascend_finding {
    char what[16];                /* "driver"; of several chips also "chip:1" and "health:1" */
    const char *state;            /* "OK", "too old", "too new", "missing", ... */
    char found[512], advice[256]; /* what is there, and what to do about it; may be "" */
} ascend_finding;

typedef struct ascend_findings {
    ascend_finding lines[ASCEND_FINDINGS];
    unsigned count;
} ascend_findings;

/* Finds what an Ascend 310 needs here, and how each chip is. Whether all are OK but the video
 * decoder, which is not needed. */
bool ascend_find(ascend_findings *all);

/* The same, printed. */
bool devices_check_ascend(void);

#endif
