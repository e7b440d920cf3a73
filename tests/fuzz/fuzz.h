// SPDX-License-Identifier: Apache-2.0
/* The interface of a fuzz target: functions for libFuzzer (make fuzz) or for replay.c, which runs
 * them on the files of tests/fuzz/corpus in every build. */
#ifndef MONA_TESTS_FUZZ_H
#define MONA_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Changes data in place, where a target knows its structure, or makes other data; NULL: it does
 * neither. The same seed makes the same changes. Returns the size, room at most. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
    __attribute__((weak));

/* libFuzzer's own changes; NULL in replay.c. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room) __attribute__((weak));

/* The next number that a mutator takes. */
static inline uint32_t fuzz_draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

#endif
