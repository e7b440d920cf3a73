// SPDX-License-Identifier: Apache-2.0
/* AI Core programs of a model, and the file that holds them. */
#ifndef MONA_RECORD_H
#define MONA_RECORD_H

#include "formats/compiler/program/recorder.h"
#include "formats/error.h"

/* Records the program of a model for the Ascend 310 and frames of this size; free() releases
 * *bytes. */
bool program_record(const mona_model *model, mona_size size, uint8_t **bytes, size_t *count,
                    format_error *error);

#endif
