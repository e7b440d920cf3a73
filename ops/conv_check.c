// SPDX-License-Identifier: Apache-2.0
/* The checks of a CONV record: every parameter is in range, all its data is in bounds and finite,
 * and no sum can leave 32 bits. Nothing after this needs to check again. */
#include "ops/helpers.h"

static bool parameters_ok(const mona_file_op *op, const mona_shape *inputs,
                          const mona_shape *output)
{
    const mona_file_conv *c = &op->conv;
    const bool filter = c->kernel_h >= 1 && c->kernel_h <= 255 && c->kernel_w >= 1 &&
                        c->kernel_w <= 255 && c->stride_h >= 1 && c->stride_h <= 63 &&
                        c->stride_w >= 1 && c->stride_w <= 63 && c->dilation_h >= 1 &&
                        c->dilation_h <= 255 && c->dilation_w >= 1 && c->dilation_w <= 255;
    const bool padding =
        c->pad_top <= 255 && c->pad_left <= 255 && c->pad_bottom <= 255 && c->pad_right <= 255;
    const bool groups =
        c->groups >= 1 && inputs[0].channels % c->groups == 0 && output->channels % c->groups == 0;
    const bool types = inputs[0].type != MONA_U16 && output->type != MONA_U16;
    const bool residual = op->input_count == 1 ||
                          (inputs[1].type != MONA_U16 && !inputs[1].zero &&
                           (inputs[1].channels == 1 || inputs[1].channels >= output->channels));
    return filter && padding && groups && types && residual;
}

/* Elements of one output's weights. */
static uint64_t filter_elements(const mona_file_conv *c, const mona_shape *source)
{
    return (uint64_t)source->channels / c->groups * c->kernel_h * c->kernel_w;
}

/* |acc| <= sum |w| * largest |a| + |bias| must fit s32. The same bound holds for every partial
 * sum. */
static bool int8_ok(const mona_file_conv *c, const mona_shape *source, uint32_t outputs,
                    const uint8_t *data)
{
    const uint64_t elements = filter_elements(c, source);
    const int8_t *w = (const int8_t *)(data + c->weights);
    const uint16_t *scales = (const uint16_t *)(const void *)(data + c->scales);
    const int32_t *bias =
        c->bias == MONA_NONE ? NULL : (const int32_t *)(const void *)(data + c->bias);
    for (uint32_t o = 0; o < outputs; o++, w += elements) {
        uint64_t sum = 0;
        for (uint64_t i = 0; i < elements; i++) {
            if (w[i] == -128)
                return false;
            sum += (uint64_t)(w[i] < 0 ? -w[i] : w[i]);
        }
        sum *= source->type == MONA_U8 ? 255 : 128;
        const int64_t b = bias ? bias[o] : 0;
        /* 0x7bff is the largest finite value. With the sign bit the bits are larger. */
        if (sum + (uint64_t)(b < 0 ? -b : b) > INT32_MAX || scales[o] > 0x7bff)
            return false;
    }
    return true;
}

static bool f16_ok(const mona_file_conv *c, const mona_shape *source, uint32_t outputs,
                   const uint8_t *data)
{
    const uint64_t elements = filter_elements(c, source) * outputs;
    const uint16_t *w = (const uint16_t *)(const void *)(data + c->weights);
    for (uint64_t i = 0; i < elements; i++)
        if (!f16_finite(w[i]))
            return false;
    return c->bias == MONA_NONE || all_finite(data + c->bias, outputs);
}

/* Packed weights must stay below 2^31 bytes for every target. A block takes 16 outputs x 4 bytes
 * for each kernel position and each channel that its groups use, widened to whole channel blocks of
 * at most 32. */
static bool packed_size_ok(const mona_file_conv *c, const mona_shape *source, uint32_t outputs)
{
    const uint64_t inputs = source->channels / c->groups, per = outputs / c->groups;
    const uint64_t used = (AC_FRACTAL / per + 2) * inputs;
    const uint64_t channels = (used < source->channels ? used : source->channels) + 64;
    const uint64_t block = channels * c->kernel_h * c->kernel_w * AC_FRACTAL * 4; /* < 2^37 */
    return block * ((outputs + AC_FRACTAL - 1) / AC_FRACTAL) < (uint64_t)1 << 31;
}

mona_status mona_conv_check(const mona_file_op *op, const mona_shape *inputs,
                            const mona_shape *output, mona_data *data)
{
    const mona_file_conv *c = &op->conv;
    if (!parameters_ok(op, inputs, output) || !mona_epilogue_check(&op->epilogue, output, data))
        return MONA_ERR_MODEL;
    const bool half = inputs[0].type == MONA_F16;
    const uint64_t weights = filter_elements(c, inputs) * output->channels; /* < 2^45 */
    if (!mona_data_ok(data, c->weights, weights, half ? 2 : 1) ||
        (c->bias != MONA_NONE && !mona_data_ok(data, c->bias, output->channels, 4)))
        return MONA_ERR_MODEL;
    if (half ? c->scales != MONA_NONE : !mona_data_ok(data, c->scales, output->channels, 2))
        return MONA_ERR_MODEL;
    if (!(half ? f16_ok : int8_ok)(c, inputs, output->channels, data->bytes))
        return MONA_ERR_MODEL;
    return packed_size_ok(c, inputs, output->channels) ? MONA_OK : MONA_ERR_LIMIT;
}
