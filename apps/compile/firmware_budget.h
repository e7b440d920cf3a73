// SPDX-License-Identifier: Apache-2.0
/* mona inspect --firmware: what a network takes on a small CPU, before anything is linked. */
#ifndef MONA_FIRMWARE_BUDGET_H
#define MONA_FIRMWARE_BUDGET_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "mona.h"

#define FIRMWARE_CPUS "cortex-m7|cortex-m55|cortex-a53|cortex-a55"

/* Adds "firmware" to the document. name: of the model, for messages. False: one line was
 * printed. */
bool firmware_budget(cJSON *document, const char *name, const mona_model *model, const char *cpu,
                     mona_size size);

#endif
