// SPDX-License-Identifier: Apache-2.0
/* Writes .mona models (engine/model/model_format.h): collect tensors, operators, names and data, then lay
 * them out. Zero-initialise a writer; one that ran out of memory says so at the end. */
#ifndef MONA_WRITER_H
#define MONA_WRITER_H

#include <stddef.h>

#include "formats/error.h"
#include "engine/model/model_format.h"
#include "mona.h"

typedef struct mona_writer_section {
    uint8_t *bytes;
    size_t size, room;
} mona_writer_section;

typedef struct mona_writer {
    mona_writer_section tensors, ops, strings, data;
    uint32_t tensor_count, op_count;
    size_t inherited; /* bytes of data taken over: mona_writer_start_from */
    bool failed;
} mona_writer;

/* Begins with the data of a finished file, of which equal parts are used again. */
void mona_writer_start_from(mona_writer *w, const uint8_t *file);

void mona_writer_free(mona_writer *w);

/* Offset of the text among the names; equal texts may share one. */
uint32_t mona_writer_string(mona_writer *w, const char *text);
/* Copies bytes to the data section; the offset is a multiple of 64. */
uint32_t mona_writer_data(mona_writer *w, const void *bytes, size_t size);
/* Index of the new tensor. Inputs first, then outputs, then the others. */
uint32_t mona_writer_tensor(mona_writer *w, const mona_file_tensor *tensor);
/* Operators in execution order. */
void mona_writer_op(mona_writer *w, const mona_file_op *op);

/* The model as a file in memory that starts at a multiple of 64, released with free(). */
bool mona_writer_finish(mona_writer *w, const char *name, uint32_t input_count,
                        uint32_t output_count, uint8_t **bytes, size_t *size, format_error *error);

/* Files of one model for several sizes, each after the first started from the one before, as one
 * file; likewise. */
bool mona_writer_join(uint8_t *const *files, size_t count, uint8_t **bytes, size_t *size,
                      format_error *error);

#endif
