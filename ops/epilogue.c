// SPDX-License-Identifier: Apache-2.0
/* The epilogue that CONV, ADD and MUL share: its checks, and its parameters ready for kernels. */
#include "ops/helpers.h"

static size_t padded_floats(uint32_t channels)
{
    return (channels + 15) / 16 * 16 * sizeof(float);
}

static bool f16_array_finite(const uint8_t *data, uint32_t offset, uint32_t count)
{
    const uint16_t *values = (const uint16_t *)(const void *)(data + offset);
    for (uint32_t i = 0; i < count; i++)
        if (!f16_finite(values[i]))
            return false;
    return true;
}

bool mona_epilogue_check(const mona_file_epilogue *e, uint32_t channels, mona_data *data)
{
    const bool clips = e->activation == MONA_ACT_CLIP || e->activation_after_add == MONA_ACT_CLIP;
    if (e->activation >= MONA_ACT_COUNT || e->activation_after_add >= MONA_ACT_COUNT ||
        e->activation_after_add == MONA_ACT_PRELU || !f16_finite(e->residual_scale) ||
        !f16_finite(e->output_scale))
        return false;
    if (clips && (!f16_finite(e->clip_min) || !f16_finite(e->clip_max) ||
                  ac_f32_from_f16(e->clip_min) > ac_f32_from_f16(e->clip_max)))
        return false;
    if (e->activation != MONA_ACT_PRELU)
        return e->slopes == MONA_NONE;
    return mona_data_ok(data, e->slopes, channels, sizeof(uint16_t)) &&
           f16_array_finite(data->bytes, e->slopes, channels);
}

size_t mona_epilogue_bytes(uint32_t channels)
{
    return 2 * padded_floats(channels);
}

static const float *widen(float *to, const uint16_t *from, uint32_t channels)
{
    for (uint32_t c = 0; c < channels; c++)
        to[c] = ac_f32_from_f16(from[c]);
    for (uint32_t c = channels; c % 16; c++)
        to[c] = 0;
    return to;
}

void mona_epilogue_bind(ac_epilogue *e, const mona_file_epilogue *file, uint32_t channels,
                        const uint8_t *data, const uint16_t *scales, void *constants)
{
    float *scale = constants, *slope = scale + padded_floats(channels) / sizeof(float);
    *e = (ac_epilogue){
        .activation = file->activation,
        .activation_after_add = file->activation_after_add,
        .clip_min = ac_f32_from_f16(file->clip_min),
        .clip_max = ac_f32_from_f16(file->clip_max),
        .residual_scale = ac_f32_from_f16(file->residual_scale),
        .output_scale = ac_f32_from_f16(file->output_scale),
    };
    if (scales)
        e->scale = widen(scale, scales, channels);
    if (file->activation == MONA_ACT_PRELU)
        e->slope = widen(slope, (const uint16_t *)(const void *)(data + file->slopes), channels);
}
