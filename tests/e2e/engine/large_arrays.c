// SPDX-License-Identifier: Apache-2.0
/* Plans a model with arrays of 2^29 elements of 8 bytes and prints the status: 2^32 bytes are too
 * many for 32-bit addresses and must not look like 0. */
#include <stdio.h>

#include "tests/unit/model_builder.h"

static uint8_t *large_model(size_t *size)
{
    model_builder *b = builder_new();
    uint32_t from = builder_input(b, "x", MONA_U64, 1, 1);
    const uint32_t last = builder_output(b, "y", MONA_U64, 1, 1);
    const uint32_t between = builder_tensor(b, "t", MONA_U64, 1, 1);
    mona_array_pick pick = {.dims = 1, .source_axis = MONA_NONE, .source_table = MONA_NONE};
    memset(pick.table, 0xff, sizeof pick.table);
    pick.extent[0] = 1u << 29;
    pick.stride[0][0] = 1;
    const uint32_t record = builder_data(b, &pick, sizeof pick);
    for (uint32_t t = 0; t < b->tensor_count; t++) {
        b->tensors[t].array = b->tensors[t].height = 1;
        b->tensors[t].width = pick.extent[0];
    }
    for (int i = 0; i < 2; i++) {
        mona_file_op *op = builder_op(b, MONA_OP_ARRAY_PICK, i ? last : between, 1, &from);
        op->array = (mona_file_array){.record = record};
        from = between;
    }
    return builder_finish(b, size);
}

int main(void)
{
    size_t size;
    uint8_t *bytes = large_model(&size);
    void *memory = NULL;
    mona_model model;
    mona_plan *plan;
    const mona_config config = {.threads = 1};
    mona_status status = mona_model_open(&model, bytes, size);
    if (!status)
        memory = aligned_alloc(64, mona_plan_bytes(&model));
    if (!status)
        status = mona_plan_make(&plan, memory, &model, &config);
    printf("%d bits: %s\n", (int)sizeof(void *) * 8, mona_status_text(status));
    free(memory);
    free(bytes);
    return 0;
}
