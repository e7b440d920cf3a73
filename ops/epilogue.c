// SPDX-License-Identifier: Apache-2.0
/* The epilogue that CONV, ADD and MUL share: its checks, and its parameters ready for kernels. */
#include "ops/helpers.h"

enum { TABLE_BYTES = 256 };

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

static bool function_ok(const mona_file_epilogue *e, mona_type output)
{
    const uint8_t f = e->activation_after_add;
    const bool bytes = output == MONA_U8 || output == MONA_S8;
    return !mona_is_function(f) ||
           (f == MONA_ACT_TABLE ? bytes : output == MONA_F16 && f16_finite(e->alpha));
}

bool mona_epilogue_check(const mona_file_epilogue *e, const mona_shape *output, mona_data *data)
{
    const bool table = e->activation_after_add == MONA_ACT_TABLE;
    const bool slopes = e->activation == MONA_ACT_PRELU;
    const bool clips = e->activation == MONA_ACT_CLIP || e->activation_after_add == MONA_ACT_CLIP;
    if (mona_is_function(e->activation) || e->activation_after_add >= MONA_ACT_COUNT ||
        e->activation_after_add == MONA_ACT_PRELU || !f16_finite(e->residual_scale) ||
        !f16_finite(e->output_scale) || !function_ok(e, output->type) || (slopes && table))
        return false;
    if (clips && (!f16_finite(e->clip_min) || !f16_finite(e->clip_max) ||
                  mona_f32_from_f16(e->clip_min) > mona_f32_from_f16(e->clip_max)))
        return false;
    if (table)
        return mona_data_ok(data, e->slopes, TABLE_BYTES, 1);
    if (!slopes)
        return e->slopes == MONA_NONE;
    return mona_data_ok(data, e->slopes, output->channels, sizeof(uint16_t)) &&
           f16_array_finite(data->bytes, e->slopes, output->channels);
}

size_t mona_epilogue_bytes(const mona_file_epilogue *file, uint32_t channels)
{
    const bool table = file->activation_after_add == MONA_ACT_TABLE;
    return 2 * padded_floats(channels) + (table ? TABLE_BYTES : 0);
}

static const float *widen(float *to, const uint16_t *from, uint32_t channels)
{
    for (uint32_t c = 0; c < channels; c++)
        to[c] = mona_f32_from_f16(from[c]);
    for (uint32_t c = channels; c % 16; c++)
        to[c] = 0;
    return to;
}

void mona_epilogue_bind(mona_epilogue *e, const mona_file_epilogue *file, uint32_t channels,
                        const uint8_t *data, const uint16_t *scales, void *constants)
{
    float *scale = constants, *slope = scale + padded_floats(channels) / sizeof(float);
    const bool function = mona_is_function(file->activation_after_add);
    *e = (mona_epilogue){
        .activation = file->activation,
        .activation_after_add = function ? MONA_ACT_NONE : file->activation_after_add,
        .clip_min = mona_f32_from_f16(file->clip_min),
        .clip_max = mona_f32_from_f16(file->clip_max),
        .residual_scale = mona_f32_from_f16(file->residual_scale),
        .output_scale = mona_f32_from_f16(file->output_scale),
        .function = function ? file->activation_after_add : MONA_ACT_NONE,
        .alpha = mona_f32_from_f16(file->alpha),
    };
    if (scales)
        e->scale = widen(scale, scales, channels);
    if (file->activation == MONA_ACT_PRELU)
        e->slope = widen(slope, (const uint16_t *)(const void *)(data + file->slopes), channels);
    if (e->function == MONA_ACT_TABLE)
        e->table = memcpy((uint8_t *)constants + 2 * padded_floats(channels), data + file->slopes,
                          TABLE_BYTES);
}

mona_type mona_epilogue_type(const mona_bound_op *b)
{
    const bool table = b->op->epilogue.activation_after_add == MONA_ACT_TABLE;
    return table ? MONA_U8 : b->output.type;
}

void mona_epilogue_function(const mona_bound_op *b, const mona_epilogue *e, mona_row row,
                            uint32_t channels, uint32_t pixels)
{
    const mona_function_row f = {.row = row,
                                 .channels = channels,
                                 .pixels = pixels,
                                 .function = e->function,
                                 .table = e->table,
                                 .alpha = e->alpha};
    if (f.function)
        b->isa->function_row(&f);
}
