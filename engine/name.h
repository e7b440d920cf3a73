// SPDX-License-Identifier: Apache-2.0
/* Names of devices, instruction sets and tensors. */
#ifndef MONA_NAME_H
#define MONA_NAME_H

#include <stdbool.h>

static inline bool mona_names_equal(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

#endif
