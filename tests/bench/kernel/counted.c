// SPDX-License-Identifier: Apache-2.0
/* Runs the replay kernel with intrinsics that do nothing (counted.h) on an image of words from a
 * file, for one core. What it executes is counted by the emulator that it runs on (cost.sh). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/ascend/kernel/words.h"

void mona_replay3__kernel0(uint8_t *words, uint8_t *addresses);
void counted_copy(uint64_t dst, uint64_t src, uint64_t config);

/* Only the kernel's own copies, which have one burst. */
void counted_copy(uint64_t dst, uint64_t src, uint64_t config)
{
    if (dst >= WORDS_UB)
        memcpy((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, (config >> 16 & 0xffff) * 32);
}

int main(int count, char **argv)
{
    static uint8_t words[64 << 20];
    static uint64_t addresses[WORDS_BASES];
    FILE *f = count == 2 ? fopen(argv[1], "rb") : NULL;
    const size_t bytes = f ? fread(words, 1, sizeof words, f) : 0;
    /* The emulator lends address 0, where UB begins. */
    void *ub = mmap(NULL, 256 << 10, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    void *memory = mmap(NULL, (size_t)UINT32_MAX, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (int i = 0; i < WORDS_BASES; i++)
        addresses[i] = (uint64_t)memory;
    if (!bytes || ub == MAP_FAILED || memory == MAP_FAILED)
        return 1;
    mona_replay3__kernel0(words, (uint8_t *)addresses);
    return 0;
}
