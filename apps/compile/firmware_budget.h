// SPDX-License-Identifier: Apache-2.0
/* mona inspect --firmware: what a network takes on a small CPU, before anything is linked. */
#ifndef MONA_FIRMWARE_BUDGET_H
#define MONA_FIRMWARE_BUDGET_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "mona.h"

/* Name, target of mona compile, cycles of an instruction: estimates that no chip has confirmed. The
 * order is that of the columns in firmware_costs.inc. */
#define FIRMWARE_CPU_LIST(CPU, OR)                                                                 \
    CPU("cortex-m4", "armv7e-m", 1.3)                                                              \
    OR CPU("cortex-m33", "armv8-m", 1.2) OR CPU("cortex-m7", "armv7e-m", 1.0)                      \
        OR CPU("cortex-m55", "armv8.1-m", 1.8) OR CPU("cortex-a53", "armv8", 1.5)                  \
            OR CPU("cortex-a55", "armv8-dot", 1.5) OR CPU("rv32imafc", "c", 1.4)                   \
                OR CPU("rv64gc", "c", 1.4)
#define FIRMWARE_CPU_NAME(name, target, cycles) name
#define FIRMWARE_CPUS FIRMWARE_CPU_LIST(FIRMWARE_CPU_NAME, "|")
#define FIRMWARE_ALL "all"

/* What a board has; 0: it is not asked. */
typedef struct firmware_board {
    const char *flash, *ram, *clock; /* as they were given, "512K" and "400M" */
    double fps;
} firmware_board;

/* Adds "firmware" to the document: an object, or for "all" an array with one of each CPU. name: of
 * the model, for messages. False: one line was printed. */
bool firmware_budget(cJSON *document, const char *name, const mona_model *model, const char *cpu,
                     mona_size size, const firmware_board *board);

/* Prints what it has added. */
void firmware_budget_print(const cJSON *document);

#endif
