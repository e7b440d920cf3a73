// SPDX-License-Identifier: Apache-2.0
/* From a sensor's mosaic of 12 bits to NV12 of twice the size, line by line: demosaic, denoiser,
 * super-resolution, with kernels that mona.kernel wrote before, between and behind the networks.
 * Memory never holds a frame. The CRCs of the results go to the serial port. */
#include <stdalign.h>
#include <stdbool.h>

#include "apps/firmware/board.h"
#include "apps/firmware/sensor.h"
#include "denoise.h" /* written by mona compile --emit c */
#include "engine/mona_op.h"
#include "enlarge.h"

enum { W = SENSOR_WIDTH, CELLS = W / 2, MEMORY = 8192 };

extern const mona_kernel mona_kernel_com_example__Demosaic, mona_kernel_firmware__ToPlanes,
    mona_kernel_firmware__ToNv12;

static alignas(MONA_ALIGNMENT) uint8_t denoise_arena[DENOISE_ARENA_BYTES];
static alignas(MONA_ALIGNMENT) uint8_t enlarge_arena[ENLARGE_ARENA_BYTES];
static alignas(MONA_ALIGNMENT) uint8_t kernel_memory[3][MEMORY];

typedef struct camera {
    mona_kernel_lines *demosaic, *planes, *nv12;
    mona_session *denoise, *enlarge;
    uint32_t luma, chroma; /* CRCs of a frame */
} camera;

void line_interrupt(void) {}

/* ---- each step gives what it makes to the next ----------------------------------------------- */

static mona_status make_chroma(camera *c, uint8_t *u, uint8_t *v)
{
    static uint8_t chroma[2][2 * W];
    const mona_buffer in[] = {{u, 0, 0}, {v, 0, 0}}, out[] = {{chroma, sizeof *chroma, 0}};
    mona_status status = mona_kernel_lines_push(c->nv12, in);
    for (bool ready = true; !status && ready;) {
        status = mona_kernel_lines_pull(c->nv12, out, &ready);
        if (!status && ready)
            c->chroma = crc32_of(c->chroma, chroma[0], sizeof chroma);
    }
    return status;
}

static mona_status enlarge(camera *c, const uint8_t *row)
{
    static uint8_t luma[2][2 * W];
    mona_status status = enlarge_push(c->enlarge, row, 0);
    for (bool ready = true; !status && ready;) {
        status = enlarge_pull(c->enlarge, luma[0], sizeof luma[0], &ready);
        if (!status && ready)
            c->luma = crc32_of(c->luma, luma[0], sizeof luma);
    }
    return status;
}

static mona_status denoise(camera *c, const sensor_line *line)
{
    static sensor_line clean;
    static uint8_t noise[CELLS];
    for (uint32_t x = 0; x < CELLS; x++)
        noise[x] = SENSOR_NOISE;
    mona_status status = denoise_push(c->denoise, line->y[0], W, line->u, 0, line->v, 0, noise, 0);
    for (bool ready = true; !status && ready;) {
        status = denoise_pull(c->denoise, clean.y[0], W, clean.u, 0, clean.v, 0, &ready);
        for (uint32_t i = 0; i < 2 && !status && ready; i++)
            status = enlarge(c, clean.y[i]);
        if (!status && ready)
            status = make_chroma(c, clean.u, clean.v);
    }
    return status;
}

static mona_status make_planes(camera *c, uint8_t rgb[3][2][W])
{
    static sensor_line line;
    const mona_buffer in[] = {{rgb, W, 2 * W}},
                      out[] = {{line.y, W, 0}, {line.u, 0, 0}, {line.v, 0, 0}};
    bool ready;
    mona_status status = mona_kernel_lines_push(c->planes, in);
    if (!status)
        status = mona_kernel_lines_pull(c->planes, out, &ready); /* sees no other line */
    return status ? status : denoise(c, &line);
}

static mona_status take(camera *c, uint16_t raw[2][W])
{
    static const float gains[] = {1.25f, 1, 1.5f};
    static uint8_t rgb[3][2][W];
    const mona_buffer in[] = {{raw, sizeof *raw, 0}, {(void *)(uintptr_t)gains, 0, 0}},
                      out[] = {{rgb, W, 2 * W}};
    mona_status status = mona_kernel_lines_push(c->demosaic, in);
    for (bool ready = true; !status && ready;) {
        status = mona_kernel_lines_pull(c->demosaic, out, &ready);
        if (!status && ready)
            status = make_planes(c, rgb);
    }
    return status;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* What the sensor has of the scene: 12 bits, less of red and blue. */
static void expose(uint16_t raw[2][W], uint32_t frame, uint32_t line)
{
    static sensor_line scene;
    sensor_render(&scene, frame, line);
    for (uint32_t y = 0; y < 2; y++)
        for (uint32_t x = 0; x < W; x++)
            raw[y][x] = (uint16_t)(scene.y[y][x] * (x % 2 != y ? 16u : y ? 10u : 12u));
}

static mona_status run_frame(camera *c, uint32_t frame)
{
    static uint16_t raw[2][W];
    uint32_t busy = 0;
    c->luma = c->chroma = 0;
    for (uint32_t line = 0; line < SENSOR_LINES; line++) {
        expose(raw, frame, line);
        const uint32_t begin = board_clock();
        const mona_status status = take(c, raw);
        busy += board_clock() - begin;
        if (status)
            return status;
    }
    board_print("frame %u: luma %x chroma %x\n", frame, c->luma, c->chroma);
    board_print("# %u ticks of %u Hz\n", busy, board_clock_hertz);
    return MONA_OK;
}

static mona_status open_all(camera *c)
{
    const struct {
        const mona_kernel *kernel;
        mona_kernel_lines **lines;
    } steps[] = {{&mona_kernel_com_example__Demosaic, &c->demosaic},
                 {&mona_kernel_firmware__ToPlanes, &c->planes},
                 {&mona_kernel_firmware__ToNv12, &c->nv12}};
    mona_status status = denoise_open(&c->denoise, denoise_arena, sizeof denoise_arena);
    if (!status)
        status = enlarge_open(&c->enlarge, enlarge_arena, sizeof enlarge_arena);
    for (uint32_t i = 0; i < 3 && !status; i++) {
        board_print("# %s: %u bytes\n", steps[i].kernel->name,
                    (uint32_t)mona_kernel_lines_bytes(steps[i].kernel, CELLS));
        status = mona_kernel_lines_open(steps[i].lines, steps[i].kernel, SENSOR_LINES, CELLS,
                                        kernel_memory[i], MEMORY);
    }
    return status;
}

int firmware_main(void)
{
    camera c = {0};
    mona_status status = open_all(&c);
    for (uint32_t n = 0; n < SENSOR_FRAMES && !status; n++)
        status = run_frame(&c, n);
    if (status)
        board_print("stopped: %s\n", mona_status_text(status));
    board_print("# stack %u of %u bytes\n", board_stack_used(), board_stack_bytes());
    return status != MONA_OK;
}
