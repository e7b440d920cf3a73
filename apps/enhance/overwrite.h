// SPDX-License-Identifier: Apache-2.0
/* -y and -n: whether an output that exists may be replaced. */
#ifndef MONA_OVERWRITE_H
#define MONA_OVERWRITE_H

#include <stdbool.h>

typedef enum overwrite { OVERWRITE_ASK, OVERWRITE_YES, OVERWRITE_NO } overwrite;

/* Asks on a terminal, unless the input comes from there; refuses elsewhere. resume: an interrupted
 * run is continued, for which the question was answered when it began. False: one line was
 * printed. */
bool overwrite_allowed(overwrite answer, const char *output, const char *input, bool resume);

#endif
