// SPDX-License-Identifier: Apache-2.0
/* Instructions per multiply-add of a convolution, INT8 3x3 16 -> 16 with ReLU, by the clock of an
 * emulated board that counts instructions: ticks of a row of 160 pixels, and of nothing. Prints a
 * line for boards.sh. */
#include "apps/firmware/board.h"
#include "engine/model_format.h"
#include "engine/run/isas.h"

enum { PIXELS = 160, CHANNELS = 16, KERNEL = 3, STEPS = KERNEL * CHANNELS / 4, ROWS = 16 };

static _Alignas(64) uint8_t input[KERNEL][(PIXELS + 2) * CHANNELS + AC_ROW_SLACK];
static _Alignas(64) int8_t weights[KERNEL * STEPS * AC_FRACTAL * 4];
static _Alignas(64) int32_t bias[AC_FRACTAL];
static _Alignas(64) float scale[AC_FRACTAL];
static _Alignas(64) uint8_t output[PIXELS * CHANNELS], scratch[AC_SCRATCH];

void line_interrupt(void) {}

static void fill(void)
{
    uint32_t seed = 1;
    for (uint32_t i = 0; i < sizeof input; i++)
        (&input[0][0])[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
    for (uint32_t i = 0; i < sizeof weights; i++)
        weights[i] = (int8_t)((int32_t)((seed = seed * 1664525 + 1013904223) >> 24) % 255 - 127);
    for (uint32_t i = 0; i < AC_FRACTAL; i++)
        bias[i] = (int32_t)i * 100, scale[i] = 0x1p-10f;
}

static const ac_isa *best_isa(void)
{
    size_t best = 0;
    for (size_t i = 0; i < MONA_ISAS; i++)
        if (!(mona_isas[i].needs & ~mona_port_cpu_features()))
            best = i;
    return mona_isas[best].isa;
}

int firmware_main(void)
{
    static const uint16_t run_elements[KERNEL] = {48, 48, 48};
    static const uint32_t first_run[1] = {0}, run_count[1] = {KERNEL}, weights_offset[1] = {0};
    const ac_isa *isa = best_isa();
    const ac_conv conv = {
        .source_type = MONA_U8,
        .c0 = CHANNELS,
        .stride = 1,
        .pixel_bytes = CHANNELS,
        .channels = CHANNELS,
        .blocks = 1,
        .run_elements = run_elements,
        .first_run = first_run,
        .run_count = run_count,
        .weights_offset = weights_offset,
        .weights = (const uint8_t *)weights,
        .bias = bias,
        .epilogue = {
            .scale = scale, .activation = MONA_ACT_RELU, .residual_scale = 1, .output_scale = 1}};
    const uint8_t *runs[KERNEL] = {input[0], input[1], input[2]};
    const ac_conv_row row = {.conv = &conv,
                             .runs = runs,
                             .pixels = PIXELS,
                             .output = {output, 0, CHANNELS, MONA_U8},
                             .scratch = scratch};
    fill();
    const uint32_t begin = board_clock();
    const uint32_t end = board_clock();
    for (uint32_t y = 0; y < ROWS; y++)
        isa->conv_row(&row);
    const uint32_t ticks = board_clock() - end - (end - begin);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < sizeof output; i++)
        sum = sum * 31 + output[i];
    board_print("%s ticks %u hertz %u macs %u sum %x\n", isa->name, ticks, board_clock_hertz,
                (uint32_t)ROWS * PIXELS * CHANNELS * CHANNELS * KERNEL * KERNEL, sum);
    return 0;
}
