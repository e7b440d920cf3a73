// SPDX-License-Identifier: Apache-2.0
/* JSON on stdout. */
#ifndef MONA_JSON_OUTPUT_H
#define MONA_JSON_OUTPUT_H

#include <cjson/cJSON.h>

/* Prints a document, which may be NULL where its making ran out of memory: indented, or as one
 * line. Return the exit status; EXIT_FAILED after one line on stderr. */
int json_print(const cJSON *document);
int json_print_line(const cJSON *document);

#endif
