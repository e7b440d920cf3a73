// SPDX-License-Identifier: Apache-2.0
/* Which plane of a frame a model's tensor stands for, by its name up to the first '_'. */
#ifndef MONA_PLANE_ROLES_H
#define MONA_PLANE_ROLES_H

#include <stdbool.h>

#include "pipeline/base/error.h"
#include "pipeline/stages/frame.h"
#include "pipeline/stages/stage_settings.h"

enum {
    PLANE_ROLE_LUMA = 0,
    PLANE_ROLE_U = 1,
    PLANE_ROLE_V = 2,
    PLANE_ROLE_NOISE = FRAME_MAX_PLANES,
    PLANE_ROLE_UNKNOWN = -1
};

/* "luma", "y", "plane" -> PLANE_ROLE_LUMA, "u", "v", "noise", each alone or followed by '_'. */
int plane_role_of(const char *tensor);

/* The size of the plane or noise map that a role stands for. */
mona_size plane_role_size(int role, const frame_format *format);

/* Checks that every tensor of the model has a known role and is one plane of U8, and that the roles
 * are the wanted inputs and outputs, given as bit sets (1 << role). */
bool plane_roles_check(const named_model *model, unsigned inputs, unsigned outputs,
                       pipeline_error *error);

/* The same for a denoiser: y, u, v and noise. */
bool plane_roles_check_denoiser(const named_model *model, pipeline_error *error);

/* Sets config->sizes for frames of this format. */
void plane_roles_bind(const mona_model *model, const frame_format *format, mona_config *config);

#endif
