// SPDX-License-Identifier: Apache-2.0
/* The smallest network that still fails. */
#ifndef MONA_JUDGE_MINIMISE_H
#define MONA_JUDGE_MINIMISE_H

#include "tests/judges/networks/judge.h"

typedef void judge_function(void *context, const network *n, verdict *v, bool *by_peer);

/* Drops parts of the network while it fails in the same way. small: released with network_free. */
void minimise(const network *n, const verdict *v, judge_function *judge, void *context,
              network *small);

#endif
