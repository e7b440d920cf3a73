// SPDX-License-Identifier: Apache-2.0
/* How many decisions of a network, the class of the highest score, its rounding will change. */
#ifndef MONA_TOP1_MARGIN_H
#define MONA_TOP1_MARGIN_H

#include <stdbool.h>
#include <stddef.h>

/* The share of decisions that change, to be expected of inputs nobody has seen: an upper bound of
 * one-sided confidence 95 %, and no less than the share of those here that do change. Both arrays
 * are [count][classes]: scores without rounding, and the errors that it makes in them; count is 1
 * or more. False: out of memory. */
bool top1_margin_changes(const float *scores, const float *errors, size_t count, size_t classes,
                         double *share);

#endif
