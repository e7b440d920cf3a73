// SPDX-License-Identifier: Apache-2.0
/* What mona.kernel writes of a kernel beside its C: NAME.kernel. */
#ifndef KERNEL_INTERFACE_H
#define KERNEL_INTERFACE_H

#include "engine/op/kernel_program.h"

enum { KERNEL_OPERANDS = 2 * MONA_KERNEL_OPERANDS };

/* A kernel without code, and what its programs have. */
typedef struct described {
    mona_kernel kernel;
    char name[MONA_KERNEL_NAME + 1];
    mona_kernel_operand operands[KERNEL_OPERANDS];
    mona_kernel_program programs[MONA_KERNEL_OPERANDS];
    mona_kernel_step *steps; /* of all programs */
    size_t count, room;
    size_t first[MONA_KERNEL_OPERANDS]; /* step of a program */
    mona_kernel_program *now;
} described;

/* Whether the text is as mona.kernel wrote it: the first line, "kernel NAME crc C", ends with the
 * CRC-32 of those behind it. */
bool kernel_interface_whole(const char *text);

/* Reads lines of such a text, which it takes apart. False: some are wrong. */
bool kernel_interface_read(described *d, char *text);

#endif
