// SPDX-License-Identifier: Apache-2.0
/* For tests that run the AI Core programs of models. Included after cmocka.h. */
#ifndef MONA_TESTS_RECORDED_H
#define MONA_TESTS_RECORDED_H

#include <stdlib.h>

#include "formats/compiler/program/record.h"
#include "formats/mona_writer.h"

/* The model's file with a program for this size; the caller frees it. */
static inline uint8_t *recorded_file(const mona_model *model, mona_size size, size_t *bytes)
{
    mona_writer_program p = {.target = "ascend310"};
    uint8_t *program, *file;
    format_error error = {0};
    if (!program_record(model, size, &program, &p.size, &error))
        fail_msg("%s", error.text);
    p.bytes = program;
    if (!mona_writer_add_programs(model->file, 0, &p, 1, &file, bytes, &error))
        fail_msg("%s", error.text);
    free(program);
    return file;
}

#endif
