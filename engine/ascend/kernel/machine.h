// SPDX-License-Identifier: Apache-2.0
/* A core on which the replay kernel runs on a CPU. Not part of any library: tests link it. */
#ifndef MONA_MACHINE_H
#define MONA_MACHINE_H

#include "engine/aicore/aicore.h"
#include "engine/ascend/kernel/emulation.h"

/* What documents say differently, or not at all: by these bits a machine reads it another way.
 *   SMALL_BY_CONTROL  load3d reads small channels only with bit 63 of CTRL
 *   BEYOND_THE_ROW    columns behind a row's last one are read as what lies there, not as zero
 *   ONE_VECTOR        broadcast_ub_to_cc fills a burst with one vector, not fractal by fractal
 *   ROWS_BEHIND       mad leaves anything in the rows behind m of its last fractals
 *   MINUS_ZERO        the ReLU of a drain keeps -0 */
enum {
    CCE_SMALL_BY_CONTROL = 1 << 0,
    CCE_BEYOND_THE_ROW = 1 << 1,
    CCE_ONE_VECTOR = 1 << 2,
    CCE_ROWS_BEHIND = 1 << 3,
    CCE_MINUS_ZERO = 1 << 4,
    CCE_EVERY_READING = (1 << 5) - 1,
};

/* core: its buffers are the caller's, UB with all of its 253952 bytes; what the kernel issues goes
 * to core->take. Its memory at AC_GM is that of the device, which begins at `device` for the
 * kernel. fault: NULL, or what was wrong with the first instruction that is not sound; no later one
 * is executed. loads: words that the kernel has read. */
typedef struct cce_machine {
    ac_core core;
    uint64_t device, block;
    const char *fault;
    uint32_t readings;
    uint64_t loads, registers[CCE_REGISTERS], va[4][8];
} cce_machine;

/* Runs the kernel to its end: words and addresses lie in the device's memory. */
void cce_run(cce_machine *machine, uint64_t words, uint64_t addresses);

#endif
