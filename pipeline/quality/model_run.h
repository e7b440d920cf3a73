// SPDX-License-Identifier: Apache-2.0
/* Runs one picture's luma through a model, as mona enhance would. */
#ifndef MONA_MODEL_RUN_H
#define MONA_MODEL_RUN_H

#include "pipeline/quality/measure.h"
#include "pipeline/stages/stage.h"

/* Rounds `from` to 8 bits and runs the model on it. A denoiser gets neutral chroma and sigma as the
 * strength of the noise. `to` receives as much of the resulting luma as it has room for. or_host:
 * see session_binding_open_deep. */
bool model_run(real_plane *to, const real_plane *from, const named_model *model, bool or_host,
               const mona_config *config, unsigned sigma, pipeline_error *error);

#endif
