// SPDX-License-Identifier: Apache-2.0
/* Kernels of an application, for tests: one that touches every sample that it may. */
#ifndef MONA_TESTS_USER_KERNELS_H
#define MONA_TESTS_USER_KERNELS_H

#include "engine/mona_op.h"

enum { USER_TABLE = 5 };

/* Of a: a plane of bytes. Of b: two planes of cells of 2 x 2 words. A table. */
static const mona_kernel_operand user_sum_operands[] = {
    {MONA_U8, 1, 0, 1, 1, 1, 2},           {MONA_U16, 2, 0, 2, 2, 1, 1},
    {MONA_S32, 0, USER_TABLE, 0, 0, 0, 0}, {MONA_S32, 1, 0, 1, 1, 0, 0},
    {MONA_U8, 2, 0, 1, 2, 0, 0},
};

/* What a cell's result is: samples are counted in the order of kernels' rows, from 1 on. */
static inline uint32_t user_sum_add(uint32_t sum, uint32_t *count, uint32_t sample)
{
    return sum + sample * ++*count;
}

static inline void user_sum_row(const mona_kernel_call *call)
{
    for (uint32_t i = 0; i < call->columns; i++) {
        uint32_t sum = (call->y * call->width + call->x + i) * call->height, count = 0, next = 0;
        for (; next < 3; next++) {
            const uint8_t *a = call->inputs[next];
            for (int x = -2; x <= 2; x++)
                sum = user_sum_add(sum, &count, a[(int)i + x]);
        }
        for (; next < 3 + 12; next++) {
            const uint16_t *b = call->inputs[next];
            for (int x = -2; x < 4; x++)
                sum = user_sum_add(sum, &count, b[2 * (int)i + x]);
        }
        const int32_t *table = call->inputs[next];
        for (uint32_t k = 0; k < USER_TABLE; k++)
            sum = user_sum_add(sum, &count, (uint32_t)table[k]);
        if (call->output == 0)
            ((int32_t *)call->outputs[0])[i] = (int32_t)sum;
        for (uint32_t k = 0; call->output == 1 && k < 4; k++)
            ((uint8_t *)call->outputs[k / 2])[2 * i + k % 2] = (uint8_t)(sum >> 8 * k);
    }
}

static const mona_kernel user_sum = {"test::Sum", 3, 2, user_sum_operands, user_sum_row, NULL};

/* The same for maps: of a, three planes of bytes, and b, two planes of cells of 2 x 2 floats, and
 * the table it makes cells of 2 x 2 bytes in two planes, and floats in five. */
static const mona_kernel_operand user_mix_operands[] = {
    {MONA_U8, 3, 0, 1, 1, 1, 2},           {MONA_F32, 2, 0, 2, 2, 1, 1},
    {MONA_S32, 0, USER_TABLE, 0, 0, 0, 0}, {MONA_U8, 2, 0, 2, 2, 0, 0},
    {MONA_F32, 5, 0, 1, 1, 0, 0},
};

/* Sample i of a cell of an output whose samples add up to `sum`. Fp16 has the whole numbers. */
static inline uint8_t user_mix_byte(uint32_t sum, uint32_t i)
{
    return (uint8_t)(sum * (i + 1) >> 8);
}

static inline float user_mix_float(uint32_t sum, uint32_t i)
{
    return (float)(sum * (2 * i + 1) >> 9 & 1023);
}

/* Of a model that somebody changed, samples may be any numbers. */
static inline uint32_t user_mix_whole(float sample)
{
    return sample > -65536 && sample < 65536 ? (uint32_t)(int32_t)sample : 0;
}

static inline void user_mix_row(const mona_kernel_call *call)
{
    for (uint32_t i = 0; i < call->columns; i++) {
        uint32_t sum = (call->y * call->width + call->x + i) * call->height, count = 0, next = 0;
        for (; next < 9; next++)
            for (int x = -2; x <= 2; x++)
                sum = user_sum_add(sum, &count, ((const uint8_t *)call->inputs[next])[(int)i + x]);
        for (; next < 9 + 12; next++)
            for (int x = -2; x < 4; x++)
                sum = user_sum_add(
                    sum, &count,
                    user_mix_whole(((const float *)call->inputs[next])[2 * (int)i + x]));
        for (uint32_t k = 0; k < USER_TABLE; k++)
            sum = user_sum_add(sum, &count, (uint32_t)((const int32_t *)call->inputs[next])[k]);
        for (uint32_t k = 0; call->output == 0 && k < 8; k++)
            ((uint8_t *)call->outputs[k / 2])[2 * i + k % 2] = user_mix_byte(sum, k);
        for (uint32_t k = 0; call->output == 1 && k < 5; k++)
            ((float *)call->outputs[k])[i] = user_mix_float(sum, k);
    }
}

static const mona_kernel user_mix = {"test::Mix", 3, 2, user_mix_operands, user_mix_row, NULL};
static const mona_kernel *const user_kernels[] = {&user_sum, &user_mix, NULL};

#endif
