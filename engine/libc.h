// SPDX-License-Identifier: Apache-2.0
/* The four functions of a C library that the engine needs, and that a freestanding compiler expects
 * as well. They are called as built-ins, so that small copies of known size become plain loads and
 * stores even under -ffreestanding. */
#ifndef MONA_LIBC_H
#define MONA_LIBC_H

#include <stdbool.h>
#include <stddef.h>

void *memcpy(void *restrict dst, const void *restrict src, size_t size);
void *memmove(void *dst, const void *src, size_t size);
void *memset(void *dst, int value, size_t size);
int memcmp(const void *a, const void *b, size_t size);

#define memcpy __builtin_memcpy
#define memmove __builtin_memmove
#define memset __builtin_memset
#define memcmp __builtin_memcmp

/* Names of devices, instruction sets and tensors. */

static inline bool mona_names_equal(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

#endif
