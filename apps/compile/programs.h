// SPDX-License-Identifier: Apache-2.0
/* Programs for the Ascend 310 and plans for CPUs in .mona files: writes them and shows their
 * contents. */
#ifndef MONA_PROGRAMS_H
#define MONA_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "apps/cli/options.h"
#include "engine/aicore/program.h"
#include "mona.h"

/* Adds programs or plans for a target to a model in memory, which is replaced: one for each size of
 * `sizes` ("WxH"), or for the sizes that the model is fixed to. target: "ascend310", "host" or one
 * of CPU_TARGETS. name: for messages. False: one line was printed. */
bool programs_add(const char *name, const char *target, uint8_t **bytes, size_t *size,
                  const option_list *sizes);

/* One line for each program and plan of a model, or a table's rows for the one and the other. */
void programs_print(const mona_model *model);
cJSON *programs_describe(const mona_model *model);
cJSON *plans_describe(const mona_model *model);

/* Prints every instruction of a model's programs. False: there is none, or one is not sound; one
 * line was printed. */
bool programs_disassemble(const char *name, const mona_model *model);

/* Prints the source of a kernel for a model's first program. False: as above. */
bool programs_print_kernel(const char *name, const mona_model *model);

/* Prints the records of a program of this model, which must have been proved: each instruction with
 * its operands, in brackets what they advance by in each turn of the loops around it, and what it
 * does. instructions: how many it runs. */
void disassemble(const mona_model *model, const ac_program *program, uint64_t instructions);

/* mona compile --emit c. */

/* Whether `output` is NAME.c with a NAME that can begin names in C. False: one line was printed. */
bool emit_source_check(const char *output);

/* Writes NAME.c and NAME.h for frames of `size`, "WxH", or of the size that the model is fixed to
 * if it is NULL. name: of the model, for messages. */
bool emit_source(const char *name, const mona_model *model, const char *output, const char *target,
                 const char *size);

#endif
