// SPDX-License-Identifier: Apache-2.0
/* Writes .mona models (engine/model_format.h): collects tensors, operators, names and data,
 * then lays them out. Zero-initialise a writer. If it runs out of memory, mona_writer_finish
 * reports it. */
#ifndef MONA_WRITER_H
#define MONA_WRITER_H

#include <stddef.h>

#include "formats/error.h"
#include "engine/model_format.h"
#include "mona.h"

typedef struct mona_writer_section {
    uint8_t *bytes;
    size_t size, room;
} mona_writer_section;

typedef struct mona_writer {
    mona_writer_section tensors, ops, strings, data;
    uint32_t *names; /* hash table of offsets in strings; 0: free */
    size_t name_room, name_count;
    uint32_t tensor_count, op_count;
    size_t inherited; /* bytes of data taken over by mona_writer_start_from */
    uint32_t version; /* that the tensors need */
    bool failed;
} mona_writer;

/* Starts with the data of a finished file; equal data is not stored again. */
void mona_writer_start_from(mona_writer *w, const uint8_t *file);

void mona_writer_free(mona_writer *w);

/* Offset of the text among the names. Equal texts may share one. */
uint32_t mona_writer_string(mona_writer *w, const char *text);
/* Copies bytes to the data section; the offset is a multiple of 64. */
uint32_t mona_writer_data(mona_writer *w, const void *bytes, size_t size);
/* Adds a tensor and returns its index: inputs first, then outputs, then the others. */
uint32_t mona_writer_tensor(mona_writer *w, const mona_file_tensor *tensor);
/* Adds an operator, in execution order. */
void mona_writer_op(mona_writer *w, const mona_file_op *op);

/* Writes the model as a file in memory, aligned to 64 bytes; release it with free(). */
bool mona_writer_finish(mona_writer *w, const char *name, uint32_t input_count,
                        uint32_t output_count, uint8_t **bytes, size_t *size, format_error *error);

/* Joins files of one model for several sizes into one file. Each file but the first must have been
 * started from the one before it. */
bool mona_writer_join(uint8_t *const *files, size_t count, uint8_t **bytes, size_t *size,
                      format_error *error);

typedef struct mona_writer_program {
    const char *target; /* as in mona_file_program */
    const uint8_t *bytes;
    size_t size;
} mona_writer_program;

/* Writes a file again, with programs for the header at this offset beside those that it has, but
 * for empty ones. */
bool mona_writer_add_programs(const uint8_t *file, uint64_t header,
                              const mona_writer_program *programs, size_t count, uint8_t **bytes,
                              size_t *size, format_error *error);

/* Stores which version of the model a file is (mona_model_release). */
void mona_writer_set_release(uint8_t *file, uint32_t release);

#endif
