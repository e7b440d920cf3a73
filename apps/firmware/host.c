// SPDX-License-Identifier: Apache-2.0
/* Computes the output that camera.c must print, from the same frames, whole, with this machine's
 * planner and kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/firmware/sensor.h"
#include "models/embedded.h"
#include "mona.h"

enum { W = SENSOR_WIDTH, H = SENSOR_HEIGHT };

static mona_session *open_session(const char *name)
{
    const embedded_model *m = embedded_model_find(name);
    const mona_config config = {.sizes = {{W, H}}};
    mona_model model;
    mona_plan *plan = NULL;
    mona_session *session = NULL;
    if (mona_model_open(&model, m->begin, (size_t)(m->end - m->begin)))
        return NULL;
    void *memory = aligned_alloc(MONA_ALIGNMENT, mona_plan_bytes(&model));
    if (!memory || mona_plan_make(&plan, memory, &model, &config))
        return NULL;
    const size_t bytes = mona_plan_arena_bytes(plan);
    void *arena = aligned_alloc(MONA_ALIGNMENT, bytes);
    return arena && !mona_session_open(&session, plan, arena, bytes) ? session : NULL;
}

int main(void)
{
    static uint8_t y[H][W], u[H / 2][W / 2], v[H / 2][W / 2], noise[H / 2][W / 2];
    static uint8_t clean_y[H][W], clean_u[H / 2][W / 2], clean_v[H / 2][W / 2];
    static uint8_t enlarged[2 * H][2 * W];
    mona_session *denoise = open_session("denoise_fast"), *enlarge = open_session("sr_x2_fast");
    if (!denoise || !enlarge)
        return EXIT_FAILURE;
    memset(noise, SENSOR_NOISE, sizeof noise);
    const mona_buffer noisy[] = {{y, W, 0}, {u, W / 2, 0}, {v, W / 2, 0}, {noise, W / 2, 0}};
    const mona_buffer clean[] = {{clean_y, W, 0}, {clean_u, W / 2, 0}, {clean_v, W / 2, 0}};
    const mona_buffer large = {enlarged, 2 * W, 0};
    for (uint32_t n = 0; n < SENSOR_FRAMES; n++) {
        for (uint32_t i = 0; i < SENSOR_LINES; i++) {
            sensor_line line;
            sensor_render(&line, n, i);
            memcpy(y[2 * i], line.y, sizeof line.y);
            memcpy(u[i], line.u, sizeof line.u);
            memcpy(v[i], line.v, sizeof line.v);
        }
        if (mona_session_run(denoise, noisy, clean) || mona_session_run(enlarge, clean, &large))
            return EXIT_FAILURE;
        printf("frame %u: y %08x u %08x v %08x\n", n, crc32_of(0, enlarged[0], sizeof enlarged),
               crc32_of(0, clean_u[0], sizeof clean_u), crc32_of(0, clean_v[0], sizeof clean_v));
    }
    return EXIT_SUCCESS;
}
