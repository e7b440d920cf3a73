// SPDX-License-Identifier: Apache-2.0
/* What opening a model and making one of another share. Private to engine/. */
#ifndef MONA_MODEL_H
#define MONA_MODEL_H

#include "engine/model/model_format.h"
#include "mona.h"

/* Every record is in bounds and agrees with the others, given a sound header and sections.
 * *references: bytes that records may refer to, less those they do. */
mona_status mona_model_check(const mona_model *model, int64_t *references);

#endif
