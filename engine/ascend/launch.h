// SPDX-License-Identifier: Apache-2.0
/* Launches the replay kernel on the chip in the first way that the libraries support. */
#ifndef MONA_ASCEND_LAUNCH_H
#define MONA_ASCEND_LAUNCH_H

#include "engine/aicore/program.h"
#include "engine/mona_ascend.h"

/* Arguments of the kernel: addresses on the chip. on_chip: where a copy of them lies there. */
typedef struct ascend_task {
    uint64_t words, addresses;
    void *on_chip;
} ascend_task;

/* Makes the kernel known to the chip, unless it is. It must be one for this program. */
mona_status ascend_register_kernel(const ac_program *program);
void ascend_forget_kernel(void);

/* Enqueues it on both AI Cores. */
mona_status ascend_launch(const ascend_task *task, void *stream);

#endif
