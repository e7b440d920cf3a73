// SPDX-License-Identifier: Apache-2.0
/* Launches kernels on the chip in the first way that the libraries support. */
#ifndef MONA_ASCEND_LAUNCH_H
#define MONA_ASCEND_LAUNCH_H

#include "engine/aicore/program.h"
#include "engine/mona_ascend.h"

/* Arguments of the kernel: addresses on the chip. on_chip: where a copy of them lies there. */
typedef struct ascend_task {
    uint64_t words, addresses;
    void *on_chip;
} ascend_task;

typedef struct ascend_kernel ascend_kernel;

/* Finds the kernel for a program, and makes it known to the chip, unless it is. */
mona_status ascend_register_kernel(const ac_program *program, const ascend_kernel **kernel);
void ascend_forget_kernels(void);

/* Enqueues it on both AI Cores. */
mona_status ascend_launch(const ascend_kernel *kernel, const ascend_task *task, void *stream);

#endif
