// SPDX-License-Identifier: Apache-2.0
/* Instructions per multiply-add of two convolutions in INT8 with ReLU, by the clock of an emulated
 * board that counts instructions: ticks of rows of 160 pixels, and of nothing. Prints a line each
 * for boards.sh. */
#include "apps/firmware/board.h"
#include "engine/model_format.h"
#include "engine/run/isas.h"

enum { PIXELS = 160, ROWS = 16, MAX_BLOCKS = 4, MAX_CHANNELS = MAX_BLOCKS * AC_FRACTAL };

/* Runs: rows of the filter under each block of 16 channels. */
enum { MAX_RUNS = 4, MAX_WEIGHTS = MAX_CHANNELS * MAX_CHANNELS };

static _Alignas(64) uint8_t input[MAX_RUNS][(PIXELS + 2) * AC_FRACTAL + MONA_ROW_SLACK];
static _Alignas(64) int8_t weights[MAX_WEIGHTS];
static _Alignas(64) int32_t bias[MAX_CHANNELS];
static _Alignas(64) float scale[MAX_CHANNELS];
static _Alignas(64) uint8_t output[MAX_BLOCKS][PIXELS * AC_FRACTAL], scratch[MONA_SCRATCH];

void line_interrupt(void) {}

static void fill(void)
{
    uint32_t seed = 1;
    for (uint32_t i = 0; i < sizeof input; i++)
        (&input[0][0])[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
    for (uint32_t i = 0; i < sizeof weights; i++)
        weights[i] = (int8_t)((int32_t)((seed = seed * 1664525 + 1013904223) >> 24) % 255 - 127);
    for (uint32_t i = 0; i < MAX_CHANNELS; i++)
        bias[i] = (int32_t)i * 100, scale[i] = 0x1p-10f;
}

static const mona_isa *best_isa(void)
{
    size_t best = 0;
    for (size_t i = 0; i < MONA_ISAS; i++)
        if (!(mona_isas[i].needs & ~mona_port_cpu_features()))
            best = i;
    return mona_isas[best].isa;
}

/* A filter of kernel x kernel from `blocks` blocks of 16 channels to as many. */
static void measure(const mona_isa *isa, uint32_t kernel, uint32_t blocks)
{
    uint16_t run_elements[MAX_RUNS];
    uint32_t first_run[MAX_BLOCKS] = {0}, run_count[MAX_BLOCKS], weights_offset[MAX_BLOCKS];
    const uint8_t *runs[MAX_RUNS];
    const uint32_t channels = blocks * AC_FRACTAL;
    for (uint32_t r = 0; r < kernel * blocks; r++)
        run_elements[r] = (uint16_t)(kernel * AC_FRACTAL), runs[r] = input[r];
    for (uint32_t n = 0; n < blocks; n++) {
        run_count[n] = kernel * blocks;
        weights_offset[n] = n * kernel * kernel * channels * AC_FRACTAL;
    }
    const mona_conv conv = {
        .source_type = MONA_U8,
        .c0 = AC_FRACTAL,
        .stride = 1,
        .pixel_bytes = AC_FRACTAL,
        .channels = channels,
        .blocks = blocks,
        .run_elements = run_elements,
        .first_run = first_run,
        .run_count = run_count,
        .weights_offset = weights_offset,
        .weights = (const uint8_t *)weights,
        .bias = bias,
        .epilogue = {
            .scale = scale, .activation = MONA_ACT_RELU, .residual_scale = 1, .output_scale = 1}};
    const mona_conv_row row = {.conv = &conv,
                               .runs = runs,
                               .pixels = PIXELS,
                               .output = {output[0], sizeof output[0], AC_FRACTAL, MONA_U8},
                               .scratch = scratch};
    const uint32_t begin = board_clock();
    const uint32_t end = board_clock();
    for (uint32_t y = 0; y < ROWS; y++)
        isa->conv_row(&row);
    const uint32_t ticks = board_clock() - end - (end - begin);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < blocks * sizeof output[0]; i++)
        sum = sum * 31 + (&output[0][0])[i];
    board_print("%s %ux%ux%u ticks %u hertz %u macs %u sum %x\n", isa->name, kernel, kernel,
                channels, ticks, board_clock_hertz,
                ROWS * PIXELS * channels * channels * kernel * kernel, sum);
}

int firmware_main(void)
{
    fill();
    measure(best_isa(), 3, 1);
    measure(best_isa(), 1, MAX_BLOCKS);
    return 0;
}
