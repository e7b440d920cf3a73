// SPDX-License-Identifier: Apache-2.0
/* The C identifier of a kernel's table, as mona.kernel writes it: "mona_kernel_", the domain, "__"
 * and the kernel's own name. */
#ifndef MONA_KERNEL_SYMBOL_H
#define MONA_KERNEL_SYMBOL_H

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "engine/model_format.h"
#include "engine/mona_op.h"

enum { MONA_KERNEL_SYMBOL = MONA_KERNEL_NAME + 24 };

/* Names with an underscore end with their CRC-32: those with a dot there would be the same. */
static inline void mona_kernel_symbol(const char *name, char symbol[MONA_KERNEL_SYMBOL])
{
    int length = snprintf(symbol, MONA_KERNEL_SYMBOL, "mona_kernel_%s", name);
    for (char *c = symbol; *c; c++)
        *c = isalnum((unsigned char)*c) ? *c : '_';
    if (strchr(name, '_'))
        snprintf(symbol + length, (size_t)(MONA_KERNEL_SYMBOL - length), "_%08x",
                 (unsigned)mona_crc32(0, name, strlen(name)));
}

#endif
