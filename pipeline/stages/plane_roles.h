// SPDX-License-Identifier: Apache-2.0
/* Which plane of a frame a tensor of a model stands for: by its name, up to the first '_'. */
#ifndef MONA_ROLES_H
#define MONA_ROLES_H

#include <stdbool.h>

#include "pipeline/error.h"
#include "pipeline/stages/frame.h"
#include "pipeline/stages/stage_settings.h"

enum { ROLE_LUMA = 0, ROLE_U = 1, ROLE_V = 2, ROLE_NOISE = FRAME_MAX_PLANES, ROLE_UNKNOWN = -1 };

/* "luma", "y", "plane" -> ROLE_LUMA, "u", "v", "noise", each alone or followed by '_'. */
int role_of(const char *tensor);

/* Size of the plane or noise map a role stands for. */
mona_size role_size(int role, const frame_format *format);

/* Every tensor of the model has a known role and is one plane of U8, and the roles are the inputs
 * and outputs wanted, given as bit sets (1 << role). */
bool roles_check(const named_model *model, unsigned inputs, unsigned outputs,
                 pipeline_error *error);

/* The same of a denoiser: y, u, v and noise. */
bool roles_check_denoiser(const named_model *model, pipeline_error *error);

/* Sets config->sizes for frames of this format. */
void roles_bind(const mona_model *model, const frame_format *format, mona_config *config);

#endif
