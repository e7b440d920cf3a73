// SPDX-License-Identifier: Apache-2.0
/* Describes a run's work, so that a resumed run can tell whether it is the same. */
#ifndef MONA_RESUME_KEY_H
#define MONA_RESUME_KEY_H

#include <stddef.h>

#include "pipeline/io/encode.h"
#include "pipeline/enhance.h"

enum { RESUME_KEY_TEXT = 1024 };

/* Writes one line with everything that the encoded frames depend on. */
void resume_key_write(char text[RESUME_KEY_TEXT], const enhance_settings *s,
                      const encoder_settings *e);

#endif
