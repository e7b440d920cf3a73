// SPDX-License-Identifier: Apache-2.0
/* What a run does, said so that a run that goes on can tell whether it is the same. */
#ifndef MONA_WORK_H
#define MONA_WORK_H

#include <stddef.h>

#include "pipeline/io/encode.h"
#include "pipeline/enhance.h"

enum { WORK_TEXT = 1024 };

/* Writes one line about everything that the encoded frames depend on. */
void work_describe(char text[WORK_TEXT], const enhance_settings *s, const encoder_settings *e);

#endif
