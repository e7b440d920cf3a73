// SPDX-License-Identifier: Apache-2.0
/* How firmware uses mona: libmona.a, one model in read-only memory, and memory that was reserved at
 * build time. Nothing here allocates; the C library is used only to print and to save the pictures,
 * where a board would have its serial port and its display.
 *
 *   firmware [IN.pgm OUT.pgm [ISA]]     saves the last frame and its enlargement; ISA: the highest
 *                                       instruction set to use */
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/embedded.h"
#include "mona.h"

enum {
    WIDTH = 320,
    HEIGHT = 180,
    FRAMES = 3,
    /* Determined once with `mona inspect`; the program checks them below. */
    PLAN_BYTES = 16 * 1024,
    ARENA_BYTES = 384 * 1024, /* as much as AVX2 needs */
};

static alignas(MONA_ALIGNMENT) uint8_t plan_memory[PLAN_BYTES];
static alignas(MONA_ALIGNMENT) uint8_t arena[ARENA_BYTES];
static uint8_t frame[HEIGHT][WIDTH], enlarged[2 * HEIGHT][2 * WIDTH];

/* Replaces the camera: a slanted grating that moves and widens. */
static void capture(unsigned n)
{
    for (unsigned y = 0; y < HEIGHT; y++)
        for (unsigned x = 0; x < WIDTH; x++)
            frame[y][x] = (uint8_t)(40 + ((x * (8 + y / 24) + y * 5 + n * 16) & 127));
}

/* The boot loader has verified this program, and the model in it; nothing else is taken. One that
 * comes over a network has a signature to check here (apps/examples/signed.c). */
static bool is_genuine(void *context, const void *bytes, size_t size)
{
    const embedded_model *own = context;
    return (const unsigned char *)bytes == own->begin && size == (size_t)(own->end - own->begin);
}

static int stop(const char *what, mona_status status)
{
    fprintf(stderr, "firmware: %s: %s\n", what, mona_status_text(status));
    return EXIT_FAILURE;
}

static int save(const char *name, const uint8_t *pixels, int width, int height)
{
    FILE *file = fopen(name, "wb");
    if (!file)
        return 0;
    fprintf(file, "P5\n%d %d\n255\n", width, height);
    fwrite(pixels, 1, (size_t)width * (size_t)height, file);
    return fclose(file) == 0;
}

int main(int argc, char **argv)
{
    const embedded_model *bytes = embedded_model_find("sr_x2_fast");
    /* release: a board keeps that of the last model it used where it survives a reset. */
    const mona_guard guard = {.genuine = is_genuine, .context = (void *)bytes};
    const mona_config config = {.device = &mona_device_host,
                                .cpu = argc > 3 ? argv[3] : NULL,
                                .threads = 1,
                                .sizes = {{WIDTH, HEIGHT}}};
    const mona_buffer input = {.data = frame, .row_stride = sizeof frame[0]};
    const mona_buffer output = {.data = enlarged, .row_stride = sizeof enlarged[0]};
    mona_model model;
    mona_plan *plan;
    mona_session *session;

    mona_status status =
        mona_model_open_guarded(&model, bytes->begin, (size_t)(bytes->end - bytes->begin), &guard);
    if (status)
        return stop("the model", status);
    if (mona_plan_bytes(&model) > sizeof plan_memory)
        return stop("PLAN_BYTES is too small", MONA_ERR_ARENA);
    status = mona_plan_make(&plan, plan_memory, &model, &config);
    if (status)
        return stop("the plan", status);
    printf("plan %zu bytes, arena %zu of %d, stack at most %zu\n", mona_plan_bytes(&model),
           mona_plan_arena_bytes(plan), ARENA_BYTES, mona_plan_stack_bytes(plan));
    status = mona_session_open(&session, plan, arena, sizeof arena);
    if (status)
        return stop("the session", status);

    for (unsigned n = 0; n < FRAMES; n++) {
        capture(n);
        status = mona_session_run(session, &input, &output);
        if (status)
            return stop("a frame", status);
    }
    mona_session_close(session);
    printf("%d frames of %dx%d enlarged to %dx%d\n", FRAMES, WIDTH, HEIGHT, 2 * WIDTH, 2 * HEIGHT);
    if (argc >= 3 && (!save(argv[1], frame[0], WIDTH, HEIGHT) ||
                      !save(argv[2], enlarged[0], 2 * WIDTH, 2 * HEIGHT))) {
        fprintf(stderr, "firmware: the pictures cannot be saved\n");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
