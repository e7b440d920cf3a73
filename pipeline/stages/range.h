// SPDX-License-Identifier: Apache-2.0
/* Luma of full range as that of studio range, for networks that know no other.
 *
 * With v in steps of 8 bits it is 16 + 219 / 255 v, in RANGE_BITS: what fp16 holds exactly, and so
 * fine that full range of 10 bits comes back as it was. */
#ifndef MONA_RANGE_H
#define MONA_RANGE_H

#include "pipeline/stages/frame.h"

enum { RANGE_BITS = MONA_MAX_DEPTH };

/* Plane 0 of one frame as that of another, whose planes have the same stored size; each has its own
 * bits. */
void range_to_studio(const frame *to, const frame *from);
void range_to_full(const frame *to, const frame *from);

#endif
