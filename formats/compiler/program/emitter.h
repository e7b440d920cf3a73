// SPDX-License-Identifier: Apache-2.0
/* A network that is planned and bound, as emit_c.c writes it and emit_measure.c measures it. */
#ifndef MONA_EMITTER_H
#define MONA_EMITTER_H

#include <stdio.h>

#include "engine/run/session.h"
#include "formats/compiler/program/cpu_target.h"
#include "formats/compiler/program/emit_c.h"
#include "engine/op/op.h"

/* What a network that is written as C keeps of its model's data: the part that operators on arrays
 * and the dims of arrays refer to. Everything else is bound to constants of the plan. */

/* Zero-initialise. */
typedef struct emit_data {
    mona_file_tensor *tensors; /* planes, and */
    mona_file_op *ops;         /* operators, whose offsets are those in: */
    uint8_t *bytes;
    size_t size;
    struct emit_piece *pieces; /* what it consists of */
    size_t piece_count, piece_room;
} emit_data;

/* false: out of memory. Whether it succeeds or not, close it. */
bool emit_data_open(emit_data *d, const mona_model *model);
void emit_data_close(emit_data *d);

typedef struct emitter {
    const emit_c_request *request;
    mona_session *session; /* whose constants are bound */
    const mona_plan *plan; /* laid out to be linked */
    void *memory, *arena;  /* of these */
    const cpu_target *target;
    emit_data data; /* which operators on arrays read; empty: there are none */
    bool numbered;  /* tensors are called input_0, output_0 and so on */
    FILE *out;
} emitter;

static inline size_t word_count(size_t bytes)
{
    return (bytes + 3) / 4 + !bytes;
}

/* Constants that hold addresses are an mona_conv or an mona_epilogue. */
static inline bool has_filter(const mona_bound_op *b)
{
    return mona_ops[b->op->kind]->has_filter;
}

static inline bool has_epilogue(const mona_bound_op *b)
{
    return mona_ops[b->op->kind]->has_epilogue && !has_filter(b);
}

/* Whether it succeeds or not, close it. */
bool emitter_open(emitter *e, const mona_model *model, const emit_c_request *request,
                  format_error *error);
void emitter_close(emitter *e);

/* The row kernels of all operators that run. */
uint32_t emitter_kernels(const mona_plan *plan);

#endif
