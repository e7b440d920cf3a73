// SPDX-License-Identifier: Apache-2.0
/* Models whose constants do not fit an AI Core's L1. */
#ifndef MONA_CUT_H
#define MONA_CUT_H

#include "engine/mona.h"
#include "formats/error.h"

/* Whether the model can only be planned for the Ascend 310 after model_cut. */
bool model_needs_cut(const mona_model *model, mona_size size);

/* Writes a model of one size so that planners may cut it into groups anywhere: a SLICE of all
 * channels comes before every reader of a tensor, and each reader of a LOAD gets one of its own.
 * Convolutions whose weights would fill L1 become several, of some outputs each, and a CONCAT.
 * Where a plan makes no cut, SLICEs and CONCATs cost nothing. free() releases *bytes. */
bool model_cut(const mona_model *model, uint8_t **bytes, size_t *size, format_error *error);

#endif
