// SPDX-License-Identifier: Apache-2.0
#ifndef ASCEND_CHECK_H
#define ASCEND_CHECK_H

#include <stdbool.h>

/* Prints a line for each thing that an Ascend 310 needs here: "OK", "too old", "too new" or
 * "missing", what was found and what to install. Whether all are OK. */
bool devices_check_ascend(void);

#endif
