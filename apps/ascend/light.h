// SPDX-License-Identifier: Apache-2.0
/* Programs of single instructions for the first run on a chip. They replace the program of a
 * built-in model, so that they take the same path as any other. */
#ifndef MONA_LIGHT_H
#define MONA_LIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/aicore/program.h"
#include "engine/mona_ascend.h"

enum {
    LIGHT_WIDTH = 480,
    LIGHT_HEIGHT = 320,
    LIGHT_IN = LIGHT_WIDTH * LIGHT_HEIGHT, /* bytes of noise that a program reads: AC_GM */
    LIGHT_OUT = 4 * LIGHT_IN,              /* bytes that it writes: AC_GM + 1 */
    LIGHT_L1 = 240 * 1024,
};

typedef struct light {
    mona_model model; /* doubles a picture */
    uint8_t *program; /* with the bytes of base */
    ac_program base;
    uint8_t *in, *out;
} light;

/* Brings the chip up. */
bool light_open(light *l);
void light_close(light *l);
/* Prints why the first run fails, and returns false. */
bool light_fail(const char *why);

/* Begins to record a program: what light_take() gets, and what is emitted to light_recording. */
void light_begin(void);
void light_take(const ac_instruction *i);
void light_barrier(void);
extern ac_core light_recording;
/* NULL, with a message: there is no such program. The caller frees it. */
uint8_t *light_finish(const light *l, size_t *bytes);
/* Runs a program on the chip. seconds: of the fastest of `runs`. */
bool light_run(const light *l, const uint8_t *program, size_t bytes, int runs, double *seconds);

/* How many layers of the networks inside compute something else than on the host. */
unsigned layers_check(char *const *names);
/* Measures what model310 guesses, and writes it as a file of costs. */
bool costs_measure(const light *l, const char *file);

#endif
