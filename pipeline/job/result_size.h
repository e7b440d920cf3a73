// SPDX-License-Identifier: Apache-2.0
/* --width, --height and --size: the scale from the input to a result of that size. */
#ifndef RESULT_SIZE_H
#define RESULT_SIZE_H

#include <stdbool.h>

#include "pipeline/enhance.h"

typedef struct result_size {
    long width, height; /* 0: not given */
    mona_size size;     /* the same */
    mona_size input;    /* as it is shown; 0: that of the file */
} result_size;

bool result_size_is_given(const result_size *asked);

/* Whether the size of the input is known only when it is read: standard input with a header. */
bool result_size_is_late(const result_size *asked, const enhance_settings *settings);

/* settings: input, raw and start are set. image: one picture. *scale stays as it is where no size is
 * given. */
bool result_size_scale(const result_size *asked, const enhance_settings *settings, bool image,
                       resize_scale *scale, pipeline_error *error);

#endif
