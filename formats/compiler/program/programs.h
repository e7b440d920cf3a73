// SPDX-License-Identifier: Apache-2.0
/* What a model gets for its targets: programs for the AI Core and plans for CPUs. */
#ifndef MONA_COMPILER_PROGRAMS_H
#define MONA_COMPILER_PROGRAMS_H

#include "engine/aicore/program.h"
#include "engine/mona_op.h"
#include "formats/error.h"
#include "mona.h"

/* Whether constants of the model do not fit an AI Core's L1, so that it can only be planned for the
 * Ascend 310 after model_cut. */
bool model_needs_cut(const mona_model *model, mona_size size);

/* Writes a model so that, for these sizes, planners may cut it into groups anywhere: a SLICE of all
 * channels comes before every reader of a tensor, and each reader of a LOAD gets one of its own.
 * Convolutions whose weights would fill L1 become several, of some outputs each, and a CONCAT.
 * Where a plan makes no cut, SLICEs and CONCATs cost nothing. free() releases *bytes. */
bool model_cut(const mona_model *model, const mona_size *sizes, size_t size_count, uint8_t **bytes,
               size_t *size, format_error *error);

/* Records the program of a model for the Ascend 310 and frames of this size; free() releases
 * *bytes. */
bool program_record(const mona_model *model, mona_size size, uint8_t **bytes, size_t *count,
                    format_error *error);

/* Makes a copy of a model with such a program, cut where it must be, 64-byte aligned. Whether it
 * succeeds or not, free() releases *bytes. */
bool program_add(const mona_model *model, mona_size size, uint8_t **bytes, size_t *count,
                 format_error *error);

/* Opens the model whose header is at `at` of a file, which may hold several. */
bool model_open_at(mona_model *model, const uint8_t *bytes, size_t size, uint64_t at,
                   const mona_kernel *const *kernels);

/* Writes a program as the source of its own kernel, whose operands are constants. It issues the
 * replay kernel's instructions with fewer scalar instructions, and is launched in the same way.
 * free() releases *source. */
bool emit_kernel(const ac_program *program, char **source, format_error *error);

/* The plan for a CPU as a record of a .mona file (engine/model_format.h), from which
 * mona_plan_load() makes it without the planner. target: "host", or one of CPU_TARGETS; size: of
 * the first input. free() releases *bytes. */
bool plan_record(const mona_model *model, const char *target, mona_size size, uint8_t **bytes,
                 size_t *count, format_error *error);

#endif
