// SPDX-License-Identifier: Apache-2.0
/* Shared by opening a model and deepening one. Private to engine/. */
#ifndef MONA_MODEL_H
#define MONA_MODEL_H

#include "engine/model_format.h"
#include "mona.h"
#include "engine/op/op.h"

/* The shape of a tensor, without the height and width of maps, which frames have. */
mona_shape mona_model_shape(const mona_file_tensor *tensor);

/* Whether every record is in bounds and agrees with the others; header and sections must be sound.
 * data->left: bytes that records may still refer to; reduced by those they do. */
mona_status mona_model_check(const mona_model *model, mona_data *data);

/* The programs that the model's header lists. */
const mona_file_program *mona_model_programs(const mona_model *model, uint32_t *count);

#endif
