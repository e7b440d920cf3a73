// SPDX-License-Identifier: Apache-2.0
/* What a network that is written as C keeps of its model's data: the part that operators on arrays
 * and the dims of arrays refer to. Everything else is bound to constants of the plan. */
#ifndef MONA_EMIT_DATA_H
#define MONA_EMIT_DATA_H

#include "engine/op/op.h"

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

#endif
