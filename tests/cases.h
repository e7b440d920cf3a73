// SPDX-License-Identifier: Apache-2.0
/* How many random cases a test has: all, or one of MONA_TEST_SHARE, which tests/run.sh sets for the
 * short tier and for sanitisers, which make each ten times slower. */
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
