// SPDX-License-Identifier: Apache-2.0
/* A network as C, compiled and run on this machine. */
#ifndef MONA_JUDGE_EMITTED_H
#define MONA_JUDGE_EMITTED_H

#include "apps/compile/arrays.h"
#include "tests/judges/networks/judge.h"

typedef struct emitted_case {
    const mona_model *model;
    const judge_options *options;
    const network *n;
    uint8_t *const *outputs; /* that are expected */
    size_t output_bytes[MONA_MAX_IO];
    uint32_t output_count;
} emitted_case;

/* p: planes of the model, whose inputs are set. False: why says what is wrong. */
bool emitted_judge(const emitted_case *e, const plan_planes *p, char *why, size_t size);

#endif
