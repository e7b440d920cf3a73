// SPDX-License-Identifier: Apache-2.0
/* One picture's luma through a model, as mona enhance would run it. */
#ifndef MONA_MODEL_RUN_H
#define MONA_MODEL_RUN_H

#include "pipeline/quality/measure.h"
#include "pipeline/stages/stage.h"

/* How many times larger a model makes the one plane it takes; 0, with a message, if it is no such
 * model or the times are not alike in width and height. */
unsigned model_scale(const named_model *model, const mona_config *config, pipeline_error *error);

/* Rounds `from` to 8 bit and runs it. A denoiser gets neutral chroma and sigma as the strength of
 * the noise. `to` is what of the luma that comes out it has room for. */
bool model_run(real_plane *to, const real_plane *from, const named_model *model,
               const mona_config *config, unsigned sigma, pipeline_error *error);

#endif
