// SPDX-License-Identifier: Apache-2.0
/* For tests that run the AI Core programs of models. Included after cmocka.h. */
#ifndef MONA_TESTS_RECORDED_H
#define MONA_TESTS_RECORDED_H

#include <stdlib.h>

#include "formats/compiler/program/programs.h"
#include "formats/mona_writer.h"

/* The callers free what these return. */

static inline uint8_t *recorded_program(const mona_model *model, mona_size size, size_t *bytes)
{
    uint8_t *program;
    format_error error = {0};
    if (!program_record(model, size, &program, bytes, &error))
        fail_msg("%s", error.text);
    return program;
}

/* The model's file with a program. */
static inline uint8_t *file_with_program(const mona_model *model, const uint8_t *program,
                                         size_t bytes, size_t *size)
{
    const mona_writer_program p = {"ascend310", program, bytes};
    uint8_t *file;
    format_error error = {0};
    if (!mona_writer_add_programs(model->file, 0, &p, 1, &file, size, &error))
        fail_msg("%s", error.text);
    return file;
}

/* The model's file with a program for this size. */
static inline uint8_t *recorded_file(const mona_model *model, mona_size size, size_t *bytes)
{
    size_t program_bytes;
    uint8_t *program = recorded_program(model, size, &program_bytes);
    uint8_t *file = file_with_program(model, program, program_bytes, bytes);
    free(program);
    return file;
}

#endif
