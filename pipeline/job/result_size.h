// SPDX-License-Identifier: Apache-2.0
/* --width, --height and --size: the scale from the input to a result of that size. */
#ifndef RESULT_SIZE_H
#define RESULT_SIZE_H

#include <stdbool.h>

#include "pipeline/io/sources/input.h"
#include "pipeline/stages/resize.h"

typedef struct result_size {
    long width, height; /* 0: not given */
    mona_size size;     /* the same */
} result_size;

/* Whether the size of the input is known only when it is read: standard input with a header. shown:
 * the size that it is shown in, where that is known already; else 0. */
bool result_size_is_late(const result_size *asked, mona_size shown, const input_settings *in);

/* image: one picture. *scale stays as it is where no size is given. */
bool result_size_scale(const result_size *asked, mona_size shown, const input_settings *in,
                       bool image, resize_scale *scale, pipeline_error *error);

#endif
