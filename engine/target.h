// SPDX-License-Identifier: Apache-2.0
/* Target descriptors: the facts that a kernel may know about its machine. Kernels read every size
 * from here, so the same source fits the 310's buffers and a CPU's caches. */
#ifndef MONA_TARGET_H
#define MONA_TARGET_H

#include "mona.h"

/* Outputs of a convolution that are computed together: the rows and columns of a fractal of the
 * cube, and 16 lanes of a CPU. */
enum { AC_FRACTAL = 16 };

/* Of the UB of the 310, at its end: two chunks of a program, of which a core reads one while the
 * other is copied; and before them, as the last part of ub_bytes, room through which the scalar
 * unit reaches global memory. */
enum { AC_PROGRAM_UB_BYTES = 7936, AC_SCALAR_UB_BYTES = 256 };

/* 0: no tensor on the 310 has channel blocks of fewer bytes than a row of the cube's fractal, for a
 * chip whose load3d reads no small channels, with or without bit 63 of CTRL. First layers then take
 * up to 32 times as many products. */
#ifndef MONA_SMALL_CHANNELS
#define MONA_SMALL_CHANNELS 1
#endif

typedef struct ac_target {
    const char *name;
    uint32_t cores;
    /* Bytes of a core's buffers. On the chip l1_bytes is a limit. On the host it is a goal, so that
     * a core's data stays in the CPU's cache. */
    uint32_t l1_bytes, l0a_bytes, l0b_bytes, l0c_bytes, ub_bytes;
    /* Channel block C0 of NC1HWC0, in elements. A tensor with few channels uses the smallest
     * of these that holds them all, as in the small-channel mode of load3d. They ascend and end
     * with a 0. */
    uint32_t c0_8bit, c0_f16;
    uint8_t small_c0_8bit[4], small_c0_f16[4];
    /* Rows in L1 begin at a multiple of 32 bytes, at a column of the tensor that is a multiple of
     * this. 1: they begin anywhere. */
    uint32_t ring_columns;
} ac_target;

extern const ac_target ac_target_host;
extern const ac_target ac_target_ascend310;

/* C0 of a tensor with this many channels. */
uint32_t ac_target_c0(const ac_target *target, mona_type type, uint32_t channels);

#endif
