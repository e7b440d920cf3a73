// SPDX-License-Identifier: Apache-2.0
/* How strongly the coder of a still picture quantised it. */
#ifndef MONA_PICTURE_LOSS_H
#define MONA_PICTURE_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the networks for compressed film suit a picture's file better than those for clean
 * pictures: a JPEG with the tables of quality 88 or less, a WebP of 75 or less. */
bool picture_is_lossy(const uint8_t *file, size_t size);

#endif
