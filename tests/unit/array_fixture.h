// SPDX-License-Identifier: Apache-2.0
/* Models of a single operator on arrays, run in every possible way. Include after cmocka.h. */
#ifndef MONA_TESTS_ARRAY_FIXTURE_H
#define MONA_TESTS_ARRAY_FIXTURE_H

#include "tests/unit/fixture.h"
#include "tests/user_kernels.h"

typedef struct array_operand {
    mona_type type;
    const void *data;
    uint32_t elements;
    bool constant; /* in the model's data; else an input */
} array_operand;

typedef struct array_case {
    mona_op_kind kind;
    const void *record;
    size_t record_bytes;
    uint32_t operand_count;
    array_operand operands[MONA_OP_MAX_INPUTS];
    mona_type type; /* of the output */
    uint32_t elements;
    /* the data to which the record points; its offsets, relative to `tables`, are converted to the
     * file's */
    const void *tables;
    size_t table_bytes;
    uint32_t *offsets[MONA_ARRAY_DIMS + 2]; /* fields of the record */
} array_case;

/* An array with this many elements; its odd sides show that they do not matter. */
static inline uint32_t array_tensor(model_builder *b, uint32_t index, uint32_t elements)
{
    mona_file_tensor *t = &b->tensors[index];
    const uint32_t width = elements % 3 ? 1 : 3;
    t->array = 1;
    t->channels = 1;
    t->height = elements / width;
    t->width = width;
    return index;
}

static inline uint8_t *array_model(const array_case *c, size_t *size)
{
    model_builder *b = builder_new();
    uint32_t inputs[MONA_OP_MAX_INPUTS];
    for (uint32_t i = 0; i < c->operand_count; i++)
        inputs[i] = c->operands[i].constant
                        ? MONA_NONE
                        : array_tensor(b, builder_input(b, "x", c->operands[i].type, 1, 1),
                                       c->operands[i].elements);
    const uint32_t out = array_tensor(b, builder_output(b, "y", c->type, 1, 1), c->elements);
    mona_file_op *op = builder_op(b, c->kind, out, c->operand_count, inputs);
    for (uint32_t i = 0; i < c->operand_count; i++)
        if (c->operands[i].constant) {
            op->array.offset[i] =
                builder_data(b, c->operands[i].data,
                             c->operands[i].elements * mona_type_size(c->operands[i].type));
            op->array.elements[i] = c->operands[i].elements;
            op->array.type[i] = (uint8_t)c->operands[i].type;
        }
    const uint32_t tables = c->table_bytes ? builder_data(b, c->tables, c->table_bytes) : 0;
    for (uint32_t i = 0; i < MONA_ARRAY_DIMS + 2 && c->offsets[i]; i++)
        if (*c->offsets[i] != MONA_NONE)
            *c->offsets[i] += tables;
    op->array.record = builder_data(b, c->record, c->record_bytes);
    for (uint32_t i = 0; i < MONA_ARRAY_DIMS + 2 && c->offsets[i]; i++)
        if (*c->offsets[i] != MONA_NONE)
            *c->offsets[i] -= tables;
    return builder_finish(b, size);
}

static inline mona_buffer array_buffer(const void *data, mona_type type, uint32_t elements)
{
    const ptrdiff_t width = (elements % 3 ? 1 : 3) * (ptrdiff_t)mona_type_size(type);
    return (mona_buffer){(void *)(uintptr_t)data, width,
                         (ptrdiff_t)(elements * mona_type_size(type))};
}

/* As an application that has kernels of its own. */
static inline mona_status array_open_bytes(mona_model *model, const void *bytes, size_t size)
{
    const mona_guard guard = {.kernels = user_kernels};
    return mona_model_open_guarded(model, bytes, size, &guard);
}

/* Runs the model with config. output: room for the elements. */
static inline void array_run_as(const mona_model *model, const array_case *c,
                                const mona_config *config, void *output)
{
    mona_buffer in[MONA_OP_MAX_INPUTS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->operand_count; i++)
        if (!c->operands[i].constant)
            in[count++] =
                array_buffer(c->operands[i].data, c->operands[i].type, c->operands[i].elements);
    const mona_buffer out = array_buffer(output, c->type, c->elements);
    bound b;
    assert_int_equal(bind(&b, model, config), MONA_OK);
    memset(output, 0xa5, c->elements * mona_type_size(c->type));
    assert_int_equal(mona_session_run(b.session, in, &out), MONA_OK);
    unbind(&b);
}

/* Runs it with one to four threads and on model310, which must all give the same bytes. */
static inline void array_run(const array_case *c, void *output)
{
    size_t size;
    uint8_t *bytes = array_model(c, &size);
    mona_model model;
    assert_int_equal(array_open_bytes(&model, bytes, size), MONA_OK);
    const size_t out_bytes = c->elements * mona_type_size(c->type);
    const mona_config first = {.threads = 1, .device = &mona_device_host};
    array_run_as(&model, c, &first, output);
    void *again = aligned(out_bytes);
    for (unsigned threads = 2; threads <= 5; threads++) {
        const mona_config config = {.threads = threads == 5 ? 0 : threads,
                                    .device =
                                        threads == 5 ? &mona_device_model310 : &mona_device_host};
        array_run_as(&model, c, &config, again);
        assert_memory_equal(again, output, out_bytes);
    }
    free(again), free(bytes);
}

/* The status of opening such a model. */
static inline mona_status array_open(const array_case *c)
{
    size_t size;
    uint8_t *bytes = array_model(c, &size);
    mona_model model;
    const mona_status status = array_open_bytes(&model, bytes, size);
    free(bytes);
    return status;
}

#endif
