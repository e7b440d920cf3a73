// SPDX-License-Identifier: Apache-2.0
/* -y and -n: whether an output that exists may be replaced. */
#ifndef MONA_OVERWRITE_H
#define MONA_OVERWRITE_H

#include <stdbool.h>


typedef enum overwrite { OVERWRITE_ASK, OVERWRITE_YES, OVERWRITE_NO } overwrite;

/* The rows of both, of a command whose values have `bool yes, no`. */
#define OVERWRITE_ROWS(values, group)                                                              \
    {"--overwrite",                                                                                \
     "-y",                                                                                         \
     OPTION_FLAG,                                                                                  \
     KEEPS_BYTES,                                                                                  \
     offsetof(values, yes),                                                                        \
     NULL,                                                                                         \
     group,                                                                                        \
     .help =                                                                                       \
         "overwrite OUT if it exists; without -y, mona asks on a terminal and refuses elsewhere"}, \
    {                                                                                              \
        "--no-overwrite", "-n", OPTION_FLAG, KEEPS_BYTES, offsetof(values, no), NULL, group,       \
            .help = "never overwrite OUT, and never ask"                                           \
    }

/* What they say together. False: one line was printed. */
bool overwrite_read(overwrite *answer, bool yes, bool no);

/* Asks on a terminal, unless the input comes from there; refuses elsewhere. resume: an interrupted
 * run is continued, for which the question was answered when it began. False: one line was
 * printed. */
bool overwrite_allowed(overwrite answer, const char *output, const char *input, bool resume);

#endif
