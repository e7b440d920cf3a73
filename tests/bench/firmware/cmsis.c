// SPDX-License-Identifier: Apache-2.0
/* The layer of tests/boards/layer.c, INT8 3x3 16 -> 16 with ReLU, by CMSIS-NN: ticks of 16 rows of
 * 160 pixels. */
#include "apps/firmware/board.h"
#include "arm_nnfunctions.h"

enum { WIDTH = 160, HEIGHT = 16, CHANNELS = 16 };

static int8_t in[HEIGHT * WIDTH * CHANNELS], out[HEIGHT * WIDTH * CHANNELS],
    weights[CHANNELS * 9 * CHANNELS];
static int32_t bias[CHANNELS], factor[CHANNELS], shift[CHANNELS];
static uint8_t room[64 * 1024];

void line_interrupt(void) {}

int firmware_main(void)
{
    for (uint32_t i = 0; i < sizeof in; i++)
        in[i] = (int8_t)(i * 37);
    for (uint32_t i = 0; i < sizeof weights; i++)
        weights[i] = (int8_t)(i * 11 % 255 - 127);
    for (int32_t i = 0; i < CHANNELS; i++)
        bias[i] = i * 100, factor[i] = 1 << 30, shift[i] = -9;
    cmsis_nn_context context = {room, sizeof room};
    const cmsis_nn_conv_params how = {128, -128, {1, 1}, {1, 1}, {1, 1}, {-128, 127}};
    const cmsis_nn_per_channel_quant_params scales = {factor, shift};
    const cmsis_nn_dims from = {1, HEIGHT, WIDTH, CHANNELS}, kernel = {CHANNELS, 3, 3, CHANNELS},
                        channels = {1, 1, 1, CHANNELS};
    const uint32_t begin = board_clock();
    const int status = arm_convolve_wrapper_s8(&context, &how, &scales, &from, in, &kernel, weights,
                                               &channels, bias, &from, out);
    board_print("ticks %u hertz %u\n", board_clock() - begin, board_clock_hertz);
    return status;
}
