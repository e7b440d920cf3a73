// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/plane_roles.h"

#include <string.h>

int plane_role_of(const char *tensor)
{
    static const struct {
        const char *name;
        int role;
    } names[] = {{"luma", PLANE_ROLE_LUMA}, {"y", PLANE_ROLE_LUMA}, {"plane", PLANE_ROLE_LUMA},
                 {"u", PLANE_ROLE_U},       {"v", PLANE_ROLE_V},    {"noise", PLANE_ROLE_NOISE}};
    size_t length = strcspn(tensor, "_");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == length && !memcmp(names[i].name, tensor, length))
            return names[i].role;
    return PLANE_ROLE_UNKNOWN;
}

mona_size plane_role_size(int role, const frame_format *format)
{
    return frame_plane_size(format, role == PLANE_ROLE_NOISE ? 1 : (unsigned)role);
}

static bool check_tensor(const named_model *model, mona_tensor_info tensor, unsigned *found,
                         pipeline_error *error)
{
    int role = plane_role_of(tensor.name);
    if (role == PLANE_ROLE_UNKNOWN)
        return pipeline_fail(error,
                             "%s: expected tensors named luma, y, u, v, noise or plane, "
                             "found '%s'",
                             model->name, tensor.name);
    if (tensor.type != MONA_U8 || tensor.channels != 1)
        return pipeline_fail(
            error, "%s: expected tensor '%s' to be one plane of u8, found %u of %s%s", model->name,
            tensor.name, tensor.channels, mona_type_name(tensor.type),
            tensor.type != MONA_U8 ? "; mona compile --picture makes models of pictures" : "");
    *found |= 1u << role;
    return true;
}

bool plane_roles_check(const named_model *model, unsigned inputs, unsigned outputs,
                       pipeline_error *error)
{
    unsigned found_inputs = 0, found_outputs = 0;
    for (unsigned i = 0; i < mona_model_input_count(&model->model); i++)
        if (!check_tensor(model, mona_model_input(&model->model, i), &found_inputs, error))
            return false;
    for (unsigned i = 0; i < mona_model_output_count(&model->model); i++)
        if (!check_tensor(model, mona_model_output(&model->model, i), &found_outputs, error))
            return false;
    if (found_inputs != inputs || found_outputs != outputs)
        return pipeline_fail(
            error, "%s: expected a model for %s, found other inputs or outputs", model->name,
            inputs == 1u << PLANE_ROLE_LUMA ? "one plane (luma -> luma_x2)"
                                            : "y, u, v and noise (-> y_out, u_out, v_out)");
    return true;
}

bool plane_roles_check_denoiser(const named_model *model, pipeline_error *error)
{
    const unsigned colour = 1 << PLANE_ROLE_LUMA | 1 << PLANE_ROLE_U | 1 << PLANE_ROLE_V;
    return plane_roles_check(model, colour | 1 << PLANE_ROLE_NOISE, colour, error);
}

void plane_roles_bind(const mona_model *model, const frame_format *format, mona_config *config)
{
    for (unsigned i = 0; i < mona_model_input_count(model); i++)
        config->sizes[i] = plane_role_size(plane_role_of(mona_model_input(model, i).name), format);
}
