// SPDX-License-Identifier: Apache-2.0
/* How many decisions of a network, the class with the highest score, rounding will change. */
#ifndef MONA_TOP1_MARGIN_H
#define MONA_TOP1_MARGIN_H

#include <stdbool.h>
#include <stddef.h>

/* The share of decisions that are expected to change on unseen inputs: an upper bound with
 * one-sided confidence 95 %, and at least the share of these inputs for which they do change. Both
 * arrays are [count][classes]: scores without rounding, and the errors that rounding adds to them;
 * count is 1 or more. False: out of memory. */
bool top1_margin_changes(const float *scores, const float *errors, size_t count, size_t classes,
                         double *share);

#endif
