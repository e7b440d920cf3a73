// SPDX-License-Identifier: Apache-2.0
/* Target descriptors. The figures of the 310 come from its platform configuration. */
#include "engine/target.h"

/* The L0 sizes only matter to the C implementation, which runs instructions on buffers in the
 * arena: small ones stay in a CPU's first-level cache. L1 is what a core may expect to keep of its
 * second-level cache. There is one C0 for every type, as no CPU instruction uses more than 16
 * channels side by side. */
const ac_target ac_target_host = {
    .name = "host",
    .cores = 1,
    .l1_bytes = 5 * 256 * 1024,
    .l0a_bytes = 32 * 1024,
    .l0b_bytes = 32 * 1024,
    .l0c_bytes = 64 * 1024,
    .ub_bytes = 64 * 1024,
    .c0_8bit = 16,
    .c0_f16 = 16,
    .small_c0_8bit = {1, 4, 8},
    .small_c0_f16 = {1, 4, 8},
    .ring_columns = 1,
};

const ac_target ac_target_ascend310 = {
    .name = "ascend310",
    .cores = 2,
    .l1_bytes = 1024 * 1024,
    .l0a_bytes = 64 * 1024,
    .l0b_bytes = 64 * 1024,
    .l0c_bytes = 256 * 1024,
    .ub_bytes = 253952 - AC_PROGRAM_UB_BYTES,
    .c0_8bit = 32,
    .c0_f16 = 16,
    .small_c0_8bit = {MONA_SMALL_CHANNELS * 1, MONA_SMALL_CHANNELS * 8, MONA_SMALL_CHANNELS * 16},
    .small_c0_f16 = {MONA_SMALL_CHANNELS * 4},
    .ring_columns = 8,
};

uint32_t ac_target_c0(const ac_target *target, mona_type type, uint32_t channels)
{
    const bool half = mona_type_size(type) == 2;
    const uint8_t *small = half ? target->small_c0_f16 : target->small_c0_8bit;
    for (int i = 0; i < 4 && small[i]; i++)
        if (channels <= small[i])
            return small[i];
    return half ? target->c0_f16 : target->c0_8bit;
}
