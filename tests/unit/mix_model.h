// SPDX-License-Identifier: Apache-2.0
/* Both outputs of test::Mix (tests/user_kernels.h) between LOADs and STOREs: planes a, b of bytes;
 * planes y of bytes, after DEPTH_TO_SPACE, and z of fp16. */
#ifndef MONA_TESTS_MIX_MODEL_H
#define MONA_TESTS_MIX_MODEL_H

#include "tests/unit/model_builder.h"
#include "tests/user_kernels.h"

static const int32_t mix_table[USER_TABLE] = {3, -77, 12345, 0, 9};
static const char mix_name[] = "test::Mix";

static inline uint32_t mix_load(model_builder *b, mona_type type, uint32_t channels, uint32_t in)
{
    const uint32_t made = builder_tensor(b, "map", type, channels, 1);
    mona_file_op *load = builder_op(b, MONA_OP_LOAD, made, 1, &in);
    load->load.block[0] = 1, load->load.scale[0] = 0x3c00;
    return made;
}

/* The operator that makes `output` of maps a and b; *made: its result. */
static inline mona_file_op *mix_kernel(model_builder *b, uint32_t output, const uint32_t maps[2],
                                       uint32_t *made)
{
    const mona_array_kernel record = {.name = builder_data(b, mix_name, sizeof mix_name),
                                      .name_bytes = sizeof mix_name,
                                      .output = output};
    const uint32_t inputs[] = {maps[0], maps[1], MONA_NONE};
    *made = builder_tensor(b, "made", output ? MONA_F16 : MONA_U8, output ? 5 : 8, 1);
    mona_file_op *op = builder_op(b, MONA_OP_KERNEL, *made, 3, inputs);
    op->kernel = (mona_file_kernel){.cell = {{1, 1}, {2, 2}}};
    op->array.record = builder_data(b, &record, sizeof record);
    op->array.offset[2] = builder_data(b, mix_table, sizeof mix_table);
    op->array.elements[2] = USER_TABLE;
    op->array.type[2] = MONA_S32;
    return op;
}

/* *kernel: the operator of z, if not NULL. */
static inline model_builder *mix_model(mona_file_op **kernel)
{
    model_builder *b = builder_new();
    const uint32_t in[] = {builder_input(b, "a", MONA_U8, 3, 1),
                           builder_input(b, "b", MONA_U8, 2, 1)};
    const uint32_t y = builder_output(b, "y", MONA_U8, 2, 1),
                   z = builder_output(b, "z", MONA_F16, 5, 1);
    const uint32_t maps[] = {mix_load(b, MONA_U8, 3, in[0]), mix_load(b, MONA_F16, 2, in[1])};
    uint32_t cells, bytes = 0, floats;
    mix_kernel(b, 0, maps, &cells);
    mona_file_op *second = mix_kernel(b, 1, maps, &floats);
    bytes = builder_tensor(b, "bytes", MONA_U8, 2, 1);
    builder_op(b, MONA_OP_DEPTH_TO_SPACE, bytes, 1, &cells)->block = 2;
    builder_op(b, MONA_OP_STORE, y, 1, &bytes)->store =
        (mona_file_store){.block = 1, .scale = 0x3c00, .maximum = 255};
    builder_op(b, MONA_OP_STORE, z, 1, &floats)->store =
        (mona_file_store){.block = 1, .scale = 0x3c00};
    if (kernel)
        *kernel = second;
    return b;
}

static inline mona_status mix_open(mona_model *model, const void *bytes, size_t size)
{
    const mona_guard guard = {.kernels = user_kernels};
    return mona_model_open_guarded(model, bytes, size, &guard);
}

#endif
