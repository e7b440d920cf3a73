// SPDX-License-Identifier: Apache-2.0
/* The number of random cases of a test: all, or one in MONA_TEST_SHARE, which tests/run.sh sets for
 * the short tier and for sanitisers, with which every case takes ten times as long. */
#ifndef MONA_TESTS_CASES_H
#define MONA_TESTS_CASES_H

#include <stdint.h>
#include <stdlib.h>

static inline uint32_t test_cases(uint32_t count)
{
    const char *share = getenv("MONA_TEST_SHARE");
    const int n = share ? atoi(share) : 1;
    return n > 1 ? (count + (uint32_t)n - 1) / (uint32_t)n : count;
}

#define CASES(count) test_cases((uint32_t)(count))

#endif
