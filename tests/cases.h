// SPDX-License-Identifier: Apache-2.0
/* How many random cases a test has: under sanitisers, which make them ten times slower, an eighth. */
#ifndef MONA_TESTS_CASES_H
#define MONA_TESTS_CASES_H

#ifdef __SANITIZE_ADDRESS__
#define CASES(count) (((count) + 7) / 8)
#else
#define CASES(count) (count)
#endif

#endif
