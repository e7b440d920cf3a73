// SPDX-License-Identifier: Apache-2.0
/* A frame in slices, beside a watchdog that must be fed more often than a frame takes. Here the
 * board's timer is the watchdog. With WHOLE the frame is run at once, and the watchdog bites. */
#include <stdalign.h>
#include <stdbool.h>

#include "apps/firmware/board.h"
#include "apps/firmware/sensor.h"
#include "denoise.h" /* written by mona compile --emit c */

enum { PATIENCE_MICROSECONDS = 2000, BITTEN = 4, SLICES_A_SECOND = 4000 };

static alignas(MONA_ALIGNMENT) uint8_t arena[DENOISE_ARENA_BYTES];
static uint8_t y[SENSOR_HEIGHT][SENSOR_WIDTH], clean_y[SENSOR_HEIGHT][SENSOR_WIDTH];
static uint8_t u[SENSOR_HEIGHT / 2][SENSOR_WIDTH / 2], clean_u[SENSOR_HEIGHT / 2][SENSOR_WIDTH / 2];
static uint8_t v[SENSOR_HEIGHT / 2][SENSOR_WIDTH / 2], clean_v[SENSOR_HEIGHT / 2][SENSOR_WIDTH / 2];
static uint8_t noise[SENSOR_HEIGHT / 2][SENSOR_WIDTH / 2];

static volatile bool fed, armed;

/* The watchdog. */
void line_interrupt(void)
{
    if (armed && !fed) {
        board_print("the watchdog was not fed\n");
        board_exit(BITTEN);
    }
    fed = false;
}

static uint32_t now(void *context)
{
    (void)context;
    return board_clock();
}

static void render(void)
{
    for (uint32_t i = 0; i < SENSOR_LINES; i++) {
        sensor_line line;
        sensor_render(&line, 0, i);
        for (uint32_t x = 0; x < SENSOR_WIDTH; x++)
            y[2 * i][x] = line.y[0][x], y[2 * i + 1][x] = line.y[1][x];
        for (uint32_t x = 0; x < SENSOR_WIDTH / 2; x++)
            u[i][x] = line.u[x], v[i][x] = line.v[x], noise[i][x] = SENSOR_NOISE;
    }
}

int firmware_main(void)
{
    const mona_slice slice = {
#ifdef WHOLE
        now, NULL, UINT32_MAX
#else
        now, NULL, board_clock_hertz / SLICES_A_SECOND
#endif
    };
    mona_session *session;
    uint32_t slices = 0, longest = 0;
    bool done = false;
    render();
    mona_status status = denoise_open(&session, arena, sizeof arena);
    fed = true;
    armed = true;
    board_start_lines(PATIENCE_MICROSECONDS);
    while (!status && !done) {
        fed = true;
        const uint32_t begin = board_clock();
        status =
            denoise_step(session, y[0], SENSOR_WIDTH, u[0], SENSOR_WIDTH / 2, v[0],
                         SENSOR_WIDTH / 2, noise[0], SENSOR_WIDTH / 2, clean_y[0], SENSOR_WIDTH,
                         clean_u[0], SENSOR_WIDTH / 2, clean_v[0], SENSOR_WIDTH / 2, &slice, &done);
        const uint32_t took = board_clock() - begin;
        longest = took > longest ? took : longest;
        slices++;
    }
    armed = false;
    board_start_lines(0);
    board_print("# %u slices, the longest of %u ticks of %u Hz\n", slices, longest,
                board_clock_hertz);
    board_print("frame 0: u %x v %x\n", crc32_of(0, clean_u[0], sizeof clean_u),
                crc32_of(0, clean_v[0], sizeof clean_v));
    return status || longest > board_clock_hertz / 1000 * (PATIENCE_MICROSECONDS / 1000);
}
