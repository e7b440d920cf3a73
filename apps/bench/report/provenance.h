// SPDX-License-Identifier: Apache-2.0
/* The origin of a result: two results must agree in it to be compared. */
#ifndef PROVENANCE_H
#define PROVENANCE_H

#include <cjson/cJSON.h>

/* {"version", "commit", "compiler", "flags", "date", "cpu", "system", "cores", "governor",
 * "load"}; NULL: out of memory. */
cJSON *provenance(void);

#endif
