// SPDX-License-Identifier: Apache-2.0
/* Instructions of a frame of sr_x2_fast by the clock of an emulated board: of mona's C, or of
 * onnx2c's with
 * -DONNX2C, which is fp32 and ends before the pixels are put in their places. */
#include "apps/firmware/board.h"

enum { WIDTH = 64, HEIGHT = 48 };

void line_interrupt(void) {}

#ifdef ONNX2C
void entry(const float in[1][1][HEIGHT][WIDTH], float out[1][4][HEIGHT][WIDTH]);
static float in[1][1][HEIGHT][WIDTH], out[1][4][HEIGHT][WIDTH];

static int open(void)
{
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
        in[0][0][i / WIDTH][i % WIDTH] = (float)(i * 37 % 256) / 255;
    return 0;
}

static int run(void)
{
    entry(in, out);
    return 0;
}
#else
#include "net.h"
static _Alignas(64) uint8_t arena[NET_ARENA_BYTES];
static uint8_t in[HEIGHT][WIDTH], out[2 * HEIGHT][2 * WIDTH];
static mona_session *session;

static int open(void)
{
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
        in[i / WIDTH][i % WIDTH] = (uint8_t)(i * 37);
    return net_open(&session, arena, sizeof arena);
}

static int run(void)
{
    return net_run(session, in[0], WIDTH, out[0], 2 * WIDTH);
}
#endif

int firmware_main(void)
{
    const int opened = open();
    const uint32_t begin = board_clock();
    const int status = opened ? opened : run();
    board_print("ticks %u hertz %u\n", board_clock() - begin, board_clock_hertz);
    return status;
}
