// SPDX-License-Identifier: Apache-2.0
/* The interface of a fuzz target: one function for libFuzzer (make fuzz) or for replay.c, which
 * runs it on the files of tests/fuzz/corpus in every build. */
#ifndef MONA_TESTS_FUZZ_H
#define MONA_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
