// SPDX-License-Identifier: Apache-2.0
/* Camera firmware: denoises and enlarges a sensor's lines one by one. Memory never holds a frame,
 * only two lines of the sensor, of which its DMA fills one while the other is processed; a line
 * between the networks; and a line of the result, which would go to the encoder or the display.
 * Here its CRC goes to the serial port. */
#include <stdalign.h>
#include <stdbool.h>

#include "apps/firmware/board.h"
#include "apps/firmware/sensor.h"
#include "denoise.h" /* written by mona compile --emit c */
#include "enlarge.h"

#ifndef LINE_MICROSECONDS
#define LINE_MICROSECONDS 20000
#endif

static alignas(MONA_ALIGNMENT) uint8_t denoise_arena[DENOISE_ARENA_BYTES];
static alignas(MONA_ALIGNMENT) uint8_t enlarge_arena[ENLARGE_ARENA_BYTES];

_Static_assert((int)DENOISE_LINES == SENSOR_LINES && (int)ENLARGE_LINES == SENSOR_HEIGHT,
               "the networks are for the sensor's size");

/* ---- the sensor ------------------------------------------------------------------------------ */

/* For a test: after so many lines the clock jumps by two lines. */
#ifndef JUMP_AFTER
#define JUMP_AFTER UINT32_MAX
#endif

/* The buffers' lines are numbered through all frames. A line that finds both buffers full is
 * lost. */
static struct {
    sensor_line line;
    uint32_t number;
} buffers[2];
static volatile uint32_t filled, taken, arrived;

static void take_line(void)
{
    if (filled - taken < 2) {
        buffers[filled % 2].number = arrived;
        sensor_render(&buffers[filled % 2].line, arrived / SENSOR_LINES, arrived % SENSOR_LINES);
        filled++;
    }
    arrived++;
}

/* Stands for the DMA, which tells that it has filled a buffer. */
void line_interrupt(void)
{
    const uint32_t lines = arrived == JUMP_AFTER ? 3 : 1;
    for (uint32_t i = 0; i < lines; i++)
        take_line();
}

/* ---- the picture ----------------------------------------------------------------------------- */

typedef struct camera {
    mona_session *denoise, *enlarge;
    uint32_t crc[3]; /* of the frame's y, u and v */
    uint32_t rows;   /* of its enlarged luma */
    uint32_t busy;   /* clock ticks of work */
} camera;

static mona_status enlarge(camera *c, const uint8_t *row)
{
    static uint8_t enlarged[2][2 * SENSOR_WIDTH];
    mona_status status = enlarge_push(c->enlarge, row, 0);
    for (bool ready = true; !status && ready;) {
        status = enlarge_pull(c->enlarge, enlarged[0], sizeof enlarged[0], &ready);
        if (!status && ready)
            c->crc[0] = crc32_of(c->crc[0], enlarged[0], sizeof enlarged), c->rows += 2;
    }
    return status;
}

static mona_status denoise(camera *c, const sensor_line *line)
{
    static sensor_line clean;
    static uint8_t noise[SENSOR_WIDTH / 2];
    for (uint32_t x = 0; x < sizeof noise; x++)
        noise[x] = SENSOR_NOISE;
    mona_status status =
        denoise_push(c->denoise, line->y[0], SENSOR_WIDTH, line->u, 0, line->v, 0, noise, 0);
    taken++; /* the buffer is the sensor's again */
    for (bool ready = true; !status && ready;) {
        status = denoise_pull(c->denoise, clean.y[0], SENSOR_WIDTH, clean.u, 0, clean.v, 0, &ready);
        if (status || !ready)
            break;
        c->crc[1] = crc32_of(c->crc[1], clean.u, sizeof clean.u);
        c->crc[2] = crc32_of(c->crc[2], clean.v, sizeof clean.v);
        status = enlarge(c, clean.y[0]);
        if (!status)
            status = enlarge(c, clean.y[1]);
    }
    return status;
}

static void begin_frame(camera *c)
{
    c->crc[0] = c->crc[1] = c->crc[2] = c->rows = c->busy = 0;
    mona_session_drop_lines(c->denoise);
    mona_session_drop_lines(c->enlarge);
}

static void end_frame(const camera *c, uint32_t frame)
{
    board_print("frame %u: y %x u %x v %x\n", frame, c->crc[0], c->crc[1], c->crc[2]);
    board_print("# %u rows, %u ticks of %u Hz\n", c->rows, c->busy, board_clock_hertz);
}

/* Takes lines until a frame has ended, whole or not. */
static mona_status next_frame(camera *c)
{
    for (uint32_t expected = 0;;) {
        board_wait(&filled, taken);
        const uint32_t number = buffers[taken % 2].number, line = number % SENSOR_LINES;
        if (line == 0) {
            begin_frame(c);
            expected = number;
        }
        if (number != expected) {
            board_print("frame %u: lost at line %u\n", number / SENSOR_LINES, line);
            while (buffers[taken % 2].number % SENSOR_LINES != SENSOR_LINES - 1) {
                taken++;
                board_wait(&filled, taken);
            }
            taken++;
            return MONA_OK;
        }
        const uint32_t begin = board_clock();
        const mona_status status = denoise(c, &buffers[taken % 2].line);
        c->busy += board_clock() - begin;
        expected++;
        if (!status && line == SENSOR_LINES - 1)
            end_frame(c, number / SENSOR_LINES);
        if (status || line == SENSOR_LINES - 1)
            return status;
    }
}

int firmware_main(void)
{
    camera c = {0};
    mona_status status = denoise_open(&c.denoise, denoise_arena, sizeof denoise_arena);
    if (!status)
        status = enlarge_open(&c.enlarge, enlarge_arena, sizeof enlarge_arena);
    board_print("# arenas of %u and %u bytes, latency %u lines of 2 rows and %u of 1 row\n",
                (uint32_t)sizeof denoise_arena, (uint32_t)sizeof enlarge_arena,
                (uint32_t)DENOISE_LATENCY, (uint32_t)ENLARGE_LATENCY);
    board_start_lines(LINE_MICROSECONDS);
    for (uint32_t n = 0; n < SENSOR_FRAMES && !status; n++)
        status = next_frame(&c);
    board_start_lines(0);
    if (status)
        board_print("stopped: %s\n", mona_status_text(status));
    board_print("# stack %u of %u bytes\n", board_stack_used(), board_stack_bytes());
    return status != MONA_OK;
}
