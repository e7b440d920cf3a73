// SPDX-License-Identifier: Apache-2.0
#include "ops/ascend/programs.h"

const mona_op_program mona_programs[MONA_OP_COUNT] = {
    [MONA_OP_LOAD] = {.emit = mona_load_program, .loads_strips = mona_load_is_dense},
    [MONA_OP_STORE] = {.emit = mona_store_program},
    [MONA_OP_CONV] = {.emit = mona_conv_program,
                      .loads_constants = true,
                      .ends_in_v = true,
                      .together = mona_conv_together,
                      .stores = mona_conv_stores,
                      .constants_bytes = mona_conv_program_constants,
                      .bind = mona_conv_program_bind,
                      .forget = mona_conv_program_forget},
    [MONA_OP_ADD] = {.emit = mona_elementwise_program,
                     .possible = mona_elementwise_has_program,
                     .forget = mona_elementwise_program_forget},
    [MONA_OP_MUL] = {.emit = mona_elementwise_program,
                     .possible = mona_elementwise_has_program,
                     .forget = mona_elementwise_program_forget},
    [MONA_OP_RESIZE] = {.emit = mona_resize_program, .in_blocks = true},
    [MONA_OP_DEPTH_TO_SPACE] = {.emit = mona_depth_to_space_program, .in_blocks = true},
    [MONA_OP_MAX_POOL] = {.emit = mona_pool_program},
    [MONA_OP_AVERAGE_POOL] = {.emit = mona_pool_program},
    [MONA_OP_CONCAT] = {.emit = mona_channels_program},
    [MONA_OP_SLICE] = {.emit = mona_channels_program, .brings_maps = mona_channels_are_blocks},
    [MONA_OP_ARRAY_KERNEL] = {.array = mona_kernel_emit, .possible = mona_kernel_has_program},
};
