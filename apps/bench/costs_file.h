// SPDX-License-Identifier: Apache-2.0
/* Constants of model310's time in a file: an object of JSON with a number for each that differs. */
#ifndef COSTS_FILE_H
#define COSTS_FILE_H

#include <stdbool.h>

#include "engine/model310/model310.h"

/* Replaces those of *costs that the file names. False, with a message: it cannot be read. */
bool costs_read(const char *path, ac_costs *costs);

#endif
